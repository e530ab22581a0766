"""Sums of rows group by group."""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray, IntArray


def sums_by(codes: IntArray, values: FloatArray, size: int, weights: FloatArray | None = None) -> FloatArray:
    """(size, P) sums of the rows of values (n, P), times their weights (n,), that have each code 0..size-1.

    Examples
    --------
    >>> sums_by(np.array([0, 2, 0]), np.array([[1.0], [2.0], [3.0]]), 3).ravel()
    array([4., 0., 2.])
    """
    out = np.empty((size, values.shape[1]))
    for place, column in enumerate(values.T):
        out[:, place] = np.bincount(codes, column if weights is None else column * weights, minlength=size)
    return out
