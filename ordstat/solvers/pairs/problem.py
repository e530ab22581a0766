"""The problem of ordering pairs of rows of different rank, and proofs of how near a point is to its optimum.

Over pairs p = (i, j) with y_i > y_j, of weight w_p = w_i w_j, and f = <v, phi(x)>

    hinge           P = 1/2 |v|^2 + C sum_p w_p [1 - (f_i - f_j)]_+
                    D = sum a_p - 1/2 beta' G beta,  0 <= a_p <= C w_p
    squared hinge   P = 1/2 |v|^2 + C sum_p w_p [1 - (f_i - f_j)]_+^2
                    D = sum a_p - 1/2 beta' G beta - sum a_p^2 / (4 C w_p),  0 <= a_p

with beta = sum_p a_p (e_i - e_j) [Herbrich, Graepel & Obermayer 2000, eq. 7.22-7.25]. Each pair stands once, so that
the constraint (a . t) = 0 of (7.23), which belongs to a bias of pairs, is dropped: it would ask for a = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import BoolArray, FloatArray, IntArray
from ...compiled.svm import pairs_below
from ..gram import Gram
from ..solution import Candidate, Certified, Solution
from .boundaries import boundaries

#: Losses by the name a user gives, of a pair's margin m below 1: [1 - m]_+, or its square.
PAIR_LOSSES = ("hinge", "squared_hinge")


@dataclass(frozen=True, eq=False, kw_only=True)
class PairProblem:
    """Everything of the problem but C.

    Attributes
    ----------
    gram : Gram
        Centred in rows and columns.
    y : (N,) codes
    weights : (N,) case weights, > 0
    costs : (N, K)
        Price of every rank, for the rank boundaries alone.
    loss : str
    """

    gram: Gram
    y: IntArray
    weights: FloatArray
    costs: FloatArray
    loss: str

    @property
    def squared(self) -> bool:
        """Whether violations count by their square."""
        return self.loss == "squared_hinge"

    def price(self, C: float) -> float:
        """Largest dual variable of a pair of weight 1."""
        return float("inf") if self.squared else C

    def ridge(self, C: float) -> float:
        """r of the dual's penalty r/2 sum a_p^2 / w_p."""
        return 0.5 / C if self.squared else 0.0

    @property
    def n_levels(self) -> int:
        return int(self.costs.shape[1])

    @property
    def n_pairs(self) -> int:
        """M, the number of pairs of rows of different rank."""
        counts = np.bincount(self.y, minlength=self.n_levels)
        return int((self.y.size**2 - np.sum(counts**2)) // 2)

    def pairs(self) -> tuple[IntArray, IntArray]:
        """(M,) rows of the higher and of the lower rank."""
        rows = np.argsort(self.y, kind="stable")
        lower_rows = np.searchsorted(self.y[rows], self.y[rows])
        ends = np.cumsum(lower_rows)
        places = np.arange(int(ends[-1])) - np.repeat(ends - lower_rows, lower_rows)
        return np.repeat(rows, lower_rows).astype(np.int32), rows[places].astype(np.int32)


@dataclass(frozen=True, eq=False, kw_only=True)
class PairSolution(Solution):
    """A certified point; the pairs themselves are not kept.

    Attributes
    ----------
    boundaries : str
        How the thresholds were found.
    """

    boundaries: str


def violations(problem: PairProblem, scores: FloatArray) -> float:
    """The loss for C = 1, from one pass through the sorted scores."""
    s = scores - scores.mean()
    count, total, square = counted(problem, s, np.empty((s.size, 0))).T
    room = 1.0 - s
    if not problem.squared:
        return float(problem.weights @ (count * room + total))
    return max(float(problem.weights @ (count * room**2 + 2.0 * room * total + square)), 0.0)


def counted(problem: PairProblem, scores: FloatArray, X: FloatArray, order: IntArray | None = None) -> FloatArray:
    """(N, 3 + D) for row i the sums of w_j (1, s_j, s_j^2, x_j) over rows j of a lower rank with s_j > s_i - 1.

    `order` (N,) sorts the scores, where it is known.
    """
    order = np.argsort(scores) if order is None else order
    width = 3 + X.shape[1]
    sums = np.empty((scores.size, width))
    y = np.ascontiguousarray(problem.y[order], dtype=np.intp)
    totals = np.zeros((problem.n_levels, width))
    pairs_below(scores[order], y, problem.weights[order], np.ascontiguousarray(X[order]), sums, totals)
    back = np.empty_like(sums)
    back[order] = sums
    return back


def evaluated(problem: PairProblem, C: float, beta: FloatArray, dual_linear: float, dual_square: float) -> Certified:
    """P at v = sum_n beta_n phi(x_n), and D from sum a_p and sum a_p^2 / w_p of the a behind beta."""
    scores, w = problem.gram.scored(beta)
    norm = max(float(beta @ scores), 0.0)
    primal = 0.5 * norm + C * violations(problem, scores)
    dual = dual_linear - 0.5 * norm - 0.5 * problem.ridge(C) * dual_square
    return Certified(beta=beta, scores=scores, primal=primal, dual=dual, w=w)


def solved(problem: PairProblem, point: Certified) -> PairSolution:
    """The point with its rank boundaries."""
    found = boundaries(
        point.scores,
        problem.y,
        problem.costs,
        problem.weights,
        slack=np.sqrt(2.0 * point.gap * abs(point.primal) * float(problem.gram.diagonal.mean())),
        free_pairs=not problem.squared,
    )
    return PairSolution(**vars(point), theta=found.theta, boundaries=found.how)


@dataclass(frozen=True, eq=False, kw_only=True)
class PairCandidate(Candidate):
    """A pairwise problem to select C for.

    Attributes
    ----------
    y : (N,) codes
    loss : str
    """

    y: IntArray
    loss: str

    def problem(self, gram: Gram, rows: BoolArray | slice) -> PairProblem:
        y, costs, weights = self.y[rows], self.costs[rows], self.case_weights[rows]
        return PairProblem(gram=gram, y=y, costs=costs, weights=weights, loss=self.loss)
