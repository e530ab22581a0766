"""Third derivatives of the log-probability of an interval: how W = -d2 log p / dr2 moves with its ends u and lo.

With S = f'/f and a, b, c, r_u, r_l of `interval_probability.py`:
  dW/du  = r_u (2c - S(u))  - a b gap - a S'(u),   gap = S(lo) - S(u)
  dW/dlo = r_l (2c - S(lo)) + a b gap + b S'(lo)
in which only the part that a narrow interval makes large, a b gap + a S'(u), cancels, to a thousandth at worst. Terms
of an infinite end are 0. The logit has the closed form dW/du = f(u) (1 - 2 F(u)).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from ..._typing import FloatArray
from .interval_probability import Interval
from .links import Link

#: S and S' of a density, and gap = S(lo) - S(u) from (u, lo, d).
Scores = tuple[
    Callable[[FloatArray], FloatArray],
    Callable[[FloatArray], FloatArray],
    Callable[[FloatArray, FloatArray, FloatArray], FloatArray],
]
#: Step of the differences of other links, and weights of f(-2h), f(-h), f(h), f(2h) in 12 h f'.
_STEP, _WEIGHTS = 1e-3, ((-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0))


def curvature_slopes(
    link: Link, u: FloatArray, lo: FloatArray, d: FloatArray, at: Interval
) -> tuple[FloatArray, FloatArray]:
    """(n,) dW/du and dW/dlo of intervals whose derivatives are `at`."""
    if link.name == "logit":
        return _logistic(u), _logistic(lo)
    if link.name == "loglog":
        lower, upper = _direct(_SCORES["cloglog"], -lo, -u, d, at.mirrored())
        return -upper, -lower
    if link.name in _SCORES:
        return _direct(_SCORES[link.name], u, lo, d, at)
    return _differences(link, u, lo, d)


def _logistic(t: FloatArray) -> FloatArray:
    return np.asarray(expit(t) * expit(-t) * -np.tanh(0.5 * t))


def _direct(
    scores: Scores, u: FloatArray, lo: FloatArray, d: FloatArray, at: Interval
) -> tuple[FloatArray, FloatArray]:
    S, slope, gap = scores
    with np.errstate(over="ignore", invalid="ignore"):
        top, bottom = at.a != 0.0, at.b != 0.0
        between = np.where(top & bottom, at.h_ul * gap(u, lo, d), 0.0)
        by_u = at.r_u * (2.0 * at.c - S(u)) - at.a * slope(u)
        by_l = at.r_l * (2.0 * at.c - S(lo)) + at.b * slope(lo)
        return np.where(top, by_u, 0.0) - between, np.where(bottom, by_l, 0.0) + between


def _differences(link: Link, u: FloatArray, lo: FloatArray, d: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of fourth order, good to about 1e-10; steps stay inside the interval."""
    h = _STEP * np.minimum(1.0, 0.25 * d)
    by_u, by_l = np.zeros(u.size), np.zeros(u.size)
    for move, weight in _WEIGHTS:
        by_u += weight * link.interval(u + move * h, lo, d + move * h).W
        by_l += weight * link.interval(u, lo + move * h, d - move * h).W
    return np.where(np.isinf(u), 0.0, by_u / (12.0 * h)), np.where(np.isinf(lo), 0.0, by_l / (12.0 * h))


def _cauchy_gap(u: FloatArray, lo: FloatArray, d: FloatArray) -> FloatArray:
    return 2.0 * d * ((1.0 - u * lo) / (1.0 + u * u)) / (1.0 + lo * lo)


_SCORES: dict[str, Scores] = {
    "probit": (np.negative, lambda t: np.full(t.size, -1.0), lambda u, lo, d: d),
    "cloglog": (lambda t: 1.0 - np.exp(t), lambda t: -np.exp(t), lambda u, lo, d: np.exp(u) * -np.expm1(-d)),
    "cauchit": (
        lambda t: -2.0 * t / (1.0 + t * t),
        lambda t: -2.0 * (1.0 - t * t) / (1.0 + t * t) ** 2,
        _cauchy_gap,
    ),
}
