"""Estimates of a model over imputed data sets, pooled by Rubin's rules, with their names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from ...._typing import BoolArray, FloatArray
from ....assess.likelihood.rubin import Pooled
from ....checks import fraction
from ...report.noted import NotedFrame
from ..fitted import FittedLikelihood
from ..parameters import Parameters, spread


@dataclass(frozen=True, eq=False, repr=False)
class PooledEstimates:
    """Fits of one model to m imputed data sets, as one.

    Attributes
    ----------
    fits : tuple of LikelihoodResults
    df_complete : float
        Degrees of freedom that complete data would have.
    """

    fits: tuple[FittedLikelihood, ...]
    df_complete: float

    @cached_property
    def pooled(self) -> Pooled:
        """Rubin's rules over the estimated parameters, as arrays."""
        estimated = ~self.fits[0].fit.aliased
        return Pooled(
            Q=np.array([fit.fit.coefficients[estimated] for fit in self.fits]),
            U=np.array([fit.vcov().to_numpy() for fit in self.fits]),
            df_complete=self._complete(estimated),
        )

    def _complete(self, estimated: BoolArray) -> float | FloatArray:
        """Complete-data degrees of freedom; under CR2 of each parameter, no more than Satterthwaite's."""
        if any(fit.bias_reduced is None for fit in self.fits):
            return self.df_complete
        return np.asarray(np.minimum(self.df_complete, np.min([fit.t_df[estimated] for fit in self.fits], axis=0)))

    @property
    def parameters(self) -> Parameters:
        """Names and kinds of the parameters."""
        return self.fits[0].parameters

    @property
    def n_imputations(self) -> int:
        """m."""
        return len(self.fits)

    @property
    def nobs(self) -> float:
        """Number of observations of each data set; the smallest where they differ."""
        return min(fit.nobs for fit in self.fits)

    @property
    def params(self) -> pd.Series:
        """(P,) means of the estimates, named as those of each fit; NaN where aliased."""
        return self._series(self.pooled.estimate, "estimate")

    @property
    def coef(self) -> pd.Series:
        """Those of nominal, location and scale effects."""
        return self.params.iloc[self.parameters.of("nominal", "location", "scale")]

    @property
    def thresholds(self) -> pd.Series:
        """(K-1,) means of the thresholds "low|high"."""
        return pd.concat([fit.thresholds for fit in self.fits], axis=1).mean(axis=1).rename("threshold")

    @property
    def se(self) -> pd.Series:
        """(P,) standard errors: the variance within data sets and that between them."""
        return self._series(self.pooled.std_error, "std_error")

    @property
    def df(self) -> pd.Series:
        """(P,) degrees of freedom of the t distribution [Barnard & Rubin 1999]."""
        return self._series(self.pooled.df, "df")

    @property
    def riv(self) -> pd.Series:
        """(P,) relative increase in variance due to nonresponse."""
        return self._series(self.pooled.riv, "riv")

    @property
    def fmi(self) -> pd.Series:
        """(P,) fraction of missing information."""
        return self._series(self.pooled.fmi, "fmi")

    @property
    def t_values(self) -> pd.Series:
        """(P,) estimate / standard error."""
        return self._series(self.pooled.estimate / self.pooled.std_error, "statistic")

    @property
    def p_values(self) -> pd.Series:
        """(P,) two-sided p-values of the t-values; of no interest for thresholds."""
        t = np.abs(self.pooled.estimate / self.pooled.std_error)
        return self._series(2.0 * stdtr(self.pooled.df, -t), "p_value")

    def vcov(self) -> pd.DataFrame:
        """Covariance of the estimated (not aliased) parameters: U + (1 + 1/m) B of Rubin's rules."""
        names = self.fits[0].vcov().index
        return pd.DataFrame(self.pooled.total, index=names, columns=names)

    def confint(self, level: float = 0.95) -> pd.DataFrame:
        """Confidence limits by quantiles of the t distribution, columns lower and upper.

        Parameters
        ----------
        level : float in (0, 1)
        """
        half = stdtrit(self.pooled.df, 0.5 + fraction("level", level) / 2.0) * self.pooled.std_error
        limits = {"lower": self.pooled.estimate - half, "upper": self.pooled.estimate + half}
        frame = pd.DataFrame({name: self._series(values, name) for name, values in limits.items()})
        return NotedFrame.of(frame, (), f"Pooled limits, {100 * level:g} %")

    def _series(self, values: FloatArray, name: str) -> pd.Series:
        return pd.Series(spread(values, self.fits[0].fit), index=self.parameters.names, name=name)
