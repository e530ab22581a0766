"""Links against 400-digit arithmetic: bulk, tails, open ends, intervals from 1 down to
1e-8 wide.
"""

from __future__ import annotations

import pickle
from functools import cache
from itertools import product

import mpmath as mp
import numpy as np
import pytest

from ordstat.likelihood.links import LINKS

#: Error / (1e-3 + |truth|) allowed; logit has exact forms, the others a series for
#: narrow intervals.
TOLERANCE = {
    "log_p": 3e-14,
    "a": 6e-13,
    "b": 6e-13,
    "c": 2e-13,
    "W": 1e-12,
    "r_u": 2e-9,
    "r_l": 2e-9,
    "h_ul": 1e-12,
}
# c = 0 is known to 1e-16
LOGIT_TOLERANCE = dict.fromkeys(TOLERANCE, 1e-15) | {"c": 2e-13}
RANGE = {
    "logit": (-35, 35),
    "probit": (-35, 35),
    "cauchit": (-35, 35),
    "cloglog": (-30, 4),
    "loglog": (-4, 30),
}

MP_CDF = {
    "logit": lambda t: 1 / (1 + mp.exp(-t)),
    "probit": mp.ncdf,
    "cloglog": lambda t: -mp.expm1(-mp.exp(t)),
    "loglog": lambda t: mp.exp(-mp.exp(-t)),
    "cauchit": lambda t: mp.atan2(1, -t) / mp.pi,
}
MP_LOG_PDF = {
    "logit": lambda t: -t - 2 * mp.log1p(mp.exp(-t)),
    "probit": lambda t: -t * t / 2 - mp.log(2 * mp.pi) / 2,
    "cloglog": lambda t: t - mp.exp(t),
    "loglog": lambda t: -t - mp.exp(-t),
    "cauchit": lambda t: -mp.log(mp.pi * (1 + t * t)),
}
MP_SCORE = {
    "logit": lambda t: 1 - 2 / (1 + mp.exp(-t)),
    "probit": lambda t: -t,
    "cloglog": lambda t: 1 - mp.exp(t),
    "loglog": lambda t: mp.exp(-t) - 1,
    "cauchit": lambda t: -2 * t / (1 + t * t),
}


@cache
def _end(name: str, t: float) -> tuple[mp.mpf, mp.mpf, mp.mpf]:
    """cdf, pdf and derivative of log pdf at an end, which several intervals share, in
    400 digits.
    """
    if np.isinf(t):
        return mp.mpf(t > 0), mp.mpf(0), mp.mpf(0)
    with mp.workdps(400):
        end = mp.mpf(t)
        return MP_CDF[name](end), mp.exp(MP_LOG_PDF[name](end)), MP_SCORE[name](end)


def truth(name: str, u: float, lo: float) -> dict[str, float]:
    """log p and its derivatives by definition, in 400 digits (cdf differences of 1e-8
    in far tails).
    """
    (top, f_u, s_u), (bottom, f_l, s_l) = _end(name, u), _end(name, lo)
    with mp.workdps(400):
        p = top - bottom
        a = f_u / p
        b = f_l / p
        h_uu = a * (s_u - a)
        h_ll = -b * (s_l + b)
        h_ul = a * b
        values = {
            "log_p": mp.log(p),
            "a": a,
            "b": b,
            "c": a - b,
            "W": -(h_uu + 2 * h_ul + h_ll),
            "r_u": h_uu + h_ul,
            "r_l": h_ll + h_ul,
            "h_ul": h_ul,
        }
        return {key: float(value) for key, value in values.items()}


def cases(name: str) -> list[tuple[float, float, float]]:
    """(u, lo, d) whose three numbers agree exactly: dyadic ends and widths."""
    low, high = RANGE[name]
    starts = [float(t) for t in np.round(np.linspace(low, high, 15) * 8) / 8]
    widths = [2.0**-e for e in (26, 20, 17, 14, 12, 11, 10, 9, 8, 7, 5, 2, 0)] + [
        4.0,
        12.0,
    ]
    closed = [(t + w, t, w) for t, w in product(starts, widths) if t + w <= high]
    return (
        closed
        + [(t, -np.inf, np.inf) for t in starts]
        + [(np.inf, t, np.inf) for t in starts]
    )


@pytest.mark.parametrize("name", LINKS)
def test_interval_and_derivatives_against_exact_arithmetic(name: str) -> None:
    triples = cases(name)
    u, lo, d = (np.array(column) for column in zip(*triples, strict=True))
    exact = [truth(name, u, lo) for u, lo, _ in triples]
    got = LINKS[name].interval(u, lo, d)
    for field, allowed in TOLERANCE.items():
        want = np.array([row[field] for row in exact])
        error = np.abs(getattr(got, field) - want) / (1e-3 + np.abs(want))
        limit = LOGIT_TOLERANCE[field] if name == "logit" else allowed
        worst = int(np.argmax(error))
        assert error[worst] <= limit, (
            f"{field}: {error[worst]:.2g} at u={u[worst]}, l={lo[worst]}, d={d[worst]}"
        )
    np.testing.assert_allclose(
        LINKS[name].log_interval(u, lo, d), got.log_p, rtol=1e-15, atol=0
    )


@pytest.mark.parametrize("name", LINKS)
def test_curves_against_exact_arithmetic(name: str) -> None:
    """cdf, sf and pdf keep their relative accuracy in both tails; ppf inverts cdf."""
    link, low, high = LINKS[name], *RANGE[name]
    t = np.round(np.linspace(low, high, 29) * 8) / 8
    with mp.workdps(50):
        cdf = [float(MP_CDF[name](mp.mpf(x))) for x in t]
        pdf = [float(mp.exp(MP_LOG_PDF[name](mp.mpf(x)))) for x in t]
    with mp.workdps(400):
        sf = [float(1 - MP_CDF[name](mp.mpf(x))) for x in t]
    for curve, want in ((link.cdf, cdf), (link.sf, sf), (link.pdf, pdf)):
        # exp of numbers near 600 has an error of 600 ulp
        np.testing.assert_allclose(curve(t), want, rtol=2e-13)
    p = np.array([1e-12, 1e-3, 0.2, 0.25, 0.5, 0.7, 0.999])
    np.testing.assert_allclose(link.cdf(link.ppf(p)), p, rtol=1e-13)
    ends = np.array([-np.inf, np.inf])
    np.testing.assert_array_equal(link.cdf(ends), [0.0, 1.0])
    np.testing.assert_array_equal(link.sf(ends), [1.0, 0.0])
    np.testing.assert_array_equal(link.pdf(ends), [0.0, 0.0])


@pytest.mark.parametrize("name", LINKS)
def test_links_pickle_and_name_their_mirror(name: str) -> None:
    link = pickle.loads(pickle.dumps(LINKS[name]))
    t = np.linspace(-3.0, 3.0, 13)
    np.testing.assert_array_equal(link.cdf(t), LINKS[name].cdf(t))
    np.testing.assert_allclose(LINKS[link.mirror].cdf(-t), link.sf(t), rtol=1e-15)
