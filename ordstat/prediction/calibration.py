"""Maps from scores to probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from scipy.special import log_softmax, softmax

from .._typing import FloatArray, IntArray
from ..formula.sample import Rows, Sample
from ..judging.costs import CostMatrix
from ..likelihood.estimate import Estimation
from ..likelihood.family import Cumulative
from ..likelihood.links import LINKS
from ..likelihood.problem import Problem
from ..likelihood.rule import LikelihoodRule
from ..newton import Loss, minimum

#: Thresholds shown in a line of text.
_SHOWN = 12


@dataclass(frozen=True, eq=False)
class ScoreMap:
    """P(y <= k) = 1 / (1 + exp(slope H - intercept_k)).

    Attributes
    ----------
    intercept : (K-1,) thresholds a_k, not falling
    slope : float

    Examples
    --------
    >>> ScoreMap(np.array([0.0, 2.0]), 1.0).probabilities(np.array([0.0, 1.0])).round(3)
    array([[0.5  , 0.381, 0.119],
           [0.269, 0.462, 0.269]])
    """

    intercept: FloatArray
    slope: float

    name: ClassVar[str] = "cumulative logit of the score"
    #: What the intercepts are called.
    intercepts: ClassVar[str] = "thresholds"

    @cached_property
    def _rule(self) -> LikelihoodRule:
        return LikelihoodRule(
            family=Cumulative(LINKS["logit"]),
            alpha=self.intercept[:, None],
            beta=np.array([self.slope]),
            zeta=np.zeros(0),
            cost=CostMatrix.classification(),
        )

    def probabilities(self, scores: FloatArray) -> FloatArray:
        return self._rule.probabilities(Rows(X=scores[:, None]))

    def cum_probabilities(self, scores: FloatArray) -> FloatArray:
        return self._rule.cum_probabilities(Rows(X=scores[:, None]))


@dataclass(frozen=True, eq=False)
class VoteMap:
    """p_k proportional to exp(intercept_k + slope v_k).

    Attributes
    ----------
    intercept : (K,) summing to 0 over the levels that have rows; -inf for those that have none
    slope : float

    Examples
    --------
    >>> VoteMap(np.zeros(3), 1.0).probabilities(np.array([[2.0, 1.0, 0.0]])).round(3)
    array([[0.665, 0.245, 0.09 ]])
    """

    intercept: FloatArray
    slope: float

    name: ClassVar[str] = "softmax of the votes"
    intercepts: ClassVar[str] = "intercepts"

    def probabilities(self, scores: FloatArray) -> FloatArray:
        return np.asarray(softmax(self.intercept + self.slope * scores, axis=1))

    def cum_probabilities(self, scores: FloatArray) -> FloatArray:
        cumulated = np.minimum(np.cumsum(self.probabilities(scores), axis=1), 1.0)
        cumulated[:, -1] = 1.0
        return cumulated


@dataclass(frozen=True, eq=False, kw_only=True)
class Calibration:
    """Probabilities for a ranker, learned from scores of rows that the rankers behind them had not seen.

    Attributes
    ----------
    map : ScoreMap or VoteMap
    folds : int
        Number of folds of the cross-fitting.
    scores : (M,) or (M, K) cross-fitted scores of rows of the fit, in the units of its own scores
    rows : (M,) which rows; one of weight 3 may be there three times, scored by rankers of different folds
    weights : (M,)
    separated : bool
        The cross-fitted scores put all rows in the order of their ranks, so that likelihood alone has no maximum.
    """

    map: ScoreMap | VoteMap
    folds: int
    scores: FloatArray
    rows: IntArray
    weights: FloatArray
    separated: bool

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """(N, K) probabilities at scores of the fit."""
        return self.map.probabilities(scores)

    def cum_probabilities(self, scores: FloatArray) -> FloatArray:
        """(N, K) P(y <= k) at scores of the fit."""
        return self.map.cum_probabilities(scores)

    @property
    def cross_fitted(self) -> FloatArray:
        """(M, K) probabilities of rows of the fit, by rankers that have not seen them."""
        return self.map.probabilities(self.scores)

    @property
    def facts(self) -> tuple[tuple[str, Any], ...]:
        """A header line of the summary."""
        shown = [f"{a:.4g}" for a in self.map.intercept]
        if len(shown) > _SHOWN:
            shown = [*shown[:3], "...", *shown[-3:]]
        text = (
            f"{self.map.name}, cross-fitted in {self.folds} folds; slope {self.map.slope:.4g}, {self.map.intercepts} "
            f"{', '.join(shown)}"
        )
        return (("Probabilities", text),)


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
        *theta, slope = Estimation(penalty=None, start=None, tol=_TOL, max_iter=_MAX_ITER).of(problem).coefficients
        if slope > 0.0:
            return ScoreMap(np.array(theta), float(slope))
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


def _evaluated(v: FloatArray, targets: FloatArray, point: FloatArray) -> Loss:
    """Minus sum targets log softmax(a + b v) at (a, b), with its derivatives; a_1 = 0 is left out."""
    logs = log_softmax(np.append(0.0, point[:-1]) + point[-1] * v, axis=1)
    totals, p = targets.sum(axis=1, keepdims=True), np.exp(logs)
    residual, weighted = totals * p - targets, totals * p
    away = v - np.sum(p * v, axis=1, keepdims=True)
    mixed = np.sum(weighted * away, axis=0)[:, None]
    by_a = np.diag(weighted.sum(axis=0)) - weighted.T @ p
    hessian = np.block([[by_a, mixed], [mixed.T, np.sum(weighted * np.square(away))]])
    gradient = np.append(residual.sum(axis=0), np.sum(residual * v))
    return Loss(-float(np.sum(targets * logs)), gradient[1:], hessian[1:, 1:])
