"""Power and sample size of two groups on an ordered outcome.

Let pbar_k be the level probabilities averaged over groups of n1 and n2 rows, n = n1 +
n2, and t = 1 - sum pbar_k^3, which is 1 for an outcome without ties.

Odds ratio [Whitehead 1993]: with proportional odds and an odds ratio near 1, the
efficient score of the log odds ratio has the variance (the information)
    V = n1 n2 n / (3 (n + 1)^2) t
and power = Phi(|log OR| sqrt(V) - z_{1 - alpha / 2}). To solve for n, n + 1 is replaced
by n.

Win probability c = P(Y2 > Y1) + P(Y2 = Y1) / 2 [Noether 1987; ties: Zhao, Rahardja &
Qu 2008]: under equal distributions the Mann-Whitney estimate of c has the variance
    t n / (12 n1 n2)
and power = Phi(|c - 1/2| / sqrt(variance) - z_{1 - alpha / 2}).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log, sqrt
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from .._typing import FloatArray
from ..advice import with_advice
from ..checks import fraction as share_of_one
from ..checks import number, numbers_given, whole
from ..exceptions import OptionError

#: Share of the rows in the first of two equal groups.
_EVEN = 0.5
#: Largest accepted difference of a sum of probabilities from 1.
_ROUNDED = 1e-5
#: Fewer rows, odds ratios further from 1, or win probabilities further from 1/2, get a
#: caution: a power of .9 by the formula may be .85 by simulation.
_FEW = 30
_LARGE = 10.0
_FAR = 0.3
#: Whole numbers of rows may be passed by rounding.
_SLACK = 1e-9


def win_matrix(n_levels: int) -> FloatArray:
    """(K, K) M with c = p'M q for the win probability of p against q: 1 below the
    diagonal, 1/2 on it.

    Examples
    --------
    >>> win_matrix(3).tolist()
    [[0.5, 0.0, 0.0], [1.0, 0.5, 0.0], [1.0, 1.0, 0.5]]
    """
    return np.tri(n_levels) - np.eye(n_levels) / 2.0


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """Power of a comparison of two groups.

    Attributes
    ----------
    power : float
    n : int
        Observations in both groups together.
    groups : (2,) int
        Observations in each group.
    n_exact : float
        `n` before rounding up.
    odds_ratio : float or None
        None for a plan by the win probability.
    win_probability : float or None
        None for a plan by the odds ratio without the probabilities of a group.
    probabilities : (K,) or None
        Level probabilities, averaged over both groups; None for an outcome without
        ties.
    alpha : float
        Significance level of the two-sided test.
    se : float
        Approximate standard error of the log odds ratio, or of the win probability.
    efficiency : float
        Information on the log odds ratio relative to an outcome without ties.
    """

    power: float
    n: int
    groups: tuple[int, int]
    n_exact: float
    odds_ratio: float | None
    win_probability: float | None
    probabilities: FloatArray | None
    alpha: float
    se: float
    efficiency: float

    def __repr__(self) -> str:
        rows = f"{self.n} observations ({self.groups[0]} and {self.groups[1]})"
        caution = (
            "The formula is for {} and many observations: check the power on simulated"
            " data"
        )
        if self.odds_ratio is not None:
            doubtful = abs(log(self.odds_ratio)) > log(_LARGE)
            effect = f"an odds ratio of {self.odds_ratio:g}"
            if self.win_probability is not None:
                effect += f", a win probability of {self.win_probability:.3f},"
            source = "Whitehead (1993)"
            error = (
                f"Standard error of the log odds ratio {self.se:.3f};"
                f" {100 * self.efficiency:.0f}% of the information of an outcome"
                " without ties"
            )
            caution = caution.format("odds ratios near 1")
        else:
            c = self.win_probability or 0.0
            doubtful = abs(c - _EVEN) > _FAR
            effect = f"a win probability of {c:.3f}"
            source = "Noether (1987)"
            error = f"Standard error of the win probability {self.se:.3f}"
            if self.probabilities is None:
                error += (
                    ", without ties\nWith ties fewer observations suffice: give"
                    " probabilities="
                )
            caution = caution.format("win probabilities near 1/2")
        lines = [
            f"Power {self.power:.3f} for {effect} with {rows}",
            f"Two-sided test at {self.alpha:g}; {source}",
            error,
        ]
        if doubtful or self.n < _FEW:
            lines.append(caution)
        return "\n".join(lines)


@with_advice
def power_ordinal(
    probabilities: Sequence[float] | None = None,
    odds_ratio: float | None = None,
    n: int | tuple[int, int] | None = None,
    *,
    control: Sequence[float] | None = None,
    treated: Sequence[float] | None = None,
    win_probability: float | None = None,
    power: float | None = None,
    alpha: float = 0.05,
    fraction: float = _EVEN,
) -> Plan:
    """Power or sample size of a two-group comparison of an ordered outcome.

    The effect is an odds ratio, with `probabilities` or `control`; a win probability,
    alone or with `probabilities`; or the two distributions `control` and `treated`.

    Parameters
    ----------
    probabilities : (K,), optional
        Level probabilities, averaged over both groups. They must add up to 1.
    odds_ratio : float, optional
        Odds ratio of a higher level, the second group against the first, > 0 and not 1.
    n : int or (int, int), optional
        Observations in both groups together, split evenly, or in each group.
    control : (K,), optional
        Level probabilities of the first group, instead of `probabilities`.
    treated : (K,), optional
        Level probabilities of the second group, instead of `odds_ratio`. The win
        probability follows from both.
    win_probability : float in (0, 1), optional
        Probability that an observation of the second group has a higher level than one
        of the first, counting ties as half; not 1/2. Without `probabilities` the
        outcome is assumed to have no ties, which needs the most observations.
    power : float in (0, 1), optional
        Desired power, above alpha; give either n or power.
    alpha : float
        Significance level of the two-sided test, in (0, 1).
    fraction : float
        Share of the observations in the first group, in (0, 1), if power is given.

    Returns
    -------
    Plan
        Prints as text; `.power` and `.n` are the numbers, n rounded up.

    Raises
    ------
    OptionError
        Both or neither of n and power; no effect, or two; values outside their range.

    References
    ----------
    Whitehead (1993), Sample size calculations for ordered categorical data, Statistics
    in Medicine 12, 2257-2271. Noether (1987), Sample size determination for some common
    nonparametric tests, JASA 82, 645-647. Zhao, Rahardja & Qu (2008), Sample size
    calculation for the Wilcoxon-Mann-Whitney test adjusting for ties, Statistics in
    Medicine 27, 462-468.

    Examples
    --------
    >>> from ordstat import power_ordinal
    >>> round(power_ordinal([0.1, 0.2, 0.4, 0.2, 0.1], odds_ratio=1.8, n=200).power, 4)
    0.6284
    >>> power_ordinal([0.2, 0.5, 0.2, 0.1], odds_ratio=2.428, power=0.9).n
    187
    >>> plan = power_ordinal(control=[0.3, 0.5, 0.2], odds_ratio=1.8, power=0.8)
    >>> plan.n, round(plan.win_probability, 3)
    (323, 0.582)
    >>> power_ordinal(win_probability=0.6, power=0.8).n
    262
    """
    share_of_one("alpha", alpha)
    share_of_one("fraction", fraction)
    if (n is None) == (power is None):
        raise OptionError(
            f"n or power must be given, but not both; got n={n!r} and power={power!r}."
        )
    _check_effect(
        probabilities=probabilities,
        odds_ratio=odds_ratio,
        control=control,
        treated=treated,
        win_probability=win_probability,
    )
    groups = None
    if power is None:
        groups = _groups(n, fraction)
    else:
        _check_power(power, alpha)
    first_share = fraction if groups is None else groups[0] / sum(groups)
    effect = _Effect.of(
        probabilities, odds_ratio, control, treated, win_probability, first_share
    )
    z = float(ndtri(1.0 - alpha / 2.0))
    if groups is None:
        power = float(power or 0.0)
        information = (z + float(ndtri(power))) ** 2 / effect.size**2
        rows = information / (fraction * (1.0 - fraction)) / effect.per_row
        groups = _divided(rows, fraction)
    else:
        rows = float(sum(groups))
        information = groups[0] * groups[1] / rows * effect.per_row
        if effect.odds_ratio is not None:
            information *= (rows / (rows + 1.0)) ** 2
        power = float(ndtr(abs(effect.size) * sqrt(information) - z))
    # a plan has at least 2 rows
    without_ties = 1.0 - 1.0 / max(rows, 2.0) ** 2
    return Plan(
        power=power,
        n=sum(groups),
        groups=groups,
        n_exact=rows,
        odds_ratio=effect.odds_ratio,
        win_probability=effect.win_probability,
        probabilities=effect.probabilities,
        alpha=alpha,
        se=1.0 / sqrt(information),
        efficiency=min(effect.ties / without_ties, 1.0),
    )


def _check_power(power: float, alpha: float) -> None:
    share_of_one("power", power)
    if power <= alpha:
        raise OptionError(f"power must be above alpha = {alpha:g}; got {power:g}.")


def _divided(rows: float, fraction: float) -> tuple[int, int]:
    """Whole rows of each group, from the number that is needed."""
    first = ceil(rows * fraction - _SLACK)
    return first, max(ceil(rows - _SLACK) - first, 1)


#: The arguments that name an effect together.
_EFFECTS = (
    {"probabilities", "odds_ratio"},
    {"control", "odds_ratio"},
    {"control", "treated"},
    {"win_probability"},
    {"win_probability", "probabilities"},
)


def _check_effect(**given: Any) -> None:
    """OptionError unless the arguments name one effect."""
    named = {name for name, value in given.items() if value is not None}
    if named not in _EFFECTS:
        got = ", ".join(name for name in given if name in named) or "none of them"
        raise OptionError(
            "the effect must be odds_ratio with probabilities or control, control with"
            " treated, or win_probability alone or with probabilities; got"
            f" {got}."
        )


@dataclass(frozen=True, eq=False)
class _Effect:
    """The effect to detect.

    Attributes
    ----------
    size : float
        Log odds ratio, or win probability minus 1/2.
    ties : float
        1 - sum pbar_k^3.
    odds_ratio, win_probability, probabilities
        As in `Plan`.
    """

    size: float
    ties: float
    odds_ratio: float | None
    win_probability: float | None
    probabilities: FloatArray | None

    @classmethod
    def of(
        cls,
        probabilities: Sequence[float] | None,
        odds_ratio: float | None,
        control: Sequence[float] | None,
        treated: Sequence[float] | None,
        win_probability: float | None,
        first_share: float,
    ) -> _Effect:
        """The effect that the arguments name; `first_share` is that of the rows of the
        first group.
        """
        mean = None
        win = None
        if probabilities is not None:
            mean = _probabilities("probabilities", probabilities, averaged=True)
        ratio = None if odds_ratio is None else _odds_ratio(odds_ratio)
        if control is not None:
            first = _probabilities("control", control)
            if ratio is not None:
                second = _shifted(first, ratio)
            else:
                second = _probabilities("treated", treated)
                if second.size != first.size:
                    raise OptionError(
                        "control and treated must have one number for each level; got"
                        f" {first.size} and {second.size}."
                    )
            mean = first_share * first + (1.0 - first_share) * second
            win = float(second @ win_matrix(first.size) @ first)
        elif win_probability is not None:
            share_of_one("win_probability", win_probability)
            win = float(win_probability)
        ties = 1.0 if mean is None else 1.0 - float(np.sum(mean**3))
        if ratio is not None:
            return cls(log(ratio), ties, ratio, win, mean)
        size = (win or 0.0) - _EVEN
        if abs(size) < _ROUNDED:
            raise OptionError(
                "win_probability must differ from 1/2, which means no effect; got"
                f" {win:g}. Give the win probability to detect."
            )
        return cls(size, ties, None, win, mean)

    @property
    def per_row(self) -> float:
        """Information of n1 and n2 rows, times n / (n1 n2)."""
        return self.ties / 3.0 if self.odds_ratio is not None else 12.0 / self.ties


def _shifted(first: FloatArray, ratio: float) -> FloatArray:
    """(K,) level probabilities with the odds of a level above each threshold
    multiplied.
    """
    above = np.clip(np.cumsum(first[::-1])[:-1][::-1], 0.0, 1.0)
    moved = expit(logit(above) + log(ratio))
    return -np.diff(moved, prepend=1.0, append=0.0)


def _probabilities(name: str, given: Any, averaged: bool = False) -> FloatArray:
    """(K,) shares of levels; a level may be without rows in one group, not in both."""
    p = numbers_given(given)
    possible = p > 0.0 if averaged else p >= 0.0
    shares = p.ndim == 1 and p.size >= 2 and bool(possible.all())
    if not shares or abs(p.sum() - 1.0) > _ROUNDED:
        do = "Divide counts by their sum."
        if averaged and np.any(p == 0.0):
            do = "Leave out levels that do not occur."
        numbers = "numbers of 0 or more"
        whose = ""
        if averaged:
            numbers = "positive numbers"
            whose = ", averaged over both groups"
        raise OptionError(
            f"{name} must be two or more {numbers} that add up to 1, one per"
            f" level{whose}; got {given!r}. {do}"
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


def _groups(n: Any, fraction: float) -> tuple[int, int]:
    """Rows of each group, from n= alone."""
    if fraction != _EVEN:
        raise OptionError(
            f"fraction must go with power; got {fraction:g}. Give the rows of each"
            " group, as in n=(25, 75)."
        )
    if isinstance(n, (int, np.integer)):
        total = whole("n", n, 2)
        return total - total // 2, total // 2
    if not isinstance(n, (tuple, list)) or len(n) != 2:
        raise OptionError(
            f"n must be a whole number, or two, one per group; got {n!r}."
        )
    return whole("n", n[0], 1), whole("n", n[1], 1)
