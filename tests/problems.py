"""Made-up data that the tests of several folders share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd


def ranked(
    rng: np.random.Generator,
    n: int,
    cuts: Sequence[float],
    names: Sequence[str] = ("x",),
    score: Callable[[pd.DataFrame], pd.Series] | None = None,
    noise: float = 1.0,
) -> pd.DataFrame:
    """n rows of standard normal columns, and y: where their score, plus logistic noise,
    lies between the cuts.

    The score is the first column if none is given. Columns are drawn before the noise.
    """
    data = pd.DataFrame(rng.normal(size=(n, len(names))), columns=list(names))
    scores = data[names[0]] if score is None else score(data)
    latent = scores + noise * rng.logistic(size=n)
    return data.assign(y=np.digitize(latent, cuts))


def curved(data: pd.DataFrame) -> pd.Series:
    """A score of a, b and c that bends and interacts."""
    return np.sin(2 * data["a"]) + data["b"] * (data["c"] > 0)


def unrelated(rng: np.random.Generator) -> pd.DataFrame:
    """200 rows of x with five levels, and y with four, on which x has no effect."""
    x = rng.integers(0, 5, 200)
    return pd.DataFrame({"x": x, "y": rng.integers(0, 4, 200)})
