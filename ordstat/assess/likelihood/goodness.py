"""Tests of the fit of a cumulative link model against departures that nobody named.

All start from a row's ordinal score, the expected rank sum_k k P(y = k). A row of weight w counts as w rows.
- Lipsitz, Fitzmaurice and Molenberghs (1996, Applied Statistics 45, 175-190): rows in groups by score; likelihood ratio
  test of group indicators added to the model, groups - 1 df.
- Hosmer-Lemeshow for ordinal responses, Fagerland and Hosmer (2013, Statistics in Medicine 32, 2235-2249): Pearson's
  chi-square over groups x levels, (groups - 2)(K - 1) + (K - 2) df.
- Pulkstenis and Robinson (2004, Statistics in Medicine 23, 999-1014): the I patterns of the categorical covariates,
  each cut at its median score; Pearson's and the deviance chi-square, (2I - 1)(K - 1) - k - 1 df, with k the number of
  parameters of the categorical terms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray, IntArray
from ...exceptions import DataError


@dataclass(frozen=True, eq=False, kw_only=True)
class Counts:
    """Observed and expected counts.

    Attributes
    ----------
    observed, expected : (G, K)
    """

    observed: FloatArray
    expected: FloatArray

    @classmethod
    def of(cls, groups: IntArray, y: IntArray, weights: FloatArray, probabilities: FloatArray) -> Counts:
        """By group codes 0..G-1 (N,)."""
        n_groups, K = int(groups.max()) + 1, probabilities.shape[1]
        observed = np.bincount(groups * K + y, weights, minlength=n_groups * K).reshape(n_groups, K)
        expected = np.column_stack([np.bincount(groups, weights * probabilities[:, k], n_groups) for k in range(K)])
        return cls(observed=observed.astype(np.float64), expected=expected.astype(np.float64))

    @property
    def pearson(self) -> float:
        """Sum of (O - E)^2 / E."""
        with np.errstate(divide="ignore", invalid="ignore"):  # no number where nothing is expected
            return float(((self.observed - self.expected) ** 2 / self.expected).sum())

    @property
    def deviance(self) -> float:
        """2 sum of O log(O / E)."""
        some = self.observed > 0.0
        return 2.0 * float(self.observed[some] @ np.log(self.observed[some] / self.expected[some]))

    @property
    def small(self) -> float:
        """Share of the cells that expect fewer than 5."""
        return float(np.mean(self.expected < 5.0))


def ordinal_scores(probabilities: FloatArray) -> FloatArray:
    """(N,) expected rank, 1..K."""
    return np.asarray(probabilities @ np.arange(1.0, probabilities.shape[1] + 1.0))


def score_groups(scores: FloatArray, weights: FloatArray, n_groups: int) -> IntArray:
    """(N,) group codes 0..n_groups-1 of nearly equal weight in the order of the scores; equal scores stay together.

    Raises
    ------
    DataError
        Too few distinct scores for that many groups.
    """
    values, inverse = np.unique(_rounded(scores), return_inverse=True)
    share = np.bincount(inverse, weights) / weights.sum()
    middle = np.cumsum(share) - 0.5 * share
    groups = np.minimum((middle * n_groups).astype(np.intp), n_groups - 1)
    formed = np.unique(groups).size
    if formed < n_groups:
        raise DataError(
            f"the fit gives the rows {values.size} distinct scores, too few (or too unequally shared) for "
            f"{n_groups} groups: {formed} can be formed. "
            + (f"Use groups={formed} or fewer." if formed > 2 else "No test by groups is possible.")
        )
    return np.asarray(groups[inverse].astype(np.intp))


def _rounded(scores: FloatArray) -> FloatArray:
    """Scores that differ by rounding alone made equal."""
    return np.round(scores, 10)


def halved_patterns(patterns: IntArray, scores: FloatArray, weights: FloatArray) -> IntArray:
    """(N,) codes of the patterns 0..I-1 cut at their median score: 2 pattern, or 2 pattern + 1 above it.

    Raises
    ------
    DataError
        A pattern whose rows all have the same score has no upper half.
    """
    rounded, upper = _rounded(scores), np.zeros(scores.size, dtype=np.intp)
    for pattern in range(int(patterns.max()) + 1):
        rows = np.flatnonzero(patterns == pattern)
        upper[rows] = rounded[rows] > _weighted_median(rounded[rows], weights[rows])
        if not upper[rows].any():
            raise DataError(
                "the Pulkstenis-Robinson test cuts each pattern of the categorical covariates at its median score, and "
                f"{rows.size} rows of one pattern have no score above theirs: it needs a numeric covariate that varies "
                "within every pattern. Use test='hosmer-lemeshow' or 'lipsitz'."
            )
    return 2 * patterns + upper


def _weighted_median(values: FloatArray, weights: FloatArray) -> float:
    """The middle of the values, each repeated by its weight; the mean of the two middle ones where there are two."""
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    half = 0.5 * below[-1]
    first = int(np.searchsorted(below, half * (1.0 - 1e-12)))
    second = int(np.searchsorted(below, half * (1.0 + 1e-12), side="right"))
    return 0.5 * float(values[order[first]] + values[order[min(second, values.size - 1)]])


def hosmer_lemeshow_df(n_groups: int, n_levels: int) -> int:
    """(G - 2)(K - 1) + (K - 2)."""
    return (n_groups - 2) * (n_levels - 1) + (n_levels - 2)


def pulkstenis_robinson_df(n_patterns: int, n_levels: int, n_categorical: int) -> int:
    """(2I - 1)(K - 1) - k - 1.

    Raises
    ------
    DataError
        No degrees of freedom are left.
    """
    df = (2 * n_patterns - 1) * (n_levels - 1) - n_categorical - 1
    if df < 1:
        raise DataError(
            f"the Pulkstenis-Robinson test has {df} degrees of freedom with {n_patterns} patterns of the categorical "
            f"covariates, {n_levels} levels and {n_categorical} categorical parameters: too few patterns."
        )
    return df
