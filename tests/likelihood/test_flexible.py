"""Links with a parameter: against exact arithmetic, at the links they contain, and
their joint optimum.
"""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cache
from itertools import product

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
from seams import LINKS, Cumulative, LikelihoodFit, Sample

from ordstat import CumulativeLink, ordfit
from ordstat.exceptions import DataError, OptionError
from ordstat.likelihood.flexible import FLEXIBLE

from .samples import PARTS, make

#: Error / (1e-3 + |truth|) allowed.
TOLERANCE = {
    "log_p": 2e-12,
    "a": 5e-12,
    "b": 5e-12,
    "c": 5e-12,
    "W": 1e-10,
    "r_u": 2e-8,
    "r_l": 2e-8,
    "h_ul": 1e-11,
}
MEMBERS = [("aranda-ordaz", lam) for lam in (1e-3, 0.5, 3.0)] + [
    ("log-gamma", lam) for lam in (-2.0, -0.3, -3e-3, 0.0, 1e-4, 5e-3, 0.09, 0.16, 1.5)
]


def log_density(name: str, t: mp.mpf, lam: float) -> mp.mpf:
    if lam == 0.0:
        return -t * t / 2 - mp.log(2 * mp.pi) / 2
    z = mp.mpf(lam)
    if name == "aranda-ordaz":
        return t - (1 + 1 / z) * mp.log1p(z * mp.exp(t))
    a = z**-2
    return mp.log(abs(z)) + a * mp.log(a) - mp.loggamma(a) + a * (z * t - mp.exp(z * t))


@cache
def cdf(name: str, t: mp.mpf, lam: float) -> mp.mpf:
    if mp.isinf(t):
        return mp.mpf(0 if t < 0 else 1)
    if lam == 0.0:
        return mp.ncdf(t)
    z = mp.mpf(lam)
    if name == "aranda-ordaz":
        return 1 - (1 + z * mp.exp(t)) ** (-1 / z)
    # by quadrature of the density: the series of the gamma function are slow there
    if abs(lam) < 0.05:
        points = [*range(-14, int(mp.floor(t)) + 1, 2), t]
        return mp.quad(lambda s: mp.exp(log_density(name, s, lam)), points)
    p = mp.gammainc(z**-2, 0, z**-2 * mp.exp(z * t), regularized=True)
    return p if lam > 0 else 1 - p


def between(name: str, top: mp.mpf, bottom: mp.mpf, lam: float) -> mp.mpf:
    """F(top) - F(bottom); where F is an integral, the one from bottom to top."""
    if (
        name == "aranda-ordaz"
        or abs(lam) >= 0.05
        or not (mp.isfinite(top) and mp.isfinite(bottom))
    ):
        return cdf(name, top, lam) - cdf(name, bottom, lam)
    steps = max(2, int(mp.ceil((top - bottom) / 2)) + 1)
    return mp.quad(
        lambda s: mp.exp(log_density(name, s, lam)), mp.linspace(bottom, top, steps)
    )


def slope(name: str, t: mp.mpf, lam: float) -> mp.mpf:
    if name == "aranda-ordaz":
        return (1 - mp.exp(t)) / (1 + mp.mpf(lam) * mp.exp(t))
    return -t if lam == 0.0 else -mp.expm1(mp.mpf(lam) * t) / mp.mpf(lam)


def truth(name: str, lam: float, u: float, lo: float) -> dict[str, float]:
    """log p and its derivatives by definition."""
    top = mp.mpf(u)
    bottom = mp.mpf(lo)
    p = between(name, top, bottom, lam)
    none = mp.mpf(0)
    a, s_u = (
        (none, none)
        if np.isinf(u)
        else (mp.exp(log_density(name, top, lam)) / p, slope(name, top, lam))
    )
    b, s_l = (
        (none, none)
        if np.isinf(lo)
        else (mp.exp(log_density(name, bottom, lam)) / p, slope(name, bottom, lam))
    )
    h_uu = a * (s_u - a)
    h_ll = -b * (s_l + b)
    h_ul = a * b
    values = {
        "log_p": mp.log(p),
        "a": a,
        "b": b,
        "c": a - b,
        "W": -(h_uu + 2 * h_ul + h_ll),
    }
    values |= {"r_u": h_uu + h_ul, "r_l": h_ll + h_ul, "h_ul": h_ul}
    return {key: float(value) for key, value in values.items()}


@pytest.mark.parametrize(("name", "lam"), MEMBERS)
def test_intervals_and_curves_against_exact_arithmetic(name: str, lam: float) -> None:
    link = FLEXIBLE[name].at(lam)
    starts = (-5.5, -3.5, -0.5, 1.0, 4.0) if abs(lam) < 1.0 else (-1.5, -0.5, 1.0)
    widths = [2.0**-e for e in (26, 14, 10, 9, 6, 1)] + [3.0]
    cases = [(t + w, t, w) for t, w in product(starts, widths)]
    cases += [(t, -np.inf, np.inf) for t in starts] + [
        (np.inf, t, np.inf) for t in starts
    ]
    u, lo, d = (np.array(column) for column in zip(*cases, strict=True))
    with mp.workdps(40 if name == "log-gamma" and abs(lam) < 0.05 else 300):
        exact = [truth(name, lam, float(u), float(lo)) for u, lo, _ in cases]
        heights = [float(mp.exp(log_density(name, mp.mpf(t), lam))) for t in starts]
        shares = [cdf(name, mp.mpf(t), lam) for t in starts]
    got = link.interval(u, lo, d)
    for field, allowed in TOLERANCE.items():
        want = np.array([row[field] for row in exact])
        error = np.abs(getattr(got, field) - want) / (1e-3 + np.abs(want))
        worst = int(np.argmax(error))
        assert error[worst] <= allowed, (
            f"{field}: {error[worst]:.2g} at u={u[worst]}, l={lo[worst]}, d={d[worst]}"
        )
    np.testing.assert_allclose(link.log_interval(u, lo, d), got.log_p, rtol=1e-14)
    t = np.array(starts)
    np.testing.assert_allclose(link.pdf(t), heights, rtol=1e-13)
    # a e^(lambda t) is rounded, and 1 / lambda magnifies that
    relative = 1e-12 if 1e-4 < abs(lam) < 1e-2 else 1e-13
    np.testing.assert_allclose(link.cdf(t), [float(p) for p in shares], rtol=relative)
    np.testing.assert_allclose(
        link.sf(t), [float(1 - p) for p in shares], rtol=relative
    )
    p = np.array([1e-9, 1e-3, 0.3, 0.5, 0.9, 0.999])
    np.testing.assert_allclose(link.cdf(link.ppf(p)), p, rtol=max(1e-11, relative))
    ends = np.array([-np.inf, np.inf])
    for curve, limits in (
        (link.cdf, [0.0, 1.0]),
        (link.sf, [1.0, 0.0]),
        (link.pdf, [0.0, 0.0]),
    ):
        np.testing.assert_array_equal(curve(ends), limits)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(link)).cdf(t), link.cdf(t))


def fit(sample: Sample, **options: object) -> LikelihoodFit:
    return CumulativeLink(**options).fit(sample, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("link", "lam", "plain"),
    [
        ("aranda-ordaz", 1.0, "logit"),
        ("log-gamma", 0.0, "probit"),
        ("log-gamma", 1.0, "cloglog"),
        ("log-gamma", -1.0, "loglog"),
    ],
)
@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_members_that_have_a_name(
    link: str, lam: float, plain: str, parts: tuple[str, ...]
) -> None:
    one = fit(make(parts), link=(link, lam))
    other = fit(make(parts), link=plain)
    assert one.n_lambda == 0 and one.loglik == pytest.approx(other.loglik, rel=1e-12)
    np.testing.assert_allclose(
        one.coefficients, other.coefficients, rtol=1e-7, atol=1e-9
    )
    np.testing.assert_allclose(
        one.model_covariance.dense(),
        other.model_covariance.dense(),
        rtol=1e-7,
        atol=1e-10,
    )


def log_likelihood(
    sample: Sample, actual: LikelihoodFit, link: str, values: np.ndarray
) -> float:
    m = actual.rule.alpha.shape[1]
    alpha = values[: actual.n_alpha].reshape(m, -1).T
    beta, zeta, lam = np.split(
        values[actual.n_alpha :], [actual.n_beta, actual.n_beta + actual.n_zeta]
    )
    rule = replace(
        actual.rule,
        alpha=alpha,
        beta=beta,
        zeta=zeta,
        family=Cumulative(FLEXIBLE[link].at(float(lam[0]))),
    )
    p = rule.probabilities(sample.rows)[np.arange(sample.n), sample.y]
    return float(sample.case_weights @ np.log(p))


@pytest.mark.parametrize(
    "parts", [(), ("nominal", "weights"), ("scale",)], ids=["plain", "nominal", "scale"]
)
@pytest.mark.parametrize("link", FLEXIBLE)
def test_joint_optimum_and_covariance(link: str, parts: tuple[str, ...]) -> None:
    """The gradient of the log-likelihood written down by hand vanishes; its Hessian is
    the inverse covariance.
    """
    sample = make(parts, n=300)
    result = fit(sample, link=link)
    assert (
        result.certificate.reached
        and result.separation is None
        and result.n_lambda == 1
    )
    size = result.coefficients.size
    h = 1e-4 * np.eye(size)

    def at(move: np.ndarray) -> float:
        return log_likelihood(sample, result, link, result.coefficients + move)

    assert at(np.zeros(size)) == pytest.approx(result.loglik, rel=1e-12)
    np.testing.assert_allclose([(at(s) - at(-s)) / 2e-4 for s in h], 0.0, atol=2e-5)
    hessian = np.array(
        [
            [(at(s + t) - at(s - t) - at(t - s) + at(-s - t)) / 4e-8 for t in h]
            for s in h
        ]
    )
    covariance = result.model_covariance.dense()
    np.testing.assert_allclose(-hessian @ covariance, np.eye(size), atol=5e-3)
    np.testing.assert_allclose(
        result.model_covariance.variances, np.diag(covariance), rtol=1e-9
    )
    assert result.rule.link.lam == result.coefficients[-1]
    # the profile has its top there
    for lam in (result.coefficients[-1] * 0.9, result.coefficients[-1] * 1.1):
        assert fit(sample, link=(link, lam)).loglik < result.loglik


@pytest.mark.parametrize("parts", [(), ("nominal", "scale")], ids=["plain", "parts"])
def test_reversed_levels_change_the_sign_of_lambda(parts: tuple[str, ...]) -> None:
    sample = make(parts, n=300)
    one = fit(sample, link="log-gamma")
    other = fit(replace(sample, y=3 - sample.y), link="log-gamma")
    assert one.loglik == pytest.approx(other.loglik, rel=1e-12)
    location = slice(one.n_alpha, one.n_alpha + one.n_beta)
    np.testing.assert_allclose(
        one.coefficients[location], -other.coefficients[location], rtol=1e-6
    )
    assert one.coefficients[-1] == pytest.approx(-other.coefficients[-1], rel=1e-6)


@pytest.mark.parametrize("link", FLEXIBLE)
def test_meat_of_the_sandwich(link: str) -> None:
    sample = make(("scale", "weights"), n=200)
    result = fit(sample, link=link)
    h = 1e-5 * np.eye(result.coefficients.size)

    def rows(values: np.ndarray) -> np.ndarray:
        single = [
            replace(sample.take(np.array([i])), weights=None) for i in range(sample.n)
        ]
        return np.array([log_likelihood(one, result, link, values) for one in single])

    scores = np.array(
        [
            (rows(result.coefficients + s) - rows(result.coefficients - s)) / 2e-5
            for s in h
        ]
    ).T
    expected = (scores * sample.weights[:, None]).T @ scores
    np.testing.assert_allclose(
        result.likelihood.score_products(None), expected, rtol=1e-5, atol=1e-4
    )


def test_a_logistic_response_gives_a_lambda_near_one() -> None:
    """Aranda-Ordaz is the logit at 1: within three standard errors on 4000 rows drawn
    from it.
    """
    result = fit(make(n=4000), link="aranda-ordaz")
    error = np.sqrt(result.model_covariance.variances[-1])
    assert abs(result.coefficients[-1] - 1.0) < 3.0 * error < 0.6


@pytest.mark.parametrize(
    ("link", "message"),
    [
        (("logit", 0.5), "link='logit' has no parameter"),
        (("aranda-ordaz", -1.0), "lam must lie between 0"),
        (("log-gamma", "x"), "lam must be a finite number"),
        ("log-gama", "link must be one of 'logit'"),
        (3, "link must be one of 'logit'"),
    ],
)
def test_links_are_checked(link: object, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        CumulativeLink(link=link)


def test_a_list_makes_the_same_method() -> None:
    assert CumulativeLink(link=["log-gamma", 1]) == CumulativeLink(
        link=("log-gamma", 1.0)
    )
    assert hash(CumulativeLink(link=["log-gamma", 1])) == hash(
        CumulativeLink(link=("log-gamma", 1.0))
    )
    assert LINKS["probit"].lam is None


@pytest.mark.parametrize("parts", [(), ("scale",), ("nominal", "scale")])
@pytest.mark.parametrize("lam", [25.0, -25.0])
def test_a_lambda_whose_quantiles_overflow_is_refused(
    lam: float, parts: tuple[str, ...]
) -> None:
    """The cumulative shares are about 1%, 2%, 3% (or 97%, 98%, 99%): log-gamma has the
    first at -2500.
    """
    sample = make(parts, n=200, n_levels=4)
    y = np.full(200, 3 if lam > 0 else 0)
    y[:8] = np.arange(8) % 4
    method = CumulativeLink(link=("log-gamma", lam))
    with pytest.raises(
        DataError, match="must have finite quantiles at the cumulative shares"
    ):
        method.fit(replace(sample, y=y), np.random.default_rng(0))


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("scale", [None, "~ x"])
@pytest.mark.parametrize("lam", [25, -25])
def test_a_lambda_whose_quantiles_coincide_is_refused(
    lam: int, seed: int, scale: str | None
) -> None:
    """At 25 or -25 a tail of log-gamma is so short that different shares have one
    quantile in double precision: it ended in an assertion.
    """
    rng = np.random.default_rng(seed)
    x = rng.normal(size=200)
    y = np.digitize(x + rng.logistic(size=200), [-1.0, 0.5, 1.5])
    with pytest.raises(DataError, match="overflow or coincide"):
        ordfit(
            "y ~ x",
            pd.DataFrame({"x": x, "y": y}),
            link=("log-gamma", lam),
            scale=scale,
        )
