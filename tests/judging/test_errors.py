"""Error tables by hand, against scikit-learn, and under weights and resampling."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics

from ordstat.judging import errors


def _predictions(seed=0, n=80, n_levels=5, weighted=False):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_levels, size=n)
    p = rng.dirichlet(np.ones(n_levels), size=n)
    return errors.Predictions(
        y=y,
        codes=p.argmax(axis=1),
        scores=rng.normal(size=n) + y,
        n_levels=n_levels,
        weights=rng.integers(1, 4, size=n).astype(float) if weighted else np.ones(n),
        paid=rng.random(n),
        probabilities=p,
    )


def _repeated(p):
    """Every row as often as its weight says."""
    rows = np.repeat(np.arange(p.y.size), p.weights.astype(int))
    parts = {
        name: part[rows]
        for name, part in vars(p).items()
        if isinstance(part, np.ndarray)
    }
    return replace(p, **parts | {"weights": np.ones(rows.size)})


def test_table_matches_scikit_learn():
    p = _predictions()
    table = errors.error_table(p)
    onehot = np.eye(p.n_levels)[p.y]
    expected = {
        "classification error": 1 - metrics.accuracy_score(p.y, p.codes),
        "absolute error": metrics.mean_absolute_error(p.y, p.codes),
        "squared error": metrics.mean_squared_error(p.y, p.codes),
        "macro classification error": 1 - metrics.balanced_accuracy_score(p.y, p.codes),
        "cost": p.paid.mean(),
        "quadratic kappa": metrics.cohen_kappa_score(p.y, p.codes, weights="quadratic"),
        "log-loss": metrics.log_loss(p.y, p.probabilities),
        "Brier score": np.mean(np.sum((p.probabilities - onehot) ** 2, axis=1)),
    }
    for name, value in expected.items():
        assert table[name] == pytest.approx(value, rel=1e-12), name


def test_macro_averages_skip_ranks_without_rows():
    y = np.array([0, 0, 0, 3])
    codes = np.array([0, 1, 2, 1])
    p = errors.Predictions(
        y=y, codes=codes, scores=codes * 1.0, n_levels=5, weights=np.ones(4)
    )
    table = errors.error_table(p)
    assert table["macro absolute error"] == (1.0 + 2.0) / 2
    assert table["macro squared error"] == (5 / 3 + 4.0) / 2
    cells = errors.confusion(p.y, p.codes, p.weights, 5)
    np.testing.assert_array_equal(
        errors.level_costs(cells, "absolute"), [1.0, np.nan, np.nan, 2.0, np.nan]
    )
    assert "cost" not in table and "log-loss" not in table


def test_confusion_matches_scikit_learn():
    p = _predictions(weighted=True)
    expected = metrics.confusion_matrix(p.y, p.codes, sample_weight=p.weights)
    np.testing.assert_array_equal(
        errors.confusion(p.y, p.codes, p.weights, p.n_levels), expected
    )


def test_scores_of_probabilities_by_hand():
    p = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])
    y = np.array([1, 2])
    np.testing.assert_allclose(errors.log_losses(p, y), [np.log(2), np.inf])
    np.testing.assert_allclose(
        errors.ranked_probability_scores(p, y), [0.2**2 + 0.3**2, 2.0]
    )
    np.testing.assert_allclose(errors.brier_scores(p, y), [0.04 + 0.25 + 0.09, 2.0])


def test_integer_weights_repeat_rows():
    p = _predictions(weighted=True)
    ones = _repeated(p)
    np.testing.assert_allclose(
        errors.error_table(p).values, errors.error_table(ones).values, rtol=1e-12
    )
