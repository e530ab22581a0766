"""The sample of survey.R, with the rules by which it makes replicate weights."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.linalg import hadamard

HERE = Path(__file__).parent
FORMULA = "pid ~ selfLR + age + educ"


@cache
def _stored() -> pd.DataFrame:
    return pd.read_csv(HERE / "survey_sample.csv")


def sample() -> pd.DataFrame:
    """944 voters (R's anes96) with made-up weights, strata and primary sampling
    units.
    """
    return _stored().copy()


def replicate_weights(type: str) -> np.ndarray:
    """(944, R) as in survey.R."""
    data = sample()
    g = np.unique(data["psu"], return_inverse=True)[1]
    w = data["w"].to_numpy()[:, None]
    r = np.arange(24)
    sign = hadamard(8)[:, (g // 2) % 7 + 1].T * np.where(g % 2 == 0, 1, -1)[:, None]
    at = g[:, None] == r
    near = g[:, None] // 6 == r // 6
    return {
        "BRR": lambda: w * (1 + sign),
        "Fay": lambda: w * (1 + 0.7 * sign),
        "JK1": lambda: w * np.where(at, 0, 24 / 23),
        "JKn": lambda: w * np.where(at, 0, np.where(near, 6 / 5, 1)),
        "bootstrap": lambda: w * ((g[:, None] * 5 + r * 3 + g[:, None] * r) % 4) / 1.5,
    }[type]()
