"""Intervals of ranks that cover the true one with a given probability, by split conformal prediction.

A family of nested intervals around the predicted rank is grown until it holds the true rank; how far it had to grow is
the score of a row. Rows that the ranker has not seen give n scores, and the interval of a new row is the member of the
family at their ceil((n + 1) level)-th smallest. If those rows and the new one are exchangeable the interval holds the
new rank with probability at least `level`, and at most level + 1 / (n + 1) where scores have no ties (Vovk et al. 2005;
Angelopoulos & Bates 2023, th. 1 and app. D). A family is an (N, K) table: how far it has to grow to hold each rank.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betaincinv

from .._typing import FloatArray, IntArray
from ..model.rules import most_votes

#: What (n + 1) level may lie above a whole number by rounding.
_ROUNDING = 1e-9


def grown_by_probability(probabilities: FloatArray, start: IntArray) -> FloatArray:
    """(N, K) probability already inside when each rank enters an interval that begins as the rank `start`.

    It grows by the likelier neighbour, a tie being the lower: ordinal adaptive prediction sets (Lu, Angelopoulos &
    Pomerantz 2022, alg. 1; Romano, Sesia & Candes 2020).

    Parameters
    ----------
    probabilities : (N, K)
    start : (N,) codes

    Examples
    --------
    >>> grown_by_probability(np.array([[0.1, 0.2, 0.4, 0.3]]), np.array([2])).round(3)
    array([[0.9, 0.7, 0. , 0.4]])
    """
    n, n_levels = probabilities.shape
    padded = np.full((n, n_levels + 2), -1.0)  # nothing beyond the ends
    padded[:, 1:-1] = np.maximum(probabilities, 0.0)
    rows = np.arange(n)
    low, high = start.copy(), start.copy()
    inside = padded[rows, start + 1]
    entered = np.zeros((n, n_levels))
    for _ in range(n_levels - 1):
        below, above = padded[rows, low], padded[rows, high + 2]
        down = below >= above
        low, high = low - down, high + ~down
        entered[rows, np.where(down, low, high)] = inside
        inside = inside + np.where(down, below, above)
    return entered


def grown_by_distance(gaps: FloatArray) -> FloatArray:
    """(N, K) distance by which a potential has to move to give each rank, from the gaps H - theta_k (N, K-1).

    The interval at distance q holds the ranks of all potentials in [H - q, H + q].

    Examples
    --------
    >>> grown_by_distance(np.array([[3.0, 1.0, -0.5]]))
    array([[3. , 1. , 0. , 0.5]])
    """
    falling = -np.sort(-gaps, axis=1)
    ends = np.full((len(gaps), 1), np.inf)
    # Down to rank k the threshold above it has to be passed, up to it the one below.
    down, up = np.hstack([falling, -ends]), np.hstack([-ends, -falling])
    return np.asarray(np.maximum(np.maximum(down, up), 0.0))


def grown_by_votes(votes: FloatArray) -> FloatArray:
    """(N, K) votes that the best rank is ahead of the best rank at, or beyond, each rank.

    The interval at q is the shortest that holds every rank within q votes of the best.

    Examples
    --------
    >>> grown_by_votes(np.array([[2.0, 1.0, 4.0, 0.0]]))
    array([[2., 2., 0., 4.]])
    """
    best = most_votes(votes)[:, None]
    below = np.maximum.accumulate(votes, axis=1)
    above = np.maximum.accumulate(votes[:, ::-1], axis=1)[:, ::-1]
    reached = np.where(np.arange(votes.shape[1]) < best, below, above)
    return np.asarray(votes.max(axis=1, keepdims=True) - reached)


def conformal_radius(scores: FloatArray, counts: FloatArray, level: float) -> float:
    """The ceil((n + 1) level)-th smallest of n scores (M,) that occur `counts` (M,) times; infinity if n is less.

    Examples
    --------
    >>> conformal_radius(np.array([3.0, 1.0, 2.0]), np.ones(3), 0.75)
    3.0
    >>> conformal_radius(np.array([3.0, 1.0, 2.0]), np.ones(3), 0.8)
    inf
    """
    place = math.ceil((float(counts.sum()) + 1.0) * level - _ROUNDING)
    order = np.argsort(scores, kind="stable")
    cumulated = np.cumsum(counts[order])
    found = int(np.searchsorted(cumulated, place - _ROUNDING))
    return float(scores[order[found]]) if found < scores.size else math.inf


def radius_of_groups(scores: FloatArray, shares: FloatArray, groups: int, level: float) -> float:
    """The smallest score up to which the calibration groups and a new one of infinite scores have a share of `level`.

    Coverage holds for a row drawn from a new group where groups are exchangeable, whatever their sizes and however the
    rows of one depend on each other (hierarchical conformal prediction: Lee, Barber & Willett 2023, th. 1).

    Parameters
    ----------
    scores : (M,)
    shares : (M,)
        Of each row in its group: those of a group sum to 1.
    groups : int
    level : float

    Examples
    --------
    >>> radius_of_groups(np.array([3.0, 1.0, 2.0]), np.array([0.5, 0.5, 1.0]), 2, 0.6)
    3.0
    >>> radius_of_groups(np.array([3.0, 1.0, 2.0]), np.array([0.5, 0.5, 1.0]), 2, 0.5)
    2.0
    """
    order = np.argsort(scores, kind="stable")
    cumulated = np.cumsum(shares[order])
    found = int(np.searchsorted(cumulated, (groups + 1.0) * level - _ROUNDING))
    return float(scores[order[found]]) if found < scores.size else math.inf


def smallest_sample(level: float) -> int:
    """Rows that calibration needs for an interval shorter than the whole range: n with ceil((n + 1) level) <= n."""
    return math.ceil(level / (1.0 - level) - _ROUNDING)


def interval_ends(entered: FloatArray, radius: float) -> tuple[IntArray, IntArray]:
    """(N,) codes of the lowest and the highest rank that have entered (N, K) at the radius."""
    inside = entered <= radius
    lower: IntArray = np.argmax(inside, axis=1)
    upper: IntArray = entered.shape[1] - 1 - np.argmax(inside[:, ::-1], axis=1)
    return lower, upper


def coverage_range(n: int, level: float, confidence: float) -> tuple[float, float]:
    """Where the coverage of intervals with these very calibration rows lies, with a given probability over the rows.

    It is Beta(r, n + 1 - r) with r = ceil((n + 1) level) where scores have no ties, and above that where they have
    (Vovk 2012; Angelopoulos & Bates 2023, sec. 3.2). 1 where n is too small for the level.

    Examples
    --------
    >>> [round(end, 3) for end in coverage_range(1000, 0.9, 0.9)]
    [0.884, 0.915]
    """
    place = math.ceil((n + 1) * level - _ROUNDING)
    if place > n:
        return 1.0, 1.0
    tail = 0.5 * (1.0 - confidence)
    return tuple(float(betaincinv(place, n + 1 - place, q)) for q in (tail, 1.0 - tail))  # type: ignore[return-value]
