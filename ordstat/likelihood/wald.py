"""Wald tests of linear hypotheses, the contrasts behind type I and II tests, and what Brant's test is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import chdtrc

from .._typing import FloatArray, IntArray
from .links import Link

#: Eigenvalues of a covariance below this share of the largest are zero: the hypotheses depend on each other.
_RANK = 1e-10
#: Pivots of a sum-of-squares matrix below this share of their diagonal are zero: the column adds nothing.
_PIVOT = 1e-10


def chi2_tail(statistic: Any, df: Any) -> FloatArray:
    """P(chi2 with df degrees of freedom > statistic); NaN where df is 0 or anything is missing."""
    statistic, df = np.asarray(statistic, dtype=np.float64), np.asarray(df, dtype=np.float64)
    known = (df > 0.0) & ~np.isnan(statistic)
    tail = chdtrc(np.where(known, df, 1.0), np.maximum(np.where(known, statistic, 0.0), 0.0))
    return np.asarray(np.where(known, tail, np.nan))


def wald_test(L: FloatArray, difference: FloatArray, covariance: FloatArray) -> tuple[float, int]:
    """Chi-squared statistic and degrees of freedom of L b = r.

    Parameters
    ----------
    L : (h, P)
    difference : (h,) L b - r at the estimates
    covariance : (P, P)

    Returns
    -------
    (statistic, df)
        NaN and 0 where nothing can be tested. df is the rank of the covariance of L b; where hypotheses depend on each
        other and contradict, the statistic is infinite.

    Examples
    --------
    >>> wald_test(np.eye(2), np.array([1.0, 2.0]), np.diag([1.0, 4.0]))
    (2.0, 2)
    """
    spread = quadratic_form(L, covariance)
    known = bool(L.size) and np.isfinite(spread).all() and np.isfinite(difference).all()
    if not known or np.any(np.diag(spread) < 0.0):
        return float("nan"), 0
    size = np.sqrt(np.diag(spread))
    size = np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(spread / np.outer(size, size))
    kept = values > _RANK * max(float(values[-1]), 0.0)
    if not kept.any() or values[0] < -_RANK * values[-1]:  # indefinite: no covariance
        return float("nan"), 0
    parts = vectors.T @ (difference / size)
    if np.any(np.abs(parts[~kept]) > 1e-6 * (1.0 + np.abs(parts).max())):
        return float("inf"), int(kept.sum())
    return float(np.sum(parts[kept] ** 2 / values[kept])), int(kept.sum())


def quadratic_form(L: FloatArray, covariance: FloatArray) -> FloatArray:
    """(h, h) L V L', where the rows of V that L does not ask for may be NaN."""
    asked = np.any(L != 0.0, axis=0)
    return np.asarray(L[:, asked] @ covariance[np.ix_(asked, asked)] @ L[:, asked].T)


def sequential_contrasts(gram: FloatArray, columns: IntArray, order: IntArray) -> FloatArray:
    """(h, p) contrasts of some columns adjusted for the columns before them in `order` and ignoring those after.

    The rows of the unit upper triangle U in X'X = U'DU: row j says which combination of coefficients column j's part
    outside the span of the columns before it carries [Searle 1971, sec. 5.2; SAS type I].

    Parameters
    ----------
    gram : (p, p)
        Products of centred columns (the intercept swept out).
    columns : (h,) wanted, among `order`
    order : (q,) columns of the model in the order in which they enter
    """
    left = gram[np.ix_(order, order)].copy()
    size = np.diag(left).copy()
    rows = {}
    for j in range(order.size):
        if left[j, j] <= _PIVOT * size[j]:
            continue
        rows[int(order[j])] = left[j] / left[j, j]
        left[j + 1 :, j + 1 :] -= np.outer(left[j + 1 :, j], left[j, j + 1 :]) / left[j, j]
        left[j + 1 :, j] = 0.0
    found = np.zeros((columns.size, gram.shape[0]))
    for place, column in enumerate(columns):
        if int(column) in rows:
            found[place, order] = rows[int(column)]
    return found


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
