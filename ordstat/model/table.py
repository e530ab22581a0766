"""A matrix of columns that lie apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._typing import AnyArray, FloatArray
from ..compiled.table import gather
from .row_blocks import CACHED, row_blocks

# With more columns than these a block would be too few rows to be worth a loop.
_WIDEST = 128


def stack(columns: Sequence[AnyArray], n: int) -> tuple[FloatArray, FloatArray]:
    """(n, D) C-contiguous float64 of D columns of numbers or booleans, and their sums of squares (D,).

    Examples
    --------
    >>> stack([np.array([1.0, 2.0]), np.array([True, False])], 2)
    (array([[1., 1.],
           [2., 0.]]), array([5., 1.]))
    """
    matrix, squares = np.empty((n, len(columns))), np.zeros(len(columns))
    known = [column.dtype == np.float64 or column.dtype == np.bool_ for column in columns]
    gather([column for column, own in zip(columns, known, strict=True) if own], np.flatnonzero(known), matrix, squares)
    others = [j for j, own in enumerate(known) if not own]
    for rows in row_blocks(n if others else 0, min(len(others), _WIDEST), CACHED):
        for j in others:
            matrix[rows, j] = columns[j][rows]
        with np.errstate(over="ignore", under="ignore"):
            squares[others] += np.square(matrix[rows, others]).sum(axis=0)
    return matrix, squares
