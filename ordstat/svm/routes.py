"""Routes to the optimum: cvxpy, the squared hinge's Newton method, the choice between
solvers, the hard margin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from .._typing import FloatArray
from ..exceptions import DataError
from ..reduction.convex import Loss, Minimum, minimum, summed
from ..threads import one_blas_thread
from .dual import (
    DualSolution,
    ExtendedDual,
    Outcome,
    Route,
    balanced,
    better,
    certify,
    snapped,
    thresholds,
)
from .gram import LinearGram, cvxpy, solve_with_clarabel
from .solvers import CoordinateAscent, InteriorPoint


class CvxpyDual:
    """The dual solved by cvxpy, for any C: the reference for testing the other routes.

    The kernel enters as an N x N quadratic form of beta. The variables are tau = alpha
    / c with c = min(C, 1), so that small boxes stay above the solver's tolerances:
    minimise (c/2) (beta' G beta + gamma^2 |s|^2) - sum tau with 0 <= tau <= (C/c) W.
    Both c and C/c are parameters, so that a new C does not compile the problem again.
    Free thresholds require s = 0 (less the multipliers of an order) instead of gamma^2
    |s|^2.

    Parameters
    ----------
    problem : ExtendedDual
    rng : numpy.random.Generator
        Not used; all solvers take the same arguments.
    """

    name = "cvxpy"

    def __init__(self, problem: ExtendedDual, rng: np.random.Generator) -> None:
        cp = cvxpy()
        n_rows, n_thresholds = problem.labels.shape
        self.problem = problem
        self.unit = cp.Parameter(nonneg=True)
        self.ratio = cp.Parameter(nonneg=True)
        self.tau = cp.Variable((n_rows, n_thresholds), nonneg=True)
        beta = cp.Variable(n_rows)
        signed = cp.multiply(problem.labels, self.tau)
        # Minus theta / (c gamma^2): the column sums of u, less the multipliers of an
        # order.
        self.push = cp.sum(signed, axis=0)
        if problem.ordered and n_thresholds > 1:
            self.push -= np.diff(np.eye(n_thresholds), axis=0).T @ cp.Variable(
                n_thresholds - 1, nonneg=True
            )
        half, constraints = problem.gram.half_square(beta)
        constraints += [
            self.tau <= self.ratio * problem.live,
            beta == cp.sum(signed, axis=1),
        ]
        if problem.free:
            constraints.append(self.push == 0)
        else:
            constraints.append(cp.sum(beta) == 0)
            half += 0.5 * problem.gamma**2 * cp.sum_squares(self.push)
        self.model = cp.Problem(
            cp.Minimize(self.unit * half - cp.sum(self.tau)), constraints
        )

    def solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        """Solve to Clarabel's tolerance; the certificate gives the relative duality gap
        that this leaves.
        """
        c = min(C, 1.0)
        self.unit.value = c
        self.ratio.value = C / c
        iterations = solve_with_clarabel(self.model, tol)
        if self.problem.free:
            theta = None
        else:
            theta = -c * self.problem.gamma**2 * self.push.value
        solution = certify(
            self.problem, C, c * self.problem.labels * self.tau.value, theta
        )
        sparse = snapped(self.problem, C, solution)
        solution = sparse if sparse.gap <= max(tol, solution.gap) else solution
        return Outcome(
            solution=solution,
            solver=self.name,
            iterations=iterations,
            path=np.array([solution.primal]),
        )


# Problems of at most _FEW_ROWS rows are solved to the gap _ZERO_GAP.
_FEW_ROWS = 200
_ZERO_GAP = 1e-12
# Epochs of the ascent before the interior point takes over: with a kernel matrix (at
# least as many as rows), and with columns, where the interior point is fast.
_MOST_EPOCHS = 800
_MOST_LINEAR_EPOCHS = 150
# If the interior point ends at or below this gap, the ascent that follows has its
# default limit on epochs.
_NEARLY_SOLVED = 1e-4


class Automatic:
    """Coordinate ascent for about as long as an interior point would take, then the
    interior point.

    Coordinate ascent is faster if it converges. It is slow if C times the kernel is
    badly conditioned, and then for every larger C too. Small problems are solved by the
    interior point first, down to rounding: this takes milliseconds, and the result
    depends neither on the seed nor on the order of the rows.

    Parameters
    ----------
    problem : ExtendedDual
    rng : numpy.random.Generator
    small : int
        Problems of at most this number of rows go to the interior point first; 0 to
        solve many problems roughly.
    """

    def __init__(
        self, problem: ExtendedDual, rng: np.random.Generator, small: int = _FEW_ROWS
    ) -> None:
        self.problem = problem
        self.rng = rng
        self.interior = InteriorPoint(problem, rng)
        # the smallest C that the ascent has given up
        self.hard = np.inf
        n_rows = len(problem.labels)
        # epochs of the ascent
        self.patience = max(_MOST_EPOCHS, n_rows)
        if isinstance(problem.gram, LinearGram):
            self.patience = _MOST_LINEAR_EPOCHS
        self.ascent = None
        if n_rows > small:
            self.ascent = CoordinateAscent(problem, rng, self.patience)

    def solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        """The outcome of the first route that reaches `tol`, else the better one."""
        if self.ascent is None:
            outcome = self.interior.solve(C, min(tol, _ZERO_GAP))
            if outcome.solution.gap <= tol:
                return outcome
            # The interior point may stop at the limit of rounding, or cycle.
            epochs = None if outcome.solution.gap <= _NEARLY_SOLVED else self.patience
            return better(
                outcome, CoordinateAscent(self.problem, self.rng, epochs).solve(C, tol)
            )
        if self.hard <= C:
            return self.interior.solve(C, tol)
        outcome = self.ascent.solve(C, tol)
        if outcome.solution.gap <= tol:
            return outcome
        self.hard = C
        return better(self.interior.solve(C, tol), outcome)


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


#: Routes of the hinge by name of the solver.
SOLVERS: dict[str, Route] = {
    "auto": Automatic,
    CoordinateAscent.name: CoordinateAscent,
    InteriorPoint.name: InteriorPoint,
    CvxpyDual.name: CvxpyDual,
}

#: The route that compares values of C: it solves many small problems roughly.
ROUGH: Route = partial(Automatic, small=0)

#: Routes of each loss.
LOSSES: dict[str, dict[str, Route]] = {
    "hinge": SOLVERS,
    "squared_hinge": {"auto": SquaredHingeNewton},
}


# First C (times the mean of the kernel's diagonal), its growth factor, and the largest
# number of steps.
_FIRST_C = 16.0
_C_GROWTH = 32.0
_MOST_VALUES_OF_C = 12
# The soft problem is solved to this share of `tol`, because scaling to the hard margin
# enlarges the gap.
_SOFT_SHARE = 0.1
# (|v| r)^2 beyond which levels count as not separable: a margin below a millionth of
# the rows' spread.
_STEEPEST = 1e12


def hard_margin(
    route: Route, problem: ExtendedDual, rng: np.random.Generator, tol: float
) -> Outcome[DualSolution]:
    """Solve the problem without slack, by any route, to the relative duality gap `tol`.

    Raises
    ------
    DataError
        No thresholds separate the levels, or their margin is too small to be computed.
    """
    soft = route(problem, rng)
    scale = float(problem.gram.diagonal.mean()) or 1.0
    best: Outcome[DualSolution] | None = None
    path: list[float] = []
    iterations = 0
    for step in range(_MOST_VALUES_OF_C):
        outcome = soft.solve(_FIRST_C / scale * _C_GROWTH**step, _SOFT_SHARE * tol)
        assert isinstance(outcome.solution, DualSolution)
        iterations += outcome.iterations
        if outcome.solution.dual * scale > _STEEPEST:
            break
        point = hardened(problem, outcome.solution)
        if point is None:
            continue
        path.append(point.primal)
        if best is None or point.gap < best.solution.gap:
            best = Outcome(
                solution=point, solver=outcome.solver, iterations=0, path=outcome.path
            )
        if best.solution.gap <= tol:
            break
    if best is None:
        raise DataError(
            "C=inf needs separable levels; no separating potential was found (its"
            " margin must be above a millionth of the rows' spread). Give a finite C or"
            " another kernel."
        )
    return replace(best, iterations=iterations, path=np.array(path))


def hardened(problem: ExtendedDual, point: DualSolution) -> DualSolution | None:
    """The point scaled to a smallest margin of 1; None if some row is on the wrong side
    of a threshold.
    """
    margins = problem.labels * (
        point.scores[:, None] + (point.offset or 0.0) - point.theta
    )
    smallest = float(margins[problem.weights > 0].min(initial=1.0))
    if smallest <= 0.0:
        return None
    scaled = {
        name: value / smallest
        for name, value in vars(point).items()
        if name in ("u", "beta", "scores", "theta", "offset", "w") and value is not None
    }
    norm = max(float(scaled["beta"] @ scaled["scores"]), 0.0)
    primal = 0.5 * (norm + float(scaled["theta"] @ scaled["theta"]) * problem.ridge)
    dual = max(float(np.abs(scaled["u"]).sum()) - primal, point.dual)
    return replace(point, **(scaled | {"primal": primal, "dual": dual}))
