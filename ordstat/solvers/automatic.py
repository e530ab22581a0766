"""The choice between the routes to RED-SVM's dual, and the list of them."""

from __future__ import annotations

from functools import partial

import numpy as np

from .coordinate import CoordinateAscent
from .cvx import CvxpyDual
from .extended_dual import DualRoute, DualSolver, ExtendedDual, Outcome
from .interior_point import InteriorPoint
from .live import LiveColumns, live_columns
from .squared_hinge import SquaredHingeCvxpy, SquaredHingeNewton

# Problems of no more rows are solved to this gap.
_SMALL = 200
_ROUNDING = 1e-12


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
        Problems of no more rows go to the interior point first.
    """

    def __init__(self, problem: ExtendedDual, rng: np.random.Generator, small: int = _SMALL) -> None:
        self.small = small
        self.first = CoordinateAscent(problem, rng, max_epochs=problem.gram.patience)
        self.second = InteriorPoint(problem, rng)
        self.hard = np.inf

    def solve(self, C: float, tol: float) -> Outcome:
        """The outcome of the first route that reaches `tol`, else the better of both."""
        if len(self.first.u) <= self.small:
            # An interior point may go round in circles.
            outcome = self.second.solve(C, min(tol, _ROUNDING))
            return outcome if outcome.solution.gap <= tol else _better(outcome, self.first.solve(C, tol))
        if self.hard <= C:
            return self.second.solve(C, tol)
        outcome = self.first.solve(C, tol)
        if outcome.solution.gap <= tol:
            return outcome
        self.hard = C
        return _better(self.second.solve(C, tol), outcome)


def _better(one: Outcome, other: Outcome) -> Outcome:
    return min(one, other, key=lambda found: found.solution.gap)


def _made(route: DualRoute, problem: ExtendedDual, rng: np.random.Generator) -> DualSolver:
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
