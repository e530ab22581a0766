"""Distances between two sets of rows, fast and still exact for rows that lie close together."""

from __future__ import annotations

import numpy as np

from ..._typing import FloatArray, IntArray
from ..row_blocks import CACHED, row_blocks

# |x|^2 + |z|^2 - 2 x'z loses digits where it is small beside |x|^2 + |z|^2; below this share it is taken anew.
_CLOSE = 1e-6


def squared_euclidean(X: FloatArray, Z: FloatArray) -> FloatArray:
    """(n, m) squared distances |x_i - z_j|^2 of X (n, D) and Z (m, D); exactly 0 for equal rows.

    Examples
    --------
    >>> squared_euclidean(np.array([[1e8, 0.0]]), np.array([[1e8, 1e-3]]))
    array([[1.e-06]])
    """
    centre = Z.mean(axis=0) if len(Z) else 0.0
    # One product of a matrix with itself is symmetric to the last bit.
    Zc = Z - centre
    Xc = Zc if X is Z else X - centre
    x, z = np.einsum("nd,nd->n", Xc, Xc), np.einsum("nd,nd->n", Zc, Zc)
    distance: FloatArray = Xc @ Zc.T
    for some in row_blocks(len(X), len(Z), CACHED):
        rows = distance[some]
        total = x[some, None] + z
        rows *= -2.0
        rows += total
        total *= _CLOSE
        near, far = np.divmod(np.flatnonzero(rows <= total), max(len(Z), 1))
        _replace(rows, X[some], Z, near, far)
    return distance


def _replace(distance: FloatArray, X: FloatArray, Z: FloatArray, i: IntArray, j: IntArray) -> None:
    """Take the distances of the pairs (i, j) directly from their differences."""
    for some in row_blocks(len(i), X.shape[1]):
        a, b = i[some], j[some]
        difference = X[a] - Z[b]
        distance[a, b] = np.einsum("nd,nd->n", difference, difference)


def manhattan(X: FloatArray, Z: FloatArray) -> FloatArray:
    """(n, m) distances sum_d |x_id - z_jd| of X (n, D) and Z (m, D)."""
    if X.shape[1] == 0:
        return np.zeros((len(X), len(Z)))
    from scipy.spatial.distance import cdist

    return cdist(X, Z, "cityblock")
