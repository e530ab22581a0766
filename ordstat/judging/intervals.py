"""Confidence limits of errors, reliability curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaincinv, ndtri

from .._typing import BoolArray, FloatArray, IntArray
from .margins import Bound

# They end by themselves, as a rule after seven.
_NEWTON_STEPS = 60


def kl(q: FloatArray, p: FloatArray) -> FloatArray:
    """kl(q || p) for q and p in [0, 1], any shapes that go together; infinite where q allows what p rules out."""
    from scipy.special import rel_entr

    divergence: FloatArray = rel_entr(q, p) + rel_entr(1.0 - np.asarray(q), 1.0 - np.asarray(p))
    return divergence


def kl_inverse(q: FloatArray, budget: FloatArray) -> FloatArray:
    """The largest p in [q, 1] with kl(q || p) <= budget, never below it by rounding.

    Parameters
    ----------
    q : array of numbers in [0, 1]
    budget : array of numbers >= 0, of a shape that goes with q's

    Examples
    --------
    >>> float(kl_inverse(np.array(0.0), np.array(np.log(2.0))).round(6))  # 1 - exp(-budget)
    0.5
    """
    q, budget = np.broadcast_arrays(np.asarray(q, dtype=np.float64), np.asarray(budget, dtype=np.float64))
    p = _not_below(q, budget)
    for _ in range(_NEWTON_STEPS):  # kl is convex in p: from above Newton's method stays above
        above = kl(q, p) - budget
        going = (above > 0.0) & (p > q) & (p < 1.0)
        step = np.where(going, above, 0.0) * p * (1.0 - p) / np.where(going, p - q, 1.0)
        if not np.any(step > np.spacing(p)):
            break
        p = np.maximum(p - step, q)
    ulps = np.spacing(p)
    while np.any(low := (kl(q, p) <= budget) & (p < 1.0)):
        p, ulps = np.where(low, np.minimum(p + ulps, 1.0), p), 2.0 * ulps
    return p


def _not_below(q: FloatArray, budget: FloatArray) -> FloatArray:
    """A number in [q, 1] not below the limit, by kl >= 2 (p - q)^2 or by kl >= -(1 - q) log(1 - p) - H(q)."""
    from scipy.special import entr

    rest = 1.0 - q
    far = -np.expm1(-(budget + entr(q) + entr(rest)) / np.where(rest > 0.0, rest, 1.0))
    return np.clip(np.minimum(q + np.sqrt(0.5 * budget), far), q, 1.0)


def kl_limit(mean: float, n: float, delta: float) -> float:
    """Upper limit of the mean of n independent numbers in [0, 1] with this sample mean [Hoeffding 1963, th. 1].

    P(sample mean <= q) <= exp(-n kl(q || p)) for every q below the mean p, so p <= kl^-1(mean | log(1/delta) / n) with
    probability 1 - delta. The order of the rows does not matter, nor anything but their mean.
    """
    return float(kl_inverse(np.array(mean), np.array(np.log(1.0 / delta) / n)))


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


def holdout_limits(
    distance: FloatArray,
    weights: FloatArray,
    n_levels: int,
    delta: float = 0.05,
    paid: FloatArray | None = None,
    dearest: float = 0.0,
) -> tuple[Bound, ...]:
    """Upper limits of expected errors from rows not used in the fit.

    Parameters
    ----------
    distance : (N,) |y - code|
    weights : (N,) whole numbers of rows
    n_levels : int
    delta : float in (0, 1)
        Chance that a limit fails; each by itself.
    paid : (N,), optional
        What the predictions cost, in [0, dearest]; of a cost that depends on the two levels alone.
    dearest : float
    """
    n = float(weights.sum())
    wrong = float(weights[distance > 0].sum())
    by_counts = clopper_pearson(wrong, n, delta), "Clopper-Pearson"

    def limit(name: str, losses: FloatArray, trivial: float, found: tuple[float, str]) -> Bound:
        mean = float(weights @ losses) / n
        return Bound(
            name=name, source=found[1], value=found[0], delta=delta, trivial=trivial, margin=math.nan, training=mean
        )

    def by_mean(losses: FloatArray, largest: float) -> tuple[float, str]:
        share = float(weights @ losses) / (n * largest) if largest > 0 else 0.0
        return largest * kl_limit(share, n, delta), "Hoeffding 1963, th. 1"

    largest = float(n_levels - 1)
    # With two levels the two errors are the same.
    of_distance = by_counts if n_levels == 2 else by_mean(distance, largest)
    limits = [
        limit("classification error", np.minimum(distance, 1.0), 1.0, by_counts),
        limit("absolute error", distance, largest, of_distance),
    ]
    if paid is not None:
        limits.append(limit("cost", paid, dearest, by_mean(paid, dearest)))
    return tuple(limits)


def averaged(parts: Sequence[tuple[Bound, ...]], delta: float) -> tuple[Bound, ...]:
    """Limits of the mean error of several rankers: the means of their own, which hold together at `delta`.

    Parameters
    ----------
    parts : sequence of tuples of Bound
        One for each ranker, each at delta / number of rankers.
    delta : float in (0, 1)
    """
    return tuple(
        replace(
            same[0],
            training=float(np.mean([limit.training for limit in same])),
            value=float(np.mean([limit.value for limit in same])),
            delta=delta,
        )
        for same in zip(*parts, strict=True)
    )
