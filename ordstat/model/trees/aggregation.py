"""How rounds of trees become votes for ranks [Tutz & Hechenbichler 2003].

A round says something of every row (`answers`); what the rounds say is added up, each times its weight; `tally` turns
the sum into votes for the K ranks, and the rank with the most votes is predicted, ties to the lower.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import lcm

import numpy as np
from scipy.special import softmax

from ..._typing import FloatArray, IntArray
from .tree import Forest

# From this many splits on their common multiple times their number is no exact float any more.
_EXACT = 36


def shares(votes: FloatArray) -> FloatArray:
    """(N, K) votes >= 0 divided by their sum; all alike where there are none."""
    total = votes.sum(axis=1, keepdims=True)
    found: FloatArray = np.full_like(votes, 1.0 / votes.shape[1])
    np.divide(votes, total, out=found, where=total > 0.0)
    return found


def inverse_log_ratios(votes: FloatArray) -> FloatArray:
    """(N, K) probabilities p whose f_j = 1/2 (log p_j - mean over l != j of log p_l) are the votes."""
    n_levels = votes.shape[1]
    return np.asarray(softmax(2.0 * (n_levels - 1) / n_levels * votes, axis=1))


@dataclass(frozen=True, kw_only=True)
class Aggregation(ABC):
    """From the leaves of the trees of a round to votes.

    Attributes
    ----------
    n_levels : int
        K.
    """

    n_levels: int

    @abstractmethod
    def answers(self, forest: Forest, leaves: IntArray) -> FloatArray:
        """(N, K) what one round says of rows in these leaves (N, S); (N, 2, S) where splits are counted apart."""

    def tally(self, total: FloatArray) -> FloatArray:
        """(N, K) votes from the weighted sum of the answers."""
        return total

    def probabilities(self, votes: FloatArray) -> FloatArray:
        """(N, K) probabilities of the ranks."""
        return shares(votes)


@dataclass(frozen=True, kw_only=True)
class LeafShares(Aggregation):
    """The share of every rank in the leaf of one tree."""

    def answers(self, forest: Forest, leaves: IntArray) -> FloatArray:
        return forest.shares[leaves[:, 0]]


@dataclass(frozen=True, kw_only=True)
class Plurality(Aggregation):
    """One vote for the rank that the tree of the round predicts, or trees of all splits together by the rule (2).

    Attributes
    ----------
    of_splits : bool
        Whether there are trees of all splits.
    """

    of_splits: bool = False

    def answers(self, forest: Forest, leaves: IntArray) -> FloatArray:
        if not self.of_splits:
            return one_hot(forest.labels[leaves[:, 0]], self.n_levels)
        scores = split_scores(forest.labels[leaves].astype(np.float64))
        return one_hot(np.argmax(scores, axis=1), self.n_levels)


@dataclass(frozen=True, kw_only=True)
class LogRatios(Aggregation):
    """f_j = 1/2 log of the score of rank j against a mean of the others': real AdaBoost.

    The scores are the shares of the ranks in the leaf of the round's tree, or what trees of all splits give the ranks
    (eq. 6). The mean is the geometric one, or that of scores weighted by |j - l|: the paper weighs by the distance from
    the true rank, which prediction does not know; at the true rank, where rows get their weights, it is the same.

    Attributes
    ----------
    smoothing : float
        1/n, added to every score.
    of_splits : bool
        Whether there are trees of all splits.
    by_distance : bool
        Whether the mean is weighted by distance.
    """

    smoothing: float
    of_splits: bool = False
    by_distance: bool = False

    def answers(self, forest: Forest, leaves: IntArray) -> FloatArray:
        found = share_scores(forest.shares[leaves, 1]) if self.of_splits else forest.shares[leaves[:, 0]]
        scores = found + self.smoothing
        if self.by_distance:
            ranks = np.arange(self.n_levels)
            distance = np.abs(ranks[:, None] - ranks)
            return np.asarray(0.5 * np.log(scores / (scores @ (distance / distance.sum(axis=0)))))
        logs = np.log(scores)
        return np.asarray(0.5 * (logs - (logs.sum(axis=1, keepdims=True) - logs) / (self.n_levels - 1)))

    def probabilities(self, votes: FloatArray) -> FloatArray:
        return inverse_log_ratios(votes)


def plain(total: FloatArray) -> FloatArray:
    """(N, K) scores of the rule (2) from votes (N, 2, K-1) for "at most r" and "above r", ties to the first."""
    return split_scores((total[:, 1] > total[:, 0]).astype(np.float64))


def by_votes(total: FloatArray) -> FloatArray:
    """(N, K) scores of the rule (2), every split weighted by its prediction votes: the share of the winning side."""
    whole = total.sum(axis=1)
    votes = np.divide(total.max(axis=1), whole, out=np.zeros_like(whole), where=whole > 0.0)
    return split_scores((total[:, 1] > total[:, 0]).astype(np.float64), votes)


#: Second stages of the aggregation: from votes of all splits to scores of the ranks.
COMBINATIONS: dict[str, Callable[[FloatArray], FloatArray]] = {"plain": plain, "votes": by_votes}


@dataclass(frozen=True, kw_only=True)
class SplitVotes(Aggregation):
    """Votes of every split counted apart over all rounds, and combined by the rule (2) at the end.

    A round has one vote for the side that its tree answers; or |f| for the sign of f = 1/2 log(p_r / (1 - p_r)),
    p_r = P(Y <= r).

    Attributes
    ----------
    combination : str
        One of `COMBINATIONS`.
    smoothing : float or None
        1/n, added to both probabilities; None for one vote.
    """

    combination: str = "plain"
    smoothing: float | None = None

    def answers(self, forest: Forest, leaves: IntArray) -> FloatArray:
        if self.smoothing is None:
            above = forest.labels[leaves].astype(np.float64)
            return np.stack([1.0 - above, above], axis=1)
        above = forest.shares[leaves, 1]
        f = 0.5 * np.log((1.0 - above + self.smoothing) / (above + self.smoothing))
        return np.stack([np.maximum(f, 0.0), np.maximum(-f, 0.0)], axis=1)

    def tally(self, total: FloatArray) -> FloatArray:
        return COMBINATIONS[self.combination](total)


def one_hot(codes: IntArray, n_levels: int) -> FloatArray:
    """(N, K) 1 at the code of each row, else 0."""
    votes = np.zeros((codes.size, n_levels))
    votes[np.arange(codes.size), codes] = 1.0
    return votes


def below(y: IntArray, n_levels: int) -> IntArray:
    """(K-1, N) class of every split r = 1..K-1: 0 where the rank is at most r, else 1.

    Examples
    --------
    >>> below(np.array([0, 1, 2]), 3).tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    return (np.asarray(y) > np.arange(n_levels - 1)[:, None]).astype(np.intp)


def split_scores(above: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """(N, K) s_j = sum_r PV_r yhat_j^(r) of the rule (2): each split shares its vote among the ranks on its side.

    yhat_j^(r) is 1/r for the r ranks j <= r where the answer is "at most r", and 1/(K-r) for those above where it is
    "above r"; 0 for the others.

    Parameters
    ----------
    above : (N, K-1)
        1 where split r answers "above r", else 0.
    weights : (N, K-1), optional
        PV_r; 1 if not given.

    Examples
    --------
    >>> split_scores(np.array([[1.0, 0.0]])).tolist()
    [[0.5, 1.0, 0.5]]
    """
    n_splits = above.shape[1]
    ranks = np.arange(1, n_splits + 1)
    # Whole numbers add up without rounding, so that equal scores stay equal.
    common = float(lcm(*range(1, n_splits + 1))) if weights is None and n_splits < _EXACT else 1.0
    weight = np.ones_like(above) if weights is None else weights
    low, high = (1.0 - above) * weight * (common / ranks), above * weight * (common / (n_splits + 1 - ranks))
    return _spread(low, high) / common


def share_scores(above: FloatArray) -> FloatArray:
    """(N, K) yhat_j = sum_{r >= j} p_r + sum_{r < j} (1 - p_r) of eq. 6, p_r = P(Y <= r).

    Parameters
    ----------
    above : (N, K-1)
        1 - p_r.

    Examples
    --------
    >>> share_scores(np.array([[0.75, 0.25]])).tolist()
    [[1.0, 1.5, 1.0]]
    """
    return _spread(1.0 - above, above)


def _spread(low: FloatArray, high: FloatArray) -> FloatArray:
    """(N, K) sum_{r >= j} low_r + sum_{r < j} high_r."""
    none = np.zeros((len(low), 1))
    from_below = np.concatenate([none, np.cumsum(high, axis=1)], axis=1)
    from_above = np.concatenate([np.cumsum(low[:, ::-1], axis=1)[:, ::-1], none], axis=1)
    return np.asarray(from_below + from_above)
