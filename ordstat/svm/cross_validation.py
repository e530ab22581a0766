"""The choice of C, and of a kernel's gamma, by cross-validation: for each gamma and fold a path of growing C."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..fit import Selection, count_above
from ..judging.costs import cleared, tolerance
from ..threads import in_threads
from .gram import DenseGram, Gram
from .solution import Candidate, Route, Solution

T = TypeVar("T")

#: C="cv", kappa of the papers [Lin 2008, sec. 2.4.2]: 2^-17, 2^-15, ..., 2^3.
GRID: FloatArray = np.exp2(np.arange(-17.0, 4.0, 2.0))

# Mean costs closer than this share are ties.
_TIE = 1e-12


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


#: From a candidate, the rows of a fold (N,) and a generator to what that fold says; its last argument is called with
#: the name of every step.
Judge = Callable[[T, BoolArray, np.random.Generator, Callable[[str], None]], Held]


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


def select(
    candidates: Iterable[tuple[float | None, T]],
    fold: IntArray,
    judge: Judge[T],
    plan: Plan,
    rng: np.random.Generator,
    tick: Callable[[str], None],
) -> Selection:
    """Mean held-out cost at every point of the grid of gamma and C, and the point with the smallest.

    Parameters
    ----------
    candidates : iterable of (gamma, candidate)
        gamma None where there is no choice of it. Asked for one after another.
    fold : (N,) fold of each row, 0..F-1, or -1 for a row that takes no part
    judge : Judge
    plan : Plan
    rng : numpy.random.Generator
        Each fold has a generator of its own, so that the result does not depend on `plan.n_jobs`.
    tick : callable(message)
        Called after each step of the judge.
    """
    n_folds = int(fold.max()) + 1
    seeds = rng.integers(2**63, size=n_folds)
    gammas, found = [], []
    for gamma, candidate in candidates:
        tasks = [(held, np.random.default_rng(seed)) for held, seed in enumerate(seeds)]
        found.append(in_threads(_trial(gamma, candidate, fold, judge, tick), tasks, plan.n_jobs))
        gammas.append(gamma)
    return _best(gammas, found, plan)


def _trial(
    gamma: float | None, candidate: T, fold: IntArray, judge: Judge[T], tick: Callable[[str], None]
) -> Callable[[int, np.random.Generator], Held]:
    named, n_folds = "" if gamma is None else f"gamma = {gamma:.3g}, ", int(fold.max()) + 1

    def trial(held: int, own: np.random.Generator) -> Held:
        return judge(candidate, fold == held, own, lambda step: tick(f"{named}fold {held + 1} of {n_folds}, {step}"))

    return trial


def _best(gammas: Sequence[float | None], found: Sequence[Sequence[Held]], plan: Plan) -> Selection:
    share = np.array([held.size for held in found[0]])
    n_folds = share.size
    share /= share.sum()
    means = np.concatenate([np.stack([held.costs for held in folds], axis=1) for folds in found])
    cost = means @ share
    error = np.sqrt(np.square(means - cost[:, None]) @ share / (n_folds - 1))
    C = np.tile(np.asarray(plan.C, dtype=np.float64), len(gammas))
    ties = np.flatnonzero(cost <= cost.min() * (1.0 + _TIE))
    return Selection(
        C=C,
        gamma=None if gammas[0] is None else np.repeat(np.array(gammas, dtype=np.float64), len(plan.C)),
        cost=cost,
        error=error,
        # A stable order: among equal C the smaller gamma comes first.
        chosen=int(ties[np.argsort(C[ties], kind="stable")[0]]),
        folds=n_folds,
        gap=max(held.gap for folds in found for held in folds),
    )


def path_judge(route: Route, plan: Plan) -> Judge[Candidate]:
    """Judges a problem by a path from small to large C, every solve starting where the last one ended."""

    def judge(candidate: Candidate, test: BoolArray, rng: np.random.Generator, told: Callable[[str], None]) -> Held:
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
            told(f"C = {C:.3g}")
        return Held(costs=means, size=float(weights.sum()), gap=gap)

    return judge


def mean_score(means: FloatArray, solution: Solution) -> float:
    """What the scores of the centred kernel lack."""
    return float(means @ (solution.beta if solution.w is None else solution.w))


def _scores(gram: Gram, test: BoolArray, solution: Solution) -> FloatArray:
    """Scores of the rows where `test` (N,) is true, by a fit to the others, of the kernel as it is."""
    if isinstance(gram, DenseGram):
        return np.asarray(gram.matrix[np.ix_(test, ~test)] @ solution.beta)
    assert solution.w is not None
    return np.asarray(gram.X[test] @ solution.w)
