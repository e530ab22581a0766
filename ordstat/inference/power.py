"""Power and sample size of two groups on an ordered outcome [Whitehead 1993].

Let pbar_k be the level probabilities averaged over groups of n1 and n2 rows, n = n1 +
n2. With proportional odds and an odds ratio near 1, the efficient score of the log odds
ratio has the variance (the information)
    V = n1 n2 n / (3 (n + 1)^2) (1 - sum pbar_k^3)
and power = Phi(|log OR| sqrt(V) - z_{1 - alpha / 2}). To solve for n, n + 1 is replaced
by n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log, sqrt
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from .._typing import FloatArray
from ..checks import fraction as share_of_one
from ..checks import number, whole
from ..exceptions import OptionError
from ..report.advice import with_advice

#: Share of the rows in the first of two equal groups.
_EVEN = 0.5
#: Largest accepted difference of a sum of probabilities from 1.
_ROUNDED = 1e-5
#: Fewer rows or odds ratios further from 1 get a caution: a power of .9 by the formula
#: may be .85 by simulation.
_FEW = 30
_LARGE = 10.0


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """Power of a comparison of two groups.

    Attributes
    ----------
    power : float
    n : int
        Rows of both groups together.
    groups : (2,) int
        Rows of each group.
    n_exact : float
        `n` before rounding up.
    odds_ratio : float
    probabilities : (K,)
        Level probabilities, averaged over both groups.
    alpha : float
        Level of the two-sided test.
    se : float
        Approximate standard error of the log odds ratio.
    efficiency : float
        Information relative to an outcome without ties.
    """

    power: float
    n: int
    groups: tuple[int, int]
    n_exact: float
    odds_ratio: float
    probabilities: FloatArray
    alpha: float
    se: float
    efficiency: float

    def __repr__(self) -> str:
        doubtful = self.n < _FEW or abs(log(self.odds_ratio)) > log(_LARGE)
        caution = (
            "\nThe formula is for odds ratios near 1 and many rows: check the power on"
            " simulated data"
        )
        return (
            f"Power {self.power:.3f} for an odds ratio of {self.odds_ratio:g} with"
            f" {self.n} rows ({self.groups[0]} and {self.groups[1]})\nTwo-sided test at"
            f" {self.alpha:g}; Whitehead (1993)\nStandard error of the log odds ratio"
            f" {self.se:.3f}; {100 * self.efficiency:.0f}% of the information of an"
            f" outcome without ties{caution * doubtful}"
        )


@with_advice
def power_ordinal(
    probabilities: Sequence[float],
    odds_ratio: float,
    n: int | tuple[int, int] | None = None,
    *,
    power: float | None = None,
    alpha: float = 0.05,
    fraction: float = _EVEN,
) -> Plan:
    """Power to detect an odds ratio between two groups on an ordered outcome, or the
    number of rows for a given power.

    Parameters
    ----------
    probabilities : (K,)
        Level probabilities, averaged over both groups. They must add up to 1.
    odds_ratio : float
        Odds ratio of a higher level, the second group against the first, > 0 and not 1.
    n : int or (int, int), optional
        Rows of both groups together, split evenly, or rows of each group.
    power : float in (0, 1), optional
        Power wanted; give either n or power.
    alpha : float
        Level of the two-sided test, in (0, 1).
    fraction : float
        Share of the rows in the first group, in (0, 1), if power is given.

    Returns
    -------
    Plan
        Prints as text; `.power` and `.n` are the numbers, n rounded up.

    Raises
    ------
    OptionError
        Both or neither of n and power; values outside their range.

    References
    ----------
    Whitehead (1993), Sample size calculations for ordered categorical data, Statistics
    in Medicine 12, 2257-2271.

    Examples
    --------
    >>> from ordstat import power_ordinal
    >>> round(power_ordinal([0.1, 0.2, 0.4, 0.2, 0.1], odds_ratio=1.8, n=200).power, 4)
    0.6284
    >>> power_ordinal([0.2, 0.5, 0.2, 0.1], odds_ratio=2.428, power=0.9).n
    187
    """
    p = _probabilities(probabilities)
    ratio = _odds_ratio(odds_ratio)
    share_of_one("alpha", alpha)
    share_of_one("fraction", fraction)
    if (n is None) == (power is None):
        raise OptionError(
            f"n or power must be given, but not both; got n={n!r} and power={power!r}."
        )
    without_ties = 1.0 - float(np.sum(p**3))
    z = float(ndtri(1.0 - alpha / 2.0))
    if power is None:
        if fraction != _EVEN:
            raise OptionError(
                f"fraction must go with power; got {fraction:g}. Give the rows of each"
                " group, as in n=(25, 75)."
            )
        groups = _groups(n)
        rows = float(sum(groups))
        information = (
            groups[0] * groups[1] * rows / 3.0 / (rows + 1.0) ** 2 * without_ties
        )
        power = float(ndtr(abs(log(ratio)) * sqrt(information) - z))
    else:
        share_of_one("power", power)
        if power <= alpha:
            raise OptionError(f"power must be above alpha = {alpha:g}; got {power:g}.")
        shares = fraction * (1.0 - fraction)
        rows = (
            3.0
            * (z + float(ndtri(power))) ** 2
            / shares
            / log(ratio) ** 2
            / without_ties
        )
        first = ceil(rows * fraction - 1e-9)
        groups = first, max(ceil(rows - 1e-9) - first, 1)
        information = rows * shares / 3.0 * without_ties
    # a plan has at least 2 rows
    efficiency = min(without_ties / (1.0 - 1.0 / max(rows, 2.0) ** 2), 1.0)
    return Plan(
        power,
        sum(groups),
        groups,
        rows,
        ratio,
        p,
        alpha,
        1.0 / sqrt(information),
        efficiency,
    )


def _probabilities(given: Sequence[float]) -> FloatArray:
    try:
        p = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        p = np.zeros(0)
    if (
        p.ndim != 1
        or p.size < 2
        or not np.all(p > 0.0)
        or abs(p.sum() - 1.0) > _ROUNDED
    ):
        do = (
            "Leave out levels that do not occur."
            if np.any(p == 0.0)
            else "Divide counts by their sum."
        )
        raise OptionError(
            "probabilities must be two or more positive numbers that add up to 1, one"
            f" per level, averaged over both groups; got {given!r}. {do}"
        )
    return np.asarray(p / p.sum())


def _odds_ratio(given: float) -> float:
    ratio = number("odds_ratio", given, above=0)
    if ratio == 1.0:
        raise OptionError(
            "odds_ratio must differ from 1, which means no effect; got 1. Give the odds"
            " ratio to detect."
        )
    return ratio


def _groups(n: Any) -> tuple[int, int]:
    if isinstance(n, (int, np.integer)):
        total = whole("n", n, 2)
        return total - total // 2, total // 2
    if not isinstance(n, (tuple, list)) or len(n) != 2:
        raise OptionError(
            f"n must be a whole number, or two, one per group; got {n!r}."
        )
    return whole("n", n[0], 1), whole("n", n[1], 1)
