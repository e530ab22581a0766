"""Residuals of a likelihood model, one number a row.

Each has mean zero under the true model; a positive one means a higher level than expected.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._typing import FloatArray
from ...model.likelihood.rule import LikelihoodRule
from ...model.sample import Sample
from .terms import row_terms


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
