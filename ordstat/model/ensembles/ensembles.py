"""Weighted sums of weak hypotheses as potentials H(x) = sum_t weight_t h_t(x)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import ClassVar, Protocol, Self

import numpy as np

from ..._typing import FloatArray, IntArray
from ..row_blocks import CACHED, row_blocks
from ..sample import Rows, Sample
from ..scaling import Scaling

# Numbers of a row that a step looks at: its column, its place and the sum.
_WIDTH = 4


class Ensemble(Protocol):
    """A potential that is a sum over rounds."""

    @property
    def round_weights(self) -> FloatArray:
        """(T,) weight of every round."""

    def upto(self, rounds: int) -> Self:
        """The sum of the first rounds alone."""

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""


@dataclass(frozen=True, eq=False, kw_only=True)
class InRounds:
    """A sum over rounds, some of whose fields have an entry for each.

    Attributes
    ----------
    round_weights : (T,) weight of every round
    """

    round_weights: FloatArray

    #: The other fields with an entry a round.
    by_round: ClassVar[tuple[str, ...]]

    def upto(self, rounds: int) -> Self:
        """The sum of the first rounds alone."""
        return replace(self, **{name: getattr(self, name)[:rounds] for name in ("round_weights", *self.by_round)})

    def __getstate__(self) -> dict[str, object]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # without what is cached


@dataclass(frozen=True, eq=False)
class _Steps:
    """A step function of one column: values[i] where exactly i of the growing cuts are below x."""

    column: int
    cuts: FloatArray
    values: FloatArray

    def __call__(self, X: FloatArray) -> FloatArray:
        below = np.searchsorted(self.cuts, np.ascontiguousarray(X[:, self.column]), side="left")
        return self.values[below]


@dataclass(frozen=True, eq=False, kw_only=True)
class StumpSum(InRounds):
    """H(x) = sum_t weight_t sign(x[column_t] - cut_t), a tie x = cut counting as -1.

    Attributes
    ----------
    columns : (T,)
    cuts : (T,)
        -inf makes a constant.
    """

    columns: IntArray
    cuts: FloatArray

    by_round = ("columns", "cuts")

    @cached_property
    def steps(self) -> tuple[_Steps, ...]:
        """The stumps of every column merged into one table."""
        return tuple(self._merged(int(column)) for column in np.unique(self.columns[np.isfinite(self.cuts)]))

    @property
    def constant(self) -> float:
        """Sum of the weights of the constants."""
        return float(self.round_weights[~np.isfinite(self.cuts)].sum())

    def _merged(self, column: int) -> _Steps:
        own = (self.columns == column) & np.isfinite(self.cuts)
        cuts, place = np.unique(self.cuts[own], return_inverse=True)
        jumps = np.bincount(place.ravel(), weights=2.0 * self.round_weights[own], minlength=cuts.size)
        values = np.cumsum(np.concatenate([[-self.round_weights[own].sum()], jumps]))
        return _Steps(column, cuts, values)

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        scores = np.full(rows.n, self.constant)
        for some in row_blocks(rows.n, _WIDTH, CACHED):
            for step in self.steps:
                scores[some] += step(rows.X[some])
        return scores

    def importance(self, sample: Sample) -> FloatArray:
        """(D,) standard deviations, over the rows, of what each column adds to H."""
        sizes = np.zeros(sample.rows.X.shape[1])
        weights = sample.case_weights / sample.case_weights.sum()
        for step in self.steps:
            values = step(sample.rows.X)
            sizes[step.column] = np.sqrt(weights @ (values - weights @ values) ** 2)
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

    by_round = ("directions",)

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        scores = np.zeros(rows.n)
        for some in row_blocks(rows.n, self.round_weights.size):
            X = self.scaling(rows.X[some])
            inner = X @ self.directions[:, :-1].T + self.directions[:, -1]
            scores[some] = self.shape(inner) @ self.round_weights
        return scores

    def importance(self, sample: Sample) -> FloatArray:
        """(D,) sizes of the rounds' weights, each shared among the scaled columns by its direction's entries."""
        sizes = np.abs(self.directions[:, :-1])
        total = sizes.sum(axis=1, keepdims=True)
        shares = np.divide(sizes, total, out=np.zeros_like(sizes), where=total > 0.0)
        return np.asarray(np.abs(self.round_weights) @ shares)


@dataclass(frozen=True, eq=False, kw_only=True)
class MemberSum(InRounds):
    """H(x) = sum_t weight_t h_t(x) of any hypotheses.

    Attributes
    ----------
    members : tuple of callables
        Rows to (N,) values in [-1, 1].
    """

    members: tuple[Callable[[Rows], FloatArray], ...]

    by_round = ("members",)

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        scores = np.zeros(rows.n)
        for member, round_weight in zip(self.members, self.round_weights, strict=True):
            scores += round_weight * member(rows)
        return scores


@dataclass(frozen=True, eq=False, kw_only=True)
class Raised:
    """H(x) = first(x) + added(x), the rounds being those of `added`."""

    first: Callable[[Rows], FloatArray]
    added: Ensemble

    @property
    def round_weights(self) -> FloatArray:
        """(T,)."""
        return self.added.round_weights

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        return self.first(rows) + self.added(rows)

    def upto(self, rounds: int) -> Raised:
        """The first rounds alone."""
        return replace(self, added=self.added.upto(rounds))
