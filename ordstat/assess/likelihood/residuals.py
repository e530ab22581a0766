"""Residuals of a cumulative link model, one number a row.

Each has mean zero under the true model; a positive one means a higher level than expected.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import digamma

from ..._typing import FloatArray
from ...model.likelihood.cumulative import CumulativeRule
from ...model.likelihood.flexible import log_gamma
from ...model.likelihood.links import LINKS, Link
from ...model.sample import Sample
from .rowterms import RowTerms

_EULER = 0.5772156649015329
_MEANS = {"logit": 0.0, "probit": 0.0, "cloglog": -_EULER, "loglog": _EULER, "cauchit": 0.0}


def latent_mean(link: Link) -> float:
    """Mean of the latent distribution; of cauchit, which has none, the median.

    Aranda-Ordaz: lambda e^t is Lomax of shape 1 / lambda. Log-gamma: a e^(lambda t) is gamma of shape a = lambda^-2.
    """
    lam = link.lam
    if lam is None:
        return _MEANS[link.name]
    if link.name == "aranda-ordaz":
        return float(digamma(1.0) - digamma(1.0 / lam) - np.log(lam))
    if abs(lam) < 1e-3:
        return -0.5 * lam
    return float((digamma(lam**-2.0) + 2.0 * np.log(abs(lam))) / lam)


def surrogate(terms: RowTerms, rng: np.random.Generator) -> FloatArray:
    """Latent errors drawn from F given that they fall into the observed interval, less the mean of F.

    Liu and Zhang (2018, JASA 113, 845-854): under the true model a sample from F, centred; here divided by the scale of
    the row, where the model has scale effects.
    """
    return drawn(terms.link, terms.upper, terms.lower, rng.random(terms.s.size)) - latent_mean(terms.link)


def drawn(link: Link, upper: FloatArray, lower: FloatArray, shares: FloatArray) -> FloatArray:
    """(N,) points of the intervals that have the share `shares` of their probability below; in the nearer tail."""
    low, high = link.cdf(lower), link.cdf(upper)
    below = link.ppf(low + shares * (high - low))
    over_low, over_high = link.sf(lower), link.sf(upper)
    above = _upper_quantiles(link, over_low - shares * (over_low - over_high))
    points = np.where(over_low < 0.5, above, below)
    return np.asarray(np.clip(points, lower, upper))


def _upper_quantiles(link: Link, shares: FloatArray) -> FloatArray:
    """Points with `shares` of the probability above."""
    if link.mirror in LINKS:
        return np.asarray(-LINKS[link.mirror].ppf(shares))
    if link.name == "log-gamma":
        assert link.lam is not None
        return np.asarray(-log_gamma(-link.lam).ppf(shares))
    assert link.lam is not None  # Aranda-Ordaz: 1 - F(t) = (1 + lambda e^t)^(-1 / lambda)
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(np.log(np.expm1(-link.lam * np.log(shares)) / link.lam))


def probability_scale(terms: RowTerms) -> FloatArray:
    """P(Y < y) - P(Y > y), between -1 and 1 [Li and Shepherd 2012, Biometrika 99, 473-480]."""
    return np.asarray(terms.link.cdf(terms.lower) - terms.link.sf(terms.upper))


def generalised(terms: RowTerms) -> FloatArray:
    """Derivative of log p by the row's score H; for probit the mean latent error given the observed level, times s.

    Gourieroux, Monfort, Renault and Trognon (1987, J. Econometrics 34, 5-32).
    """
    return -terms.s * terms.interval.c


def deviance(terms: RowTerms) -> FloatArray:
    """sqrt(-2 log p) with the sign of P(Y < y) - P(Y > y): the weighted sum of squares is the deviance."""
    return np.asarray(np.copysign(np.sqrt(-2.0 * terms.log_p), probability_scale(terms)))


def pearson(rule: CumulativeRule, sample: Sample) -> FloatArray:
    """(rank - expected rank) / standard deviation of the rank; 0 where the observed rank is certain."""
    probabilities = rule.probabilities(sample.rows)
    ranks = np.arange(sample.n_levels, dtype=np.float64)
    mean = probabilities @ ranks
    variance = (probabilities * (ranks - mean[:, None]) ** 2).sum(axis=1)
    certain = variance <= 0.0
    return np.where(certain, 0.0, (sample.y - mean) / np.sqrt(np.where(certain, 1.0, variance)))


#: Residuals that need no random numbers, by name.
FIXED: dict[str, Callable[[RowTerms], FloatArray]] = {
    "probability-scale": probability_scale,
    "generalised": generalised,
    "deviance": deviance,
}
RESIDUAL_TYPES = ("surrogate", *FIXED, "pearson")


def residuals(rule: CumulativeRule, sample: Sample, type: str, rng: np.random.Generator) -> FloatArray:
    """(N,) residuals of one of `RESIDUAL_TYPES`; `rng` serves "surrogate" alone."""
    if type == "pearson":
        return pearson(rule, sample)
    terms = RowTerms.of(rule, sample)
    return surrogate(terms, rng) if type == "surrogate" else FIXED[type](terms)
