"""Derivatives by finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .._typing import FloatArray


def five_points(value: Callable[[int], Sequence[FloatArray]]) -> list[FloatArray]:
    """Derivatives at 0 of several arrays, from their values at -2, -1, 1 and 2;
    constant parts give exact zeros.

    Examples
    --------
    >>> five_points(lambda k: (np.array([k**3 + 2.0 * k, 1.0]),))
    [array([2., 0.])]
    """
    far, near = (zip(value(-k), value(k), strict=True) for k in (2, 1))
    return [
        (8.0 * (high - low) - (above - below)) / 12.0
        for (low, high), (below, above) in zip(near, far, strict=True)
    ]


#: Points, and weights of f there, in 12 h f'.
FIVE = ((-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0))
#: Weights of f(-3h) ... f(3h) in h f' and h^2 f''.
_FIRST = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0
_SECOND = np.array([2.0, -27.0, 270.0, -490.0, 270.0, -27.0, 2.0]) / 180.0
#: Place of f(0) among the seven.
MIDDLE = 3


def first_by_seven(values: FloatArray, h: float) -> FloatArray:
    """First derivative in the middle of seven values (7, ...) at a distance h."""
    return np.tensordot(_FIRST, values, axes=1) / h


def second_by_seven(values: FloatArray, h: float) -> FloatArray:
    """Second derivative in the middle of seven values (7, ...) at a distance h."""
    return np.tensordot(_SECOND, values, axes=1) / h**2


#: Distance of the points in units of the deviation: the error of five points is of the
#: order of its fourth power.
_STENCIL_STEP = 1e-3
#: Smallest step near 0 for values of one sign, as a share of the deviation.
_LEAST = 1e-3
#: Distance of the points in units of the last place of x, at least: below it
#: differences are rounding.
_PLACES = 4096


#: Row i: weights of f(0), ..., f(4) in the derivative at i of the polynomial through
#: them.
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


def stencil(
    x: FloatArray, among: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Five points around each value, none outside the range of the values, and their
    weights for a derivative.

    No point lies beyond the boundary knots of a spline, or below 0 for a logarithm. A
    range too narrow for five distinct points is ignored.

    Parameters
    ----------
    x : (n,)
    among : (N,), optional
        Further values that count towards the range and the deviation.

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
    low = float(values.min())
    high = float(values.max())
    deviation = _deviation(values)
    size = np.full(x.size, deviation)
    if low >= 0.0 or high <= 0.0:
        size = np.clip(np.abs(x), _LEAST * deviation, deviation)
    step = np.maximum(_STENCIL_STEP * size, _PLACES * np.spacing(np.abs(x)))
    if high - low < 4.0 * step.max():
        low = -np.inf
        high = np.inf
    step = (x + step) - x  # a number that can be added to x exactly
    below = np.clip(np.floor((x - low) / step), 0, 2).astype(np.intp)
    above = np.clip(np.floor((high - x) / step), 0, 2).astype(np.intp)
    at = np.where(above < 2, 4 - above, below)
    points = np.clip(
        x[:, None] + (np.arange(5) - at[:, None]) * step[:, None], low, high
    )
    return points, _WEIGHTS[at] / step[:, None]


def _deviation(x: FloatArray) -> float:
    """Standard deviation without overflow; the size of the value where all are equal,
    or 1 if that is 0.
    """
    largest = float(np.abs(x).max())
    if x.min() == x.max():
        return largest or 1.0
    return float((x / largest).std()) * largest
