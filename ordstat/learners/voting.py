"""Votes of many binary classifiers, and the C whose votes cost least on rows not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..model.binary import Binary
from ..model.fit import Selection
from ..model.rules import most_votes
from ..model.sample import Rows
from ..solvers.extended_dual import DualRoute
from ..solvers.selection import GRID
from .base import Scorer
from .svm import SharedGram

# Mean costs closer than this share are ties, which go to the smaller C.
_TIE = 1e-12

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
        return self.tally(self.scorer(rows), self.n_levels)


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
        codes = most_votes(self.tally(scores, self.costs.shape[1]))
        paid, weights = self.costs[rows][np.arange(len(codes)), codes], self.weights[rows]
        return float(weights @ paid / weights.sum())


def select(
    shared: SharedGram,
    problems: Sequence[Binary],
    priced: Priced,
    fold: IntArray,
    tol: float,
    route: DualRoute,
    rng: np.random.Generator,
    tick: Callable[[str], None],
) -> Selection:
    """Mean held-out cost of the votes at every C of the grid, and the C with the smallest, ties to the smaller.

    Parameters
    ----------
    shared : SharedGram
    problems : sequence of Binary
    priced : Priced
    fold : (N,) fold of each row, 0..F-1, or -1 for a row that takes no part
    tol : float
        Relative duality gap of each solve.
    route : DualRoute
    rng : numpy.random.Generator
    tick : callable(message)
        Called after the path of each problem.
    """
    n_folds = int(fold.max()) + 1
    means, sizes, worst = np.zeros((n_folds, GRID.size)), np.zeros(n_folds), 0.0
    for held in range(n_folds):
        test = fold == held
        sizes[held] = priced.weights[test].sum()
        across = shared.gram[test]
        scores = np.empty((GRID.size, across.shape[0], len(problems)))
        for p, problem in enumerate(problems):
            machines = shared.path(problem.among(~test), GRID.tolist(), tol, route, rng)
            scores[:, :, p] = np.stack([m.coef for m in machines]) @ across.T
            scores[:, :, p] += np.array([m.offset for m in machines])[:, None]
            worst = max(worst, *(m.gap for m in machines))
            tick(f"fold {held + 1} of {n_folds}, problem {p + 1} of {len(problems)}")
        means[held] = [priced.mean_cost(at_C, test) for at_C in scores]
    share = sizes / sizes.sum()
    cost = share @ means
    error = np.sqrt(share @ np.square(means - cost) / (n_folds - 1))
    chosen = int(np.flatnonzero(cost <= cost.min() * (1.0 + _TIE))[0])
    return Selection(C=GRID.copy(), cost=cost, error=error, chosen=chosen, folds=n_folds, gap=worst)
