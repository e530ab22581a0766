"""The terms of the rows of a fit, and how they move with its parameters."""

from __future__ import annotations

from ...model.fit import LikelihoodFit
from ...model.likelihood.family import RowTerms
from ...model.likelihood.flexible import FLEXIBLE
from ...model.likelihood.lambda_terms import lambda_terms
from ...model.likelihood.predictor import Jacobian, ModelRows
from ...model.likelihood.rule import LikelihoodRule
from ...model.sample import Sample


def row_terms(rule: LikelihoodRule, sample: Sample, n_lambda: int = 0, second: bool = False) -> RowTerms:
    """Log-probabilities of the observed levels with their derivatives; by lambda too where it was estimated."""
    predictor, link = rule.predictor(sample.rows), rule.link
    if n_lambda and link.lam is not None:
        found = lambda_terms(rule.family, FLEXIBLE[link.name], link.lam, predictor, sample.y, second)
    else:
        found = rule.family.terms(predictor, sample.y, second)
    assert found is not None
    return found


def jacobian_of(fit: LikelihoodFit, sample: Sample, terms: RowTerms) -> Jacobian:
    """From the parameters of a fit to the predictors of the terms."""
    count = fit.rule.n_levels - 1
    return Jacobian(ModelRows.of(sample.rows), terms.places, count, fit.on_flexible_scale(), fit.n_lambda)
