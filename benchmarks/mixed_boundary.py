"""The level of tests of random effects at their boundary, and the coverage of
prediction sets of new groups.

Data have no variance of what is tested: no groups, no slopes beside intercepts, no
second grouping. Shares of p-values up to 0.05 and 0.1 should be these, by the mixtures
of chi-squares of `anova`; "chi2" has the plain law beside. The last rows have the share
of rows of new groups in the sets of `conformal(0.8)`.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from ordstat import ordfit
from ordstat.exceptions import OrdstatWarning

#: Smaller model, larger model, standard deviation of the intercepts of g.
TESTS = {
    "one variance": ("y ~ x", "y ~ x + (1 | g)", 0.0),
    "a correlated slope": ("y ~ x + (1 | g)", "y ~ x + (1 + x | g)", 1.0),
    "an independent slope": ("y ~ x + (1 | g)", "y ~ x + (1 + x || g)", 1.0),
    "a second grouping": ("y ~ x + (1 | g)", "y ~ x + (1 | g) + (1 | h)", 1.0),
}


def drawn(groups: int, size: int, sd: float, seed: int) -> pd.DataFrame:
    """Four levels of a score of x and effects of g; h means nothing."""
    rng = np.random.default_rng(seed)
    g = np.repeat(np.arange(groups), size)
    x = rng.standard_normal(g.size)
    latent = 0.7 * x + sd * rng.standard_normal(groups)[g] + rng.logistic(size=g.size)
    return pd.DataFrame(
        {
            "x": x,
            "y": np.digitize(latent, [-1.5, 0.0, 1.5]),
            "g": g,
            "h": rng.integers(0, 15, g.size),
        }
    )


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a test, then one a size of groups for the prediction sets."""
    count = 20 if quick else 400
    rows = [_level(name, count) for name in TESTS]
    return rows + [_coverage(size, count // 4) for size in (3, 12)]


def _level(name: str, count: int) -> dict[str, object]:
    small, large, sd = TESTS[name]
    p, plain = np.array(
        [_tested(small, large, drawn(40, 8, sd, seed)) for seed in range(count)]
    ).T
    return {
        "what": name,
        "data sets": count,
        "p <= 0.05": np.mean(p <= 0.05),
        "p <= 0.1": np.mean(p <= 0.1),
        "chi2 <= 0.05": np.mean(plain <= 0.05),
    }


def _tested(small: str, large: str, data: pd.DataFrame) -> tuple[float, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdstatWarning)
        row = ordfit(large, data).anova(ordfit(small, data)).iloc[1]
    return float(row["p_value"]), float(row["p_chi2"])


def _coverage(size: int, count: int) -> dict[str, object]:
    held = []
    for seed in range(count):
        data = drawn(50, size, 1.0, seed)
        sets = ordfit(
            "y ~ x + (1 | g)", data[data["g"] < 25], levels=[0, 1, 2, 3]
        ).conformal(0.8, data[data["g"].between(25, 43)])
        new = data[data["g"] >= 44]
        ends = sets.predict(new).astype(int)
        held.append(new["y"].between(ends["lower"], ends["upper"]).mean())
    return {
        "what": f"prediction sets, {size} rows a group",
        "data sets": count,
        "coverage": np.mean(held),
    }
