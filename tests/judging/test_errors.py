"""Error tables by hand, against scikit-learn, and under weights and resampling."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics

from ordstat.judging.errors import (
    Predictions,
    bootstrap_table,
    brier_scores,
    confusion,
    error_table,
    level_costs,
    log_losses,
    ranked_probability_scores,
)


def _predictions(seed=0, n=80, n_levels=5, weighted=False):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_levels, size=n)
    p = rng.dirichlet(np.ones(n_levels), size=n)
    return Predictions(
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
    parts = {name: part[rows] for name, part in vars(p).items() if isinstance(part, np.ndarray)}
    return replace(p, **parts | {"weights": np.ones(rows.size)})


def test_table_matches_scikit_learn():
    p = _predictions()
    table = error_table(p)
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
        assert table.value(name) == pytest.approx(value, rel=1e-12), name


def test_macro_averages_skip_ranks_without_rows():
    y, codes = np.array([0, 0, 0, 3]), np.array([0, 1, 2, 1])
    p = Predictions(y=y, codes=codes, scores=codes * 1.0, n_levels=5, weights=np.ones(4))
    table = error_table(p)
    assert table.value("macro absolute error") == (1.0 + 2.0) / 2
    assert table.value("macro squared error") == (5 / 3 + 4.0) / 2
    cells = confusion(p.y, p.codes, p.weights, 5)
    np.testing.assert_array_equal(level_costs(cells, "absolute"), [1.0, np.nan, np.nan, 2.0, np.nan])
    assert "cost" not in table.names and "log-loss" not in table.names


def test_confusion_matches_scikit_learn():
    p = _predictions(weighted=True)
    expected = metrics.confusion_matrix(p.y, p.codes, sample_weight=p.weights)
    np.testing.assert_array_equal(confusion(p.y, p.codes, p.weights, p.n_levels), expected)


def test_scores_of_probabilities_by_hand():
    p, y = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]]), np.array([1, 2])
    np.testing.assert_allclose(log_losses(p, y), [np.log(2), np.inf])
    np.testing.assert_allclose(ranked_probability_scores(p, y), [0.2**2 + 0.3**2, 2.0])
    np.testing.assert_allclose(brier_scores(p, y), [0.04 + 0.25 + 0.09, 2.0])


def test_integer_weights_repeat_rows():
    p = _predictions(weighted=True)
    ones = _repeated(p)
    np.testing.assert_allclose(error_table(p).values, error_table(ones).values, rtol=1e-12)


def test_bootstrap_errors_match_theory_for_a_mean():
    # The bootstrap variance of a mean is its plug-in variance / n, up to the noise of 4000 resamples (about 1.1 %).
    p = _predictions(seed=3, n=60)
    table = bootstrap_table(p, 4000, np.random.default_rng(1))
    wrong = np.mean(p.y != p.codes)
    index = table.names.index("classification error")
    assert table.standard_errors[index] == pytest.approx(np.sqrt(wrong * (1 - wrong) / 60), rel=0.05)
    assert table.values[index] == pytest.approx(wrong)


def test_bootstrap_of_weighted_rows_resembles_that_of_repeated_rows():
    p = _predictions(seed=4, n=40, weighted=True)
    ones = _repeated(p)
    a, b = (bootstrap_table(q, 1500, np.random.default_rng(2)).standard_errors for q in (p, ones))
    np.testing.assert_allclose(a, b, rtol=0.15)


def test_bootstrap_draws_whole_clusters():
    # Five clusters of ten equal rows: the standard error is that of five values, not of fifty.
    y, wrong = np.zeros(50, dtype=np.intp), np.repeat([0, 1, 1, 0, 1], 10)
    p = Predictions(y=y, codes=wrong, scores=wrong * 1.0, n_levels=2, weights=np.ones(50))
    by_cluster = bootstrap_table(p, 4000, np.random.default_rng(0), np.repeat(np.arange(5), 10))
    assert by_cluster.standard_errors[0] == pytest.approx(np.sqrt(0.6 * 0.4 / 5), rel=0.05)


def test_bootstrap_ignores_an_infinite_loss_it_did_not_draw():
    probabilities = np.tile([0.5, 0.5], (6, 1))
    probabilities[0] = [1.0, 0.0]
    y = np.array([1, 0, 0, 1, 0, 1])
    p = Predictions(y=y, codes=1 - y, scores=y * 1.0, n_levels=2, weights=np.ones(6), probabilities=probabilities)
    table = bootstrap_table(p, 200, np.random.default_rng(0))
    assert table.value("log-loss") == np.inf
    assert table.standard_errors[table.names.index("log-loss")] == pytest.approx(0.0, abs=1e-12)


def test_same_seed_same_errors():
    p = _predictions()
    a, b = (bootstrap_table(p, 20, np.random.default_rng(5)).standard_errors for _ in range(2))
    np.testing.assert_array_equal(a, b)
