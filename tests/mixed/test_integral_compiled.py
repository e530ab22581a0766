"""The compiled passes of random effects against their NumPy twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ordstat.compiled import mixed

from . import twins_mixed as twins

#: Forms of the passes differ in rounding, and modes by half the digits of Newton's
#: decrement.
MODES = 1e-8


def rows(seed: int, n: int = 60) -> tuple[Any, ...]:
    """u, lo, d of rows of several widths, some at either end, and the inverse scale."""
    rng = np.random.default_rng(seed)
    u = rng.uniform(-2.0, 2.5, n)
    d = rng.choice([1.5, 0.3, 0.01], n) * rng.uniform(0.5, 1.5, n)
    lo = u - d
    u[:12], lo[12:24], d[:24] = np.inf, -np.inf, np.inf
    order = rng.permutation(n)
    return u[order], lo[order], d[order], rng.uniform(0.7, 1.3, n)


@pytest.mark.parametrize("link", range(2))
def test_terms_of_rows(link: int) -> None:
    u, lo, d, s = rows(link)
    rng = np.random.default_rng(9)
    shift = rng.normal(size=u.size) * 0.4
    here = np.empty((3, u.size))
    there = np.empty((3, u.size))
    assert mixed.location_terms(link, u, lo, d, s, shift, *here)
    twins.location_terms(link, u, lo, d, s, shift, *there)
    np.testing.assert_allclose(here, there, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("nodes", [1, 6])
@pytest.mark.parametrize("common", [True, False])
def test_integrated_likelihood(nodes: int, common: bool) -> None:
    rng = np.random.default_rng(3)
    theta = np.array([-1.0, 0.2, 1.4])
    score = rng.normal(size=60)
    y = rng.integers(0, 4, 60)
    z = np.ones(60) if common else rng.normal(size=60)
    points, weights = np.polynomial.hermite.hermgauss(nodes)
    starts = np.array([0, 3, 3, 20, 21, 45, 60], dtype=np.intp)
    rule = rng.integers(1, 4, 60).astype(float), points, np.log(weights) + points**2
    given = theta, score, y.astype(np.intp), 0.6, z, *rule
    actual, other = (
        [np.zeros(6), np.empty(6), np.empty(60), np.empty(3)] for _ in range(2)
    )
    one = mixed.integrate_logit(common, starts, *given, *actual)
    two = twins.integrate_logit(common, starts, *given, *other)
    assert one[:2] == pytest.approx(two[:2], rel=1e-9, abs=1e-8)
    assert one[2] <= 1e-22
    for mine, twin in zip(actual, other, strict=True):
        np.testing.assert_allclose(mine, twin, rtol=MODES, atol=MODES)
    for wrong in (theta[::-1].copy(), theta[[0, 0, 2]], theta + 1000.0):
        assert np.isnan(
            mixed.integrate_logit(common, starts, wrong, *given[1:], *actual)[0]
        )


def test_what_is_too_far_out_is_left_to_others() -> None:
    far = np.array([-800.0])
    near = np.array([-801.0])
    one = np.ones(1)
    for link in range(2):
        assert not mixed.location_terms(
            link, far, near, one, one, 0 * one, *np.empty((3, 1))
        )


def test_sparse_sums() -> None:
    rng = np.random.default_rng(5)
    starts = np.array([0, 2, 5, 5, 9], dtype=np.intp)
    columns = np.array([1, 4, 0, 2, 3, 0, 1, 2, 5], dtype=np.intp)
    B = rng.normal(size=9)
    V = rng.normal(size=9)
    half = rng.normal(size=(6, 6))
    P = half @ half.T
    actual = P.copy()
    other = P.copy()
    mixed.schur_complement(starts, columns, B, V, actual)
    twins.schur_complement(starts, columns, B, V, other)
    np.testing.assert_allclose(np.tril(actual), np.tril(other), rtol=1e-13)
    one = np.empty(9)
    two = np.empty(9)
    mixed.coupled(starts, columns, V, P, one)
    twins.coupled(starts, columns, V, P, two)
    np.testing.assert_allclose(one, two, rtol=1e-12)
