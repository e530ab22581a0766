"""The loss of the logit: derivatives by complex steps, thresholds where the loss is
least.
"""

import numpy as np
import pytest
from scipy.special import expit

from ordstat.prediction.rounds import best_thresholds, damped, logit_loss, stepped

STEP = 1e-30


def plain(y, H, theta):
    """-log(F(theta_y - H) - F(theta_{y-1} - H)) of real or complex numbers."""
    F = 1 / (1 + np.exp(H - theta[:, None]))
    padded = np.vstack([np.zeros(H.size), F, np.ones(H.size)])
    return -np.log(padded[y + 1, np.arange(H.size)] - padded[y, np.arange(H.size)])


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 5, 200).astype(np.uint16)
    H = rng.uniform(-1.0, 1.0, 200)
    return y, H, np.array([-1.1, -0.2, 0.3, 1.4]), rng.uniform(0.5, 2.0, 200)


def test_the_loss(rows):
    y, H, theta, w = rows
    assert logit_loss(y, w, H, theta) == pytest.approx(
        float(w @ plain(y, H, theta)), rel=1e-12
    )
    assert logit_loss(y, np.empty(0), H, theta) == pytest.approx(
        float(plain(y, H, theta).sum()), rel=1e-12
    )


def test_a_step_is_newtons(rows):
    y, H, theta, w = rows
    moved = theta + 1j * STEP * np.eye(4)
    gradient = np.array(
        [(w @ plain(y, H.astype(complex), at)).imag / STEP for at in moved]
    )
    second = np.empty((4, 4))
    for j in range(4):
        around = [moved + d * np.eye(4)[j] for d in (-1e-5, 1e-5)]
        low, high = (
            [(w @ plain(y, H.astype(complex), at)).imag / STEP for at in set_]
            for set_ in around
        )
        second[j] = (np.array(high) - low) / 2e-5
    actual, slope = stepped(y, w, H, theta)
    assert slope == pytest.approx(np.abs(gradient).max(), rel=1e-9)
    np.testing.assert_allclose(
        actual, damped(theta, np.linalg.solve(second, gradient)), rtol=1e-5
    )


def test_best_thresholds(rows):
    """No step in any direction lowers the loss, and the order is kept."""
    y, H, start, w = rows
    theta, slope = best_thresholds(y, w, H, start)
    assert slope < 1e-8
    assert (np.diff(theta) > 0).all()
    least = w @ plain(y, H, theta)
    for direction in (*np.eye(4), *-np.eye(4)):
        assert w @ plain(y, H, theta + 1e-3 * direction) > least


def test_best_thresholds_of_one_question(rows):
    """Of two levels: the intercept of a logistic regression with H as offset, by
    bisection.
    """
    y, H, _, w = rows
    above = (y > 2).astype(np.uint16)
    theta, _ = best_thresholds(above, w, H, np.zeros(1))
    low = -10.0
    high = 10.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if w @ (expit(H - middle) - above) > 0 else (low, middle)
        )
    assert theta[0] == pytest.approx(low, abs=1e-8)


def test_a_step_keeps_the_order():
    rng = np.random.default_rng(0)
    for _ in range(200):
        theta = np.sort(rng.normal(size=4))
        step = 10 * rng.normal(size=4)
        actual = damped(theta, step)
        assert (np.diff(actual) >= 0.5 * np.diff(theta) - 1e-12).all()
        assert np.abs(actual - theta).max() <= 1 + 1e-12
