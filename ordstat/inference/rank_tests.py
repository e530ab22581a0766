"""Rank tests of groups on ordered answers, from the counts of the levels.

With G groups of n_g answers, N in all, levels of t_k answers and mid-ranks R:
Kruskal-Wallis  H = (N - 1) sum_g n_g (R_g - R)^2 / sum_k t_k (R_k - R)^2 on G - 1
    degrees of freedom, R_g the mean of a group, which allows for ties [Kruskal &
    Wallis 1952].
With a survey design the ridits of the answers are regressed on the groups, or for a
    trend on the number of the group. Wald tests with the covariance of the design are F
    tests; the denominator has the degrees of freedom of the design minus those of the
    test [Lumley & Scott 2013].
Jonckheere-Terpstra  J = sum over pairs of groups g < h of the pairs of answers in which
    that of h is higher, ties counting half, with the variance for ties of Hollander &
    Wolfe (1999, eq. 6.19); the exact distribution if there are few answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import chdtrc, comb, fdtrc, ndtr

from .._typing import FloatArray, IntArray
from ..formula.row_blocks import sums_by
from ..formula.survey import Linearised

#: The exact distribution is computed for at most so many ways to fill the groups.
_EXACT = 300
#: Statistics that differ by less are equal.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class RankTest:
    """A test: statistic, degrees of freedom (NaN for J), denominator degrees of freedom
    of an F test, and p-value.
    """

    statistic: float
    df: float
    p_value: float
    den_df: float = float("nan")


def kruskal_wallis(counts: FloatArray) -> RankTest:
    """Kruskal-Wallis test that groups have the same distribution, from counts (G, K).

    Examples
    --------
    >>> test = kruskal_wallis(np.array([[4.0, 1.0, 0.0], [1.0, 2.0, 2.0]]))
    >>> round(test.statistic, 3), test.df, round(test.p_value, 3)
    (3.716, 1, 0.054)
    """
    counts = counts[counts.any(axis=1)]
    sizes = counts.sum(axis=1)
    n = sizes.sum()
    levels = counts.sum(axis=0)
    centred = np.cumsum(levels) - 0.5 * levels - 0.5 * n
    spread = float(levels @ centred**2)
    df = len(counts) - 1
    if df < 1 or spread <= 0.0:
        return RankTest(float("nan"), df, float("nan"))
    means = counts @ centred / sizes
    statistic = float((n - 1.0) * (sizes @ means**2) / spread)
    return RankTest(statistic, df, float(chdtrc(df, statistic)))


def jonckheere_terpstra(counts: FloatArray) -> RankTest:
    """Two-sided Jonckheere-Terpstra test of a trend over ordered groups, from counts
    (G, K).

    Examples
    --------
    >>> test = jonckheere_terpstra(np.array([[2.0, 0, 0], [0, 2, 0], [0, 0, 2]]))
    >>> test.statistic, round(test.p_value, 4)  # 2 of 90 arrangements
    (12.0, 0.0222)
    """
    counts = counts[counts.any(axis=1)]
    sizes = counts.sum(axis=1)
    levels = counts.sum(axis=0)
    mean = float((sizes.sum() ** 2 - sizes @ sizes) / 4.0)
    statistic = _rising_pairs(counts)
    whole = np.array_equal(counts, np.rint(counts))
    if whole and np.prod(sizes + 1.0) <= _EXACT:
        p_value = _exact_p_value(sizes, levels, abs(statistic - mean))
        return RankTest(statistic, float("nan"), p_value)
    variance = _variance(sizes, levels)
    p_value = float("nan")
    if variance > 0.0:
        z = abs(statistic - mean) / math.sqrt(variance)
        p_value = float(2.0 * ndtr(-z))
    return RankTest(statistic, float("nan"), p_value)


def _rising_pairs(counts: FloatArray) -> float:
    """J: pairs with the higher answer in the later group, ties counting half."""
    earlier = np.cumsum(counts, axis=0) - counts
    below = np.cumsum(earlier, axis=1) - 0.5 * earlier
    return float((counts * below).sum())


def _variance(sizes: FloatArray, levels: FloatArray) -> float:
    n = float(sizes.sum())
    if n < 3.0:
        return float("nan")

    def cubes(c: FloatArray) -> float:
        return float((c * (c - 1.0) * (2.0 * c + 5.0)).sum())

    def triples(c: FloatArray) -> float:
        return float((c * (c - 1.0) * (c - 2.0)).sum())

    def pairs(c: FloatArray) -> float:
        return float((c * (c - 1.0)).sum())

    whole = cubes(np.array([n])) - cubes(sizes) - cubes(levels)
    third = triples(sizes) * triples(levels) / (36.0 * n * (n - 1.0) * (n - 2.0))
    second = pairs(sizes) * pairs(levels) / (8.0 * n * (n - 1.0))
    return whole / 72.0 + third + second


def _exact_p_value(sizes: FloatArray, levels: FloatArray, distance: float) -> float:
    """P(|J - mean| >= distance) over all ways to deal the answers to the groups.

    Levels are dealt from the lowest up; `ways[placed]` counts by 2 J the ways to have
    so many answers in each group.
    """
    room = tuple(int(size) for size in sizes)
    n = sum(room)
    most = n * n + 1
    start: FloatArray = np.zeros(most)
    start[0] = 1.0
    ways = {(0,) * len(room): start}
    for answers in levels.astype(int):
        dealt: dict[tuple[int, ...], FloatArray] = {}
        for placed, counted in ways.items():
            free = [size - there for size, there in zip(room, placed, strict=True)]
            for hand in product(*(range(min(f, answers) + 1) for f in free)):
                if sum(hand) != answers:
                    continue
                table = np.array([placed, hand], dtype=np.float64).T
                before = _rising_pairs(table[:, :1])
                shift = round(2.0 * (_rising_pairs(table) - before))
                gained = np.zeros(most)
                gained[shift:] = counted[: most - shift] * np.prod(comb(free, hand))
                after = tuple(a + b for a, b in zip(placed, hand, strict=True))
                dealt[after] = dealt.get(after, 0.0) + gained
        ways = dealt
    counted = ways[room]
    mean = (n * n - sum(size * size for size in room)) / 4.0
    far = np.abs(np.arange(most) / 2.0 - mean) >= distance - _ROUNDING
    return float(counted[far].sum() / counted.sum())


def design_errors(
    influence: FloatArray, w: FloatArray, survey: Linearised
) -> FloatArray:
    """(P,) standard errors of estimates from influence functions (N, P), weights w."""
    totals = sums_by(survey.psu, w[:, None] * influence, survey.stratum.size)
    return np.sqrt(np.diagonal(survey.middle(totals)))


def design_rank_test(
    ridits: FloatArray, groups: FloatArray, w: FloatArray, survey: Linearised
) -> RankTest:
    """Wald F test that ridits (N,) do not depend on the columns of groups (N, q)."""
    X = np.column_stack([np.ones(ridits.size), groups])
    inverse = np.linalg.inv(X.T @ (w[:, None] * X))
    coefficients = inverse @ (X.T @ (w * ridits))
    residuals = ridits - X @ coefficients
    scores = w[:, None] * X * residuals[:, None]
    totals = sums_by(survey.psu, scores @ inverse, survey.stratum.size)
    covariance = survey.middle(totals)[1:, 1:]
    effects = coefficients[1:]
    df = effects.size
    den_df = survey.df - df
    if den_df < 1 or np.linalg.matrix_rank(covariance) < df:
        return RankTest(float("nan"), df, float("nan"), den_df)
    statistic = float(effects @ np.linalg.solve(covariance, effects)) / df
    return RankTest(statistic, df, float(fdtrc(df, den_df, statistic)), den_df)


def indicators(groups: IntArray, n_groups: int) -> FloatArray:
    """(N, G-1) indicators of the groups, without the first."""
    return np.asarray(groups[:, None] == np.arange(1, n_groups), dtype=np.float64)
