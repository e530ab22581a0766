"""Free thresholds that no row holds from one side: left out of a solver's problem, and put back into its answer.

A free threshold needs labels of both signs to be finite. In an order, a threshold with positive labels alone is held
from below by any threshold under it that has negative ones. Where that fails the dual variables of the whole column
vanish, and no interior point exists until the column is gone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._typing import BoolArray, FloatArray
from ..solution import Outcome, Solver
from .dual import DualRoute, DualSolution, ExtendedDual, certify
from .quantiles import best_thresholds


def live_columns(problem: ExtendedDual) -> BoolArray:
    """(Q,) which thresholds have dual variables that can leave 0."""
    held = problem.weights > 0
    above: BoolArray = np.asarray((held & (problem.labels > 0)).any(axis=0))
    below: BoolArray = np.asarray((held & (problem.labels < 0)).any(axis=0))
    if not problem.free:
        return np.ones_like(above)
    if not problem.ordered:
        return above & below
    return np.logical_or.accumulate(below) & np.logical_or.accumulate(above[::-1])[::-1]


class LiveColumns:
    """A route that solves for the thresholds that can be held alone.

    Parameters
    ----------
    route : DualRoute
    problem : ExtendedDual
    rng : numpy.random.Generator
    """

    def __init__(self, route: DualRoute, problem: ExtendedDual, rng: np.random.Generator) -> None:
        self.problem = problem
        self.live = live_columns(problem)
        part = replace(
            problem,
            labels=np.ascontiguousarray(problem.labels[:, self.live]),
            weights=np.ascontiguousarray(problem.weights[:, self.live]),
        )
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
        theta: FloatArray = np.clip(free, np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1])
        return theta
