"""Conformal intervals of equal level by two measures of size: probability inside the
interval, as `fit.conformal()` has, and ranked probability score of the level.

The sets are those of TOC-UCO (`benchmarks/tocuco.py`): half of the rows for the fit, a
fifth for the calibration, the others to count. The second measure grows from the median
outwards; a level enters at its score less the smallest of the row.
"""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.tocuco import SETS, table
from ordstat import CumulativeLink, OrdinalBoosting
from ordstat.formula.sample import Rows, Sample
from ordstat.judging.absent_levels import fit_levels_present
from ordstat.judging.conformal import (
    conformal_radius,
    grown_by_probability,
    interval_ends,
)

LEVELS = (0.8, 0.9)
SPLITS = 8
_FITTED = 0.5
_CALIBRATED = 0.7
METHODS: dict[str, Any] = {
    "logit": CumulativeLink(),
    "ordboost": OrdinalBoosting(rounds=60, depth=2, linear_start=False),
}


def grown_by_score(P: np.ndarray) -> np.ndarray:
    """(N, K) ranked probability score of each level, less the smallest of the row; it
    rises from the median to both sides.
    """
    above = 1.0 - np.cumsum(P, axis=1)[:, :-1]
    happened = np.arange(P.shape[1])[:, None] > np.arange(above.shape[1])
    scores = np.square(above[:, None, :] - happened).sum(axis=2)
    return np.asarray(scores - scores.min(axis=1, keepdims=True))


def judged(name: str, method: Any, split: int) -> list[dict[str, object]]:
    """Coverage, size, and coverage averaged over the levels, by level and measure."""
    X, y = table(name)
    K = int(y.max()) + 1
    rng = np.random.default_rng(split)
    ends = [round(share * y.size) for share in (_FITTED, _CALIBRATED)]
    fitted, calibrated, counted = np.split(rng.permutation(y.size), ends)
    sample = Sample(rows=Rows(X=X[fitted]), y=y[fitted], n_levels=K)
    rule = fit_levels_present(method, sample, rng).rule
    sizes: dict[str, list[np.ndarray]] = {"probability": [], "score": []}
    for part in (calibrated, counted):
        rows = Rows(X=X[part])
        P = np.nan_to_num(rule.probabilities(rows))
        sizes["probability"].append(grown_by_probability(P, rule.codes(rows)))
        sizes["score"].append(grown_by_score(P))
    found: list[dict[str, object]] = []
    of_calibration = np.arange(calibrated.size), y[calibrated]
    for level, (measure, (known, new)) in product(LEVELS, sizes.items()):
        ones = np.ones(calibrated.size)
        radius = conformal_radius(known[of_calibration], ones, level)
        lower, upper = interval_ends(new, radius)
        truth = y[counted]
        held = (lower <= truth) & (truth <= upper)
        found.append(
            {
                "level": level,
                "grown by": measure,
                "coverage": held.mean(),
                "size": (upper - lower + 1.0).mean(),
                "of levels": np.mean([held[truth == k].mean() for k in set(truth)]),
            }
        )
    return found


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a method, level and measure: means over splits and sets."""
    rows = []
    for name, (method, value), split in product(
        SETS[:3] if quick else SETS, METHODS.items(), range(1 if quick else SPLITS)
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for row in judged(name, value, split):
                rows.append({"method": method, **row})
    means = pd.DataFrame(rows).groupby(["method", "level", "grown by"]).mean()
    return [
        {str(name): value for name, value in row.items()}
        for row in means.reset_index().to_dict("records")
    ]
