"""Wald-type tests that a smooth is 0, and the tails of their distributions."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.special import chdtrc

from .._typing import FloatArray

#: Variances of a curve below this share of the largest are rounding [mgcv].
_SINGULAR = 1e-14
#: The sign of the first of two mixed directions is arbitrary: statistic and p-value are
#: means over both, where mgcv's statistic takes one of them.
_SIGNS = (np.array([1.0, 1.0]), np.array([-1.0, 1.0]))
#: Angles and nodes of the tail of a mixture of chi-squared variables.
_ANGLES = 64
_NODES = 80
#: Length of a sum of chi-squared variables in units of its mean, and steps along its
#: characteristic function.
_LENGTH = 40.0
_STEPS = 100_000


def curve_test(
    beta: FloatArray, gram: FloatArray, covariance: FloatArray, rank: float
) -> tuple[float, float]:
    """Test that a smooth is 0 throughout [Wood 2013, Biometrika 100, 221-228].

    The curve's values are compared with their covariance along its `rank` leading
    directions, of which the last two are mixed where the rank is not whole.

    Parameters
    ----------
    beta : (m,)
    gram : (m, m)
        X'WX: the test uses the values of the curve at the rows.
    covariance : (m, m)
        Of beta.
    rank : float

    Returns
    -------
    (float, float)
        Statistic and p-value.
    """
    values, vectors = np.linalg.eigh(gram)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    variances, directions = np.linalg.eigh(root @ covariance @ root.T)
    variances = variances[::-1]
    directions = directions[:, ::-1]
    usable = int(np.count_nonzero(variances > _SINGULAR * variances[0]))
    z = directions.T @ root @ beta
    z[:usable] /= np.sqrt(variances[:usable])
    whole = math.floor(rank)
    part = rank - whole
    if usable < whole + (part > 0.0):
        whole, part = usable, 0.0
    if part == 0.0 or whole == 0:
        df = max(whole, 1)
        statistic = float(z[:df] @ z[:df])
        return statistic, float(chdtrc(df, statistic))
    statistic = float(z[: whole - 1] @ z[: whole - 1])
    off = math.sqrt(0.5 * part * (1.0 - part))
    scales = 1.0 / np.sqrt(variances[whole - 1 : whole + 1])
    mixed = np.array([[1.0, off], [off, part]]) * np.outer(scales, scales)
    # in the units of the values, as the root of the matrix is taken there
    pair = z[whole - 1 : whole + 1] / scales
    sizes, turns = np.linalg.eigh(mixed)
    half = turns * np.sqrt(np.maximum(sizes, 0.0)) @ turns.T
    sums = [float(np.sum((half @ (sign * pair)) ** 2)) for sign in _SIGNS]
    spread = math.sqrt((part + 1.0) * (1.0 - part))
    weights = 0.5 * np.array([part + 1.0 + spread, part + 1.0 - spread])
    tails = [mixture_tail(statistic + each, whole - 1, weights) for each in sums]
    return statistic + float(np.mean(sums)), float(np.mean(tails))


def effects_test(
    beta: FloatArray, covariance: FloatArray, spread: FloatArray
) -> tuple[float, float]:
    """Test that effects which are penalised in every direction are 0 [Wood 2013, A
    simple test for random effects in regression models, Biometrika 100, 1005-1010].

    Parameters
    ----------
    beta : (m,)
    covariance : (m, m)
        Bayesian covariance of beta (the penalty as prior), A^-1.
    spread : (m, m)
        Sampling covariance of beta if the effects are 0, A^-1 X'WX A^-1.

    Returns
    -------
    (float, float)
        beta'A beta, and its p-value.
    """
    root = np.linalg.cholesky(covariance)
    statistic = float(np.sum(np.linalg.solve(root, beta) ** 2))
    inside = np.linalg.solve(root, np.linalg.solve(root, spread).T)
    weights = np.linalg.eigvalsh(0.5 * (inside + inside.T))[::-1]
    return statistic, sum_tail(statistic, weights[weights > _SINGULAR * weights[0]])


def sum_tail(statistic: float, weights: FloatArray) -> float:
    """P(sum of w_i chi2_1 > statistic), all independent, w_i > 0; to about 1e-6.

    By inversion of the characteristic function with the trapezoidal rule [Davies 1980,
    Applied Statistics 29, 323-333]; in closed form for one and two variables.

    Examples
    --------
    >>> import numpy as np
    >>> tail = sum_tail(9.0, np.array([2.0, 2.0, 2.0, 2.0]))  # 2 chi2 with 4 df
    >>> bool(abs(tail - np.exp(-2.25) * 3.25) < 1e-6)
    True
    """
    if weights.size == 1:
        return float(chdtrc(1, statistic / weights[0]))
    if weights.size == 2:
        return mixture_tail(statistic, 0, weights)
    # beyond this length the sum has no probability to speak of
    length = statistic + _LENGTH * float(weights.sum())
    step = math.pi / length
    u = step * (np.arange(_STEPS) + 0.5)
    phase = -0.5 * statistic * u
    log_size = np.log(u)
    for weight in weights:
        phase += 0.5 * np.arctan(weight * u)
        log_size += 0.25 * np.log1p((weight * u) ** 2)
    total = float(np.sum(np.sin(phase) * np.exp(-log_size)))
    return float(np.clip(0.5 + step * total / math.pi, 0.0, 1.0))


def mixture_tail(statistic: float, df: int, weights: FloatArray) -> float:
    """P(chi2_df + w_1 chi2_1 + w_2 chi2_1 > statistic), all independent.

    w_1 chi2_1 + w_2 chi2_1 is exponential at a random angle: with r^2 / 2 exponential
    of mean 1, it is r^2 (w_1 cos^2 + w_2 sin^2). The mean over angles converges
    geometrically, and each term has a closed form by integration over r.

    Examples
    --------
    >>> import numpy as np
    >>> tail = mixture_tail(5.0, 2, np.array([1.0, 1.0]))
    >>> bool(abs(tail - np.exp(-2.5) * 3.5) < 1e-12)  # chi2 with 4 df
    True
    """
    angles = (np.arange(_ANGLES) + 0.5) * (0.5 * math.pi / _ANGLES)
    sizes = weights[0] * np.cos(angles) ** 2 + weights[1] * np.sin(angles) ** 2
    if df == 0:
        return float(np.exp(-0.5 * statistic / sizes).mean())
    # the tail of chi2_df + 2 size E: Gauss nodes of the share u that chi2_df takes
    nodes, shares = _gauss()
    root = 0.5 * math.sqrt(statistic) * (nodes + 1.0)
    density = chi_density(root, df) * shares * 0.5 * math.sqrt(statistic)
    left = statistic - root**2
    exceeding = np.exp(-0.5 * left / sizes[:, None]).mean(axis=0)
    return float(chdtrc(df, statistic) + density @ exceeding)


@cache
def _gauss() -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of integrals from -1 to 1."""
    return np.polynomial.legendre.leggauss(_NODES)


def chi_density(r: FloatArray, df: int) -> FloatArray:
    """(n,) density of the square root of chi2_df."""
    log = (df - 1.0) * np.log(r) - 0.5 * r**2
    constant = (0.5 * df - 1.0) * math.log(2.0) + math.lgamma(0.5 * df)
    return np.asarray(np.exp(log - constant))
