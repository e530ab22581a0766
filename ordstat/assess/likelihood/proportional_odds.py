"""Brant's test: are the K-1 binary regressions of "above level k" parallel?"""

from __future__ import annotations

import numpy as np

from ..._typing import FloatArray
from ...model.likelihood.links import Link


def stacked_covariance(link: Link, X: FloatArray, eta: FloatArray, weights: FloatArray) -> FloatArray:
    """Joint covariance of the estimates of K-1 binary regressions of the same rows.

    With F_k = F(eta_k) and f_k = F'(eta_k), rows (1, -x), A_k = sum v f_k^2 / (F_k (1 - F_k)) x x' and, for k <= l,
    M_kl = sum v f_k f_l F_k (1 - F_l) / (F_k (1 - F_k) F_l (1 - F_l)) x x': blocks A_k^-1 M_kl A_l^-1
    [Brant 1990, eq. for the logit link, where f = F (1 - F)].

    Parameters
    ----------
    link : Link
    X : (N, 1 + p)
        Derivatives of eta_k by (theta_k, beta_k).
    eta : (N, K-1)
        theta_k - x'beta_k of each binary fit.
    weights : (N,)

    Returns
    -------
    ((K-1) (1+p), (K-1) (1+p)), regression by regression
    """
    n_cuts, width = eta.shape[1], X.shape[1]
    below, above, density = link.cdf(eta), link.sf(eta), link.pdf(eta)
    slope = _log_odds_slope(link, eta)
    inverse = [np.linalg.inv(_gram(X, weights * slope[:, k] * density[:, k])) for k in range(n_cuts)]
    full = np.empty((n_cuts, width, n_cuts, width))
    for k in range(n_cuts):
        for other in range(k, n_cuts):
            middle = _gram(X, weights * slope[:, k] * slope[:, other] * below[:, k] * above[:, other])
            block = inverse[k] @ middle @ inverse[other]
            full[k, :, other], full[other, :, k] = block, block.T
    return full.reshape(n_cuts * width, n_cuts * width)


def _log_odds_slope(link: Link, eta: FloatArray) -> FloatArray:
    """f / (F (1 - F)) = f / F + f / (1 - F), in the far tails too."""
    flat = eta.reshape(-1)
    infinite = np.full(flat.size, np.inf)
    of_upper, of_lower = link.interval(infinite, flat, infinite), link.interval(flat, -infinite, infinite)
    return np.asarray((of_upper.b + of_lower.a).reshape(eta.shape))


def _gram(X: FloatArray, weights: FloatArray) -> FloatArray:
    return np.asarray((X * weights[:, None]).T @ X)


def equality_contrasts(n_cuts: int, width: int, columns: FloatArray) -> FloatArray:
    """(h, n_cuts * width) differences between the first regression and each other one, for some columns.

    Parameters
    ----------
    columns : integers
        Places among the `width` coefficients of a regression.
    """
    chosen = np.asarray(columns, dtype=np.intp)
    L = np.zeros((n_cuts - 1, chosen.size, n_cuts, width))
    for k in range(1, n_cuts):
        for j, column in enumerate(chosen):
            L[k - 1, j, 0, column], L[k - 1, j, k, column] = 1.0, -1.0
    return L.reshape(-1, n_cuts * width)
