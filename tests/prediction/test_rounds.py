"""The loss of the logit: derivatives by complex steps, thresholds where the loss is
least.
"""

import time

import numpy as np
import pytest
from scipy.special import expit
from seams import Rows, Sample

from ordstat import Blend
from ordstat.prediction import rounds
from ordstat.prediction.start import BinnedRows

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
    assert rounds.logit_loss(y, w, H, theta) == pytest.approx(
        float(w @ plain(y, H, theta)), rel=1e-12
    )
    assert rounds.logit_loss(y, np.empty(0), H, theta) == pytest.approx(
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
    actual, slope = rounds.stepped(y, w, H, theta)
    assert slope == pytest.approx(np.abs(gradient).max(), rel=1e-9)
    np.testing.assert_allclose(
        actual, rounds.damped(theta, np.linalg.solve(second, gradient)), rtol=1e-5
    )


def test_best_thresholds(rows):
    """No step in any direction lowers the loss, and the order is kept."""
    y, H, start, w = rows
    theta, slope = rounds.best_thresholds(y, w, H, start)
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
    theta, _ = rounds.best_thresholds(above, w, H, np.zeros(1))
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
        actual = rounds.damped(theta, step)
        assert (np.diff(actual) >= 0.5 * np.diff(theta) - 1e-12).all()
        assert np.abs(actual - theta).max() <= 1 + 1e-12


def wide(n_columns, n=400):
    """A sample of few rows, all values of a column different."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, n_columns))
    y = np.digitize(X[:, 0] + rng.logistic(size=n), [-1.0, 1.0])
    return Sample(rows=Rows(X=X), y=y, n_levels=3)


@pytest.mark.parametrize(
    ("n_columns", "n", "bins"),
    [(300, 400, 128), (301, 400, 32), (301, 2000, 62), (301, 5000, 128)],
)
def test_many_columns_of_few_rows_have_fewer_bins(n_columns, n, bins):
    training = BinnedRows.of(wide(n_columns, n), "OrdinalBoosting")
    assert (training.data.bins.counts == bins).all()


@pytest.mark.parametrize(
    ("n_columns", "share", "drawn"),
    [(500, None, 300), (501, None, 300), (700, None, 300), (700, 0.6, 420)],
)
def test_a_tree_draws_at_most_300_columns_by_default(n_columns, share, drawn):
    training = BinnedRows.of(wide(n_columns, 20), "OrdinalBoosting")
    settings = rounds.Settings(
        learning_rate=0.1,
        depth=1,
        penalty=1.0,
        min_weight=1.0,
        subsample=1.0,
        column_share=share,
    )
    weights = training.data.weights
    start = training.constant(weights)
    booster = training.booster(settings, start, weights, np.random.default_rng(0))
    columns = booster._drawn_columns()
    assert np.unique(columns).size == columns.size == drawn


# few copies, many, and parts of rows
@pytest.mark.parametrize("least", [0.0, 40.0, 0.25])
def test_copies_are_drawn_one_by_one(least):
    """Of a row of weight w: floor(w) draws of probability 0.7, and one of the rest."""
    training = BinnedRows.of(wide(3, 60), "OrdinalBoosting")
    weights = least + np.arange(60) % 4.0
    settings = rounds.Settings(
        learning_rate=0.1,
        depth=1,
        penalty=1.0,
        min_weight=1.0,
        subsample=0.7,
        column_share=1.0,
    )
    start = training.constant(weights)
    booster = training.booster(settings, start, weights, np.random.default_rng(0))
    drawn = np.array([booster._drawn().copy() for _ in range(4000)])
    whole, rest = np.floor(weights), weights % 1.0
    assert (drawn <= weights).all() and (drawn[:, weights == 0.0] == 0.0).all()
    error = 4.0 * np.sqrt(0.21 * (whole + rest**2) / 4000)
    assert (np.abs(drawn.mean(axis=0) - 0.7 * weights) <= error).all()
    assert drawn.var(axis=0) == pytest.approx(0.21 * (whole + rest**2), rel=0.12)
    marked = booster._place != rounds.OUTSIDE
    np.testing.assert_array_equal(marked, drawn[-1] > 0.0)


@pytest.mark.slow
def test_a_blend_of_a_thousand_columns_ends_soon():
    sample = wide(1000, 300)
    begun = time.process_time()
    Blend().fit(sample, np.random.default_rng(0))
    assert time.process_time() - begun < 20.0
