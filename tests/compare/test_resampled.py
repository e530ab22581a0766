"""Statistics of overlapping folds: against formulas by hand, scipy, and an integral over the posterior."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from ordstat.judging.compared import Resampled, group_codes

DIFFERENCES = np.array([0.02, -0.01, 0.05, 0.03, 0.00, 0.04, 0.01, 0.02, 0.06, -0.02])


def test_by_hand():
    """Mean 4, s^2 = 4, 1/3 + 1/2 = 5/6: t = 4 / sqrt(10/3)."""
    found = Resampled.of(np.array([2.0, 4.0, 6.0]), np.ones(3), ratio=0.5)
    assert (found.mean, found.df) == (4.0, 2)
    assert found.std_error**2 == pytest.approx(10 / 3, rel=1e-14)
    # two degrees of freedom have P(|T| > t) = 1 - t / sqrt(t^2 + 2)
    t = 4.0 / np.sqrt(10 / 3)
    assert found.p_value == pytest.approx(1.0 - t / np.sqrt(t**2 + 2.0), rel=1e-12)


def test_without_shared_rows_it_is_the_t_test():
    found = Resampled.of(DIFFERENCES, np.full(10, 7.0), ratio=0.0)
    by_scipy = stats.ttest_1samp(DIFFERENCES, 0.0)
    assert found.statistic == pytest.approx(by_scipy.statistic, rel=1e-12)
    assert found.p_value == pytest.approx(by_scipy.pvalue, rel=1e-10)
    assert found.limits(0.9) == pytest.approx(tuple(by_scipy.confidence_interval(0.9)), rel=1e-10)


@pytest.mark.parametrize("rope", [0.0, 0.01, 0.03])
def test_posterior_is_that_of_correlated_normal_differences(rope):
    """Differences N(mu, sigma^2) correlated by rho = 1/k, priors flat in mu and log sigma, integrated on a grid.

    Benavoli et al. (2017), eq. 6 to 8.
    """
    k, J = 10, DIFFERENCES.size
    inverse = np.linalg.inv((1 - 1 / k) * np.eye(J) + 1 / k)

    def density(mu):
        away = DIFFERENCES - mu
        Q = away @ inverse @ away
        sigma = np.exp(np.linspace(-8.0, 2.0, 2001))
        return np.trapezoid(sigma**-J * np.exp(-0.5 * Q / sigma**2) / 1e10, np.log(sigma))

    ends = [-1.0, -rope, rope, 1.0]
    parts = [integrate.quad(density, a, b, points=[0.02], limit=200)[0] for a, b in pairwise(ends)]
    found = Resampled.of(DIFFERENCES, np.ones(J), ratio=1 / (k - 1)).probabilities(rope)
    np.testing.assert_allclose(found, np.array(parts) / sum(parts), atol=1e-6)


def test_weights_count_rows():
    """A fold of weight 2 moves the mean as two folds do."""
    found = Resampled.of(np.array([1.0, 4.0]), np.array([2.0, 1.0]), ratio=0.0)
    assert found.mean == 2.0
    assert found.std_error**2 == pytest.approx((2 / 3 * 1.0 + 1 / 3 * 4.0) * 2 / 2)


def test_what_is_missing_does_not_count():
    values = np.array([1.0, np.nan, 3.0])
    found = Resampled.of(values, np.ones(3), ratio=0.1)
    assert (found.mean, found.n) == (2.0, 2)
    none = Resampled.of(np.full(3, np.nan), np.ones(3), ratio=0.1)
    assert np.isnan([none.mean, none.std_error, none.p_value, *none.probabilities(0.01)]).all()


@pytest.mark.parametrize(("same", "probabilities"), [(0.0, (0, 1, 0)), (0.01, (0, 1, 0)), (-0.5, (1, 0, 0))])
def test_differences_that_are_all_equal(same, probabilities):
    found = Resampled.of(np.full(5, same), np.ones(5), ratio=0.25)
    assert found.probabilities(0.02) == probabilities
    assert np.isnan(found.p_value) if same == 0.0 else found.p_value == 0.0


def test_groups_that_share_rows_are_one():
    rng = np.random.default_rng(1)
    for _ in range(20):
        groupings = [rng.integers(0, 25, 40) for _ in range(2)]
        merged = np.arange(40)
        for _ in range(40):  # the least row that can be reached, again and again
            for codes in groupings:
                merged = np.array([merged[codes == own].min() for own in codes])
        found = group_codes([np.unique(codes, return_inverse=True)[1] for codes in groupings])
        together = found[:, None] == found[None, :]
        np.testing.assert_array_equal(together, merged[:, None] == merged[None, :])
