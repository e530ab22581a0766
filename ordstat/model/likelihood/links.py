"""Links: latent distributions as values, composed of functions, in one dictionary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr, ndtri
from scipy.special import logit as log_odds

from ..._typing import FloatArray
from .interval_probability import (
    Interval,
    cauchit,
    cauchit_log,
    cloglog,
    cloglog_log,
    logit,
    logit_log,
    logit_product,
    loglog,
    loglog_log,
    probit,
    probit_log,
)

Curve = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Link:
    """A latent distribution F of a cumulative link model, P(y <= k) = F(theta_k - H).

    Attributes
    ----------
    name : str
    cdf, sf, pdf, ppf : callable
        F(t), 1 - F(t), F'(t) and the inverse of F.
    log_interval : callable (u, lo, d) -> (n,)
        log(F(u) - F(lo)) with d = u - lo, accurate in both tails and for narrow intervals.
    interval : callable (u, lo, d) -> Interval
        The same with its derivatives.
    mirror : str
        Name of the link of the latent variable with its sign changed (itself where symmetric, "" where there is none).
    lam : float or None
        The parameter of a flexible link (see `flexible.py`).
    product : callable (u, lo, d) -> (n,) or None
        F(u) - F(lo) as accurately without logarithms, where there is such a form.

    Examples
    --------
    >>> import numpy as np
    >>> LINKS["probit"].log_interval(np.array([9.5]), np.array([8.5]), np.array([1.0])).round(4)
    array([-39.1975])
    """

    name: str
    cdf: Curve
    sf: Curve
    pdf: Curve
    ppf: Curve
    log_interval: Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
    interval: Callable[[FloatArray, FloatArray, FloatArray], Interval]
    mirror: str
    lam: float | None = None
    product: Callable[[FloatArray, FloatArray, FloatArray], FloatArray] | None = None

    def probability(self, u: FloatArray, lo: FloatArray, d: FloatArray) -> FloatArray:
        """F(u) - F(lo) with d = u - lo > 0, to full relative accuracy."""
        return np.exp(self.log_interval(u, lo, d)) if self.product is None else self.product(u, lo, d)

    def __repr__(self) -> str:
        return f"LINKS[{self.name!r}]" if self.lam is None else f"FLEXIBLE[{self.name!r}].at({self.lam!r})"


@dataclass(frozen=True)
class Reflected:
    """t -> curve(-t)."""

    curve: Curve

    def __call__(self, t: FloatArray) -> FloatArray:
        return np.asarray(self.curve(-np.asarray(t)))


def _logit_pdf(t: FloatArray) -> FloatArray:
    return np.asarray(expit(t) * expit(-t))


def _probit_pdf(t: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-0.5 * t * t) / np.sqrt(2.0 * np.pi))


def _cloglog_cdf(t: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        return -np.expm1(-np.exp(t))


def _cloglog_sf(t: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        return np.exp(-np.exp(t))


def _cloglog_pdf(t: FloatArray) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.nan_to_num(np.exp(t - np.exp(t)), nan=0.0)


def _cloglog_ppf(p: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(-np.log1p(-p))


_loglog_cdf, _loglog_sf, _loglog_pdf = (Reflected(curve) for curve in (_cloglog_sf, _cloglog_cdf, _cloglog_pdf))


def _loglog_ppf(p: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return -np.log(-np.log(p))


def _cauchit_cdf(t: FloatArray) -> FloatArray:
    """arctan2(1, -t) / pi keeps the relative accuracy of the lower tail."""
    return np.arctan2(1.0, -np.asarray(t)) / np.pi


_cauchit_sf = Reflected(_cauchit_cdf)


def _cauchit_pdf(t: FloatArray) -> FloatArray:
    return 1.0 / (np.pi * (1.0 + np.square(t)))


def _cauchit_ppf(p: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.where(p < 0.25, -1.0 / np.tan(np.pi * p), np.tan(np.pi * (p - 0.5)))


LINKS: dict[str, Link] = {
    link.name: link
    for link in (
        Link("logit", expit, Reflected(expit), _logit_pdf, log_odds, logit_log, logit, "logit", product=logit_product),
        Link("probit", ndtr, Reflected(ndtr), _probit_pdf, ndtri, probit_log, probit, "probit"),
        Link("cloglog", _cloglog_cdf, _cloglog_sf, _cloglog_pdf, _cloglog_ppf, cloglog_log, cloglog, "loglog"),
        Link("loglog", _loglog_cdf, _loglog_sf, _loglog_pdf, _loglog_ppf, loglog_log, loglog, "cloglog"),
        Link("cauchit", _cauchit_cdf, _cauchit_sf, _cauchit_pdf, _cauchit_ppf, cauchit_log, cauchit, "cauchit"),
    )
}
