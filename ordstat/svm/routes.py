"""Routes to the dual's optimum: cvxpy, the choice between all, the hard margin."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from .._typing import BoolArray
from ..exceptions import DataError
from .coordinate import CoordinateAscent
from .dual import ExtendedDual, best_thresholds, certify, snapped
from .gram import cvxpy, solve_with_clarabel
from .interior_point import InteriorPoint
from .solution import Outcome, Route, Solution, Solver, better
from .squared_hinge import SquaredHingeCvxpy, SquaredHingeNewton

# Problems of at most this many rows are solved to this gap.
_SMALL, _ROUNDING = 200, 1e-12
# A gap that rounding may leave in a problem that can be solved.
_NEAR = 1e-4


class CvxpyDual:
    """The dual through cvxpy, for any C: the reference route, against which the others are tested.

    The kernel enters as an N x N quadratic form of beta. The variables are tau = alpha / c with c = min(C, 1), so that
    small boxes do not vanish beside the solver's tolerances: minimise (c/2) (beta' G beta + gamma^2 |s|^2) - sum tau
    with 0 <= tau <= (C/c) W. Both c and C/c are parameters, and a second C does not compile the problem again. Free
    thresholds need s = 0 (less the multipliers of an order) instead of gamma^2 |s|^2.

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
        # Minus theta / (c gamma^2): the column sums of u, less the multipliers of a constrained order.
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

    def solve(self, C: float, tol: float) -> Outcome:
        """Solve to Clarabel's tolerance; the relative duality gap is that of the certified outcome."""
        c = min(C, 1.0)
        self.unit.value, self.ratio.value = c, C / c
        iterations = solve_with_clarabel(self.model, tol)
        theta = None if self.problem.free else -c * self.problem.gamma**2 * self.push.value
        solution = certify(self.problem, C, c * self.problem.labels * self.tau.value, theta)
        sparse = snapped(self.problem, C, solution)
        solution = sparse if sparse.gap <= max(tol, solution.gap) else solution
        return Outcome(solution=solution, solver=self.name, iterations=iterations, path=np.array([solution.primal]))


class Automatic:
    """Coordinate ascent for about as long as an interior point would take, then the interior point.

    Coordinate ascent wins wherever it converges; it crawls where C times the kernel is badly conditioned, and then
    it does so for every larger C too. Small problems go to the interior point first, and to rounding: that costs
    milliseconds, and the answer depends neither on the seed nor on the order of the rows. An interior point may end in
    rounding; a long ascent then goes on.

    Parameters
    ----------
    problem : ExtendedDual
    rng : numpy.random.Generator
    rough : bool
        Whether many problems are solved to compare values of C, none of them at any price.
    """

    def __init__(self, problem: ExtendedDual, rng: np.random.Generator, rough: bool = False) -> None:
        self.problem, self.rng, self.rough = problem, rng, rough
        self.small = not rough and len(problem.labels) <= _SMALL
        self.ascent = CoordinateAscent(problem, rng, max_epochs=problem.gram.patience)
        self.interior = InteriorPoint(problem, rng)
        self.hard = np.inf

    def solve(self, C: float, tol: float) -> Outcome:
        """The outcome of the first route that reaches `tol`, else the best of all."""
        if self.small:
            outcome = self.interior.solve(C, min(tol, _ROUNDING))
        elif self.hard <= C:
            outcome = self.interior.solve(C, tol)
        else:
            outcome = self.ascent.solve(C, tol)
            if outcome.solution.gap > tol:
                self.hard = C
                outcome = better(self.interior.solve(C, tol), outcome)
        if outcome.solution.gap <= tol or self.rough:
            return outcome
        last = CoordinateAscent(self.problem, self.rng) if outcome.solution.gap <= _NEAR else self.ascent
        return better(outcome, last.solve(C, tol))


def live_columns(problem: ExtendedDual) -> BoolArray:
    """(Q,) which thresholds have dual variables that can leave 0.

    A free threshold needs labels of both signs to be finite. In an order, a threshold with positive labels alone is
    held from below by any threshold under it that has negative ones. Where that fails the dual variables of the whole
    column vanish, and no interior point exists until the column is gone.
    """
    above: BoolArray = np.asarray(((problem.weights > 0) & (problem.labels > 0)).any(axis=0))
    below: BoolArray = np.asarray(((problem.weights > 0) & (problem.labels < 0)).any(axis=0))
    if not problem.free:
        return np.ones_like(above)
    if not problem.ordered:
        return above & below
    return np.logical_or.accumulate(below) & np.logical_or.accumulate(above[::-1])[::-1]


class LiveColumns:
    """A route that solves for the thresholds that are held on both sides, and puts the others back into its answer."""

    def __init__(self, route: Route, problem: ExtendedDual, rng: np.random.Generator) -> None:
        self.problem, self.live = problem, live_columns(problem)
        labels, weights = (np.ascontiguousarray(cells[:, self.live]) for cells in (problem.labels, problem.weights))
        self.solver = route(replace(problem, labels=labels, weights=weights), rng) if self.live.any() else None

    def solve(self, C: float, tol: float) -> Outcome:
        """The outcome for the live thresholds, with the others where they cost nothing, between their neighbours."""
        problem, u = self.problem, np.zeros_like(self.problem.labels)
        if self.solver is None:
            solution = certify(problem, C, u)
            return Outcome(solution=solution, solver="none", iterations=0, path=np.array([solution.primal]))
        outcome = self.solver.solve(C, tol)
        u[:, self.live] = outcome.solution.u
        free = best_thresholds(problem.labels, problem.weights, outcome.solution.scores, ordered=problem.ordered)
        low, high = np.full(free.size, -np.inf), np.full(free.size, np.inf)
        low[self.live] = high[self.live] = outcome.solution.theta
        theta = np.clip(free, np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1])
        return replace(outcome, solution=replace(outcome.solution, u=u, theta=theta))


def _made(route: Route, problem: ExtendedDual, rng: np.random.Generator) -> Solver:
    """A solver for all thresholds, or for those that are held on both sides."""
    return route(problem, rng) if live_columns(problem).all() else LiveColumns(route, problem, rng)


#: The route where many small problems are solved roughly, to compare values of C.
ROUGH: Route = partial(_made, partial(Automatic, rough=True))

#: Routes by the name a user gives.
SOLVERS: dict[str, Route] = {
    "auto": partial(_made, Automatic),
    "coordinate": partial(_made, CoordinateAscent),
    "interior-point": partial(_made, InteriorPoint),
    "cvxpy": partial(_made, CvxpyDual),
}

#: The same for each loss.
LOSSES: dict[str, dict[str, Route]] = {
    "hinge": SOLVERS,
    "squared_hinge": {"auto": partial(_made, SquaredHingeNewton), "cvxpy": partial(_made, SquaredHingeCvxpy)},
}


# First C, in units of one over the mean of the kernel's diagonal, its growth, and the largest number of steps.
_FIRST, _GROWTH, _STEPS = 16.0, 32.0, 12
# A soft gap this much smaller leaves room for the margin that is scaled away.
_SHARE = 0.1
# (|v| r)^2 beyond which levels count as not separable: a margin below a millionth of the rows' spread.
_STEEPEST = 1e12


def hard_margin(route: Route, problem: ExtendedDual, rng: np.random.Generator, tol: float) -> Outcome:
    """One problem without slack by any route, to the relative duality gap `tol` of the hard margin.

    Raises
    ------
    DataError
        No thresholds separate the levels, or none with a margin that could be computed.
    """
    soft, scale = route(problem, rng), float(problem.gram.diagonal.mean()) or 1.0
    best: Outcome | None = None
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


def hardened(problem: ExtendedDual, point: Solution) -> Solution | None:
    """The point scaled to a smallest margin of 1, None where some row is on the wrong side of a threshold."""
    margins = problem.labels * (point.scores[:, None] + (point.offset or 0.0) - point.theta)
    smallest = float(margins[problem.weights > 0].min(initial=1.0))
    if smallest <= 0.0:
        return None
    parts = {name: getattr(point, name) for name in ("u", "beta", "scores", "theta", "offset", "w")}
    scaled = replace(point, **{name: part / smallest for name, part in parts.items() if part is not None})
    norm = max(float(scaled.beta @ scaled.scores), 0.0)
    primal = 0.5 * (norm + float(scaled.theta @ scaled.theta) * problem.ridge)
    return replace(scaled, primal=primal, dual=max(scaled.sizes.sum() - primal, point.dual))
