"""The compiled passes against their NumPy twins."""

from __future__ import annotations

import numpy as np
import pytest
import twins
import twins_by_group

from ordstat.compiled import cumulative

#: Sums of a few thousand terms of size one, in another order.
ROUNDING = {"rtol": 1e-11, "atol": 1e-10}


def inputs(n: int, p: int, K: int, *, weighted: bool, shifted: bool) -> tuple:
    rng = np.random.default_rng(n + p)
    X = rng.normal(size=(n, p)) + 1e3
    y = rng.integers(0, K, size=n)
    weights = rng.random(n) + 0.5 if weighted else None
    offset = rng.normal(size=n) if shifted else None
    return X, y, weights, offset, np.full(p, 1e3), 0.3 * rng.normal(size=p), np.linspace(-2.0, 2.0, K - 1)


def outputs(p: int, K: int, width: int) -> tuple:
    """Sums that already hold something: the passes add."""
    return np.ones((K, width)), np.ones(p), np.ones((K + 1, p)), np.ones((p, p))


SIZES = [(1, 1, 2), (700, 3, 5), (3000, 0, 4), (3000, 17, 3), (5000, 10, 60), (400, 420, 2)]


@pytest.mark.parametrize(("n", "p", "K"), SIZES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shifted", [False, True])
def test_logit_pass(n: int, p: int, K: int, weighted: bool, shifted: bool) -> None:
    given = inputs(n, p, K, weighted=weighted, shifted=shifted)
    for one, other in ((outputs(p, K, 4), outputs(p, K, 4)), [(*outputs(p, K, 2)[:2], None, None) for _ in range(2)]):
        value = cumulative.logit_pass(*given, *one)
        assert value == pytest.approx(twins.logit_pass(*given, *other), rel=1e-12)
        for got, want in zip(one, other, strict=True):
            if got is not None:
                np.testing.assert_allclose(got, want, **ROUNDING)


@pytest.mark.parametrize(("n", "p", "K"), SIZES)
@pytest.mark.parametrize("weighted", [False, True])
def test_logit_groups(n: int, p: int, K: int, weighted: bool) -> None:
    given = inputs(n, p, K, weighted=weighted, shifted=weighted)
    codes = np.random.default_rng(1).integers(0, 7, size=n)
    one, other = ((np.ones((8, K, 3)), np.ones((8, p))) for _ in range(2))
    value = cumulative.logit_groups(*given, codes, *one)
    assert value == pytest.approx(twins_by_group.logit_groups(*given, codes, *other), rel=1e-12)
    for got, want in zip(one, other, strict=True):
        np.testing.assert_allclose(got, want, **ROUNDING)


@pytest.mark.parametrize("width", [2, 4])
def test_logit_widths(width: int) -> None:
    theta, counts = np.array([-3.0, -2.999, 0.1, 0.8, 40.0]), np.array([3.0, 1.5, 7.0, 2.0, 4.0, 1.0])
    one, other, below, under = np.ones((6, width)), np.ones((6, width)), np.empty(4), np.empty(4)
    value = cumulative.logit_widths(theta, counts, one, below)
    assert value == pytest.approx(twins.logit_widths(theta, counts, other, under), rel=1e-12)
    np.testing.assert_allclose(one, other, rtol=1e-12)
    np.testing.assert_allclose(below, under, rtol=1e-12)


@pytest.mark.parametrize("row", [7, 4000])
def test_logit_pass_refuses_what_would_overflow(row: int) -> None:
    X, *given = inputs(5000, 2, 3, weighted=False, shifted=False)
    X[row] += 1e6
    assert np.isnan(cumulative.logit_pass(X, *given, *outputs(2, 3, 4)))
    assert np.isnan(cumulative.logit_pass(X, *given, *outputs(2, 3, 2)[:2], None, None))
    assert np.isnan(twins.logit_pass(X, *given, *outputs(2, 3, 4)))


def test_logit_pass_at_the_edge_of_its_range() -> None:
    """Scores of +-299 against thresholds of -+299: the sums stay finite and exact."""
    X = np.array([[299.0], [-299.0], [0.0], [299.0]])
    given = X, np.array([0, 2, 1, 1]), None, None, np.zeros(1), np.ones(1), np.array([-299.0, 299.0])
    one, other = outputs(1, 3, 4), outputs(1, 3, 4)
    assert cumulative.logit_pass(*given, *one) == pytest.approx(twins.logit_pass(*given, *other), rel=1e-12)
    for got, want in zip(one, other, strict=True):
        np.testing.assert_allclose(got, want, **ROUNDING)


@pytest.mark.parametrize(("n", "p", "K"), SIZES)
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_and_projection(n: int, p: int, K: int, weighted: bool) -> None:
    X, _, weights, _, shift, beta, _ = inputs(n, p, K, weighted=weighted, shifted=False)
    one, other = (np.zeros(p), np.zeros((p, p))), (np.zeros(p), np.zeros((p, p)))
    cumulative.moments(X, weights, shift, *one)
    twins.moments(X, weights, shift, *other)
    for got, want in zip(one, other, strict=True):
        np.testing.assert_allclose(got, want, **ROUNDING)
    one, other = (np.zeros(p), np.zeros(p)), (np.zeros(p), np.zeros(p))
    cumulative.spreads(X, weights, shift, *one)
    twins.spreads(X, weights, shift, *other)
    for got, want in zip(one, other, strict=True):
        np.testing.assert_allclose(got, want, **ROUNDING)
    eta, expected = np.ones(n), np.ones(n)
    cumulative.project(X, shift, beta, eta)
    twins.project(X, shift, beta, expected)
    np.testing.assert_allclose(eta, expected, **ROUNDING)


@pytest.mark.parametrize("n", [0, 1, 15, 16, 103])
def test_gather(n: int) -> None:
    """Columns with any distance between entries, backwards too, and of booleans, into some columns of the table."""
    rng = np.random.default_rng(n)
    apart = rng.normal(size=(n, 5))
    flags = apart > 0.0
    columns, places = [apart[:, 3], rng.normal(size=n), apart[::-1, 0], flags[:, 1], flags[::-1, 2]], [4, 0, 2, 6, 3]
    one, other = (np.ones((n, 7)), np.ones(7)), (np.ones((n, 7)), np.ones(7))
    cumulative.gather(columns, np.array(places), *one)
    twins.gather(columns, places, *other)
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_allclose(one[1], other[1], rtol=1e-13)


@pytest.mark.parametrize(("n", "p", "K"), SIZES)
def test_accumulate_takes_curvatures_of_both_signs(n: int, p: int, K: int) -> None:
    X, y, _, _, shift, _, _ = inputs(n, p, K, weighted=False, shifted=False)
    parts = np.random.default_rng(0).normal(size=(8, n))
    one, other = outputs(p, K, 5), outputs(p, K, 5)
    cumulative.accumulate(X, y, shift, parts, *one)
    twins.accumulate(X, y, shift, parts, *other)
    for got, want in zip(one, other, strict=True):
        np.testing.assert_allclose(got, want, **ROUNDING)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("K", [2, 3, 20])
def test_probit_rows(K: int, weighted: bool) -> None:
    rng = np.random.default_rng(K)
    y, eta, theta = rng.integers(0, K, size=3000), 1.2 * rng.normal(size=3000), np.linspace(-1.5, 1.5, K - 1)
    weights = rng.random(3000) + 0.5 if weighted else None
    one, other = np.zeros((8, 3000)), np.zeros((8, 3000))
    value = cumulative.probit_rows(y, weights, eta, theta, one)
    assert value == pytest.approx(twins.probit_rows(y, weights, eta, theta, other), rel=1e-12)
    np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-11)


def test_probit_rows_refuse_the_far_tails() -> None:
    y, eta, theta = np.array([0, 1, 2]), np.array([0.0, 0.0, 7.5]), np.array([-1.0, 1.0])
    assert np.isnan(cumulative.probit_rows(y, None, eta, theta, np.zeros((8, 3))))
    assert np.isnan(twins.probit_rows(y, None, eta, theta, np.zeros((8, 3))))
