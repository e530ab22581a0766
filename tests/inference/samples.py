"""Frames of rows drawn from a known cumulative model, and their fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from ordstat import ordfit

#: Frozen latent distributions by link: an oracle apart from the package's own curves.
LATENT = {
    "logit": stats.logistic(),
    "probit": stats.norm(),
    "cloglog": stats.gumbel_l(),
    "loglog": stats.gumbel_r(),
    "cauchit": stats.cauchy(),
}
THETA = np.array([-1.0, 0.2, 1.5])


def frame(
    link: str = "logit", n: int = 300, seed: int = 0, *, log_scale: float = 0.0
) -> pd.DataFrame:
    """y in 1..4 with P(y <= k) = F((theta_k - H) / exp(log_scale z)), H = 0.8 x + 0.5
    [f = b] - 0.4 [f = c].
    """
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    z = rng.normal(size=n)
    f = rng.choice(list("abc"), size=n)
    H = 0.8 * x + 0.5 * (f == "b") - 0.4 * (f == "c")
    error = LATENT[link].ppf(rng.random(n)) * np.exp(log_scale * z)
    y = pd.Categorical(
        1 + np.searchsorted(THETA, H + error), categories=[1, 2, 3, 4], ordered=True
    )
    return pd.DataFrame(
        {"y": y, "x": x, "z": z, "f": f, "w": rng.integers(1, 4, size=n)}
    )


def fitted(
    link: str = "logit", formula: str = "y ~ x + f", n: int = 300, **arguments: Any
) -> Any:
    """A fit to `frame`."""
    return ordfit(formula, frame(link, n), link=link, **arguments)


def ends(fit: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """u, lo and s of every row, from the printed coefficients and the definition of the
    model.
    """
    design = fit.design
    params = fit.params.to_numpy()
    K = len(fit.levels)
    q = len(design.nominal_names)
    alpha = params[: (K - 1) * (1 + q)].reshape(1 + q, K - 1)
    rest = params[(K - 1) * (1 + q) :]
    rows = design.sample.rows
    y = design.sample.y
    H = rows.X @ rest[: rows.X.shape[1]] + (0.0 if rows.offset is None else rows.offset)
    s = (
        np.ones(y.size)
        if rows.scale is None
        else np.exp(-rows.scale @ rest[rows.X.shape[1] :])
    )
    theta = np.tile(alpha[0], (y.size, 1))
    if q:
        theta = theta + rows.nominal @ alpha[1:]
    padded = np.column_stack([np.full(y.size, -np.inf), theta, np.full(y.size, np.inf)])
    every = np.arange(y.size)
    return s * (padded[every, y + 1] - H), s * (padded[every, y] - H), s
