"""What fits share whose rule knows the probability of every rank."""

from __future__ import annotations

from typing import cast

from ..._typing import FloatArray
from ...model.fit import Fit
from ...model.sample import Rows
from ..evaluation import ProbabilityRule
from ..fitted import FittedRanker

#: What they predict.
PREDICTS = ("class", "prob", "cum_prob", "score", "margin")


def rule_probabilities(ranker: FittedRanker, fit: Fit, rows: Rows, scores: FloatArray) -> FloatArray:
    """(N, K) probabilities of the ranks, by the rule itself."""
    return cast(ProbabilityRule, fit.rule).probabilities(rows, scores)
