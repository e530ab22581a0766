"""Rubin's rules: estimates of m imputed data sets as one, and the test D1.

Q are the estimates, U their covariances, B the covariance between imputations, r the relative increase in variance due
to nonresponse, nu degrees of freedom and k the number of hypotheses, as in the papers. Degrees of freedom and tests are
those of R's mice 3.15 (by mitml 0.4 for D1), but for D1 outside the range of Reiter's formula; see `d1`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import chdtrc, fdtrc

from ..._typing import FloatArray


@dataclass(frozen=True, eq=False)
class Pooled:
    """Estimates of m data sets by Rubin's rules [Rubin 1987; Barnard & Rubin 1999].

    Attributes
    ----------
    Q : (m, P) estimates
    U : (m, P, P) their covariances
    df_complete : float or (P,)
        Degrees of freedom that complete data would have; may be infinite.

    Examples
    --------
    >>> pooled = Pooled(np.array([[1.0], [2.0], [3.0]]), np.full((3, 1, 1), 0.5), np.inf)
    >>> pooled.estimate.tolist(), pooled.total.round(4).tolist(), pooled.df.round(2).tolist()
    ([2.0], [[1.8333]], [3.78])
    """

    Q: FloatArray
    U: FloatArray
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
        return np.asarray(self.U.mean(axis=0))

    @property
    def between(self) -> FloatArray:
        """(P, P) covariance B between imputations."""
        deviations = self.Q - self.estimate
        return np.asarray(deviations.T @ deviations / (self.m - 1))

    @cached_property
    def total(self) -> FloatArray:
        """(P, P) covariance T = U + (1 + 1/m) B of the estimates."""
        return self.within + (1.0 + 1.0 / self.m) * self.between

    @property
    def std_error(self) -> FloatArray:
        """(P,) square roots of the diagonal of T."""
        return np.sqrt(np.diag(self.total))

    @cached_property
    def riv(self) -> FloatArray:
        """(P,) relative increase in variance, r = (1 + 1/m) B / U."""
        return (1.0 + 1.0 / self.m) * np.diag(self.between) / np.diag(self.within)

    @cached_property
    def df(self) -> FloatArray:
        """(P,) degrees of freedom."""
        return barnard_rubin(self.m, self.riv, self.df_complete)

    @property
    def fmi(self) -> FloatArray:
        """(P,) fraction of missing information, (r + 2 / (nu + 3)) / (1 + r) [Rubin 1987]."""
        return (self.riv + 2.0 / (self.df + 3.0)) / (1.0 + self.riv)

    def combined(self, L: FloatArray) -> Pooled:
        """The same of the linear combinations L (h, P), with the smallest degrees of freedom of what is in each."""
        each = self.df_complete
        if isinstance(each, np.ndarray):
            each = np.where(L != 0.0, each, np.inf).min(axis=1)
        return Pooled(self.Q @ L.T, L @ self.U @ L.T, each)


def barnard_rubin(m: int, riv: FloatArray, df_complete: float | FloatArray) -> FloatArray:
    """Degrees of freedom of a pooled estimate: Rubin's (1987) where `df_complete` is infinite, else Barnard & Rubin's.

    1/nu = 1/nu_m + 1/nu_obs, with nu_m = (m - 1) / lambda^2 and lambda = r / (1 + r), the share of the variance that is
    due to nonresponse [Barnard & Rubin 1999].
    """
    lam = riv / (1.0 + riv)
    with np.errstate(divide="ignore"):
        complete = small_sample_df(df_complete)
        return np.asarray(1.0 / (lam**2 / (m - 1.0) + 1.0 / (complete * (1.0 - lam))))


def small_sample_df(df_complete: float | FloatArray) -> FloatArray:
    """Complete-data degrees of freedom for inference on the observed data [Barnard & Rubin 1999]."""
    nu = np.asarray(df_complete, dtype=np.float64)
    return nu * (1.0 - 2.0 / (nu + 3.0))


@dataclass(frozen=True)
class FTest:
    """A pooled test: its F statistic on df and df_denom degrees of freedom, and the relative increase in variance."""

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
    """Wald test that all estimates are 0, the increase in variance taken to be the same for all of them.

    F = Q' U^-1 Q / (k (1 + r)) with r = (1 + 1/m) tr(B U^-1) / k [Li, Raghunathan & Rubin 1991]. Degrees of freedom:
    for k = 1 those of the estimate itself, else Reiter's (2007), or `large_sample_df` where `df_complete` is infinite.
    Reiter's formula is made for t = k (m - 1) > 4 and for more complete-data degrees of freedom than a term of it
    subtracts (`reiter`); R's mice uses it for any, and for k = 1 too. Elsewhere we take (k + 1) nu / 2 as for large
    samples, nu those of one estimate with this r, and no more than complete data have.
    """
    Q, k, m = pooled.estimate, pooled.estimate.size, pooled.m
    half = np.linalg.cholesky(pooled.within)
    z, spread = np.linalg.solve(half, Q), np.linalg.solve(half, np.linalg.solve(half, pooled.between).T)
    r = (1.0 + 1.0 / m) * float(np.trace(spread)) / k
    df = _d1_df(r, k, m, float(np.min(pooled.df_complete)))
    return FTest(statistic=float(z @ z) / (k * (1.0 + r)), df=k, df_denom=df, riv=r)


def _d1_df(r: float, k: int, m: int, df_complete: float) -> float:
    single, complete = barnard_rubin(m, np.array([r, 0.0]), df_complete)
    if k == 1:
        return float(single)
    if not np.isfinite(df_complete):
        return large_sample_df(r, k, m)
    found = reiter(r, k * (m - 1), df_complete)
    return float(min(0.5 * (k + 1) * single, complete)) if found is None else found


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

    None outside the range of the formula, which is made of moments that exist for t > 4 and nu > 4 (1 + a) only.
    """
    if t <= 4:
        return None
    a = r * t / (t - 2.0)
    nu = float(small_sample_df(df_complete))
    c0, c1, c2 = 1.0 / (t - 4.0), nu - 2.0 * (1.0 + a), nu - 4.0 * (1.0 + a)
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
