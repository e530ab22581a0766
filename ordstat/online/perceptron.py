"""Examples and weights of online rankers, and the passes of PRank and CuSum Rank over
them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..checks import SMALLER_WEIGHTS, require_memory
from ..compiled.online import (
    cusum_pass,
    kernel_cusum_pass,
    kernel_prank_pass,
    prank_pass,
)
from ..fit import MarginFit, VoteFit
from ..formula.distinct import distinct_rows
from ..formula.row_blocks import CACHED, row_blocks
from ..formula.sample import Rows, Sample
from ..formula.scaling import Scaling
from ..formula.sparse import SparseColumns, sparse_part
from ..judging.costs import CostMatrix, sample_costs
from ..kernels import Kernel, checked_gram, require_definite

#: Sparse examples learned together, by the columns that are not 0 in them.
_TOGETHER = 32


@dataclass(frozen=True, eq=False, kw_only=True)
class Examples:
    """M rows to learn, each with its number of presentations.

    Attributes
    ----------
    sample : Sample
        The N rows that the examples come from.
    rows : (M,) their positions in the sample
    X : (M, D)
    y : (M,) codes
    costs : (C, K)
    kinds : (M,) row of `costs` that holds the costs of each example
    repeats : (M,) weight of each example, > 0; None if all are 1
    """

    sample: Sample
    rows: IntArray
    X: FloatArray
    y: IntArray
    costs: FloatArray
    kinds: IntArray
    repeats: FloatArray | None

    @classmethod
    def of(cls, sample: Sample, cost: CostMatrix) -> Examples:
        """The distinct rows in sorted order, with the sums of their weights."""
        distinct = distinct_rows(sample, sample_costs(cost, sample))
        return cls(
            sample=sample,
            rows=distinct.rows,
            X=distinct.X,
            y=distinct.y,
            costs=distinct.costs,
            kinds=np.arange(distinct.n),
            repeats=distinct.weights,
        )

    @classmethod
    def as_given(cls, sample: Sample, cost: CostMatrix) -> Examples:
        """The rows of positive weight in their given order."""
        rows = np.arange(sample.n)
        costs = cost.matrix(sample.n_levels)
        kinds = sample.y
        if sample.costs is not None:
            costs = sample_costs(cost, sample)
            kinds = rows
        whole = cls(
            sample=sample,
            rows=rows,
            X=sample.X,
            y=sample.y,
            costs=costs,
            kinds=kinds,
            repeats=sample.weights,
        )
        if sample.weights is None or sample.weights.all():
            return whole
        return whole._take(np.flatnonzero(sample.weights))

    def _take(self, index: IntArray) -> Examples:
        taken = {
            name: getattr(self, name)[index] for name in ("rows", "X", "y", "kinds")
        }
        return replace(self, **taken, repeats=self.weights[index])

    @property
    def n(self) -> int:
        return self.y.size

    @property
    def n_levels(self) -> int:
        return self.sample.n_levels

    @property
    def weights(self) -> FloatArray:
        """(M,) > 0."""
        return np.ones(self.n) if self.repeats is None else self.repeats

    @property
    def own_costs(self) -> FloatArray:
        """(M, K) costs of each example."""
        return self.costs[self.kinds]

    def _require_room(self) -> None:
        """DataError if the weights stand for more examples than fit into memory."""
        total = float(self.weights.sum())
        require_memory(
            f"A pass over {total:g} examples, the sum of the weights,",
            32.0 * total,
            SMALLER_WEIGHTS,
        )

    def in_turn(self) -> IntArray:
        """Each example as often as its weight, a whole number, one after another."""
        examples = np.arange(self.n, dtype=np.intp)
        self._require_room()
        if self.repeats is None:
            return examples
        return np.repeat(examples, self.repeats.astype(np.intp))

    def drawn_by_cost(self, rng: np.random.Generator) -> IntArray:
        """sum(weights) draws with probability proportional to weight times largest
        cost, which is above 0 for some row.
        """
        self._require_room()
        share = np.cumsum(self.weights * self.costs.max(axis=1)[self.kinds])
        drawn = rng.random(max(int(np.rint(self.weights.sum())), 1)) * share[-1]
        return np.asarray(
            np.minimum(np.searchsorted(share, drawn, side="right"), self.n - 1),
            dtype=np.intp,
        )


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Sums over all examples learned, by the ranks predicted before each update.

    Attributes
    ----------
    examples : int
        Presentations of a row.
    mistakes : int
        Examples with a wrong prediction.
    distance : float
        Sum of |y - yhat|.
    cost : float
    growth : float
        Upper limit of the squared norm of the weights, from the sizes of all updates.
    batches : int
        Samples learned one after another.
    """

    examples: int = 0
    mistakes: int = 0
    distance: float = 0.0
    cost: float = 0.0
    growth: float = 0.0
    batches: int = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class OnlineState:
    """Everything needed to learn further examples.

    Attributes
    ----------
    state : Weights, or None for sums of kernels, which learn no further examples
    scaling : Scaling
        Scaling of the columns, fixed by the first sample in which they vary.
    tally : Tally
    """

    state: Any
    scaling: Scaling
    tally: Tally


@dataclass(frozen=True, eq=False, kw_only=True)
class OnlineMarginFit(MarginFit):
    """An online fit with thresholds."""

    learned: OnlineState


@dataclass(frozen=True, eq=False, kw_only=True)
class OnlineVoteFit(VoteFit):
    """An online fit that scores every rank."""

    learned: OnlineState


@dataclass(frozen=True, kw_only=True)
class MistakeBound:
    """Mistake bound: an upper bound of sum |y - yhat| over any sequence of separable
    examples.

    Attributes
    ----------
    value : float
        sum |y - yhat| of the predictions during learning.
    source : str
        The theorem, or why there is no bound.
    limit : float
        The bound; NaN if none is known.
    radius : float
        R: |Phi(x, y) - Phi(x, y')|^2 <= R^2 |y - y'|.
    margin : float
        delta, the margin of the separation by weights of norm 1; NaN without a
        separation.
    """

    value: float
    source: str
    limit: float = float("nan")
    radius: float = float("nan")
    margin: float = float("nan")


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearGaps:
    """w_k'z - w_k0 for every k, z the scaled columns.

    Attributes
    ----------
    scaling : Scaling
    weights : (K-1, D + 1)
        The last column belongs to the constant -1.
    """

    scaling: Scaling
    weights: FloatArray

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1)."""
        slopes = self.weights[:, :-1].T
        constants = self.weights[:, -1]
        gaps = np.empty((rows.n, len(self.weights)))
        for some in row_blocks(rows.n, len(slopes), CACHED):
            gaps[some] = self.scaling(rows.X[some]) @ slopes
        gaps -= constants
        return gaps


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelSums:
    """H(x) = sum_s coef_s (k(x_s, x) + constant), by the positive definite form of a
    kernel.

    For a kernel that is definite only on coefficients of sum zero it is k(x, x') - k(x,
    0) - k(0, x') + k(0, 0).

    Attributes
    ----------
    kernel : Kernel
    scaling : Scaling
    anchors : (S, ...) scaled support rows in the form that the kernel takes
    coef : (S,), or (S, Q) of Q sums
    origins : (S,) k(x_s, 0); zeros if the kernel is positive definite
    centre : float
        k(0, 0), or 0 if the kernel is positive definite.
    constant : float
    squared_norm : float
        |H|^2; NaN if it is not computed.
    """

    kernel: Kernel
    scaling: Scaling
    anchors: AnyArray
    coef: FloatArray
    origins: FloatArray
    centre: float
    constant: float
    squared_norm: float = float("nan")

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores, or (N, Q)."""
        parts = [
            self._block(rows.X[some]) for some in row_blocks(rows.n, len(self.coef))
        ]
        return np.concatenate([np.zeros((0, *self.coef.shape[1:])), *parts])

    def _block(self, X: FloatArray) -> FloatArray:
        Z = self.scaling(X)
        shift = np.multiply.outer(
            self.constant + self.centre - self.kernel.origin(Z), self.coef.sum(axis=0)
        )
        # rows far outside those of the fit
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(
                self.kernel(Z, self.anchors) @ self.coef
                + shift
                - self.origins @ self.coef
            )


@dataclass(frozen=True, eq=False, kw_only=True)
class CumulativeVotes:
    """Score of rank k: the sum of the gaps below it, 0 for the lowest [Milidiú & Rocha,
    eq. 5].

    Attributes
    ----------
    gaps : LinearGaps or KernelSums
    n_levels : int
    """

    gaps: LinearGaps | KernelSums
    n_levels: int

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K)."""
        gaps = self.gaps(rows)
        votes = np.zeros((rows.n, self.n_levels))
        np.cumsum(gaps, axis=1, out=votes[:, 1:])
        return votes


def mean_of(last: FloatArray, sums: FloatArray, n_examples: int) -> FloatArray:
    """Mean of the weights after each of `n_examples` examples; `sums` has the updates
    times their example number.
    """
    return ((n_examples + 1) * last - sums) / max(n_examples, 1)


@dataclass(eq=False, kw_only=True)
class Weights:
    """Weights of the columns and their running sums.

    Attributes
    ----------
    weights : (D + K-1,)
        U and thresholds b of PRank; (K-1, D + 1) of CuSum Rank, the constant -1 in the
        last column.
    sums : (same shape) sums of updates times the number of the example
    pocket : (D + K-1,) or (0,)
        With keep="pocket": the weights with the lowest cost among those with a longest
        run of correct ranks and those after a pass.
    record : (4,) see `ordstat.compiled.online.prank_pass`
    """

    weights: FloatArray
    sums: FloatArray
    pocket: FloatArray
    record: FloatArray

    @classmethod
    def zeros(cls, shape: tuple[int, ...], pocket: bool) -> Weights:
        """The state before the first example."""
        record = np.array([0.0, 0.0, np.inf, 0.0])
        return cls(
            weights=np.zeros(shape),
            sums=np.zeros(shape),
            pocket=np.zeros(shape if pocket else 0),
            record=record,
        )

    def kept(self, keep: str, n_examples: int) -> FloatArray:
        """The weights to predict with after `n_examples` examples: "last", "mean" or
        "pocket".
        """
        if keep == "mean":
            return mean_of(self.weights, self.sums, n_examples)
        return (self.pocket if keep == "pocket" else self.weights).copy()


def _loop_arrays(examples: Examples) -> tuple[IntArray, FloatArray, IntArray]:
    """Codes, costs, and the row of costs of each example, for the compiled loops."""
    return (
        np.ascontiguousarray(examples.y, dtype=np.intp),
        np.ascontiguousarray(examples.costs, dtype=np.float64),
        np.ascontiguousarray(examples.kinds, dtype=np.intp),
    )


class Learner(ABC):
    """Base of the learners: passes over examples, and the tally of their mistakes.

    Attributes
    ----------
    method : OnlineMethod
        Gives the margin, whose product with the cost is added to the scores, and the
        kind of steps.
    examples : Examples
    scaling : Scaling
    tally : Tally
        Tally of all examples so far.
    path : list of float
        Mean cost of the predictions in each pass.
    state : Weights or None
    """

    state: Any = None

    def __init__(
        self, method: Any, examples: Examples, scaling: Scaling, tally: Tally
    ) -> None:
        self.method, self.examples, self.scaling, self.tally = (
            method,
            examples,
            scaling,
            tally,
        )
        self.path: list[float] = []

    def learn(self, order: IntArray) -> None:
        """Learn the rows in `order` (M,), and add their mistakes to the tally."""
        counts = np.zeros(4)
        tally = self.tally
        self.sweep(order, counts)
        mistakes, distance, cost, growth = counts.tolist()
        self.tally = replace(
            tally,
            examples=tally.examples + order.size,
            mistakes=tally.mistakes + int(mistakes),
            distance=tally.distance + distance,
            cost=tally.cost + cost,
            growth=tally.growth + growth,
        )
        self.path.append(cost / order.size)

    @property
    def learned(self) -> OnlineState:
        """The state after the passes so far."""
        return OnlineState(state=self.state, scaling=self.scaling, tally=self.tally)

    @abstractmethod
    def sweep(self, order: IntArray, counts: FloatArray) -> None:
        """One pass; adds to `counts` (4,): mistakes, their |y - yhat|, cost, limit of
        the growth of |w|^2.
        """

    @abstractmethod
    def squared_norm(self) -> float:
        """Squared length of the weights after the last update, with the thresholds."""


class ColumnLearner(Learner):
    """PRank [Crammer & Singer 2005; Milidiú & Rocha, eq. 13-14] or CuSum Rank [their
    fig. 1 and 2] on columns.

    Parameters
    ----------
    method, examples, scaling, tally
        As for `Learner`.
    state : Weights
        Updated by `learn`; weights of shape (D + K-1,) mean PRank.
    one_pass : bool
        Scale rows one at a time, to save a copy; not possible with a pocket.
    """

    def __init__(
        self,
        method: Any,
        examples: Examples,
        scaling: Scaling,
        tally: Tally,
        state: Weights,
        one_pass: bool,
    ) -> None:
        super().__init__(method, examples, scaling, tally)
        empty = np.zeros(0)
        if one_pass and scaling.changes:
            in_loop = (scaling.centre, scaling.factor)
        else:
            in_loop = (empty, empty)
        X = examples.X if one_pass else scaling(examples.X)
        self._sparse = sparse_part(X)
        if self._sparse is None:
            X = np.ascontiguousarray(X, dtype=np.float64)
        self.state = state
        self._rows = (X, *in_loop, *_loop_arrays(examples))
        self._case_weights = empty if one_pass else examples.weights

    def sweep(self, order: IntArray, counts: FloatArray) -> None:
        state = self.state
        n_examples = self.tally.examples
        if self._sparse is not None:
            for start in range(0, order.size, _TOGETHER):
                some = order[start : start + _TOGETHER]
                self._learn_sparse(self._sparse[some], some, n_examples + start, counts)
            return
        self._pass(self._rows, order, state.weights, state.sums, n_examples, counts)
        if state.pocket.size:
            self._compare()

    def _pass(
        self,
        rows: tuple[Any, ...],
        order: IntArray,
        weights: FloatArray,
        sums: FloatArray,
        n_examples: int,
        counts: FloatArray,
    ) -> None:
        """One pass over rows that changes weights and sums."""
        margin = self.method.margin
        arrays = (weights, sums, np.empty(sum(weights.shape)))
        if weights.ndim == 1:
            pocket = (self.state.pocket, self.state.record)
            prank_pass(
                *rows,
                self._case_weights,
                order,
                margin,
                *arrays,
                *pocket,
                n_examples,
                counts,
            )
        else:
            cusum_pass(
                *rows,
                order,
                margin,
                self.method.aggressive,
                *arrays,
                n_examples,
                counts,
            )

    def _learn_sparse(
        self, X: SparseColumns, some: IntArray, n_examples: int, counts: FloatArray
    ) -> None:
        """A pass over a few examples, dense in the columns that are not 0 in them: no
        other weight changes.
        """
        _, centre, factor, y, costs, kinds = self._rows
        state = self.state
        columns = np.unique(np.append(X.indices, 0))  # the loop needs a column
        dense = np.zeros((some.size, columns.size))
        dense[X.places, np.searchsorted(columns, X.indices)] = X.data
        last = state.weights.shape[-1]
        places = np.concatenate([columns, np.arange(X.width, last)])
        weights = np.ascontiguousarray(state.weights[..., places])
        sums = np.ascontiguousarray(state.sums[..., places])
        rows = dense, centre, factor, y[some], costs, kinds[some]
        self._pass(rows, np.arange(some.size), weights, sums, n_examples, counts)
        state.weights[..., places] = weights
        state.sums[..., places] = sums

    def _compare(self) -> None:
        """Put the weights after a pass in the pocket if they cost less."""
        state = self.state
        X = self._rows[0]
        u, b = np.split(state.weights, [X.shape[1]])
        answers = np.searchsorted(b, X @ u, side="left")
        cost = float(
            self._case_weights @ self.examples.costs[self.examples.kinds, answers]
        )
        if cost < state.record[2]:
            state.record[2] = cost
            state.pocket[:] = state.weights

    def squared_norm(self) -> float:
        return float(np.square(self.state.weights).sum())


class KernelLearner(Learner):
    """PRank or CuSum Rank on sums of a kernel; the coefficient of a row is the sum of
    its steps.

    A kernel that is definite only on coefficients of sum zero ("perceptron", "stump")
    takes the form k(x, x') - k(x, 0) - k(0, x') + k(0, 0), which is positive definite.

    Parameters
    ----------
    method, examples, scaling
        As for `Learner`; CuSum Rank has a constant column, which adds 1 to the kernel.
    """

    def __init__(self, method: Any, examples: Examples, scaling: Scaling) -> None:
        super().__init__(method, examples, scaling, Tally(batches=1))
        X = scaling(examples.sample.X)
        steps = examples.n_levels - 1
        projects = method.projects
        self._gram, self._origins, self._centre = definite_gram(
            method.similarity, X, examples.rows
        )
        self._gram += float(not projects)
        self._anchors = method.similarity.anchors(X, examples.rows)
        self._rows = (self._gram, *_loop_arrays(examples))
        # (J, N) coefficients, their updates times the number of the example, and sums
        # of kernels at every row.
        self._beta, self._beta_sums, self._scores = np.zeros(
            (3, 1 if projects else steps, examples.n)
        )
        self._b, self._b_sums = np.zeros((2, steps if projects else 0))

    def sweep(self, order: IntArray, counts: FloatArray) -> None:
        beta = self._beta
        sums = self._beta_sums
        scores = self._scores
        n_examples = self.tally.examples
        margin = self.method.margin
        work = np.empty(max(len(beta), self._b.size))
        if self._b.size:
            arrays = (beta[0], sums[0], self._b, self._b_sums, scores[0], work)
            kernel_prank_pass(*self._rows, order, margin, *arrays, n_examples, counts)
        else:
            flag = self.method.aggressive
            kernel_cusum_pass(
                *self._rows,
                order,
                margin,
                flag,
                beta,
                sums,
                scores,
                work,
                n_examples,
                counts,
            )

    def squared_norm(self) -> float:
        return max(float((self._beta * self._scores).sum()), 0.0) + float(
            self._b @ self._b
        )

    @property
    def moved(self) -> BoolArray:
        """(N,) whether each of these rows had an update."""
        return np.asarray(
            (self._beta != 0.0).any(axis=0) | (self._beta_sums != 0.0).any(axis=0)
        )

    def kept(self) -> tuple[KernelSums, FloatArray]:
        """The sums and thresholds to predict with."""
        coef = self._beta
        b = self._b
        moved = self.moved
        if self.method.keep == "mean":
            n_examples = self.tally.examples
            coef = mean_of(coef, self._beta_sums, n_examples)
            b = mean_of(b, self._b_sums, n_examples)
        sums = KernelSums(
            kernel=self.method.similarity,
            scaling=self.scaling,
            anchors=self._anchors[moved],
            coef=coef[:, moved].T.copy(),
            origins=self._origins[moved],
            centre=self._centre,
            constant=float(not self.method.projects),
        )
        return sums, b

    def direction(self, sums: KernelSums) -> KernelSums:
        """A single sum as a score, with its length."""
        coef = sums.coef[:, 0].copy()
        moved = self.moved
        return replace(
            sums,
            coef=coef,
            squared_norm=max(
                float(coef @ self._gram[np.ix_(moved, moved)] @ coef), 0.0
            ),
        )


def definite_gram(
    kernel: Kernel, X: FloatArray, rows: IntArray
) -> tuple[FloatArray, FloatArray, float]:
    """Positive definite kernel matrix (M, M) of `rows` (M,) of X (N, D), with k(x_n, 0)
    (M,) and k(0, 0).

    The latter two are zeros if the kernel is positive definite.

    Raises
    ------
    DataError
        The matrix is not finite, symmetric and positive definite.
    """
    gram = checked_gram(kernel, X, rows)
    origins = np.zeros(rows.size)
    centre = 0.0
    if kernel.conditionally_definite:
        origins = kernel.origin(X)[rows]
        # `diagonal` is k(x, x) - 2 k(x, 0) + k(0, 0).
        centre = float(kernel.diagonal(X)[rows[0]] - gram[0, 0] + 2.0 * origins[0])
        gram = gram - origins[:, None] - origins + centre
    if not kernel.trusted:
        require_definite(gram)
    return np.ascontiguousarray(gram, dtype=np.float64), origins, centre


#: Most numbers in a separation problem that is solved.
LARGEST = 2_000_000


def separation_margin(Z: FloatArray) -> float | None:
    """The largest delta with Z w >= delta for some |w| = 1; None if no positive delta
    exists.

    The shortest w with Z w >= 1 by non-negative least squares [Lawson & Hanson 1974,
    ch. 23]. The margin returned is that of the computed w, so it is never too large.

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
