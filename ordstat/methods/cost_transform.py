"""Costs turned into weighted or random labels for a classifier of K levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from ..checks import one_of
from ..model.binary import Binary
from ..model.reduction.decomposition import label_weights, labelled_pairs, pair_votes
from ..model.reduction.relabel import drawn_labels
from ..model.sample import Sample
from .shared.voting import VotingMethod


def _expanded(sample: Sample, costs: FloatArray, rng: np.random.Generator) -> FloatArray:
    return label_weights(costs) * sample.case_weights[:, None]


def _relabelled(sample: Sample, costs: FloatArray, rng: np.random.Generator) -> FloatArray:
    return drawn_labels(sample.X, costs, sample.case_weights, rng)


#: (N, K) weight of every label of every row.
MODES: dict[str, Callable[[Sample, FloatArray, np.random.Generator], FloatArray]] = {
    "expand": _expanded,
    "relabel": _relabelled,
}


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

    mode: str = "expand"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("mode", self.mode, MODES, of=self)

    @property
    def draws(self) -> bool:
        """Whether the fit is a random draw."""
        return self.mode == "relabel"

    def size(self, n: int, n_levels: int) -> tuple[int, float]:
        return n_levels * (n_levels - 1) // 2, 2.0 * n if self.mode == "expand" else 2.0 * n / n_levels

    def problems(self, sample: Sample, costs: FloatArray, rng: np.random.Generator) -> tuple[Binary, ...]:
        return labelled_pairs(MODES[self.mode](sample, costs, rng))

    @staticmethod
    def tally(scores: FloatArray, n_levels: int) -> FloatArray:
        return pair_votes(scores, n_levels)
