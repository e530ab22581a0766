"""AdaBoost's updates: the vote of a round, and the weights of the rows in the next [Tutz & Hechenbichler 2003]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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


#: From the answers of a round, under weights (P, M) with the sum 1, to its update.
Reweighting = Callable[[FloatArray, FloatArray], Update]


def _normalised(weights: FloatArray) -> FloatArray:
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _log_odds(error: FloatArray, smoothing: float) -> FloatArray:
    """(P,) log((1 - e) / (e + smoothing)), finite for e = 1 too."""
    return np.log(np.maximum(1.0 - error, np.finfo(np.float64).tiny) / (error + smoothing))


def unweighted(answers: FloatArray, weights: FloatArray) -> Update:
    """Every round counts the same, and the weights stay: bagging."""
    return Update(np.full(len(weights), np.nan), np.ones(len(weights)), weights)


def discrete_splits(above: IntArray, smoothing: float, answers: FloatArray, weights: FloatArray) -> Update:
    """Discrete AdaBoost of every split: c = log((1 - e) / (e + 1/n)), w exp(c [wrong]).

    Parameters
    ----------
    above : (S, M) 1 where the rank of row m is above split s, else 0
    smoothing : float
        1/n.
    """
    wrong = (answers[:, 1].T > answers[:, 0].T) != (above > 0)
    error = (weights * wrong).sum(axis=1)
    vote = _log_odds(error, smoothing)
    return Update(error, vote, _normalised(weights * np.exp(vote[:, None] * wrong)))


def real_splits(above: IntArray, answers: FloatArray, weights: FloatArray) -> Update:
    """Real AdaBoost of every split: w exp(-f) for rows below it, w exp(f) above (S, M); f is in the answers."""
    f = (answers[:, 0] - answers[:, 1]).T
    margin = np.where(above > 0, -f, f)
    wrong = np.where(above > 0, f >= 0.0, f < 0.0)
    return Update((weights * wrong).sum(axis=1), np.ones(len(weights)), _normalised(weights * np.exp(-margin)))


def discrete_ranks(
    y: IntArray, errors: FloatArray, bonus: float, smoothing: float, answers: FloatArray, weights: FloatArray
) -> Update:
    """Discrete AdaBoost of rankers with an error eps[true, predicted] of more or less.

    e = sum_i w_i eps_i / max eps, c = log((1 - e) / (e + `smoothing`)) + `bonus`, w exp(c eps).

    Parameters
    ----------
    y : (M,) ranks
    errors : (K, K) eps
    bonus : float
        log(K - 1) for the error 0 or 1, which a constant answer keeps at or below (K-1)/K, not 1/2.
    smoothing : float
        1/(n (K-1)).
    """
    paid = errors[y, np.argmax(answers, axis=1)]
    error = (weights * paid).sum(axis=1) / errors.max()
    vote = _log_odds(error, smoothing) + bonus
    return Update(error, vote, _normalised(weights * np.exp(vote[:, None] * paid)))


def real_ranks(y: IntArray, answers: FloatArray, weights: FloatArray) -> Update:
    """Real AdaBoost of rankers: w exp(-f_y), f being the answers and y (M,) the ranks."""
    error = (weights * (np.argmax(answers, axis=1) != y)).sum(axis=1)
    own = answers[np.arange(y.size), y]
    return Update(error, np.ones(len(weights)), _normalised(weights * np.exp(-own)))
