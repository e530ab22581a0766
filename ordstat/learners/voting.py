"""Votes of many binary classifiers, and the C whose votes cost least on rows not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .._typing import BoolArray, FloatArray
from ..model.binary import Binary
from ..model.rules import most_votes
from ..model.sample import Rows
from ..model.ties import cleared
from ..solvers.cross_validation import Held, Judge, Plan
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
        """Mean cost of the rows where `rows` (N,) is true, from the scores (n, P) of their classifiers."""
        codes = most_votes(self.tally(cleared(scores), self.costs.shape[1]))
        paid, weights = self.costs[rows][np.arange(len(codes)), codes], self.weights[rows]
        return float(weights @ paid / weights.sum())


def votes_judge(problems: Sequence[Binary], priced: Priced, route: DualRoute, plan: Plan) -> Judge[SharedGram]:
    """Judges a kernel by the votes of machines that saw the other folds, a path of growing C for each problem."""

    def judge(shared: SharedGram, test: BoolArray, rng: np.random.Generator, told: Callable[[str], None]) -> Held:
        across, gap = shared.gram[test], 0.0
        scores = np.empty((len(plan.C), across.shape[0], len(problems)))
        for p, problem in enumerate(problems):
            machines = shared.path(problem.among(~test), plan.C, plan.tol, route, rng)
            scores[:, :, p] = np.stack([m.coef for m in machines]) @ across.T
            scores[:, :, p] += np.array([m.offset for m in machines])[:, None]
            gap = max(gap, *(m.gap for m in machines))
            told(f"problem {p + 1} of {len(problems)}")
        costs = np.array([priced.mean_cost(at_C, test) for at_C in scores])
        return Held(costs=costs, size=float(priced.weights[test].sum()), gap=gap)

    return judge
