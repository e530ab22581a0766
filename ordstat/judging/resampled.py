"""Means, tests and ridits of repeated errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from .._typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Resampled:
    """A mean over J fits of a cross-validation, with the corrected standard error of Nadeau and Bengio.

    Attributes
    ----------
    mean : float
        Each fold counting by its weight.
    std_error : float
        sqrt((1/J + n_test/n_train) s^2); NaN of fewer than two folds.
    n : int
        J.
    """

    mean: float
    std_error: float
    n: int

    @classmethod
    def of(cls, values: FloatArray, weights: FloatArray, ratio: float) -> Resampled:
        """The mean of values (J,) with weights (J,); those that are NaN do not count.

        Parameters
        ----------
        values, weights : (J,)
        ratio : float
            n_test / n_train.

        Examples
        --------
        >>> found = Resampled.of(np.array([1.0, 2.0, 3.0]), np.ones(3), ratio=0.5)
        >>> found.mean, round(found.std_error**2, 4)  # (1/3 + 1/2) * 1
        (2.0, 0.8333)
        """
        known = ~np.isnan(values)
        values, weights, J = values[known], weights[known], int(known.sum())
        if J == 0:
            return cls(mean=float("nan"), std_error=float("nan"), n=0)
        share = weights / weights.sum()
        mean = float(share @ values)
        with np.errstate(invalid="ignore"):  # an infinite mean has no deviation
            variance = J / (J - 1) * float(share @ (values - mean) ** 2) if J > 1 else float("nan")
        return cls(mean=mean, std_error=float(np.sqrt((1.0 / J + ratio) * variance)), n=J)

    @property
    def df(self) -> int:
        """Degrees of freedom, J - 1."""
        return self.n - 1

    @property
    def p_value(self) -> float:
        """Two-sided, of a mean of 0: the corrected resampled t test; NaN where all values are 0."""
        return float("nan") if np.isnan(self.statistic) else float(2.0 * stdtr(self.df, -abs(self.statistic)))

    @property
    def statistic(self) -> float:
        """mean / std_error."""
        return -self._standardised(0.0)

    def limits(self, level: float) -> tuple[float, float]:
        """Confidence limits, which are also those of the posterior."""
        half = float(stdtrit(max(self.df, 1), 0.5 + 0.5 * level)) * self.std_error
        return self.mean - half, self.mean + half

    def probabilities(self, rope: float) -> tuple[float, float, float]:
        """P(mean < -rope), P(-rope <= mean <= rope) and P(mean > rope) given the folds.

        The posterior of the Bayesian correlated t test under its flat prior, Student's t about the mean with the
        corrected standard error (Corani & Benavoli 2015; Benavoli et al. 2017, eq. 8).
        """
        if np.isnan(self.std_error):
            return (float("nan"),) * 3
        if self.std_error == 0.0:  # all of the posterior is at the mean
            return float(self.mean < -rope), float(abs(self.mean) <= rope), float(self.mean > rope)
        below = float(stdtr(self.df, self._standardised(-rope)))
        above = float(stdtr(self.df, -self._standardised(rope)))
        return below, max(0.0, 1.0 - below - above), above

    def _standardised(self, value: float) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.divide(value - self.mean, self.std_error))


def ranks_within(values: FloatArray, larger_is_better: bool) -> FloatArray:
    """(M, J) ranks 1..M of the values (M, J) of each fold, the best first, ties sharing their mean rank.

    A row with a NaN anywhere has no ranks, and the others are ranked without it.

    Examples
    --------
    >>> ranks_within(np.array([[0.1, 0.5], [0.3, 0.5], [np.nan, 0.0]]), larger_is_better=False)
    array([[1. , 1.5],
           [2. , 1.5],
           [nan, nan]])
    """
    whole = ~np.isnan(values).any(axis=1)
    signed = -values[whole] if larger_is_better else values[whole]
    ranks = np.full(values.shape, np.nan)
    ranks[whole] = 0.5 + np.sum(_ahead(signed), axis=1)
    return ranks


def _ahead(signed: FloatArray) -> FloatArray:
    """(M, M, J) 1 where the second is better than the first, 1/2 where they are equal (a row equals itself)."""
    one, other = signed[:, None, :], signed[None, :, :]
    return np.asarray((other < one) + 0.5 * (other == one))


def group_codes(groupings: list[IntArray]) -> IntArray:
    """(N,) codes of the smallest groups that keep every group of every grouping (N,) together.

    Examples
    --------
    >>> classes, schools = np.array([0, 0, 1, 2]), np.array([0, 0, 0, 1])
    >>> group_codes([classes, schools]).tolist()
    [0, 0, 0, 1]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, first = groupings[0].size, np.cumsum([0, *(int(codes.max()) + 1 for codes in groupings)])
    nodes = np.concatenate([codes + start for codes, start in zip(groupings, first, strict=False)])
    rows = np.tile(np.arange(n), len(groupings)) + first[-1]
    size = n + int(first[-1])
    graph = coo_array((np.ones(nodes.size), (rows, nodes)), shape=(size, size))
    of_rows = connected_components(graph, directed=False)[1][first[-1] :]
    return np.asarray(np.unique(of_rows, return_inverse=True)[1], dtype=np.intp)
