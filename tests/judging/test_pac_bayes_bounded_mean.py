"""Limits of a mean in [0, 1]: against many digits, closed forms and simulation."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from ordstat.judging import pac_bayes
from ordstat.judging.tables import clopper_pearson, kl_limit


def _with_digits(q, budget):
    """kl^-1 by bisection with 60 digits."""
    with localcontext() as context:
        context.prec = 60
        q = Decimal(q)
        budget = Decimal(budget)

        def divergence(p):
            first = q * (q / p).ln() if q else Decimal(0)
            return first + ((1 - q) * ((1 - q) / (1 - p)).ln() if q < 1 else Decimal(0))

        low = q
        high = Decimal(1)
        for _ in range(150):
            middle = (low + high) / 2
            low, high = (
                (middle, high) if divergence(middle) <= budget else (low, middle)
            )
        return float(low)


@pytest.mark.parametrize("q", [0.0, 1e-9, 0.01, 0.3, 0.9, 1.0 - 1e-9])
@pytest.mark.parametrize("budget", [1e-8, 1e-3, 0.1, 2.0, 30.0])
def test_kl_inverse_has_its_digits(q, budget):
    actual = float(pac_bayes.kl_inverse(np.array(q), np.array(budget)))
    exact = _with_digits(q, budget)
    # A bound must not come out below its value by more than the rounding of kl itself.
    assert actual == pytest.approx(exact, abs=1e-9)
    assert q <= actual <= 1.0


def test_kl_inverse_at_the_ends():
    budgets = np.array([0.0, 0.1, 1.0])
    np.testing.assert_allclose(
        pac_bayes.kl_inverse(np.zeros(3), budgets), -np.expm1(-budgets), atol=1e-15
    )
    np.testing.assert_array_equal(pac_bayes.kl_inverse(np.ones(3), budgets), np.ones(3))
    assert pac_bayes.kl(np.array(0.5), np.array(0.5)) == 0.0
    assert np.isinf(pac_bayes.kl(np.array(0.5), np.array(1.0)))


def test_limits_of_a_share_of_rows_are_near_the_exact_one():
    """Of 0/1 losses Clopper-Pearson is exact: the divergence is a little above it."""
    for wrong, n in ((0, 50), (10, 200), (300, 1000)):
        exact = clopper_pearson(wrong, n, 0.05)
        assert (
            exact
            <= kl_limit(wrong / n, n, 0.05)
            <= wrong / n + 1.5 * (exact - wrong / n)
        )


def _coverage(draws, n):
    """Shares of samples whose limits hold: counts, divergence."""
    rng = np.random.default_rng(n)
    p = np.array([0.7, 0.2, 0.1])
    held = []
    for _ in range(draws):
        losses = rng.choice(3, size=n, p=p).astype(float)
        held.append(
            [
                clopper_pearson(float((losses > 0).sum()), n, 0.05) >= 0.3,
                2 * kl_limit(losses.mean() / 2, n, 0.05) >= 0.4,
            ]
        )
    # Four standard errors of that many draws at 0.95.
    assert (np.mean(held, axis=0) >= 0.95 - 4 * np.sqrt(0.05 * 0.95 / draws)).all()


def test_limits_hold():
    _coverage(200, 60)


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 100, 1000])
def test_limits_hold_in_many_samples(n):
    _coverage(1000, n)
