"""Wald tests of linear hypotheses, and the contrasts behind type I and II tests."""

from __future__ import annotations

import numpy as np

from ..._typing import FloatArray, IntArray

#: Eigenvalues of a covariance below this share of the largest are zero: the hypotheses depend on each other.
_RANK = 1e-10
#: Pivots of a sum-of-squares matrix below this share of their diagonal are zero: the column adds nothing.
_PIVOT = 1e-10


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
    if not known or np.any(np.diag(spread) < 0.0):  # what was put together from several fits may be no covariance
        return float("nan"), 0
    size = np.sqrt(np.diag(spread))
    size = np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(spread / np.outer(size, size))
    kept = values > _RANK * max(float(values[-1]), 0.0)
    if not kept.any():
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
