"""Sums of hypotheses over rounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from .._typing import FloatArray, IntArray
from ..formula.row_blocks import CACHED, row_blocks
from ..formula.sample import Rows, Sample
from ..formula.scaling import Scaling

# Numbers per row while the stumps of one column are added: value, position and sum.
_WIDTH = 4


@dataclass(frozen=True, eq=False, kw_only=True)
class InRounds(ABC):
    """A weighted sum over rounds.

    Attributes
    ----------
    round_weights : (T,) weight of every round
    """

    round_weights: FloatArray

    @abstractmethod
    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores, or (N, K-1) or (N, K) votes."""

    def __getstate__(self) -> dict[str, object]:
        # without cached values
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True, eq=False, kw_only=True)
class StumpSum(InRounds):
    """H(x) = sum_t weight_t sign(x[column_t] - cut_t); a tie x = cut counts as -1.

    Attributes
    ----------
    columns : (T,)
    cuts : (T,)
        -inf makes a constant.
    """

    columns: IntArray
    cuts: FloatArray

    @cached_property
    def steps(self) -> dict[int, tuple[FloatArray, FloatArray]]:
        """For each column: sorted cuts, and the sum of its stumps for values above 0,
        1, ... of these cuts.
        """
        merged = {}
        for column in np.unique(self.columns[np.isfinite(self.cuts)]).tolist():
            chosen = (self.columns == column) & np.isfinite(self.cuts)
            cuts, position = np.unique(self.cuts[chosen], return_inverse=True)
            jumps = np.bincount(
                position.ravel(),
                weights=2.0 * self.round_weights[chosen],
                minlength=cuts.size,
            )
            merged[column] = (
                cuts,
                np.cumsum(np.concatenate([[-self.round_weights[chosen].sum()], jumps])),
            )
        return merged

    def column_sum(self, X: FloatArray, column: int) -> FloatArray:
        """(N,) contribution of the stumps on one column to the scores of X (N, D)."""
        cuts, values = self.steps[column]
        return values[
            np.searchsorted(cuts, np.ascontiguousarray(X[:, column]), side="left")
        ]

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        scores = np.full(
            rows.n, float(self.round_weights[~np.isfinite(self.cuts)].sum())
        )
        for block in row_blocks(rows.n, _WIDTH, CACHED):
            for column in self.steps:
                scores[block] += self.column_sum(rows.X[block], column)
        return scores

    def importance(self, sample: Sample) -> FloatArray:
        """(D,) standard deviations over the rows of the contribution of each column to
        H.
        """
        sizes = np.zeros(sample.rows.X.shape[1])
        weights = sample.case_weights / sample.case_weights.sum()
        for column in self.steps:
            values = self.column_sum(sample.rows.X, column)
            sizes[column] = np.sqrt(weights @ (values - weights @ values) ** 2)
        return sizes


def hard_sign(values: FloatArray) -> FloatArray:
    """+1 where values >= 0, else -1."""
    return np.where(values >= 0.0, 1.0, -1.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class DirectionSum(InRounds):
    """H(x) = sum_t weight_t shape(<directions_t, (x, 1)>), x in scaled columns.

    Attributes
    ----------
    scaling : Scaling
    directions : (T, D + 1)
    shape : callable
        `hard_sign` for perceptrons, numpy.tanh for sigmoids.
    """

    scaling: Scaling
    directions: FloatArray
    shape: Callable[[FloatArray], FloatArray]

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        scores = np.zeros(rows.n)
        for block in row_blocks(rows.n, self.round_weights.size):
            inner = (
                self.scaling(rows.X[block]) @ self.directions[:, :-1].T
                + self.directions[:, -1]
            )
            scores[block] = self.shape(inner) @ self.round_weights
        return scores

    def importance(self, sample: Sample) -> FloatArray:
        """(D,) sum of absolute round weights, each divided among the scaled columns by
        the entries of its direction.
        """
        sizes = np.abs(self.directions[:, :-1])
        total = sizes.sum(axis=1, keepdims=True)
        return np.abs(self.round_weights) @ (sizes / np.where(total > 0.0, total, 1.0))


@dataclass(frozen=True, eq=False, kw_only=True)
class MemberSum(InRounds):
    """H(x) = sum_t weight_t h_t(x) of any hypotheses, or g_k(x) of answers to "rank
    above k?".

    Attributes
    ----------
    members : tuple of callables
        Rows to (N,) values in [-1, 1], or to (N, K-1) answers.
    shape : tuple
        (), or (K-1,).
    """

    members: tuple[Callable[[Rows], FloatArray], ...]
    shape: tuple[int, ...] = ()

    @property
    def n_levels(self) -> int:
        """K."""
        return self.shape[0] + 1

    def __call__(self, rows: Rows) -> FloatArray:
        scores = np.zeros((rows.n, *self.shape))
        for member, round_weight in zip(self.members, self.round_weights, strict=True):
            scores += round_weight * member(rows)
        return scores


@dataclass(frozen=True, eq=False, kw_only=True)
class SeededSum:
    """H(x) = first(x) + added(x): rounds added to the score of a first learner."""

    first: Callable[[Rows], FloatArray]
    added: InRounds

    @property
    def round_weights(self) -> FloatArray:
        """(T,)."""
        return self.added.round_weights

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        return self.first(rows) + self.added(rows)


@dataclass(frozen=True, eq=False, kw_only=True)
class RankStumpVotes(InRounds):
    """Votes of ranking stumps: ranker t puts x above k if sign_t (x[column_t] - cut_tk)
    > 0; a tie is -sign_t.

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

    @property
    def n_levels(self) -> int:
        return int(self.cuts.shape[1]) + 1

    @cached_property
    def sums(self) -> tuple[StumpSum, ...]:
        """One sum of binary stumps for every k."""
        # No row lies above +inf: use a constant with the opposite sign.
        beyond = np.isposinf(self.cuts)
        cuts = np.where(beyond, -np.inf, self.cuts)
        round_weights = (
            np.where(beyond, -1.0, 1.0) * (self.signs * self.round_weights)[:, None]
        )
        return tuple(
            StumpSum(columns=self.columns, cuts=c, round_weights=h)
            for c, h in zip(cuts.T, round_weights.T, strict=True)
        )

    def importance(self, sample: Sample) -> FloatArray:
        """(D,) standard deviations, over the rows, of the contribution of each column
        to the votes, summed over k.
        """
        return np.asarray(
            np.sum([stumps.importance(sample) for stumps in self.sums], axis=0),
            dtype=np.float64,
        )

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1) votes."""
        return np.column_stack([stumps(rows) for stumps in self.sums])
