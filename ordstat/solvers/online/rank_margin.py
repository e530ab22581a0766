"""How far apart ranks are: the margin of the best separation through the origin."""

from __future__ import annotations

import numpy as np

from ..._typing import FloatArray, IntArray

#: Numbers in the largest problem solved.
LARGEST = 2_000_000


def separation_margin(Z: FloatArray) -> float | None:
    """The largest delta with Z w >= delta for some |w| = 1; None where there is no positive one.

    The shortest w with Z w >= 1 by non-negative least squares [Lawson & Hanson 1974, ch. 23]. The margin returned is
    that of the w found, so that it is never too large.

    Parameters
    ----------
    Z : (M, P), M >= 1

    Examples
    --------
    >>> round(separation_margin(np.array([[3.0, 0.0], [0.0, 4.0]])), 6)
    2.4
    >>> separation_margin(np.array([[1.0], [-1.0]])) is None
    True
    """
    from scipy.optimize import nnls

    size = float(np.sqrt(np.square(Z).sum(axis=1).max()))
    if size == 0.0 or not Z.shape[1]:
        return None
    scaled = Z / size
    target = np.zeros(Z.shape[1] + 1)
    target[-1] = 1.0
    system = np.vstack([scaled.T, np.ones(len(Z))])
    try:
        solution, _ = nnls(system, target)
    except RuntimeError:  # more iterations than allowed
        return None
    residual = system @ solution - target
    w = residual[:-1]
    length = float(np.linalg.norm(w))
    if length == 0.0 or not np.isfinite(length):
        return None
    margin = float((scaled @ w).min()) / length
    # A margin this small is rounding.
    return size * margin if margin > 1e-9 else None


def cusum_margin(X: FloatArray, y: IntArray, n_levels: int) -> float | None:
    """delta of rank linear separability [Milidiú & Rocha, eq. 6]: one w_k for every k, |(w_2, ..., w_K)| = 1.

    With delta_k the margin of "rank above k?" alone, 1 / delta^2 = sum_k 1 / delta_k^2.

    Parameters
    ----------
    X : (N, D) with the constant among the columns
    y : (N,) codes
    n_levels : int
    """
    total = 0.0
    for k in range(n_levels - 1):
        margin = separation_margin(X * np.where(y > k, 1.0, -1.0)[:, None])
        if margin is None:
            return None
        total += margin**-2
    return float(total**-0.5)


def prank_margin(X: FloatArray, y: IntArray, n_levels: int) -> float | None:
    """delta of PRank linear separability: one direction u and K-1 thresholds b, |(u, b)| = 1.

    Parameters
    ----------
    X : (N, D)
    y : (N,) codes
    n_levels : int
    """
    Q = n_levels - 1
    sign = np.where(y[:, None] > np.arange(Q), 1.0, -1.0)
    columns = np.hstack([np.repeat(X, Q, axis=0), -np.tile(np.eye(Q), (len(X), 1))])
    return separation_margin(columns * sign.reshape(-1, 1))
