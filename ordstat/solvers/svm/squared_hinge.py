"""The squared hinge with a linear kernel: Newton's method in the primal, for a million rows.

With tau_k = theta_k - b and the coefficients w of the columns,

    P = 1/2 |w|^2 + 1/(2 gamma^2) |tau - mean(tau)|^2 + C sum_nk W_nk [1 - Y_nk (w'x_n - tau_k)]_+^2

(no second term where theta is free). The dual variables of a point are u_nk = 2 C W_nk Y_nk [...]_+, and

    D = sum |u_nk| - 1/2 |X' beta|^2 - (gamma^2 / 2) |s|^2 - sum u_nk^2 / (4 C W_nk)

under the constraints of the hinge's dual, without upper bounds. Thresholds that would cross are tied together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..._typing import FloatArray, IntArray
from ...model.row_blocks import CACHED, row_blocks
from ..clarabel import solve
from ..gram import LinearGram, cvxpy
from ..threads import one_blas_thread
from .dual import DualSolution, ExtendedDual, Outcome, thresholds
from .feasible import falling

_MAX_ITERATIONS, _MAX_HALVINGS = 100, 40
# A step is taken once it brings this share of what the slope promises.
_ARMIJO = 1e-4
# Newton's decrement, as a share of the objective, that is rounding.
_ROUNDING = 1e-15
# Keeps the system regular where a threshold has no violating row, as a share of its largest diagonal element.
_REGULAR = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class _Evaluation:
    """P with its gradient and Hessian over (w, tau)."""

    value: float
    gradient: FloatArray
    hessian: FloatArray


class SquaredHingeNewton:
    """Solves one linear problem for any C, each from where the last one ended.

    Parameters
    ----------
    problem : ExtendedDual
        With a LinearGram.
    rng : numpy.random.Generator
        Not used; every solver is made alike.
    """

    name = "Newton"

    def __init__(self, problem: ExtendedDual, rng: np.random.Generator) -> None:
        if not isinstance(problem.gram, LinearGram):
            raise TypeError("SquaredHingeNewton needs the columns of a linear kernel")
        self.problem = problem
        self.X = problem.gram.X
        self.v = np.zeros(self.X.shape[1] + problem.labels.shape[1])

    def solve(self, C: float, tol: float) -> Outcome:
        """Iterate until Newton's steps bring nothing more; the gap is certified at the end.

        `tol` is met with room to spare wherever it can be.
        """
        with one_blas_thread():
            return self._solve(C)

    def _solve(self, C: float) -> Outcome:
        path: list[float] = []
        group = np.arange(self.problem.labels.shape[1])
        while True:
            path += self._descend(C, group)
            tau = self.v[self.X.shape[1] :]
            crossing = np.flatnonzero(np.diff(tau) < 0)
            if not self.problem.ordered or crossing.size == 0:
                break
            # Tied thresholds move as one, from their mean.
            for k in crossing:
                group[group == group[k + 1]] = group[k]
            for g in np.unique(group):
                tau[group == g] = tau[group == g].mean()
        solution = self._certified(C)
        return Outcome(solution=solution, solver=self.name, iterations=len(path), path=np.array(path))

    def _descend(self, C: float, group: IntArray) -> list[float]:
        """Newton's method with the thresholds of one group tied; the values on the way."""
        D = self.X.shape[1]
        tie = np.zeros((self.v.size, D + np.unique(group).size))
        tie[:D, :D] = np.eye(D)
        tie[D + np.arange(group.size), D + np.unique(group, return_inverse=True)[1]] = 1.0
        here = self._evaluate(C, self.v)
        path = []
        for _ in range(_MAX_ITERATIONS):
            path.append(here.value)
            gradient, H = tie.T @ here.gradient, tie.T @ here.hessian @ tie
            H[np.diag_indices_from(H)] += _REGULAR * np.diagonal(H).max()
            direction = tie @ -cho_solve(cho_factor(H, overwrite_a=True), gradient)
            slope = float(here.gradient @ direction)
            if -slope <= _ROUNDING * abs(here.value):
                break
            for halving in range(_MAX_HALVINGS):
                t = 0.5**halving
                there = self._evaluate(C, self.v + t * direction)
                if there.value <= here.value + _ARMIJO * t * slope:
                    break
            else:
                break
            self.v = self.v + t * direction
            here = there
        return path

    def _evaluate(self, C: float, v: FloatArray) -> _Evaluation:
        D, Q = self.X.shape[1], self.problem.labels.shape[1]
        w, tau = v[:D], v[D:]
        loss, gradient, H = 0.0, np.zeros_like(v), np.zeros((v.size, v.size))
        for rows in _blocks(self.problem.labels):
            X, Y, W = self.X[rows], self.problem.labels[rows], self.problem.weights[rows]
            slack = (X @ w)[:, None] - tau
            slack *= Y
            np.subtract(1.0, slack, out=slack)
            active = np.where(slack > 0.0, W, 0.0)
            slack *= active
            loss += float(np.vdot(slack, slack / np.maximum(active, np.finfo(float).tiny)))
            slack *= Y
            gradient[:D] -= X.T @ slack.sum(axis=1)
            gradient[D:] += slack.sum(axis=0)
            H[:D, :D] += (X * active.sum(axis=1)[:, None]).T @ X
            H[:D, D:] -= X.T @ active
            H[D:, D:] += np.diag(active.sum(axis=0))
        H[D:, :D] = H[:D, D:].T
        centred = tau - tau.mean()
        penalty = self.problem.ridge * (np.eye(Q) - 1.0 / Q)
        gradient *= 2.0 * C
        gradient[:D] += w
        gradient[D:] += self.problem.ridge * centred
        H *= 2.0 * C
        H[:D, :D] += np.eye(D)
        H[D:, D:] += penalty
        value = 0.5 * float(w @ w) + 0.5 * self.problem.ridge * float(centred @ centred) + C * loss
        return _Evaluation(value=value, gradient=gradient, hessian=H)

    def _certified(self, C: float) -> DualSolution:
        D = self.X.shape[1]
        return certified(self.problem, C, self.v[:D], self.v[D:])


def certified(problem: ExtendedDual, C: float, w: FloatArray, tau: FloatArray) -> DualSolution:
    """P at w (D,) and tau (Q,), and D at a feasible dual point near theirs.

    The coefficients of that point would be another w: sums of vast slacks that cancel.
    """
    labels, weights = problem.labels, problem.weights
    u = np.empty_like(labels)
    gram = cast(LinearGram, problem.gram)
    w = gram.allowed(w)
    scores = gram.X @ w
    for rows in _blocks(labels):
        slack = _slack(labels[rows], scores[rows], tau)
        slack *= labels[rows]
        np.multiply(slack, weights[rows], out=u[rows])
    u *= 2.0 * C
    _balance(problem, u)
    beta = u.sum(axis=1)
    norm = max(float(beta @ (gram @ beta)), 0.0)
    linear = curved = loss = 0.0
    for rows in _blocks(labels):
        size = np.abs(u[rows])
        linear += float(size.sum())
        # A cell without weight has u = 0.
        curved += float(np.vdot(size, size / np.maximum(weights[rows], np.finfo(float).tiny)))
        slack = _slack(labels[rows], scores[rows], tau)
        loss += float(np.vdot(weights[rows], np.square(slack, out=slack)))
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


def _slack(labels: FloatArray, scores: FloatArray, tau: FloatArray) -> FloatArray:
    """(n, Q) the parts of the margins below 1, a new array."""
    slack = scores[:, None] - tau
    slack *= labels
    np.subtract(1.0, slack, out=slack)
    return np.maximum(slack, 0.0, out=slack)


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


class SquaredHingeCvxpy:
    """The primal problem through cvxpy: the reference route, and that of crossing thresholds it alone can order.

    Parameters
    ----------
    problem : ExtendedDual
        With a LinearGram.
    rng : numpy.random.Generator
        Not used; every solver is made alike.
    """

    name = "cvxpy"

    def __init__(self, problem: ExtendedDual, rng: np.random.Generator) -> None:
        if not isinstance(problem.gram, LinearGram):
            raise TypeError("SquaredHingeCvxpy needs the columns of a linear kernel")
        self.problem = problem
        self.X, self.limits = problem.gram.X, problem.gram.limits

    def solve(self, C: float, tol: float) -> Outcome:
        """Solve to Clarabel's tolerance; the relative duality gap is that of the certified outcome."""
        cp = cvxpy()
        problem = self.problem
        w, tau = cp.Variable(self.X.shape[1]), cp.Variable(problem.labels.shape[1])
        gaps = cp.reshape(self.X @ w, (problem.gram.n, 1), order="C") - cp.reshape(tau, (1, tau.size), order="C")
        slack = cp.pos(1.0 - cp.multiply(problem.labels, gaps))
        value = 0.5 * cp.sum_squares(w) + 0.5 * problem.ridge * cp.sum_squares(tau - cp.sum(tau) / tau.size)
        value += C * cp.sum_squares(cp.multiply(np.sqrt(problem.weights), slack))
        limits = self.limits(w)
        if problem.ordered and tau.size > 1:
            limits.append(cp.diff(tau) >= 0)
        model = cp.Problem(cp.Minimize(value), limits)
        iterations = solve(model, tol)
        effects, theta = (np.zeros(v.size) if v.value is None else v.value for v in (w, tau))
        solution = certified(problem, C, effects, np.sort(theta) if problem.ordered else theta)
        return Outcome(solution=solution, solver=self.name, iterations=iterations, path=np.array([solution.primal]))
