"""The choice of C and of a kernel's gamma by cross-validation, with a path of growing C
for each gamma and fold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..fit import Selection, count_above
from ..judging.costs import cleared, tolerance
from ..threads import in_threads
from .dual import Route
from .gram import LinearGram

T = TypeVar("T")

#: Values for C="cv", kappa in the papers [Lin 2008, sec. 2.4.2]: 2^-17, 2^-15, ...,
#: 2^3.
GRID: FloatArray = np.exp2(np.arange(-17.0, 4.0, 2.0))

# Mean costs closer than this share are ties.
_COST_TIE = 1e-12


@dataclass(frozen=True, kw_only=True)
class SelectionPlan:
    """Settings of the cross-validation.

    Attributes
    ----------
    C : sequence of float
        Values to try, growing.
    tol : float
        Relative duality gap of each solve.
    n_jobs : int
        Folds fitted at the same time, in threads that share the kernel matrix; -1 for
        one fold per processor.
    """

    C: Sequence[float]
    tol: float
    n_jobs: int = 1


#: Predicts the rows of a fold, a mask (N,), from fits of a candidate to the other rows;
#: calls its last argument with the name of each step. Returns codes (n,) at every C,
#: and the largest relative duality gap of the fits.
Judge = Callable[
    [T, BoolArray, SelectionPlan, np.random.Generator, Callable[[str], None]],
    tuple[list[IntArray], float],
]


def select(
    candidates: Iterable[tuple[float | None, T]],
    fold: IntArray,
    judge: Judge[T],
    plan: SelectionPlan,
    costs: FloatArray,
    case_weights: FloatArray,
    rng: np.random.Generator,
    tick: Callable[[str], None],
) -> Selection:
    """Mean held-out cost at every point of the grid of gamma and C, and the point with
    the smallest cost.

    Parameters
    ----------
    candidates : iterable of (gamma, candidate)
        gamma is None if it is fixed. The candidates are used one at a time.
    fold : (N,) fold of each row, 0..F-1, or -1 for rows that are left out
    judge : Judge
    plan : SelectionPlan
    costs : (N, K) cost of every prediction
    case_weights : (N,)
    rng : numpy.random.Generator
        Seeds one generator for each fold, so that the result does not depend on
        `plan.n_jobs`.
    tick : callable(message)
        Called after each step of the judge.
    """
    seeds = rng.integers(2**63, size=int(fold.max()) + 1)
    totals = np.array([case_weights[fold == k].sum() for k in range(seeds.size)])

    def trial(candidate: T, name: str, k: int, seed: int) -> tuple[FloatArray, float]:
        """Mean cost in a fold at every C, and the largest duality gap."""
        test = fold == k
        name = f"{name}fold {k + 1} of {seeds.size}, "
        draws = np.random.default_rng(seed)
        codes, gap = judge(candidate, test, plan, draws, lambda step: tick(name + step))
        rows = np.flatnonzero(test)
        weights = case_weights[rows]
        paid = np.array([weights @ costs[rows, chosen] for chosen in codes])
        return paid / totals[k], gap

    gammas = []
    means = []
    gaps = []
    for gamma, candidate in candidates:
        name = "" if gamma is None else f"gamma = {gamma:.3g}, "
        trials = [(candidate, name, k, seed) for k, seed in enumerate(seeds)]
        results = in_threads(trial, trials, plan.n_jobs)
        means.append(np.stack([paid for paid, _ in results], axis=1))
        gaps += [gap for _, gap in results]
        gammas.append(gamma)
    by_fold = np.concatenate(means)  # (points of the grid, folds)
    share = totals / totals.sum()
    cost = by_fold @ share
    C = np.tile(np.asarray(plan.C, dtype=np.float64), len(gammas))
    ties = np.flatnonzero(cost <= cost.min() * (1.0 + _COST_TIE))
    gammas_of_points = None
    if gammas[0] is not None:
        gammas_of_points = np.repeat(np.array(gammas, dtype=np.float64), len(plan.C))
    spread = np.square(by_fold - cost[:, None]) @ share
    return Selection(
        C=C,
        gamma=gammas_of_points,
        cost=cost,
        error=np.sqrt(spread / (share.size - 1)),
        # Stable sort: among equal C the smaller gamma comes first.
        chosen=int(ties[np.argsort(C[ties], kind="stable")[0]]),
        folds=share.size,
        gap=max(gaps),
    )


def path_judge(
    route: Route,
    problem: Any,
    test: BoolArray,
    plan: SelectionPlan,
    rng: np.random.Generator,
    note: Callable[[str], None],
) -> tuple[list[IntArray], float]:
    """The `Judge` of a problem: solves it for growing C, starting each time where the
    last solve ended.
    """
    training, gram_means = problem.centred(~test)
    solver = route(training, rng)
    gram = problem.gram
    if isinstance(gram, LinearGram):
        across = gram.X[test]
    else:
        across = gram.matrix[np.ix_(test, ~test)]
    codes = []
    gap = 0.0
    for C in plan.C:
        solution = solver.solve(float(C), plan.tol).solution
        coef = solution.beta if solution.w is None else solution.w
        # Scores of the centred kernel differ from those of the kernel itself by a
        # constant.
        scores = across @ coef + (solution.offset or 0.0) - float(gram_means @ coef)
        gaps = cleared(scores[:, None] - solution.theta, tolerance(scores))
        codes.append(count_above(gaps))
        gap = max(gap, solution.gap)
        note(f"C = {C:.3g}")
    return codes, gap
