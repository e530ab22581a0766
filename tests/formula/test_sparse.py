"""Sparse columns against the same numbers in a dense matrix."""

import re

import numpy as np
import pytest
from expected import dense_needed, refused
from scipy.sparse import coo_array, csc_matrix, csr_array

from ordstat import DataError
from ordstat.formula.sparse import SparseColumns


@pytest.fixture
def dense() -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.poisson(0.4, size=(9, 6)) * rng.normal(size=(9, 6))
    X[4] = X[2]
    X[:, 3] = 0.0
    X[:, 5] = 0.1
    return X


def test_products_parts_and_lengths(dense):
    X = SparseColumns.of(csc_matrix(dense))
    b = np.arange(6.0)
    v = np.arange(18.0).reshape(9, 2)
    np.testing.assert_allclose(X @ b, dense @ b, atol=1e-14)
    np.testing.assert_allclose(X.transposed(v), dense.T @ v, atol=1e-14)
    some = np.array([5, 0, 3])
    np.testing.assert_array_equal(X[some].toarray(), dense[some])
    np.testing.assert_array_equal(X.among(some).toarray(), dense[:, some])
    mask = dense[0] != 0.0
    np.testing.assert_array_equal(X.among(mask).toarray(), dense[:, mask])
    np.testing.assert_allclose(X.squared_lengths(), (dense**2).sum(axis=1))
    np.testing.assert_allclose(v[:, 0] @ X, v[:, 0] @ dense, atol=1e-14)
    np.testing.assert_allclose(X.times_rows(X[some]), dense @ dense[some].T, atol=1e-14)
    np.testing.assert_array_equal(X.scaled(b).toarray(), dense * b)
    np.testing.assert_array_equal(X.ranges(), [dense.min(axis=0), dense.max(axis=0)])
    assert (len(X), X.shape, X.ndim, X.dtype) == (9, (9, 6), 2, np.float64)


@pytest.mark.parametrize("weights", [None, np.array([1, 2, 0.3, 1, 5, 1, 1, 2, 3.0])])
def test_means_and_deviations_with_the_zeros(dense, weights):
    mean, deviation = SparseColumns.of(csr_array(dense)).spreads(weights)
    expected = np.average(dense, axis=0, weights=weights)
    spread = np.sqrt(np.average((dense - expected) ** 2, axis=0, weights=weights))
    np.testing.assert_allclose(mean, expected, atol=1e-15)
    np.testing.assert_allclose(deviation[:5], spread[:5], atol=1e-15)
    assert deviation[3] == deviation[5] == 0.0  # constant


def test_rows_are_ordered_as_dense_ones(dense):
    rng = np.random.default_rng(1)
    small = rng.integers(-1, 2, size=(60, 6))
    sizes = np.exp(20.0 * rng.normal(size=(60, 6)))
    X = np.vstack([dense, -dense, small, small * sizes, np.zeros((2, 6))])
    expected = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    ranks = SparseColumns.of(csr_array(X)).row_ranks()
    np.testing.assert_array_equal(ranks, expected)


def test_entries_given_twice_are_added_and_the_matrix_of_the_user_stays():
    given = coo_array(([1.0, 2.0, 3.0, -3.0], ([0, 0, 1, 1], [1, 1, 0, 0])), (2, 2))
    once = csr_array(given)
    before = once.data.copy()
    X = SparseColumns.of(given)
    np.testing.assert_array_equal(X.toarray(), [[0.0, 3.0], [0.0, 0.0]])
    assert X.data.size == 1
    SparseColumns.of(once)
    np.testing.assert_array_equal(once.data, before)


def test_no_part_of_it_becomes_a_dense_array_unasked(dense):
    X = SparseColumns.of(csr_array(dense))
    uses = (
        np.asarray,
        np.array,
        np.abs,
        lambda X: np.hstack([X, X]),
        lambda X: X - np.ones(6),
        lambda X: dense.T @ X,
    )
    for use in uses:
        with dense_needed():
            use(X)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200, 1e-200])
def test_values_without_a_square_are_refused(dense, value):
    X = csr_array(dense)
    X.data[2] = value
    with pytest.raises(
        DataError, match=rf"Column \d of the sparse X .*got {re.escape(f'{value:g}')}"
    ):
        SparseColumns.of(X)


@pytest.mark.parametrize(
    "change",
    [
        {"indices": np.array([0, 7])},
        {"indices": np.array([-1, 0])},
        {"indptr": np.array([0, 2, 1])},
        {"indptr": np.array([0, 1, 3])},
        {"data": np.ones(3)},
    ],
)
def test_indices_outside_the_matrix_are_refused(change):
    parts = {"data": np.ones(2), "indices": np.array([0, 1]), "width": 3}
    parts["indptr"] = np.array([0, 1, 2])
    assert SparseColumns(**parts).shape == (2, 3)
    with refused("X", error=DataError):
        SparseColumns(**{**parts, **change})
