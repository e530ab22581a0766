"""The squared hinge with a linear kernel: Newton's method in the primal, for a million rows.

With tau_k = theta_k - b and the coefficients w of the columns,

    P = 1/2 |w|^2 + 1/(2 gamma^2) |tau - mean(tau)|^2 + C sum_nk W_nk [1 - Y_nk (w'x_n - tau_k)]_+^2

(no second term where theta is free). The dual variables of a point are u_nk = 2 C W_nk Y_nk [...]_+, and

    D = sum |u_nk| - 1/2 |X' beta|^2 - (gamma^2 / 2) |s|^2 - sum u_nk^2 / (4 C W_nk)

under the constraints of the hinge's dual, without upper bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import cast

import numpy as np

from .._typing import FloatArray
from ..formula.sample import CACHED, row_blocks
from ..newton import Loss, minimum, summed
from ..threads import one_blas_thread
from .dual import DualSolution, ExtendedDual, falling, thresholds
from .gram import LinearGram, cvxpy, solve_with_clarabel
from .solution import Outcome

# Newton's decrement, as a share of the objective, that is rounding; and a multiplier of the order, as a share of the
# largest that there may be.
_ROUNDING, _SLACK = 1e-15, 1e-9
_TINY = float(np.finfo(float).tiny)


class _Linear:
    """A solver of one linear problem.

    Parameters
    ----------
    problem : ExtendedDual
        With a LinearGram.
    rng : numpy.random.Generator
        Not used; every solver is made alike.
    """

    def __init__(self, problem: ExtendedDual, rng: np.random.Generator) -> None:
        if not isinstance(problem.gram, LinearGram):
            raise TypeError(f"{type(self).__name__} needs the columns of a linear kernel")
        self.problem, self.gram, self.X = problem, problem.gram, problem.gram.X


class SquaredHingeNewton(_Linear):
    """Solves it for any C, each from where the last one ended."""

    name = "Newton"

    def __init__(self, problem: ExtendedDual, rng: np.random.Generator) -> None:
        super().__init__(problem, rng)
        self.v = np.zeros(self.X.shape[1] + problem.labels.shape[1])

    def solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        """Iterate until Newton's steps bring nothing more; the gap is certified at the end.

        `tol` is met with room to spare wherever it can be.
        """
        problem, Q = self.problem, self.problem.labels.shape[1]
        slack = _SLACK * C * float(problem.weights.sum())
        with one_blas_thread():
            found = minimum(
                partial(self._evaluate, C), self.v, Q, ordered=problem.ordered, slack=slack, rounding=_ROUNDING
            )
            self.v = np.concatenate([found.coef, found.theta])
            solution = certified(problem, C, found.coef, found.theta)
        path = found.objective
        return Outcome(solution=solution, solver=self.name, iterations=path.size, path=path)

    def _evaluate(self, C: float, v: FloatArray) -> Loss:
        """P with its gradient and Hessian over (w, tau)."""
        problem, D, Q = self.problem, self.X.shape[1], self.problem.labels.shape[1]
        loss = summed(_cells, self.X, problem.labels, problem.weights, np.zeros(len(self.X)), v)
        penalty = np.eye(v.size)
        penalty[D:, D:] = problem.ridge * (np.eye(Q) - 1.0 / Q)
        pull = penalty @ v
        return Loss(
            C * loss.value + 0.5 * float(v @ pull), 2.0 * C * loss.gradient + pull, 2.0 * C * loss.hessian + penalty
        )


def _cells(margins: FloatArray, weights: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """The loss, and half its derivatives."""
    slack = np.subtract(1.0, margins, out=margins)
    active = np.where(slack > 0.0, weights, 0.0)
    slack *= active
    return float(np.vdot(slack, slack / np.maximum(active, _TINY))), slack, active


def certified(problem: ExtendedDual, C: float, w: FloatArray, tau: FloatArray) -> DualSolution:
    """P at w (D,) and tau (Q,), and D at a feasible dual point near theirs.

    The coefficients of that point would be another w: sums of vast slacks that cancel.
    """
    labels, weights = problem.labels, problem.weights
    u = np.empty_like(labels)
    gram = cast(LinearGram, problem.gram)
    w = gram.allowed(w)
    scores = gram.X @ w
    linear = curved = loss = 0.0
    for rows in _blocks(labels):
        margins = scores[rows, None] - tau
        margins *= labels[rows]
        some, slack, _ = _cells(margins, weights[rows])
        loss += some
        np.multiply(slack, labels[rows], out=u[rows])
    u *= 2.0 * C
    _balance(problem, u)
    beta = u.sum(axis=1)
    norm = max(float(beta @ (gram @ beta)), 0.0)
    for rows in _blocks(labels):
        size = np.abs(u[rows])
        linear += float(size.sum())
        # A cell without weight has u = 0.
        curved += float(np.vdot(size, size / np.maximum(weights[rows], _TINY)))
    dual = linear - 0.5 * norm - curved / (4.0 * C)
    if not problem.free:
        dual -= 0.5 * problem.ridge * float(np.sum(thresholds(problem, u.sum(axis=0)) ** 2))
    b = 0.0 if problem.free else -float(tau.mean())
    theta = tau + b
    primal = 0.5 * (float(w @ w) + problem.ridge * float(theta @ theta)) + C * loss
    offset = None if problem.free else b
    return DualSolution(u=u, beta=beta, scores=scores, offset=offset, theta=theta, primal=primal, dual=dual, w=w)


def _blocks(cells: FloatArray) -> Iterator[slice]:
    """Rows (N, Q) a few at a time."""
    return row_blocks(cells.shape[0], cells.shape[1], CACHED)


def _balance(problem: ExtendedDual, u: FloatArray) -> None:
    """Shrink one sign of u (N, Q) in place so that it sums to what the dual asks; there are no upper bounds."""
    totals = u.sum(axis=0)
    positive = np.zeros_like(totals)
    for rows in _blocks(u):
        positive += np.maximum(u[rows], 0.0).sum(axis=0)
    negative = positive - totals
    if problem.free:
        excess = totals - (falling(totals) if problem.ordered else 0.0)
    else:
        positive, negative = np.full_like(totals, positive.sum()), np.full_like(totals, negative.sum())
        excess = np.full_like(totals, totals.sum())
    up = 1.0 - _share(np.maximum(excess, 0.0), positive)
    down = 1.0 - _share(np.maximum(-excess, 0.0), negative)
    if (up < 1.0).any() or (down < 1.0).any():
        for rows in _blocks(u):
            u[rows] *= np.where(u[rows] > 0.0, up, down)


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.clip(np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0), 0.0, 1.0)


class SquaredHingeCvxpy(_Linear):
    """The primal problem through cvxpy: the reference route, and that of restricted coefficients."""

    name = "cvxpy"

    def solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        """Solve to Clarabel's tolerance; the relative duality gap is that of the certified outcome."""
        cp = cvxpy()
        problem = self.problem
        w, tau = cp.Variable(self.X.shape[1]), cp.Variable(problem.labels.shape[1])
        gaps = cp.reshape(self.X @ w, (problem.gram.n, 1), order="C") - cp.reshape(tau, (1, tau.size), order="C")
        slack = cp.pos(1.0 - cp.multiply(problem.labels, gaps))
        value = 0.5 * cp.sum_squares(w) + 0.5 * problem.ridge * cp.sum_squares(tau - cp.sum(tau) / tau.size)
        value += C * cp.sum_squares(cp.multiply(np.sqrt(problem.weights), slack))
        limits = self.gram.limits(w)
        if problem.ordered and tau.size > 1:
            limits.append(cp.diff(tau) >= 0)
        model = cp.Problem(cp.Minimize(value), limits)
        iterations = solve_with_clarabel(model, tol)
        solution = certified(problem, C, w.value, np.sort(tau.value) if problem.ordered else tau.value)
        return Outcome(solution=solution, solver=self.name, iterations=iterations, path=np.array([solution.primal]))
