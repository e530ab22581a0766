"""Adjustments of p-values: against tables, integrals and each other."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from light_options import in_turn
from scipy.integrate import quad
from scipy.stats import chi, norm, t

from ordstat.effects import contrasts


def family(
    z: list[float],
    spread: np.ndarray,
    n_means: int = 2,
    level: float = 0.95,
    df: float = np.inf,
) -> contrasts.ContrastFamily:
    values = np.array(z)
    return contrasts.ContrastFamily(
        values,
        2.0 * t.sf(np.abs(values), df),
        spread,
        n_means,
        level,
        np.full(len(z), df),
    )


def critical(levels: np.ndarray, df: float = np.inf) -> float:
    assert np.ptp(levels) == 0.0
    return float(t.isf((1.0 - levels[0]) / 2.0, df))


def all_pairs(k: int) -> np.ndarray:
    """Covariance of the differences of k independent means of variance 1/2."""
    D = np.array([np.eye(k)[b] - np.eye(k)[a] for a, b in combinations(range(k), 2)])
    return D @ D.T / 2.0


@pytest.mark.parametrize(
    ("m", "expected"),
    [(2, 2.212183), (3, 2.348913), (4, 2.441657), (5, 2.511417), (9, 2.686479)],
)
def test_dunnett_against_mvtnorm(m: int, expected: float) -> None:
    """R, mvtnorm 1.1.3: qmvnorm(0.95, tail = "both.tails", corr = (diag(m) + 1) / 2,
    abseps = 1e-7)$quantile.

    Its search stops at differences of 1e-4.
    """
    spread = (np.eye(m) + 1.0) / 2.0
    assert critical(
        contrasts.adjusted("dunnett", family([1.0] * m, spread))[1]
    ) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("correlation", [-0.7, 0.0, 0.3, 0.95])
def test_two_tests_against_an_integral(correlation: float) -> None:
    """P(|z1| < c, |z2| < c) = int phi(x) P(|z2| < c | z1 = x) dx."""
    s = np.sqrt(1.0 - correlation**2)

    def inside(c: float) -> float:
        def given(x: float) -> float:
            return norm.pdf(x) * (
                norm.cdf((c - correlation * x) / s)
                - norm.cdf((-c - correlation * x) / s)
            )

        return quad(given, -c, c, epsabs=1e-12)[0]

    p, level = contrasts.adjusted(
        "mvt", family([2.1, -3.4], np.array([[1.0, correlation], [correlation, 1.0]]))
    )
    np.testing.assert_allclose(p, [1.0 - inside(2.1), 1.0 - inside(3.4)], rtol=1e-6)
    assert inside(critical(level)) == pytest.approx(0.95, abs=1e-8)


@pytest.mark.parametrize("k", [3, 4, 6, 10])
def test_tukey_is_the_multivariate_normal_of_equal_independent_means(k: int) -> None:
    z = np.linspace(1.5, 5.0, k * (k - 1) // 2).tolist()
    one, other = (
        contrasts.adjusted(how, family(z, all_pairs(k), k)) for how in ("tukey", "mvt")
    )
    np.testing.assert_allclose(one[0], other[0], rtol=2e-2, atol=1e-4)
    assert critical(one[1]) == pytest.approx(critical(other[1]), abs=2e-3)


@pytest.mark.parametrize("how", ["tukey", "mvt", "sidak", "bonferroni", "holm"])
def test_small_p_values_keep_their_digits(how: str) -> None:
    """Between the p-value of one test and Bonferroni's; SciPy's studentized range ends
    at 2e-16.
    """
    one = family([12.0, 11.0, 9.5], all_pairs(3), 3)
    p = contrasts.adjusted(how, one)[0]
    assert (p >= one.p).all() and (p <= 3.0 * one.p * (1 + 1e-9)).all()


@pytest.mark.parametrize("how", contrasts.ADJUST)
def test_one_test_is_left_as_it_is(how: str) -> None:
    p, level = contrasts.adjusted(how, family([2.0], np.array([[4.0]])))
    assert p == pytest.approx(2.0 * norm.sf(2.0)) and level == 0.95


def test_tukey_by_t() -> None:
    """R 4.2.2: qtukey(0.95, 3, 10) / sqrt(2); ptukey(sqrt(2) * z, 3, 10, lower.tail =
    FALSE).
    """
    p, levels = contrasts.adjusted(
        "tukey", family([1.5, 2.5, 4.0], all_pairs(3), 3, df=10.0)
    )
    np.testing.assert_allclose(
        p, [0.331642723184, 0.0740391956478, 0.00646590461109], rtol=1e-6
    )
    assert critical(levels, 10.0) == pytest.approx(2.7412951285, rel=1e-6)


def test_dunnett_by_t() -> None:
    """R, mvtnorm 1.1.3, corr = (diag(3) + 1) / 2: qmvt(0.95, tail = "both.tails", df =
    10), 1 - pmvt(-2.5, 2.5).
    """
    p, levels = contrasts.adjusted(
        "dunnett", family([2.5, 2.5, 2.5], (np.eye(3) + 1.0) / 2.0, df=10.0)
    )
    assert critical(levels, 10.0) == pytest.approx(2.75907541328, abs=1e-3)
    np.testing.assert_allclose(p, 0.0765356081737, rtol=1e-4)
    mixed = contrasts.ContrastFamily(
        np.full(2, 2.5),
        np.array([0.03, 0.01]),
        np.eye(2),
        2,
        0.95,
        np.array([10.0, np.inf]),
    )
    alone = contrasts.adjusted("mvt", family([2.5, 2.5], np.eye(2), df=10.0))
    actual = contrasts.adjusted("mvt", mixed)
    assert actual[0][0] == pytest.approx(alone[0][0]) and actual[0][1] < actual[0][0]
    assert actual[1][0] == pytest.approx(alone[1][0])


@pytest.mark.parametrize(("m", "df"), in_turn([2, 5, 25], [np.inf, 8.0]))
def test_independent_tests_far_in_the_tail(m: int, df: float) -> None:
    """Sidak's is exact for independent normals; given chi^2 / df = s^2 they are so at z
    s, for t too.
    """
    z = np.array([2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.5, 20.0])
    if np.isinf(df):
        expected = -np.expm1(m * np.log1p(-2.0 * norm.sf(z)))
    else:
        expected = np.array(
            [
                quad(given_scale, 0.0, np.inf, args=(one, m, df), epsrel=1e-8)[0]
                for one in z
            ]
        )
    p = [
        contrasts.adjusted("mvt", independent(some, m, df))[0][: some.size]
        for some in np.split(z, range(m, z.size, m))
    ]
    np.testing.assert_allclose(np.concatenate(p), expected, rtol=3e-2)


def given_scale(s: float, z: float, m: int, df: float) -> float:
    return (
        chi.pdf(s * np.sqrt(df), df)
        * np.sqrt(df)
        * -np.expm1(m * np.log1p(-2.0 * norm.sf(z * s)))
    )


def independent(z: np.ndarray, m: int, df: float) -> contrasts.ContrastFamily:
    """A family of m independent tests that begin with some statistics."""
    all_z = np.concatenate([z, np.ones(m - z.size)])
    p = 2.0 * (norm.sf(all_z) if np.isinf(df) else t.sf(all_z, df))
    return contrasts.ContrastFamily(all_z, p, np.eye(m), 2, 0.95, np.full(m, df))


def test_tukey_by_t_against_a_table() -> None:
    """Upper 5 % points of the studentized range [Pearson and Hartley 1958, table 29]:
    3.77 of 3 means on 12 df.
    """
    p, levels = contrasts.adjusted(
        "tukey", family([3.77 / np.sqrt(2.0)] * 3, all_pairs(3), 3, df=12.0)
    )
    assert p == pytest.approx(0.05, abs=2e-4) and critical(levels, 12.0) * np.sqrt(
        2.0
    ) == pytest.approx(3.77, abs=5e-3)
