"""Votes of many binary classifiers, and the C whose votes cost least on rows not seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..model.binary import Binary
from ..model.fit import Selection
from ..model.rules import most_votes
from ..model.sample import Rows
from ..model.ties import cleared
from ..solvers.cross_validation import Held, Plan, Trial, chosen
from ..solvers.svm.dual import DualRoute
from .base import Scorer
from .svm import SharedGram

#: From scores of the binary classifiers (N, P) to votes (N, K), given K.
Tally = Callable[[FloatArray, int], FloatArray]


@dataclass(frozen=True, eq=False, kw_only=True)
class Tallied:
    """Votes for K levels by P binary classifiers."""

    scorer: Scorer
    tally: Tally
    n_levels: int

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K) votes."""
        return self.tally(cleared(self.scorer(rows)), self.n_levels)


@dataclass(frozen=True, eq=False, kw_only=True)
class Priced:
    """What votes cost.

    Attributes
    ----------
    costs : (N, K) price of every prediction
    weights : (N,) case weights
    tally : Tally
    """

    costs: FloatArray
    weights: FloatArray
    tally: Tally

    def mean_cost(self, scores: FloatArray, rows: BoolArray) -> float:
        """Of the rows where `rows` (N,) is true, from the scores (n, P) of their classifiers."""
        codes = most_votes(self.tally(cleared(scores), self.costs.shape[1]))
        paid, weights = self.costs[rows][np.arange(len(codes)), codes], self.weights[rows]
        return float(weights @ paid / weights.sum())


def select(
    grams: Iterable[tuple[float | None, SharedGram]],
    problems: Sequence[Binary],
    priced: Priced,
    fold: IntArray,
    plan: Plan,
    route: DualRoute,
    rng: np.random.Generator,
    tick: Callable[[str], None],
) -> Selection:
    """Choose C, and the kernel's gamma where there is more than one, by the mean held-out cost of the votes.

    Parameters
    ----------
    grams : iterable of (gamma, SharedGram)
    problems : sequence of Binary
    priced : Priced
    fold : (N,) fold of each row, 0..F-1, or -1 for a row that takes no part
    plan : Plan
    route : DualRoute
    rng : numpy.random.Generator
    tick : callable(message)
        Called after the path of each problem.
    """
    n_folds = int(fold.max()) + 1

    def trial_of(gamma: float | None, shared: SharedGram) -> Trial:
        def trial(held: int, own: np.random.Generator) -> Held:
            def told(p: int) -> None:
                width = "" if gamma is None else f"gamma = {gamma:.3g}, "
                tick(f"{width}fold {held + 1} of {n_folds}, problem {p + 1} of {len(problems)}")

            return _held(shared, problems, priced, fold == held, plan, route, own, told)

        return trial

    return chosen(((gamma, trial_of(gamma, shared)) for gamma, shared in grams), plan, n_folds, rng)


def _held(
    shared: SharedGram,
    problems: Sequence[Binary],
    priced: Priced,
    test: BoolArray,
    plan: Plan,
    route: DualRoute,
    rng: np.random.Generator,
    told: Callable[[int], None],
) -> Held:
    """Costs of the rows where `test` (N,) is true, by votes of machines that saw the others."""
    across, gap = shared.gram[test], 0.0
    scores = np.empty((len(plan.C), across.shape[0], len(problems)))
    for p, problem in enumerate(problems):
        machines = shared.path(problem.among(~test), plan.C, plan.tol, route, rng)
        scores[:, :, p] = np.stack([m.coef for m in machines]) @ across.T
        scores[:, :, p] += np.array([m.offset for m in machines])[:, None]
        gap = max(gap, *(m.gap for m in machines))
        told(p)
    costs = np.array([priced.mean_cost(at_C, test) for at_C in scores])
    return Held(costs=costs, size=float(priced.weights[test].sum()), gap=gap)
