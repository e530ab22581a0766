"""Online learners: the state of PRank and CuSum Rank, in primal and dual form, and a pass over examples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from ..._typing import FloatArray, IntArray
from ...compiled.online import cusum_pass, prank_pass
from ...model.online.examples import Examples
from ...model.scaling import Scaling


@dataclass(frozen=True, eq=False, kw_only=True)
class Batch:
    """Rows to learn.

    Attributes
    ----------
    X : (N, D) C order
    centre, factor : (D,)
        Columns are learned as (x - centre) * factor; (0,) where X is scaled already.
    y : (N,) codes
    costs : (C, K)
    kinds : (N,) which of the costs are those of a row
    weights : (N,)
    margin : float
        Answers are those under the score plus margin times the cost.
    """

    X: FloatArray
    centre: FloatArray
    factor: FloatArray
    y: IntArray
    costs: FloatArray
    kinds: IntArray
    weights: FloatArray
    margin: float

    @classmethod
    def for_passes(cls, examples: Examples, scaling: Scaling, margin: float) -> Batch:
        """Rows scaled once, for many passes."""
        return cls._of(examples, scaling(examples.X), np.zeros(0), np.zeros(0), examples.weights, margin)

    @classmethod
    def for_one_pass(cls, examples: Examples, scaling: Scaling, margin: float) -> Batch:
        """Rows that the pass scales one by one, which spares a copy; without the weights of a pocket."""
        if not scaling.changes:
            return cls._of(examples, examples.X, np.zeros(0), np.zeros(0), np.zeros(0), margin)
        return cls._of(examples, examples.X, scaling.centre, scaling.factor, np.zeros(0), margin)

    @classmethod
    def _of(
        cls,
        examples: Examples,
        X: FloatArray,
        centre: FloatArray,
        factor: FloatArray,
        weights: FloatArray,
        margin: float,
    ) -> Batch:
        return cls(
            X=np.ascontiguousarray(X, dtype=np.float64),
            centre=centre,
            factor=factor,
            y=np.ascontiguousarray(examples.y, dtype=np.intp),
            costs=np.ascontiguousarray(examples.costs, dtype=np.float64),
            kinds=np.ascontiguousarray(examples.kinds, dtype=np.intp),
            weights=weights,
            margin=margin,
        )

    @property
    def n(self) -> int:
        return self.y.size


class Learner(Protocol):
    """A ranker that learns one example after another."""

    def copy(self) -> Self:
        """The same state in arrays of its own."""

    def learn(self, batch: Batch, order: IntArray) -> FloatArray:
        """Learn the rows in `order` (M,); (4,) mistakes, their |y - yhat|, cost, limit of the growth of |w|^2."""

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
        The weights of least cost among those with ever longer runs of exact hits and those after each pass, where they
        are kept.
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

    def learn(self, batch: Batch, order: IntArray) -> FloatArray:
        tally, work = np.zeros(4), np.empty(self.weights.size)
        rows = (batch.X, batch.centre, batch.factor, batch.y, batch.costs, batch.kinds, batch.weights, order)
        state = (self.weights, self.sums, work, self.pocket, self.record, self.seen)
        prank_pass(*rows, batch.margin, *state, tally)
        self.seen += order.size
        if self.pocket.size:
            self._compare(batch)
        return tally

    def _compare(self, batch: Batch) -> None:
        """Put the weights after a pass in the pocket, if they cost less."""
        u, b = np.split(self.weights, [batch.X.shape[1]])
        answers = np.searchsorted(b, batch.X @ u, side="left")
        cost = float(batch.weights @ batch.costs[batch.kinds, answers])
        if cost < self.record[2]:
            self.record[2] = cost
            self.pocket[:] = self.weights

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

    def learn(self, batch: Batch, order: IntArray) -> FloatArray:
        tally, work = np.zeros(4), np.empty(sum(self.weights.shape))
        rows = (batch.X, batch.centre, batch.factor, batch.y, batch.costs, batch.kinds, order)
        cusum_pass(*rows, batch.margin, self.aggressive, self.weights, self.sums, work, self.seen, tally)
        self.seen += order.size
        return tally

    def squared_norm(self) -> float:
        return float(np.square(self.weights).sum())

    def kept(self, keep: str) -> FloatArray:
        """(K-1, D + 1) the hypothesis to predict with: "last" or "mean"."""
        return self.weights if keep == "last" else mean_of(self.weights, self.sums, self.seen)
