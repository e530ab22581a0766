"""Examples and weights of online rankers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..checks import SMALLER_WEIGHTS, require_memory
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
