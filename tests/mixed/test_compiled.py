"""The compiled passes of random effects against their NumPy twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ordstat.compiled import effects, mixed

from . import twins_mixed as twins

#: Forms of the passes differ in rounding, and modes by half the digits of Newton's decrement.
TIGHT, MODES = 1e-11, 1e-8


def rows(seed: int, n: int = 60) -> tuple[Any, ...]:
    """u, lo, d of rows of several widths, some at either end, the inverse scale and weights."""
    rng = np.random.default_rng(seed)
    u, d = rng.uniform(-2.0, 2.5, n), rng.choice([1.5, 0.3, 0.01], n) * rng.uniform(0.5, 1.5, n)
    lo = u - d
    u[:12], lo[12:24], d[:24] = np.inf, -np.inf, np.inf
    order = rng.permutation(n)
    return u[order], lo[order], d[order], rng.uniform(0.7, 1.3, n), rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("link", range(5))
def test_terms_of_rows(link: int) -> None:
    u, lo, d, s, w = rows(link)
    rng = np.random.default_rng(9)
    shift, variance, t = rng.normal(size=u.size) * 0.4, rng.uniform(0.0, 1.0, u.size), rng.normal(size=u.size)
    found, other = np.empty((u.size, 8)), np.empty((u.size, 8))
    assert mixed.full_terms(link, u, lo, d, s, shift, found)
    twins.full_terms(link, u, lo, d, s, shift, other)
    np.testing.assert_allclose(found, other, rtol=1e-9, atol=1e-9)
    here, there = np.empty((3, u.size)), np.empty((3, u.size))
    assert mixed.location_terms(link, u, lo, d, s, shift, *here)
    twins.location_terms(link, u, lo, d, s, shift, *there)
    np.testing.assert_allclose(here, there, rtol=1e-10, atol=1e-11)
    if link == 0:
        bases, own_bases = np.empty((3, u.size)), np.empty((3, u.size))
        assert mixed.logit_bases(u, lo, d, bases)
        twins.logit_bases(u, lo, d, own_bases)
        np.testing.assert_allclose(bases, own_bases, rtol=1e-15)
        assert mixed.location_terms(link, u, lo, d, s, shift, *here, bases)
        np.testing.assert_allclose(here, there, rtol=1e-10, atol=1e-11)
    kappa, own = np.empty((4, u.size)), np.empty((4, u.size))
    effects.total_derivatives(other, u, lo, s, shift, w, variance, t, kappa)
    twins.total_derivatives(other, u, lo, s, shift, w, variance, t, own)
    np.testing.assert_allclose(kappa, own, rtol=TIGHT, atol=TIGHT)


@pytest.mark.parametrize("link", range(5))
@pytest.mark.parametrize(("nodes", "adaptive"), [(1, True), (6, True), (8, False)])
@pytest.mark.parametrize("common", [True, False])
def test_integrated_likelihood(link: int, nodes: int, adaptive: bool, common: bool) -> None:
    u, lo, d, s, w = rows(10 + link)
    starts = np.array([0, 3, 3, 20, 21, 45, 60], dtype=np.intp)
    rng = np.random.default_rng(3)
    z = np.ones(u.size) if common else rng.normal(size=u.size)
    s = np.ones(u.size) if common else s
    points, weights = np.polynomial.hermite.hermgauss(nodes)
    given = starts, u, lo, d, 0.6 * z, z, s, w, points, np.log(weights) + points**2, adaptive
    found = [np.zeros(6), np.empty(6), np.empty((4, u.size))]
    other = [np.zeros(6), np.empty(6), np.empty((4, u.size))]
    one = mixed.integrate_scalar(link, common, *given, *found)
    two = twins.integrate_scalar(link, common, *given, *other)
    assert one[:2] == pytest.approx(two[:2], rel=1e-9, abs=1e-8)
    assert one[2] <= 1e-22
    for mine, twin in zip(found, other, strict=True):
        np.testing.assert_allclose(mine, twin, rtol=MODES, atol=MODES)


def test_what_is_too_far_out_is_left_to_others() -> None:
    far, near, one = np.array([-800.0]), np.array([-801.0]), np.ones(1)
    points, logs = np.zeros(1), np.log(np.sqrt(np.pi)) * np.ones(1)
    starts = np.array([0, 1], dtype=np.intp)
    for link in range(5):
        out = np.zeros(1), np.zeros(1), np.zeros((4, 1))
        given = starts, far, near, one, one, one, one, one, points, logs, True
        loglik, _, _ = mixed.integrate_scalar(link, True, *given, *out)
        assert np.isnan(loglik) or link == 4  # arctan has no tail to fear
        if link != 4:
            assert not mixed.location_terms(link, far, near, one, one, 0 * one, *np.empty((3, 1)))


def test_sparse_sums() -> None:
    rng = np.random.default_rng(5)
    starts = np.array([0, 2, 5, 5, 9], dtype=np.intp)
    columns = np.array([1, 4, 0, 2, 3, 0, 1, 2, 5], dtype=np.intp)
    B, V, half = rng.normal(size=9), rng.normal(size=9), rng.normal(size=(6, 6))
    P = half @ half.T
    found, other = P.copy(), P.copy()
    effects.schur_complement(starts, columns, B, V, found)
    twins.schur_complement(starts, columns, B, V, other)
    np.testing.assert_allclose(np.tril(found), np.tril(other), rtol=1e-13)
    one, two = np.empty(9), np.empty(9)
    effects.coupled(starts, columns, V, P, one)
    twins.coupled(starts, columns, V, P, two)
    np.testing.assert_allclose(one, two, rtol=1e-12)


@pytest.mark.parametrize("nodes", [1, 5])
def test_shared_thresholds(nodes: int) -> None:
    """The short form of a logit with the same thresholds in all rows, against the long one."""
    rng = np.random.default_rng(7)
    theta, y, H = np.array([-1.0, 0.3, 1.4]), rng.integers(0, 4, 60), rng.normal(size=60)
    ends = np.concatenate([[-np.inf], theta, [np.inf]])
    u, lo = ends[y + 1] - H, ends[y] - H
    d = np.diff(ends)[y]
    one, w = np.ones(60), rng.integers(1, 4, 60).astype(float)
    points, weights = np.polynomial.hermite.hermgauss(nodes)
    starts = np.array([0, 10, 11, 40, 60], dtype=np.intp)
    rule = points, np.log(weights) + points**2, True
    long, short = [np.zeros(4), np.empty(4), np.zeros((4, 60))], [np.zeros(4), np.empty(4), np.zeros(60)]
    expected = mixed.integrate_scalar(0, True, starts, u, lo, d, 0.6 * one, one, one, w, *rule, *long)
    by_theta = np.full(3, np.nan)
    found = mixed.integrate_shared(True, starts, theta, H, y.astype(np.intp), 0.6, one, one, w, *rule, *short, by_theta)
    assert found[:2] == pytest.approx(expected[:2], rel=1e-12, abs=1e-11)
    np.testing.assert_allclose(short[0], long[0], rtol=0.0, atol=MODES)
    np.testing.assert_allclose(short[1], long[1], rtol=MODES)
    np.testing.assert_allclose(short[2], long[2][2], atol=1e-11)
    sums = [long[2][0][y == k].sum() + long[2][1][y == k + 1].sum() for k in range(3)]
    np.testing.assert_allclose(by_theta, sums, atol=1e-10)
    for wrong in (theta[::-1].copy(), theta[[0, 0, 2]], theta + 1000.0):
        own = wrong, H, y.astype(np.intp), 0.6, one, one, w, *rule, *short, by_theta
        assert np.isnan(mixed.integrate_shared(True, starts, *own)[0])
