"""Weights of members, 0 or more and of sum 1, by least squares."""

from __future__ import annotations

import numpy as np

from .._typing import BoolArray, FloatArray

# Weight of the sum against the errors, and shares that are 0.
_HEAVY, _NONE = 1e4, 1e-9


def simplex_weights(gram: FloatArray, ridge: float) -> tuple[FloatArray, float]:
    """The least w'A w + ridge |w - 1/M|^2 over the simplex, and a bound of how far from it, as a share.

    Parameters
    ----------
    gram : (M, M)
        A, positive semidefinite: inner products of the members' errors.
    ridge : float
        > 0.

    Returns
    -------
    w : (M,)
    gap : float
        Duality gap (Frank & Wolfe 1956) over the value.

    Examples
    --------
    >>> simplex_weights(np.diag([1.0, 3.0]), 1e-9)[0].round(6).tolist()
    [0.75, 0.25]
    """
    from scipy.optimize import nnls

    M = len(gram)
    Q, c = gram + ridge * np.eye(M), np.full(M, ridge / M)
    # The sum of 1 as a square that outweighs all others; then exactly, for the members that are in.
    heavy = _HEAVY * float(np.trace(Q))
    L = np.linalg.cholesky(Q + heavy)
    found = nnls(L.T, np.linalg.solve(L, c + heavy))[0]
    w = _on_face(Q, c, found > _NONE * found.sum())
    slopes = 2.0 * (Q @ w - c)
    value = float(w @ Q @ w - 2.0 * c @ w + ridge / M)
    return w, float((slopes @ w - slopes.min()) / max(value, np.finfo(np.float64).tiny))


def _on_face(Q: FloatArray, c: FloatArray, free: BoolArray) -> FloatArray:
    """(M,) the least w'Q w - 2 c'w of sum 1, members that are not free having 0."""
    places = np.flatnonzero(free)
    n = places.size
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = Q[np.ix_(places, places)]
    system[n, n] = 0.0
    w = np.zeros(len(Q))
    w[places] = np.linalg.solve(system, np.append(c[places], 1.0))[:n]
    return w
