"""Rows of groups held out: a fit with random effects knows nothing of them but their distribution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...._typing import FloatArray, IntArray
from ....model.fit import LikelihoodFit
from ....model.likelihood.rule import LikelihoodRule
from ....model.probable import least_expected
from ....model.random_effects import RandomColumns, RandomRows
from ....model.sample import Rows, Sample
from .predictions import population_probabilities


@dataclass(frozen=True, eq=False)
class PopulationRule:
    """Probabilities averaged over the effects of the groups, and scores without effects.

    Attributes
    ----------
    fit : LikelihoodFit
        With random effects.
    rule : LikelihoodRule
        Its own.
    """

    fit: LikelihoodFit
    rule: LikelihoodRule

    @property
    def n_levels(self) -> int:
        return self.rule.n_levels

    def scores(self, rows: Rows) -> FloatArray:
        return replace(self.rule, effects=()).scores(rows)

    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) averages; they do not depend on a score."""
        return population_probabilities(self.fit, rows)

    def codes(self, rows: Rows, scores: FloatArray | None = None) -> IntArray:
        return least_expected(self.probabilities(rows), self.rule.cost)


def learned_part(sample: Sample) -> Sample:
    """A part of a sample with only the groups that have rows in it."""

    def own(term: RandomColumns) -> RandomColumns:
        groups, codes = np.unique(term.codes, return_inverse=True)
        return replace(term, codes=codes.astype(np.intp), n_groups=int(groups.size))

    return _with_terms(sample, own)


def held_part(sample: Sample) -> Sample:
    """A part of a sample as rows of groups that no fit has seen."""
    return _with_terms(sample, lambda term: replace(term, codes=np.full_like(term.codes, -1)))


def _with_terms(sample: Sample, change: Callable[[RandomColumns], RandomColumns]) -> Sample:
    random = sample.rows.random
    if random is None:
        return sample
    return replace(sample, rows=replace(sample.rows, random=RandomRows(tuple(map(change, random.terms)))))
