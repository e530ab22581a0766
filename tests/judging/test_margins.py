"""Margins and errors at a margin, by hand and by their inequalities."""

import numpy as np
import pytest
from seams import BallGeometry

from ordstat.judging.margins import delta_errors, margins

THETA = np.array([-1.0, 0.5, 2.0])


def _margins(scores, y, geometry=None):
    return margins(
        np.asarray(scores, dtype=float)[:, None] - THETA, np.asarray(y), geometry
    )


def test_margins_by_hand():
    m = _margins([0.0, 0.0, 0.0, 3.0], [0, 1, 3, 3])
    np.testing.assert_array_equal(
        m.all, [[-1, 0.5, 2], [1, 0.5, 2], [1, -0.5, -2], [4, 2.5, 1]]
    )
    np.testing.assert_array_equal(m.left, [np.inf, 1.0, -2.0, 1.0])
    np.testing.assert_array_equal(m.right, [-1.0, 0.5, np.inf, np.inf])
    assert np.isnan(m.norm)


def test_norm_takes_potential_and_thresholds_together():
    geometry = BallGeometry(
        norm=2.0, squared_lengths=np.ones(1), theta=THETA, radius=1.0
    )
    m = _margins([0.0], [1], geometry)
    assert m.norm == pytest.approx(np.sqrt(4 + 1 + 0.25 + 4))
    np.testing.assert_allclose(m.normalised, m.all / m.norm)


def test_delta_errors_by_hand():
    m = _margins([0.0, 0.0, 0.0, 3.0], [0, 1, 3, 3])
    e = delta_errors(m.all, m.y, np.ones(4), np.array([0.0, 0.5, 1.0]))
    np.testing.assert_array_equal(e.classification, [0.5, 0.75, 1.0])
    # At 1.0: end ranks 1, 1, 1 and both margins of the second row.
    np.testing.assert_array_equal(e.boundary, [0.5, 0.625, 1.0])
    np.testing.assert_array_equal(
        e.absolute, [(1 + 0 + 2 + 0) / 4, (2 + 1 + 2 + 0) / 4, (2 + 2 + 3 + 1) / 4]
    )


@pytest.mark.parametrize("seed", range(4))
def test_delta_zero_gives_the_training_errors_of_the_rule_with_ties(seed):
    rng = np.random.default_rng(seed)
    # many scores sit on a threshold
    scores = rng.integers(-4, 7, size=200) / 2.0
    y = rng.integers(4, size=200)
    weights = rng.integers(1, 5, size=200).astype(float)
    gaps = scores[:, None] - THETA
    codes = np.count_nonzero(gaps > 0, axis=1)
    e = delta_errors(margins(gaps, y).all, y, weights, np.zeros(1))
    assert e.absolute[0] == weights @ np.abs(codes - y) / weights.sum()
    assert e.classification[0] == weights @ (codes != y) / weights.sum()


@pytest.mark.parametrize("n_levels", [2, 3, 6])
def test_errors_grow_with_delta_and_keep_their_order(n_levels):
    rng = np.random.default_rng(n_levels)
    gaps = rng.normal(size=(150, 1)) - np.sort(rng.normal(size=n_levels - 1))
    y = rng.integers(n_levels, size=150)
    e = delta_errors(margins(gaps, y).all, y, np.ones(150), np.linspace(0, 3, 13))
    for values in (e.classification, e.boundary, e.absolute):
        assert (np.diff(values) >= 0).all()
    assert (e.boundary <= e.classification).all() and (
        e.classification <= 2 * e.boundary
    ).all()
    assert (e.classification <= e.absolute).all()
    if n_levels == 2:
        np.testing.assert_array_equal(e.classification, e.absolute)
