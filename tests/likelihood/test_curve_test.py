"""Tails of mixtures of chi-squared variables; tests against mgcv's stand in
test_smoothing.py.
"""

import numpy as np
import pytest
from problems import unrelated
from scipy.stats import chi2

from ordstat import ordfit
from ordstat.likelihood.curve_test import effects_test, mixture_tail, sum_tail


def test_the_tail_of_equal_weights_is_chi_squared():
    weights = np.array([1.0, 1.0])
    for statistic in (0.5, 5.0, 40.0):
        for df in (0, 1, 4):
            expected = chi2.sf(statistic, df + 2)
            tail = mixture_tail(statistic, df, weights)
            assert tail == pytest.approx(expected, rel=1e-6)


def test_the_tail_of_unequal_weights_is_that_of_simulated_sums():
    rng = np.random.default_rng(5)
    weights = np.array([1.4, 0.3])
    draws = rng.chisquare(1, size=(200_000, 2)) @ weights
    draws += rng.chisquare(3, size=200_000)
    for statistic in (2.0, 6.0, 12.0):
        share = np.mean(draws > statistic)
        tail = mixture_tail(statistic, 3, weights)
        assert tail == pytest.approx(share, abs=4 * np.sqrt(share / 200_000))


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_the_tail_of_a_sum_of_equal_weights_is_chi_squared(size):
    for statistic in (0.3, 4.0, 15.0):
        expected = chi2.sf(statistic / 0.7, size)
        tail = sum_tail(statistic, np.full(size, 0.7))
        assert tail == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("weights", [(0.9, 0.4, 0.1, 0.01), (1.0, 1e-3, 1e-3)])
def test_the_tail_of_a_sum_is_that_of_simulated_sums(weights):
    rng = np.random.default_rng(6)
    draws = rng.chisquare(1, size=(200_000, len(weights))) @ np.array(weights)
    for statistic in (0.5, 2.0, 6.0):
        share = np.mean(draws > statistic)
        tail = sum_tail(statistic, np.array(weights))
        assert tail == pytest.approx(share, abs=4 * np.sqrt(share / 200_000))


def test_effects_without_a_penalty_have_a_wald_test():
    root = np.random.default_rng(7).normal(size=(4, 4))
    covariance = root @ root.T
    beta = np.array([1.0, -2.0, 0.5, 0.3])
    expected = beta @ np.linalg.solve(covariance, beta)
    statistic, p_value = effects_test(beta, covariance, covariance)
    assert statistic == pytest.approx(expected)
    assert p_value == pytest.approx(chi2.sf(expected, 4), abs=2e-6)


@pytest.mark.slow
def test_the_size_for_ordered_predictors_is_that_of_the_guide():
    """docs/guide/smooth.md: 6.8 % and 1.6 % of 2,000 samples without an effect."""
    rng = np.random.default_rng(0)
    p_values = []
    for _ in range(2000):
        fit = ordfit("y ~ smooth(x)", unrelated(rng))
        p_values.append(fit.smooths()["p_value"].item())
    p_values = np.array(p_values)
    assert np.mean(p_values < 0.05) == pytest.approx(0.068, abs=0.002)
    assert np.mean(p_values < 0.01) == pytest.approx(0.0155, abs=0.002)
