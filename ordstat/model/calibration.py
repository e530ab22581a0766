"""Maps from the score of a ranker to probabilities of the ranks.

A potential H gets a cumulative logit model, P(y <= k) = 1 / (1 + exp(b H - a_k)), b >= 0: Platt's (1999) where K = 2.
Votes v get p_k proportional to exp(a_k + b v_k), b >= 0: temperature scaling with a bias a level (Alexandari, Kundaje &
Shrikumar 2020). Either is monotone: a higher score raises every P(y > k), more votes for a level its probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax

from .._typing import FloatArray, IntArray
from .costs import CostMatrix
from .likelihood.cumulative import Cumulative
from .likelihood.links import LINKS
from .likelihood.rule import LikelihoodRule
from .sample import Rows

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
