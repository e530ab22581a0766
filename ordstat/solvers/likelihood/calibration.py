"""Estimation of the maps from scores to probabilities, `model/calibration.py`.

Both maximise a likelihood to which one more observation is added, of nobody knows which score and rank: it is spread
over all rows and levels by their shares. The maximum then is finite whatever the data are, separated ones too; Platt
(1999, sec. 2.2) smooths his targets to the same end.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.special import log_softmax

from ..._typing import FloatArray, IntArray
from ...model.calibration import ScoreMap, VoteMap
from ...model.likelihood.cumulative import Cumulative
from ...model.likelihood.links import LINKS
from ...model.sample import Rows, Sample
from ..ordered_newton import Evaluation, minimum
from .explore import maximised
from .problem import Problem
from .start import starting_values

#: Largest absolute score, on columns of unit deviation.
_TOL = 1e-8
_MAX_ITER = 100
#: Newton's decrement of votes, as a share of the log-likelihood, that is rounding.
_ROUNDING = 1e-24


def smoothed(y: IntArray, n_levels: int, weights: FloatArray) -> FloatArray:
    """(N, K) weight of every row at every level: its own, and its part of the observation that is spread.

    Examples
    --------
    >>> smoothed(np.array([0, 1]), 2, np.ones(2))
    array([[1.25, 0.25],
           [0.25, 1.25]])
    """
    shares = np.bincount(y, weights=weights, minlength=n_levels) / weights.sum()
    spread = np.outer(weights / weights.sum(), shares)
    spread[np.arange(y.size), y] += weights
    return spread


def separated(scores: FloatArray, y: IntArray, n_levels: int) -> bool:
    """Whether no row has a higher score than a row of a higher level, and scores are not all alike.

    Examples
    --------
    >>> separated(np.array([0.0, 1.0, 1.0, 2.0]), np.array([0, 0, 1, 2]), 3)
    True
    """
    low = np.full(n_levels, np.inf)
    high = np.full(n_levels, -np.inf)
    np.minimum.at(low, y, scores)
    np.maximum.at(high, y, scores)
    below = np.maximum.accumulate(high)[:-1]
    above = np.minimum.accumulate(low[::-1])[::-1][1:]
    return bool(np.all(below <= above) and low.min() < high.max())


def fit_score_map(scores: FloatArray, y: IntArray, n_levels: int, weights: FloatArray) -> ScoreMap:
    """The cumulative logit of rank on the score, its slope not negative.

    Parameters
    ----------
    scores : (N,)
    y : (N,) codes 0..K-1, every one of them there
    n_levels : int
    weights : (N,) case weights > 0
    """
    spread = smoothed(y, n_levels, weights)
    sample = Sample(
        rows=Rows(X=np.repeat(scores, n_levels)[:, None]),
        y=np.tile(np.arange(n_levels), scores.size),
        n_levels=n_levels,
        weights=spread.ravel(),
    )
    problem = Problem.of(sample, Cumulative(LINKS["logit"]))
    if problem.sample.X.shape[1] == 1:
        optimum = maximised(problem, starting_values(problem, _MAX_ITER), _TOL, _MAX_ITER)
        theta, slope = problem.user_scale().coefficients(optimum.alpha, optimum.rest)
        if slope[0] > 0.0:
            return ScoreMap(theta[:, 0], float(slope[0]))
    below = np.cumsum(spread.sum(axis=0))
    return ScoreMap(np.log(below[:-1] / (below[-1] - below[:-1])), 0.0)


def fit_vote_map(votes: FloatArray, y: IntArray, n_levels: int, weights: FloatArray) -> VoteMap:
    """The softmax of votes (N, K) with an intercept a level, its slope not negative; parameters as `fit_score_map`."""
    targets = smoothed(y, n_levels, weights)
    centred = votes - votes.mean(axis=1, keepdims=True)
    unit = float(np.sqrt(weights @ np.square(centred).mean(axis=1) / weights.sum()))
    levels = np.log(targets.sum(axis=0))
    start = np.append((levels - levels[0])[1:], 0.0)
    point = start
    if unit > 0.0:
        point = minimum(partial(_evaluated, centred / unit, targets), start, rounding=_ROUNDING).coef
    if point[-1] <= 0.0:
        point, unit = start, 1.0
    intercept = np.append(0.0, point[:-1])
    return VoteMap(intercept - intercept.mean(), float(point[-1] / unit))


def _evaluated(v: FloatArray, targets: FloatArray, point: FloatArray) -> Evaluation:
    """Minus sum targets log softmax(a + b v) at (a, b), with its derivatives; a_1 = 0 is left out."""
    logs = log_softmax(np.append(0.0, point[:-1]) + point[-1] * v, axis=1)
    totals, p = targets.sum(axis=1, keepdims=True), np.exp(logs)
    residual, weighted = totals * p - targets, totals * p
    away = v - np.sum(p * v, axis=1, keepdims=True)
    mixed = np.sum(weighted * away, axis=0)[:, None]
    by_a = np.diag(weighted.sum(axis=0)) - weighted.T @ p
    hessian = np.block([[by_a, mixed], [mixed.T, np.sum(weighted * np.square(away))]])
    gradient = np.append(residual.sum(axis=0), np.sum(residual * v))
    return Evaluation(-float(np.sum(targets * logs)), gradient[1:], hessian[1:, 1:])
