"""Results of likelihood fits: signatures and docstrings of the methods, which call the
functions of their topics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..exceptions import DataError, DataWarning, SeparationWarning, warn
from ..fit import Fit
from ..formula.names import Parameter
from ..formula.sample import Rows, Sample
from ..inference.summary import likelihood_figures, likelihood_summary
from ..judging.response_numbers import Asked
from ..report.render import Table
from ..report.warnings import Alert
from ..results import OrdinalResults
from ..target import Target
from .alerts import (
    forgotten_counts,
    infinite_and_diverging,
    likelihood_alerts,
    why_unreached,
)
from .covariance_choice import (
    NO_CR2,
    Covariance,
    check_enough_rows,
    chosen_covariance,
    covariance_matrix,
    for_few_clusters,
    given_covariance,
    is_matrix,
    own_covariance,
    sandwich_of_many,
)
from .family import Family
from .fit import LikelihoodFit
from .parameters import (
    Estimates,
    Parameters,
    parameters,
    square_frame,
    threshold_values,
    with_aliased,
)
from .rule import LikelihoodRule, crossed_rows, crossing_text, report_crossing
from .standard_errors import two_sided
from .unavailable import check_available, why_unavailable
from .user_scale import CovarianceMatrix, CovarianceOperator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Progress
    from ..effects.emmeans import Emmeans
    from ..effects.margins import MarginalEffects
    from ..effects.superiority import Superiority
    from ..formula.smooths import SmoothTerm
    from ..inference.bootstrap import Bootstrap
    from ..inference.certificate import Convergence
    from ..inference.draws import Draws
    from ..inference.goodness import GoodnessOfFit
    from ..inference.influence import Influence
    from ..inference.stepwise import StepwiseSelection
    from ..plots.accessor import LikelihoodPlots
    from ..report.frames import NotedFrame
    from ..report.render import Report, Summary
    from .aliasing import Aliasing
    from .cr2 import BiasReduced
    from .row_limits import RowLimits


@dataclass(frozen=True, eq=False, repr=False)
class LikelihoodResults(OrdinalResults):
    """A fitted likelihood model of ordered levels; by default the cumulative link
    model, P(response <= k) = F(threshold_k - H).

    A positive coefficient raises the response (multinomial: the odds of its level).
    Standard errors come from the observed information, and are cluster-robust if the
    fit has clusters; see `with_vcov`.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> fit.thresholds.round(3).to_dict()
    {'1|2': -1.344, '2|3': 1.251, '3|4': 3.467, '4|5': 5.006}
    >>> fit.confint().round(2).loc["temp[T.warm]"].tolist()
    [1.47, 3.54]
    """

    method: Any
    fit: LikelihoodFit
    robust: Covariance | None = field(default=None, kw_only=True)

    predicts: ClassVar[tuple[str, ...]] = (
        "class",
        "prob",
        "cum_prob",
        "score",
        "linear_predictor",
        "margin",
    )

    augments: ClassVar[tuple[str, ...]] = ("class", "score", "margin", "prob")

    @property
    def kind(self) -> str:
        """Title of the fit."""
        return self.family.name

    def estimates(self) -> list[Table]:
        """Tables of coefficients and thresholds by kind; infinite estimates
        (separation) are shown as infinite.
        """
        titles = {
            "location": "Coefficients",
            "nominal": "Nominal effects",
            "scale": "Scale effects",
            "lambda": "Link",
        }
        if self.parameters.of("location").size:  # without effects they have no value
            titles["phi"] = "Scores of the levels"
        tables = []
        for kind, title in titles.items():
            chosen = self.parameters.of(kind)
            chosen = chosen[np.isin(chosen, self.curve_coefficients, invert=True)]
            effects = self.params.iloc[chosen]
            tables.append(Table(title=title, frame=effects.to_frame()))
        if self.fit.smooths is not None:
            labels = [smooth.label for smooth in self.design.smooths]
            edf = pd.Series(self.fit.smooths.edf, index=labels).to_frame()
            tables.append(Table(title="Smooth terms, edf", frame=edf))
        thresholds = self.thresholds.to_frame()
        tables.append(Table(title="Thresholds", frame=thresholds, role="thresholds"))
        if self.random_parameters is not None:
            deviations = self.random_parameters.deviations.to_frame()
            tables.append(Table(title="Random effects", frame=deviations))
        return tables

    def figures_of_fit(self) -> tuple[str, ...]:
        """Link, log-likelihood and, if meaningful, AIC."""
        link = f"link {self.family.link.name}"
        if self.design.survey is not None:  # has no likelihood of independent rows
            return (link,)
        aic = () if self.without_aic else (f"AIC {self.aic:.2f}",)
        return link, f"log-likelihood {self.loglik:.2f}", *aic

    @property
    def without_aic(self) -> str:
        """Why AIC and BIC are not meaningful for this fit; empty if they are."""
        if self.method.penalised:
            return "a penalised fit does not maximise the likelihood"
        return self.own_covariance.without_aic

    # Estimates

    @property
    def threshold_names(self) -> list[str]:
        """(K-1,) names of the thresholds."""
        return self.family.threshold_names(self.levels)

    @cached_property
    def parameters(self) -> Parameters:
        """Names and kinds of the parameters."""
        return parameters(self.design, self.threshold_names, self.fit)

    @property
    def all_parameters(self) -> list[Parameter]:
        """Records of all parameters, including those of random effects."""
        random = self.random_parameters
        return self.parameters.records + ([] if random is None else random.records)

    @property
    def params(self) -> pd.Series:
        """(P,) all parameters, in the order of R's coef().

        Thresholds (or the parameters of their structure), then nominal, location and
        scale effects, then lambda of a flexible link. NaN where aliased, infinite (or
        NaN) where the response is separated.
        """
        return pd.Series(self.fit.limits, index=self.parameters.names, name="estimate")

    @property
    def thresholds(self) -> pd.Series:
        """(K-1,) thresholds "low|high", at zero of nominal columns; infinite (or NaN)
        under separation.
        """
        fit = self.fit
        names = self.threshold_names
        values = fit.limits[: len(names)]
        by_estimates = fit.on_flexible_scale()
        if by_estimates is not None:
            limits = fit.limits_of(by_estimates[: len(names), ~fit.aliased])
            values = threshold_values(fit) + limits
        return pd.Series(values, index=names, name="threshold")

    @property
    def coef(self) -> pd.Series:
        """Nominal, location and scale effects; NaN where aliased, infinite (or NaN)
        where the response is separated.
        """
        return Estimates(
            self.params.iloc[self.parameters.of("nominal", "location", "scale")]
        )

    @cached_property
    def _std_errors(self) -> FloatArray:
        """(P,) standard error of each parameter; NaN where it has none."""
        fit = self.fit
        variances = (
            fit.model_covariance.variances
            if self.own_covariance.name == "model"
            else self.covariance_of_estimates.variances
        )
        # rounding makes negative ones short of a maximum
        variances = np.where(variances >= 0.0, variances, np.nan)
        unknown = fit.infinite | fit.diverging
        return np.where(unknown, np.nan, with_aliased(np.sqrt(variances), fit))

    @cached_property
    def coefficient_columns(self) -> dict[str, FloatArray]:
        """(P,) std_error, statistic (estimate / error), df of t, and two-sided p_value
        of each parameter.
        """
        fit = self.fit
        errors = self._std_errors
        df = np.full(errors.size, self.own_covariance.df)
        if self.bias_reduced is not None:
            bread = fit.model_covariance.dense()
            df = with_aliased(self.bias_reduced.t_df(bread, np.eye(len(bread))), fit)
        with np.errstate(divide="ignore", invalid="ignore"):  # an error of 0 is given
            statistic = fit.coefficients / errors
        # a test of a penalised coefficient alone has no meaning
        statistic[self.penalised_coefficients] = np.nan
        return {
            "std_error": errors,
            "statistic": statistic,
            "df": df,
            "p_value": self._without_only_effect(two_sided(statistic, df)),
        }

    def _without_only_effect(self, p_values: FloatArray) -> FloatArray:
        """P-values, NaN for the only effect of a model whose scores of levels have no
        value without it.
        """
        if not self.parameters.of("phi").size:
            return p_values
        effects = self.parameters.of("location")
        estimated = effects[~self.fit.aliased[effects]]
        if estimated.size == 1:
            p_values = p_values.copy()
            p_values[estimated] = np.nan
        return p_values

    @property
    def penalised_coefficients(self) -> IntArray:
        """Positions, among all parameters, of the coefficients of smooth terms."""
        return self._of_smooths(self.design.smooths)

    @property
    def curve_coefficients(self) -> IntArray:
        """Positions of the coefficients of curves and of random effects re(g), which
        tables do not print.
        """
        curves = [smooth for smooth in self.design.smooths if not smooth.ordered]
        return self._of_smooths(curves)

    def _of_smooths(self, chosen: Sequence[SmoothTerm]) -> IntArray:
        blocks = self.design.sample.smooths or ()
        columns = [
            block.columns
            for smooth, block in zip(self.design.smooths, blocks, strict=True)
            if smooth in chosen
        ]
        if not columns:
            return np.zeros(0, dtype=np.intp)
        location: IntArray = self.parameters.of("location")
        return location[np.concatenate(columns)]

    @property
    def se(self) -> pd.Series:
        """(P,) standard errors of `params`: cluster-robust if the fit has clusters; NaN
        for infinite estimates.
        """
        return self._named(self._std_errors, "std_error")

    @property
    def z_values(self) -> pd.Series:
        """(P,) estimate / standard error."""
        return self._named(self.coefficient_columns["statistic"], "statistic")

    @property
    def p_values(self) -> pd.Series:
        """(P,) two-sided p-values of the z-values, by t under CR2 and survey designs;
        not meaningful for thresholds.
        """
        return self._named(self.coefficient_columns["p_value"], "p_value")

    def _named(self, values: FloatArray, name: str) -> pd.Series:
        """A copy of the values (P,), by the names of the parameters."""
        return pd.Series(values.copy(), index=self.parameters.names, name=name)

    @cached_property
    def own_covariance(self) -> Covariance:
        """The covariance for standard errors, confidence intervals and Wald tests."""
        chosen = own_covariance(self.design) if self.robust is None else self.robust
        return (
            chosen
            if chosen.asked
            else for_few_clusters(chosen, self.fit, self.design, self.method.penalty)
        )

    @property
    def covariance(self) -> str:
        """Name of the covariance: "model", "HC0", "HC1", "cluster", "CR2", "survey" or
        "given".
        """
        return self.own_covariance.name

    @property
    def design_df(self) -> float:
        """Degrees of freedom of a survey design, for t and Wald F tests; infinite
        without a design.
        """
        return self.own_covariance.df

    @property
    def error_words(self) -> str:
        """Description of the standard errors."""
        if self.fit.smooths is not None:
            return "Bayesian, of penalised curves"
        return self.own_covariance.words

    @property
    def standard_error_notes(self) -> tuple[str, ...]:
        """Notes on the standard errors of a table and on infinite estimates."""
        return (
            f"Standard errors: {self.error_words}.",
            *infinite_and_diverging(self.fit, self.parameters),
        )

    def vcov(self, type: Any = None) -> pd.DataFrame:
        """Covariance of the estimated (not aliased) parameters; NaN for infinite
        estimates.

        Parameters
        ----------
        type : str, dict or matrix, optional
            "model": inverse of the observed information. "HC0": sandwich; "HC1": the
            same times n / (n - p), with n > p. "cluster": sandwich of scores summed
            within the clusters of the fit, times G / (G - 1). {"cluster": "judge",
            "type": "CR1"}: the same for other clusters, given as a column of the data
            or one value per row of the fit. "CR2", or {"cluster": "judge", "type":
            "CR2"}: corrected for few clusters. Without a type, fewer than 20 clusters
            get CR2 if it is available, else CR1. A matrix: see `with_vcov`. None: the
            covariance of the fit (see `covariance`).

        Returns
        -------
        pandas.DataFrame

        Notes
        -----
        CR2 is the estimator of Bell and McCaffrey (2002) as defined by Pustejovsky and
        Tipton (2018), with the multinomial covariance at the fitted probabilities as
        working model. With two levels and the logit it equals R's clubSandwich for glm.
        Tests of single coefficients, and confidence intervals of predictions, effects
        and means, use Satterthwaite's degrees of freedom; there are no joint tests.

        With random effects, clusters must consist of whole groups; HC0, HC1 and CR2 are
        not available.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> clustered = fit.vcov({"cluster": "judge", "type": "CR1"})
        >>> float(clustered.loc["temp[T.warm]", "temp[T.warm]"].round(4))
        0.1252
        """
        chosen = self if type is None else self.with_vcov(type)
        names = np.array(self.parameters.names, dtype=object)[~self.fit.aliased]
        matrix = np.array(chosen.fixed_covariance)
        unknown = (self.fit.infinite | self.fit.diverging)[~self.fit.aliased]
        matrix[unknown], matrix[:, unknown] = np.nan, np.nan
        return square_frame(matrix, list(names))

    @property
    def random_parameters(self) -> Any:
        """Standard deviations and correlations of random effects; None without random
        effects.
        """
        return None

    def random_part(
        self, level: float
    ) -> tuple[tuple[tuple[str, Any], ...], list[Table], tuple[str, ...]]:
        """Header lines, tables and notes of the summary on random effects.

        Parameters
        ----------
        level : float in (0, 1)
            Confidence level of the intervals.
        """
        return (), [], ()

    @cached_property
    def whole_covariance(self) -> FloatArray:
        """(P' + m, P' + m) covariance of the estimated parameters, including those of
        random effects.

        With infinite estimates it holds only for functions that the data determine
        (`fit.determined`).
        """
        if self.bias_reduced is not None:
            return self.bias_reduced.covariance(self.fit.model_covariance.dense())
        return covariance_matrix(self.fit, self.own_covariance)

    @cached_property
    def covariance_of_estimates(self) -> CovarianceOperator:
        """The covariance of the P' estimated parameters, excluding those of random
        effects; by the model it is not formed, as there may be very many levels.
        """
        if self.own_covariance.name == "model" and self.fit.marginal is None:
            return cast(CovarianceOperator, self.fit.model_covariance)
        sandwich = sandwich_of_many(self.fit, self.own_covariance)
        return CovarianceMatrix(self.fixed_covariance) if sandwich is None else sandwich

    @property
    def fixed_covariance(self) -> FloatArray:
        """(P', P') covariance of the estimated parameters, excluding those of random
        effects.
        """
        count = int(np.count_nonzero(~self.fit.aliased))
        return self.whole_covariance[:count, :count]

    @cached_property
    def bias_reduced(self) -> BiasReduced | None:
        """The adjusted scores behind a CR2 covariance; None for other covariances, or
        with infinite estimates.
        """
        cluster = self.own_covariance.cluster
        if (
            self.own_covariance.name != "CR2"
            or cluster is None
            or self.fit.separation is not None
        ):
            return None
        return cast("BiasReduced", self.fit.likelihood.bias_reduced(cluster))

    # Likelihood

    @property
    def loglik(self) -> float:
        """Log-likelihood at the estimates."""
        return float(self.fit.loglik)

    @property
    def null_loglik(self) -> float:
        """Log-likelihood with thresholds (and offset) only."""
        return float(self.fit.null_loglik)

    @property
    def edf(self) -> float:
        """Number of estimated parameters, including those of the covariance of random
        effects.

        With smooth terms, effective degrees of freedom, corrected for estimated
        smoothing parameters [Wood, Pya and Saefken 2016, JASA 111, 1548-1563, section
        4], as in AIC() of R's mgcv; `smooths()` has those of each curve.
        """
        return self.fit.edf

    @property
    def df_residual(self) -> float:
        """nobs - edf."""
        return self.nobs - self.fit.edf

    @property
    def aic(self) -> float:
        """-2 loglik + 2 edf; UnavailableError unless the fit maximises the likelihood
        of independent observations.
        """
        return self._criterion("aic", 2.0)

    @property
    def bic(self) -> float:
        """-2 loglik + log(nobs) edf; UnavailableError as for `aic`."""
        return self._criterion("bic", float(np.log(self.nobs)))

    def _criterion(self, name: str, k: float) -> float:
        check_available(self, name)
        return k * self.fit.edf - 2.0 * self.loglik

    @property
    def deviance(self) -> float:
        """-2 loglik; a saturated model of single observations has loglik 0."""
        return -2.0 * float(self.loglik)

    # Questions

    def summary(
        self,
        section: str | None = None,
        *,
        exponentiate: bool | None = None,
        level: float = 0.95,
        per: Any = None,
        labels: Mapping[str, str] | None = None,
    ) -> Summary:
        """The summary: its text is str(), its tables are in `.tables`.

        Parameters
        ----------
        section : {"model", "fit", "errors", "margins", "bounds", "all"}, optional
            One section in full, or all; by default one screen with the most important
            results.
        exponentiate : bool, optional
            Whether to show exp() of the effects with confidence intervals: odds ratios
            (logit), hazard ratios (cloglog) or, for other links, exponentials. By
            default only the one-screen summary shows odds and hazard ratios.
        level : float in (0, 1)
            Confidence level of the intervals.
        per : dict of variable to number, or "sd", optional
            Change of numeric variables to which effects refer, as in `tidy`.
        labels : dict of str to str, optional
            Text for variables or terms, such as {"age": "Age (years)"}.

        Returns
        -------
        Summary
            Prints as text, and as HTML in a notebook; `.tables` has its data frames.

        Raises
        ------
        OptionError
            The section is unknown, or this fit does not have it.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp", data=datasets.load("wine"))
        >>> print(fit.summary("model"))  # doctest: +ELLIPSIS
        Cumulative link model: rating ~ temp
        ...
        """

        return likelihood_summary(self, section, exponentiate, level, per, labels)

    def summary_data(self) -> Report:
        """The whole summary as data."""
        return self.summary("all").report

    def tidy(
        self,
        conf_int: bool = True,
        exponentiate: bool = False,
        level: float = 0.95,
        per: Any = None,
    ) -> pd.DataFrame:
        """One row per parameter: term, estimate, std_error, statistic, p_value,
        conf_low, conf_high, coef_type.

        Under a CR2 covariance also df, the degrees of freedom of the t distribution.

        Parameters
        ----------
        conf_int : bool
            Whether to give confidence intervals.
        exponentiate : bool
            Ratios instead of effects, with their confidence intervals: odds ratios
            (logit), hazard ratios exp(-estimate) (cloglog), else exp(estimate).
            Thresholds stay; std_error, statistic and p_value are those of the
            coefficient.
        level : float
            Confidence level of the intervals.
        per : dict of variable to number, or "sd", optional
            Change of numeric variables to which effects refer: {"age": 10} multiplies
            the coefficients of age, their standard errors and limits by 10; "sd" is one
            standard deviation of each. `attrs["per"]` lists the terms.

        Returns
        -------
        pandas.DataFrame
            A row for each parameter, and for the standard deviations and correlations
            of random effects: term, estimate, std_error, statistic (z, or t), p_value,
            conf_low, conf_high, coef_type ("threshold", "location", "nominal", "scale",
            "sd", ...).

        Raises
        ------
        OptionError
            `per` names a variable that is not numeric or does not enter linearly
            (splines, logs, powers).

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> columns = ["term", "estimate", "conf_low", "conf_high"]
        >>> fit.tidy(exponentiate=True).round(2).loc[4:, columns]
                     term  estimate  conf_low  conf_high
        4    temp[T.warm]     12.22      4.34      34.44
        5  contact[T.yes]      4.61      1.81      11.73
        """

        from ..inference.tables import tidy_parameters

        return tidy_parameters(self, conf_int, exponentiate, level, per)

    def glance(self) -> pd.DataFrame:
        """One row of statistics of the whole fit.

        Returns
        -------
        pandas.DataFrame
            Columns nobs, edf (number of parameters), df_residual, loglik, null_loglik,
            aic and bic; lr_chi2, lr_df and lr_p_value, the likelihood-ratio test of all
            effects; mcfadden and nagelkerke; classification_error and absolute_error of
            the rows of the fit; converged. Robust standard errors give a Wald test
            instead: wald_chi2, wald_df and wald_p_value. A survey design or CR2 gives
            its F test: wald_F, wald_df, wald_df_resid and wald_p_value. aic and bic are
            NaN with robust standard errors and for penalised fits. Fits with random
            effects have no test and no R2.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.glance()[["nobs", "loglik", "aic", "mcfadden"]].round(3)
           nobs  loglik      aic  mcfadden
        0  72.0 -86.492  184.984     0.166
        """

        return likelihood_figures(self)

    def with_vcov(self, vcov: Any) -> Self:
        """The fit with another covariance for se, confint, summary, tidy, predict and
        Wald tests.

        Parameters
        ----------
        vcov : str, dict or matrix
            As in `vcov`, or a covariance matrix, such as that of a jackknife or a
            two-stage estimator. A matrix is a frame with the names of `fit.vcov()` on
            both sides, in any order, or an array in their order. Tests then use the
            normal distribution, and likelihood-ratio tests and profiles raise an error.

        Raises
        ------
        OptionError
            An unknown name, or HC1 with no more rows than parameters. A matrix that has
            another shape or other names, is not symmetric or is not positive
            semidefinite. A matrix for a fit with random effects, a survey design or
            infinite estimates.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> clustered = fit.with_vcov({"cluster": "judge", "type": "CR2"})
        >>> clustered.se.round(3)["temp[T.warm]"]
        np.float64(0.355)
        >>> doubled = fit.with_vcov(2 * fit.vcov())
        >>> round(doubled.se["temp[T.warm]"] / fit.se["temp[T.warm]"], 3)
        np.float64(1.414)
        """
        if is_matrix(vcov):
            estimated = np.array(self.parameters.names, dtype=object)[~self.fit.aliased]
            robust = given_covariance(vcov, list(estimated), self.fit, self.design)
        else:
            robust = chosen_covariance(vcov, self.design, self.method.penalty)
        chosen = replace(self, robust=robust)
        for category, message in chosen._covariance_alerts():
            warn(message, category)
        return chosen

    def confint(
        self, parm: Any = None, level: float = 0.95, type: str = "wald"
    ) -> pd.DataFrame:
        """Confidence intervals of `params`, with columns lower and upper.

        Parameters
        ----------
        parm : str, int or a sequence of them, optional
            Parameters by name (as in `params`, or as printed, "temp: warm"), by term,
            or by position in `params`, counted from 0. By default all. A number between
            0 and 1 is taken as the level: confint(0.9).
        level : float in (0, 1)
        type : {"wald", "profile"}
            "wald": estimate plus and minus the normal quantile (under CR2 and survey
            designs the t quantile) times the standard error. "profile": the values at
            which the log-likelihood, maximised over all other parameters, has fallen by
            half the chi-squared quantile.

        Returns
        -------
        pandas.DataFrame
            Profile limits are infinite if the estimate is, and NaN if the likelihood
            does not fall far enough. If the profile jumps over the level of a limit, as
            it may with scale effects, the limit is the place of the jump.
            `attrs["reasons"]` explains such limits, by (parameter, "lower" or "upper").

        Raises
        ------
        OptionError
            Unknown type or parameter, or level outside (0, 1); UnavailableError for
            profile limits with a robust covariance, a survey design or smooth terms.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.confint("temp", type="profile").round(3).to_numpy().tolist()
        [[1.51, 3.595]]
        """
        from ..inference.tables import confidence_limits

        return confidence_limits(self, parm, level, type)

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """statsmodels' name of `confint`: the level is 1 - alpha."""
        return self.confint(level=1.0 - alpha)

    def profile(
        self,
        parm: str | int | Sequence[str | int] | None = None,
        *,
        level: float = 0.99,
        points: int = 21,
    ) -> pd.DataFrame:
        """The profile likelihood of parameters, for plotting: if z is a straight line,
        Wald confidence intervals are accurate.

        Parameters
        ----------
        parm : str, int or a sequence of them, optional
            Parameters by name (as in `params`, or as printed, "temp: warm"), by term,
            or by position in `params`, counted from 0. By default all parameters.
        level : float in (0, 1)
            Values range over the profile confidence interval of this level. If a limit
            does not exist, they range up to 5 standard errors from the estimate, and
            for an infinite estimate to where the profile levels off.
        points : int
            Number of values for each parameter, half of them on either side of the
            estimate.

        Returns
        -------
        pandas.DataFrame
            One row per value: parameter, value, z (signed square root of the deviance),
            loglik. NaN beyond a limit that is not found; `attrs["notes"]` say which.

        Raises
        ------
        OptionError
            An unknown parameter, a level outside (0, 1), or fewer than 3 points.
        UnavailableError
            Robust standard errors, a survey design or smooth terms; a standard
            deviation or correlation of random effects.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.profile("temp", level=0.95, points=3)["z"].round(3).tolist()
        [-1.96, 0.0, 1.96]
        """

        from ..inference.tables import profiles

        return profiles(self, parm, level=level, points=points)

    def bootstrap(
        self,
        n: int = 1000,
        *,
        seed: int | np.random.Generator = 0,
        n_jobs: int = 1,
        cluster: Any = None,
        statistic: Callable[[Any], Any] | None = None,
        callback: Progress | None = None,
    ) -> Bootstrap:
        """Bootstrap estimates from resampled rows or clusters or, with random effects,
        from simulated responses.

        Parameters
        ----------
        n : int
            Number of replicates, at least 2.
        seed : int or numpy.random.Generator
            Seed of the draws; the result does not depend on `n_jobs`.
        n_jobs : int
            Number of processes, by joblib; -1 for all processors.
        cluster : str or values, optional
            Clusters to resample: a column of the data, or one value per row of the fit;
            by default the clusters of the fit. Leave it out with random effects: every
            replicate then simulates new effects for all groups and new responses from
            the fitted model (parametric bootstrap).
        statistic : callable(LikelihoodResults) -> number, Series or vector, optional
            Computed for each replicate instead of the estimates, such as `lambda fit:
            fit.aic`; resampled rows are case weights of that fit.
        callback : callable(step, total, message), optional
            Called after every replicate.

        Returns
        -------
        Bootstrap
            `.replicates`, `.se`, `.bias`, `.confint(level)`, and `.notes` on failed and
            separated replicates.

        Raises
        ------
        OptionError
            `n` below 2, `n_jobs` of 0, or clusters or case weights with random effects.
        DataError
            Fewer than 2 clusters to draw from.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> draws = fit.bootstrap(20, cluster="judge")
        >>> draws.replicates.shape, draws.drawn
        ((20, 6), '9 clusters')
        """
        from ..inference.bootstrap import bootstrapped

        return bootstrapped(
            self,
            n,
            seed=seed,
            n_jobs=n_jobs,
            cluster=cluster,
            statistic=statistic,
            callback=callback,
        )

    def draws(
        self,
        n: int = 4000,
        *,
        prior: Mapping[str, tuple[float, float]] | None = None,
        seed: int | np.random.Generator = 0,
        callback: Progress | None = None,
    ) -> Draws:
        """Draws from the posterior distribution of the parameters, by importance
        sampling around the estimates.

        Draws from a t distribution with 7 degrees of freedom are weighted by the ratio
        of posterior and proposal density. The weights are Pareto-smoothed [Vehtari,
        Simpson, Gelman, Yao and Gabry 2024, Journal of Machine Learning Research 25,
        72]. Needs the package arviz-stats.

        Parameters
        ----------
        n : int
            Number of draws, at least 100.
        prior : mapping of str to (mean, standard deviation), optional
            Independent normal priors of parameters, by their names in `params` or as
            printed; other parameters have flat priors. The penalty of a penalised fit
            acts as a prior too: a ridge as a normal prior, "jeffreys" as Jeffreys'
            prior.
        seed : int or numpy.random.Generator
        callback : callable(step, total, message), optional
            Called after every draw.

        Returns
        -------
        Draws
            `.interval(function)`: means and credible intervals of any function of the
            parameters; `.probability(condition)`; `.frame` and `.weights`.

        Raises
        ------
        OptionError
            A prior is for an unknown parameter, or is not a mean and a positive
            standard deviation; `n` is below 100.
        UnavailableError
            Infinite estimates, random effects, a survey design, robust standard errors,
            or data in blocks.
        ImportError
            arviz-stats is not installed.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> draws = fit.draws(prior={"temp[T.warm]": (0.0, 1.0)}, seed=1)
        >>> draws.interval().round(1).loc["temp[T.warm]"].tolist()
        [2.0, 2.0, 0.4, 1.2, 2.9]
        """
        from ..inference.draws import posterior_draws

        return posterior_draws(self, n, prior, seed, callback)

    def predict(
        self,
        newdata: Any = None,
        type: str = "class",
        *,
        se: bool = False,
        interval: str | None = None,
        level: float = 0.95,
        vcov: Any = None,
        cost: Any = None,
        re: str | None = None,
        at: Any = None,
        interpolate: bool = False,
    ) -> Any:
        """Predict new rows, or the rows of the fit, optionally with standard errors and
        confidence intervals.

        Parameters
        ----------
        newdata : data frame, optional
            With the columns of the formula; the response is ignored (except for
            "margin"). None means the rows of the fit.
        type : str
            "class": the level of smallest expected cost. "prob": P(response = level).
            "cum_prob": P(response <= level). "score": H, larger for higher levels.
            "linear_predictor": s (threshold - H), one column per threshold, whose F is
            the cumulative probability. "hazard" (sequential models): P(response =
            level) among observations that reach the level. "margin": left and right
            margin; needs the response.

            "mean": the expected label, if all labels are numbers in increasing order
            (not text such as "1"), else the expected rank. "mean_class": the expected
            rank, 1 to K, for any labels. "quantile": the lowest level with P(response
            <= level) >= `at`. "exceed": P(response >= at).
        se : bool
            Add the standard errors; not for "quantile", which has confidence intervals
            only.
        interval : "confidence", optional
            Add confidence intervals by the delta method: of the probability, score,
            mean or quantile, not of the response itself. Those of probabilities are
            computed on the logit scale, so that they stay between 0 and 1. So are those
            of means, as shares of the range of the levels. For other types intervals
            are symmetric. Limits of a quantile are where those of P(response <= level)
            reach `at`.
        level : float in (0, 1)
            Confidence level of the intervals.
        vcov : str or dict, optional
            Covariance of the parameters, as in `vcov`.
        cost : str or K x K matrix, optional
            Cost that the predicted class minimises, instead of the cost of the fit;
            nothing is refitted. Also "kappa" and the other measures over all rows of
            `ordfit`, computed from the rows of the fit.
        re : {"mode", "zero", "marginal"}, optional
            With random effects: predict at their conditional modes (groups of the fit
            only), at zero, or averaged over the population of groups. By default modes
            for groups of the fit and averages for new groups, as in `errors(newdata)`.
        at : number, label or list of these, optional
            For "quantile", probabilities in (0, 1); by default 0.5, the median. For
            "exceed", levels, or any numbers if the labels are numbers; by default every
            level above the lowest. A list gives a column for each value.
        interpolate : bool
            Whether quantiles are interpolated between levels, as by default in R's rms.

        Returns
        -------
        pandas.Series or pandas.DataFrame
            One row per row of `newdata`, with its index; NaN if an input is missing.
            With `se` or `interval` the columns are "estimate", "std_error", "lower" and
            "upper" if there is one prediction per row, as for "score", "mean" and a
            single value of `at`. For other types the columns are pairs of these and a
            level (or threshold), so that `out["lower"]` is a frame like
            `out["estimate"]`. Standard errors and limits are NaN if a prediction
            depends on an infinite estimate.

        Raises
        ------
        OptionError
            Unknown type, or standard errors for a type that has none.
        DataError
            `newdata` lacks a column or has an unseen level.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", data=wine)
        >>> out = fit.predict(wine.head(2), type="prob", se=True, interval="confidence")
        >>> out["std_error"].round(4).loc[0].tolist()
        [0.0848, 0.0868, 0.0639, 0.0138, 0.0048]
        >>> fit.predict(wine.head(3), cost="absolute").tolist()
        [2, 2, 3]
        >>> above = fit.predict(wine, type="exceed", at=4, interval="confidence")
        >>> above.head(1).round(3)
           estimate  lower  upper
        0      0.03   0.01  0.092
        >>> mixed = ordfit("rating ~ temp + contact + (1 | judge)", data=wine[:64])
        >>> # the ninth judge is new
        >>> mixed.predict(wine[70:], "mean", re="marginal").round(2).tolist()
        [3.83, 3.83]
        """
        from ..inference.predictions import prediction_with_errors

        return prediction_with_errors(
            self,
            newdata,
            type,
            se=se,
            interval=interval,
            level=level,
            vcov=vcov,
            cost=cost,
            re=re,
            at=at,
            interpolate=interpolate,
        )

    def marginal_effects(
        self,
        variables: str | Sequence[str] | None = None,
        *,
        scale: str | Mapping[str, Any] = "prob",
        contrast: str = "reference",
        change: Any = None,
        at: str | Mapping[str, Any] | None = None,
        by: str | Sequence[str] | None = None,
        newdata: Any = None,
        weights: Any = None,
        data: Any = None,
        level: float = 0.95,
        vcov: Any = None,
        re: str | None = None,
    ) -> MarginalEffects:
        """Marginal effects of variables of the formula: differences between levels of
        factors, derivatives with respect to numbers.

        The variable is changed in the data and the model matrix is rebuilt, so that
        interactions, splines and transforms follow. Effects are averaged over the rows
        with their weights (average marginal effects, standardisation or g-computation),
        or computed at chosen values.

        Parameters
        ----------
        variables : str or sequence of str, optional
            Columns of the data; by default all variables of the right-hand sides.
        scale : str or mapping
            "prob": P(response = level), an effect for each level. "cum_prob":
            P(response <= level), an effect for each level except the highest;
            "exc_prob": P(response > level). "mean": the expected label, if the labels
            are numbers in increasing order, else the expected rank; "mean_class": the
            expected rank, 1 to K. {"exceed": value}: P(response >= value); {"quantile":
            share}: the quantile of the averaged probabilities, interpolated between
            numeric labels (for numeric variables give `change=`); both also at several
            values. "latent": s (H - mean threshold), the latent variable in units of
            the scale of each row. "log_odds": log odds of a response above each
            threshold; "odds": their ratios, exp() of the average difference.
        contrast : {"reference", "sequential", "pairwise"}
            For factors: each level against the first, against the one before, or all
            pairs.
        change : number, str, sequence or mapping, optional
            The change of numeric variables, instead of the derivative: a number to add
            in each row; "sd", add a standard deviation; "iqr", first to third quartile;
            "minmax", smallest to largest value. Two or more values are compared, [20,
            60], also for factors. A dict {"age": 10, "income": "iqr"} gives a change
            for each variable.
        at : {"mean", "median", "rows"} or mapping, optional
            Where to compute effects, instead of the average over all rows: "mean" (or
            "median") is one row with numbers at their weighted mean (or median) and
            factors at their most frequent level, within each group of `by`; "rows" is
            every row separately. A mapping sets variables in all rows and averages,
            {"age": [30, 60]}, for every combination of the values; values of numbers
            may be "mean" and "median".
        by : str or sequence of str, optional
            Columns of the data; averages are over the rows with each of their values.
        newdata : data frame, optional
            Rows to average over; by default the rows of the fit.
        weights : str or (N,) array, optional
            Case weights of `newdata`.
        data, level, vcov, re
            As in `emmeans`.

        Returns
        -------
        MarginalEffects
            Prints as a table with notes. `.frame` is that table; `.contrasts()`
            compares the effects between the values of `by` and `at`.

        Raises
        ------
        OptionError
            Unknown scale, contrast, change, `at` or variable.
        DataError
            The data of the fit are missing or have changed, or a change leaves the
            range of a transform.

        Notes
        -----
        Standard errors use the delta method and treat the rows as fixed, as R's
        marginaleffects and Stata's `margins` do by default. Under survey designs and
        CR2 covariances tests use the t distribution.

        References
        ----------
        Long & Freese (2014), Regression models for categorical dependent variables
        using Stata, ch. 7.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> anes = datasets.load("anes96")
        >>> fit = ordfit("PID ~ vote + age + income", anes)
        >>> effects = fit.marginal_effects("age", scale="mean_class").frame
        >>> effects[["contrast", "estimate", "std_error"]].round(4)
          contrast  estimate  std_error
        0    dY/dX   -0.0061     0.0025
        >>> at = {"age": [30, 60]}
        >>> effects = fit.marginal_effects("vote", at=at, scale="exc_prob").frame
        >>> effects["estimate"].round(3).tolist()[:3]
        [0.312, 0.605, 0.751]
        """
        from ..effects.margins import marginal_effects

        return marginal_effects(
            self,
            variables,
            scale=scale,
            contrast=contrast,
            change=change,
            at=at,
            by=by,
            newdata=newdata,
            weights=weights,
            data=data,
            level=level,
            vcov=vcov,
            re=re,
        )

    def emmeans(
        self,
        variables: str | Sequence[str],
        *,
        by: str | Sequence[str] | None = None,
        scale: str | Mapping[str, Any] = "latent",
        at: Mapping[str, Any] | None = None,
        weights: str = "equal",
        data: Any = None,
        level: float = 0.95,
        vcov: Any = None,
        re: str | None = None,
    ) -> Emmeans:
        """Estimated marginal means over a balanced grid of the variables.

        The grid has all levels of every factor, and every numeric variable at its
        weighted mean. Predictions on the chosen scale are averaged within the cells. R
        keeps both values of a number with two values; give them in `at` to do the same.

        Nested factors are found as in R's emmeans. A factor is nested if each of its
        levels occurs with one level of the outer factor, or if it is in the formula
        only within the outer one (`a + a:b`). Means of the inner factor name the outer
        level; other means average the inner levels within each outer level. Give `by=`
        for contrasts within outer levels.

        Parameters
        ----------
        variables : str or sequence of str
            Variables of the formula; one mean per combination of their levels. Or a
            formula as in R, "~ a * b | c", where c goes to `by`, or with contrasts,
            "pairwise ~ a | c"; "~ 1" is the mean of the whole grid.
        by : str or sequence of str, optional
            Additional variables; contrasts are within their levels.
        scale : str or mapping
            "latent": the mean of the latent variable minus the mean threshold, in units
            of its scale. If the scale varies, the unit is its geometric mean over the
            grid, as in R, so that differences of means reflect location only (R gives
            contrasts in units of scale 1). There is no mean if a scale has no finite
            ratio to the geometric mean. Nominal effects use the thresholds of each row
            (R averages them over the grid, which hides such effects). "prob",
            "cum_prob", "exc_prob", "mean", "mean_class", {"exceed": value},
            {"quantile": share}, "log_odds", "odds": as in `marginal_effects`.
        at : mapping, optional
            Values of variables of the grid: {"age": [30, 50]}.
        weights : {"equal", "proportional", "cells"}
            Weights of the grid rows within a cell: "equal"; "proportional" to the
            frequency, in the data, of the combination of the other variables; "cells":
            frequency of the grid row itself. Frequencies are sums of case weights (for
            clm R's emmeans counts rows).
        data : data frame, optional
            The data of the fit, if it was saved without them.
        level : float in (0, 1)
            Confidence level of the intervals.
        vcov : str or dict, optional
            Covariance of the parameters, as in `vcov`.
        re : {"marginal", "zero"}, optional
            With random effects: average over the population of groups, or set the
            effects to 0. By default "marginal" on scales of probabilities and ranks,
            "zero" on others (latent means are equal under both).

        Returns
        -------
        Emmeans
            Prints as a table with notes on what was averaged, and whether an averaged
            factor is part of an interaction. `.frame` is the table; `.contrasts()`
            gives the differences of its rows.

        Raises
        ------
        OptionError
            Unknown scale or variable, or no variable besides those in `by`.
        DataError
            The data of the fit are missing or have changed.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> means = fit.emmeans("temp")
        >>> means.frame["estimate"].round(4).tolist()
        [-1.331, 1.1721]
        >>> columns = ["contrast", "estimate", "std_error"]
        >>> means.contrasts()[columns].round(4).values.tolist()
        [['cold - warm', -2.5031, 0.5287]]
        >>> wine = datasets.load("wine")
        >>> judges = ordfit("rating ~ temp + contact + (1 | judge)", data=wine)
        >>> judges.emmeans("temp", scale="mean").frame["estimate"].round(4).tolist()
        [2.3528, 3.4839]
        >>> means = judges.emmeans("temp", scale="mean", re="zero").frame
        >>> means["estimate"].round(4).tolist()
        [2.3396, 3.4799]
        """
        from ..effects.emmeans import marginal_means

        return marginal_means(
            self,
            variables,
            by=by,
            scale=scale,
            at=at,
            weights=weights,
            data=data,
            level=level,
            vcov=vcov,
            re=re,
        )

    def emtrends(
        self,
        variables: str | Sequence[str],
        var: str,
        *,
        by: str | Sequence[str] | None = None,
        at: Mapping[str, Any] | None = None,
        scale: str | Mapping[str, Any] = "latent",
        weights: str = "equal",
        data: Any = None,
        level: float = 0.95,
        vcov: Any = None,
        re: str | None = None,
    ) -> Emmeans:
        """Slopes of a numeric variable within levels of other variables, over the grid
        of `emmeans`.

        The derivative of the means of `emmeans` with respect to `var`, at its mean or
        at the values of `at`. Transforms, splines and interactions of `var` follow. For
        scale="odds" it is the odds ratio of one unit.

        Parameters
        ----------
        variables : str or sequence of str
            Variables of the formula, or a formula of them, as in `emmeans`; one slope
            per combination of their levels.
        var : str
            The numeric variable whose slopes are computed.
        by, at, scale, weights, data, level, vcov, re
            As in `emmeans`.

        Returns
        -------
        Emmeans
            Prints as a table with notes; `.frame` is that table,
            `.contrasts("pairwise")` compares the slopes.

        Raises
        ------
        OptionError
            `var` is a factor, not in the formula, or among `variables`; or as in
            `emmeans`.
        DataError
            The data of the fit are missing or have changed.

        References
        ----------
        R's emmeans, `emtrends`, whose slopes are differences over a thousandth of the
        range of `var`.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> anes = datasets.load("anes96")
        >>> fit = ordfit("PID ~ vote * age", anes)
        >>> slopes = fit.emtrends("vote", "age")
        >>> slopes.frame["estimate"].round(4).tolist()
        [-0.0138, -0.0042]
        >>> columns = ["contrast", "estimate", "p_value"]
        >>> slopes.contrasts().round(4)[columns].values.tolist()
        [['Clinton - Dole', -0.0096, 0.1928]]
        """
        from ..effects.emmeans import marginal_means

        return marginal_means(
            self,
            variables,
            var=var,
            by=by,
            at=at,
            scale=scale,
            weights=weights,
            data=data,
            level=level,
            vcov=vcov,
            re=re,
        )

    def superiority(
        self,
        variable: str,
        *,
        average: str = "standardised",
        contrast: str = "reference",
        levels: Sequence[Any] | None = None,
        better: str = "higher",
        by: str | Sequence[str] | None = None,
        newdata: Any = None,
        weights: Any = None,
        data: Any = None,
        level: float = 0.95,
        vcov: Any = None,
        re: str | None = None,
    ) -> Superiority:
        """Win probabilities between the levels of a column, with win odds, win
        differences and numbers needed to treat.

        The win probability is the probability that an observation at one level of the
        column has a better response than one at the other level, counting ties as half.
        The column is set to each level in all rows, and the response probabilities are
        predicted.

        Parameters
        ----------
        variable : str
            Column of the formula, such as the arm of a trial.
        average : {"standardised", "conditional"}
            "standardised": probabilities are averaged over the rows and then compared,
            as for two random patients of the same population. "conditional": each row
            is compared with itself at the other level, as for two patients with equal
            covariates, and the win probabilities are averaged.
        contrast : {"reference", "sequential", "pairwise"}
            Each level against the first, against the one before, or all pairs. p-values
            are not adjusted.
        levels : sequence, optional
            Values to compare, the reference first; by default the levels of a factor,
            or the two values of a binary number.
        better : {"higher", "lower"}
            Which responses win.
        by : str or sequence of str, optional
            Columns of the data; averages are over the rows with each of their values.
        newdata, weights, data, level, vcov, re
            As in `marginal_effects`. Unless `re` is given, probabilities are averaged
            over the population of groups of random effects, so that observations from
            different groups are compared.

        Returns
        -------
        Superiority
            Prints as a table with notes; `.frame` is that table, with rows "win
            probability" c, "win odds" c / (1 - c), "win difference" 2c - 1 and "NNT",
            1 / (2c - 1), for each comparison. `.contrasts()` compares the win
            probabilities of the groups of `by`.

        Raises
        ------
        OptionError
            An unknown column, level or average, or `levels` is missing for a number
            with more than two values.
        DataError
            The data of the fit are missing or have changed; or very many levels are
            compared row by row (average="conditional").

        Notes
        -----
        With `nominal="~ arm"` and no other term the win probability is the Mann-Whitney
        statistic of the two arms. Standard errors treat the rows as fixed.

        References
        ----------
        Brunner, Vandemeulebroecke & Muetze (2021), Win odds: an adaptation of the win
        ratio to include ties, Statistics in Medicine 40, 3367-3384.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> table = fit.superiority("temp").frame[:2]
        >>> table[["measure", "estimate", "lower", "upper"]].round(3).values.tolist()
        [['win probability', 0.797, 0.693, 0.872], ['win odds', 3.92, 2.26, 6.799]]
        """
        from ..effects.superiority import superiority

        return superiority(
            self,
            variable,
            average=average,
            contrast=contrast,
            levels=levels,
            better=better,
            by=by,
            newdata=newdata,
            weights=weights,
            data=data,
            level=level,
            vcov=vcov,
            re=re,
        )

    def subgroups(
        self,
        variable: str,
        subgroups: str | Sequence[str],
        *,
        measure: str = "ratio",
        levels: Sequence[Any] | None = None,
        better: str = "higher",
        level: float = 0.95,
        vcov: Any = None,
    ) -> NotedFrame:
        """Subgroup analysis of the effect of a column, with tests of interaction;
        `plot.subgroups` draws it.

        For each subgroup column the model is refitted with the interaction of both
        columns; effects are averages over the rows of each level.

        Parameters
        ----------
        variable : str
            Column of the formula, such as the arm of a trial. If its effects are
            nominal, so are those of the interactions.
        subgroups : str or sequence of str
            Columns of the data: factors, or numbers with two values. They need not be
            in the formula.
        measure : {"ratio", "win odds"}
            "ratio": odds ratio (logit) or hazard ratio (cloglog). "win odds": as in
            `superiority`, standardised; for any link, and with nominal effects.
        levels : sequence, optional
            The two levels to compare, the reference first; by default those of a column
            that has two.
        better : {"higher", "lower"}
            Which responses win.
        level : float in (0, 1)
            Confidence level of the intervals.
        vcov : str or dict, optional
            Covariance of the parameters, as in `vcov`.

        Returns
        -------
        NotedFrame
            A data frame that prints its notes: a row for all data by this fit, then one
            for each level of each subgroup column. Columns subgroup, level, n (sum of
            the case weights), estimate, lower, upper, interaction_p_value (Wald test
            that the effects in all levels are equal).

        Raises
        ------
        OptionError
            A subgroup column has many values; or measure="ratio" with another link,
            nominal effects or scale effects.
        DataError
            The data of the fit are missing or have changed.

        References
        ----------
        Wang et al. (2007), Statistics in medicine: reporting of subgroup analyses in
        clinical trials, New England Journal of Medicine 357, 2189-2194: effects within
        each level, and one test of interaction for each subgroup.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> table = fit.subgroups("temp", "contact")
        >>> table[["level", "estimate", "interaction_p_value"]].round(2).values.tolist()
        [['', 12.22, nan], ['no', 10.19, 0.7], ['yes', 14.6, 0.7]]
        """
        from ..effects.subgroups import subgroup_effects

        return subgroup_effects(
            self,
            variable,
            subgroups,
            measure=measure,
            levels=levels,
            better=better,
            level=level,
            vcov=vcov,
        )

    def simulate(
        self, n: int = 1, seed: int | np.random.Generator = 0, newdata: Any = None
    ) -> pd.DataFrame:
        """Draw responses from the fitted probabilities.

        Random effects are drawn anew for every group and simulation; rows with the same
        new label form one group.

        Parameters
        ----------
        n : int
            Number of responses for every row.
        seed : int or numpy.random.Generator
        newdata : data frame, optional
            Rows to simulate; by default the rows of the fit.

        Returns
        -------
        pandas.DataFrame
            Columns sim_1, ..., sim_n: ordered categoricals of the levels of the
            response, on the index of the rows; NaN if an input is missing.

        Raises
        ------
        OptionError
            `n` below 1.
        DataError
            Nominal effects make thresholds cross, so that some probabilities are
            negative.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.simulate(n=2, seed=1).shape
        (72, 2)
        """
        from ..inference.predictions import simulated

        self.require_available("simulate()", newdata is not None)
        return simulated(self, n, seed, newdata)

    def test(
        self, hypotheses: str | Sequence[str], *, vcov: Any = None
    ) -> pd.DataFrame:
        """Wald tests of linear hypotheses on the parameters.

        Parameters
        ----------
        hypotheses : str or sequence of str
            Terms or parameters whose coefficients are tested against 0: "temp",
            ["temp", "contact"]. Or equations separated by commas: "temp = contact",
            "temp[T.warm] = 0, contact[T.yes] = 1.5", "2 * x1 - x2 = 1", with parameters
            named as in `params` or as printed ("temp: warm = 0"), or by their term if
            it has one column. Terms and equations can be mixed: "x = 0, temp".
        vcov : str or dict, optional
            As in `vcov`.

        Returns
        -------
        pandas.DataFrame
            One row per equation, and a row "joint" if there are several, as for a
            factor of several columns. Columns difference (left minus right side),
            std_error, df, chisq and p_value; with a survey design or CR2 difference,
            std_error, df, df_resid, F and p_value.

        Raises
        ------
        OptionError
            An equation cannot be read or is not linear, or a name is not in the model.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.test("temp = contact").round(4).loc["temp = contact"].tolist()
        [0.9753, 0.6406, 1.0, 2.3178, 0.1279]
        """
        from ..inference.wald import hypothesis_tests

        return hypothesis_tests(self, hypotheses, vcov=vcov)

    def anova(self, *others: Any, type: str = "I") -> pd.DataFrame:
        """Likelihood-ratio tests against other fits, or Wald tests of the location
        terms of this fit.

        Parameters
        ----------
        *others : LikelihoodResults
            Fits of the same rows, each nested in the next larger one.
        type : {"I", "II", "III", "baseline"}
            Without other fits: each term adjusted for the terms before it (I), for all
            terms that do not contain it (II), or for all others. In type II a term
            contains another as in SAS: it has the same numeric variables and more
            factors, so that g:x contains x but not g, and x:z contains neither. As in
            R, I(x^2) is a separate number: x is adjusted for it. For a term in an
            interaction, "III" tests the average of its effect over the levels of the
            other factors (also called "balanced"). So do SAS, car with sum contrasts
            and R's ordinal since 2025. Type "baseline" tests the effect at their first
            levels, R's earlier type III.

        Returns
        -------
        pandas.DataFrame
            With others, smallest model first: no_par, aic, loglik, and against the row
            above lr_stat, df, p_value. With random effects p_value follows the mixture
            named in column distribution, as a variance of 0 in the smaller model is at
            its boundary; p_chi2 is from the chi-squared distribution. Without others,
            one row per term: df, chisq, p_value, by the covariance of the fit (see
            `with_vcov`); with a survey design, or CR2, F tests: df, df_resid, F,
            p_value. `attrs["notes"]` reports non-nested models and infinite estimates.

        Raises
        ------
        DataError
            The fits do not have the same rows.
        UnavailableError
            Comparison of fits with robust standard errors, a survey design, a penalty
            or smooth terms, which have no likelihood-ratio test; any anova() of a fit
            with smooth terms.

        Notes
        -----
        Types I and II use the case weights, so that a weight equals repeated rows (R
        ignores weights in these contrasts). No type depends on the coding of factors.
        Types "III" and "baseline" are NaN if a cell is empty, except for terms that are
        not part of another.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.anova(fit.update("~ . - contact")).round(4)["lr_stat"].tolist()
        [nan, 11.043]
        >>> fit.anova(type="III").round(3)["chisq"].to_dict()
        {'temp': 22.417, 'contact': 10.275}
        """
        from ..inference.comparison import likelihood_ratio_tests
        from ..inference.wald import wald_anova

        return (
            likelihood_ratio_tests([self, *others])
            if others
            else wald_anova(self, type)
        )

    def joint_tests(
        self,
        by: str | Sequence[str] | None = None,
        *,
        at: Mapping[str, Any] | None = None,
        data: Any = None,
        vcov: Any = None,
    ) -> NotedFrame:
        """Wald tests of every term: do the latent means of `emmeans` differ at all?

        A main effect compares means over the other variables with equal weights, an
        interaction differences in differences; with `by`, at each of its levels
        ("simple effects"). Nested factors are compared within the outer factor. Numbers
        are compared one unit below and above their mean, within the range of the data;
        for a spline this tests one direction only, and a note says so. If no cell is
        empty, tests of factors equal `anova(type="III")`.

        Parameters
        ----------
        by : str or sequence of str, optional
            Test the other variables at each level of these.
        at : mapping, optional
            Values of variables of the grid.
        data, vcov
            As in `emmeans`.

        Returns
        -------
        NotedFrame
            A data frame that prints its notes: term, the columns of `by`, df, chisq
            (R's F.ratio times df1), p_value; with a survey design, or CR2, df,
            df_resid, F, p_value, as in `anova`. With empty cells or infinite estimates,
            only contrasts that do not need them are tested, so that df is lower. It is
            0 if no contrast is left, or if a scale of the grid has no finite estimate.

        Raises
        ------
        OptionError
            Unknown variable, no variable besides those in `by`, or none that affects
            the location.
        DataError
            The data of the fit are missing or have changed.

        References
        ----------
        R's emmeans, `joint_tests`.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp * contact", datasets.load("wine"))
        >>> fit.joint_tests().round(3)[["term", "df", "chisq"]].values.tolist()
        [['temp', 1, 22.419], ['contact', 1, 10.286], ['temp:contact', 1, 0.151]]
        >>> tests = fit.joint_tests(by="contact").round(2)
        >>> tests[["term", "contact", "chisq"]].values.tolist()
        [['temp', 'no', 10.97], ['temp', 'yes', 14.57]]
        """
        from ..effects.emmeans import joint_tests

        return joint_tests(self, by, at=at, data=data, vcov=vcov)

    def drop1(
        self,
        scope: str | Sequence[str] | None = None,
        *,
        test: str | None = "LR",
        k: float = 2.0,
    ) -> pd.DataFrame:
        """Drop each term in turn, as R's drop1().

        Parameters
        ----------
        scope : str or sequence of str, optional
            Location terms, or a formula of them, "~ x1 + x2"; by default all terms that
            are not part of another term. The remaining terms are coded as in a fit
            without the dropped one: if a dropped factor is part of an interaction, the
            interaction absorbs its effect, and df is 0.
        test : {"LR", "Chisq", None}
            "LR" (or "Chisq") for likelihood-ratio tests, None for the criterion only.
        k : float
            Penalty per parameter in the criterion (2: AIC, log(n): BIC).

        Returns
        -------
        pandas.DataFrame
            Rows "<none>" and the terms; columns df, aic, lrt, p_value. NaN if a model
            has no maximum.

        Raises
        ------
        UnavailableError
            Robust standard errors, a survey design or a penalty (use
            `anova(type="II")`), or smooth terms.

        Notes
        -----
        Random terms stay in the model, even for columns of a dropped term, with the
        same quadrature; `anova` compares random terms.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.drop1()["lrt"].round(3).to_dict()
        {'<none>': nan, 'temp': 26.928, 'contact': 11.043}
        """
        from ..inference.single_terms import dropped_terms

        return dropped_terms(self, scope, test=test, k=k)

    def add1(
        self, scope: str | Sequence[str], *, test: str | None = "LR", k: float = 2.0
    ) -> pd.DataFrame:
        """Add each term of a scope in turn, as R's add1().

        Parameters
        ----------
        scope : str or sequence of str
            A formula, "~ . + x3 + x4", or terms. A term is tried if the model has all
            terms that it contains.
        test, k : see `drop1`

        Returns
        -------
        pandas.DataFrame
            As `drop1`.

        Raises
        ------
        DataError
            A term is missing in some rows of the fit, or the data are missing or have
            changed.
        OptionError
            The model has all terms of the scope already.
        UnavailableError
            As `drop1`.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp", data=datasets.load("wine"))
        >>> fit.add1("~ . + contact").round(3)
                  df      aic     lrt  p_value
        <none>   NaN  194.027     NaN      NaN
        contact  1.0  184.984  11.043    0.001
        """
        from ..inference.single_terms import added_terms

        return added_terms(self, scope, test=test, k=k)

    def step(self, scope: Any = None, *, k: float = 2.0) -> StepwiseSelection:
        """Drop and add location terms one at a time while AIC falls, as R's step().

        Terms that add no parameter (df 0) are dropped first.

        Parameters
        ----------
        scope : str or {"lower": str, "upper": str}, optional
            Formula of the largest model; "lower" has the terms that must stay. Without
            a largest model terms are only dropped.
        k : float
            Penalty per parameter (2: AIC, log(n): BIC).

        Returns
        -------
        StepwiseSelection
            The chosen `fit` and the `trace` of steps. P-values and intervals do not
            account for the selection.

        Raises
        ------
        OptionError
            A negative `k`.
        UnavailableError
            As for `drop1`.
        DataError
            A term has missing values in some rows: models must be compared on the same
            rows.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> ordfit("rating ~ temp * contact", wine).step().trace["change"].tolist()
        ['', '- temp:contact']
        """
        from ..inference.stepwise import stepwise

        return stepwise(self, scope, k=k)

    def nominal_test(self, scope: str | Sequence[str] | None = None) -> pd.DataFrame:
        """Tests of proportional odds: refit the model with a separate effect of each
        term, in turn, at every threshold.

        Parameters
        ----------
        scope : str or sequence of str, optional
            Terms; by default all location and scale terms without nominal effects.

        Returns
        -------
        pandas.DataFrame
            Likelihood-ratio tests: rows "<none>" and the terms; columns df, loglik,
            aic, lrt, p_value, as R's nominal_test(). An interaction gets separate
            effects together with the terms that it contains, which a note names. In R
            it gets them alone: R's test of an interaction has fewer df and depends on
            the origin of a numeric variable. NaN if the wider model has no finite
            maximum; `attrs["notes"]` has the reason.

            With clusters, robust standard errors or a survey design the tests are Wald
            tests, with the covariance of the fit. They test whether the effects of a
            location term are equal at all thresholds. Rows are the terms and "omnibus"
            for all of them; columns df, chisq (or df_resid and F), p_value.

        Raises
        ------
        UnavailableError
            A penalty or smooth terms.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.nominal_test()["p_value"].round(3).to_dict()
        {'<none>': nan, 'temp': 0.365, 'contact': 0.904}
        """

        from ..inference.proportionality import nominal_tests

        return nominal_tests(self, scope)

    def scale_test(self, scope: str | Sequence[str] | None = None) -> pd.DataFrame:
        """Likelihood-ratio tests of equal scale: add an effect of each location term,
        in turn, on the log scale.

        As R's scale_test().

        Parameters
        ----------
        scope : str or sequence of str, optional
            Terms; by default all location terms without scale effects.

        Returns
        -------
        pandas.DataFrame
            Rows "<none>" and the terms; columns df, loglik, aic, lrt, p_value.
            Interactions are tested as in `nominal_test`.

        Raises
        ------
        UnavailableError
            Robust standard errors, a survey design, a penalty or smooth terms.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.scale_test().round(3)
                  df  loglik      aic    lrt  p_value
        <none>   NaN -86.492  184.984    NaN      NaN
        temp     1.0 -86.439  186.879  0.105    0.746
        contact  1.0 -86.355  186.711  0.273    0.601
        """

        from ..inference.proportionality import scale_tests

        return scale_tests(self, scope)

    def score_test(self) -> pd.DataFrame:
        """Score tests of proportional odds: is an effect the same at every threshold?
        Nothing is refitted.

        Returns
        -------
        pandas.DataFrame
            One row per term and "omnibus" for all jointly; columns df, chisq, p_value,
            NaN if the response is separated.

        Raises
        ------
        UnavailableError
            Robust standard errors, a survey design, a penalty, random effects, smooth
            terms, a response of 2 levels, no location effects, structured thresholds,
            or a link with a parameter.

        Notes
        -----
        U' J^-1 U with the score U and expected information J of the model with
        threshold-specific effects, at the estimates of this fit [Peterson and Harrell
        1990]; for very many rows J is the observed information. A term is tested with
        the terms that it contains, so the test depends neither on the coding of factors
        nor on the origin of numeric variables.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.score_test()["df"].tolist()
        [3, 3, 6]
        """

        from ..inference.proportionality import score_tests

        return score_tests(self)

    def brant(self) -> pd.DataFrame:
        """Brant's test of proportional odds: are the K-1 separate regressions of "above
        level k" parallel?

        Returns
        -------
        pandas.DataFrame
            One row per term and "omnibus"; columns df, chisq, p_value. NaN, with
            `attrs["notes"]`, if one of the regressions has infinite estimates;
            `attrs["coefficients"]` holds the effects at each threshold.

        Raises
        ------
        OptionError
            Another method than a cumulative link model.
        UnavailableError
            As for `score_test`; nominal or scale effects.

        Notes
        -----
        Wald tests with the joint covariance of the separate estimates [Brant 1990], for
        all links.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("PID ~ selfLR + age", data=datasets.load("anes96"))
        >>> fit.brant().round(3)
                 df   chisq  p_value
        selfLR    5  46.921    0.000
        age       5  19.431    0.002
        omnibus  10  75.670    0.000
        """

        from ..inference.brant import brant_tests

        return brant_tests(self)

    def residuals(
        self, type: str = "surrogate", seed: int | np.random.Generator = 0
    ) -> pd.Series:
        """One residual per row: positive if the level is higher than expected. Except
        for "deviance", the mean is 0 if the model is true.

        Parameters
        ----------
        type : str
            "surrogate": a latent error drawn given the observed level, minus the mean
            of the latent distribution (the median for cauchit), in units of the scale
            of the row. If the model is true they are a sample from the centred latent
            distribution, so use any plot for continuous residuals [Liu & Zhang 2018].
            "probability-scale": P(Y < y) - P(Y > y) [Li & Shepherd 2012].
            "generalised": derivative of the row's log-likelihood with respect to its
            score H [Gourieroux et al. 1987]. "deviance": square root of -2 log P(Y = y)
            with the sign of "probability-scale"; the weighted squares sum to
            `deviance`.
        seed : int or numpy.random.Generator
            Seed of "surrogate"; the others use no random numbers.

        Returns
        -------
        pandas.Series
            Residuals with the index of the rows of the fit; they do not depend on case
            weights.

        Raises
        ------
        OptionError
            Unknown type.
        UnavailableError
            The likelihood has no maximum, so that rows have no predictions; or the data
            are in blocks.

        Notes
        -----
        With random effects, residuals are conditional on the modes of the random
        effects. Modes fit the rows of their group, so with few rows per group residuals
        vary less than the latent distribution. The squares of "deviance" sum to -2 log
        P given the modes, not to `deviance`.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.residuals("probability-scale").head(3).round(3).tolist()
        [-0.016, 0.747, 0.305]
        """
        from ..inference.residuals import residual_series

        self.require_available("residuals()")
        return residual_series(self, type, seed)

    def influence(self) -> Influence:
        """Leverage, dfbeta and Cook's distance of every row.

        Returns
        -------
        Influence
            With the series cooks and hat, frames dfbeta and dfbetas, and `largest(n)`.

        Raises
        ------
        UnavailableError
            The response is separated, or the fit has random effects or smooth terms.

        Notes
        -----
        A row of weight w counts as w equal cases, left out together. `dfbeta` is the
        estimate minus the result of one Newton step without the row, whose curvature is
        subtracted from the information [Pregibon 1981]. For rows of middle levels the
        step is approximate, as the curvature that keeps the two thresholds of the level
        apart stays in the information. In the wine data the result is within 0.05
        standard errors of the fits without the row. Refit without a row if its
        influence matters.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> round(float(fit.influence().hat.sum()), 6)
        6.0
        """
        from ..inference.influence import influence_of

        return influence_of(self)

    def gof(self, groups: int | None = None) -> GoodnessOfFit:
        """Goodness-of-fit test (ordinal Hosmer-Lemeshow) against unspecified
        departures.

        It compares observed with expected counts by level, in groups by expected rank
        [Fagerland & Hosmer 2013]. `score_test` and `nominal_test` have more power
        against effects that differ between thresholds.

        Parameters
        ----------
        groups : int, optional
            Number of groups by expected rank; by default 10, or as many as equal ranks
            allow. For a table of counts (five cases or more for each level of a
            distinct row) the default adds Pearson's and the deviance test against the
            saturated model.

        Returns
        -------
        GoodnessOfFit
            With `table` (statistic, df, p_value), `observed` and `expected` counts, and
            notes on the approximation.

        Raises
        ------
        UnavailableError
            Random effects, robust standard errors, a survey design, a penalty, smooth
            terms or separation. Nominal or scale effects, structured thresholds or a
            link with a parameter, unless the data are a table of counts; then only the
            saturated model is tested against.
        DataError
            Too few distinct expected ranks for the groups.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.gof(groups=4).table.round(3).to_dict("records")
        [{'statistic': 3.572, 'df': 11, 'p_value': 0.981}]
        """
        from ..inference.goodness import goodness_of_fit

        return goodness_of_fit(self, groups)

    def discrimination(self) -> pd.Series | pd.DataFrame:
        """Discrimination statistics as in R's rms: test of all effects, R2, g, rank
        correlations, Brier score.

        Returns
        -------
        pandas.Series, or pandas.DataFrame with random effects
            A row of weight w counts as w cases. n is the sum of the weights, p the
            number of effects, LR the likelihood-ratio statistic against thresholds
            only, H the score. Rows are ordered by H or, with nominal or scale effects,
            by the expected rank. NaN if a statistic is undefined.

            - lr_chi2, lr_df, lr_p_value: likelihood-ratio test of all effects, with
              robust standard errors the Wald test of `glance`; NaN with a survey
              design.
            - cox_snell: 1 - exp(-LR / n).
            - nagelkerke: cox_snell divided by its largest value.
            - mcfadden: 1 - loglik / null loglik.
            - r2_n_p: 1 - exp(-(LR - p) / n), 0 if LR < p.
            - r2_effective, r2_effective_p: cox_snell and r2_n_p with n_effective.
            - n_effective: n (1 - sum of p_k^3), p_k the shares of the levels
              [Whitehead 1993].
            - g, gr, gp: Gini's mean difference of H; exp(g); Gini's mean difference of
              P(Y >= middle level).
            - pdm: mean distance of P(Y >= median level) from 1/2; for the second level
              if the median is the lowest.
            - rho: Spearman's correlation of the order of the rows and the observed
              ranks.
            - c_index: share of concordant pairs plus half the share of ties, among the
              pairs of cases with different ranks.
            - somers_d: share of concordant minus share of discordant pairs, among the
              same pairs.
            - gamma, tau_a: concordant minus discordant pairs, as a share of the pairs
              without ties, and of all pairs.
            - brier_at_<level>: mean squared error of P(Y >= middle level).
            - rps: mean ranked probability score.

            This Brier score (Brier in rms) is for the event that the response reaches
            the middle level; the "Brier score" of `errors` is over all levels.

            With random effects the result is a table. Its rows are c_index, somers_d,
            gamma, pairs (the number of pairs with different ranks) and r2_latent (the
            explained share of the latent variance). Its columns are "modes", at the
            modes of the random effects, and "population", for new groups.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> measures = ["nagelkerke", "c_index", "brier_at_3", "rps"]
        >>> fit.discrimination()[measures].round(3).tolist()
        [0.403, 0.774, 0.177, 0.44]
        """
        from ..inference.discrimination import discrimination_series

        return discrimination_series(self)

    def smooths(self) -> NotedFrame:
        """Tests of the smooth terms s(x), smooth(x) and re(g): is the effect always 0?

        Returns
        -------
        NotedFrame
            A row for each smooth. Columns edf (effective degrees of freedom, 1 for a
            straight line), ref_df, chisq and p_value of the test, and lambda, the
            smoothing parameter. The p-value does not account for the choice of the
            smoothing parameter [Wood 2013, Biometrika 100, 221-228]. For an ordered
            predictor, smooth(x), an edf of 0 means no effect, ref_df is the number of
            steps, and the test is the one for fully penalised effects [Wood 2013,
            Biometrika 100, 1005-1010]. So it is for random effects re(g), which also
            have a column sd, their standard deviation.

        Raises
        ------
        UnavailableError
            The formula has no smooth terms.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("PID ~ s(age) + income", datasets.load("anes96"))
        >>> fit.smooths()["edf"].round(2).to_dict()
        {'s(age)': 1.84}
        """
        from ..inference.smooths import smooth_tests

        return smooth_tests(self)

    def smooth_curves(self, level: float = 0.95) -> pd.DataFrame:
        """The curves of the smooth terms on the latent scale, with confidence
        intervals.

        Parameters
        ----------
        level : float in (0, 1)
            Confidence level of the pointwise intervals.

        Returns
        -------
        DataFrame
            100 rows for each s(x), and one for each level of smooth(x) or group of
            re(g): smooth, x, estimate, std_error, lower, upper. A curve sums to 0 over
            the rows of the fit, random effects over the groups. Confidence intervals
            are those of the curve without the thresholds, and allow for the estimated
            smoothing parameter (`unconditional=TRUE` of R's mgcv).

        Raises
        ------
        UnavailableError
            The formula has no smooth terms.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("PID ~ s(age) + income", datasets.load("anes96"))
        >>> fit.smooth_curves().shape
        (100, 6)
        """
        from ..inference.smooths import smooth_curves

        return smooth_curves(self, level)

    def vif(self) -> NotedFrame:
        """Generalised variance inflation factors (collinearity) of the location terms.

        The ratio det R11 det R22 / det R, with R the correlations of the estimates
        without thresholds, R11 those of a term and R22 those of the other terms, as in
        R's car. Scale and nominal effects are left out.

        Returns
        -------
        NotedFrame
            One row per term: gvif, df and scaled = gvif^(1 / (2 df)), the factor by
            which collinearity inflates a standard error.

        References
        ----------
        Fox & Monette (1992), Generalized collinearity diagnostics, JASA 87; R's car,
        `vif`.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("PID ~ age + educ + income", datasets.load("anes96"))
        >>> fit.vif()["gvif"].round(3).tolist()
        [1.023, 1.163, 1.141]
        """
        from ..inference.collinearity import inflation_frame

        return inflation_frame(self)

    @property
    def certificate(self) -> Convergence:
        """Distance of the fit from its optimum, and the correct decimals of every
        estimate.

        Returns
        -------
        Convergence
            `name`, `value` and `tolerance` of the certificate; `table` with the
            gradient, the remaining error and the correct decimals and digits of every
            estimate; `eigenvalues`, `condition`, `message` and `warnings`.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> bool((fit.certificate.table["decimals"] >= 8).all())
        True
        """
        from ..inference.certificate import convergence_of

        return convergence_of(self)

    @property
    def plot(self) -> LikelihoodPlots:
        """Plots of the fit, by matplotlib: `fit.plot.latent()`."""
        from ..plots.accessor import LikelihoodPlots

        return LikelihoodPlots(self)

    # Predictions

    def _check_target(self, target: Target, what: str) -> None:
        """Warn of rows whose thresholds are out of order."""
        labels = target.index[target.complete].to_numpy()
        report_crossing(
            crossed_rows(self.rule, target.rows),
            target.rows.n,
            labels,
            what,
            refuse=self.method.refuses_crossing,
        )

    @property
    def stopped(self) -> list[str]:
        """Names of the parameters whose values are only where a search without a
        maximum stopped.
        """
        return [self.parameters.names[i] for i in np.flatnonzero(self.fit.diverging)]

    @cached_property
    def aliasing(self) -> Aliasing | None:
        """How aliased columns depend on others in the rows of the fit; None if there
        are none.
        """
        from .aliasing import Aliasing

        return Aliasing.of(self.fit, self.bare_rule, self.design.sample)

    def undetermined_rows(self, rows: Rows) -> BoolArray:
        """(n,) rows whose predicted rank the data do not determine."""
        undetermined = np.zeros(rows.n, dtype=bool)
        if self.aliasing is not None:
            undetermined |= self.aliasing.outside(self.bare_rule, rows)
        limits = self.row_limits(rows)
        if limits is not None:
            undetermined |= limits.unknown("class")[:, 0]
        return undetermined

    def row_limits(self, rows: Rows) -> RowLimits | None:
        """What the data determine about rows; None if every estimate is finite."""
        from .row_limits import RowLimits

        return RowLimits.of(self.fit, self.bare_rule, rows)

    def gap_limits(self, rows: Rows) -> FloatArray | None:
        """(n, K-1) limits of the distances H - theta_k of rows: 0 if they are finite,
        infinite, or NaN. None if every estimate is finite.
        """
        from .row_limits import gap_limits

        return gap_limits(self.fit, self.bare_rule, rows)

    def _scored(self, newdata: Any) -> Target:
        """Rows outside the row space of the rows of the fit have no scores."""
        from .row_predictions import inside_row_space

        target = super()._scored(newdata)
        return target if newdata is None else inside_row_space(self, target)

    def _predicted(self, target: Target, type: str) -> pd.Series | pd.DataFrame:
        from .row_predictions import predicted_rows

        return predicted_rows(self, target, type)

    def asked_of(self, target: Target, asked: Asked) -> pd.Series | pd.DataFrame:
        from .row_predictions import answered_rows

        return answered_rows(self, target, asked)

    @property
    def prediction_types(self) -> tuple[str, ...]:
        types = super().prediction_types
        if self.method.supports.by_level:  # no score orders the rows
            types = tuple(each for each in types if each != "score")
        conditional = self.family.stages is not None and self.fit.marginal is None
        return (*types, "hazard") if conditional else types

    def _probabilities(self, fit: Fit, rows: Rows, scores: FloatArray) -> FloatArray:
        return np.asarray(cast(Any, fit.rule).probabilities(rows, scores))

    @property
    def rule(self) -> LikelihoodRule:
        """The rule for predictions."""
        return cast(LikelihoodRule, self.fit.rule)

    @property
    def bare_rule(self) -> LikelihoodRule:
        """The rule without random effects."""
        return replace(self.rule, effects=()) if self.rule.effects else self.rule

    @property
    def family(self) -> Family:
        """The likelihood family at its link."""
        return self.rule.family

    @property
    def no_margins(self) -> str | None:
        return self.why_unavailable("margins()") or None

    def why_unavailable(self, question: str, other_rows: bool = False) -> str:
        return why_unavailable(self, question, other_rows)

    def _why_no_bounds(self) -> str:
        if self.fit.smooths is not None:
            return "No margin bounds: smooth terms are penalised, each in its own norm."
        if self.family.ordered:
            return self.no_bounds
        return (
            "No margin bounds: the thresholds of this model need not increase, so it"
            " has no margins."
        )

    @property
    def fold_sample(self) -> Sample:
        clusters = self.own_covariance.cluster
        return (
            super().fold_sample
            if clusters is None
            else replace(self.design.sample, cluster=clusters)
        )

    # Warnings

    def fit_warnings(self) -> list[Alert]:
        """Warnings issued after the fit."""
        issued = super().fit_warnings()
        if not self.fit.regular:
            issued += likelihood_alerts(self)
        issued += forgotten_counts(self.design, self.fit)
        issued += self._covariance_alerts()
        if self.design.sample.rows.nominal is not None:
            issued += self._crossing_alerts()
        return issued

    def _why_unreached(self) -> str:
        return why_unreached(self.fit, self.design)

    def _covariance_alerts(self) -> list[Alert]:
        """Alerts: infinite estimates rule out CR2; few clusters. Raises if the
        covariance cannot be computed.
        """
        chosen = self.own_covariance
        if chosen.name == "model":
            return []
        check_enough_rows(self.fit, chosen)
        if chosen.name in ("CR2", "survey"):
            _ = self.whole_covariance
        if chosen.name == "CR2" and self.fit.separation is not None:
            return [(SeparationWarning, NO_CR2)]
        return [(DataWarning, few)] if (few := chosen.few_clusters) else []

    def _crossing_alerts(self) -> list[Alert]:
        """Rows of the fit with negative probabilities; a DataError if the method
        refuses them.
        """
        sample = self.design.sample
        crossed = crossed_rows(self.rule, sample.rows)
        crossed = crossed[sample.case_weights[crossed] > 0]
        if crossed.size == 0:
            return []
        used = int(np.count_nonzero(sample.case_weights))
        labels = self.design.index.to_numpy()
        text = crossing_text(crossed, used, labels, "rows of the fit")
        if self.method.refuses_crossing:
            raise DataError(text)
        return [(DataWarning, text)]
