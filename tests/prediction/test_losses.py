"""Losses: slopes by complex steps, the same by links, thresholds where the loss is least."""

import numpy as np
import pytest
from scipy.special import expit

from ordstat.likelihood.links import LINKS
from ordstat.prediction.losses import Likelihood, LogitLikelihood, damped, loss_of
from ordstat.prediction.rounds import best_thresholds

STEP = 1e-30
#: F of complex numbers.
CURVES = {
    "logit": lambda t: 1 / (1 + np.exp(-t)),
    "cloglog": lambda t: 1 - np.exp(-np.exp(t)),
    "loglog": lambda t: np.exp(-np.exp(-t)),
    "cauchit": lambda t: 0.5 + np.arctan(t) / np.pi,
}


def likelihood(link):
    def value(y, H, theta):
        """-log(F(theta_y - H) - F(theta_{y-1} - H))."""
        F = CURVES[link](theta[:, None] - H)
        padded = np.vstack([np.zeros(H.size), F, np.ones(H.size)])
        return -np.log(padded[y + 1, np.arange(H.size)] - padded[y, np.arange(H.size)])

    return value


CASES = [(link, likelihood(link)) for link in CURVES]


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    y, H = rng.integers(0, 5, 200).astype(np.uint16), rng.uniform(-1.0, 1.0, 200)
    return y, H, np.array([-1.1, -0.2, 0.3, 1.4]), rng.uniform(0.5, 2.0, 200)


@pytest.mark.parametrize(("link", "plain"), CASES, ids=lambda case: case if isinstance(case, str) else "")
def test_slopes_and_curvatures(rows, link, plain):
    y, H, theta, w = rows
    loss = loss_of(link)
    value, g, h = loss.slopes(y, w, H, theta)
    assert value == pytest.approx(float(w @ plain(y, H, theta)), rel=1e-12)
    assert value == pytest.approx(loss.value(y, w, H, theta), rel=1e-12)
    assert loss.value(y, np.empty(0), H, theta) == pytest.approx(float(plain(y, H, theta).sum()), rel=1e-12)
    by_step = plain(y, H + 1j * STEP, theta.astype(complex)).imag / STEP
    np.testing.assert_allclose(g, by_step, rtol=1e-9, atol=1e-12)
    around = [plain(y, H + d + 1j * STEP, theta.astype(complex)).imag / STEP for d in (-1e-5, 1e-5)]
    second = (around[1] - around[0]) / 2e-5
    kept = second > 1e-6  # a likelihood that is not concave has the least curvature there
    np.testing.assert_allclose(h[kept], second[kept], rtol=1e-5, atol=1e-8)
    assert (h > 0).all() and kept.mean() > 0.5


@pytest.mark.parametrize(("link", "plain"), CASES, ids=lambda case: case if isinstance(case, str) else "")
def test_derivatives_by_thresholds(rows, link, plain):
    y, H, theta, w = rows
    found = loss_of(link).by_thresholds(y, w, H, theta)
    moved = theta + 1j * STEP * np.eye(4)
    expected = [(w @ plain(y, H.astype(complex), at)).imag / STEP for at in moved]
    np.testing.assert_allclose(found.gradient, expected, rtol=1e-9, atol=1e-9)
    second = np.empty((4, 4))
    for j in range(4):
        around = [moved + d * np.eye(4)[j] for d in (-1e-5, 1e-5)]
        low, high = ([(w @ plain(y, H.astype(complex), at)).imag / STEP for at in set_] for set_ in around)
        second[j] = (np.array(high) - low) / 2e-5
    np.testing.assert_allclose(found.diagonal, np.diag(second), rtol=1e-5)
    np.testing.assert_allclose(found.beside[1:], np.diag(second, 1), rtol=1e-5, atol=1e-6)
    assert np.abs(np.triu(second, 2)).max() < 1e-3


def test_the_compiled_logit_is_that_of_any_link(rows):
    y, H, theta, w = rows
    for mine, other in zip(
        LogitLikelihood().slopes(y, w, H, theta), Likelihood("logit").slopes(y, w, H, theta), strict=True
    ):
        np.testing.assert_allclose(mine, other, rtol=1e-10)
    first, second = (loss.by_thresholds(y, w, H, theta) for loss in (LogitLikelihood(), Likelihood("logit")))
    for name in ("gradient", "diagonal", "beside"):
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), rtol=1e-9)


@pytest.mark.parametrize(("link", "plain"), CASES, ids=lambda case: case if isinstance(case, str) else "")
def test_best_thresholds(rows, link, plain):
    """No step in any direction lowers the loss, and the order is kept."""
    y, H, start, w = rows
    theta, slope = best_thresholds(loss_of(link), y, w, H, start)
    assert slope < 1e-8
    assert (np.diff(theta) > 0).all()
    least = w @ plain(y, H, theta)
    for direction in (*np.eye(4), *-np.eye(4)):
        assert w @ plain(y, H, theta + 1e-3 * direction) > least


def test_best_thresholds_of_one_question(rows):
    """Of two levels: the intercept of a logistic regression with H as offset, by bisection."""
    y, H, _, w = rows
    above = (y > 2).astype(np.uint16)
    theta, _ = best_thresholds(LogitLikelihood(), above, w, H, np.zeros(1))
    low, high = -10.0, 10.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if w @ (expit(H - middle) - above) > 0 else (low, middle)
    assert theta[0] == pytest.approx(low, abs=1e-8)


def test_a_step_keeps_the_order():
    rng = np.random.default_rng(0)
    for _ in range(200):
        theta, step = np.sort(rng.normal(size=4)), 10 * rng.normal(size=4)
        found = damped(theta, step)
        assert (np.diff(found) >= 0.5 * np.diff(theta) - 1e-12).all()
        assert np.abs(found - theta).max() <= 1 + 1e-12


def test_links_without_a_parameter_are_all_there():
    assert set(CURVES) | {"probit"} == set(LINKS)
    rng = np.random.default_rng(0)
    y, H, theta = rng.integers(0, 3, 50).astype(np.uint16), rng.normal(size=50), np.array([-0.5, 0.5])
    loss = loss_of("probit")
    _, g, h = loss.slopes(y, np.empty(0), H, theta)
    for n in range(50):
        sides = [loss.value(y[[n]], np.empty(0), H[[n]] + d, theta) for d in (-1e-5, 0.0, 1e-5)]
        assert g[n] == pytest.approx((sides[2] - sides[0]) / 2e-5, abs=1e-8)
        assert h[n] == pytest.approx((sides[2] - 2 * sides[1] + sides[0]) / 1e-10, abs=1e-4)
