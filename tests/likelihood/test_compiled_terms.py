"""Compiled sums over row terms against their NumPy twins."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
import twins
import twins_sums

from ordstat._typing import FloatArray
from ordstat.compiled import sums, terms


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("widths", [(3, 2, 1), (2, 0), (0, 0), (0, 2)])
@pytest.mark.parametrize("m", [1, 3])
def test_accumulate_terms(m: int, widths: tuple[int, ...], local: bool) -> None:
    rng = np.random.default_rng(5)
    n, K, q = 40, 5, sum(widths)
    y = rng.integers(0, K, n)
    ends = np.minimum(y, K - 2), np.maximum(y - 1, 0)
    places = np.stack(ends) if local else np.broadcast_to(np.arange(K - 1)[:, None], (K - 1, n)).copy()
    Q = len(places) + len(widths)
    curvature = rng.normal(size=(Q, Q, n))
    curvature += curvature.transpose(1, 0, 2)
    given = (rng.normal(size=(n, m)), rng.normal(size=(n, q)), np.cumsum([0, *widths]), places, rng.normal(size=(Q, n)))
    shapes = ((K - 1, m), (2, K - 1, m, m) if local else (K - 1, K - 1, m, m), (K - 1, m, q), (q,), (q, q))
    one, other = ([np.zeros(shape) for shape in shapes] for _ in range(2))
    for found, module in ((one, terms), (other, twins)):
        module.accumulate_terms(*given, curvature, *found, local)
    for mine, twin in zip(one, other, strict=True):
        np.testing.assert_allclose(mine, twin, rtol=1e-12, atol=1e-12)
    scores = [np.zeros(shape) for shape in shapes]
    terms.accumulate_terms(*given, None, *scores, local)
    np.testing.assert_array_equal(scores[0], one[0])
    np.testing.assert_array_equal(scores[3], one[3])


def test_interval_terms() -> None:
    rng = np.random.default_rng(6)
    parts = [rng.normal(size=30) for _ in range(8)]
    lower = rng.normal(size=30)
    width = rng.exponential(size=30)
    upper = lower + width
    upper[:5], lower[5:9], width[:9] = np.inf, -np.inf, np.inf
    one, other = ((np.empty((4, 30)), np.empty((4, 4, 30))) for _ in range(2))
    terms.interval_terms(*parts, upper, lower, width, *one)
    twins.interval_terms(*parts, upper, lower, width, *other)
    for mine, twin in zip(one, other, strict=True):
        np.testing.assert_allclose(mine, twin, rtol=1e-13, atol=1e-13)
    score = np.empty((4, 30))
    terms.interval_terms(*parts, upper, lower, width, score, None)
    np.testing.assert_array_equal(score, one[0])


def test_logit_interval() -> None:
    rng = np.random.default_rng(7)
    lower, width = 12.0 * rng.normal(size=400), rng.exponential(size=400) ** 5
    upper = lower + width
    upper[:40], lower[40:90], width[:90] = np.inf, -np.inf, np.inf
    upper[100:104], lower[100:104], width[100:104] = (-800.0, 800.0, -30.0, 30.0), (-900.0, 700.0, -31.0, 29.0), 1.0
    one, other = np.empty((8, 400)), np.empty((8, 400))
    terms.logit_interval(upper, lower, width, one)
    twins.logit_interval(upper, lower, width, other)
    np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-300)


def test_interval_ends() -> None:
    rng = np.random.default_rng(8)
    y = rng.integers(0, 4, size=50)
    given = [rng.normal(size=50) for _ in range(5)]
    one, other = np.empty((3, 50)), np.empty((3, 50))
    terms.interval_ends(*given, y, 3, one)
    twins.interval_ends(*given, y, 3, other)
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("lam", [0.01, 0.7, 1.0, 30.0])
def test_aranda_ordaz_interval(lam: float) -> None:
    rng = np.random.default_rng(9)
    lower, width = rng.normal(size=300), 0.2 + rng.exponential(size=300)
    upper = lower + width
    upper[:40], lower[40:90], width[:90] = np.inf, -np.inf, np.inf
    one, other = np.empty((8, 300)), np.empty((8, 300))
    terms.aranda_ordaz_interval(upper, lower, width, lam, one)
    twins.aranda_ordaz_interval(upper, lower, width, lam, other)
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)
    logs = np.empty(300)
    terms.aranda_ordaz_log(upper, lower, width, lam, logs)
    np.testing.assert_array_equal(logs, one[0])


def test_standardise() -> None:
    rng = np.random.default_rng(11)
    X, one, other = rng.normal(size=(30, 3)), np.ones((30, 5)), np.ones((30, 5))
    for found, module in ((one, sums), (other, twins_sums)):
        module.standardise(X, np.array([0.1, -3.0, 1e6]), np.array([2.0, 0.3, 1e-3]), 1, found)
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("second", [True, False])
@pytest.mark.parametrize("shape", [(0, 0, 1), (3, 0, 1), (2, 2, 1), (0, 2, 3), (3, 1, 3)], ids=str)
@pytest.mark.parametrize("patterns", [1, 4])
@pytest.mark.parametrize(("lam", "estimated"), [(1.0, False), (0.4, False), (1.0, True), (0.4, True), (25.0, True)])
def test_interval_sums(lam: float, estimated: bool, patterns: int, shape: tuple[int, int, int], second: bool) -> None:
    (p, r, m), n, last = shape, 700, 3  # more rows than are taken at once
    q = p + r + estimated
    rng = np.random.default_rng(10)
    base = (np.arange(last) - 1.0 + 0.2 * rng.uniform(size=(patterns, last))).reshape(-1)
    theta = np.hstack([base[:, None], 0.02 * rng.normal(size=(base.size, m - 1))])
    step = np.diff(theta.reshape(patterns, last, m), axis=1, prepend=0.0).reshape(-1, m)
    w = None if m == 1 else np.hstack([np.ones((n, 1)), rng.normal(size=(n, m - 1))])
    columns = np.hstack([rng.normal(size=(n, p + r)), np.ones((n, int(estimated)))])
    given = (
        *(columns, p, r, w, rng.integers(0, patterns, n) if patterns > 1 else None),
        *(rng.integers(0, last + 1, n), rng.uniform(0.5, 2.0, n), rng.normal(size=n)),
        *(0.2 * rng.normal(size=n) if r else None, last, theta, step, 0.3 * rng.normal(size=q), lam),
    )
    shapes = ((base.size, m), (2, base.size, m, m), (base.size, m, q), (q,), (q, q))
    one, other = ([np.zeros(shape) for shape in shapes] for _ in range(2))
    value = sums.interval_sums(*given, 1e10, 100.0, *one, second)
    assert value == pytest.approx(twins_sums.interval_sums(*given, 1e10, 100.0, *other, second), rel=1e-12)
    for mine, twin in zip(one, other, strict=True):
        np.testing.assert_allclose(mine, twin, rtol=1e-11, atol=1e-11 if lam == 1.0 and not estimated else 1e-10)
    beyond = {"thresholds": (1e10, 100.0, -step), "scale": (1e10, 1e-3, step), "inverse scale": (1e-3, 100.0, step)}
    for name, (farthest, largest, steps) in beyond.items():
        if name == "scale" and not r:
            continue
        changed = (*given[:-3], steps, *given[-2:], farthest, largest)
        into = [[np.zeros(shape) for shape in shapes] for _ in range(2)]
        assert np.isnan(sums.interval_sums(*changed, *into[0], second)), name
        assert np.isnan(twins_sums.interval_sums(*changed, *into[1], second)), name


def one_row(upper: float, lower: float, lam: float) -> tuple[float, FloatArray, FloatArray]:
    """log p of an interval, its score and its negative Hessian by (theta_y, theta_{y-1}, H, tau, lambda)."""
    y = 2 if np.isposinf(upper) else int(not np.isneginf(lower))
    theta = {0: [upper, upper + 1.0], 1: [lower, upper], 2: [lower - 1.0, lower]}[y]
    table = np.array(theta)[:, None]
    into = [np.zeros(shape) for shape in ((2, 1), (2, 2, 1, 1), (2, 1, 3), (3,), (3, 3))]
    rows = np.ones((1, 3)), 1, 1, None, None, np.array([y]), np.ones(1), np.zeros(1), None, 2
    point = table, np.diff(table, axis=0, prepend=0.0), np.zeros(3), lam
    value = sums.interval_sums(*rows, *point, 1e10, 100.0, *into, True)
    alpha, pairs, cross, rest, gram = into
    at = [min(y, 1), max(y - 1, 0)]
    ends = np.array([y < 2, y > 0], dtype=float)
    mixed = pairs[1, 0, 0, 0]
    own = np.array([[pairs[0, at[0], 0, 0], mixed], [mixed, pairs[0, at[1], 0, 0]]]) * np.outer(ends, ends)
    sides = cross[at, 0] * ends[:, None]
    return value, np.append(alpha[at, 0] * ends, rest), np.block([[own, sides], [sides.T, gram]])


@pytest.mark.parametrize("lam", [3e-4, 0.02, 0.6, 1.0, 4.0, 250.0])
@pytest.mark.parametrize(
    ("upper", "lower"),
    [(0.7, -0.4), (-1.3, -1.31), (np.inf, 0.9), (np.inf, -7.0), (-2.0, -np.inf), (3.0, -np.inf), (-6.0, -9.0)],
)
def test_interval_sums_are_derivatives(upper: float, lower: float, lam: float) -> None:
    def log_p(theta_u: float, theta_l: float, H: float, tau: float, lam: float) -> mp.mpf:
        def hazard(end: float, theta: float) -> mp.mpf:
            if np.isinf(end):
                return mp.mpf(0)
            return mp.log1p(lam * mp.exp(mp.exp(-tau) * (theta - H))) / lam

        below, above = hazard(lower, theta_l), hazard(upper, theta_u)
        return -below if np.isinf(upper) else mp.log(-mp.expm1(below - above)) - below

    value, score, information = one_row(upper, lower, lam)
    point = [0.0 if np.isinf(end) else end for end in (upper, lower)] + [0.0, 0.0, lam]
    with mp.workdps(50):
        at = [mp.mpf(each) for each in point]
        units = np.eye(5, dtype=int)
        first = [float(mp.diff(log_p, at, tuple(unit))) for unit in units]
        second = [[-float(mp.diff(log_p, at, tuple(one + other))) for one in units] for other in units]
        assert value == pytest.approx(float(log_p(*at)), rel=1e-12)
    np.testing.assert_allclose(score, first, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(information, second, rtol=1e-9, atol=1e-12)


def test_interval_sums_leave_what_is_too_close_or_too_far() -> None:
    assert np.isfinite(one_row(0.5, 0.499, 0.6)[0])
    for upper, lower in ((0.5, 0.4995), (260.0, 0.0), (np.inf, -251.0), (300.0, -np.inf)):
        assert np.isnan(one_row(upper, lower, 0.6)[0])
