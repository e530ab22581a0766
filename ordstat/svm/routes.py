"""Routes to the optimum: the choice between solvers of the hinge, cvxpy as their
reference, the hard margin.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ..exceptions import DataError
from .coordinate import CoordinateAscent
from .dual import (
    DualSolution,
    ExtendedDual,
    Outcome,
    Route,
    better,
    certify,
    snapped,
)
from .gram import LinearGram, cvxpy, solve_with_clarabel
from .interior_point import InteriorPoint
from .squared_hinge import SquaredHingeNewton


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
