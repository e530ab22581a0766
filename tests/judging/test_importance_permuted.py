"""Permutations of weighted rows: both sides keep their weights, and pairs come in
proportion to their weights.
"""

import numpy as np
import pytest

from ordstat.judging.errors import Predictions, error_table, measured, measures_of
from ordstat.judging.importance import weighted_permutation

WEIGHTS = {
    "equal": np.full(6, 1.5),
    "counts": np.array([1.0, 3.0, 2.0, 5.0]),
    "many": np.array([10_000.0, 3_000.0, 20_000.0]),
    "fractions": np.array([0.2, 1.7, 3.1, 0.01, 0.6]),
}


@pytest.mark.parametrize("kind", WEIGHTS)
def test_rows_keep_their_weights_and_so_do_donors_of_counts(kind):
    weights = WEIGHTS[kind]
    for seed in range(20):
        rows, donors, drawn = weighted_permutation(weights, np.random.default_rng(seed))
        assert (drawn > 0).all()
        for side in (rows, donors) if kind in ("equal", "counts") else (rows,):
            np.testing.assert_allclose(np.bincount(side, drawn), weights, rtol=1e-12)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_pairs_are_met_in_proportion_to_their_weights(kind):
    weights = WEIGHTS[kind]
    rng = np.random.default_rng(3)
    draws = 4000
    n = weights.size
    cells = np.zeros((draws, n * n))
    for cell in cells:
        rows, donors, drawn = weighted_permutation(weights, rng)
        cell += np.bincount(rows * n + donors, drawn, minlength=n * n)
    expected = np.outer(weights, weights).ravel() / weights.sum()
    error = cells.std(axis=0, ddof=1) / np.sqrt(draws)
    assert (np.abs(cells.mean(axis=0) - expected) < 4.5 * error + 1e-12).all()


def test_equal_weights_are_plain_permutations():
    rows, donors, _ = weighted_permutation(np.full(50, 2.0), np.random.default_rng(0))
    assert rows.tolist() == list(range(50)) == sorted(donors.tolist())
    assert donors.tolist() != rows.tolist()


@pytest.mark.parametrize("known", [False, True])
def test_each_measure_is_that_of_the_table(known):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 4, 60)
    weights = rng.integers(0, 3, 60).astype(float)
    p = rng.dirichlet(np.ones(4), 60)
    codes = p.argmax(axis=1)
    paid = np.abs(y - codes) ** 1.5
    actual = Predictions(
        y=y,
        codes=codes,
        scores=p @ np.arange(4.0),
        n_levels=4,
        weights=weights,
        paid=paid if known else None,
        probabilities=p if known else None,
    )
    table = error_table(actual)
    assert measures_of(actual) == tuple(table.index)
    for name in table.index:
        assert measured(actual, [name])[0] == pytest.approx(table[name], rel=1e-13)
