"""The terms of the rows of a fit, how they move with its parameters, and its residuals, one number a row.

Every residual has mean zero under the true model; a positive one means a higher level than expected.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._typing import FloatArray
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


def surrogate(rule: LikelihoodRule, sample: Sample, rng: np.random.Generator) -> FloatArray:
    """What stands for the latent error of each row, drawn given its level; see `Family.latent_residuals`."""
    return rule.family.latent_residuals(rule.predictor(sample.rows), sample.y, rng.random(sample.n))


def probability_scale(rule: LikelihoodRule, sample: Sample) -> FloatArray:
    """P(Y < y) - P(Y > y), between -1 and 1 [Li and Shepherd 2012, Biometrika 99, 473-480]."""
    below, above = rule.family.tails(rule.predictor(sample.rows), sample.y)
    return np.asarray(below - above)


def generalised(rule: LikelihoodRule, sample: Sample) -> FloatArray:
    """Derivative of log p by the row's score H; for probit the mean latent error given the observed level, times s.

    Gourieroux, Monfort, Renault and Trognon (1987, J. Econometrics 34, 5-32).
    """
    return row_terms(rule, sample).by_location


def deviance(rule: LikelihoodRule, sample: Sample) -> FloatArray:
    """sqrt(-2 log p) with the sign of P(Y < y) - P(Y > y): the weighted sum of squares is the deviance."""
    log_p = row_terms(rule, sample).log_p
    return np.asarray(np.copysign(np.sqrt(-2.0 * log_p), probability_scale(rule, sample)))


def pearson(rule: LikelihoodRule, sample: Sample) -> FloatArray:
    """(rank - expected rank) / standard deviation of the rank; 0 where the observed rank is certain."""
    probabilities = rule.probabilities(sample.rows)
    ranks = np.arange(sample.n_levels, dtype=np.float64)
    mean = probabilities @ ranks
    variance = (probabilities * (ranks - mean[:, None]) ** 2).sum(axis=1)
    certain = variance <= 0.0
    return np.where(certain, 0.0, (sample.y - mean) / np.sqrt(np.where(certain, 1.0, variance)))


#: Residuals that need no random numbers, by name.
FIXED: dict[str, Callable[[LikelihoodRule, Sample], FloatArray]] = {
    "probability-scale": probability_scale,
    "generalised": generalised,
    "deviance": deviance,
    "pearson": pearson,
}
RESIDUAL_TYPES = ("surrogate", *FIXED)


def residuals(rule: LikelihoodRule, sample: Sample, type: str, rng: np.random.Generator) -> FloatArray:
    """(N,) residuals of one of `RESIDUAL_TYPES`; `rng` serves "surrogate" alone."""
    return surrogate(rule, sample, rng) if type == "surrogate" else FIXED[type](rule, sample)
