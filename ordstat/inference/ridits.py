"""Ridits of ordered answers, and Mann-Whitney probabilities between two samples, from
the counts of the levels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray, IntArray
from ..likelihood.standard_errors import logit_limits

#: Smaller standard errors count as 0.
_ROUNDING = 1e-9


def mid_shares(counts: FloatArray) -> FloatArray:
    """(..., K) share of the answers below each level plus half the share at it; NaN
    without answers.

    Examples
    --------
    >>> mid_shares(np.array([2.0, 2.0, 4.0])).tolist()
    [0.125, 0.375, 0.75]
    """
    with np.errstate(invalid="ignore"):
        return np.asarray(
            (np.cumsum(counts, axis=-1) - 0.5 * counts)
            / counts.sum(axis=-1, keepdims=True)
        )


@dataclass(frozen=True, eq=False)
class Ridits:
    """Mean ridits of G samples; the reference is all samples together.

    Attributes
    ----------
    counts : (G, K) of the levels in each sample

    Examples
    --------
    >>> Ridits(np.array([[4.0, 1.0, 0.0], [1.0, 2.0, 2.0]])).means.round(3).tolist()
    [0.33, 0.67]
    """

    counts: FloatArray

    @property
    def means(self) -> FloatArray:
        """(G,) mean ridits; NaN for a sample without answers."""
        with np.errstate(invalid="ignore"):
            return np.asarray(
                self.counts
                @ mid_shares(self.counts.sum(axis=0))
                / self.counts.sum(axis=1)
            )

    def influence(self) -> FloatArray:
        """(G, G, K) influence on the mean ridit of sample g of one answer of sample h
        at level k.

        The answer always belongs to the reference; if h = g, it is also one of the
        answers that are averaged.
        """
        n = self.counts.sum(axis=1)
        ridits = mid_shares(self.counts.sum(axis=0))
        above = 1.0 - mid_shares(self.counts)
        with np.errstate(invalid="ignore", divide="ignore"):
            centre = above @ (self.counts / n[:, None]).T
            averaged = (ridits - self.means[:, None]) / n[:, None]
        reference = (above[:, None, :] - centre[:, :, None]) / n.sum()
        return np.asarray(reference + np.eye(n.size)[:, :, None] * averaged[:, None, :])

    def independent_errors(self) -> FloatArray:
        """(G,) standard errors for groups (every row gives one answer); NaN for fewer
        than 2 answers.
        """
        n = self.counts.sum(axis=1)
        several = n > 1.0
        corrected = self.counts[several] * (n[several] / (n[several] - 1.0))[:, None]
        variances = np.einsum("ghk,hk->g", self.influence()[:, several] ** 2, corrected)
        return np.where(several, np.sqrt(variances), np.nan)

    def paired_errors(self, codes: IntArray, weights: FloatArray) -> FloatArray:
        """(G,) standard errors for items (every row answers all of them).

        Parameters
        ----------
        codes : (N, G) levels of the answers, -1 for missing ones
        weights : (N,) case weights
        """
        answered = codes >= 0
        moved = np.array(
            [
                np.where(answered, change[np.arange(len(change)), codes], 0.0).sum(
                    axis=1
                )
                for change in self.influence()
            ]
        )
        n = float(weights[answered.any(axis=1)].sum())
        return np.sqrt(moved**2 @ weights * (n / (n - 1.0) if n > 1.0 else np.nan))


@dataclass(frozen=True)
class MannWhitney:
    """P(X > Y) + P(X = Y) / 2 of two independent samples, its standard error and
    degrees of freedom.
    """

    probability: float
    std_error: float
    df: float

    def limits(self, level: float) -> tuple[float, float]:
        """Confidence limits; see `limits_of_shares`."""
        low, high = limits_of_shares(
            np.array(self.probability), np.array(self.std_error), level, self.df
        )
        return float(low), float(high)


def mann_whitney(x: FloatArray, y: FloatArray) -> MannWhitney:
    """The Mann-Whitney probability from the counts (K,) of two samples, with the
    standard error of Brunner & Munzel (2000).

    The variance is computed from the placements of each sample among the other [as
    DeLong, DeLong & Clarke-Pearson 1988 for areas under ROC curves]: it does not assume
    equal distributions, and ties count half. NaN if a sample has fewer than two
    answers.

    Examples
    --------
    >>> chance = mann_whitney(np.array([1.0, 2.0, 2.0]), np.array([4.0, 1.0, 0.0]))
    >>> round(chance.probability, 4), round(chance.std_error, 4)
    (0.84, 0.1273)
    """
    among_y = mid_shares(y)
    above_y = 1.0 - mid_shares(x)
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = np.array([_variance(among_y, x), _variance(above_y, y)])
        size = np.array([x.sum(), y.sum()])
        df = parts.sum() ** 2 / np.sum(parts**2 / (size - 1.0))
        probability = among_y @ x / size[0]
    return MannWhitney(float(probability), float(np.sqrt(parts.sum())), float(df))


def _variance(values: FloatArray, counts: FloatArray) -> float:
    """Variance of the mean of values with these counts."""
    n = counts.sum()
    spread = counts @ (values - values @ counts / n) ** 2
    return float(spread / (n - 1.0) / n) if n > 1.0 else float("nan")


def limits_of_shares(
    p: FloatArray, std_error: FloatArray, level: float, df: float = np.inf
) -> tuple[FloatArray, FloatArray]:
    """Confidence limits of probabilities, symmetric on the logit scale; NaN where the
    standard error is 0, as for probabilities 0 and 1.
    """
    errors = np.where(std_error > _ROUNDING, std_error, np.nan)
    return logit_limits(p, 1.0 - p, errors, level, df)
