"""Online learners: the state of PRank and CuSum Rank, in primal and dual form, and a pass over examples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

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
    def of(cls, examples: Examples, scaling: Scaling, margin: float, *, passes: bool = True) -> Batch:
        """Rows scaled once, for many `passes`.

        For one pass it scales them one by one, which spares a copy; without the weights of a pocket.
        """
        none = np.zeros(0)
        own = scaling.changes and not passes
        return cls(
            X=np.ascontiguousarray(scaling(examples.X) if passes else examples.X, dtype=np.float64),
            centre=scaling.centre if own else none,
            factor=scaling.factor if own else none,
            weights=examples.weights if passes else none,
            margin=margin,
            **loop_arrays(examples),
        )


def loop_arrays(examples: Examples) -> dict[str, Any]:
    """y, costs and kinds as the compiled loops take them."""
    return {
        "y": np.ascontiguousarray(examples.y, dtype=np.intp),
        "costs": np.ascontiguousarray(examples.costs, dtype=np.float64),
        "kinds": np.ascontiguousarray(examples.kinds, dtype=np.intp),
    }


@dataclass(eq=False, kw_only=True)
class Learner:
    """A ranker that learns one example after another.

    Attributes
    ----------
    seen : int
        Examples so far.
    """

    seen: int = 0

    def learn(self, batch: Any, order: IntArray) -> FloatArray:
        """Learn the rows in `order` (M,); (4,) mistakes, their |y - yhat|, cost, limit of the growth of |w|^2."""
        tally = np.zeros(4)
        self._pass(batch, order, tally)
        self.seen += order.size
        return tally

    def _pass(self, batch: Any, order: IntArray, tally: FloatArray) -> None:
        raise TypeError(f"{type(self).__name__} defines no pass")

    def squared_norm(self) -> float:
        """Squared length of the weights after the last update."""
        raise TypeError(f"{type(self).__name__} defines no squared_norm")


def mean_of(last: FloatArray, sums: FloatArray, seen: int) -> FloatArray:
    """Mean of the weights after each of `seen` examples; `sums` holds the updates times the number of the example."""
    return np.asarray(((seen + 1) * last - sums) / max(seen, 1))


@dataclass(eq=False, kw_only=True)
class PrimalState(Learner):
    """Weights that a learner has, and the sums of their updates, each times the number of its example."""

    weights: FloatArray
    sums: FloatArray

    def copy(self) -> Self:
        """The same state in arrays of its own."""
        arrays: dict[str, Any] = {n: value.copy() for n, value in vars(self).items() if isinstance(value, np.ndarray)}
        return replace(self, **arrays)

    def squared_norm(self) -> float:
        return float(np.square(self.weights).sum())

    def kept(self, keep: str) -> FloatArray:
        """The hypothesis to predict with: "last", "mean", or what else the learner keeps."""
        return self.weights if keep == "last" else mean_of(self.weights, self.sums, self.seen)


@dataclass(eq=False, kw_only=True)
class PRankState(PrimalState):
    """PRank [Crammer & Singer 2005; Milidiú & Rocha, eq. 13-14].

    Attributes
    ----------
    weights, sums : (D + K-1,) of u, then of the thresholds b
    pocket : (D + K-1,) or (0,)
        The weights of least cost among those with ever longer runs of exact hits and those after each pass, where they
        are kept.
    record : (4,) see `ordstat.compiled.online.prank_pass`
    """

    pocket: FloatArray
    record: FloatArray

    @classmethod
    def start(cls, n_columns: int, n_levels: int, pocket: bool) -> PRankState:
        """Zero weights."""
        size = n_columns + n_levels - 1
        record = np.array([0.0, 0.0, np.inf, 0.0])
        return cls(weights=np.zeros(size), sums=np.zeros(size), pocket=np.zeros(size if pocket else 0), record=record)

    def _pass(self, batch: Batch, order: IntArray, tally: FloatArray) -> None:
        rows = (batch.X, batch.centre, batch.factor, batch.y, batch.costs, batch.kinds, batch.weights, order)
        state = (self.weights, self.sums, np.empty(self.weights.size), self.pocket, self.record, self.seen)
        prank_pass(*rows, batch.margin, *state, tally)
        if self.pocket.size:
            self._compare(batch)

    def _compare(self, batch: Batch) -> None:
        """Put the weights after a pass in the pocket, if they cost less."""
        u, b = np.split(self.weights, [batch.X.shape[1]])
        answers = np.searchsorted(b, batch.X @ u, side="left")
        cost = float(batch.weights @ batch.costs[batch.kinds, answers])
        if cost < self.record[2]:
            self.record[2] = cost
            self.pocket[:] = self.weights

    def kept(self, keep: str) -> FloatArray:
        return self.pocket if keep == "pocket" else super().kept(keep)


@dataclass(eq=False, kw_only=True)
class CuSumState(PrimalState):
    """CuSum Rank [Milidiú & Rocha, fig. 1 and 2].

    Attributes
    ----------
    weights, sums : (K-1, D + 1)
        The last column is of the constant -1.
    aggressive : bool
    """

    aggressive: bool

    @classmethod
    def start(cls, n_columns: int, n_levels: int, aggressive: bool) -> CuSumState:
        """Zero weights."""
        shape = (n_levels - 1, n_columns + 1)
        return cls(weights=np.zeros(shape), sums=np.zeros(shape), aggressive=aggressive)

    def _pass(self, batch: Batch, order: IntArray, tally: FloatArray) -> None:
        rows = (batch.X, batch.centre, batch.factor, batch.y, batch.costs, batch.kinds, order)
        state = (self.weights, self.sums, np.empty(sum(self.weights.shape)), self.seen)
        cusum_pass(*rows, batch.margin, self.aggressive, *state, tally)
