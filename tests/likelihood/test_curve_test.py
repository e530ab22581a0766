"""Tails of mixtures of chi-squared variables; tests against mgcv's stand in
test_smoothing.py.
"""

import numpy as np
import pytest
from scipy.stats import chi2

from ordstat.likelihood.curve_test import mixture_tail


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
