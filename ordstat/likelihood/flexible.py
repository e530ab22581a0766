"""Links with a parameter lambda: Aranda-Ordaz and log-gamma."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import factorial
from typing import cast

import numpy as np
from numpy.polynomial.polynomial import polyval
from scipy.special import (
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
    gammaln,
    ndtri,
    roots_legendre,
)

from .._typing import FloatArray
from ..checks import number, one_spelled
from ..exceptions import OptionError
from .links import (
    LINKS,
    NODE_WEIGHTS,
    NODES,
    Interval,
    Link,
    Reflected,
    assemble,
    log1mexp,
    with_series,
)

_HALF_LOG_2PI = 0.5 * float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class FlexibleLink:
    """A family of links.

    Attributes
    ----------
    name : str
    at : callable
        lambda -> Link.
    start : float
        Starting value of lambda.
    lower, upper : float
        Open ends of the range of lambda.
    relative : bool
        Whether the family varies with log lambda rather than lambda.
    bounds : (float, float)
        Interval in which a first estimate of lambda is sought.
    members : tuple of str
        Links without a parameter that belong to the family, at a value of lambda or as
        a limit.
    """

    name: str
    at: Callable[[float], Link]
    start: float
    lower: float
    upper: float
    relative: bool
    bounds: tuple[float, float]
    members: tuple[str, ...]


# ------------------------------------------------------------------------- Aranda-Ordaz


def _log1p_exp(t: FloatArray, lam: float) -> FloatArray:
    """log(1 + lambda e^t)."""
    return np.asarray(np.logaddexp(0.0, t + np.log(lam)))


def ao_cdf(t: FloatArray, lam: float) -> FloatArray:
    return -np.expm1(-_log1p_exp(np.asarray(t), lam) / lam)


def ao_sf(t: FloatArray, lam: float) -> FloatArray:
    return np.exp(-_log1p_exp(np.asarray(t), lam) / lam)


def _ao_log_density(t: FloatArray, lam: float) -> FloatArray:
    with np.errstate(invalid="ignore"):
        return np.where(
            np.isinf(t), -np.inf, t - (1.0 + 1.0 / lam) * _log1p_exp(np.asarray(t), lam)
        )


def ao_pdf(t: FloatArray, lam: float) -> FloatArray:
    return np.exp(_ao_log_density(t, lam))


def ao_ppf(p: FloatArray, lam: float) -> FloatArray:
    rise = -lam * np.log1p(-np.asarray(p))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(
            np.isposinf(rise), np.inf, rise + np.log(-np.expm1(-rise)) - np.log(lam)
        )


def _ao_mirrored_ppf(p: FloatArray, lam: float) -> FloatArray:
    """The quantile t of the mirror image: 1 - F(-t) = p."""
    with np.errstate(divide="ignore", over="ignore"):
        return -np.log(np.expm1(-lam * np.log(p)) / lam)


def ao_log(u: FloatArray, lo: FloatArray, d: FloatArray, lam: float) -> FloatArray:
    """log p = -H(lo) + log(1 - exp(-D)), H the cumulative hazard and D its increase.

    Small D keeps its relative accuracy: lambda D = log(1 + lambda e^lo expm1(d) / (1 +
    lambda e^lo)).
    """
    below = _log1p_exp(lo, lam)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        log_rise = np.log(lam) + np.where(
            np.isneginf(lo), u, lo - below + d + log1mexp(d)
        )
        D = np.where(np.isposinf(u), np.inf, np.logaddexp(0.0, log_rise) / lam)
        log_D = np.where(log_rise < -30.0, log_rise - np.log(lam), np.log(D))
        inner = np.where(
            D < 1e-8,
            log_D - 0.5 * np.minimum(D, 1.0),
            log1mexp(np.clip(D, 1e-300, 1e300)),
        )
    return inner - below / lam


def _ao_change(
    u: FloatArray, lo: FloatArray, d: FloatArray, lam: float
) -> tuple[FloatArray, FloatArray]:
    grown = np.exp(lo) * np.expm1(d) / (1.0 + lam * np.exp(lo))
    return d - (1.0 + 1.0 / lam) * np.log1p(lam * grown), (1.0 + lam) * grown / (
        1.0 + lam * np.exp(u)
    )


def _ao_bends(m: FloatArray, lam: float) -> tuple[FloatArray, ...]:
    with np.errstate(invalid="ignore"):
        r = np.where(np.isinf(m), 0.0, np.exp(m - _log1p_exp(m, lam)))  # the hazard
    s = lam * r
    first = r * (1.0 - s)
    second = r * (1.0 - s) * (1.0 - 2.0 * s)
    third = r * (1.0 - s) * (1.0 - 6.0 * s * (1.0 - s))
    return (
        1.0 - (1.0 + lam) * r,
        -(1.0 + lam) * first,
        -(1.0 + lam) * second,
        -(1.0 + lam) * third,
    )


# ---------------------------------------------------------------------------- log-gamma

#: Below this |lambda| the tails are integrals of the density. (There the incomplete
#: gamma function of scipy 1.17 stops too early in the lower tail: 30 % wrong at t = -5,
#: lambda = 1e-4.) Density beyond _REACH / (4.5 + |t|) vanishes.
_NEAR_PROBIT = 4e-3
_REACH = 40.0
_TAIL_NODES, _TAIL_WEIGHTS = roots_legendre(40)


#: psi(x) = sum_j x^j / (j + 2)!, to rounding for |x| < 0.5.
_PSI = np.array([1.0 / factorial(j + 2) for j in range(15)])


def _log_density(t: FloatArray, lam: float) -> FloatArray:
    """log f, analytic in lambda: -t^2 psi(lambda t) plus a constant, psi(x) = (e^x - 1
    - x) / x^2.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        x = lam * np.asarray(t)
        psi = np.asarray((np.expm1(x) - x) / (x * x))
        near = np.abs(x) < 0.5
        psi[near] = polyval(x[near], _PSI)
        return np.where(np.isinf(t), -np.inf, -t * t * psi + _log_constant(lam))


def _log_constant(lam: float) -> float:
    """log |lambda| + a log a - a - log Gamma(a), a = lambda^-2; by Stirling's series
    where lambda is small.
    """
    square = lam * lam
    if square < 0.01:
        stirling = square * (
            1 / 12 - square**2 * (1 / 360 - square**2 * (1 / 1260 - square**2 / 1680))
        )
        return -_HALF_LOG_2PI - stirling
    a = 1.0 / square
    return float(np.log(abs(lam)) + a * np.log(a) - a - gammaln(a))


def _outer_tail(t: FloatArray, lam: float) -> FloatArray:
    """P(T < t) where t <= 0 and P(T > t) where t > 0, for small |lambda|, by quadrature
    of the density.
    """
    t = np.asarray(t, dtype=np.float64)
    reach = _REACH / (4.5 + np.abs(t))
    points = t[..., None] + np.copysign(0.5 * reach, t)[..., None] * (1.0 + _TAIL_NODES)
    return 0.5 * reach * (np.exp(_log_density(points, lam)) @ _TAIL_WEIGHTS)


def lg_cdf(t: FloatArray, lam: float) -> FloatArray:
    t = np.asarray(t)
    if abs(lam) < _NEAR_PROBIT:
        tail = _outer_tail(t, lam)
        return np.where(np.signbit(t), tail, 1.0 - tail)
    return _lg_tail(gammainc, t, lam) if lam > 0.0 else _lg_tail(gammaincc, t, lam)


def lg_sf(t: FloatArray, lam: float) -> FloatArray:
    t = np.asarray(t)
    if abs(lam) < _NEAR_PROBIT:
        tail = _outer_tail(t, lam)
        return np.where(np.signbit(t), 1.0 - tail, tail)
    return _lg_tail(gammaincc, t, lam) if lam > 0.0 else _lg_tail(gammainc, t, lam)


def _lg_tail(mass: np.ufunc, t: FloatArray, lam: float) -> FloatArray:
    a = lam**-2.0
    with np.errstate(over="ignore"):
        return np.asarray(mass(a, a * np.exp(lam * t)))


def lg_pdf(t: FloatArray, lam: float) -> FloatArray:
    return np.exp(_log_density(np.asarray(t), lam))


def lg_ppf(p: FloatArray, lam: float) -> FloatArray:
    p = np.asarray(p)
    if abs(lam) < _NEAR_PROBIT:
        return _ppf_near_probit(p, lam)
    a = lam**-2.0
    quantile = gammaincinv if lam > 0.0 else gammainccinv
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(quantile(a, p) / a) / lam)


def _ppf_near_probit(p: FloatArray, lam: float) -> FloatArray:
    probit = np.asarray(ndtri(p))
    t = np.where(np.isinf(probit), 0.0, probit)
    for _ in range(6):  # Newton on the smaller tail
        excess = np.where(t > 0.0, (1.0 - p) - lg_sf(t, lam), lg_cdf(t, lam) - p)
        t = t - excess / lg_pdf(t, lam)
    return np.where(np.isinf(probit), probit, t)


def lg_log(u: FloatArray, lo: FloatArray, d: FloatArray, lam: float) -> FloatArray:
    """log p: a difference of tails on the smaller side, or by quadrature of the density
    where the interval is short.
    """
    log_p = np.empty(u.size)
    with np.errstate(divide="ignore", invalid="ignore"):
        upper = (
            np.where(np.isinf(d), np.where(np.isneginf(lo), u, lo), 0.5 * (u + lo))
            > 0.0
        )
        narrow = d * (1.0 + np.abs(_slope(u, lam)) + np.abs(_slope(lo, lam))) < 0.5
        below, above, short = (
            np.flatnonzero(some) for some in (~upper & ~narrow, upper & ~narrow, narrow)
        )
        log_p[below] = np.log(lg_cdf(u[below], lam) - lg_cdf(lo[below], lam))
        log_p[above] = np.log(lg_sf(lo[above], lam) - lg_sf(u[above], lam))
    if short.size:
        half = 0.5 * d[short]
        middle = u[short] - half
        centre = _log_density(middle, lam)
        heights = (
            _log_density(middle[:, None] + half[:, None] * NODES, lam) - centre[:, None]
        )
        log_p[short] = centre + np.log(half * (np.exp(heights) @ NODE_WEIGHTS))
    return log_p


def _slope(t: FloatArray, lam: float) -> FloatArray:
    """f'/f = -expm1(lambda t) / lambda, 0 at infinity."""
    t = np.where(np.isinf(t), 0.0, t)
    with np.errstate(over="ignore"):
        return -t if lam == 0.0 else -np.expm1(lam * t) / lam


def _lg_change(
    u: FloatArray, lo: FloatArray, d: FloatArray, lam: float
) -> tuple[FloatArray, FloatArray]:
    return _log_density(u, lam) - _log_density(lo, lam), _slope(lo, lam) - _slope(
        u, lam
    )


def _lg_bends(m: FloatArray, lam: float) -> tuple[FloatArray, ...]:
    with np.errstate(over="ignore", invalid="ignore"):
        e = np.exp(lam * m)
        return _slope(m, lam), -e, -lam * e, -lam * lam * e


# -------------------------------------------------------------------------------- links


def _interval(
    u: FloatArray,
    lo: FloatArray,
    d: FloatArray,
    lam: float,
    log_p: Callable[..., FloatArray],
    log_density: Callable[..., FloatArray],
    bends: Callable[..., tuple[FloatArray, ...]],
    change: Callable[..., tuple[FloatArray, FloatArray]],
) -> Interval:
    """log p and its derivatives, from the log density and its four derivatives.

    `change` gives log f(u) - log f(lo) and f'/f at lo less that at u, where both ends
    are finite.
    """
    logs = log_p(u, lo, d, lam)
    with np.errstate(over="ignore", invalid="ignore"):
        a = np.exp(log_density(u, lam) - logs)
        b = np.exp(log_density(lo, lam) - logs)
        ratio, gap = change(u, lo, d, lam)
        inner = np.where(ratio < 0.0, b * np.expm1(ratio), -a * np.expm1(-ratio))
        c = np.where(np.isinf(d), a - b, inner)
        gap = np.where(np.isinf(d), 0.0, gap)
        direct = assemble(logs, a, b, c, bends(u, lam)[0], bends(lo, lam)[0], gap)
    return with_series(direct, u, d, partial(bends, lam=lam))


def aranda_ordaz(lam: float) -> Link:
    """The Aranda-Ordaz link at lambda > 0."""
    return Link(
        name="aranda-ordaz",
        cdf=partial(ao_cdf, lam=lam),
        sf=partial(ao_sf, lam=lam),
        pdf=partial(ao_pdf, lam=lam),
        ppf=partial(ao_ppf, lam=lam),
        log_interval=partial(ao_log, lam=lam),
        interval=partial(
            _interval,
            lam=lam,
            log_p=ao_log,
            log_density=_ao_log_density,
            bends=_ao_bends,
            change=_ao_change,
        ),
        mirror="",
        lam=lam,
    )


def log_gamma(lam: float) -> Link:
    """The log-gamma link at any lambda; its mirror image is the link at -lambda."""
    return Link(
        name="log-gamma",
        cdf=partial(lg_cdf, lam=lam),
        sf=partial(lg_sf, lam=lam),
        pdf=partial(lg_pdf, lam=lam),
        ppf=partial(lg_ppf, lam=lam),
        log_interval=partial(lg_log, lam=lam),
        interval=partial(
            _interval,
            lam=lam,
            log_p=lg_log,
            log_density=_log_density,
            bends=_lg_bends,
            change=_lg_change,
        ),
        mirror="log-gamma",
        lam=lam,
    )


def mirrored(link: Link) -> Link:
    """The link of minus the latent variable."""
    if link.lam is None:
        return LINKS[link.mirror]
    if link.name == "log-gamma":
        return log_gamma(-link.lam)
    return Link(
        name=link.name,
        cdf=Reflected(link.sf),
        sf=Reflected(link.cdf),
        pdf=Reflected(link.pdf),
        ppf=partial(_ao_mirrored_ppf, lam=link.lam),
        log_interval=lambda u, lo, d: link.log_interval(-lo, -u, d),
        interval=lambda u, lo, d: link.interval(-lo, -u, d).mirrored(),
        mirror=link.name,
        lam=link.lam,
    )


#: The links with a parameter, by name.
FLEXIBLE: dict[str, FlexibleLink] = {
    "aranda-ordaz": FlexibleLink(
        name="aranda-ordaz",
        at=aranda_ordaz,
        start=1.0,
        lower=0.0,
        upper=1e6,
        relative=True,
        bounds=(1.0 / 16.0, 16.0),
        members=("logit", "cloglog"),
    ),
    "log-gamma": FlexibleLink(
        name="log-gamma",
        at=log_gamma,
        start=0.0,
        lower=-30.0,
        upper=30.0,
        relative=False,
        bounds=(-8.0, 8.0),
        members=("probit", "cloglog", "loglog"),
    ),
}

#: Every name that a link can have.
LINK_NAMES = (*LINKS, *FLEXIBLE)


def link_of(name: str, lam: float | None) -> Link | FlexibleLink:
    """The link of a name; for a flexible link the family of links, or the member at
    `lam`.

    Raises
    ------
    OptionError
        An unknown name, lam for a link without a parameter, or lam outside its range.
    """
    spelled = one_spelled("link", name, LINK_NAMES)
    if spelled in LINKS:
        if lam is not None:
            raise OptionError(
                f"lam is the parameter of {' or '.join(FLEXIBLE)}; link={name!r} has no"
                " parameter. Leave lam out."
            )
        return LINKS[spelled]
    family = FLEXIBLE[spelled]
    if lam is None:
        return family
    value = number("lam", lam, also=", or None to estimate it")
    if not family.lower < value < family.upper:
        raise OptionError(
            f"lam must lie between {family.lower:g} and {family.upper:g} with"
            f" {spelled}; got {value!r}."
        )
    return family.at(value)


#: Distance of the values of lambda in `links_about`.
_LAMBDA_STEP = 0.02


def links_about(link: Link) -> tuple[list[Link], float]:
    """The links at seven values of lambda around that of a link, and the distance of
    these values; empty outside the range.
    """
    flexible = FLEXIBLE[link.name]
    lam = cast(float, link.lam)
    h = _LAMBDA_STEP * lam if flexible.relative else _LAMBDA_STEP
    points = lam + h * np.arange(-3.0, 4.0)
    inside = flexible.lower < points[0] and points[-1] < flexible.upper
    return [flexible.at(float(point)) for point in points] if inside else [], h
