"""Rubin's rules: pooled estimates, confidence limits and tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import chdtrc, expit, fdtrc

from .._typing import FloatArray
from ..likelihood.standard_errors import symmetric_limits
from ..likelihood.user_scale import CovarianceMatrix, CovarianceOperator


class PooledValues(NamedTuple):
    """Pooled values (...), with their standard errors and degrees of freedom."""

    estimate: FloatArray
    std_error: FloatArray
    df: FloatArray


def rubin(
    estimates: FloatArray, variances: FloatArray, df_complete: float | FloatArray
) -> PooledValues:
    """Rubin's rules for single numbers [Rubin 1987; Barnard & Rubin 1999].

    Parameters
    ----------
    estimates, variances : (m, ...)
        Values of each fit, on a scale on which estimates are about normal.
    df_complete : float or (...)
        Degrees of freedom that complete data would have; may be infinite.

    Examples
    --------
    >>> combined = rubin(np.array([[1.0], [2.0], [3.0]]), np.full((3, 1), 0.5), np.inf)
    >>> [part.round(2).tolist() for part in combined]
    [[2.0], [1.35], [3.78]]
    """
    m = len(estimates)
    within = variances.mean(axis=0)
    between = (1.0 + 1.0 / m) * estimates.var(axis=0, ddof=1)
    riv = np.divide(between, within, out=np.zeros_like(within), where=within > 0.0)
    return PooledValues(
        estimates.mean(axis=0),
        np.sqrt(within + between),
        barnard_rubin(m, riv, df_complete),
    )


def as_logits(
    low: float, high: float, estimates: FloatArray, variances: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Logits of (value - low) / (high - low), with variances by the delta method."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logits = np.log(estimates - low) - np.log(high - estimates)
        slopes = (high - low) / ((estimates - low) * (high - estimates))
        return logits, variances * slopes**2


def bounded_limits(
    low: float,
    high: float,
    estimates: FloatArray,
    variances: FloatArray,
    df_complete: float | FloatArray,
    level: float,
) -> tuple[FloatArray, FloatArray]:
    """Confidence limits of values between `low` and `high`, pooled on the logit scale
    of (value - low) / (high - low).

    Values with variance 0 are their own limits.

    Parameters
    ----------
    low, high : float
    estimates, variances, df_complete
        As in `rubin`, on the scale of the values.
    level : float in (0, 1)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logits = as_logits(low, high, estimates, variances)
        pooled = rubin(*logits, df_complete)
        limits = symmetric_limits(*pooled[:2], level, pooled.df)
    certain = (variances == 0.0).all(axis=0)
    lower, upper = (
        np.where(certain, estimates.mean(axis=0), low + (high - low) * expit(end))
        for end in limits
    )
    return lower, upper


@dataclass(frozen=True, eq=False)
class Pooled:
    """Estimates of m data sets, pooled by Rubin's rules [Rubin 1987; Barnard & Rubin
    1999].

    Attributes
    ----------
    Q : (m, P) estimates
    U : sequence of m CovarianceOperator
        Their covariances (P, P).
    df_complete : float or (P,)
        Degrees of freedom that complete data would have; may be infinite.

    Examples
    --------
    >>> Q = np.array([[1.0], [2.0], [3.0]])
    >>> pooled = Pooled(Q, [CovarianceMatrix(np.array([[0.5]]))] * 3, np.inf)
    >>> pooled.estimate, pooled.total.round(4), pooled.df.round(2)
    (array([2.]), array([[1.8333]]), array([3.78]))
    """

    Q: FloatArray
    U: Sequence[CovarianceOperator]
    df_complete: float | FloatArray

    @property
    def m(self) -> int:
        """Number of imputations."""
        return len(self.Q)

    @property
    def estimate(self) -> FloatArray:
        """(P,) means of the estimates."""
        return np.asarray(self.Q.mean(axis=0))

    @property
    def within(self) -> FloatArray:
        """(P, P) mean covariance."""
        return np.asarray(np.mean([one.dense() for one in self.U], axis=0))

    @property
    def between(self) -> FloatArray:
        """(P, P) covariance B between imputations."""
        deviations = self.Q - self.estimate
        return deviations.T @ deviations / (self.m - 1)

    @cached_property
    def total(self) -> FloatArray:
        """(P, P) covariance T = U + (1 + 1/m) B of the estimates."""
        return self.within + (1.0 + 1.0 / self.m) * self.between

    @cached_property
    def _variances(self) -> tuple[FloatArray, FloatArray]:
        """(P,) the diagonals of U and of (1 + 1/m) B."""
        within = np.mean([one.variances for one in self.U], axis=0)
        return within, (1.0 + 1.0 / self.m) * self.Q.var(axis=0, ddof=1)

    @property
    def std_error(self) -> FloatArray:
        """(P,) square roots of the diagonal of T."""
        within, between = self._variances
        return np.sqrt(within + between)

    @cached_property
    def riv(self) -> FloatArray:
        """(P,) relative increase in variance, r = (1 + 1/m) B / U."""
        within, between = self._variances
        return between / within

    @cached_property
    def df(self) -> FloatArray:
        """(P,) degrees of freedom."""
        return barnard_rubin(self.m, self.riv, self.df_complete)

    @property
    def fmi(self) -> FloatArray:
        """(P,) fraction of missing information, (r + 2 / (nu + 3)) / (1 + r) [Rubin
        1987].
        """
        return (self.riv + 2.0 / (self.df + 3.0)) / (1.0 + self.riv)

    def combined(self, L: FloatArray) -> Pooled:
        """Linear combinations L (h, P), each with the smallest degrees of freedom of
        its estimates.
        """
        df = self.df_complete
        if isinstance(df, np.ndarray):
            df = np.where(L != 0.0, df, np.inf).min(axis=1)
        U = [CovarianceMatrix(one.quadratic(L)) for one in self.U]
        return Pooled(self.Q @ L.T, U, df)


def barnard_rubin(
    m: int, riv: FloatArray, df_complete: float | FloatArray
) -> FloatArray:
    """Degrees of freedom of a pooled estimate: Rubin's (1987) if `df_complete` is
    infinite, else Barnard & Rubin's.

    1/nu = 1/nu_m + 1/nu_obs, with nu_m = (m - 1) / lambda^2 and lambda = r / (1 + r),
    the share of the variance due to nonresponse [Barnard & Rubin 1999].
    """
    lam = riv / (1.0 + riv)
    with np.errstate(divide="ignore"):
        complete = small_sample_df(df_complete)
        return 1.0 / (lam**2 / (m - 1.0) + 1.0 / (complete * (1.0 - lam)))


def small_sample_df(df_complete: float | FloatArray) -> FloatArray:
    """Complete-data degrees of freedom for inference on the observed data [Barnard &
    Rubin 1999].
    """
    nu = np.asarray(df_complete, dtype=np.float64)
    return nu * (1.0 - 2.0 / (nu + 3.0))


class FTest(NamedTuple):
    """A pooled test: its F statistic on df and df_denom degrees of freedom, and the
    relative increase in variance.
    """

    statistic: float
    df: int
    df_denom: float
    riv: float

    @property
    def p_value(self) -> float:
        """P(F > statistic)."""
        F = max(self.statistic, 0.0)
        if np.isfinite(self.df_denom):
            return float(fdtrc(self.df, self.df_denom, F))
        return float(chdtrc(self.df, self.df * F))


def d1(pooled: Pooled) -> FTest:
    """Wald test that all estimates are 0, assuming the same relative increase in
    variance for all of them.

    F = Q' U^-1 Q / (k (1 + r)) with r = (1 + 1/m) tr(B U^-1) / k [Li, Raghunathan &
    Rubin 1991]. Degrees of freedom: for k = 1 as for a single estimate, else Reiter's
    (2007), or `large_sample_df` if `df_complete` is infinite. Reiter's formula needs t
    = k (m - 1) > 4 and enough complete-data degrees of freedom (see `reiter`); R's mice
    always uses it, even for k = 1. Outside this range we use (k + 1) nu / 2 as for
    large samples, but no more than the complete-data degrees of freedom; nu are the
    degrees of freedom of one estimate with this r.
    """
    Q = pooled.estimate
    k = pooled.estimate.size
    m = pooled.m
    half = np.linalg.cholesky(pooled.within)
    z = np.linalg.solve(half, Q)
    between = np.linalg.solve(half, np.linalg.solve(half, pooled.between).T)
    r = (1.0 + 1.0 / m) * float(np.trace(between)) / k
    df = _d1_df(r, k, m, float(np.min(pooled.df_complete)))
    return FTest(statistic=float(z @ z) / (k * (1.0 + r)), df=k, df_denom=df, riv=r)


def _d1_df(r: float, k: int, m: int, df_complete: float) -> float:
    single, complete = barnard_rubin(m, np.array([r, 0.0]), df_complete)
    if k == 1:
        return float(single)
    if not np.isfinite(df_complete):
        return large_sample_df(r, k, m)
    df = reiter(r, k * (m - 1), df_complete)
    return float(min(0.5 * (k + 1) * single, complete)) if df is None else df


def large_sample_df(r: float, k: int, m: int) -> float:
    """Denominator degrees of freedom of D1 [Li, Raghunathan & Rubin 1991]."""
    t = k * (m - 1)
    if r <= 0.0:
        return np.inf
    if t > 4:
        return 4.0 + (t - 4.0) * (1.0 + (1.0 - 2.0 / t) / r) ** 2
    return 0.5 * (k + 1) * (m - 1) * (1.0 + 1.0 / r) ** 2


def reiter(r: float, t: int, df_complete: float) -> float | None:
    """Denominator degrees of freedom of D1 with small complete samples [Reiter 2007].

    None outside the range of the formula, whose moments exist only for t > 4 and nu > 4
    (1 + a).
    """
    if t <= 4:
        return None
    a = r * t / (t - 2.0)
    nu = float(small_sample_df(df_complete))
    c0 = 1.0 / (t - 4.0)
    c1 = nu - 2.0 * (1.0 + a)
    c2 = nu - 4.0 * (1.0 + a)
    if c2 <= 0.0:
        return None
    z = (
        1.0 / c2
        + c0 * (a**2 * c1 / ((1.0 + a) ** 2 * c2))
        + c0 * (8.0 * a**2 * c1 / ((1.0 + a) * c2**2) + 4.0 * a**2 / ((1.0 + a) * c2))
        + c0 * (4.0 * a**2 / (c2 * c1) + 16.0 * a**2 * c1 / c2**3)
        + c0 * (8.0 * a**2 / c2**2)
    )
    return 4.0 + 1.0 / z


@dataclass(frozen=True, eq=False)
class PooledRandom:
    """Pooled standard deviations and correlations of random effects.

    Attributes
    ----------
    names, kinds : list of str
        As in `RandomParameters` of a single fit.
    transformed : PooledValues
        Logs of standard deviations, Fisher's z of correlations.
    estimates, errors : (R,)
        On their own scale; if a fit has a variance of 0 or a correlation of 1, the mean
        without a standard error.
    """

    names: list[str]
    kinds: list[str]
    transformed: PooledValues
    estimates: FloatArray
    errors: FloatArray

    @classmethod
    def of(cls, fits: Sequence[Any], df_complete: float) -> PooledRandom:
        """Pool the random-effects parameters of several fits."""
        first = fits[0]
        values = np.array([fit.estimates for fit in fits])
        errors = np.array([fit.errors for fit in fits])
        deviation = np.array(first.kinds) == "sd"
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = np.where(
                deviation, np.log(values), np.arctanh(np.where(deviation, 0.0, values))
            )
            slopes = np.where(deviation, 1.0 / values, 1.0 / (1.0 - values**2))
            combined = rubin(scaled, (errors * slopes) ** 2, df_complete)
            estimates = np.where(
                deviation, np.exp(combined.estimate), np.tanh(combined.estimate)
            )
            back = np.where(deviation, estimates, 1.0 - estimates**2)
        known = np.isfinite(combined.std_error) & np.isfinite(combined.estimate)
        estimates = np.where(known, estimates, values.mean(axis=0))
        return cls(
            first.names,
            first.kinds,
            combined,
            estimates,
            np.where(known, combined.std_error * back, np.nan),
        )

    def frame(self, level: float) -> pd.DataFrame:
        """Rows of `tidy`."""
        estimate, std_error, df = self.transformed
        ends = symmetric_limits(estimate, std_error, level, df)
        deviation = np.array(self.kinds) == "sd"
        with np.errstate(over="ignore"):
            low, high = (np.where(deviation, np.exp(end), np.tanh(end)) for end in ends)
        known = ~np.isnan(self.errors)
        columns = {
            "estimate": self.estimates,
            "std_error": self.errors,
            "conf_low": low,
            "conf_high": high,
        }
        numbers = {
            name: np.where(known | (name == "estimate"), values, np.nan)
            for name, values in columns.items()
        }
        frame = pd.DataFrame(numbers)
        frame["df"] = np.where(known, df, np.nan)
        return frame.assign(term=self.names, coef_type=self.kinds)
