"""Confidence limits of errors and probabilities from rows that the ranker has not seen, and reliability curves."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, ndtri

from .._typing import BoolArray, FloatArray, IntArray
from .bounds import Bound


@dataclass(frozen=True, eq=False, kw_only=True)
class Reliability:
    """A reliability curve, one entry a bin.

    Attributes
    ----------
    predicted : (B,) mean predicted probability
    observed : (B,) share of the rows for which the event happened
    lower, upper : (B,) confidence limits of that share
    weight : (B,) weight of the rows
    """

    predicted: FloatArray
    observed: FloatArray
    lower: FloatArray
    upper: FloatArray
    weight: FloatArray


def reliability(
    probabilities: FloatArray, happened: BoolArray, weights: FloatArray, bins: int, level: float
) -> Reliability:
    """Mean prediction and observed share in bins of about equal weight, rows of the same prediction together.

    Parameters
    ----------
    probabilities : (N,) of the event
    happened : (N,)
    weights : (N,) case weights, > 0
    bins : int
        At most so many; ties leave fewer.
    level : float in (0, 1)
        Confidence level of the limits (`wilson_limits`).

    Examples
    --------
    >>> p = np.array([0.2, 0.2, 0.2, 0.2, 0.7, 0.7])
    >>> curve = reliability(p, np.array([0, 0, 0, 1, 1, 1]) > 0, np.ones(6), 10, 0.95)
    >>> curve.observed, curve.weight
    (array([0.25, 1.  ]), array([4., 2.]))
    """
    bin_ = _bins(probabilities, weights, bins)
    weight = np.bincount(bin_, weights=weights).astype(np.float64)
    predicted = np.bincount(bin_, weights=weights * probabilities) / weight
    observed = np.bincount(bin_, weights=weights * happened) / weight
    lower, upper = wilson_limits(observed, weight, level)
    return Reliability(predicted=predicted, observed=observed, lower=lower, upper=upper, weight=weight)


def _bins(values: FloatArray, weights: FloatArray, bins: int) -> IntArray:
    """(N,) bin 0..B-1 of each row: that of the middle of the rows with its value, by cumulated weight."""
    _, group = np.unique(values, return_inverse=True)
    sizes = np.bincount(group, weights=weights)
    middle = (np.cumsum(sizes) - 0.5 * sizes) / sizes.sum()
    _, kept = np.unique(np.floor(bins * middle), return_inverse=True)
    return np.asarray(kept[group])


def wilson_limits(share: FloatArray, n: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Score limits of a probability from the share of n rows (Wilson 1927), two-sided.

    Examples
    --------
    >>> [float(end.round(4)) for end in wilson_limits(np.array(0.5), np.array(10.0), 0.95)]
    [0.2366, 0.7634]
    """
    z2 = float(ndtri(0.5 + 0.5 * level)) ** 2
    centre = (share + z2 / (2.0 * n)) / (1.0 + z2 / n)
    half = np.sqrt(z2 * (share * (1.0 - share) / n + z2 / (4.0 * n * n))) / (1.0 + z2 / n)
    # Where the share is 0 or 1 so is that limit, exactly.
    lower = np.where(share <= 0.0, 0.0, np.maximum(centre - half, 0.0))
    return lower, np.where(share >= 1.0, 1.0, np.minimum(centre + half, 1.0))


def clopper_pearson(errors: float, n: float, delta: float) -> float:
    """Upper limit of a probability of which `errors` of `n` independent rows gave an instance, one-sided, exact.

    Examples
    --------
    >>> round(clopper_pearson(0, 100, 0.05), 5)  # 1 - 0.05**(1 / 100)
    0.02951
    """
    return 1.0 if errors >= n else float(betaincinv(errors + 1.0, n - errors, 1.0 - delta))


def empirical_bernstein(losses: FloatArray, weights: FloatArray, largest: float, delta: float) -> float:
    """Upper limit of the mean of losses (N,) in [0, largest] (Maurer & Pontil 2009, th. 4), one-sided.

    mean + sqrt(2 V log(2/delta) / n) + 7 largest log(2/delta) / (3 (n - 1)), V the sample variance; weights (N,) are
    whole numbers of repetitions, n their sum. Not above `largest`.
    """
    n = float(weights.sum())
    if n < 2:
        return largest
    mean = float(weights @ losses) / n
    variance = float(weights @ (losses - mean) ** 2) / (n - 1)
    log = float(np.log(2.0 / delta))
    limit = mean + float(np.sqrt(2.0 * variance * log / n)) + 7.0 * largest * log / (3.0 * (n - 1))
    return min(limit, largest)


def holdout_limits(distance: FloatArray, weights: FloatArray, n_levels: int, delta: float = 0.05) -> tuple[Bound, ...]:
    """Upper limits of the classification and absolute error from |y - code| (N,) of rows not used in the fit."""
    n = float(weights.sum())
    wrong = float(weights[distance > 0].sum())
    largest = float(n_levels - 1)
    share, mean = clopper_pearson(wrong, n, delta), empirical_bernstein(distance, weights, largest, delta)
    found = (
        ("classification error", "Clopper-Pearson", wrong, share, 1.0),
        ("absolute error", "empirical Bernstein", float(weights @ distance), mean, largest),
    )
    return tuple(
        Bound(name=name, source=source, value=value, delta=delta, trivial=most, margin=math.nan, training=total / n)
        for name, source, total, value, most in found
    )
