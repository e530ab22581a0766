"""Limits of a mean in [0, 1]: against many digits, closed forms and simulation."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from ordstat.judging.intervals import betting_limit, clopper_pearson, kl, kl_inverse, kl_limit, mean_limit


def _with_digits(q, budget):
    """kl^-1 by bisection with 60 digits."""
    with localcontext() as context:
        context.prec = 60
        q, budget = Decimal(q), Decimal(budget)

        def divergence(p):
            first = q * (q / p).ln() if q else Decimal(0)
            return first + ((1 - q) * ((1 - q) / (1 - p)).ln() if q < 1 else Decimal(0))

        low, high = q, Decimal(1)
        for _ in range(150):
            middle = (low + high) / 2
            low, high = (middle, high) if divergence(middle) <= budget else (low, middle)
        return float(low)


@pytest.mark.parametrize("q", [0.0, 1e-9, 0.01, 0.3, 0.9, 1.0 - 1e-9])
@pytest.mark.parametrize("budget", [1e-8, 1e-3, 0.1, 2.0, 30.0])
def test_kl_inverse_has_its_digits(q, budget):
    found = float(kl_inverse(np.array(q), np.array(budget)))
    exact = _with_digits(q, budget)
    # A bound must not come out below its value by more than the rounding of kl itself.
    assert found == pytest.approx(exact, abs=1e-9)
    assert q <= found <= 1.0


def test_kl_inverse_at_the_ends():
    budgets = np.array([0.0, 0.1, 1.0])
    np.testing.assert_allclose(kl_inverse(np.zeros(3), budgets), -np.expm1(-budgets), atol=1e-15)
    np.testing.assert_array_equal(kl_inverse(np.ones(3), budgets), np.ones(3))
    assert kl(np.array(0.5), np.array(0.5)) == 0.0
    assert np.isinf(kl(np.array(0.5), np.array(1.0)))


def test_limits_of_a_share_of_rows_are_near_the_exact_one():
    """Of 0/1 losses Clopper-Pearson is exact: the divergence and betting come a little above it."""
    for wrong, n in ((0, 50), (10, 200), (300, 1000)):
        exact = clopper_pearson(wrong, n, 0.05)
        values = np.random.default_rng(0).permutation(np.repeat([1.0, 0.0], [wrong, n - wrong]))
        assert exact <= kl_limit(wrong / n, n, 0.05) <= wrong / n + 1.5 * (exact - wrong / n)
        assert betting_limit(values, 0.05) <= wrong / n + 1.8 * (exact - wrong / n)


def test_betting_by_hand():
    """The capital of every m, one value after another."""
    values, delta = np.array([0.0, 0.4, 0.1, 0.0, 0.2, 0.0]), 0.3
    target = np.log(1 / delta)

    def largest_capital(m):
        capital, best, mean_sum, spread, variance = 1.0, 1.0, 0.5, 0.25, 0.25
        for t, x in enumerate(values, start=1):
            bet = min(np.sqrt(2 * target / (values.size * variance)), 0.75)
            capital *= 1 - bet * (x - m)
            best = max(best, capital)
            mean_sum += x
            spread += (x - mean_sum / (t + 1)) ** 2
            variance = spread / (t + 1)
        return best

    found = betting_limit(values, delta)
    assert largest_capital(found + 1e-9) >= 1 / delta > largest_capital(found - 1e-9)
    assert betting_limit(np.ones(5), 0.05) == 1.0


def test_betting_beats_the_divergence_where_losses_vary_little():
    losses = np.random.default_rng(1).choice([0.0, 1.0, 2.0], size=2000, p=[0.6, 0.3, 0.1])
    by_betting, source = mean_limit(losses, np.ones(2000), 9.0, 0.05)
    assert "betting" in source
    assert losses.mean() < by_betting < losses.mean() + 0.25 * (9 * kl_limit(losses.mean() / 9, 2000, 0.05))


def test_weights_are_rows_and_very_many_are_not_listed():
    losses, weights = np.array([0.0, 1.0, 2.0]), np.array([50.0, 20.0, 5.0])
    rows = np.repeat(losses, weights.astype(int))
    assert mean_limit(losses, weights, 4.0, 0.05) == mean_limit(rows, np.ones(75), 4.0, 0.05)
    value, source = mean_limit(losses, weights * 1e6, 4.0, 0.05)
    assert source == "Hoeffding 1963, th. 1"
    assert value == pytest.approx(4 * kl_limit(0.1, 75e6, 0.05), rel=1e-12)


def _coverage(draws, n):
    """Shares of samples whose limits hold: counts, divergence, betting."""
    rng, p = np.random.default_rng(n), np.array([0.7, 0.2, 0.1])
    held = []
    for _ in range(draws):
        losses = rng.choice(3, size=n, p=p).astype(float)
        held.append(
            [
                clopper_pearson(float((losses > 0).sum()), n, 0.05) >= 0.3,
                2 * kl_limit(losses.mean() / 2, n, 0.05) >= 0.4,
                mean_limit(losses, np.ones(n), 2.0, 0.05)[0] >= 0.4,
                # Sorted by their loss: the limit has an order of its own.
                mean_limit(np.sort(losses), np.ones(n), 2.0, 0.05)[0] >= 0.4,
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
