"""Errors of the latent variable behind a cumulative link model: drawn from the observed interval, and their mean."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma

from ..._typing import FloatArray
from .flexible import log_gamma
from .links import LINKS, Link

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
