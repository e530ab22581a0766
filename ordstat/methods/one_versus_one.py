"""One-versus-one: plain, cost-sensitive, and weighted all-pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from ..checks import one_of
from ..model.binary import Binary
from ..model.fit import CostBound
from ..model.reduction.decomposition import against_each_other, all_pairs_potential, pair_votes
from ..model.sample import Sample
from .shared.voting import VotingMethod

#: Costs (N, K) to the potential (N, K) whose differences are the weights of a pair of levels.
WEIGHTINGS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "difference": lambda costs: costs,
    "all-pairs": all_pairs_potential,
}
_SOURCES = {
    "difference": "Lin 2008, theorem 2.7",
    "all-pairs": "Beygelzimer et al. 2005, by the proof of Lin 2008, theorem 2.7",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class OneVersusOne(VotingMethod):
    """K (K - 1) / 2 binary classifiers "j rather than i?", the level that wins most pairs [Lin 2008, alg. 2.7-2.9].

    For the pair i, j the right answer for row n is the cheaper of the two, and its weight, times the case weight, is
    |c_n[i] - c_n[j]| (eq. 2.6) or, weighted all-pairs, the integral between the two costs of 1 / |{k : c_n[k] <= t}| dt
    (eq. 2.7). Under the classification cost both are 1 for the rows of either level and 0 for the others, which is
    plain one-versus-one: method="ovo"; under any other cost, or costs by row, method="csovo" and method="wap". The
    order of the levels plays no part but for ties, which go to the lower level.

    The mean training cost above the least possible is at most twice the total weight of wrong answers by all pairs
    (theorem 2.7); the summary shows both sides.

    Parameters
    ----------
    weighting : {"difference", "all-pairs"}
    base, C, kernel, cost, scaling, solver, tol, folds, n_jobs
        See `ordstat.methods.shared.voting.VotingMethod`.

    Examples
    --------
    >>> OneVersusOne(C="cv", cost=[[0, 1, 5], [1, 0, 1], [9, 1, 0]])
    OneVersusOne(C='cv', cost=((0.0, 1.0, 5.0), (1.0, 0.0, 1.0), (9.0, 1.0, 0.0)))
    """

    weighting: str = "difference"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("weighting", self.weighting, WEIGHTINGS, of=self)

    def size(self, n: int, n_levels: int) -> tuple[int, float]:
        plain = self.cost == "classification"
        return n_levels * (n_levels - 1) // 2, 2.0 * n / n_levels if plain else float(n)

    def problems(self, sample: Sample, costs: FloatArray, rng: np.random.Generator) -> tuple[Binary, ...]:
        return against_each_other(WEIGHTINGS[self.weighting](costs), sample.case_weights)

    @staticmethod
    def tally(scores: FloatArray, n_levels: int) -> FloatArray:
        return pair_votes(scores, n_levels)

    def bound(self, above: float, problems: Sequence[Binary], scores: FloatArray, total: float) -> CostBound:
        wrong = sum(problem.loss(own) for problem, own in zip(problems, scores.T, strict=True))
        return CostBound(value=above, limit=2.0 * wrong / total, source=_SOURCES[self.weighting])
