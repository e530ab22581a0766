"""The distribution of a working likelihood ratio of a survey: a sum of chi-squared variables of unequal weight.

Twice the difference of weighted log-likelihoods is distributed as sum lambda_j Z_j^2, lambda the eigenvalues of
V0^-1 V: V the covariance of the design, V0 that of independent rows [Rao & Scott 1984; Lumley & Scott 2014]. That V is
estimated on df degrees of freedom counts as in an F test: P(sum lambda_j Z_j^2 > x W / df), W chi-squared on df.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import fdtrc, ndtr

from ..._typing import FloatArray

#: How near to the end of its range the saddlepoint is looked for, and how near to 0 it says nothing (R's survey).
_END, _NOTHING = 0.99999, 1e-4


def eigenvalues(L: FloatArray, own: FloatArray, design: FloatArray) -> FloatArray:
    """(h,) by which the covariance of L b in the design is larger than that of independent rows.

    Parameters
    ----------
    L : (h, P) independent hypotheses
    own : (P, P) covariance of independent rows
    design : (P, P)
    """
    values = np.linalg.eigvals(np.linalg.solve(L @ own @ L.T, L @ design @ L.T))
    return np.sort(values.real)[::-1]


def rao_scott_tail(statistic: float, lambdas: FloatArray, df: float) -> float:
    """P-value of a working likelihood ratio, by the saddlepoint; where that says nothing by Satterthwaite's F.

    Parameters
    ----------
    statistic : float
    lambdas : (h,) eigenvalues, >= 0
    df : float
        Degrees of freedom of the design.

    Returns
    -------
    float
        NaN where there is nothing to test.

    References
    ----------
    Kuonen (1999), Biometrika 86, 929-935; R's survey, `regTermTest(method = "LRT")`.

    Examples
    --------
    >>> round(rao_scott_tail(6.0, np.array([1.0, 1.0]), 20.0), 4)  # F of 3 on 2 and 20 is exceeded with 0.0725
    0.0737
    """
    if not lambdas.size or not np.isfinite(statistic) or lambdas.max() <= 0.0:
        return float("nan")
    if statistic <= 0.0:
        return 1.0
    size = lambdas.max()
    near = _saddlepoint(lambdas / size, statistic / size / df, df)
    return _satterthwaite(statistic, lambdas, df) if near is None else near


def _satterthwaite(statistic: float, lambdas: FloatArray, df: float) -> float:
    """By an F distribution with the first two moments of the sum."""
    spread = float(np.mean(lambdas**2) / np.mean(lambdas) ** 2)
    return float(fdtrc(lambdas.size / spread, df, statistic / (lambdas.size * np.mean(lambdas))))


def _saddlepoint(lambdas: FloatArray, ratio: float, df: float) -> float | None:
    """P(sum lambda_j Z_j^2 - ratio W > 0), the largest lambda being 1; None too near to the mean."""
    from scipy.optimize import brentq

    a, n = np.append(lambdas, -ratio), np.append(np.ones(lambdas.size), df)

    def slope(z: float) -> float:
        return float(np.sum(n * a / (1.0 - 2.0 * z * a)))

    z = brentq(slope, -_END / (2.0 * ratio), _END / 2.0, xtol=1e-14, rtol=1e-14)
    if abs(z) < _NOTHING:
        return None
    away = math.copysign(math.sqrt(float(np.sum(n * np.log1p(-2.0 * z * a)))), z)
    curved = z * math.sqrt(2.0 * float(np.sum(n * (a / (1.0 - 2.0 * z * a)) ** 2)))
    return float(ndtr(-(away + math.log(curved / away) / away)))
