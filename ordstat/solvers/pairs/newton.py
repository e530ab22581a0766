"""Newton's method for the linear kernel and the squared hinge on pairs, which are counted and never listed.

With the scores sorted, one pass gives every row the number of its violating partners and the sums of their scores and
columns. Then loss, gradient and Hessian X' (diag(degree) - A) X, A the adjacency of violating pairs, cost
O(N log N + N (K + D) D).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..._typing import FloatArray
from ..gram import LinearGram
from ..ordered_newton import Evaluation, minimum
from ..solution import Certified, Outcome
from ..threads import one_blas_thread
from .problem import PairProblem, PairSolution, counted, evaluated, solved

# Newton's decrement, as a share of the objective, that is rounding: of the objective at w, and then of that at the w
# which the dual variables give, where C is large far less. And a gap that is rounding.
_ROUNDING, _EXACT = (1e-15, 1e-20, 1e-25, 1e-30), 1e-13


@dataclass(frozen=True, eq=False, kw_only=True)
class _Sums:
    """What P and its derivatives are made of at some w.

    Attributes
    ----------
    loss : float, sum of squared violations
    linear : float, sum of violations
    slope : (N,) minus half the derivative of the loss by the scores
    degree : (N,) weight of the violating partners of a row, times its own
    partners : (N, D) sum of w_j x_j over violating partners of a lower rank
    """

    loss: float
    linear: float
    slope: FloatArray
    degree: FloatArray
    partners: FloatArray


class PairNewton:
    """Solves one linear problem for any C, each from where the last one ended.

    Parameters
    ----------
    problem : PairProblem
        With a LinearGram and the squared hinge.
    rng : numpy.random.Generator
        Not used; every solver is made alike.
    """

    name = "counting Newton"

    def __init__(self, problem: PairProblem, rng: np.random.Generator) -> None:
        if not isinstance(problem.gram, LinearGram):
            raise TypeError("PairNewton needs the columns of a linear kernel")
        self.problem = problem
        self.X = problem.gram.X
        self.w = np.zeros(self.X.shape[1])

    def solve(self, C: float, tol: float) -> Outcome[PairSolution]:
        """Iterate until the gap is rounding, or Newton's steps bring nothing more.

        `tol` is met with room to spare wherever it can be.
        """
        path: list[float] = []
        points: list[Certified] = []
        with one_blas_thread():
            for rounding in _ROUNDING:
                found = minimum(partial(self._evaluate, C), self.w, rounding=rounding)
                self.w = found.coef
                path += found.objective.tolist()
                points.append(self._certified(C))
                if points[-1].gap <= _EXACT:
                    break
        solution = solved(self.problem, min(points, key=lambda point: point.gap))
        return Outcome(solution=solution, solver=self.name, iterations=len(path) - 1, path=np.array(path))

    def _certified(self, C: float) -> Certified:
        """With a_p = 2 C w_p (violation) the dual variables of w, and P at the w that they give."""
        sums = self._sums(self.w)
        return evaluated(
            self.problem, C, 2.0 * C * sums.slope, 2.0 * C * sums.linear, dual_square=4.0 * C * C * sums.loss
        )

    def _evaluate(self, C: float, w: FloatArray) -> Evaluation:
        """P with its derivatives."""
        sums = self._sums(w)
        # X' (diag(degree) - A) X is the sum of half and its transpose, as A is of the two sides of a pair.
        part = sums.partners * -self.problem.weights[:, None]
        part += self.X * (0.5 * sums.degree)[:, None]
        half = 2.0 * C * (self.X.T @ part)
        gradient = w - 2.0 * C * (self.X.T @ sums.slope)
        return Evaluation(0.5 * float(w @ w) + C * sums.loss, gradient, np.eye(w.size) + half + half.T)

    def _sums(self, w: FloatArray) -> _Sums:
        problem, v = self.problem, self.problem.weights
        s = self.X @ w
        order = np.argsort(s)
        lower = counted(problem, s, self.X, order)
        # The same pass from the other end: partners of a higher rank with s_j < s_i + 1.
        mirrored = replace(problem, y=problem.n_levels - 1 - problem.y)
        upper = counted(mirrored, -s, np.empty((s.size, 0)), order[::-1])
        room = 1.0 - s
        linear = lower[:, 0] * room + lower[:, 1]
        square = lower[:, 0] * room**2 + 2.0 * room * lower[:, 1] + lower[:, 2]
        # For the lower row of a pair: 1 - (s_i - s_j), summed over i.
        pressed = upper[:, 0] * (1.0 + s) + upper[:, 1]
        return _Sums(
            loss=max(float(v @ square), 0.0),
            linear=float(v @ linear),
            slope=v * (linear - pressed),
            degree=v * (lower[:, 0] + upper[:, 0]),
            partners=lower[:, 3:],
        )
