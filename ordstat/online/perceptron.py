"""Examples and weights of online rankers, and the passes of PRank and CuSum Rank over them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..checks import SMALLER_WEIGHTS, require_memory
from ..compiled.online import cusum_pass, kernel_cusum_pass, kernel_prank_pass, prank_pass
from ..fit import MarginFit, VoteFit
from ..formula.sample import CACHED, Rows, Sample, Scaling, distinct_rows, row_blocks
from ..judging.costs import CostMatrix, sample_costs
from ..svm.kernels import Kernel


@dataclass(frozen=True, eq=False, kw_only=True)
class Examples:
    """M rows to learn, each with how often.

    Attributes
    ----------
    sample : Sample
        The N rows that they are from.
    rows : (M,) their places in it
    X : (M, D)
    y : (M,) codes
    costs : (C, K)
    kinds : (M,) which of the costs are those of an example
    repeats : (M,) > 0, how often each counts; None where that is once
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
        """The different rows in an order of their own, with the sum of their weights."""
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
        """The rows of positive weight in the order they came."""
        rows = np.arange(sample.n)
        costs, kinds = cost.matrix(sample.n_levels), sample.y
        if sample.costs is not None:
            costs, kinds = sample_costs(cost, sample), rows
        whole = cls(sample=sample, rows=rows, X=sample.X, y=sample.y, costs=costs, kinds=kinds, repeats=sample.weights)
        return whole if sample.weights is None or sample.weights.all() else whole._take(np.flatnonzero(sample.weights))

    def _take(self, index: IntArray) -> Examples:
        taken = {name: getattr(self, name)[index] for name in ("rows", "X", "y", "kinds")}
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
        require_memory(f"A pass over {total:g} examples, the sum of the weights,", 32.0 * total, SMALLER_WEIGHTS)

    def in_turn(self) -> IntArray:
        """Each example as often as its weight (a whole number) says, one after another."""
        examples = np.arange(self.n, dtype=np.intp)
        self._require_room()
        return examples if self.repeats is None else np.repeat(examples, self.repeats.astype(np.intp))

    def drawn_by_cost(self, rng: np.random.Generator) -> IntArray:
        """As many draws as the weights add up to, with a probability proportional to weight times largest cost,
        which is above 0 somewhere.
        """
        self._require_room()
        share = np.cumsum(self.weights * self.costs.max(axis=1)[self.kinds])
        drawn = rng.random(max(int(np.rint(self.weights.sum())), 1)) * share[-1]
        return np.asarray(np.minimum(np.searchsorted(share, drawn, side="right"), self.n - 1), dtype=np.intp)


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Sums over all examples learned, of the ranks answered before each update.

    Attributes
    ----------
    examples : int
        Presentations of a row.
    mistakes : int
        Examples answered with another rank than the true one.
    distance : float
        Sum of |y - yhat|.
    cost : float
    growth : float
        What the squared norm of the weights cannot exceed, by the size of every update.
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
class Learned:
    """All that learning further examples needs.

    Attributes
    ----------
    state : arrays of the learner, named
    scaling : Scaling
        Scaling of the columns, fixed by the first sample.
    tally : Tally
    """

    state: Any
    scaling: Scaling
    tally: Tally


@dataclass(frozen=True, eq=False, kw_only=True)
class Update:
    """Passes over a sample, before anything is made of them.

    Attributes
    ----------
    work : the learner at the rows of the sample
    learned : Learned
        After them.
    sample : Sample
    path : mean cost of the answers in each pass
    """

    work: Any
    learned: Learned
    sample: Sample
    path: tuple[float, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class OnlineMarginFit(MarginFit):
    """An online fit with thresholds."""

    learned: Learned


@dataclass(frozen=True, eq=False, kw_only=True)
class OnlineVoteFit(VoteFit):
    """An online fit that scores every rank."""

    learned: Learned


@dataclass(frozen=True, kw_only=True)
class MistakeBound:
    """Perceptron convergence: a limit on sum |y - yhat| over any sequence of separable examples.

    Attributes
    ----------
    value : float
        sum |y - yhat| of the answers given while learning.
    source : str
        The theorem, or why there is no limit.
    limit : float
        NaN where there is none.
    radius : float
        R: |Phi(x, y) - Phi(x, y')|^2 <= R^2 |y - y'|.
    margin : float
        delta of the separation found, by weights of norm 1; NaN where none was found.
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
        The last column is of the constant -1.
    """

    scaling: Scaling
    weights: FloatArray

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1)."""
        slopes, constants = self.weights[:, :-1].T, self.weights[:, -1]
        gaps = np.empty((rows.n, len(self.weights)))
        for some in row_blocks(rows.n, len(slopes), CACHED):
            np.matmul(self.scaling(rows.X[some]), slopes, out=gaps[some])
        gaps -= constants
        return gaps


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelSums:
    """sum_s coef_s (k(x_s, x) + constant), Q of them, by the positive definite form of a kernel.

    That form is k(x, x') - k(x, 0) - k(0, x') + k(0, 0) where a kernel is definite on coefficients of sum zero alone.

    Attributes
    ----------
    kernel : Kernel
    scaling : Scaling
    anchors : (S, ...) support rows as the kernel keeps them (already scaled)
    coef : (S, Q)
    origins : (S,) k(x_s, 0), zeros where the kernel is its own positive definite form
    centre : float
        k(0, 0) in that case, else 0.
    constant : float
    """

    kernel: Kernel
    scaling: Scaling
    anchors: AnyArray
    coef: FloatArray
    origins: FloatArray
    centre: float
    constant: float

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, Q)."""
        parts = [self._block(rows.X[some]) for some in row_blocks(rows.n, len(self.coef))]
        return np.concatenate([np.zeros((0, self.coef.shape[1])), *parts])

    def _block(self, X: FloatArray) -> FloatArray:
        Z = self.scaling(X)
        total = self.coef.sum(axis=0)
        own = self.constant + self.centre - self.kernel.origin(Z)
        return np.asarray(self.kernel(Z, self.anchors) @ self.coef + own[:, None] * total - self.origins @ self.coef)


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelDirection:
    """H(x) = sum_s coef_s k(x_s, x), one sum of a kernel.

    Attributes
    ----------
    sums : KernelSums
    squared_norm : float
    """

    sums: KernelSums
    squared_norm: float

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        return self.sums(rows)[:, 0]


@dataclass(frozen=True, eq=False, kw_only=True)
class CumulativeVotes:
    """Score of rank k: the sum of the gaps below it, 0 for the lowest [Milidiú & Rocha, eq. 5].

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
