"""Small samples in the plane whose levels have no order."""

from __future__ import annotations

import numpy as np
from seams import Rows, Sample


def blobs(n_levels: int, n: int = 90, seed: int = 0, spread: float = 1.0) -> Sample:
    """Levels in turn, each around its own random centre."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_levels
    X = rng.normal(0.0, 2.0, (n_levels, 2))[y] + spread * rng.standard_normal((n, 2))
    return Sample(rows=Rows(X=X), y=y.astype(np.intp), n_levels=n_levels)


def any_costs(n: int, n_levels: int, seed: int = 0) -> np.ndarray:
    """(N, K) costs of any shape, some of them equal; the cheapest level need not be the
    row's own.
    """
    rng = np.random.default_rng(seed)
    return rng.integers(0, 6, (n, n_levels)) / 2.0


def own_costs(sample: Sample, seed: int = 0) -> np.ndarray:
    """(N, K) costs of any shape that are 0 at the row's own level."""
    costs = 0.5 + any_costs(sample.n, sample.n_levels, seed)
    costs[np.arange(sample.n), sample.y] = 0.0
    return costs
