"""Small samples for boosting, with ties among values and rows."""

from __future__ import annotations

import numpy as np
from seams import CostMatrix, Rows, Sample


def sample(
    seed: int, n: int = 40, width: int = 3, n_levels: int = 4, weighted: bool = False
) -> Sample:
    """Ranks of a noisy score of columns with few different values; every rank is
    there.
    """
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 7, (n, width)).astype(float)
    score = X[:, 0] - 0.5 * X[:, -1] + rng.normal(size=n)
    y = (np.argsort(np.argsort(score)) * n_levels // n).astype(np.intp)
    return Sample(
        rows=Rows(X=X),
        y=y,
        n_levels=n_levels,
        weights=rng.integers(1, 4, n).astype(float) if weighted else None,
    )


def costs(name: str, y: np.ndarray, n_levels: int, seed: int = 0) -> np.ndarray:
    """(N, K) named costs, or "rows": V-shaped costs of every row's own."""
    if name != "rows":
        return CostMatrix(name).rows(y, n_levels)
    steps = np.random.default_rng(seed).uniform(0.1, 2.0, (y.size, n_levels - 1))
    up = np.hstack([np.zeros((y.size, 1)), np.cumsum(steps, axis=1)])
    return np.abs(up - up[np.arange(y.size), y][:, None])


COSTS = ("absolute", "classification", "squared", "rows")
