"""One-versus-all, plain and cost-sensitive."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from ..model.binary import Binary
from ..model.reduction.decomposition import against_the_rest
from ..model.sample import Sample
from .shared.voting import VotingMethod


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

    def size(self, n: int, n_levels: int) -> tuple[int, float]:
        return n_levels, float(n)

    def problems(self, sample: Sample, costs: FloatArray, rng: np.random.Generator) -> tuple[Binary, ...]:
        return against_the_rest(costs, sample.y, sample.case_weights)
