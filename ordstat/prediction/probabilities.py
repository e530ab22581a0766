"""Probabilities of levels from scores: the rule of a latent score, and calibration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import log_softmax, softmax

from .._typing import FloatArray, IntArray
from ..exceptions import DataWarning, SeparationWarning
from ..fit import CostRule, Potential
from ..formula.sample import Rows, Sample
from ..judging.costs import CostMatrix
from ..judging.decisions import Decision
from ..likelihood.cumulative import Cumulative
from ..likelihood.estimate import Estimation
from ..likelihood.links import LINKS
from ..likelihood.predictor import Predictor
from ..likelihood.problem import Problem
from ..reduction.convex import Loss, minimum

if TYPE_CHECKING:
    from ..judging.absent_levels import Present

#: The cumulative logit family.
LOGIT = Cumulative(LINKS["logit"])


@dataclass(frozen=True, eq=False)
class LatentRule(CostRule):
    """The rule P(y <= k | x) = F(theta_k - H(x)) for any score H.

    Attributes
    ----------
    potential : Potential
    theta : (K-1,) rising
    family : Cumulative
    cost : CostMatrix or Decision
    """

    potential: Potential
    theta: FloatArray
    family: Cumulative
    cost: CostMatrix | Decision

    @property
    def n_levels(self) -> int:
        return int(self.theta.size) + 1

    def over_levels(self, present: Any, cost: CostMatrix) -> LatentRule:
        """The rule over all levels, of which some have no rows; `present` is a
        `Present`.
        """
        return replace(self, theta=present.spread_thresholds(self.theta), cost=cost)

    def scores(self, rows: Rows) -> FloatArray:
        return self.potential(rows)

    def gaps(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K-1) H(x) - theta_k."""
        return np.asarray(
            (self.scores(rows) if scores is None else scores)[:, None] - self.theta
        )

    def cum_probabilities(
        self, rows: Rows, scores: FloatArray | None = None
    ) -> FloatArray:
        """(N, K) P(y <= k)."""
        return np.hstack(
            [self.family.below(-self.gaps(rows, scores)), np.ones((rows.n, 1))]
        )

    def log_odds_above(
        self, rows: Rows, scores: FloatArray | None = None
    ) -> FloatArray:
        """(N, K-1) log(P(y > k) / P(y <= k))."""
        return self.family.log_odds_above(-self.gaps(rows, scores))

    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(y = k), accurate for small probabilities too."""
        H = self.scores(rows) if scores is None else scores
        w = np.ones((rows.n, 1))
        alpha = self.theta[:, None]
        return self.family.probabilities(
            Predictor(w=w, alpha=alpha, H=H, tau=np.zeros(rows.n))
        )


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

    def over_levels(self, present: Present) -> ScoreMap:
        """The map to all levels; those without rows have probability 0."""
        return replace(self, intercept=present.spread_thresholds(self.intercept))

    @staticmethod
    def scores_over_levels(scores: FloatArray, present: Present) -> FloatArray:
        """(M,) the scores, which do not depend on the levels."""
        return scores

    def probabilities(self, scores: FloatArray) -> FloatArray:
        H = self.slope * scores
        predictor = Predictor(
            w=np.ones((H.size, 1)),
            alpha=self.intercept[:, None],
            H=H,
            tau=np.zeros(H.size),
        )
        return LOGIT.probabilities(predictor)


@dataclass(frozen=True, eq=False)
class VoteMap:
    """p_k proportional to exp(intercept_k + slope v_k).

    Attributes
    ----------
    intercept : (K,)
        Summing to 0 over the levels that have rows; -inf for levels without rows.
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

    def over_levels(self, present: Present) -> VoteMap:
        """The map to all levels; those without rows have probability 0."""
        intercept = np.full(present.n_levels, -np.inf)
        intercept[present.codes] = self.intercept
        return replace(self, intercept=intercept)

    @staticmethod
    def scores_over_levels(scores: FloatArray, present: Present) -> FloatArray:
        """(M, K) votes, from those for the levels that have rows."""
        return present.spread_votes(scores)

    def probabilities(self, scores: FloatArray) -> FloatArray:
        return np.asarray(softmax(self.intercept + self.slope * scores, axis=1))


_UNINFORMATIVE = (
    "the scores of held-out rows do not rise with their level and carry no information"
    " about it, so the calibrated probabilities of every row are the shares of the"
    " levels."
)
_SEPARATED = (
    "the scores order the held-out rows by their levels without a mistake, so the"
    " likelihood of the calibration has no maximum: probabilities near 0 and 1 depend"
    " on smoothing by the weight of one observation. Do not trust them."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Calibration:
    """Probabilities for a ranker, learned from held-out scores.

    Attributes
    ----------
    map : ScoreMap or VoteMap
    folds : int
        Number of folds of the cross-fitting.
    scores : (M,) or (M, K) held-out scores, in units of the scores of the fit
    rows : (M,)
        Places of the rows; a row of weight 3 can occur three times, in different folds.
    weights : (M,)
    separated : bool
        The held-out scores order all rows by level, so that the likelihood has no
        maximum.
    """

    map: ScoreMap | VoteMap
    folds: int
    scores: FloatArray
    rows: IntArray
    weights: FloatArray
    separated: bool

    def over_levels(self, present: Present) -> Calibration:
        """The calibration over all levels; those without rows have probability 0."""
        return replace(
            self,
            map=self.map.over_levels(present),
            scores=self.map.scores_over_levels(self.scores, present),
        )

    def alerts(self) -> Iterator[tuple[type[Warning], str]]:
        """Warnings about scores that do not depend on the level, or that separate all
        levels.
        """
        if self.map.slope == 0.0:
            yield DataWarning, _UNINFORMATIVE
        if self.separated:
            yield SeparationWarning, _SEPARATED

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """(N, K) probabilities at scores of the fit."""
        return self.map.probabilities(scores)

    def cum_probabilities(self, scores: FloatArray) -> FloatArray:
        """(N, K) P(y <= k) at scores of the fit."""
        cumulated = np.minimum(np.cumsum(self.map.probabilities(scores), axis=1), 1.0)
        cumulated[:, -1] = 1.0
        return cumulated

    @property
    def cross_fitted(self) -> FloatArray:
        """(M, K) held-out probabilities of the rows of the fit."""
        return self.map.probabilities(self.scores)

    @property
    def facts(self) -> tuple[tuple[str, Any], ...]:
        """A header line of the summary."""
        shown = [f"{a:.4g}" for a in self.map.intercept]
        if len(shown) > _SHOWN:
            shown = [*shown[:3], "...", *shown[-3:]]
        text = (
            f"{self.map.name}, cross-fitted in {self.folds} folds; slope"
            f" {self.map.slope:.4g}, {self.map.intercepts} {', '.join(shown)}"
        )
        return (("Probabilities", text),)


#: Largest absolute score, on columns of unit deviation.
_TOL = 1e-8
_MAX_ITER = 100
#: Newton's decrement of votes, as a share of the log-likelihood, that is rounding.
_ZERO_DECREMENT = 1e-24


def smoothed(y: IntArray, n_levels: int, weights: FloatArray) -> FloatArray:
    """(N, K) weight of each row at each level: its own weight, plus one observation
    spread over all rows.

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
    """Whether the scores order all rows by level, and are not all equal.

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


def fit_score_map(
    scores: FloatArray, y: IntArray, n_levels: int, weights: FloatArray
) -> ScoreMap:
    """Fit a cumulative logit of the level on the score, with a slope of 0 or more.

    Parameters
    ----------
    scores : (N,)
    y : (N,) codes 0..K-1; every level has rows
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
    problem = Problem.of(sample, LOGIT)
    if problem.sample.X.shape[1] == 1:
        *theta, slope = (
            Estimation(penalty=None, start=None, tol=_TOL, max_iter=_MAX_ITER)
            .of(problem)
            .coefficients
        )
        if slope > 0.0:
            return ScoreMap(np.array(theta), float(slope))
    below = np.cumsum(spread.sum(axis=0))
    return ScoreMap(np.log(below[:-1] / (below[-1] - below[:-1])), 0.0)


def fit_vote_map(
    votes: FloatArray, y: IntArray, n_levels: int, weights: FloatArray
) -> VoteMap:
    """Fit a softmax of votes (N, K) with intercepts and a slope of 0 or more;
    parameters as in `fit_score_map`.
    """
    targets = smoothed(y, n_levels, weights)
    centred = votes - votes.mean(axis=1, keepdims=True)
    unit = float(np.sqrt(weights @ np.square(centred).mean(axis=1) / weights.sum()))
    levels = np.log(targets.sum(axis=0))
    start = np.append((levels - levels[0])[1:], 0.0)
    point = start
    if unit > 0.0:
        point = minimum(
            partial(_evaluated, centred / unit, targets),
            start,
            rounding=_ZERO_DECREMENT,
        ).coef
    if point[-1] <= 0.0:
        point = start
        unit = 1.0
    intercept = np.append(0.0, point[:-1])
    return VoteMap(intercept - intercept.mean(), float(point[-1] / unit))


def _evaluated(v: FloatArray, targets: FloatArray, point: FloatArray) -> Loss:
    """Minus sum targets log softmax(a + b v) at (a, b), with its derivatives; a_1 = 0
    is left out.
    """
    logs = log_softmax(np.append(0.0, point[:-1]) + point[-1] * v, axis=1)
    totals = targets.sum(axis=1, keepdims=True)
    p = np.exp(logs)
    residual = totals * p - targets
    weighted = totals * p
    away = v - np.sum(p * v, axis=1, keepdims=True)
    mixed = np.sum(weighted * away, axis=0)[:, None]
    by_a = np.diag(weighted.sum(axis=0)) - weighted.T @ p
    hessian = np.block([[by_a, mixed], [mixed.T, np.sum(weighted * np.square(away))]])
    gradient = np.append(residual.sum(axis=0), np.sum(residual * v))
    return Loss(-float(np.sum(targets * logs)), gradient[1:], hessian[1:, 1:])
