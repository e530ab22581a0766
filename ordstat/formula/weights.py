"""Case weights: their limits, totals and weighted quantiles."""

from __future__ import annotations

import numpy as np

from .._typing import BoolArray, FloatArray

#: Sums of weights that differ by this share of their total are the same.
_SAME = 1e-9
#: Limits of nonzero weights: totals and products are then far from over- and underflow,
#: and whole weights are exact.
LIGHTEST = 1e-15
HEAVIEST = 1e15


def extreme(weights: FloatArray) -> BoolArray:
    """(N,) whether weights >= 0 are too small or too large to be numbers of rows."""
    return np.asarray((weights != 0) & ((weights < LIGHTEST) | (weights > HEAVIEST)))


def total_of(weights: FloatArray) -> float:
    """The sum of case weights; a whole number if it differs from one by rounding alone.

    Examples
    --------
    >>> total_of(np.array([0.1, 0.2, 0.7]) * 3.0)
    3.0
    """
    total = float(weights.sum())
    rounding = weights.size * np.finfo(np.float64).eps * total
    return float(np.rint(total)) if abs(total - np.rint(total)) <= rounding else total


def quantiles(
    x: FloatArray, weights: FloatArray, total: float, shares: FloatArray
) -> FloatArray:
    """Quantiles of x by R's type 7, with each value repeated by its weight.

    Fractional weights follow Hmisc's wtd.quantile: interpolate between the two whole
    places next to (total - 1) * share. A whole place has the first value with a larger
    cumulative weight.

    Parameters
    ----------
    x : (N,)
    weights : (N,) >= 0, not all 0
    total : float
        Their sum.
    shares : (m,) in [0, 1]

    Returns
    -------
    (m,)

    Examples
    --------
    >>> values = np.array([1.0, 2.0, 5.0])
    >>> weights = np.array([1.0, 2.0, 1.0])
    >>> quantiles(values, weights, 4.0, np.array([0.5, 0.9]))
    array([2. , 4.1])
    >>> np.quantile([1.0, 2.0, 2.0, 5.0], [0.5, 0.9])
    array([2. , 4.1])
    """
    order = np.flatnonzero(weights > 0)
    order = order[np.argsort(x[order])]
    values = x[order]
    upto = np.cumsum(weights[order])
    places = np.maximum((total - 1.0) * shares, 0.0)
    below = np.floor(places)
    last = values.size - 1
    rows = np.searchsorted(
        upto, np.array([below, below + 1.0]) + _SAME * total, side="right"
    )
    low, high = values[np.minimum(rows, last)]
    return np.asarray(low + (places - below) * (high - low))
