"""Links with a parameter lambda: Aranda-Ordaz and log-gamma."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import factorial
from typing import Any

import numpy as np
from numpy.polynomial.polynomial import polyval
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv, gammaln, ndtri

from .._typing import FloatArray, IntArray
from ..checks import number, one_spelled
from ..compiled.terms import aranda_ordaz_interval, aranda_ordaz_log
from ..exceptions import OptionError
from .family import Family, RowTerms
from .links import LINKS, NODE_WEIGHTS, NODES, Interval, Link, Reflected, assemble, with_series
from .predictor import Predictor

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
        Where the search for lambda begins.
    lower, upper : float
        Open ends of the range of lambda.
    relative : bool
        Whether the family varies with log lambda rather than lambda.
    bounds : (float, float)
        Where a first estimate of lambda is sought.
    members : tuple of str
        Links without a parameter that belong to it, at a lambda or as its limit.
    """

    name: str
    at: Callable[[float], Link]
    start: float
    lower: float
    upper: float
    relative: bool
    bounds: tuple[float, float]
    members: tuple[str, ...]


# --------------------------------------------------------------------------------------- Aranda-Ordaz


def _log1p_exp(t: FloatArray, lam: float) -> FloatArray:
    """log(1 + lambda e^t)."""
    return np.asarray(np.logaddexp(0.0, t + np.log(lam)))


def _share(t: FloatArray, lam: float) -> FloatArray:
    """The hazard e^t / (1 + lambda e^t)."""
    return np.asarray(np.exp(t - _log1p_exp(t, lam)))


def ao_cdf(t: FloatArray, lam: float) -> FloatArray:
    return -np.expm1(-_log1p_exp(np.asarray(t), lam) / lam)


def ao_sf(t: FloatArray, lam: float) -> FloatArray:
    return np.exp(-_log1p_exp(np.asarray(t), lam) / lam)


def ao_pdf(t: FloatArray, lam: float) -> FloatArray:
    with np.errstate(invalid="ignore"):
        log_density = t - (1.0 + 1.0 / lam) * _log1p_exp(np.asarray(t), lam)
    return np.nan_to_num(np.exp(log_density), nan=0.0)


def ao_ppf(p: FloatArray, lam: float) -> FloatArray:
    rise = -lam * np.log1p(-np.asarray(p))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.isposinf(rise), np.inf, rise + np.log(-np.expm1(-rise)) - np.log(lam))


def _ao_mirrored_ppf(p: FloatArray, lam: float) -> FloatArray:
    """Of the mirror image: 1 - F(-t) = p."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(-np.log(np.expm1(-lam * np.log(p)) / lam))


def _flat(*parts: FloatArray) -> list[FloatArray]:
    return [np.ascontiguousarray(part, dtype=np.float64) for part in parts]


def ao_log(u: FloatArray, lo: FloatArray, d: FloatArray, lam: float) -> FloatArray:
    """log p = -H(lo) + log(1 - exp(-D)), H the cumulative hazard and D its rise."""
    out = np.empty(u.size)
    aranda_ordaz_log(*_flat(u, lo, d), lam, out)
    return out


def ao_interval(u: FloatArray, lo: FloatArray, d: FloatArray, lam: float) -> Interval:
    out = np.empty((8, u.size))
    aranda_ordaz_interval(*_flat(u, lo, d), lam, out)
    return with_series(Interval(*out), u, d, partial(_ao_phi, lam=lam))


def _ao_phi(m: FloatArray, lam: float) -> tuple[FloatArray, ...]:
    r = _share(m, lam)
    s = lam * r
    first, second = r * (1.0 - s), r * (1.0 - s) * (1.0 - 2.0 * s)
    third = r * (1.0 - s) * (1.0 - 6.0 * s * (1.0 - s))
    return 1.0 - (1.0 + lam) * r, -(1.0 + lam) * first, -(1.0 + lam) * second, -(1.0 + lam) * third


# ------------------------------------------------------------------------------------------ log-gamma

#: Below this |lambda| the tails are integrals of the density. (There the incomplete gamma function of scipy 1.17 stops
#: too early in the lower tail: 30 % wrong at t = -5, lambda = 1e-4.) Density beyond _REACH / (4.5 + |t|) vanishes.
_NEAR_PROBIT, _REACH = 4e-3, 40.0
_TAIL_NODES, _TAIL_WEIGHTS = np.polynomial.legendre.leggauss(40)


#: psi(x) = sum_j x^j / (j + 2)!, to rounding for |x| < 0.5.
_PSI = np.array([1.0 / factorial(j + 2) for j in range(15)])


def _log_density(t: FloatArray, lam: float) -> FloatArray:
    """log f, analytic in lambda: -t^2 psi(lambda t) plus a constant, psi(x) = (e^x - 1 - x) / x^2."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        x = lam * np.asarray(t)
        psi, near = np.asarray((np.expm1(x) - x) / (x * x)), np.abs(x) < 0.5
        psi[near] = polyval(x[near], _PSI)
        return np.where(np.isinf(t), -np.inf, -t * t * psi + _log_constant(lam))


def _log_constant(lam: float) -> float:
    """log |lambda| + a log a - a - log Gamma(a), a = lambda^-2; by Stirling's series where lambda is small."""
    square = lam * lam
    if square < 0.01:
        stirling = square * (1 / 12 - square**2 * (1 / 360 - square**2 * (1 / 1260 - square**2 / 1680)))
        return -_HALF_LOG_2PI - stirling
    a = 1.0 / square
    return float(np.log(abs(lam)) + a * np.log(a) - a - gammaln(a))


def _outer_tail(t: FloatArray, lam: float) -> FloatArray:
    """P(T < t) where t <= 0 and P(T > t) where t > 0, for small |lambda|, by quadrature of the density."""
    t = np.asarray(t, dtype=np.float64)
    reach = _REACH / (4.5 + np.abs(t))
    points = t[..., None] + np.copysign(0.5 * reach, t)[..., None] * (1.0 + _TAIL_NODES)
    return np.asarray(0.5 * reach * (np.exp(_log_density(points, lam)) @ _TAIL_WEIGHTS))


def lg_cdf(t: FloatArray, lam: float) -> FloatArray:
    t = np.asarray(t)
    if abs(lam) < _NEAR_PROBIT:
        tail = _outer_tail(t, lam)
        return np.asarray(np.where(np.signbit(t), tail, 1.0 - tail))
    return _lg_tail(gammainc, t, lam) if lam > 0.0 else _lg_tail(gammaincc, t, lam)


def lg_sf(t: FloatArray, lam: float) -> FloatArray:
    t = np.asarray(t)
    if abs(lam) < _NEAR_PROBIT:
        tail = _outer_tail(t, lam)
        return np.asarray(np.where(np.signbit(t), 1.0 - tail, tail))
    return _lg_tail(gammaincc, t, lam) if lam > 0.0 else _lg_tail(gammainc, t, lam)


def _lg_tail(mass: np.ufunc, t: FloatArray, lam: float) -> FloatArray:
    a = lam**-2.0
    with np.errstate(over="ignore"):
        return np.asarray(mass(a, a * np.exp(lam * t)))


def lg_pdf(t: FloatArray, lam: float) -> FloatArray:
    return np.asarray(np.exp(_log_density(np.asarray(t), lam)))


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
    """log p: a difference of tails on the smaller side, or by quadrature of the density where the interval is short."""
    log_p = np.empty(u.size)
    with np.errstate(divide="ignore", invalid="ignore"):
        upper = np.where(np.isinf(d), np.where(np.isneginf(lo), u, lo), 0.5 * (u + lo)) > 0.0
        narrow = d * (1.0 + np.abs(_slope(u, lam)) + np.abs(_slope(lo, lam))) < 0.5
        below, above, short = (np.flatnonzero(some) for some in (~upper & ~narrow, upper & ~narrow, narrow))
        log_p[below] = np.log(lg_cdf(u[below], lam) - lg_cdf(lo[below], lam))
        log_p[above] = np.log(lg_sf(lo[above], lam) - lg_sf(u[above], lam))
    if short.size:
        half = 0.5 * d[short]
        middle = u[short] - half
        centre = _log_density(middle, lam)
        heights = _log_density(middle[:, None] + half[:, None] * NODES, lam) - centre[:, None]
        log_p[short] = centre + np.log(half * (np.exp(heights) @ NODE_WEIGHTS))
    return log_p


def lg_interval(u: FloatArray, lo: FloatArray, d: FloatArray, lam: float) -> Interval:
    log_p = lg_log(u, lo, d, lam)
    log_u, log_l = _log_density(u, lam), _log_density(lo, lam)
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = np.exp(log_u - log_p), np.exp(log_l - log_p)
        inner = np.where(log_l > log_u, b * np.expm1(log_u - log_l), -a * np.expm1(log_l - log_u))
        c = np.where(np.isinf(d), a - b, inner)
        s_u, s_l = _slope(u, lam), _slope(lo, lam)
        direct = assemble(log_p, a, b, c, s_u, s_l, np.where(np.isinf(d), 0.0, s_l - s_u))
    return with_series(direct, u, d, partial(_lg_phi, lam=lam))


def _slope(t: FloatArray, lam: float) -> FloatArray:
    """f'/f = -expm1(lambda t) / lambda, 0 at infinity."""
    t = np.where(np.isinf(t), 0.0, t)
    with np.errstate(over="ignore"):
        return -t if lam == 0.0 else -np.expm1(lam * t) / lam


def _lg_phi(m: FloatArray, lam: float) -> tuple[FloatArray, ...]:
    with np.errstate(over="ignore"):
        e = np.exp(lam * m)
    return _slope(m, lam), -e, -lam * e, -lam * lam * e


# ---------------------------------------------------------------------------------------------- links


def aranda_ordaz(lam: float) -> Link:
    """The Aranda-Ordaz link at lambda > 0."""
    return _link("aranda-ordaz", "", lam, ao_cdf, ao_sf, ao_pdf, ao_ppf, ao_log, ao_interval)


def log_gamma(lam: float) -> Link:
    """The log-gamma link at any lambda; its mirror is that at -lambda."""
    return _link("log-gamma", "log-gamma", lam, lg_cdf, lg_sf, lg_pdf, lg_ppf, lg_log, lg_interval)


def mirrored(link: Link) -> Link:
    """The link of the latent variable with its sign changed."""
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


def _link(name: str, mirror: str, lam: float, *functions: Callable[..., Any]) -> Link:
    """The functions at one lambda, in their order in `Link`."""
    cdf, sf, pdf, ppf, log_interval, interval = (partial(function, lam=lam) for function in functions)
    return Link(name, cdf, sf, pdf, ppf, log_interval, interval, mirror, lam)


FLEXIBLE: dict[str, FlexibleLink] = {
    "aranda-ordaz": FlexibleLink(
        "aranda-ordaz",
        aranda_ordaz,
        1.0,
        0.0,
        1e6,
        relative=True,
        bounds=(1.0 / 16.0, 16.0),
        members=("logit", "cloglog"),
    ),
    "log-gamma": FlexibleLink(
        "log-gamma",
        log_gamma,
        0.0,
        -30.0,
        30.0,
        relative=False,
        bounds=(-8.0, 8.0),
        members=("probit", "cloglog", "loglog"),
    ),
}

#: Every name that a link can have.
LINK_NAMES = (*LINKS, *FLEXIBLE)


def link_of(name: str, lam: float | None) -> Link | FlexibleLink:
    """The link of a name, however that is spelled; of a flexible one the family, or its member at `lam`.

    Raises
    ------
    OptionError
        An unknown name, lam for a link without a parameter, or lam outside its range.
    """
    known = one_spelled("link", name, LINK_NAMES)
    if known in LINKS:
        if lam is not None:
            raise OptionError(f"lam is the parameter of {' or '.join(FLEXIBLE)}; link={name!r} has none.")
        return LINKS[known]
    family = FLEXIBLE[known]
    if lam is None:
        return family
    value = number("lam", lam, also=", or None to estimate it")
    if not family.lower < value < family.upper:
        raise OptionError(f"lam must lie between {family.lower:g} and {family.upper:g} with {known}; got {value!r}.")
    return family.at(value)


#: Weights of f(-3h) ... f(3h) in h f' and h^2 f''.
_FIRST = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0
_SECOND = np.array([2.0, -27.0, 270.0, -490.0, 270.0, -27.0, 2.0]) / 180.0
_STEP = 0.02
#: The middle one of the seven points.
_HERE = 3


def _points(flexible: FlexibleLink, lam: float) -> tuple[FloatArray, float]:
    """Seven values of lambda about one, and their distance."""
    h = _STEP * lam if flexible.relative else _STEP
    return lam + h * np.arange(-3.0, 4.0), h


def lambda_inside(flexible: FlexibleLink, lam: float) -> bool:
    """Whether the link has derivatives at lambda: the points about it are inside the range."""
    points, _ = _points(flexible, lam)
    return bool(flexible.lower < points[0] and points[-1] < flexible.upper)


def lambda_slope(flexible: FlexibleLink, lam: float, curve: Callable[[Link], FloatArray]) -> FloatArray:
    """Derivative by lambda of what `curve` makes of a link."""
    points, h = _points(flexible, lam)
    values = np.array([curve(flexible.at(float(point))) for point in points])
    return np.asarray(np.tensordot(_FIRST, values, axes=1) / h)


def lambda_terms(
    family: Family, flexible: FlexibleLink, lam: float, predictor: Predictor, y: IntArray, second: bool = True
) -> RowTerms | None:
    """Terms at a lambda that is estimated, the last of the predictors; None outside the domain."""
    if not lambda_inside(flexible, lam):
        return None
    points, h = _points(flexible, lam)
    families = [family.at(flexible.at(float(point))) for point in points]
    here = families[_HERE].terms(predictor, y, second)
    if here is None:
        return None
    if not second:
        logs = np.array([one.log_p(predictor, y) for one in families])
        with np.errstate(invalid="ignore"):
            score = np.vstack([here.score, _FIRST @ logs / h])
        return RowTerms(log_p=here.log_p, places=here.places, score=score, curvature=None)
    found = [here if one is families[_HERE] else one.terms(predictor, y, second=False) for one in families]
    return _joined(here, [one for one in found if one is not None], h)


def _joined(here: RowTerms, found: Sequence[RowTerms], h: float) -> RowTerms:
    """The middle terms, with those of lambda from all seven; NaN where a probability is 0 at one of them."""
    logs = np.array([one.log_p for one in found])
    with np.errstate(invalid="ignore"):
        slope, bend = _FIRST @ logs / h, _SECOND @ (logs - here.log_p) / h**2
        mixed = sum(weight * one.score for weight, one in zip(_FIRST, found, strict=True)) / h
    score = np.vstack([here.score, slope])
    size = len(score)
    out = np.empty((size, size, here.log_p.size))
    out[:-1, :-1] = here.second()
    out[:-1, -1] = out[-1, :-1] = -np.asarray(mixed)
    out[-1, -1] = -bend
    return RowTerms(log_p=here.log_p, places=here.places, score=score, curvature=out, barrier=here.barrier)
