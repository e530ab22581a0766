"""Confidence limits of an expected error from rows that the ranker has not seen: the tight companion of a bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from .._typing import FloatArray


@dataclass(frozen=True, kw_only=True)
class Limit:
    """An upper limit of an expected error.

    Attributes
    ----------
    name : str
        The error.
    source : str
        How the limit was found.
    estimate : float
        Mean over the rows.
    value : float
        Holds with probability >= 1 - delta over the rows.
    delta : float
    trivial : float
        The largest value the error can take.
    """

    name: str
    source: str
    estimate: float
    value: float
    delta: float
    trivial: float

    @property
    def vacuous(self) -> bool:
        """Whether the limit says nothing."""
        return not self.value < self.trivial


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


def holdout_limits(distance: FloatArray, weights: FloatArray, n_levels: int, delta: float = 0.05) -> tuple[Limit, ...]:
    """Upper limits of the classification and absolute error from |y - code| (N,) of rows not used in the fit."""
    n = float(weights.sum())
    wrong = float(weights[distance > 0].sum())
    largest = float(n_levels - 1)
    return (
        Limit(
            name="classification error",
            source="Clopper-Pearson",
            estimate=wrong / n,
            value=clopper_pearson(wrong, n, delta),
            delta=delta,
            trivial=1.0,
        ),
        Limit(
            name="absolute error",
            source="empirical Bernstein",
            estimate=float(weights @ distance) / n,
            value=empirical_bernstein(distance, weights, largest, delta),
            delta=delta,
            trivial=largest,
        ),
    )
