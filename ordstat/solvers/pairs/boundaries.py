"""Rank boundaries on a potential learned from pairs [Herbrich, Graepel & Obermayer 2000, eq. 7.26-7.28].

A boundary lies in the middle between the closest two rows of neighbouring ranks among the free support pairs. Those
have 0 < a < C, so their scores differ by exactly 1 and all are equally close: of the middles on offer the one that
costs the training rows least is taken, and of equals the one farthest from any score. Where some boundary has no such
pair, or they come out of order, all are the thresholds of least cost instead [Lin 2008, sec. 3.2.1]. Of middles that
are equal in both, within what the scores are known to, the lowest is taken: not the first, for rows have no order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray, IntArray
from ...model.ties import merged
from ..dynamic_program import least_cost_thresholds

# A pair this near to difference 1 lies on the margin, at the least and at the most.
_EXACT, _ROUGH = 1e-7, 1e-2
# Costs that differ by less than this share of all are equal.
_TIE = 1e-9


@dataclass(frozen=True, eq=False)
class Boundaries:
    """Thresholds, and in words how they were found.

    Attributes
    ----------
    theta : (K-1,)
    how : str
    """

    theta: FloatArray
    how: str


def boundaries(
    scores: FloatArray, y: IntArray, costs: FloatArray, weights: FloatArray, *, slack: float, free_pairs: bool
) -> Boundaries:
    """The boundaries of fitted scores.

    Parameters
    ----------
    scores : (N,)
    y : (N,) codes
    costs : (N, K)
    weights : (N,) case weights
    slack : float
        How far a difference of two scores may be from its value at the optimum.
    free_pairs : bool
        Whether the loss has pairs on the margin by themselves, as the hinge has and its square has not.
    """
    scores = merged(scores)
    if not free_pairs:
        return _cheapest(scores, costs, weights, "the squared hinge has no free support pairs")
    tolerance = min(max(slack, _EXACT), _ROUGH)
    theta = np.empty(costs.shape[1] - 1)
    for k in range(theta.size):
        middles = _middles(scores[y == k], scores[y == k + 1], tolerance)
        if middles.size == 0:
            return _cheapest(scores, costs, weights, f"no free support pair joins ranks {k + 1} and {k + 2}")
        theta[k] = _best(middles, scores, weights * (costs[:, k + 1] - costs[:, k]), tolerance)
    if (np.diff(theta) < 0).any():
        return _cheapest(scores, costs, weights, "the middles of free support pairs are out of order")
    return Boundaries(theta, "middles of free support pairs (7.27)")


def _cheapest(scores: FloatArray, costs: FloatArray, weights: FloatArray, why: str) -> Boundaries:
    return Boundaries(least_cost_thresholds(scores, costs, weights), f"of least training cost: {why}")


def _middles(lower: FloatArray, upper: FloatArray, tolerance: float) -> FloatArray:
    """Middles of the pairs whose scores differ by 1, the nearest partner of every upper row."""
    if lower.size == 0:
        return np.zeros(0)
    ordered = np.sort(lower)
    right = np.clip(np.searchsorted(ordered, upper - 1.0), 1, max(ordered.size - 1, 1))
    near = ordered[np.minimum(np.stack([right - 1, right]), ordered.size - 1)]
    partner = np.where(np.abs(upper - 1.0 - near[0]) <= np.abs(upper - 1.0 - near[1]), near[0], near[1])
    on_margin = np.abs(upper - partner - 1.0) <= tolerance
    return np.asarray(0.5 * (upper + partner)[on_margin])


def _onto(ordered: FloatArray, middles: FloatArray) -> FloatArray:
    """Middles moved onto the last of the growing scores that they are equal to but for rounding."""
    last = ordered[np.searchsorted(ordered, middles + _EXACT, side="right") - 1]
    return np.where(np.abs(last - middles) <= _EXACT, last, middles)


def _best(middles: FloatArray, scores: FloatArray, steps: FloatArray, tolerance: float) -> float:
    """The middle of least cost, where a row above the threshold pays steps_n, and among equals the most remote one.

    Distances that differ by less than `tolerance` are equal, and the lowest middle wins. A middle on a score is that
    score, and the row is not above it.
    """
    order = np.argsort(scores)
    ordered = scores[order]
    middles = _onto(ordered, middles)
    above = np.concatenate([np.cumsum(steps[order][::-1])[::-1], [0.0]])
    place = np.searchsorted(ordered, middles, side="right")
    cost = above[place]
    equal = cost <= cost.min() + _TIE * np.abs(steps).sum()
    ends = np.concatenate([[-np.inf], ordered, [np.inf]])
    remote = np.minimum(middles - ends[place], ends[place + 1] - middles)
    return float(middles[equal & (remote >= remote[equal].max() - tolerance)].min())
