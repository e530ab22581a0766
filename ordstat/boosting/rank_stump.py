"""Ranking stumps: one column, one direction, K-1 ordered cuts of least cost [Lin 2008, sec. 4.3.2]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import FloatArray, IntArray
from ..compiled.weak import best_column
from ..judging.costs import best_cuts
from ..reduction.learners import Weak
from ..reduction.members import RankStumpVotes
from .weak import Presorted

# Cuts whose costs differ by less than this share of all costs are ties, which the wider gap wins.
_TIE = 1e-9
# Columns whose costs differ by less than this share are ties, which go to the first.
_SAME = 1e-13


@dataclass(frozen=True, eq=False)
class RankStump:
    """Above k where sign (x[column] - cuts_k) > 0."""

    column: int
    sign: float
    cuts: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class RankStumpTrainer:
    """Finds the best ranking stump for the rows of X (N, D), again and again.

    Attributes
    ----------
    presorted : Presorted
    bonus : (D, N + 1)
        Share of all costs by which a cut at each place counts less: the wider its gap, the more.
    n_levels : int
    """

    presorted: Presorted
    bonus: FloatArray
    n_levels: int

    reversible: ClassVar[bool] = False

    @classmethod
    def on(cls, X: FloatArray, n_levels: int) -> RankStumpTrainer:
        """Sort the columns once."""
        presorted = Presorted.of(X)
        return cls(presorted=presorted, bonus=_TIE * _gap_shares(presorted), n_levels=n_levels)

    def choose(self, gains: FloatArray) -> tuple[int, float]:
        """Column and direction of the stump that costs least, for gains c[k] - c[k+1] (N, K-1) of every row."""
        p = self.presorted
        _, column, sign = best_column(p.order, p.distinct.view(np.uint8), self.bonus, _shared_out(gains), _SAME)
        return column, sign

    def best(self, u: FloatArray, rng: np.random.Generator) -> Weak:
        """The stump that maximises sum_nk u_nk (+1 where it puts row n above k, else -1), u (N, K-1)."""
        gains, p = _shared_out(u), self.presorted
        column, sign = self.choose(u)
        walk = slice(None) if sign > 0 else slice(None, None, -1)
        order = p.order[column][walk]
        allowed = np.concatenate([[True], p.distinct[column], [True]])
        totals = np.zeros((order.size + 1, gains.shape[1]))
        np.cumsum(gains[order], axis=0, out=totals[1:])
        totals += np.where(allowed, -self.bonus[column], np.inf)[walk][:, None]
        places = best_cuts(totals)
        position = np.empty(order.size, dtype=np.intp)
        position[order] = np.arange(order.size)
        values = np.where(position[:, None] >= places, 1.0, -1.0)
        rising = places if sign > 0 else order.size - places
        return Weak(RankStump(column, sign, self._cuts(column, rising)), values)

    def _cuts(self, column: int, places: IntArray) -> FloatArray:
        """Thresholds with the rows before each place at or below it."""
        n = self.presorted.order.shape[1]
        ends = {0: -np.inf, n: np.inf}
        return np.array([ends[p] if p in ends else self.presorted.between(column, p - 1) for p in places.tolist()])

    def combine(self, members: Sequence[RankStump], round_weights: FloatArray) -> RankStumpVotes:
        """The votes of several stumps."""
        return RankStumpVotes(
            columns=np.array([m.column for m in members], dtype=np.intp),
            signs=np.array([m.sign for m in members], dtype=np.float64),
            cuts=np.array([m.cuts for m in members], dtype=np.float64).reshape(-1, self.n_levels - 1),
            round_weights=np.asarray(round_weights, dtype=np.float64),
        )

    def log_sizes(self) -> tuple[float, float]:
        """Logarithms of the numbers of label vectors, at one k and where every row has a k of its own.

        A column with m different values gives two directions and m + 1 cuts, two of them the constants; or K-1 ordered
        ones in C(m + K - 1, K - 1) ways.
        """
        from scipy.special import gammaln

        values = 1.0 + self.presorted.distinct.sum(axis=1)
        q = self.n_levels - 1
        ways = gammaln(values + q + 1.0) - gammaln(values + 1.0) - gammaln(q + 1.0)
        return float(np.log(2.0 * values.sum())), float(np.logaddexp.reduce(np.log(2.0) + ways))


def _shared_out(gains: FloatArray) -> FloatArray:
    """Gains as shares of all of them."""
    return gains / (np.abs(gains).sum() or 1.0)


def _gap_shares(presorted: Presorted) -> FloatArray:
    """(D, N + 1) width of the gap at every place, as a share of all in its column; ends count as a mean gap."""
    inner = np.diff(presorted.values, axis=1)
    mean = inner.sum(axis=1, keepdims=True) / np.maximum(presorted.distinct.sum(axis=1, keepdims=True), 1)
    gaps = np.hstack([mean, inner, mean])
    total = gaps.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(gaps, total, out=np.zeros_like(gaps), where=total > 0))
