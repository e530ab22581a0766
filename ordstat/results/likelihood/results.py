"""Results of a cumulative link model: estimates, their uncertainty and the likelihood."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import pandas as pd
from scipy.special import chdtrc, ndtr

from ..._typing import FloatArray
from ...model.fit import Fit, LikelihoodFit
from ...model.sample import Rows
from ..base import OrdinalResults
from ..protocols import LikelihoodMethod, ProbabilityRule
from ..report.render import Summary
from ..report.report import Report
from ..report.warnings import Alert, infinite_estimates, likelihood_alerts
from ..target import Target
from .covariance import Covariance, chosen_covariance, covariance_matrix, own_covariance
from .diagnostics import Diagnostics
from .inference import Inference
from .parameters import Parameters, parameters, spread, threshold_errors, threshold_values
from .predictive import Predictive
from .summary import likelihood_report

if TYPE_CHECKING:
    from ...plots.likelihood import LikelihoodPlots


@dataclass(frozen=True, eq=False, repr=False)
class LikelihoodResults(Diagnostics, Inference, Predictive, OrdinalResults):
    """A fitted cumulative link model, P(response <= k) = F(threshold_k - H).

    A positive coefficient raises the response. Standard errors come from the observed information, and are
    cluster-robust where the fit was given clusters; see `with_vcov`.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> fit.thresholds.round(3).to_dict()
    {'1|2': -1.344, '2|3': 1.251, '3|4': 3.467, '4|5': 5.006}
    >>> fit.confint().round(2).loc["temp[T.warm]"].tolist()
    [1.47, 3.54]
    """

    method: LikelihoodMethod
    fit: LikelihoodFit
    robust: Covariance | None = field(default=None, kw_only=True)

    predicts: ClassVar[tuple[str, ...]] = (
        "class",
        "prob",
        "cum_prob",
        "score",
        "linear_predictor",
        "mean",
        "margin",
    )

    # Predictions

    def _predict(self, target: Target, type: str) -> pd.Series | pd.DataFrame:
        rule = cast(ProbabilityRule, self.fit.rule)
        if type in ("linear_predictor", "mean"):
            from .uncertainty import predicted

            values = predicted(cast(Any, rule), target.rows, type)
            return target.series(values[:, 0], type) if type == "mean" else target.frame(values, self.threshold_names)
        if type == "prob":
            return target.frame(rule.probabilities(target.rows, target.scores), self.levels)
        if type == "cum_prob":
            return target.frame(rule.cum_probabilities(target.rows, target.scores), self.levels)
        return super()._predict(target, type)

    def _probabilities(self, fit: Fit, rows: Rows, scores: FloatArray) -> FloatArray:
        return cast(ProbabilityRule, fit.rule).probabilities(rows, scores)

    def _augmented(self, frame: pd.DataFrame, target: Target, data: Any) -> pd.DataFrame:
        frame = super()._augmented(frame, target, data)
        probabilities = cast(pd.DataFrame, self._predict(target, "prob"))
        return frame.assign(**{f".prob_{level}": probabilities[level] for level in self.levels})

    # Estimates

    @cached_property
    def parameters(self) -> Parameters:
        """Names and kinds of the parameters."""
        return parameters(self.design, self.threshold_names, self.fit)

    @property
    def params(self) -> pd.Series:
        """(P,) thresholds (or the parameters of their structure), then nominal, location and scale effects, then lambda
        of a flexible link, as R's coef(); NaN where aliased."""
        return self._series(self.fit.coefficients, "estimate")

    @property
    def thresholds(self) -> pd.Series:
        """(K-1,) thresholds "low|high"; with nominal effects, at zero of the nominal columns."""
        return pd.Series(np.array(threshold_values(self.fit)), index=self.threshold_names, name="threshold")

    @property
    def threshold_se(self) -> pd.Series:
        """(K-1,) standard errors of `thresholds`."""
        errors = threshold_errors(self.fit, self._standard_errors, lambda: self._covariance(None))
        return pd.Series(np.array(errors), index=self.threshold_names, name="std_error")

    @property
    def coef(self) -> pd.Series:
        """Nominal, location and scale effects; NaN where a column is aliased."""
        return self.params.iloc[self.parameters.of("nominal", "location", "scale")]

    @property
    def se(self) -> pd.Series:
        """(P,) standard errors of `params`: cluster-robust where the fit has clusters; NaN of infinite estimates."""
        return self._series(self._standard_errors, "std_error")

    @cached_property
    def _standard_errors(self) -> FloatArray:
        if self.covariance == "model":
            variances = self.fit.information.variances()
        else:
            variances = np.diagonal(self._covariance(None))
        errors = spread(np.sqrt(variances), self.fit)
        if self.fit.separation is not None:
            errors[infinite_estimates(self.fit.separation)] = np.nan
        return errors

    @property
    def own_covariance(self) -> Covariance:
        """The covariance behind standard errors, limits and Wald tests."""
        return own_covariance(self.design) if self.robust is None else self.robust

    @property
    def covariance(self) -> str:
        """Its name: "model", "HC0", "HC1" or "cluster"."""
        return self.own_covariance.name

    def with_vcov(self, vcov: Any) -> LikelihoodResults:
        """The same fit with another covariance in se, confint, summary, tidy, predict and Wald tests.

        Parameters
        ----------
        vcov : str or dict
            As in `vcov`.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.with_vcov({"cluster": "judge"}).se.round(3)["temp[T.warm]"]
        np.float64(0.354)
        """
        return replace(self, robust=chosen_covariance(vcov, self.design))

    def vcov(self, type: Any = None) -> pd.DataFrame:
        """Covariance of the estimated (not aliased) parameters; NaN for infinite estimates.

        Parameters
        ----------
        type : str or dict, optional
            "model": inverse of the observed information. "HC0": sandwich; "HC1": the same times n / (n - p).
            "cluster": sandwich summed within the clusters of the fit, times G / (G - 1); {"cluster": "judge"} or
            {"cluster": values}: within other clusters, by a column of the data, or one value per row of the fit (or a
            Series with their index). None: the fit's own (see `covariance`).

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> float(fit.vcov({"cluster": "judge"}).loc["temp[T.warm]", "temp[T.warm]"].round(4))
        0.1252
        """
        names = np.array(self.parameters.names, dtype=object)[~self.fit.aliased]
        return pd.DataFrame(self._covariance(type), index=list(names), columns=list(names))

    def _covariance(self, choice: Any) -> FloatArray:
        chosen = self.own_covariance if choice is None else chosen_covariance(choice, self.design)
        return covariance_matrix(self, chosen)

    def confint(self, level: float = 0.95, type: str = "wald", parm: Any = None) -> pd.DataFrame:
        """Confidence limits of `params`, columns lower and upper.

        Parameters
        ----------
        level : float in (0, 1)
        type : {"wald", "profile"}
            Estimate plus and minus the normal quantile times the standard error; or the values at which the
            likelihood, maximised over all other parameters, has fallen by half the chi-squared quantile.
        parm : str, int or a sequence of them, optional
            Parameters by name or by position in `params` (from 0), or location terms; all parameters if not given.

        Returns
        -------
        pandas.DataFrame
            Profile limits may be infinite, or NaN where the profile cannot be followed; `attrs["reasons"]` then says
            why, by (parameter, "lower" or "upper").

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.confint(type="profile", parm="temp").round(3).to_numpy().tolist()
        [[1.51, 3.595]]
        """
        from .profile import limits

        return limits(self, level, type, parm)

    @property
    def z_values(self) -> pd.Series:
        """(P,) estimate / standard error."""
        return self._series(self.fit.coefficients / self._standard_errors, "statistic")

    @property
    def p_values(self) -> pd.Series:
        """(P,) two-sided p-values of the z-values; of no interest for thresholds."""
        return self._series(2.0 * ndtr(-np.abs(self.z_values.to_numpy())), "p_value")

    def _series(self, values: FloatArray, name: str) -> pd.Series:
        return pd.Series(np.array(values), index=self.parameters.names, name=name)

    # Likelihood

    @property
    def nobs(self) -> float:
        """Number of observations: the sum of the case weights."""
        return float(self.fit.n_obs)

    @property
    def loglik(self) -> float:
        """Log-likelihood at the estimates."""
        return float(self.fit.loglik)

    @property
    def null_loglik(self) -> float:
        """Log-likelihood with thresholds (and offset) only."""
        return float(self.fit.null_loglik)

    @property
    def edf(self) -> int:
        """Number of estimated parameters."""
        return int(np.count_nonzero(~self.fit.aliased))

    @property
    def df_residual(self) -> float:
        """nobs - edf."""
        return self.nobs - self.edf

    @property
    def aic(self) -> float:
        """-2 loglik + 2 edf."""
        return -2.0 * self.loglik + 2.0 * self.edf

    @property
    def bic(self) -> float:
        """-2 loglik + log(nobs) edf."""
        return -2.0 * self.loglik + float(np.log(self.nobs)) * self.edf

    @property
    def lr_chi2(self) -> float:
        """Likelihood ratio statistic against thresholds only."""
        return 2.0 * (self.loglik - self.null_loglik)

    @property
    def lr_df(self) -> int:
        """Degrees of freedom of `lr_chi2`."""
        return self.edf - self.fit.null_edf

    @property
    def lr_p_value(self) -> float:
        """P-value of `lr_chi2`; NaN for a model of thresholds only."""
        return float(chdtrc(self.lr_df, max(self.lr_chi2, 0.0))) if self.lr_df > 0 else float("nan")

    @property
    def mcfadden(self) -> float:
        """McFadden's R2, 1 - loglik / null_loglik."""
        return 1.0 - self.loglik / self.null_loglik

    @property
    def nagelkerke(self) -> float:
        """Nagelkerke's R2, (1 - exp(-lr_chi2 / n)) / (1 - exp(2 null_loglik / n))."""
        return float(np.expm1(-self.lr_chi2 / self.nobs) / np.expm1(2.0 * self.null_loglik / self.nobs))

    # Tables and pictures

    @property
    def plot(self) -> LikelihoodPlots:
        """Pictures of the fit, by matplotlib: `fit.plot.latent()`."""
        from ...plots.likelihood import LikelihoodPlots

        return LikelihoodPlots(self)

    def tidy(self, conf_int: bool = True, exponentiate: bool = False, level: float = 0.95) -> pd.DataFrame:
        """One row per parameter: term, estimate, std_error, statistic, p_value, conf_low, conf_high, coef_type.

        Parameters
        ----------
        conf_int : bool
            Whether to give the limits.
        exponentiate : bool
            exp() of estimate and limits of all terms but thresholds; std_error, statistic and p_value stay those of
            the coefficient.
        level : float
            Confidence level of the limits.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.tidy(exponentiate=True).round(2).loc[4:, ["term", "estimate", "conf_low", "conf_high"]]
                     term  estimate  conf_low  conf_high
        4    temp[T.warm]     12.22      4.34      34.44
        5  contact[T.yes]      4.61      1.81      11.73
        """
        limits = self.confint(level).to_numpy()
        numbers = np.column_stack((self.fit.coefficients, limits))
        if exponentiate:
            effects = self.parameters.of("nominal", "location", "scale")
            numbers[effects] = np.exp(numbers[effects])
        frame = pd.DataFrame(
            {
                "term": self.parameters.names,
                "estimate": numbers[:, 0],
                "std_error": self._standard_errors,
                "statistic": self.z_values.to_numpy(),
                "p_value": self.p_values.to_numpy(),
                "conf_low": numbers[:, 1],
                "conf_high": numbers[:, 2],
                "coef_type": self.parameters.kinds,
            }
        )
        return frame if conf_int else frame.drop(columns=["conf_low", "conf_high"])

    def glance(self) -> pd.DataFrame:
        """One row of figures of the whole fit.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.glance()[["nobs", "loglik", "aic", "mcfadden"]].round(3)
           nobs  loglik      aic  mcfadden
        0  72.0 -86.492  184.984     0.166
        """
        return pd.DataFrame(
            {
                "nobs": [self.nobs],
                "edf": [self.edf],
                "df_residual": [self.df_residual],
                "loglik": [self.loglik],
                "null_loglik": [self.null_loglik],
                "aic": [self.aic],
                "bic": [self.bic],
                "lr_chi2": [self.lr_chi2],
                "lr_df": [self.lr_df],
                "lr_p_value": [self.lr_p_value],
                "mcfadden": [self.mcfadden],
                "nagelkerke": [self.nagelkerke],
                "classification_error": [self.training_errors.value("classification error")],
                "absolute_error": [self.training_errors.value("absolute error")],
                "converged": [self.certificate.reached],
            }
        )

    def alerts(self) -> list[Alert]:
        """Warnings about the fit: (category, message)."""
        return [*super().alerts(), *likelihood_alerts(self.fit, self.parameters)]

    def report(self, exponentiate: bool = False, level: float = 0.95) -> Report:
        """The summary as data.

        Parameters
        ----------
        exponentiate, level
            As in `summary`.
        """
        return likelihood_report(self, exponentiate, level)

    def summary(self, exponentiate: bool = False, level: float = 0.95) -> Summary:
        """The summary: its text is str(), its tables are in `.tables`.

        Parameters
        ----------
        exponentiate : bool
            Add the odds ratios (logit), hazard ratios (cloglog) or exponents of the effects, with limits.
        level : float in (0, 1)
            Confidence level of the limits.
        """
        return Summary(self.report(exponentiate, level))

    # statsmodels' names

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """statsmodels' name of confint(1 - alpha)."""
        return self.confint(1.0 - alpha)

    def cov_params(self) -> pd.DataFrame:
        """statsmodels' name of vcov()."""
        return self.vcov()

    bse = property(lambda self: self.se, doc="statsmodels' name of se.")
    tvalues = property(lambda self: self.z_values, doc="statsmodels' name of z_values.")
    pvalues = property(lambda self: self.p_values, doc="statsmodels' name of p_values.")
    llf = property(lambda self: self.loglik, doc="statsmodels' name of loglik.")
    llnull = property(lambda self: self.null_loglik, doc="statsmodels' name of null_loglik.")
    df_resid = property(lambda self: self.df_residual, doc="statsmodels' name of df_residual.")
    llr = property(lambda self: self.lr_chi2, doc="statsmodels' name of lr_chi2.")
    llr_pvalue = property(lambda self: self.lr_p_value, doc="statsmodels' name of lr_p_value.")
    prsquared = property(lambda self: self.mcfadden, doc="statsmodels' name of mcfadden.")
