"""Upper limits of the mean of independent numbers in [0, 1], from their sample: by the binary divergence, by betting.

kl(q || p) = q log(q/p) + (1-q) log((1-q)/(1-p)) is the divergence of a coin of chance q from one of chance p.
"""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray

# Halvings of an interval of length 1: to rounding.
_HALVINGS = 60
# They end by themselves, as a rule after seven.
_NEWTON_STEPS = 60
# A bet of this share of the capital at most. Below 1 it cannot be lost whole; 3/4 is that of the paper's software.
_LARGEST_BET = 0.75


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


def betting_limit(values: FloatArray, delta: float) -> float:
    """Upper limit of the mean of values (n,) in [0, 1], by betting [Waudby-Smith & Ramdas 2023, sec. 4].

    Whoever bets the share lambda_t of his capital that the next value is below m holds
    prod_t (1 - lambda_t (x_t - m)) after t values: were the mean m or more, the capital would reach 1/delta with
    probability delta at most (Ville's inequality). The limit is the least m at which it has. The shares are those of
    the paper, sqrt(2 log(1/delta) / (n v)) with v the variance of the values before, cut at 3/4: the smaller the
    variance, the nearer the limit is to the mean.

    Parameters
    ----------
    values : (n,)
        In an order that does not depend on them.
    delta : float in (0, 1)
    """
    target = np.log(1.0 / delta)
    bets = _bets(values, target)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        m = 0.5 * (low + high)
        reached = np.cumsum(np.log1p(-bets * (values - m))).max(initial=0.0) >= target
        low, high = (low, m) if reached else (m, high)
    return high


def _bets(values: FloatArray, target: float) -> FloatArray:
    """(n,) shares of the capital, each from the values before its own.

    They do not depend on m, so that the capital grows with m and the limit is one number.
    """
    t = np.arange(1.0, values.size + 1.0)
    means = (0.5 + np.cumsum(values)) / (t + 1.0)
    variances = (0.25 + np.cumsum((values - means) ** 2)) / (t + 1.0)
    before = np.concatenate(([0.25], variances[:-1]))
    return np.minimum(np.sqrt(2.0 * target / (values.size * before)), _LARGEST_BET)
