"""Power and sample size of a comparison of two groups on an ordered outcome [Whitehead 1993].

With proportional odds, probabilities pbar_k of the levels averaged over both groups of n1 and n2, n = n1 + n2, and an
odds ratio near 1, the efficient score of the log odds ratio has the variance (the information)
    V = n1 n2 n / (3 (n + 1)^2) (1 - sum pbar_k^3)
and power = Phi(|log OR| sqrt(V) - z_{1 - alpha / 2}); without the 1 in n + 1 it is solved for n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log, sqrt
from typing import Any

import numpy as np

from .._typing import FloatArray, Progress
from ..checks import fraction as share
from ..checks import generator, number, reporter, whole
from ..exceptions import OptionError

#: Sums of probabilities that are further from 1 than this are a mistake.
_ROUNDED = 1e-5
#: Fewer rows, and odds ratios further from 1, get a caution: there a power of .9 by the formula is .85 by simulation.
_FEW, _LARGE = 30, 10.0


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """Power of a comparison of two groups.

    Attributes
    ----------
    power : float
    n : int
        Rows of both groups together.
    groups : (2,) int
        Rows of each.
    n_exact : float
        `n` before it was rounded up.
    odds_ratio : float
    probabilities : (K,)
        Of the levels, averaged over both groups.
    alpha : float
        Level of the two-sided test.
    se : float
        Approximate standard error of the log odds ratio.
    efficiency : float
        Information relative to an outcome without ties.
    simulations : int
        How many data sets the power comes from; 0 where it comes from the formula.
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
    simulations: int = 0

    def __repr__(self) -> str:
        how = "Whitehead (1993)"
        if self.simulations:
            error = sqrt(self.power * (1.0 - self.power) / self.simulations)
            how = f"{self.simulations} simulated data sets, standard error {error:.3f}"
        far = not self.simulations and (self.n < _FEW or abs(log(self.odds_ratio)) > log(_LARGE))
        caution = "\nThe formula is for odds ratios near 1 and many rows: use power_ordinal(..., simulations=1000)"
        return (
            f"Power {self.power:.3f} for an odds ratio of {self.odds_ratio:g} with {self.n} rows "
            f"({self.groups[0]} and {self.groups[1]})\n"
            f"Two-sided test at {self.alpha:g}; {how}\n"
            f"Standard error of the log odds ratio {self.se:.3f}; "
            f"{100 * self.efficiency:.0f} % of the information of an outcome without ties{caution * far}"
        )

    def __float__(self) -> float:
        return self.power


def power_ordinal(
    probabilities: Sequence[float],
    odds_ratio: float,
    n: int | tuple[int, int],
    *,
    alpha: float = 0.05,
    simulations: int = 0,
    seed: int | np.random.Generator = 0,
    callback: Progress | None = None,
) -> Plan:
    """Power to find an odds ratio between two groups on an ordered outcome.

    Parameters
    ----------
    probabilities : (K,)
        Of the levels, averaged over both groups. They must add up to 1.
    odds_ratio : float
        Of a higher level, the second group against the first, > 0 and not 1.
    n : int or (int, int)
        Rows of both groups together, split evenly, or of each.
    alpha : float
        Level of the two-sided test, in (0, 1).
    simulations : int
        0 uses the formula, which holds for odds ratios near 1; a number simulates so many data sets, fits a cumulative
        logit model to each and counts likelihood-ratio tests below alpha.
    seed, callback
        Of the simulation, as in `ordfit`.

    Returns
    -------
    Plan
        Prints as text; `.power` is the number.

    Raises
    ------
    OptionError
        Values outside their range.

    References
    ----------
    Whitehead (1993), Sample size calculations for ordered categorical data, Statistics in Medicine 12, 2257-2271.

    Examples
    --------
    >>> from ordstat import power_ordinal
    >>> round(power_ordinal([0.1, 0.2, 0.4, 0.2, 0.1], odds_ratio=1.8, n=200).power, 4)
    0.6284
    """
    p, ratio = _probabilities(probabilities), _odds_ratio(odds_ratio)
    share("alpha", alpha)
    groups = _groups(n)
    total = float(sum(groups))
    information = groups[0] * groups[1] * total / 3.0 / (total + 1.0) ** 2 * (1.0 - float(np.sum(p**3)))
    power = _power(ratio, information, alpha)
    if whole("simulations", simulations, 0, also=" (0 for the formula)"):
        power = _simulated(p, ratio, groups, alpha, simulations, generator(seed), callback)
    return _plan(power, total, groups, ratio, p, alpha, information, simulations)


def sample_size_ordinal(
    probabilities: Sequence[float],
    odds_ratio: float,
    power: float = 0.8,
    *,
    alpha: float = 0.05,
    fraction: float = 0.5,
) -> Plan:
    """Rows needed to find an odds ratio between two groups on an ordered outcome.

    Parameters
    ----------
    probabilities : (K,)
        Of the levels, averaged over both groups. They must add up to 1.
    odds_ratio : float
        Of a higher level, the second group against the first, > 0 and not 1.
    power : float
        Wanted, in (0, 1).
    alpha : float
        Level of the two-sided test, in (0, 1).
    fraction : float
        Share of the rows in the first group, in (0, 1).

    Returns
    -------
    Plan
        Prints as text; `.n` is the number of rows, rounded up.

    Raises
    ------
    OptionError
        Values outside their range.

    References
    ----------
    Whitehead (1993), Sample size calculations for ordered categorical data, Statistics in Medicine 12, 2257-2271.

    Examples
    --------
    >>> from ordstat import sample_size_ordinal
    >>> sample_size_ordinal([0.2, 0.5, 0.2, 0.1], odds_ratio=2.428, power=0.9).n
    187
    """
    from scipy.stats import norm

    p, ratio = _probabilities(probabilities), _odds_ratio(odds_ratio)
    for name, value in (("power", power), ("alpha", alpha), ("fraction", fraction)):
        share(name, value)
    if power <= alpha:
        raise OptionError(f"power must be above alpha = {alpha:g}; got {power:g}.")
    odds, spread = (1.0 - fraction) / fraction, 1.0 - float(np.sum(p**3))
    z = float(norm.ppf(1.0 - alpha / 2.0) + norm.ppf(power))
    exact = 3.0 * (odds + 1.0) ** 2 * z**2 / odds / log(ratio) ** 2 / spread
    first = ceil(exact * fraction - 1e-9)
    groups = first, max(ceil(exact - 1e-9) - first, 1)
    information = exact * odds / (odds + 1.0) ** 2 / 3.0 * spread
    return _plan(power, exact, groups, ratio, p, alpha, information, 0)


def _plan(
    power: float,
    n: float,
    groups: tuple[int, int],
    ratio: float,
    p: FloatArray,
    alpha: float,
    information: float,
    simulations: int,
) -> Plan:
    efficiency = min((1.0 - float(np.sum(p**3))) / (1.0 - 1.0 / max(n, 2.0) ** 2), 1.0)  # no plan has less than 2 rows
    return Plan(power, sum(groups), groups, n, ratio, p, alpha, 1.0 / sqrt(information), efficiency, simulations)


def _power(ratio: float, information: float, alpha: float) -> float:
    from scipy.stats import norm

    return float(norm.cdf(abs(log(ratio)) * sqrt(information) - norm.ppf(1.0 - alpha / 2.0)))


def _simulated(
    p: FloatArray,
    ratio: float,
    groups: tuple[int, int],
    alpha: float,
    simulations: int,
    rng: np.random.Generator,
    callback: Progress | None,
) -> float:
    """Share of simulated data sets whose likelihood-ratio test of the groups is below alpha."""
    from scipy.stats import chi2

    both, report, found = _both(p, ratio, groups), reporter(callback), 0
    for done in range(simulations):
        counts = np.stack([rng.multinomial(size, own) for size, own in zip(groups, both, strict=True)])
        found += chi2.sf(_lr_statistic(counts), 1) < alpha
        if report is not None:
            report(done + 1, simulations, "simulated data sets")
    return found / simulations


def _both(p: FloatArray, ratio: float, groups: tuple[int, int]) -> FloatArray:
    """(2, K) probabilities of each group whose average, by their sizes, is p, at this odds ratio."""
    from scipy.optimize import brentq
    from scipy.special import expit, logit

    shares, below = np.array(groups) / sum(groups), np.cumsum(p)[:-1]

    def excess(start: float, cut: float) -> float:
        return float(shares @ expit([start, start - log(ratio)])) - cut

    reach, pairs = abs(log(ratio)) + 1.0, zip(logit(below), below, strict=True)
    cuts = np.array([brentq(excess, at - reach, at + reach, args=(cut,)) for at, cut in pairs])
    return np.asarray(np.diff(expit(np.stack([cuts, cuts - log(ratio)])), axis=1, prepend=0.0, append=1.0))


def _lr_statistic(counts: Any) -> float:
    """Likelihood-ratio statistic of the groups in a cumulative logit model; counts (2, K)."""
    from ..formula.sample import Rows, Sample
    from ..likelihood.clm import CumulativeLink

    group, level = np.nonzero(counts)
    present = np.unique(level)
    if present.size < 2:
        return 0.0
    rows = Rows(X=group[:, None].astype(np.float64))
    weights = counts[group, level].astype(np.float64)
    codes = np.searchsorted(present, level).astype(np.intp)
    sample = Sample(rows=rows, y=codes, n_levels=int(present.size), weights=weights)
    fit = CumulativeLink().fit(sample, np.random.default_rng(0))
    return 2.0 * (fit.loglik - fit.null_loglik)


def _probabilities(given: Sequence[float]) -> FloatArray:
    try:
        p = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        p = np.zeros(0)
    if p.ndim != 1 or p.size < 2 or not np.all(p > 0.0) or abs(p.sum() - 1.0) > _ROUNDED:
        do = "Leave out levels that do not occur." if np.any(p == 0.0) else "Divide counts by their sum."
        raise OptionError(
            "probabilities must be two or more positive numbers that add up to 1, those of the levels averaged over "
            f"both groups; got {given!r}. {do}"
        )
    return np.asarray(p / p.sum())


def _odds_ratio(given: float) -> float:
    ratio = number("odds_ratio", given, above=0)
    if ratio == 1.0:
        raise OptionError("odds_ratio must differ from 1, which is no effect; got 1. Give the effect to be found.")
    return ratio


def _groups(n: int | tuple[int, int]) -> tuple[int, int]:
    if isinstance(n, (int, np.integer)):
        total = whole("n", n, 2)
        return total - total // 2, total // 2
    if not isinstance(n, (tuple, list)) or len(n) != 2:
        raise OptionError(f"n must be a whole number, or those of the two groups; got {n!r}.")
    return whole("n", n[0], 1), whole("n", n[1], 1)
