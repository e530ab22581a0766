"""AdaBoost's updates: the vote of a round, and the weights of the rows in the next [Tutz & Hechenbichler 2003]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..._typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Update:
    """What a round leads to, for P problems boosted apart (one for all ranks, or one a split).

    Attributes
    ----------
    error : (P,) weighted error of the round, between 0 and 1
    vote : (P,) its weight c
    weights : (P, M) weights of the rows in the next round, each row of them with the sum 1
    """

    error: FloatArray
    vote: FloatArray
    weights: FloatArray


class Reweighting(Protocol):
    """Settings of an update."""

    def __call__(self, answers: FloatArray, weights: FloatArray) -> Update:
        """The update after a round with these answers, under weights (P, M) with the sum 1."""


def _normalised(weights: FloatArray) -> FloatArray:
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _log_odds(error: FloatArray, smoothing: float) -> FloatArray:
    """(P,) log((1 - e) / (e + smoothing)), finite for e = 1 too."""
    return np.log(np.maximum(1.0 - error, np.finfo(np.float64).tiny) / (error + smoothing))


@dataclass(frozen=True, eq=False, kw_only=True)
class Unweighted:
    """Every round counts the same, and the weights stay: bagging."""

    def __call__(self, answers: FloatArray, weights: FloatArray) -> Update:
        return Update(np.full(len(weights), np.nan), np.ones(len(weights)), weights)


@dataclass(frozen=True, eq=False, kw_only=True)
class DiscreteSplits:
    """Discrete AdaBoost of every split: c = log((1 - e) / (e + 1/n)), w exp(c [wrong]).

    Attributes
    ----------
    above : (S, M) 1 where the rank of row m is above split s, else 0
    smoothing : float
        1/n.
    """

    above: IntArray
    smoothing: float

    def __call__(self, answers: FloatArray, weights: FloatArray) -> Update:
        wrong = (answers[:, 1].T > answers[:, 0].T) != (self.above > 0)
        error = (weights * wrong).sum(axis=1)
        vote = _log_odds(error, self.smoothing)
        return Update(error, vote, _normalised(weights * np.exp(vote[:, None] * wrong)))


@dataclass(frozen=True, eq=False, kw_only=True)
class RealSplits:
    """Real AdaBoost of every split: w exp(-f) for rows below it, w exp(f) above; f is in the answers.

    Attributes
    ----------
    above : (S, M)
    """

    above: IntArray

    def __call__(self, answers: FloatArray, weights: FloatArray) -> Update:
        f = (answers[:, 0] - answers[:, 1]).T
        margin = np.where(self.above > 0, -f, f)
        wrong = np.where(self.above > 0, f >= 0.0, f < 0.0)
        error = (weights * wrong).sum(axis=1)
        return Update(error, np.ones(len(weights)), _normalised(weights * np.exp(-margin)))


@dataclass(frozen=True, eq=False, kw_only=True)
class DiscreteRanks:
    """Discrete AdaBoost of rankers with an error eps[true, predicted] of more or less.

    e = sum_i w_i eps_i / `largest`, c = log((1 - e) / (e + smoothing)) + `bonus`, w exp(c eps).

    Attributes
    ----------
    y : (M,) ranks
    errors : (K, K) eps
    largest : float
        What eps can be at most.
    bonus : float
        log(K - 1) for the error 0 or 1, which a constant answer keeps at or below (K-1)/K, not 1/2.
    smoothing : float
        1/(n (K-1)).
    """

    y: IntArray
    errors: FloatArray
    largest: float
    bonus: float
    smoothing: float

    def __call__(self, answers: FloatArray, weights: FloatArray) -> Update:
        errors = self.errors[self.y, np.argmax(answers, axis=1)]
        error = (weights * errors).sum(axis=1) / self.largest
        vote = _log_odds(error, self.smoothing) + self.bonus
        return Update(error, vote, _normalised(weights * np.exp(vote[:, None] * errors)))


@dataclass(frozen=True, eq=False, kw_only=True)
class RealRanks:
    """Real AdaBoost of rankers: w exp(-f_y), f being the answers.

    Attributes
    ----------
    y : (M,) ranks
    """

    y: IntArray

    def __call__(self, answers: FloatArray, weights: FloatArray) -> Update:
        wrong = np.argmax(answers, axis=1) != self.y
        error = (weights * wrong).sum(axis=1)
        own = answers[np.arange(self.y.size), self.y]
        return Update(error, np.ones(len(weights)), _normalised(weights * np.exp(-own)))
