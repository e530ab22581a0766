"""Ridits and the Mann-Whitney probability of ordered answers, from counts of the levels.

A ridit is the share of a reference distribution below a level plus half the share at it; the mean ridit of a sample is
the probability that one of its answers is higher than one of the reference, plus half that of a tie [Bross 1958;
Fleiss, Levin & Paik 2003, sec. 9.4]. The reference is all samples together. Counts may be sums of case weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, stdtrit

from .._typing import FloatArray, IntArray

#: Standard errors of this size are 0.
_ROUNDING = 1e-9


def mid_shares(counts: FloatArray) -> FloatArray:
    """(..., K) share of the answers below each level plus half the share at it; NaN without answers.

    Examples
    --------
    >>> mid_shares(np.array([2.0, 2.0, 4.0])).tolist()
    [0.125, 0.375, 0.75]
    """
    with np.errstate(invalid="ignore"):
        return np.asarray((np.cumsum(counts, axis=-1) - 0.5 * counts) / counts.sum(axis=-1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Ridits:
    """Mean ridits of G samples against all of them together.

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
        """(G,) mean ridits; NaN of a sample without answers."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.counts @ mid_shares(self.counts.sum(axis=0)) / self.counts.sum(axis=1))

    def influence(self) -> FloatArray:
        """(G, G, K) what one answer, of sample h at level k, moves the mean ridit of sample g by.

        It is one of the answers whose ridits are averaged where h = g, and one of the reference always.
        """
        n = self.counts.sum(axis=1)
        ridits, above = mid_shares(self.counts.sum(axis=0)), 1.0 - mid_shares(self.counts)
        with np.errstate(invalid="ignore", divide="ignore"):
            centre = above @ (self.counts / n[:, None]).T
            own = (ridits - self.means[:, None]) / n[:, None]
        reference = (above[:, None, :] - centre[:, :, None]) / n.sum()
        return np.asarray(reference + np.eye(n.size)[:, :, None] * own[:, None, :])

    def independent_errors(self) -> FloatArray:
        """(G,) standard errors where every answer is of another row: samples are groups; NaN of fewer than 2."""
        n = self.counts.sum(axis=1)
        several = n > 1.0
        corrected = self.counts[several] * (n[several] / (n[several] - 1.0))[:, None]
        variances = np.einsum("ghk,hk->g", self.influence()[:, several] ** 2, corrected)
        return np.where(several, np.sqrt(variances), np.nan)

    def paired_errors(self, codes: IntArray, weights: FloatArray) -> FloatArray:
        """(G,) standard errors where the same rows answer: samples are items.

        Parameters
        ----------
        codes : (N, G) levels of the answers, -1 where there is none
        weights : (N,) case weights
        """
        answered = codes >= 0
        moved = np.array(
            [np.where(answered, of[np.arange(len(of)), codes], 0.0).sum(axis=1) for of in self.influence()]
        )
        n = float(weights[answered.any(axis=1)].sum())
        return np.asarray(np.sqrt(moved**2 @ weights * (n / (n - 1.0) if n > 1.0 else np.nan)))


@dataclass(frozen=True)
class Superiority:
    """P(X > Y) + P(X = Y) / 2 of two independent samples, its standard error and degrees of freedom."""

    probability: float
    std_error: float
    df: float

    def limits(self, level: float) -> tuple[float, float]:
        """Confidence limits; see `logit_limits`."""
        low, high = logit_limits(self.probability, self.std_error, float(stdtrit(self.df, 0.5 + level / 2.0)))
        return float(low), float(high)


def superiority(x: FloatArray, y: FloatArray) -> Superiority:
    """The Mann-Whitney probability from the counts (K,) of two samples, with the error of Brunner & Munzel (2000).

    The variance is that of the placements of each sample among the other [as DeLong, DeLong & Clarke-Pearson 1988 for
    areas under ROC curves]: it supposes no equal distributions, and ties count half. NaN without two answers of each.

    Examples
    --------
    >>> found = superiority(np.array([1.0, 2.0, 2.0]), np.array([4.0, 1.0, 0.0]))
    >>> round(found.probability, 4), round(found.std_error, 4)
    (0.84, 0.1273)
    """
    among_y, above_y = mid_shares(y), 1.0 - mid_shares(x)
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = np.array([_variance(among_y, x), _variance(above_y, y)])
        size = np.array([x.sum(), y.sum()])
        df = parts.sum() ** 2 / np.sum(parts**2 / (size - 1.0))
        probability = among_y @ x / size[0]
    return Superiority(float(probability), float(np.sqrt(parts.sum())), float(df))


def _variance(values: FloatArray, counts: FloatArray) -> float:
    """Variance of the mean of values that occur so often."""
    n = counts.sum()
    spread = counts @ (values - values @ counts / n) ** 2
    return float(spread / (n - 1.0) / n) if n > 1.0 else float("nan")


def logit_limits(
    p: FloatArray | float, std_error: FloatArray | float, quantile: float
) -> tuple[FloatArray, FloatArray]:
    """Limits of a probability, symmetric on the logit scale; NaN where the standard error is 0, as it is at 0 and 1."""
    p, std_error = np.asarray(p), np.asarray(std_error)
    with np.errstate(invalid="ignore", divide="ignore"):
        half = np.where(std_error > _ROUNDING, quantile * std_error / (p * (1.0 - p)), np.nan)
        return np.asarray(expit(logit(p) - half)), np.asarray(expit(logit(p) + half))
