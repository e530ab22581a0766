"""Newton's method in the primal for the squared hinge and a linear kernel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from .._typing import FloatArray
from ..reduction.convex import Loss, Minimum, minimum, summed
from ..threads import one_blas_thread
from .dual import DualSolution, ExtendedDual, Outcome, balanced, thresholds
from .gram import LinearGram


class SquaredHingeNewton:
    """Newton's method in the primal for the squared hinge with a linear kernel; suits a
    million rows.

    With tau_k = theta_k - b and the coefficients w of the columns,

        P = 1/2 |w|^2 + 1/(2 gamma^2) |tau - mean(tau)|^2 + C sum_nk W_nk [1 - Y_nk
        (w'x_n - tau_k)]_+^2

    (without the second term if theta is free). Each solve starts where the last one
    ended.

    Parameters
    ----------
    problem : ExtendedDual
        With a LinearGram.
    rng : numpy.random.Generator
        Not used; all solvers take the same arguments.
    """

    name = "Newton"

    def __init__(self, problem: ExtendedDual, rng: np.random.Generator) -> None:
        assert isinstance(problem.gram, LinearGram)
        self.problem = problem
        self.X = problem.gram.X
        self.v = np.zeros(self.X.shape[1] + problem.labels.shape[1])
        self.total = float(problem.weights.sum())

    def solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        """Iterate until Newton's steps no longer improve P; the gap is then well below
        any usual `tol`.
        """
        with one_blas_thread():
            optimum = self.minimised(C)
            solution = squared_certificate(self.problem, C, optimum.coef, optimum.theta)
        path = optimum.objective
        return Outcome(
            solution=solution, solver=self.name, iterations=path.size, path=path
        )

    def minimised(
        self, C: float, loss: Callable[[FloatArray], Loss] | None = None
    ) -> Minimum:
        """Minimise P, starting from the last minimum; `loss` replaces the sum over the
        rows of this problem.
        """
        Q = self.problem.labels.shape[1]
        ordered = self.problem.ordered
        evaluate = partial(self._evaluate, C, loss or self.loss)
        optimum = minimum(
            evaluate,
            self.v,
            Q,
            ordered=ordered,
            slack=_ZERO_MULTIPLIER * C * self.total,
            rounding=_ZERO_DECREMENT,
        )
        self.v = np.concatenate([optimum.coef, optimum.theta])
        return optimum

    def loss(self, v: FloatArray) -> Loss:
        """The sum of the squared hinges, with half of its derivatives by (w, tau)."""
        problem = self.problem
        return summed(
            _cells, self.X, problem.labels, problem.weights, np.zeros(len(self.X)), v
        )

    def _evaluate(
        self, C: float, summed_loss: Callable[[FloatArray], Loss], v: FloatArray
    ) -> Loss:
        """P with its gradient and Hessian over (w, tau)."""
        problem = self.problem
        D = self.X.shape[1]
        Q = self.problem.labels.shape[1]
        loss = summed_loss(v)
        penalty = np.eye(v.size)
        penalty[D:, D:] = problem.ridge * (np.eye(Q) - 1.0 / Q)
        pull = penalty @ v
        return Loss(
            C * loss.value + 0.5 * float(v @ pull),
            2.0 * C * loss.gradient + pull,
            2.0 * C * loss.hessian + penalty,
        )


# Below these shares, Newton's decrement (of the objective) and a multiplier of the
# order (of the largest possible one) are rounding.
_ZERO_DECREMENT = 1e-15
_ZERO_MULTIPLIER = 1e-9
_TINY = float(np.finfo(float).tiny)


def _cells(
    margins: FloatArray, weights: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """The squared hinges, and half their derivatives."""
    slack = np.subtract(1.0, margins, out=margins)
    active = np.where(slack > 0.0, weights, 0.0)
    slack *= active
    return float(np.vdot(slack, slack / np.maximum(active, _TINY))), slack, active


def squared_certificate(
    problem: ExtendedDual, C: float, w: FloatArray, tau: FloatArray
) -> DualSolution:
    """P at w (D,) and tau (Q,), and D at a nearby feasible dual point.

    The dual variables of a point are u_nk = 2 C W_nk Y_nk [...]_+, and

        D = sum |u_nk| - 1/2 |X' beta|^2 - (gamma^2 / 2) |s|^2 - sum u_nk^2 / (4 C W_nk)

    under the constraints of the hinge's dual, without upper bounds. The given w is
    kept: computed from the dual point, it would lose its digits where large slacks
    cancel.
    """
    gram = problem.gram
    labels = problem.labels
    assert isinstance(gram, LinearGram)
    scores = gram.X @ w
    loss, slack, _ = _cells(labels * (scores[:, None] - tau), problem.weights)
    u = np.multiply(slack, 2.0 * C * labels, out=slack)
    # Boxes that end at u let only variables of one sign shrink where sums must be zero.
    u = balanced(labels, np.abs(u), u, by_column=problem.free, ordered=problem.ordered)
    beta = u.sum(axis=1)
    dual = float(np.abs(u).sum()) - 0.5 * max(float(beta @ (gram @ beta)), 0.0)
    # A cell without weight has u = 0.
    dual -= float(np.vdot(u, u / np.maximum(problem.weights, _TINY))) / (4.0 * C)
    b = 0.0 if problem.free else -float(tau.mean())
    if not problem.free:
        dual -= (
            0.5 * problem.ridge * float(np.sum(thresholds(problem, u.sum(axis=0)) ** 2))
        )
    theta = tau + b
    offset = None if problem.free else b
    primal = 0.5 * (float(w @ w) + problem.ridge * float(theta @ theta)) + C * loss
    return DualSolution(
        u=u,
        beta=beta,
        scores=scores,
        offset=offset,
        theta=theta,
        primal=primal,
        dual=dual,
        w=w,
    )
