"""Probabilities of rectangles of the bivariate normal distribution, by Owen's T, and
their derivatives with respect to thresholds and correlation.

With s = sqrt(1 - r^2) and Owen's function T,
    P(X <= h, Y <= k) = (Phi(h) + Phi(k)) / 2 - T(h, (k/h - r)/s) - T(k, (h/k - r)/s)
        - [h k < 0, or h k = 0 and h + k < 0] / 2
[Owen 1956, eq. 2.1]. At h = 0 the argument is infinite, with the sign of k; at h = k =
0 the probability is 1/4 + asin(r) / (2 pi).
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, owens_t

from .._typing import FloatArray

_ROOT_2PI = np.sqrt(2.0 * np.pi)


def density(x: FloatArray) -> FloatArray:
    """The standard normal density."""
    return np.asarray(np.exp(-0.5 * x * x) / _ROOT_2PI)


def joint_density(h: FloatArray, k: FloatArray, rho: float) -> FloatArray:
    """The density at (h, k), standard deviations 1 and correlation rho."""
    left = 1.0 - rho**2
    exponent = -0.5 * (h * h - 2.0 * rho * h * k + k * k) / left
    return np.asarray(np.exp(exponent) / (2.0 * np.pi * np.sqrt(left)))


def probability_below(h: FloatArray, k: FloatArray, rho: float) -> FloatArray:
    """P(X <= h, Y <= k) for finite h and k and |rho| < 1.

    Examples
    --------
    >>> probability_below(np.zeros(1), np.zeros(1), 0.5).round(12).tolist()
    [0.333333333333]
    """
    h = np.asarray(h, dtype=np.float64) + 0.0  # -0 would give the other infinity
    k = np.asarray(k, dtype=np.float64) + 0.0
    s = np.sqrt(1.0 - rho**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = owens_t(h, (k / h - rho) / s)
        second = owens_t(k, (h / k - rho) / s)
    product = h * k
    apart = (product < 0.0) | ((product == 0.0) & (h + k < 0.0))
    below = 0.5 * (ndtr(h) + ndtr(k)) - first - second - 0.5 * apart
    centre = 0.25 + np.arcsin(rho) / (2.0 * np.pi)
    return np.asarray(np.where((h == 0.0) & (k == 0.0), centre, below))


def cells_of(grid: FloatArray) -> FloatArray:
    """(..., I, J) values of cells from those at their corners (..., I+1, J+1)."""
    rows = grid[..., 1:, :] - grid[..., :-1, :]
    return rows[..., 1:] - rows[..., :-1]


def cell_probabilities(a: FloatArray, b: FloatArray, rho: float) -> FloatArray:
    """(I, J) probabilities of the cells between the thresholds a (I-1,) of X and b
    (J-1,) of Y.

    Examples
    --------
    >>> cell_probabilities(np.zeros(1), np.zeros(1), 0.5).round(4).tolist()
    [[0.3333, 0.1667], [0.1667, 0.3333]]
    """
    grid: FloatArray = np.zeros((a.size + 2, b.size + 2))
    grid[-1, -1] = 1.0
    grid[1:-1, -1] = ndtr(a)
    grid[-1, 1:-1] = ndtr(b)
    grid[1:-1, 1:-1] = probability_below(a[:, None], b, rho)
    return cells_of(grid)


def cell_slopes(a: FloatArray, b: FloatArray, rho: float) -> FloatArray:
    """(I, J) derivatives of the cells by rho: that of P(X <= h, Y <= k) is the density
    [Plackett 1954].
    """
    grid: FloatArray = np.zeros((a.size + 2, b.size + 2))
    grid[1:-1, 1:-1] = joint_density(a[:, None], b, rho)
    return cells_of(grid)


def _below_slopes(h: FloatArray, k: FloatArray, rho: float) -> FloatArray:
    """(I-1, J) derivatives of P(X <= h, Y <= k) by h (I-1,), k (J-1,) and infinity."""
    conditional = ndtr((k - rho * h[:, None]) / np.sqrt(1.0 - rho**2))
    ends = np.ones((h.size, 1))
    return np.asarray(density(h)[:, None] * np.hstack([conditional, ends]))


def cell_gradient(a: FloatArray, b: FloatArray, rho: float) -> FloatArray:
    """(P, I, J) derivatives of the cells by a, b and rho, P = I + J - 1."""
    n_rows = a.size
    n_columns = b.size
    grid: FloatArray = np.zeros((n_rows + n_columns + 1, n_rows + 2, n_columns + 2))
    rows = np.arange(n_rows)
    columns = np.arange(n_columns)
    grid[rows, rows + 1, 1:] = _below_slopes(a, b, rho)
    grid[n_rows + columns, 1:, columns + 1] = _below_slopes(b, a, rho)
    grid[-1, 1:-1, 1:-1] = joint_density(a[:, None], b, rho)
    return cells_of(grid)


def cell_slope_gradient(a: FloatArray, b: FloatArray, rho: float) -> FloatArray:
    """(P, I, J) derivatives of `cell_slopes` by a, b and rho."""
    n_rows = a.size
    n_columns = b.size
    grid: FloatArray = np.zeros((n_rows + n_columns + 1, n_rows + 2, n_columns + 2))
    rows = np.arange(n_rows)
    columns = np.arange(n_columns)
    h = a[:, None]
    joint = joint_density(h, b, rho)
    left = 1.0 - rho**2
    grid[rows, rows + 1, 1:-1] = joint * (rho * b - h) / left
    grid[n_rows + columns, 1:-1, columns + 1] = (joint * (rho * h - b) / left).T
    curved = rho / left + (h * b * (1.0 + rho**2) - rho * (h * h + b * b)) / left**2
    grid[-1, 1:-1, 1:-1] = joint * curved
    return cells_of(grid)


def cell_hessian(a: FloatArray, b: FloatArray, rho: float) -> FloatArray:
    """(P, P, I, J) second derivatives of the cells by a, b and rho."""
    n_rows = a.size
    n_columns = b.size
    size = n_rows + n_columns + 1
    grid: FloatArray = np.zeros((size, size, n_rows + 2, n_columns + 2))
    rows = np.arange(n_rows)
    columns = np.arange(n_columns)
    others = n_rows + columns
    joint = joint_density(a[:, None], b, rho)
    own_a = -a[:, None] * _below_slopes(a, b, rho)
    own_a[:, :-1] -= rho * joint
    own_b = -b[:, None] * _below_slopes(b, a, rho)
    own_b[:, :-1] -= rho * joint.T
    grid[rows, rows, rows + 1, 1:] = own_a
    grid[others, others, 1:, columns + 1] = own_b
    grid[rows[:, None], others, rows[:, None] + 1, columns + 1] = joint
    cells = cells_of(grid)
    cells[:, -1] = cell_slope_gradient(a, b, rho)
    upper = np.triu_indices(size, 1)
    cells[upper[1], upper[0]] = cells[upper]
    return cells
