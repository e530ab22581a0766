"""Samples with every part a cumulative link model can have, made from a seed."""

from __future__ import annotations

import numpy as np
from seams import Rows, Sample

PARTS = {
    "plain": (),
    "nominal": ("nominal",),
    "scale": ("scale",),
    "all": ("offset", "nominal", "scale", "scale_offset", "weights"),
}


def make(
    parts: tuple[str, ...] = (),
    *,
    n: int = 150,
    n_levels: int = 4,
    p: int = 2,
    seed: int = 0,
) -> Sample:
    """n rows drawn from a logistic latent variable; `parts` are fields of Rows, or
    "weights".
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    z = rng.normal(size=(n, 1))
    w = rng.normal(size=(n, 1))
    offset = rng.normal(size=n)
    scale_offset = 0.3 * rng.normal(size=n)
    latent = 0.8 * X.sum(axis=1) + np.exp(0.3 * z[:, 0]) * rng.logistic(size=n)
    edges = np.quantile(latent, np.arange(1, n_levels) / n_levels)
    given = {"offset": offset, "nominal": w, "scale": z, "scale_offset": scale_offset}
    rows = Rows(X=X, **{name: value for name, value in given.items() if name in parts})
    weights = rng.integers(1, 4, size=n).astype(float) if "weights" in parts else None
    return Sample(
        rows=rows, y=np.searchsorted(edges, latent), n_levels=n_levels, weights=weights
    )
