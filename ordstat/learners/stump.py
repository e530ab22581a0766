"""Decision stumps on presorted columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray
from ..compiled.weak import best_cut
from ..model.ensembles.ensembles import StumpSum
from .base import HypothesisClass, Weak, WeakLearner, WeakTrainer

# Cuts whose values differ by less than this share of the weights are ties, which go to the first.
_TIE = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class Presorted:
    """Columns sorted once.

    Attributes
    ----------
    order : (D, N) int32
    values : (D, N) the columns in their order
    distinct : (D, N - 1) bool
        Whether the next value is larger.
    """

    order: AnyArray
    values: FloatArray
    distinct: BoolArray

    @classmethod
    def of(cls, X: FloatArray) -> Presorted:
        """The columns of X (N, D); where there are none, one that no threshold divides: the constants remain."""
        columns = np.ascontiguousarray(X.T) if X.shape[1] else np.zeros((1, len(X)))
        order = np.argsort(columns, axis=1, kind="stable")
        values = np.take_along_axis(columns, order, axis=1)
        return cls(order=order.astype(np.int32), values=values, distinct=values[:, 1:] > values[:, :-1])

    def between(self, column: int, place: int) -> float:
        """A threshold with the rows up to this place at or below it, and the next above."""
        return middle(float(self.values[column, place]), float(self.values[column, place + 1]))


def middle(low: float, high: float) -> float:
    """Half way from low to high, below high whatever the rounding."""
    half_way = low / 2.0 + high / 2.0
    return half_way if low <= half_way < high else low


@dataclass(frozen=True)
class StumpMember:
    """sign * [1 if x[column] > cut else -1]; a cut of -inf is the constant."""

    column: int
    cut: float
    sign: float


@dataclass(frozen=True)
class DecisionStump(WeakLearner):
    """The best h(x) = q sign(x[d] - t) over all columns, thresholds and signs, or the constant where none is better.

    Examples
    --------
    >>> from ordstat import DecisionStump, datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "orboost-all", learner=DecisionStump(), rounds=3)
    >>> len(fit.rounds)
    4
    """

    def on(self, X: FloatArray, case_weights: FloatArray) -> StumpTrainer:
        return StumpTrainer(X=X, presorted=Presorted.of(X))


@dataclass(frozen=True, eq=False, kw_only=True)
class StumpTrainer(WeakTrainer):
    """The trainer of a stump, for the rows X (N, D)."""

    presorted: Presorted

    def best(self, u: FloatArray, rng: np.random.Generator) -> Weak:
        sorted_by = self.presorted
        slack = _TIE * float(np.abs(u).sum())
        _, column, place, sign = best_cut(sorted_by.order, sorted_by.distinct.view(np.uint8), u, slack)
        if column < 0:
            return Weak(StumpMember(0, -np.inf, sign), np.full(self.n, sign))
        values = np.full(self.n, sign)
        values[sorted_by.order[column, : place + 1]] = -sign
        return Weak(StumpMember(column, sorted_by.between(column, place), sign), values)

    def combine(self, members: Sequence[StumpMember], round_weights: FloatArray) -> StumpSum:
        return StumpSum(
            columns=np.array([m.column for m in members], dtype=np.intp),
            cuts=np.array([m.cut for m in members], dtype=np.float64),
            round_weights=np.array([m.sign for m in members], dtype=np.float64) * round_weights,
        )

    def richness(self) -> HypothesisClass:
        """Every column gives two signs for each of its different values."""
        return HypothesisClass(log_size=float(np.log(2.0 * (1 + self.presorted.distinct.sum(axis=1)).sum())))
