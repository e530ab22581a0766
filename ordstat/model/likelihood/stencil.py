"""Derivatives by differences: points near each x, inside the range of all, and what to weigh them by."""

from __future__ import annotations

import numpy as np

from ..._typing import FloatArray

#: Distance of the points in units of the deviation: the error of five points is of the order of its fourth power.
_STEP = 1e-3
#: Values of one sign are approached no closer than by this share of the deviation.
_LEAST = 1e-3
#: Distance of the points in units of the last place of x, at least: below it differences are rounding.
_PLACES = 4096


#: Row i: weights of f(0), ..., f(4) in the derivative at i of the polynomial through them.
_WEIGHTS = (
    np.array(
        [
            [-25.0, 48.0, -36.0, 16.0, -3.0],
            [-3.0, -10.0, 18.0, -6.0, 1.0],
            [1.0, -8.0, 0.0, 8.0, -1.0],
            [-1.0, 6.0, -18.0, 10.0, 3.0],
            [3.0, -16.0, 36.0, -48.0, 25.0],
        ]
    )
    / 12.0
)


def stencil(x: FloatArray, among: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Five points about each value, none outside the range of the values, and their weights.

    Within the range every function that could be fitted can be evaluated: no point beyond the boundary knots of a
    spline, none below 0 for a logarithm. A range too narrow to tell five points apart, or of one value, is no bound.

    Parameters
    ----------
    x : (n,)
    among : (N,), optional
        The values whose range and deviation count, if they are not those of x.

    Returns
    -------
    points, weights : (n, 5)
        sum_j weights[i, j] f(points[i, j]) is f'(x[i]) for polynomials up to degree 4.

    Examples
    --------
    >>> points, weights = stencil(np.array([1.0, 2.0, 4.0]))
    >>> (weights * points**3).sum(axis=1).round(6)
    array([ 3., 12., 48.])
    """
    values = x if among is None else np.concatenate([x, among])
    low, high, deviation = float(values.min()), float(values.max()), _deviation(values)
    size = np.full(x.size, deviation)
    if low >= 0.0 or high <= 0.0:
        size = np.clip(np.abs(x), _LEAST * deviation, deviation)
    step = np.maximum(_STEP * size, _PLACES * np.spacing(np.abs(x)))
    if high - low < 4.0 * step.max():
        low, high = -np.inf, np.inf
    step = (x + step) - x  # a number that can be added to x exactly
    below = np.clip(np.floor((x - low) / step), 0, 2).astype(np.intp)
    above = np.clip(np.floor((high - x) / step), 0, 2).astype(np.intp)
    at = np.where(above < 2, 4 - above, below)
    points = np.clip(x[:, None] + (np.arange(5) - at[:, None]) * step[:, None], low, high)
    return points, _WEIGHTS[at] / step[:, None]


def _deviation(x: FloatArray) -> float:
    """Standard deviation, of numbers of any size; of one value its size, 1 for zero."""
    largest = float(np.abs(x).max())
    if x.min() == x.max():
        return largest or 1.0
    return float((x / largest).std()) * largest
