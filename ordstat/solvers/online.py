"""Online learners: the state of PRank and CuSum Rank, in primal and dual form, and a pass over examples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from .._typing import FloatArray, IntArray
from ..compiled.online import cusum_pass, prank_pass
from ..model.examples import Examples
from ..model.scaling import Scaling


@dataclass(frozen=True, eq=False, kw_only=True)
class Batch:
    """Rows to learn.

    Attributes
    ----------
    X : (N, D) scaled columns, C order
    y : (N,) codes, int32
    costs : (N, K)
    weights : (N,)
    margin : float
        Answers are those under the score plus margin times the cost.
    """

    X: FloatArray
    y: IntArray
    costs: FloatArray
    weights: FloatArray
    margin: float

    @classmethod
    def of(cls, examples: Examples, scaling: Scaling, margin: float) -> Batch:
        """Arrays as the compiled passes want them."""
        return cls(
            X=np.ascontiguousarray(scaling(examples.X), dtype=np.float64),
            y=np.ascontiguousarray(examples.y, dtype=np.int32),
            costs=np.ascontiguousarray(examples.costs, dtype=np.float64),
            weights=np.ascontiguousarray(examples.weights, dtype=np.float64),
            margin=margin,
        )

    @property
    def n(self) -> int:
        return self.y.size


class Learner(Protocol):
    """A ranker that learns one example after another."""

    def copy(self) -> Self:
        """The same state in arrays of its own."""

    def learn(self, batch: Batch, order: IntArray) -> IntArray:
        """(M,) answers to the rows in `order` (M,), each given before the row was learned."""

    def squared_norm(self) -> float:
        """Squared length of the weights after the last update."""


def mean_of(last: FloatArray, sums: FloatArray, seen: int) -> FloatArray:
    """Mean of the weights after each of `seen` examples; `sums` holds the updates times the number of the example."""
    mean: FloatArray = ((seen + 1) * last - sums) / max(seen, 1)
    return mean


@dataclass(eq=False, kw_only=True)
class PRankState:
    """PRank [Crammer & Singer 2005; Milidiú & Rocha, eq. 13-14].

    Attributes
    ----------
    weights, sums : (D + K-1,) u, then the thresholds b; the updates times the number of the example
    pocket : (D + K-1,) or (0,)
        The weights of least cost among those with ever longer runs of exact hits, where they are kept.
    record : (4,) see `ordstat.compiled.online.prank_pass`
    seen : int
    """

    weights: FloatArray
    sums: FloatArray
    pocket: FloatArray
    record: FloatArray
    seen: int = 0

    @classmethod
    def start(cls, n_columns: int, n_levels: int, pocket: bool) -> PRankState:
        """Zero weights."""
        size = n_columns + n_levels - 1
        record = np.array([0.0, 0.0, np.inf, 0.0])
        return cls(weights=np.zeros(size), sums=np.zeros(size), pocket=np.zeros(size if pocket else 0), record=record)

    def copy(self) -> PRankState:
        arrays = {name: getattr(self, name).copy() for name in ("weights", "sums", "pocket", "record")}
        return replace(self, **arrays)

    def learn(self, batch: Batch, order: IntArray) -> IntArray:
        answers: IntArray = np.empty(order.size, dtype=np.int32)
        n_gaps = self.weights.size - batch.X.shape[1]
        state = (self.weights, self.sums, np.empty(n_gaps), self.pocket, self.record, self.seen, answers)
        prank_pass(batch.X, batch.y, batch.costs, batch.weights, order, batch.margin, *state)
        self.seen += order.size
        return answers

    def squared_norm(self) -> float:
        return float(self.weights @ self.weights)

    def kept(self, keep: str) -> FloatArray:
        """(D + K-1,) the hypothesis to predict with: "last", "mean" or "pocket"."""
        if keep == "pocket":
            return self.pocket
        return self.weights if keep == "last" else mean_of(self.weights, self.sums, self.seen)


@dataclass(eq=False, kw_only=True)
class CuSumState:
    """CuSum Rank [Milidiú & Rocha, fig. 1 and 2].

    Attributes
    ----------
    weights, sums : (K-1, D + 1)
        The last column is of the constant -1.
    aggressive : bool
    seen : int
    """

    weights: FloatArray
    sums: FloatArray
    aggressive: bool
    seen: int = 0

    @classmethod
    def start(cls, n_columns: int, n_levels: int, aggressive: bool) -> CuSumState:
        """Zero weights."""
        shape = (n_levels - 1, n_columns + 1)
        return cls(weights=np.zeros(shape), sums=np.zeros(shape), aggressive=aggressive)

    def copy(self) -> CuSumState:
        return replace(self, weights=self.weights.copy(), sums=self.sums.copy())

    def learn(self, batch: Batch, order: IntArray) -> IntArray:
        answers: IntArray = np.empty(order.size, dtype=np.int32)
        state = (self.weights, self.sums, np.empty(len(self.weights)), self.seen, answers)
        cusum_pass(batch.X, batch.y, batch.costs, order, batch.margin, self.aggressive, *state)
        self.seen += order.size
        return answers

    def squared_norm(self) -> float:
        return float(np.square(self.weights).sum())

    def kept(self, keep: str) -> FloatArray:
        """(K-1, D + 1) the hypothesis to predict with: "last" or "mean"."""
        return self.weights if keep == "last" else mean_of(self.weights, self.sums, self.seen)


def growth(update: FloatArray, cost: FloatArray, margin: float, aggressive: bool) -> float:
    """What the updates can have added to |w|^2 at most, summed over the mistakes.

    A perceptron update adds |Phi(y) - Phi(yhat)|^2 + 2 w'(Phi(y) - Phi(yhat)), and the last product is at most margin
    times the cost, for yhat was the answer. A passive-aggressive one adds h (2 l - h) / |Phi(y) - Phi(yhat)|^2 with
    h the hinge and l the cost, at most l^2 / |Phi(y) - Phi(yhat)|^2.

    Parameters
    ----------
    update : (M,) |Phi(y) - Phi(yhat)|^2 of the mistakes
    cost : (M,) cost of yhat
    margin : float
    aggressive : bool
    """
    return float((np.square(cost) / update).sum() if aggressive else (update + 2.0 * margin * cost).sum())
