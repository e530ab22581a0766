"""Reliability of probabilities: what was predicted beside what happened."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from .._typing import BoolArray, FloatArray, IntArray


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
