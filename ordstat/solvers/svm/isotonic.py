"""Isotonic regression of a short sequence."""

from __future__ import annotations

import numpy as np

from ..._typing import FloatArray


def isotonic(values: FloatArray) -> FloatArray:
    """(Q,) the non-decreasing sequence nearest to `values` in least squares (pool adjacent violators).

    Examples
    --------
    >>> isotonic(np.array([1.0, 3.0, 2.0, 5.0])).tolist()
    [1.0, 2.5, 2.5, 5.0]
    """
    means: list[float] = []
    sizes: list[int] = []
    for value in values.tolist():
        mean, size = value, 1
        while means and means[-1] > mean:
            mean = (means[-1] * sizes[-1] + mean * size) / (sizes[-1] + size)
            size += sizes[-1]
            means.pop()
            sizes.pop()
        means.append(mean)
        sizes.append(size)
    return np.repeat(means, sizes)
