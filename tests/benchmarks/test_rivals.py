"""Rivals of the leaderboard: every one gives probabilities of exceeding, and learns an easy rule."""

import warnings

import numpy as np
import pytest

from benchmarks import rivals


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 3))
    y = np.digitize(X[:, 0] + 0.2 * rng.logistic(size=160), [-0.6, 0.6])
    return X[:120], y[:120], X[120:], y[120:]


@pytest.mark.parametrize("name", rivals.RIVALS)
def test_rivals(data, name, monkeypatch):
    monkeypatch.setattr(rivals, "_ROUNDS", 60)
    monkeypatch.setattr(rivals, "_DRAWS", 2)
    X, y, new, truth = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        above = rivals.RIVALS[name](X, y, 3, new, 0)
    assert above.shape == (40, 2) and (above >= 0).all() and (above <= 1).all()
    assert (np.diff(above, axis=1) <= 1e-9).all()
    assert np.abs((above > 0.5).sum(axis=1) - truth).mean() < 0.5 * np.abs(1 - truth).mean()


def test_a_level_without_training_rows(data):
    """The highest level is only among the new rows."""
    X, y, new, _ = data
    for predict in (rivals.random_forest, rivals.hist_per_threshold):
        above = predict(X, y, 4, new, 0)
        assert above.shape == (40, 3) and (above[:, 2] == 0).all()


def test_probabilities_by_hand():
    np.testing.assert_allclose(rivals.above_of(np.array([[1.0, 2.0, 1.0]])), [[0.75, 0.25]])
    assert rivals.sure(np.array([0, 2]), 3).tolist() == [[0, 0], [1, 1]]
    assert rivals.in_order(np.array([[0.2, 0.6]])).tolist() == [[0.6, 0.2]]
