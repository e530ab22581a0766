"""Latent distributions and probabilities of intervals, accurate in both tails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
from scipy.special import erfcx, expit, ndtr, ndtri
from scipy.special import logit as log_odds

from .._typing import BoolArray, FloatArray

_LN2 = float(np.log(2.0))
_HALF_LOG_2PI = 0.5 * float(np.log(2.0 * np.pi))
_SQRT_HALF_PI = float(np.sqrt(0.5 * np.pi))
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(8)
#: Below this d (1 + |S|) the series in d replaces the direct forms, which lose digits
#: as 1 / d^2.
_NARROW = 1e-3


@dataclass(frozen=True, eq=False)
class Interval:
    """log p of each interval and its derivatives, all (n,).

    With the density f, a = f(u) / p, b = f(lo) / p, c = a - b, and W is minus the
    second derivative by a move of both ends. The score of (u, lo) is (a, -b); its
    Hessian is [[r_u - h_ul, h_ul], [h_ul, r_l - h_ul]].
    """

    log_p: FloatArray
    a: FloatArray
    b: FloatArray
    c: FloatArray
    W: FloatArray
    r_u: FloatArray
    r_l: FloatArray
    h_ul: FloatArray

    @property
    def h_uu(self) -> FloatArray:
        return self.r_u - self.h_ul

    @property
    def h_ll(self) -> FloatArray:
        return self.r_l - self.h_ul

    def mirrored(self) -> Interval:
        """The same for minus the latent variable, at (-lo, -u)."""
        return Interval(
            self.log_p, self.b, self.a, -self.c, self.W, self.r_l, self.r_u, self.h_ul
        )

    def reshaped(self, shape: tuple[int, ...]) -> Interval:
        """The same with arrays of another shape."""
        return Interval(*(getattr(self, f.name).reshape(shape) for f in fields(self)))

    def mirrored_where(self, flip: BoolArray) -> Interval:
        """`mirrored` on the rows of the mask, unchanged elsewhere."""
        other = self.mirrored()
        chosen = (
            np.where(flip, getattr(other, f.name), getattr(self, f.name))
            for f in fields(self)
        )
        return Interval(*chosen)


def log1mexp(x: FloatArray) -> FloatArray:
    """log(1 - exp(-x)) for x > 0."""
    near = x < _LN2
    small = np.where(near, x, 1.0)
    large = np.where(near, 1.0, x)
    return np.where(near, np.log(-np.expm1(-small)), np.log1p(-np.exp(-large)))


def _zero_times(weight: FloatArray, value: FloatArray) -> FloatArray:
    """weight * value, 0 where weight is 0 (an end so far out that its density
    vanished).
    """
    return weight * np.where(weight == 0.0, 0.0, value)


def assemble(
    log_p: FloatArray,
    a: FloatArray,
    b: FloatArray,
    c: FloatArray,
    s_u: FloatArray,
    s_l: FloatArray,
    gap: FloatArray,
) -> Interval:
    """Derivatives from a, b, c, the scores S of the density at both ends, and gap =
    S(lo) - S(u).

    W = c^2 - a S(u) + b S(lo) = c (c - S(u)) + b gap loses nothing when S(u), S(lo) and
    c nearly agree.
    """
    r_u = _zero_times(a, s_u - c)
    r_l = -_zero_times(b, s_l - c)
    inner = _zero_times(b, gap) - c * np.where(a == 0.0, 0.0, s_u - c)
    return Interval(log_p, a, b, c, np.where(a == 0.0, -r_l, inner), r_u, r_l, a * b)


def _narrow_series(
    log_p: FloatArray, d: FloatArray, phi: tuple[FloatArray, ...]
) -> Interval:
    """Second-order series in d about the middle m; phi = first four derivatives of log
    f at m.
    """
    phi1, phi2, phi3, phi4 = phi
    curvature = phi2 + phi1 * phi1
    tilt = phi3 + 2.0 * phi1 * phi2
    q_m = phi1 + d * d / 24.0 * tilt
    q_mm = phi2 + d * d / 24.0 * (phi4 + 2.0 * phi2 * phi2 + 2.0 * phi1 * phi3)
    q_d = 1.0 / d + d * curvature / 12.0
    q_md = d / 12.0 * tilt
    q_dd = -1.0 / (d * d) + curvature / 12.0
    half = 0.5 * q_mm
    h_ul = 0.25 * q_mm - q_dd
    return Interval(
        log_p,
        q_d + 0.5 * q_m,
        q_d - 0.5 * q_m,
        q_m,
        -q_mm,
        half + q_md,
        half - q_md,
        h_ul,
    )


def with_series(
    direct: Interval,
    u: FloatArray,
    d: FloatArray,
    derivatives: Callable[[FloatArray], tuple[FloatArray, ...]],
) -> Interval:
    """`direct`, with the series wherever the interval is narrow on the scale of the
    density.
    """
    candidates = np.flatnonzero(d < _NARROW)
    if candidates.size == 0:
        return direct
    middle = u[candidates] - 0.5 * d[candidates]
    phi = derivatives(middle)
    chosen = d[candidates] * (1.0 + np.abs(phi[0])) < _NARROW
    index = candidates[chosen]
    series = _narrow_series(
        direct.log_p[index], d[index], tuple(value[chosen] for value in phi)
    )
    for name in ("a", "b", "c", "W", "r_u", "r_l", "h_ul"):
        getattr(direct, name)[index] = getattr(series, name)
    return direct


# -------------------------------------------------------------------------------- logit


def logit_log(u: FloatArray, lo: FloatArray, d: FloatArray) -> FloatArray:
    """log p of the logistic distribution."""
    return log1mexp(d) - np.logaddexp(0.0, -u) - np.logaddexp(0.0, lo)


def logit_product(u: FloatArray, lo: FloatArray, d: FloatArray) -> FloatArray:
    """p = F(u) F(-lo) (1 - exp(-d)) of the logistic distribution."""
    return expit(u) * expit(-lo) * -np.expm1(-d)


def logit(u: FloatArray, lo: FloatArray, d: FloatArray) -> Interval:
    """Exact forms: nothing cancels at any width, so no series is needed."""
    above = expit(-u)
    below = expit(lo)
    with np.errstate(over="ignore"):
        g = 1.0 / np.expm1(d)
    f_u = above * expit(u)
    f_l = below * expit(-lo)
    return Interval(
        logit_log(u, lo, d),
        above + g,
        below + g,
        above - below,
        f_u + f_l,
        -f_u,
        -f_l,
        g * (1.0 + g),
    )


# ------------------------------------------------------------------------------- probit


def _mills(t: FloatArray) -> FloatArray:
    """Phi(t) / phi(t)."""
    return np.asarray(_SQRT_HALF_PI * erfcx(-t / np.sqrt(2.0)))


def _left_mass(
    u: FloatArray, lo: FloatArray, d: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Q = (Phi(u) - Phi(lo)) / phi(u) and log(phi(lo) / phi(u)) <= 0, for u + lo <= 0
    and u <= 5.
    """
    log_ratio = 0.5 * d * (u + lo)
    with np.errstate(invalid="ignore"):
        q = _mills(u) - np.where(np.isneginf(lo), 0.0, np.exp(log_ratio) * _mills(lo))
    close = np.flatnonzero(d * (1.0 + np.abs(u)) < 0.5)
    if close.size:
        half = 0.5 * d[close]
        t = half[:, None] * (1.0 + NODES)
        q[close] = half * (np.exp(t * (u[close, None] - 0.5 * t)) @ NODE_WEIGHTS)
    return q, log_ratio


def _to_left(u: FloatArray, lo: FloatArray) -> tuple[BoolArray, FloatArray, FloatArray]:
    """Reflect intervals of the upper tail, so that u + lo <= 0 and tails are measured
    where they are small.
    """
    flip = u > -lo
    return flip, np.where(flip, -lo, u), np.where(flip, -u, lo)


def _probit_parts(
    u: FloatArray, lo: FloatArray, d: FloatArray
) -> tuple[FloatArray, ...]:
    """log p, Q, log(phi(lo) / phi(u)) and 1 - p for u + lo <= 0; Q stands for u = 0, lo
    = -1 where u > 5.
    """
    wide = u > 5.0  # then lo <= -5: p is near 1, and its complement is more accurate
    inner = np.where(wide, 0.0, u)
    q, log_ratio = _left_mass(inner, np.where(wide, -1.0, lo), np.where(wide, 1.0, d))
    missing = ndtr(-u) + ndtr(lo)
    near_one = missing < 0.5
    log_p = np.where(
        near_one,
        np.log1p(-np.where(near_one, missing, 0.0)),
        np.log(q) - 0.5 * inner**2 - _HALF_LOG_2PI,
    )
    return log_p, q, log_ratio, missing


def probit_log(u: FloatArray, lo: FloatArray, d: FloatArray) -> FloatArray:
    """log p of the standard normal distribution."""
    _, upper, lower = _to_left(u, lo)
    return _probit_parts(upper, lower, d)[0]


def probit(u: FloatArray, lo: FloatArray, d: FloatArray) -> Interval:
    flip, upper, lower = _to_left(u, lo)
    log_p, q, log_ratio, missing = _probit_parts(upper, lower, d)
    a = 1.0 / q
    b = np.exp(log_ratio) / q
    c = -np.expm1(log_ratio) / q
    far = np.flatnonzero(upper > 5.0)
    if far.size:
        density = np.exp(
            -0.5 * np.stack([upper[far], lower[far]]) ** 2 - _HALF_LOG_2PI
        ) / (1.0 - missing[far])
        a[far], b[far] = density
        c[far] = density[0] - density[1]
    left = with_series(
        assemble(log_p, a, b, c, -upper, -lower, d), upper, d, _probit_phi
    )
    return left.mirrored_where(flip)


def _probit_phi(m: FloatArray) -> tuple[FloatArray, ...]:
    zero = np.zeros_like(m)
    return -m, zero - 1.0, zero, zero


# ------------------------------------------------------------------- cloglog and loglog


def cloglog_log(u: FloatArray, lo: FloatArray, d: FloatArray) -> FloatArray:
    """log p for F(t) = 1 - exp(-exp(t))."""
    with np.errstate(over="ignore", divide="ignore"):
        log_mass = np.where(np.isposinf(u), np.inf, u + log1mexp(d))
        mass = np.exp(log_mass)  # exp(u) - exp(lo)
        inner = np.where(
            mass < 1e-8,
            log_mass - 0.5 * np.minimum(mass, 1.0),
            log1mexp(np.clip(mass, 1e-300, 1e300)),
        )
        return inner - np.exp(lo)


def cloglog(u: FloatArray, lo: FloatArray, d: FloatArray) -> Interval:
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        e_u = np.exp(u)
        e_l = np.exp(lo)
        share = -np.expm1(-d)
        mass = np.where(np.isposinf(u), np.inf, e_u * share)  # D
        # D / expm1(D), 1 at D = 0
        shrink = np.where(mass > 0.0, mass / np.expm1(mass), 1.0)
        shrink = np.where(mass > 700.0, mass * np.exp(-mass), shrink)
        shrink = np.where(np.isposinf(mass), 0.0, shrink)
        a = shrink / share
        b = np.where(
            mass > 700.0,
            e_l,
            np.where(mass > 0.0, mass / -np.expm1(-mass), 1.0) / np.expm1(d),
        )
        direct = assemble(
            cloglog_log(u, lo, d), a, b, shrink - e_l, 1.0 - e_u, 1.0 - e_l, mass
        )
    return with_series(direct, u, d, _cloglog_phi)


def _cloglog_phi(m: FloatArray) -> tuple[FloatArray, ...]:
    with np.errstate(over="ignore"):
        e = np.exp(m)
    return 1.0 - e, -e, -e, -e


def loglog_log(u: FloatArray, lo: FloatArray, d: FloatArray) -> FloatArray:
    """log p for F(t) = exp(-exp(-t))."""
    return cloglog_log(-lo, -u, d)


def loglog(u: FloatArray, lo: FloatArray, d: FloatArray) -> Interval:
    return cloglog(-lo, -u, d).mirrored()


# ------------------------------------------------------------------------------ cauchit


def cauchit_log(u: FloatArray, lo: FloatArray, d: FloatArray) -> FloatArray:
    """log p of the Cauchy distribution: arctan u - arctan lo = atan2(d, 1 + u lo)."""
    lowest = np.isneginf(lo)
    highest = np.isposinf(u)
    outer = lowest | highest
    with np.errstate(invalid="ignore", over="ignore"):
        angle = (
            np.where(outer, 1.0, d),
            np.where(lowest, -u, np.where(highest, lo, 1.0 + u * lo)),
        )
    return np.log(np.arctan2(*angle) / np.pi)


def cauchit(u: FloatArray, lo: FloatArray, d: FloatArray) -> Interval:
    log_p = cauchit_log(u, lo, d)
    mass = np.pi * np.exp(log_p)
    with np.errstate(invalid="ignore", over="ignore"):
        q_u = 1.0 + u * u
        q_l = 1.0 + lo * lo
        a = 1.0 / (mass * q_u)
        b = 1.0 / (mass * q_l)
        inner = np.isfinite(d)
        c = np.where(inner, -(u + lo) * (d / q_u) / (mass * q_l), a - b)
        s_u = np.where(np.isinf(u), 0.0, -2.0 * u / q_u)
        s_l = np.where(np.isinf(lo), 0.0, -2.0 * lo / q_l)
        gap = np.where(inner, 2.0 * d * ((1.0 - u * lo) / q_u) / q_l, 0.0)
    return with_series(assemble(log_p, a, b, c, s_u, s_l, gap), u, d, _cauchit_phi)


def _cauchit_phi(m: FloatArray) -> tuple[FloatArray, ...]:
    q = 1.0 + m * m
    third = 4.0 * m * (3.0 - m * m) / q**3
    fourth = 12.0 * (1.0 - 6.0 * m * m + m**4) / q**4
    return -2.0 * m / q, -2.0 * (1.0 - m * m) / q**2, third, fourth


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
        log(F(u) - F(lo)) with d = u - lo, accurate in both tails and for narrow
        intervals.
    interval : callable (u, lo, d) -> Interval
        The same with its derivatives.
    mirror : str
        Name of the link of minus the latent variable (itself if symmetric, "" if there
        is none).
    lam : float or None
        The parameter of a flexible link (see `flexible.py`).
    product : callable (u, lo, d) -> (n,) or None
        F(u) - F(lo), as accurate but without logarithms; None if the link has no such
        form.
    log_concave : bool
        Whether the density is log-concave, so that the likelihood of location effects
        has one maximum.

    Examples
    --------
    >>> import numpy as np
    >>> upper, lower, width = np.array([[9.5], [8.5], [1.0]])
    >>> LINKS["probit"].log_interval(upper, lower, width).round(4)
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
    log_concave: bool = True

    def probability(self, u: FloatArray, lo: FloatArray, d: FloatArray) -> FloatArray:
        """F(u) - F(lo) with d = u - lo > 0, to full relative accuracy."""
        if self.product is not None:
            return self.product(u, lo, d)
        # ends so far out that the probability is 0
        with np.errstate(over="ignore", divide="ignore"):
            return np.exp(self.log_interval(u, lo, d))

    def __repr__(self) -> str:
        if self.lam is None:
            return f"LINKS[{self.name!r}]"
        return f"FLEXIBLE[{self.name!r}].at({self.lam!r})"


@dataclass(frozen=True)
class Reflected:
    """t -> curve(-t)."""

    curve: Curve

    def __call__(self, t: FloatArray) -> FloatArray:
        return self.curve(-np.asarray(t))


def _logit_pdf(t: FloatArray) -> FloatArray:
    return expit(t) * expit(-t)


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


_loglog_cdf = Reflected(_cloglog_sf)
_loglog_sf = Reflected(_cloglog_cdf)
_loglog_pdf = Reflected(_cloglog_pdf)


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
        Link(
            "logit",
            expit,
            Reflected(expit),
            _logit_pdf,
            log_odds,
            logit_log,
            logit,
            "logit",
            product=logit_product,
        ),
        Link(
            "probit",
            ndtr,
            Reflected(ndtr),
            _probit_pdf,
            ndtri,
            probit_log,
            probit,
            "probit",
        ),
        Link(
            "cloglog",
            _cloglog_cdf,
            _cloglog_sf,
            _cloglog_pdf,
            _cloglog_ppf,
            cloglog_log,
            cloglog,
            "loglog",
        ),
        Link(
            "loglog",
            _loglog_cdf,
            _loglog_sf,
            _loglog_pdf,
            _loglog_ppf,
            loglog_log,
            loglog,
            "cloglog",
        ),
        Link(
            "cauchit",
            _cauchit_cdf,
            _cauchit_sf,
            _cauchit_pdf,
            _cauchit_ppf,
            cauchit_log,
            cauchit,
            "cauchit",
            log_concave=False,
        ),
    )
}
