"""Confidence limits of an expected error from rows that the ranker has not seen: the tight companion of a bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaincinv

from .._typing import FloatArray
from .bounded_mean import betting_limit, kl_limit

# Rows that are bet on one by one at the most, and the seed of their order.
_MOST_BETS, _ORDER = 1e6, 0


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


def mean_limit(losses: FloatArray, weights: FloatArray, largest: float, delta: float) -> tuple[float, str]:
    """Upper limit of the mean of losses (N,) in [0, largest], and its source: by betting, one row after another.

    The rows come in a random order of their own, so that theirs need not be. Weights (N,) are whole numbers of rows;
    where they stand for very many, the limit is that of their mean alone, by the divergence.

    Examples
    --------
    >>> losses = np.repeat([0.0, 1.0, 2.0], [700, 200, 100])  # mean 0.4
    >>> [round(mean_limit(losses, np.ones(1000), 9.0, 0.05)[0], 3), round(9 * kl_limit(0.4 / 9, 1000, 0.05), 3)]
    [0.453, 0.56]
    """
    n = float(weights.sum())
    share = losses / largest if largest > 0 else losses
    if n > _MOST_BETS:
        return largest * kl_limit(float(weights @ share) / n, n, delta), "Hoeffding 1963, th. 1"
    each = np.repeat(share, np.rint(weights).astype(np.intp))
    shuffled = np.random.default_rng(_ORDER).permutation(each)
    return largest * betting_limit(shuffled, delta), "betting, Waudby-Smith & Ramdas 2023"


def holdout_limits(
    distance: FloatArray,
    weights: FloatArray,
    n_levels: int,
    delta: float = 0.05,
    paid: FloatArray | None = None,
    dearest: float = 0.0,
) -> tuple[Limit, ...]:
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

    def limit(name: str, losses: FloatArray, trivial: float, found: tuple[float, str]) -> Limit:
        mean = float(weights @ losses) / n
        return Limit(name=name, source=found[1], estimate=mean, value=found[0], delta=delta, trivial=trivial)

    largest = float(n_levels - 1)
    # Of two levels the two errors are one.
    of_distance = by_counts if n_levels == 2 else mean_limit(distance, weights, largest, delta)
    limits = [
        limit("classification error", np.minimum(distance, 1.0), 1.0, by_counts),
        limit("absolute error", distance, largest, of_distance),
    ]
    if paid is not None:
        limits.append(limit("cost", paid, dearest, mean_limit(paid, weights, dearest, delta)))
    return tuple(limits)


def averaged(parts: Sequence[tuple[Limit, ...]], delta: float) -> tuple[Limit, ...]:
    """Limits of the mean error of several rankers: the means of their own, which hold together at `delta`.

    Parameters
    ----------
    parts : sequence of tuples of Limit
        One for each ranker, each at delta / number of rankers.
    delta : float in (0, 1)
    """
    return tuple(
        replace(
            same[0],
            estimate=float(np.mean([limit.estimate for limit in same])),
            value=float(np.mean([limit.value for limit in same])),
            delta=delta,
        )
        for same in zip(*parts, strict=True)
    )
