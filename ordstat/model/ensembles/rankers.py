"""Ensembles of rankers that vote on every question "rank above k?", and their weighted median."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..._typing import FloatArray, IntArray
from ..rules import count_above
from ..sample import Rows, Sample
from .ensembles import InRounds, MemberSum, StumpSum


@dataclass(frozen=True, eq=False, kw_only=True)
class RankStumpVotes(InRounds):
    """Votes of ranking stumps: ranker t puts x above k where sign_t (x[column_t] - cut_tk) > 0, a tie being -sign_t.

    Attributes
    ----------
    columns : (T,)
    signs : (T,)
    cuts : (T, K-1)
        -inf below all rows, inf above.
    """

    columns: IntArray
    signs: FloatArray
    cuts: FloatArray

    by_round = ("columns", "signs", "cuts")

    @property
    def n_levels(self) -> int:
        return int(self.cuts.shape[1]) + 1

    @cached_property
    def sums(self) -> tuple[StumpSum, ...]:
        """One sum of binary stumps for every k."""
        # Above +inf nobody lies: a constant of the other sign.
        beyond = np.isposinf(self.cuts)
        cuts = np.where(beyond, -np.inf, self.cuts)
        round_weights = np.where(beyond, -1.0, 1.0) * (self.signs * self.round_weights)[:, None]
        return tuple(
            StumpSum(columns=self.columns, cuts=c, round_weights=h)
            for c, h in zip(cuts.T, round_weights.T, strict=True)
        )

    def importance(self, sample: Sample) -> FloatArray:
        """(D,) standard deviations, over the rows, of what each column adds to the votes; the sum over k."""
        return np.asarray(np.sum([one.importance(sample) for one in self.sums], axis=0), dtype=np.float64)

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1)."""
        return np.column_stack([one(rows) for one in self.sums])


def answers(codes: IntArray, n_levels: int) -> FloatArray:
    """(N, K-1) +1 where a code is above k, else -1.

    Examples
    --------
    >>> answers(np.array([0, 2]), 3).tolist()
    [[-1.0, -1.0], [1.0, 1.0]]
    """
    return np.where(np.asarray(codes)[:, None] > np.arange(n_levels - 1), 1.0, -1.0)


def interpolated_median(votes: FloatArray, total: float) -> FloatArray:
    """(N,) where the votes g_1 >= ... >= g_{K-1} (N, K-1), with g_0 = total and g_K = -total, cross 0.

    Between k and k + 1 the crossing is found by a straight line, as is the median of grouped data: the number of
    k = 1, ..., K-1 below it is the number of positive votes, so that it is a score with these thresholds.

    Examples
    --------
    >>> interpolated_median(np.array([[1.0, -3.0]]), 3.0).tolist()
    [1.25]
    """
    ends = np.full((len(votes), 1), max(total, 1.0))
    padded = np.hstack([ends, votes, -ends])
    code = count_above(votes)
    rows = np.arange(len(votes))
    above, below = padded[rows, code], padded[rows, code + 1]
    crossing = code + above / (above - below)
    return np.asarray(np.maximum(crossing, np.nextafter(code.astype(np.float64), np.inf)))


@dataclass(frozen=True, eq=False)
class MedianRule:
    """rank(x) = the weighted median of rankers, 1 + #{k : g_k(x) > 0} [Lin 2008, eq. 4.9-4.10], a tie being the lower.

    Its score is the interpolated median, on which the thresholds are 1, ..., K-1; its gaps are the votes g_k.

    Attributes
    ----------
    potential : RankStumpVotes or MemberSum
        g_k(x) = sum_t vote_t (+1 where ranker t puts x above k, else -1).
    """

    potential: RankStumpVotes | MemberSum

    @property
    def n_levels(self) -> int:
        return self.potential.n_levels

    @property
    def theta(self) -> FloatArray:
        """(K-1,) thresholds on the score."""
        return np.arange(1.0, self.n_levels)

    def scores(self, rows: Rows) -> FloatArray:
        return interpolated_median(self.potential(rows), float(np.abs(self.potential.round_weights).sum()))

    def gaps(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K-1) g_k."""
        return self.potential(rows)

    def codes(self, rows: Rows, scores: FloatArray | None = None) -> IntArray:
        return count_above((self.scores(rows) if scores is None else scores)[:, None] - self.theta)
