"""How far a fitted rule leans to each level, as scikit-learn's decision_function tells it."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from .._typing import FloatArray, IntArray
from .costs import CostMatrix
from .probable import CostRule, expected_costs
from .reduction.answers import ModalRule, in_order
from .rules import GapRule, Rule
from .sample import Rows

#: Sizes are told up to here: infinite thresholds and answers that are sure without bound give infinities.
_LARGEST = 1e150


def preferences(rule: Rule, rows: Rows, scores: FloatArray) -> FloatArray:
    """(N, K) a number for every level, the largest (ties apart) for the one predicted.

    Votes as they are; probabilities, or the expected cost with its sign changed, of a probability model; else the
    distance from the score to the nearer end of the level's interval, negative outside it.
    """
    if isinstance(rule, CostRule):
        return -expected_costs(rule.probabilities(rows, scores), rule.cost)
    if isinstance(rule, ModalRule):
        return np.asarray(rule.probabilities(rows))
    if scores.ndim == 2:
        return np.asarray(scores, dtype=np.float64)
    gaps = in_order(cast(GapRule, rule).gaps(rows, scores))
    beyond = np.full((rows.n, 1), np.inf)
    return np.asarray(np.minimum(np.hstack([beyond, gaps]), np.hstack([-gaps, beyond])))


def lean(rule: Rule, rows: Rows, scores: FloatArray) -> FloatArray:
    """(N,) of two levels, positive where the higher is predicted.

    The gap between score and threshold, or that between the votes; for a probability model the log odds of the higher
    level above those at which its expected cost is that of the lower.
    """
    if scores.ndim == 2:
        return np.asarray(scores[:, 1] - scores[:, 0])
    if not isinstance(rule, CostRule):
        return np.asarray(cast(GapRule, rule).gaps(rows, scores)[:, 0])
    cost = rule.cost.matrix(2)
    with np.errstate(divide="ignore", invalid="ignore"):  # a mistake may be free
        return np.asarray(rule.log_odds_above(rows, scores)[:, 0] - np.log(cost[0, 1] / cost[1, 0]))


def leanings(probabilities: FloatArray, cost: CostMatrix, order: IntArray) -> FloatArray:
    """`decisions` from probabilities (N, K) alone: log odds of two levels, expected costs with their sign changed."""
    K = len(order)
    if K > 2:
        return np.asarray(-expected_costs(probabilities, cost)[:, order])
    costs = cost.matrix(2)
    with np.errstate(divide="ignore"):
        odds = np.log(probabilities[:, 1] / probabilities[:, 0]) - np.log(costs[0, 1] / costs[1, 0])
    return np.asarray(np.clip(odds if order[1] == 1 else -odds, -_LARGEST, _LARGEST))


def decisions(rule: Rule, rows: Rows, order: IntArray) -> FloatArray:
    """(N,) for two levels, (N, K) for more, in a new order of the levels; ties are broken as the rule breaks them.

    Parameters
    ----------
    rule : Rule
    rows : Rows
    order : (K,)
        Codes of the levels in that order; of two, the second is the positive one.
    """
    scores: Any = rule.scores(rows)
    chosen = np.argsort(order)[rule.codes(rows, scores)]
    if rule.n_levels == 2:
        leaning = (1.0 if order[1] == 1 else -1.0) * np.nan_to_num(lean(rule, rows, scores))
        least = np.finfo(np.float64).tiny
        return np.clip(np.where(chosen == 1, np.maximum(leaning, least), np.minimum(leaning, 0.0)), -_LARGEST, _LARGEST)
    found = np.clip(preferences(rule, rows, scores)[:, order], -_LARGEST, _LARGEST)
    place = np.arange(rows.n), chosen
    rivals = found.copy()
    rivals[place] = -np.inf
    found[place] = np.maximum(found[place], np.nextafter(rivals.max(axis=1), np.inf))
    return found
