"""What an online ranker has learned, and what its mistakes prove."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import AnyArray, FloatArray
from ..fit import MarginFit, VoteFit
from ..kernels.named import Kernel
from ..row_blocks import CACHED, row_blocks
from ..sample import Rows, Sample
from ..scaling import Scaling


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
