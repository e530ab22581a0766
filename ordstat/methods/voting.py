"""Votes of binary classifiers: one-versus-all, one-versus-one, and costs turned into labels of a classifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import FloatArray
from ..checks import one_of
from ..model.binary import Binary
from ..model.fit import CostBound
from ..model.reduction.decomposition import (
    against_each_other,
    against_the_rest,
    all_pairs_potential,
    drawn_labels,
    label_weights,
    labelled_pairs,
    pair_votes,
)
from ..model.sample import Sample
from .base import option
from .shared.papers import LIN
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
class OneVersusAll(VotingMethod):
    """K binary classifiers "is it level k?", the largest score winning [Lin 2008, alg. 2.4-2.6].

    Row n has the weight c_max - c[k] in the problem of its own level and c[k] - c_min in the others (eq. 2.5), times
    its case weight. Under the classification cost all weights are 1, which is plain one-versus-all: method="ova"; any
    other cost, or costs by row, make it cost-sensitive: method="csova". The order of the levels plays no part.

    Parameters
    ----------
    base, C, kernel, cost, scaling, solver, tol, folds, n_jobs
        See `ordstat.methods.shared.voting.VotingMethod`.

    Examples
    --------
    >>> OneVersusAll(C=10, cost="squared")
    OneVersusAll(C=10.0, cost='squared')
    """

    papers: ClassVar[tuple[str, ...]] = (LIN,)

    def problems(self, sample: Sample, costs: FloatArray, rng: np.random.Generator) -> tuple[Binary, ...]:
        return against_the_rest(costs, sample.y, sample.case_weights)


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

    weighting: str = option("difference", one_of, WEIGHTINGS)
    papers: ClassVar[tuple[str, ...]] = (LIN,)

    def problems(self, sample: Sample, costs: FloatArray, rng: np.random.Generator) -> tuple[Binary, ...]:
        return against_each_other(WEIGHTINGS[self.weighting](costs), sample.case_weights)

    @staticmethod
    def tally(scores: FloatArray, n_levels: int) -> FloatArray:
        return pair_votes(scores, n_levels)

    def bound(self, above: float, problems: Sequence[Binary], scores: FloatArray, total: float) -> CostBound:
        wrong = sum(problem.loss(own) for problem, own in zip(problems, scores.T, strict=True))
        return CostBound(value=above, limit=2.0 * wrong / total, source=_SOURCES[self.weighting])


@dataclass(frozen=True, kw_only=True, repr=False)
class CostTransform(VotingMethod):
    """Classification of examples whose labels stand for their costs [Lin 2008, alg. 2.2 and 2.3].

    Row n stands for the labels l = 1..K with weights q_n[l] = max_k c_n[k] - c_n[l] (eq. 2.2): the weighted
    classification error of any classifier on these examples is its cost, up to a constant (theorem 2.4). mode="expand"
    (method="tsew", training set expansion and weighting, also called data space expansion) gives all NK weighted
    examples to the classifier; mode="relabel" (method="relabel") accepts each row with a probability proportional to
    sum_l q_n[l] and draws its label in proportion to q_n. The classifier of K levels is one-versus-one over the base.

    Both are of interest for their simplicity: rows with several labels are hard for a classifier, and `OneVersusOne`,
    which cancels what two labels of a row have in common, is the better method.

    Parameters
    ----------
    mode : {"expand", "relabel"}
    base, C, kernel, cost, scaling, solver, tol, folds, n_jobs
        See `ordstat.methods.shared.voting.VotingMethod`.

    Examples
    --------
    >>> CostTransform(mode="relabel", base="tree")
    CostTransform(base='tree', mode='relabel')
    """

    mode: str = option("expand", one_of, ("expand", "relabel"))
    papers: ClassVar[tuple[str, ...]] = (LIN,)

    @property
    def draws(self) -> bool:
        """Whether the fit is a random draw."""
        return self.mode == "relabel"

    def problems(self, sample: Sample, costs: FloatArray, rng: np.random.Generator) -> tuple[Binary, ...]:
        if self.mode == "relabel":
            return labelled_pairs(drawn_labels(sample.X, costs, sample.case_weights, rng))
        return labelled_pairs(label_weights(costs) * sample.case_weights[:, None])

    @staticmethod
    def tally(scores: FloatArray, n_levels: int) -> FloatArray:
        return pair_votes(scores, n_levels)
