"""The choice of C by cross-validation along a growing path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..model.fit import Selection
from ..model.reduction import Extended
from ..model.rules import count_above
from .extended_dual import ExtendedDual
from .forms import Gram, MeanScore

#: kappa of the papers [Lin 2008, sec. 2.4.2]: 2^-17, 2^-15, ..., 2^3.
GRID: FloatArray = np.exp2(np.arange(-17.0, 4.0, 2.0))

# Mean costs closer than this share are ties, which go to the smaller C.
_TIE = 1e-12


class Solution(Protocol):
    """A solver's answer in terms of the rows.

    Attributes
    ----------
    beta : (N,) coefficients, summing to zero
    scores : (N,) of the centred kernel, without the offset
    offset : float, None where the thresholds have taken it up
    theta : (K-1,)
    primal, dual, gap : float
    largest : float, what a beta can be
    """

    @property
    def beta(self) -> FloatArray: ...
    @property
    def scores(self) -> FloatArray: ...
    @property
    def offset(self) -> float | None: ...
    @property
    def theta(self) -> FloatArray: ...
    @property
    def primal(self) -> float: ...
    @property
    def dual(self) -> float: ...
    @property
    def gap(self) -> float: ...
    @property
    def largest(self) -> float: ...


class Outcome(Protocol):
    """A solution, the route to it, iterations, and primal values on the way."""

    @property
    def solution(self) -> Solution: ...
    @property
    def solver(self) -> str: ...
    @property
    def iterations(self) -> int: ...
    @property
    def path(self) -> FloatArray: ...


class Solver(Protocol):
    """Solves one problem for growing values of C."""

    def solve(self, C: float, tol: float) -> Outcome: ...


#: Makes a solver from a problem and a generator.
Route = Callable[[Any, np.random.Generator], Solver]


class Candidate(Protocol):
    """A problem to select C for.

    Attributes
    ----------
    gram : Gram
        Not centred.
    costs : (N, K) price of every prediction
    case_weights : (N,)
    """

    @property
    def gram(self) -> Gram: ...
    @property
    def costs(self) -> FloatArray: ...
    @property
    def case_weights(self) -> FloatArray: ...

    def part(self, rows: BoolArray) -> tuple[Any, MeanScore]:
        """The centred problem of some rows, and the means taken from their kernel matrix."""

    def whole(self) -> tuple[Any, MeanScore]:
        """The centred problem of all rows; may centre `gram` itself, so ask for it last."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ThresholdedCandidate:
    """A thresholded SVM to select C for.

    Attributes
    ----------
    gram : Gram
        Not centred.
    extended : Extended
    costs : (N, K) price of every prediction
    case_weights : (N,)
    gamma : float
    ordered : bool
    """

    gram: Gram
    extended: Extended
    costs: FloatArray
    case_weights: FloatArray
    gamma: float
    ordered: bool

    def part(self, rows: BoolArray) -> tuple[ExtendedDual, MeanScore]:
        """The centred problem of some rows, and the means taken from their kernel matrix."""
        extended = Extended(self.extended.labels[rows], self.extended.weights[rows])
        return self._problem(self.gram.part(rows), extended)

    def whole(self) -> tuple[ExtendedDual, MeanScore]:
        """The centred problem of all rows; centres `gram` itself, so ask for it last."""
        return self._problem(self.gram, self.extended)

    def _problem(self, gram: Gram, extended: Extended) -> tuple[ExtendedDual, MeanScore]:
        gram, means = gram.centred()
        problem = ExtendedDual(
            gram=gram, labels=extended.labels, weights=extended.weights, gamma=self.gamma, ordered=self.ordered
        )
        return problem, means


def select(
    candidate: Candidate,
    fold: IntArray,
    route: Route,
    tol: float,
    rng: np.random.Generator,
    tick: Callable[[str], None],
) -> Selection:
    """Mean held-out cost of every C of the grid, and the C with the smallest.

    Each fold goes from small to large C, every solve starting where the last one ended.

    Parameters
    ----------
    candidate : Candidate
    fold : (N,) fold of each row, 0..F-1
    route : Route
    tol : float
        Relative duality gap of each solve.
    rng : numpy.random.Generator
    tick : callable(message)
        Called after each solve.
    """
    n_folds = int(fold.max()) + 1
    means, sizes, gaps = np.zeros((n_folds, GRID.size)), np.zeros(n_folds), np.zeros((n_folds, GRID.size))
    for held in range(n_folds):
        test = fold == held
        problem, gram_means = candidate.part(~test)
        solver = route(problem, rng)
        costs, weights = candidate.costs[test], candidate.case_weights[test]
        sizes[held] = weights.sum()
        for i, C in enumerate(GRID):
            solution = solver.solve(float(C), tol).solution
            scores = candidate.gram.across(test, ~test, solution.beta)
            scores += (solution.offset or 0.0) - gram_means @ solution.beta
            codes = count_above(scores[:, None] - solution.theta)
            means[held, i] = weights @ costs[np.arange(len(costs)), codes] / sizes[held]
            gaps[held, i] = solution.gap
            tick(f"fold {held + 1} of {n_folds}, C = {C:.3g}")
    share = sizes / sizes.sum()
    cost = share @ means
    error = np.sqrt(share @ np.square(means - cost) / (n_folds - 1))
    chosen = int(np.flatnonzero(cost <= cost.min() * (1.0 + _TIE))[0])
    return Selection(C=GRID.copy(), cost=cost, error=error, chosen=chosen, folds=n_folds, gap=float(gaps.max()))
