"""Populations with known parameters, drawn from a seed."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

LATENT = {
    "logit": stats.logistic(),
    "probit": stats.norm(),
    "cloglog": stats.gumbel_l(),
}

#: Parameters of `everything`, in the order and under the names of the fit.
TRUE = pd.Series(
    {"1|2": -1.0, "2|3": 0.5, "1|2.w": 0.4, "2|3.w": 0.1, "x": 0.7, "scale.z": 0.25}
)
#: Rows whose probabilities are predicted.
NEW = pd.DataFrame({"x": [0.0, 1.5, -0.5], "w": [0.0, 1.0, 1.0], "z": [0.0, 0.5, -1.0]})


def everything(link: str, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """y in 1..3 with a location effect of x, nominal effects of w and a log-scale
    effect of z.
    """
    data = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "w": rng.choice([0.0, 1.0], size=n),
            "z": rng.normal(size=n),
        }
    )
    eta = standardised(data)
    share = LATENT[link].cdf(eta)
    return data.assign(y=1 + (rng.random(n)[:, None] > share).sum(axis=1))


def standardised(data: pd.DataFrame) -> np.ndarray:
    """(n, 2) s (theta_k(w) - H) at the true parameters."""
    theta = TRUE.to_numpy()[:2] + data["w"].to_numpy()[:, None] * TRUE.to_numpy()[2:4]
    scale = np.exp(TRUE["scale.z"] * data["z"].to_numpy())
    return (theta - TRUE["x"] * data["x"].to_numpy()[:, None]) / scale[:, None]


def probabilities(link: str) -> np.ndarray:
    """(3, 3) true probabilities of `NEW`."""
    ends = np.pad(
        LATENT[link].cdf(standardised(NEW)),
        ((0, 0), (1, 1)),
        constant_values=((0, 0), (0.0, 1.0)),
    )
    return np.diff(ends, axis=1)


def proportional(link: str, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """y in 1..4 with effects of x and of f alone; `idle` has none."""
    data = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "f": rng.choice(list("abc"), size=n),
            "idle": rng.normal(size=n),
        }
    )
    H = 0.6 * data["x"] + 0.5 * (data["f"] == "b")
    latent = H.to_numpy() + LATENT[link].ppf(rng.random(n))
    return data.assign(y=1 + (latent[:, None] > np.array([-1.0, 0.2, 1.3])).sum(axis=1))
