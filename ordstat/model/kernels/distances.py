"""Distances between two sets of rows, fast and still exact for rows that lie close together."""

from __future__ import annotations

import numpy as np

from ..._typing import FloatArray, IntArray

# |x|^2 + |z|^2 - 2 x'z loses digits where it is small beside |x|^2 + |z|^2; below this share it is taken anew.
_CLOSE = 1e-6
_BLOCK = 1 << 20
# Numbers of a pass over the distances: a block of them stays in the cache.
_PASS = 1 << 15


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
    step = max(_PASS // max(len(Z), 1), 1)
    for start in range(0, len(X), step):
        rows = distance[start : start + step]
        total = x[start : start + step, None] + z
        rows *= -2.0
        rows += total
        total *= _CLOSE
        near, far = np.divmod(np.flatnonzero(rows <= total), max(len(Z), 1))
        _replace(rows, X[start : start + step], Z, near, far)
    return distance


def _replace(distance: FloatArray, X: FloatArray, Z: FloatArray, i: IntArray, j: IntArray) -> None:
    """Take the distances of the pairs (i, j) directly from their differences."""
    step = max(_BLOCK // max(X.shape[1], 1), 1)
    for start in range(0, len(i), step):
        a, b = i[start : start + step], j[start : start + step]
        difference = X[a] - Z[b]
        distance[a, b] = np.einsum("nd,nd->n", difference, difference)


def manhattan(X: FloatArray, Z: FloatArray) -> FloatArray:
    """(n, m) distances sum_d |x_id - z_jd| of X (n, D) and Z (m, D)."""
    if X.shape[1] == 0:
        return np.zeros((len(X), len(Z)))
    from scipy.spatial.distance import cdist

    distance: FloatArray = cdist(X, Z, "cityblock")
    return distance
