"""Online learners in dual form: coefficients of the rows learned [Milidiú & Rocha, sec. 7]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import AnyArray, FloatArray, IntArray
from ...compiled.online import kernel_cusum_pass, kernel_prank_pass
from .perceptron import Learner


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
