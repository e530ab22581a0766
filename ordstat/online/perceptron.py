"""Passes of PRank and CuSum Rank."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..compiled.online import cusum_pass, kernel_cusum_pass, kernel_prank_pass, prank_pass
from ..formula.sample import Scaling
from .examples import Examples


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


@dataclass(frozen=True, eq=False, kw_only=True)
class DualBatch:
    """Rows to learn.

    Attributes
    ----------
    gram : (N, N) positive definite kernel matrix, C order, the constant's 1 added where it is one of the columns
    y : (N,) codes
    costs : (C, K)
    kinds : (N,) which of the costs are those of a row
    margin : float
        Answers are those under the score plus margin times the cost.
    """

    gram: FloatArray
    y: IntArray
    costs: FloatArray
    kinds: IntArray
    margin: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Support:
    """What was learned from earlier rows.

    Attributes
    ----------
    anchors : (S, ...) the rows as the kernel keeps them
    origins : (S,) k(x_s, 0), or zeros
    last, sums : (J, S) coefficients, and their updates times the number of the example
    b, b_sums : (K-1,) thresholds, or (0,)
    norm : float
        Squared length of the weights behind `last`.
    seen : int
    """

    anchors: AnyArray
    origins: FloatArray
    last: FloatArray
    sums: FloatArray
    b: FloatArray
    b_sums: FloatArray
    norm: float = 0.0
    seen: int = 0

    @classmethod
    def none(cls, anchors: AnyArray, n_sums: int, n_thresholds: int) -> Support:
        """Before the first row; `anchors` (0, ...)."""
        coef, b = np.zeros((n_sums, 0)), np.zeros(n_thresholds)
        return cls(anchors=anchors, origins=np.zeros(0), last=coef, sums=coef, b=b, b_sums=b)


@dataclass(eq=False, kw_only=True)
class DualState(Learner):
    """Coefficients beta_n = the sum of the steps at row n.

    Attributes
    ----------
    beta, sums : (J, N) coefficients of the rows; the updates times the number of the example
    b, b_sums : (K-1,) thresholds of PRank, or (0,)
    before, scores : (J, N) sums of kernels at every row before the first update, and now
    norm : float
        Squared length of the weights before the first update.
    """

    beta: FloatArray
    sums: FloatArray
    b: FloatArray
    b_sums: FloatArray
    before: FloatArray
    scores: FloatArray
    norm: float

    def dual_norm(self) -> float:
        """Squared length of the weights now, thresholds apart."""
        return max(self.norm + float((self.beta * (self.before + self.scores)).sum()), 0.0)

    def squared_norm(self) -> float:
        return self.dual_norm() + float(self.b @ self.b)


@dataclass(eq=False, kw_only=True)
class DualPRank(DualState):
    """PRank, one sum of kernels: a mistake adds y - yhat to the row's coefficient."""

    def _pass(self, batch: DualBatch, order: IntArray, tally: FloatArray) -> None:
        rows = (batch.gram, batch.y, batch.costs, batch.kinds, order, batch.margin)
        state = (self.beta[0], self.sums[0], self.b, self.b_sums, self.scores[0], np.empty(self.b.size), self.seen)
        kernel_prank_pass(*rows, *state, tally)


@dataclass(eq=False, kw_only=True)
class DualCuSum(DualState):
    """CuSum Rank, a sum of kernels for every step of the ranks."""

    aggressive: bool

    def _pass(self, batch: DualBatch, order: IntArray, tally: FloatArray) -> None:
        rows = (batch.gram, batch.y, batch.costs, batch.kinds, order, batch.margin)
        state = (self.beta, self.sums, self.scores, np.empty(len(self.beta)), self.seen)
        kernel_cusum_pass(*rows, self.aggressive, *state, tally)


#: Numbers in the largest problem solved.
LARGEST = 2_000_000


def separation_margin(Z: FloatArray) -> float | None:
    """The largest delta with Z w >= delta for some |w| = 1; None where there is no positive one.

    The shortest w with Z w >= 1 by non-negative least squares [Lawson & Hanson 1974, ch. 23]. The margin returned is
    that of the w found, so that it is never too large.

    Parameters
    ----------
    Z : (M, P), M >= 1

    Examples
    --------
    >>> round(separation_margin(np.array([[3.0, 0.0], [0.0, 4.0]])), 6)
    2.4
    >>> separation_margin(np.array([[1.0], [-1.0]])) is None
    True
    """
    from scipy.optimize import nnls

    size = float(np.sqrt(np.square(Z).sum(axis=1).max()))
    if size == 0.0 or not Z.shape[1]:
        return None
    scaled = Z / size
    target = np.zeros(Z.shape[1] + 1)
    target[-1] = 1.0
    system = np.vstack([scaled.T, np.ones(len(Z))])
    try:
        solution, _ = nnls(system, target)
    except RuntimeError:  # more iterations than allowed
        return None
    residual = system @ solution - target
    w = residual[:-1]
    length = float(np.linalg.norm(w))
    if length == 0.0 or not np.isfinite(length):
        return None
    margin = float((scaled @ w).min()) / length
    # A margin this small is rounding.
    return size * margin if margin > 1e-9 else None


def cusum_margin(X: FloatArray, y: IntArray, n_levels: int) -> float | None:
    """delta of rank linear separability [Milidiú & Rocha, eq. 6]: one w_k for every k, |(w_2, ..., w_K)| = 1.

    With delta_k the margin of "rank above k?" alone, 1 / delta^2 = sum_k 1 / delta_k^2.

    Parameters
    ----------
    X : (N, D) with the constant among the columns
    y : (N,) codes
    n_levels : int
    """
    total = 0.0
    for k in range(n_levels - 1):
        margin = separation_margin(X * np.where(y > k, 1.0, -1.0)[:, None])
        if margin is None:
            return None
        total += margin**-2
    return float(total**-0.5)


def prank_margin(X: FloatArray, y: IntArray, n_levels: int) -> float | None:
    """delta of PRank linear separability: one direction u and K-1 thresholds b, |(u, b)| = 1.

    Parameters
    ----------
    X : (N, D)
    y : (N,) codes
    n_levels : int
    """
    Q = n_levels - 1
    sign = np.where(y[:, None] > np.arange(Q), 1.0, -1.0)
    columns = np.hstack([np.repeat(X, Q, axis=0), -np.tile(np.eye(Q), (len(X), 1))])
    return separation_margin(columns * sign.reshape(-1, 1))
