"""How well predictions keep the order of the observed ranks: pairs, correlations and kappa.

Everything is exact with ties and case weights, and a weight w counts a row w times. The cost is O(N log N) for any
number of levels: no table of levels by levels is built. A measure without a meaning (one rank only) is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..model.ties import apart


@dataclass(frozen=True, kw_only=True)
class PairCounts:
    """Weighted counts of the unordered pairs of rows whose observed ranks differ.

    Attributes
    ----------
    concordant, discordant, tied : float
        Pairs whose scores are ordered as the ranks, the other way round, or equal.
    weight : float
        Sum of the case weights W; there are W^2 ordered pairs of rows, a row with itself included.
    """

    concordant: float
    discordant: float
    tied: float
    weight: float

    @property
    def total(self) -> float:
        """Number of pairs of different ranks."""
        return self.concordant + self.discordant + self.tied


@dataclass(frozen=True, eq=False)
class _Pass:
    """Rows arranged for one bit of the rank, with the ends of each row's group and tie among them."""

    order: IntArray
    upper: BoolArray  # the rank's bit is 1
    group: tuple[IntArray, IntArray]
    tie: tuple[IntArray, IntArray]


@dataclass(frozen=True, eq=False, kw_only=True)
class PairOrder:
    """Rows sorted once, so that pairs can be counted under any weights in O(N log K): the bootstrap needs many.

    Two ranks differ first, from the top, at one bit. Among rows that share the higher bits, those pairs are one
    row with bit 0 and one with bit 1, and cumulative sums in the order of the scores count them.

    Examples
    --------
    >>> order = PairOrder.of(np.array([0, 0, 1, 2]), np.array([0.1, 0.9, 0.5, 0.9]))
    >>> order.counts(np.ones(4))
    PairCounts(concordant=3.0, discordant=1.0, tied=1.0, weight=4.0)
    """

    passes: tuple[_Pass, ...]

    @classmethod
    def of(cls, y: IntArray, scores: AnyArray, groups: IntArray | None = None) -> PairOrder:
        """Arrange codes y (N,) and finite scores (N,), of which only the order matters; rounding is none.

        With `groups` (N,), whole numbers from 0, only pairs within a group are counted.
        """
        bits = int(y.max(initial=0)).bit_length()
        if groups is not None:  # above all bits of the ranks: rows of two groups share no higher bits
            y = (groups << bits) | y
        by_score = _sorting(scores)
        ordered, ranks = scores[by_score], y[by_score]
        ties = np.cumsum(apart(ordered), dtype=np.intp)
        return cls(passes=tuple(_arrange(ranks, ties, by_score, bit) for bit in range(bits)))

    def counts(self, weights: FloatArray) -> PairCounts:
        """Pairs under case weights (N,)."""
        concordant = discordant = tied = 0.0
        for step in self.passes:
            w = weights[step.order]
            upper = np.where(step.upper, w, 0.0)
            lower = np.concatenate(([0.0], np.cumsum(np.where(step.upper, 0.0, w))))
            start, under, upto, end = (lower[place] for place in (step.group[0], *step.tie, step.group[1]))
            concordant += float(upper @ (under - start))
            tied += float(upper @ (upto - under))
            discordant += float(upper @ (end - upto))
        return PairCounts(concordant=concordant, discordant=discordant, tied=tied, weight=float(weights.sum()))


def _sorting(values: AnyArray) -> IntArray:
    """Positions of the values in order; codes keep the order of equal ones, and are sorted by counting."""
    if values.dtype.kind not in "iu":
        return np.argsort(values)
    narrow = values.size > 0 and values.min() >= 0 and values.max() < 1 << 16
    return np.argsort(values.astype(np.uint16) if narrow else values, kind="stable")


def _arrange(y: IntArray, ties: IntArray, rows: IntArray, bit: int) -> _Pass:
    """Group rows (given in the order of their scores, equal ones with the same tie) by the bits of y above `bit`."""
    group = y >> (bit + 1)
    inside = _sorting(group)
    group, ties = group[inside], ties[inside]
    new_group = np.concatenate(([True], group[1:] != group[:-1]))
    new_score = new_group.copy()
    new_score[1:] |= ties[1:] != ties[:-1]
    upper = ((y[inside] >> bit) & 1).astype(np.bool_)
    return _Pass(rows[inside], upper, _runs(new_group), _runs(new_score))


def _runs(begins: BoolArray) -> tuple[IntArray, IntArray]:
    """First position of every entry's run, and the position after its last, from the mask of first entries."""
    starts = np.append(np.flatnonzero(begins), begins.size)
    lengths = np.diff(starts)
    return np.repeat(starts[:-1], lengths), np.repeat(starts[1:], lengths)


def ratio(numerator: float, denominator: float) -> float:
    """Their quotient; NaN where the denominator is 0."""
    return numerator / denominator if denominator > 0 else float("nan")


def preference_risk(pairs: PairCounts) -> float:
    """R_pref: the share of all ordered pairs (x1, x2) that have different ranks and are not ordered as their ranks.

    A tie of the predictions counts as an error [Herbrich et al. 2000, eq. 7.11, 7.13]; `pairs` are those of the
    predicted ranks.
    """
    return ratio(2.0 * (pairs.discordant + pairs.tied), pairs.weight**2)


def inversions(pairs: PairCounts) -> float:
    """Share of the pairs of different ranks that are not ordered as their ranks, ties included.

    The figure of the experiments of Herbrich et al. (2000), R_emp / m'.
    """
    return ratio(pairs.discordant + pairs.tied, pairs.total)


def concordance(pairs: PairCounts) -> float:
    """C index: the share of the pairs of different ranks whose scores are in order, ties counting one half."""
    return ratio(pairs.concordant + 0.5 * pairs.tied, pairs.total)


def somers_d(pairs: PairCounts) -> float:
    """Somers' D of the scores given the ranks, 2 C - 1."""
    return ratio(pairs.concordant - pairs.discordant, pairs.total)


def _varies(codes: IntArray, weights: FloatArray) -> bool:
    """Whether rows of positive weight have more than one rank; asked before dividing by a rounded variance."""
    return bool(np.count_nonzero(np.bincount(codes, weights=weights)) > 1)


def kendall_tau_b(pairs: PairCounts, codes: IntArray, weights: FloatArray) -> float:
    """Kendall's tau-b between observed and predicted ranks; `pairs` are those of the predicted codes (N,)."""
    if not _varies(codes, weights):
        return float("nan")
    predicted = np.bincount(codes, weights=weights)
    different = 0.5 * (pairs.weight**2 - float(predicted @ predicted))
    return ratio(pairs.concordant - pairs.discordant, float(np.sqrt(pairs.total * different)))


def _mid_ranks(codes: IntArray, weights: FloatArray) -> FloatArray:
    """(N,) average place of every row among all, centred."""
    level = np.bincount(codes, weights=weights)
    places = (np.cumsum(level) - 0.5 * level)[codes]
    return np.asarray(places - np.average(places, weights=weights))


def spearman(y: IntArray, codes: IntArray, weights: FloatArray) -> float:
    """Spearman's rank correlation between observed and predicted ranks (N,), ties at their average place."""
    if not (_varies(y, weights) and _varies(codes, weights)):
        return float("nan")
    a, b = _mid_ranks(y, weights), _mid_ranks(codes, weights)
    return float(weights @ (a * b)) / float(np.sqrt((weights @ a**2) * (weights @ b**2)))


def weighted_kappa(y: IntArray, codes: IntArray, weights: FloatArray, *, power: int) -> float:
    """Cohen's kappa with disagreement |y - code|^power: 1 for linear weights, 2 for quadratic.

    1 - observed / expected, the expectation being over independent ranks with the same frequencies.
    """
    if not _varies(np.concatenate((y, codes)), np.concatenate((weights, weights))):
        return float("nan")
    if not (_varies(y, weights) and _varies(codes, weights)):
        return 0.0  # what is expected of a constant is what is observed
    total = float(weights.sum())
    size = int(max(y.max(), codes.max())) + 1
    observed = float(weights @ np.abs(y - codes).astype(np.float64) ** power) / total
    p, q = (np.bincount(c, weights=weights, minlength=size) / total for c in (y, codes))
    expected = _expected_distance(p, q) if power == 1 else _expected_square(p, q)
    return 1.0 - observed / expected


def _expected_distance(p: FloatArray, q: FloatArray) -> float:
    """E|A - B| for independent A ~ p and B ~ q: the sum over cuts of the chance that they fall on two sides."""
    below_a, below_b = np.cumsum(p)[:-1], np.cumsum(q)[:-1]
    return float(np.sum(below_a * (1.0 - below_b) + below_b * (1.0 - below_a)))


def _expected_square(p: FloatArray, q: FloatArray) -> float:
    """E(A - B)^2 for independent A ~ p and B ~ q."""
    rank = np.arange(p.size, dtype=np.float64)
    mean_a, mean_b = float(p @ rank), float(q @ rank)
    return float(p @ (rank - mean_a) ** 2 + q @ (rank - mean_b) ** 2 + (mean_a - mean_b) ** 2)
