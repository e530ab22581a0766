"""Newton's method for the linear kernel and the squared hinge on pairs, which are counted and never listed.

With the scores sorted, one pass gives every row the number of its violating partners and the sums of their scores and
columns. Then loss, gradient and Hessian X' (diag(degree) - A) X, A the adjacency of violating pairs, cost
O(N log N + N (K + D) D).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..._typing import FloatArray
from ..gram import LinearGram
from ..threads import one_blas_thread
from .problem import PairOutcome, PairProblem, Point, counted, evaluated, solved

_MAX_ITERATIONS, _MAX_HALVINGS = 100, 40
# A step is taken once it brings this share of what the slope promises.
_ARMIJO = 1e-4
# Progress of a step, as a share of the objective, after which there is more to come; and a gap that is rounding.
_FAR, _ROUNDING = 1e-6, 1e-13


@dataclass(frozen=True, eq=False, kw_only=True)
class _Evaluation:
    """The loss over C and its derivatives at some w.

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

    def solve(self, C: float, tol: float) -> PairOutcome:
        """Iterate until the relative duality gap is at most `tol` and Newton's steps bring nothing more."""
        with one_blas_thread():
            return self._solve(C, tol)

    def _solve(self, C: float, tol: float) -> PairOutcome:
        here = self._evaluate(self.w)
        point: Point | None = None
        value = self._value(C, here)
        path = [value]
        far = True
        while len(path) <= _MAX_ITERATIONS:
            moved = self._step(C, here)
            if moved is None:
                break
            before, here = value, moved
            value = self._value(C, here)
            # A certificate costs half a step, and far from the optimum it says nothing.
            far = before - value > _FAR * value
            path.append(value)
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
        return PairOutcome(
            solution=solved(self.problem, point), solver=self.name, iterations=len(path) - 1, path=np.array(path)
        )

    def _value(self, C: float, here: _Evaluation) -> float:
        """P at w."""
        return 0.5 * float(self.w @ self.w) + C * here.loss

    def _step(self, C: float, here: _Evaluation) -> _Evaluation | None:
        """Newton's step, halved until the objective falls; None where it no longer does."""
        gradient = self.w - 2.0 * C * (self.X.T @ here.slope)
        direction = -cho_solve(cho_factor(self._hessian(C, here), overwrite_a=True), gradient)
        slope = float(gradient @ direction)
        before = self._value(C, here)
        t = 1.0
        for _ in range(_MAX_HALVINGS):
            w = self.w + t * direction
            there = self._evaluate(w)
            if 0.5 * float(w @ w) + C * there.loss <= before + _ARMIJO * t * slope and slope < 0.0:
                self.w = w
                return there
            t *= 0.5
        return None

    def _evaluate(self, w: FloatArray) -> _Evaluation:
        problem, v = self.problem, self.problem.weights
        s = self.X @ w
        order = np.argsort(s)
        lower = counted(problem, s, self.X, order)
        # The same pass from the other end: partners of a higher rank with s_j < s_i + 1.
        mirrored = PairProblem(
            gram=problem.gram,
            y=problem.n_levels - 1 - problem.y,
            weights=v,
            costs=problem.costs,
            loss=problem.loss,
        )
        upper = counted(mirrored, -s, np.empty((s.size, 0)), order[::-1])
        room = 1.0 - s
        linear = lower[:, 0] * room + lower[:, 1]
        square = lower[:, 0] * room**2 + 2.0 * room * lower[:, 1] + lower[:, 2]
        # For the lower row of a pair: 1 - (s_i - s_j), summed over i.
        pressed = upper[:, 0] * (1.0 + s) + upper[:, 1]
        return _Evaluation(
            loss=max(float(v @ square), 0.0),
            linear=float(v @ linear),
            slope=v * (linear - pressed),
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

    def _certified(self, C: float, here: _Evaluation) -> Point:
        """With a_p = 2 C w_p (violation) the dual variables of w, and P at the w that they give."""
        beta = 2.0 * C * here.slope
        return evaluated(self.problem, C, beta, 2.0 * C * here.linear, 4.0 * C * C * here.loss)
