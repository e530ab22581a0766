"""The choice between the routes to RED-SVM's dual, and the list of them."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..solution import Outcome, Solver, better
from .coordinate import CoordinateAscent
from .cvx import CvxpyDual
from .dual import DualRoute, DualSolution, ExtendedDual
from .idle_thresholds import LiveColumns, live_columns
from .interior_point import InteriorPoint
from .squared_hinge import SquaredHingeCvxpy, SquaredHingeNewton

# Problems of no more rows are solved to this gap.
_SMALL = 200
_ROUNDING = 1e-12
# A gap that rounding may leave, of a problem that is not out of reach.
_NEAR = 1e-4


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
