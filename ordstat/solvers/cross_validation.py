"""The choice of C, and of a kernel's gamma, by cross-validation: for each gamma and fold a path of growing C."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..model.fit import Selection
from ..model.reduction.extended import Extended
from ..model.rules import count_above
from ..model.ties import cleared, tolerance
from .gram import Gram, LinearGram, MeanRow, MeanScore
from .jobs import in_threads
from .svm.dual import ExtendedDual

#: C="cv", kappa of the papers [Lin 2008, sec. 2.4.2]: 2^-17, 2^-15, ..., 2^3.
GRID: FloatArray = np.exp2(np.arange(-17.0, 4.0, 2.0))

# Mean costs closer than this share are ties.
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
    def sizes(self) -> FloatArray: ...
    @property
    def w(self) -> FloatArray | None: ...


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


@dataclass(frozen=True, eq=False, kw_only=True)
class Held:
    """What one fold says.

    Attributes
    ----------
    costs : (G,) mean cost of its rows at every C
    size : float
        Sum of their case weights.
    gap : float
        Largest relative duality gap among the fits to the other folds.
    """

    costs: FloatArray
    size: float
    gap: float


#: The place of a fold and its generator to what it says.
Trial = Callable[[int, np.random.Generator], Held]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How the choice is made.

    Attributes
    ----------
    C : sequence of float
        Values to try, growing.
    tol : float
        Relative duality gap of each solve.
    n_jobs : int
        Folds at work at once, as threads that share the kernel matrix; -1 for one a processor.
    """

    C: Sequence[float]
    tol: float
    n_jobs: int = 1


def chosen(
    trials: Iterable[tuple[float | None, Trial]], plan: Plan, n_folds: int, rng: np.random.Generator
) -> Selection:
    """Mean held-out cost at every point of the grid, and the point with the smallest.

    Parameters
    ----------
    trials : iterable of (gamma, trial)
        gamma None where there is no choice of it. Asked for one after another.
    plan : Plan
    n_folds : int
    rng : numpy.random.Generator
        Each fold has a generator of its own, so that the result does not depend on `plan.n_jobs`.
    """
    seeds = rng.integers(2**63, size=n_folds)
    gammas, found = [], []
    for gamma, trial in trials:
        tasks = [(held, np.random.default_rng(seed)) for held, seed in enumerate(seeds)]
        found.append(in_threads(trial, tasks, plan.n_jobs))
        gammas.append(gamma)
    share = np.array([held.size for held in found[0]])
    share /= share.sum()
    means = np.concatenate([np.stack([held.costs for held in folds], axis=1) for folds in found])
    cost = means @ share
    error = np.sqrt(np.square(means - cost[:, None]) @ share / (n_folds - 1))
    C = np.tile(np.asarray(plan.C, dtype=np.float64), len(gammas))
    widths = None if gammas[0] is None else np.repeat(np.array(gammas, dtype=np.float64), len(plan.C))
    ties = np.flatnonzero(cost <= cost.min() * (1.0 + _TIE))
    return Selection(
        C=C,
        gamma=widths,
        cost=cost,
        error=error,
        # A stable order: among equal C the smaller gamma comes first.
        chosen=int(ties[np.argsort(C[ties], kind="stable")[0]]),
        folds=n_folds,
        gap=max(held.gap for folds in found for held in folds),
    )


def select(
    candidates: Iterable[tuple[float | None, Candidate]],
    fold: IntArray,
    route: Route,
    plan: Plan,
    rng: np.random.Generator,
    tick: Callable[[str], None],
) -> Selection:
    """Choose C, and gamma where there is more than one.

    Each fold goes from small to large C, every solve starting where the last one ended.

    Parameters
    ----------
    candidates : iterable of (gamma, Candidate)
    fold : (N,) fold of each row, 0..F-1
    route : Route
    plan : Plan
    rng : numpy.random.Generator
    tick : callable(message)
        Called after each solve.
    """
    n_folds = int(fold.max()) + 1

    def trial_of(gamma: float | None, candidate: Candidate) -> Trial:
        def trial(held: int, own: np.random.Generator) -> Held:
            def told(C: float) -> None:
                tick(f"{_named(gamma)}fold {held + 1} of {n_folds}, C = {C:.3g}")

            return _held(candidate, fold == held, route, plan, own, told)

        return trial

    return chosen(((gamma, trial_of(gamma, c)) for gamma, c in candidates), plan, n_folds, rng)


def _named(gamma: float | None) -> str:
    return "" if gamma is None else f"gamma = {gamma:.3g}, "


def mean_score(means: MeanScore, solution: Solution) -> float:
    """What the scores of the centred kernel lack."""
    return float(means @ solution.beta) if solution.w is None else cast(MeanRow, means).at(solution.w)


def _scores(gram: Gram, test: BoolArray, solution: Solution) -> FloatArray:
    """Scores of the rows where `test` (N,) is true, by a fit to the others, of the kernel as it is."""
    if solution.w is None:
        return gram.across(test, ~test, solution.beta)
    scores: FloatArray = cast(LinearGram, gram).X[test] @ solution.w
    return scores


def _held(
    candidate: Candidate,
    test: BoolArray,
    route: Route,
    plan: Plan,
    rng: np.random.Generator,
    told: Callable[[float], None],
) -> Held:
    """Costs of the rows where `test` (N,) is true, by fits to the others."""
    problem, gram_means = candidate.part(~test)
    solver = route(problem, rng)
    costs, weights = candidate.costs[test], candidate.case_weights[test]
    means, gap = np.empty(len(plan.C)), 0.0
    for i, C in enumerate(plan.C):
        solution = solver.solve(float(C), plan.tol).solution
        scores = _scores(candidate.gram, test, solution)
        scores += (solution.offset or 0.0) - mean_score(gram_means, solution)
        codes = count_above(cleared(scores[:, None] - solution.theta, tolerance(scores)))
        means[i] = weights @ costs[np.arange(len(costs)), codes] / weights.sum()
        gap = max(gap, solution.gap)
        told(C)
    return Held(costs=means, size=float(weights.sum()), gap=gap)
