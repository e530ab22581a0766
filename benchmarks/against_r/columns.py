"""Random columns of a specification, and a response that depends on some of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

#: Integer weights, and multiples of a quarter: R is asked for repeated rows in the
#: place of them.
WEIGHTS = ("wi", "wf")
FACTORS = {"f1": "ab", "f2": "abc", "f3": "abcd", "o1": "pqr"}
#: Rows of a rare level: from, below.
FEW = (2, 7)
#: Share of the frames with missing values, and of the values missing there.
MISSING = 0.15
OF_VALUES = 0.03


def random_columns(
    rng: np.random.Generator, n: int, K: int, scaled: bool, rare: bool = False
) -> pd.DataFrame:
    """(n rows) every column that a specification may use, and y with all of 1..K;
    `scaled` noise differs by row.

    With `rare` each factor has a level of few rows, and shares of the levels of y
    differ more.
    """
    frame = _explaining(rng, n, rare)
    location = _effects(rng, frame, 0.6)
    noise = rng.choice(
        [rng.logistic(size=n), 1.5 * rng.normal(size=n), rng.standard_cauchy(size=n)]
    )
    if scaled:
        noise = noise * np.exp(_effects(rng, frame, 0.3))
    frame["y"] = _cut(
        rng, location + frame["known"].to_numpy() + noise, K, 1.0 if rare else 4.0
    )
    if rng.random() < MISSING:
        for name in rng.choice(["x1", "x2", "f1", "f2"], size=2, replace=False):
            frame.loc[rng.random(n) < OF_VALUES, str(name)] = None
    return frame


def _explaining(rng: np.random.Generator, n: int, rare: bool) -> pd.DataFrame:
    values = {
        "x1": rng.normal(size=n),
        "x2": np.round(rng.normal(2.0, 1.0, size=n) * 2.0) / 2.0,
        "x3": rng.uniform(0.0, 10.0, size=n),
    }
    frame = pd.DataFrame(values)
    for name, levels in FACTORS.items():
        drawn = rng.choice(
            list(levels), size=n, p=rng.dirichlet(np.full(len(levels), 8.0))
        )
        if rare:
            _make_rare(rng, drawn, levels)
        frame[name] = pd.Categorical(
            drawn, categories=sorted(set(drawn.tolist())), ordered=name.startswith("o")
        )
    frame["known"] = 0.5 * rng.normal(size=n)
    frame["kscale"] = 0.2 * rng.normal(size=n)
    frame["wi"] = rng.integers(1, 5, size=n) * (rng.random(n) > 0.02)
    frame["wf"] = rng.integers(1, 9, size=n) / 4.0
    return frame


def _make_rare(rng: np.random.Generator, drawn: np.ndarray, levels: str) -> None:
    """Leave one level in a few rows; its other rows get other levels."""
    level = rng.choice(list(levels))
    rows = rng.permutation(np.flatnonzero(drawn == level))[int(rng.integers(*FEW)) :]
    drawn[rows] = rng.choice(
        [other for other in levels if other != level], size=rows.size
    )


def _effects(rng: np.random.Generator, frame: pd.DataFrame, size: float) -> np.ndarray:
    """A random function of the columns: numbers, levels, and one interaction."""
    total = np.zeros(len(frame))
    for name in ("x1", "x2", "x3", *FACTORS):
        if rng.random() < 0.5:
            continue
        if name in FACTORS:
            codes = frame[name].cat.codes.to_numpy()
            total += size * rng.normal(size=codes.max() + 1)[codes]
        else:
            x = frame[name].to_numpy()
            total += size * rng.normal() * (x - x.mean()) / x.std()
    if rng.random() < 0.3:
        total += (
            size
            * rng.normal()
            * frame["x1"].to_numpy()
            * frame["f1"].cat.codes.to_numpy()
        )
    return total


def _cut(
    rng: np.random.Generator, latent: np.ndarray, K: int, even: float
) -> np.ndarray:
    """Levels 1..K of random shares, the more alike the larger `even` is, each with two
    rows or more.
    """
    extra = len(latent) - 2 * K
    counts = 2 + rng.multinomial(extra, rng.dirichlet(np.full(K, even)))
    levels = np.repeat(np.arange(1, K + 1), counts)
    y = np.empty(len(latent), dtype=int)
    y[np.argsort(latent, kind="stable")] = levels
    return y
