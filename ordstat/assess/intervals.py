"""Confidence limits of an expected error from rows that the ranker has not seen: the tight companion of a bound."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betaincinv

from .._typing import FloatArray
from .bounds import Bound


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
    found = (
        ("classification error", "Clopper-Pearson", wrong, clopper_pearson(wrong, n, delta), 1.0),
        (
            "absolute error",
            "empirical Bernstein",
            float(weights @ distance),
            empirical_bernstein(distance, weights, largest, delta),
            largest,
        ),
    )
    return tuple(
        Bound(name=name, source=source, value=value, delta=delta, trivial=most, margin=math.nan, training=total / n)
        for name, source, total, value, most in found
    )
