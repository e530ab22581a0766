"""What the rule of a likelihood fit says of rows, as arrays: the values of every type of prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ..._typing import FloatArray, IntArray
from ...model.costs import CostMatrix
from ...model.fit import LikelihoodFit
from ...model.likelihood.cumulative import CumulativeRule
from ...model.likelihood.derivatives import Standardised
from ...model.sample import Rows
from ..target import Target

#: What has a standard error.
UNCERTAIN = ("prob", "cum_prob", "score", "linear_predictor", "mean")


def predicted(rule: CumulativeRule, rows: Rows, type: str) -> FloatArray:
    """(n, M) values of a type of `UNCERTAIN`."""
    return _VALUES[type](rule, rows)


def _mean(rule: CumulativeRule, rows: Rows) -> FloatArray:
    return np.asarray((rule.probabilities(rows) @ np.arange(1.0, rule.n_levels + 1))[:, None])


_VALUES: dict[str, Callable[[CumulativeRule, Rows], FloatArray]] = {
    "prob": lambda rule, rows: rule.probabilities(rows),
    "cum_prob": lambda rule, rows: rule.cum_probabilities(rows),
    "score": lambda rule, rows: rule.scores(rows)[:, None],
    "linear_predictor": lambda rule, rows: Standardised.of(rule, rows).eta,
    "mean": _mean,
}


def classes_under(fit: LikelihoodFit, target: Target, cost: Any) -> IntArray:
    """(n,) codes of least expected cost under another cost than that of the fit."""
    rule = cast(CumulativeRule, fit.rule)
    chosen = CostMatrix.parse(cost)
    chosen.matrix(rule.n_levels)  # raises where its size is not K x K
    return replace(rule, cost=chosen).codes(target.rows, target.scores)
