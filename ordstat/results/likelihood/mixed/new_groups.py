"""Fits with random effects that are judged by rows of groups they have not seen, as in a cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....model.fit import LikelihoodFit
from ....model.likelihood.marginal import Marginal
from ....model.likelihood.over_groups import OverGroups, PopulationRule
from ....model.likelihood.rule import LikelihoodRule
from ....model.sample import Sample
from ...evaluation import LikelihoodMethod

#: For a table of errors.
NOTE = (
    "Folds are of whole groups, of crossed ones the more numerous: held-out rows are predicted by averages over the "
    "random effects (re='marginal'), training rows at the modes."
)


def over_groups(rule: LikelihoodRule, marginal: Marginal) -> OverGroups:
    """Averages over the random effects of a fit."""
    factors, entries = ([getattr(term, name) for term in marginal.terms] for name in ("factor", "entries"))
    return OverGroups(replace(rule, effects=()), tuple(factors), tuple(entries))


def kept_together(sample: Sample) -> Sample:
    """The sample with whole groups as clusters, which stay in one fold."""
    assert sample.rows.random is not None
    return replace(sample, cluster=sample.rows.random.apart())


def without_empty_groups(sample: Sample) -> Sample:
    """The sample with groups that all have rows, and no clusters."""
    assert sample.rows.random is not None
    return replace(sample, rows=replace(sample.rows, random=sample.rows.random.renumbered()), cluster=None)


@dataclass(frozen=True, eq=False)
class ForNewGroups:
    """A method whose fits predict averages over the random effects [Learner]."""

    method: LikelihoodMethod

    @property
    def cost(self) -> Any:
        return self.method.cost

    @property
    def needs(self) -> Any:
        return self.method.needs

    def with_cost(self, cost: Any) -> ForNewGroups:
        """The same under another cost."""
        return ForNewGroups(self.method.with_cost(cost))

    def fit(self, sample: Sample, rng: np.random.Generator) -> LikelihoodFit:
        """Fit to some rows."""
        fit = self.method.fit(without_empty_groups(sample), rng)
        assert fit.marginal is not None and isinstance(fit.rule, LikelihoodRule)
        return replace(fit, rule=PopulationRule(over_groups(fit.rule, fit.marginal), fit.rule.cost))
