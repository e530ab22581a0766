"""Ranked rows with whole-number columns, so that sums of them are exact in any
order.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from seams import Rows, Sample

K = 4


def arrays(
    n: int = 40, seed: int = 0, noise: float = 2.0
) -> tuple[np.ndarray, np.ndarray]:
    """(n, 3) whole numbers and (n,) codes 0..3, all of them present."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, 3)).astype(float)
    score = X @ [2.0, -1.0, 1.0] + noise * rng.standard_normal(n)
    return X, np.argsort(np.argsort(score, kind="stable"), kind="stable") * K // n


def sample(n: int = 40, seed: int = 0, noise: float = 2.0) -> Sample:
    X, y = arrays(n, seed, noise)
    return Sample(rows=Rows(X=X), y=y, n_levels=K)


def separable(n: int = 60, seed: int = 0) -> Sample:
    """Rows at a distance of more than 0.5 from three parallel planes."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (20 * n, 3))
    score = X @ [2.0, -1.0, 1.0] / np.sqrt(6)
    X, score = (
        a[np.abs(score[:, None] - [-1.5, 0.0, 1.5]).min(axis=1) > 0.5][:n]
        for a in (X, score)
    )
    return Sample(
        rows=Rows(X=X), y=np.searchsorted([-1.5, 0.0, 1.5], score), n_levels=K
    )


def frame(n: int = 120, seed: int = 0) -> pd.DataFrame:
    X, y = arrays(n, seed)
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(
        y=pd.Categorical(y + 1, ordered=True)
    )
