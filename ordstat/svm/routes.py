"""Routes to the dual's optimum: cvxpy, the choice between all, the hard margin."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from .._typing import BoolArray, FloatArray
from ..exceptions import DataError
from .coordinate import CoordinateAscent
from .dual import DualRoute, DualSolution, ExtendedDual, best_thresholds, certify, snapped
from .gram import cvxpy, solve_with_clarabel
from .interior_point import InteriorPoint
from .solution import Outcome, Solver, better
from .squared_hinge import SquaredHingeCvxpy, SquaredHingeNewton

# Problems of no more rows are solved to this gap.
_SMALL = 200
_ROUNDING = 1e-12
# A gap that rounding may leave, of a problem that is not out of reach.
_NEAR = 1e-4


class CvxpyDual:
    """The dual through cvxpy, for any C: the reference route, against which the others are tested.

    The kernel enters as an N x N quadratic form of beta. The variables are tau = alpha / c with c = min(C, 1), so that
    small boxes do not vanish beside the solver's tolerances: minimise (c/2) (beta' G beta + gamma^2 |s|^2) - sum tau
    with 0 <= tau <= (C/c) W. Both c and C/c are parameters, and a second C does not compile the problem again. Free
    thresholds ask for s = 0 (less the multipliers of an order) in the place of gamma^2 |s|^2.

    Parameters
    ----------
    problem : ExtendedDual
    rng : numpy.random.Generator
        Not used; every solver is made alike.
    """

    name = "cvxpy"

    def __init__(self, problem: ExtendedDual, rng: np.random.Generator) -> None:
        cp = cvxpy()
        n_rows, n_thresholds = problem.labels.shape
        self.problem = problem
        self.unit, self.ratio = cp.Parameter(nonneg=True), cp.Parameter(nonneg=True)
        self.tau = cp.Variable((n_rows, n_thresholds), nonneg=True)
        beta = cp.Variable(n_rows)
        signed = cp.multiply(problem.labels, self.tau)
        # Minus theta / (c gamma^2): the column sums of u, less the multipliers of an order that is asked for.
        self.push = cp.sum(signed, axis=0)
        if problem.ordered and n_thresholds > 1:
            self.push -= np.diff(np.eye(n_thresholds), axis=0).T @ cp.Variable(n_thresholds - 1, nonneg=True)
        half, constraints = problem.gram.half_square(beta)
        constraints += [self.tau <= self.ratio * problem.weights, beta == cp.sum(signed, axis=1), cp.sum(beta) == 0]
        if problem.free:
            constraints[-1] = self.push == 0
        else:
            half += 0.5 * problem.gamma**2 * cp.sum_squares(self.push)
        self.model = cp.Problem(cp.Minimize(self.unit * half - cp.sum(self.tau)), constraints)

    def solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        """Solve to Clarabel's tolerance; the relative duality gap is that of the certified outcome."""
        c = min(C, 1.0)
        self.unit.value, self.ratio.value = c, C / c
        iterations = solve_with_clarabel(self.model, tol)
        theta = None if self.problem.free else -c * self.problem.gamma**2 * self.push.value
        u = c * self.problem.labels * self.tau.value
        solution = certify(self.problem, C, u, theta)
        sparse = snapped(self.problem, C, solution)
        solution = sparse if sparse.gap <= max(tol, solution.gap) else solution
        return Outcome(solution=solution, solver=self.name, iterations=iterations, path=np.array([solution.primal]))


class Automatic:
    """Coordinate ascent for about as long as an interior point would take, then the interior point.

    Coordinate ascent wins wherever it converges; it crawls where C times the kernel is badly conditioned, and then
    it does so for every larger C too. Small problems go to the interior point first, and to rounding: that costs
    milliseconds, and the answer depends neither on the seed nor on the order of the rows.

    Parameters
    ----------
    problem : ExtendedDual
    rng : numpy.random.Generator
    small : int
        Problems of no more rows go to the interior point first; 0 where many problems are solved, none of them at
        any price.
    """

    def __init__(self, problem: ExtendedDual, rng: np.random.Generator, small: int = _SMALL) -> None:
        self.problem, self.rng, self.small = problem, rng, small
        self.first = CoordinateAscent(problem, rng, max_epochs=problem.gram.patience)
        self.second = InteriorPoint(problem, rng)
        self.hard = np.inf

    def solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        """The outcome of the first route that reaches `tol`, else the better of both."""
        if len(self.first.u) <= self.small:
            # An interior point may go round in circles.
            outcome = self.second.solve(C, min(tol, _ROUNDING))
            if outcome.solution.gap > max(tol, _NEAR):
                return better(outcome, self.first.solve(C, tol))
            return self._at_length(C, tol, outcome)
        if self.hard <= C:
            return self.second.solve(C, tol)
        outcome = self.first.solve(C, tol)
        if outcome.solution.gap <= tol:
            return outcome
        self.hard = C
        outcome = better(self.second.solve(C, tol), outcome)
        return self._at_length(C, tol, outcome) if self.small and outcome.solution.gap <= _NEAR else outcome

    def _at_length(self, C: float, tol: float, outcome: Outcome[DualSolution]) -> Outcome[DualSolution]:
        """The outcome, or that of seconds of coordinate ascent where an interior point ended in rounding."""
        if outcome.solution.gap <= tol:
            return outcome
        return better(outcome, CoordinateAscent(self.problem, self.rng).solve(C, tol))


def live_columns(problem: ExtendedDual) -> BoolArray:
    """(Q,) which thresholds have dual variables that can leave 0.

    A free threshold needs labels of both signs to be finite. In an order, a threshold with positive labels alone is
    held from below by any threshold under it that has negative ones. Where that fails the dual variables of the whole
    column vanish, and no interior point exists until the column is gone.
    """
    held = problem.weights > 0
    above: BoolArray = np.asarray((held & (problem.labels > 0)).any(axis=0))
    below: BoolArray = np.asarray((held & (problem.labels < 0)).any(axis=0))
    if not problem.free:
        return np.ones_like(above)
    if not problem.ordered:
        return above & below
    return np.logical_or.accumulate(below) & np.logical_or.accumulate(above[::-1])[::-1]


class LiveColumns:
    """A route that solves for the thresholds that can be held alone, and puts the others back into its answer.

    Parameters
    ----------
    route : DualRoute
    problem : ExtendedDual
    rng : numpy.random.Generator
    """

    def __init__(self, route: DualRoute, problem: ExtendedDual, rng: np.random.Generator) -> None:
        self.problem = problem
        self.live = live_columns(problem)
        labels, weights = (np.ascontiguousarray(cells[:, self.live]) for cells in (problem.labels, problem.weights))
        part = replace(problem, labels=labels, weights=weights)
        self.solver: Solver[DualSolution] | None = route(part, rng) if self.live.any() else None

    def solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        """The outcome for the live thresholds, with the others where they cost nothing."""
        u = np.zeros_like(self.problem.labels)
        if self.solver is None:
            solution = certify(self.problem, C, u)
            return Outcome(solution=solution, solver="none", iterations=0, path=np.array([solution.primal]))
        outcome = self.solver.solve(C, tol)
        u[:, self.live] = outcome.solution.u
        return replace(outcome, solution=replace(outcome.solution, u=u, theta=self._theta(outcome.solution)))

    def _theta(self, solution: DualSolution) -> FloatArray:
        """(Q,) the thresholds found, and the others where they cost nothing, between their neighbours."""
        problem = self.problem
        free = best_thresholds(problem.labels, problem.weights, solution.scores, ordered=problem.ordered)
        low, high = np.full(free.size, -np.inf), np.full(free.size, np.inf)
        low[self.live] = high[self.live] = solution.theta
        return np.clip(free, np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1])


def _made(route: DualRoute, problem: ExtendedDual, rng: np.random.Generator) -> Solver[DualSolution]:
    """A solver for all thresholds, or for those that can be held."""
    return route(problem, rng) if live_columns(problem).all() else LiveColumns(route, problem, rng)


_SQUARED: dict[str, DualRoute] = {"auto": SquaredHingeNewton, SquaredHingeCvxpy.name: SquaredHingeCvxpy}
_ROUTES: dict[str, DualRoute] = {
    "auto": Automatic,
    CoordinateAscent.name: CoordinateAscent,
    InteriorPoint.name: InteriorPoint,
    CvxpyDual.name: CvxpyDual,
}

#: The route where many small problems are solved roughly, to compare values of C.
ROUGH: DualRoute = partial(_made, partial(Automatic, small=0))

#: Routes by the name a user gives.
SOLVERS: dict[str, DualRoute] = {name: partial(_made, route) for name, route in _ROUTES.items()}

#: The same for each loss.
LOSSES: dict[str, dict[str, DualRoute]] = {
    "hinge": SOLVERS,
    "squared_hinge": {name: partial(_made, route) for name, route in _SQUARED.items()},
}


# First C, in units of one over the mean of the kernel's diagonal, its growth, and the steps tried at most.
_FIRST, _GROWTH, _STEPS = 16.0, 32.0, 12
# A soft gap this much smaller leaves room for the margin that is scaled away.
_SHARE = 0.1
# (|v| r)^2 beyond which levels count as not separable: a margin below a millionth of the rows' spread.
_STEEPEST = 1e12


def hard_margin(route: DualRoute, problem: ExtendedDual, rng: np.random.Generator, tol: float) -> Outcome[DualSolution]:
    """One problem without slack by any route, to the relative duality gap `tol` of the hard margin.

    Raises
    ------
    DataError
        No thresholds separate the levels, or none with a margin that could be computed.
    """
    soft, scale = route(problem, rng), float(problem.gram.diagonal.mean()) or 1.0
    best: Outcome[DualSolution] | None = None
    path: list[float] = []
    iterations = 0
    for step in range(_STEPS):
        outcome = soft.solve(_FIRST / scale * _GROWTH**step, _SHARE * tol)
        iterations += outcome.iterations
        if outcome.solution.dual * scale > _STEEPEST:
            break
        point = hardened(problem, outcome.solution)
        if point is None:
            continue
        path.append(point.primal)
        if best is None or point.gap < best.solution.gap:
            best = replace(outcome, solution=point)
        if best.solution.gap <= tol:
            break
    if best is None:
        raise DataError(
            "C=inf needs separable levels; no separating potential was found (its margin must be above a millionth "
            "of the rows' spread). Give a finite C, another kernel, or fewer constraints=."
        )
    return replace(best, iterations=iterations, path=np.array(path))


def hardened(problem: ExtendedDual, point: DualSolution) -> DualSolution | None:
    """The point scaled to a smallest margin of 1, None where some row is on the wrong side of a threshold."""
    margins = problem.labels * (point.scores[:, None] + (point.offset or 0.0) - point.theta)
    smallest = float(margins[problem.weights > 0].min(initial=1.0))
    if smallest <= 0.0:
        return None
    scaled = {name: getattr(point, name) / smallest for name in ("u", "beta", "scores", "theta")}
    offset = None if point.offset is None else point.offset / smallest
    w = None if point.w is None else point.w / smallest
    norm = max(float(scaled["beta"] @ scaled["scores"]), 0.0)
    primal = 0.5 * (norm + float(scaled["theta"] @ scaled["theta"]) * problem.ridge)
    dual = max(float(np.abs(scaled["u"]).sum()) - primal, point.dual)
    return replace(point, **scaled, offset=offset, w=w, primal=primal, dual=dual)
