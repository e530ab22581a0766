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
from ..ordered_newton import direction, step
from ..solution import Certified, Outcome
from ..threads import one_blas_thread
from .problem import PairProblem, PairSolution, counted, evaluated, solved

_MAX_ITERATIONS = 100
# Progress of a step, as a share of the objective, after which there is more to come; and a gap that is rounding.
_FAR, _ROUNDING = 1e-6, 1e-13


@dataclass(frozen=True, eq=False, kw_only=True)
class _Evaluation:
    """P and what it is made of at some w.

    Attributes
    ----------
    value : float, P
    gradient : (D,)
    loss : float, sum of squared violations
    linear : float, sum of violations
    slope : (N,) minus half the derivative of the loss by the scores
    degree : (N,) weight of the violating partners of a row, times its own
    partners : (N, D) sum of w_j x_j over violating partners of a lower rank
    """

    value: float
    gradient: FloatArray
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
        """Iterate until the relative duality gap is at most `tol` and Newton's steps bring nothing more."""
        with one_blas_thread():
            return self._solve(C, tol)

    def _solve(self, C: float, tol: float) -> Outcome[PairSolution]:
        evaluate = partial(self._evaluate, C)
        here = evaluate(self.w)
        point: Certified | None = None
        path = [here.value]
        far = True
        while len(path) <= _MAX_ITERATIONS:
            moved = step(evaluate, self.w, here, direction(here.gradient, self._hessian(C, here)))
            if moved is None:
                break
            before = here.value
            self.w, here = moved
            # A certificate costs half a step, and far from the optimum it says nothing.
            far = before - here.value > _FAR * here.value
            path.append(here.value)
            if far:
                continue
            found = self._certified(C, here)
            path[-1] = found.primal
            better = point is None or found.gap < 0.5 * point.gap
            point = found if point is None or found.gap <= point.gap else point
            if point.gap <= tol and (point.gap <= _ROUNDING or not better):
                break
        if point is None or far:
            found = self._certified(C, here)
            point = found if point is None or found.gap <= point.gap else point
        return Outcome(
            solution=solved(self.problem, point), solver=self.name, iterations=len(path) - 1, path=np.array(path)
        )

    def _evaluate(self, C: float, w: FloatArray) -> _Evaluation:
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
        loss, slope = max(float(v @ square), 0.0), v * (linear - pressed)
        return _Evaluation(
            value=0.5 * float(w @ w) + C * loss,
            gradient=w - 2.0 * C * (self.X.T @ slope),
            loss=loss,
            linear=float(v @ linear),
            slope=slope,
            degree=v * (lower[:, 0] + upper[:, 0]),
            partners=lower[:, 3:],
        )

    def _hessian(self, C: float, here: _Evaluation) -> FloatArray:
        # X' (diag(degree) - A) X is the sum of half and its transpose, as A is of the two sides of a pair.
        part = here.partners * -self.problem.weights[:, None]
        part += self.X * (0.5 * here.degree)[:, None]
        half = 2.0 * C * (self.X.T @ part)
        H: FloatArray = half + half.T
        H[np.diag_indices_from(H)] += 1.0
        return H

    def _certified(self, C: float, here: _Evaluation) -> Certified:
        """With a_p = 2 C w_p (violation) the dual variables of w, and P at the w that they give."""
        beta = 2.0 * C * here.slope
        return evaluated(self.problem, C, beta, 2.0 * C * here.linear, 4.0 * C * C * here.loss)
