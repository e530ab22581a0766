"""Rows in blocks that fit into memory, and sums of rows by codes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._typing import FloatArray, IntArray
from ..compiled.sums import add_by

#: Most numbers in memory at once (32 MB).
HELD = 1 << 22
#: Numbers that fit in the cache.
CACHED = 1 << 15


def row_blocks(n: int, per_row: int = 1, room: int = HELD) -> Iterator[slice]:
    """Slices of the rows 0..n-1, such that `per_row` numbers per row fit into `room`.

    Examples
    --------
    >>> list(row_blocks(5, per_row=2, room=4))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(room // max(per_row, 1), 1)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def sums_by(
    codes: IntArray, values: FloatArray, size: int, weights: FloatArray | None = None
) -> FloatArray:
    """(size, P) sums of the rows of values (n, P), times their weights (n,), for each
    code 0..size-1.

    Examples
    --------
    >>> sums_by(np.array([0, 2, 0]), np.array([[1.0], [2.0], [3.0]]), 3).ravel()
    array([4., 0., 2.])
    """
    sums = np.zeros((size, values.shape[1]))
    add_by(np.asarray(codes, dtype=np.intp), values, weights, sums)
    return sums
