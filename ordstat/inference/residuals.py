"""Residuals: surrogate, probability-scale, generalised and deviance."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import generator, one_of
from ..formula.sample import Sample
from ..likelihood.rule import LikelihoodRule
from ..likelihood.scores import rule_terms

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults


def probability_scale(rule: LikelihoodRule, sample: Sample) -> FloatArray:
    """P(Y < y) - P(Y > y), between -1 and 1 [Li and Shepherd 2012, Biometrika 99,
    473-480; for censored answers Shepherd, Li and Liu 2016, Can. J. Stat. 44, 463].
    """
    below, above = rule.family.tails(rule.predictor(sample.rows), sample.answers)
    return below - above


def generalised(rule: LikelihoodRule, sample: Sample) -> FloatArray:
    """Derivative of log p with respect to the score H of the row; for probit the mean
    latent error given the observed level, times s.

    Gourieroux, Monfort, Renault and Trognon (1987, J. Econometrics 34, 5-32).
    """
    return rule_terms(rule, sample).by_location


def deviance(rule: LikelihoodRule, sample: Sample) -> FloatArray:
    """sqrt(-2 log p) with the sign of P(Y < y) - P(Y > y); their weighted sum of
    squares is the deviance.
    """
    log_p = rule_terms(rule, sample).log_p
    return np.copysign(np.sqrt(-2.0 * log_p), probability_scale(rule, sample))


#: Residuals that need no random numbers, by name.
FIXED: dict[str, Callable[[LikelihoodRule, Sample], FloatArray]] = {
    "probability-scale": probability_scale,
    "generalised": generalised,
    "deviance": deviance,
}
RESIDUAL_TYPES = ("surrogate", *FIXED)


def residuals(
    rule: LikelihoodRule, sample: Sample, type: str, rng: np.random.Generator
) -> FloatArray:
    """(N,) residuals of one of `RESIDUAL_TYPES`; `rng` draws a latent error for each
    row of "surrogate".
    """
    if type != "surrogate":
        return FIXED[type](rule, sample)
    return rule.family.latent_residuals(
        rule.predictor(sample.rows), sample.answers, rng.random(sample.n)
    )


def residual_series(
    r: LikelihoodResults, type: str, seed: int | np.random.Generator
) -> pd.Series:
    """One residual per row: positive if the level is higher than expected, with mean 0
    under the true model.
    """
    one_of("type", type, RESIDUAL_TYPES)
    values = residuals(r.rule, r.design.sample, type, generator(seed))
    return pd.Series(values, index=r.design.index, name=type)
