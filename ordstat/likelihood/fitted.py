"""A fitted likelihood model: estimates, their covariance, predictions and the
likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..exceptions import DataError, DataWarning, SeparationWarning, warn
from ..fit import Fit
from ..fitted import Estimates, FittedRanker, Target
from ..formula.names import Parameter
from ..formula.sample import Rows, Sample
from ..report.render import Table
from ..report.warnings import (
    Alert,
    forgotten_counts,
    likelihood_alerts,
    outside_text,
    undetermined_text,
    without_end,
)
from .aliasing import Aliasing
from .covariance_choice import (
    NO_CR2,
    Covariance,
    chosen_covariance,
    covariance_matrix,
    for_few_clusters,
    own_covariance,
)
from .family import Family
from .fit import BiasReduced, LikelihoodFit
from .parameters import Parameters, parameters, spread, square_frame, threshold_values
from .row_limits import UNBOUNDED, RowLimits
from .rule import LikelihoodRule, crossed_rows, crossing_text, report_crossing
from .standard_errors import predicted, two_sided
from .unavailable import check_available, why_unavailable


@dataclass(frozen=True, eq=False, repr=False)
class FittedLikelihood(FittedRanker, for_users=False):
    """A fitted likelihood model; its family defines what thresholds and
    effects mean.
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
        "mean",
        "margin",
    )

    augments: ClassVar[tuple[str, ...]] = ("class", "score", "margin", "prob")

    @property
    def kind(self) -> str:
        """Title of the fit."""
        return self.family.name

    def estimates(self) -> dict[str, pd.Series]:
        """Coefficients and thresholds by their kind; infinite ones of a separated
        response as such.
        """
        effects = {
            "Coefficients": "location",
            "Nominal effects": "nominal",
            "Scale effects": "scale",
            "Link": "lambda",
        }
        frames = {
            name: self.params.iloc[self.parameters.of(kind)]
            for name, kind in effects.items()
        }
        random = (
            {}
            if self.random_parameters is None
            else {"Random effects": self.random_parameters.deviations}
        )
        return {**frames, "Thresholds": self.thresholds, **random}

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
        penalised = self.method.penalty is not None
        return (
            "a penalised fit does not maximise the likelihood"
            if penalised
            else self.own_covariance.without_aic
        )

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
        """Names of the parameters whose estimates show where a search without a maximum
        stopped.
        """
        return [self.parameters.names[i] for i in np.flatnonzero(self.fit.unbounded)]

    @cached_property
    def aliasing(self) -> Aliasing | None:
        """How columns without an estimate depended on others in the rows of the fit;
        None if there are none.
        """
        return Aliasing.of(self.fit, self.bare_rule, self.design.sample)

    def undetermined_rows(self, rows: Rows) -> BoolArray:
        """(n,) rows whose rank the data do not determine."""
        undetermined = np.zeros(rows.n, dtype=bool)
        if self.aliasing is not None:
            undetermined |= self.aliasing.outside(self.bare_rule, rows)
        limits = self.row_limits(rows)
        if limits is not None:
            undetermined |= limits.unknown("class")[:, 0]
        return undetermined

    def row_limits(self, rows: Rows) -> RowLimits | None:
        """What the data determine of rows; None where every estimate is finite."""
        return RowLimits.of(self.fit, self.bare_rule, rows)

    def _scored(self, newdata: Any) -> Target:
        """Rows outside the row space of the rows of the fit have no scores."""
        target = super()._scored(newdata)
        return target if newdata is None else self.inside(target)

    def inside(self, target: Target) -> Target:
        """The same index, with scores only for rows in the row space of the rows of the
        fit.

        Parameters
        ----------
        target : Target
        """
        if self.aliasing is None:
            return target
        outside = self.aliasing.outside(self.bare_rule, target.rows)
        if not outside.any():
            return target
        labels = target.index[target.complete].to_numpy()[outside]
        names = np.array(self.parameters.names, dtype=object)[self.fit.aliased]
        warn(outside_text(labels, target.rows.n, [str(name) for name in names]))
        kept = target.complete.copy()
        kept[target.complete] = ~outside
        return target.among(kept)

    def _predicted(self, target: Target, type: str) -> pd.Series | pd.DataFrame:
        if type == "class":
            codes = self.known_codes(
                target, self.fit.rule.codes(target.rows, target.scores)
            )
            return target.classes(codes, self.design.levels, self.design.response)
        if type == "score":
            return target.series(
                self.known(target, type, target.scores[:, None])[:, 0], "score"
            )
        if type == "prob":
            values = self.rule.probabilities(target.rows, target.scores)
        elif type == "cum_prob":
            values = self.rule.cum_probabilities(target.rows, target.scores)
        else:
            values = predicted(self.rule, target.rows, type)
        values = self.known(target, type, values)
        if type == "mean":
            return target.series(values[:, 0], type)
        return target.frame(values, self.prediction_labels(type))

    @property
    def prediction_types(self) -> tuple[str, ...]:
        types = super().prediction_types
        conditional = self.family.stages is not None and self.fit.marginal is None
        return (*types, "hazard") if conditional else types

    def prediction_labels(self, type: str) -> list[Any]:
        """Labels of the columns of a type of prediction."""
        if type == "linear_predictor":
            return list(self.threshold_names)
        if type == "hazard":  # the levels at which a row can stop
            return list(
                self.levels[1:] if self.family.leaves_upper else self.levels[:-1]
            )
        return list(self.levels)

    def known(self, target: Target, type: str, values: FloatArray) -> FloatArray:
        """Predictions of rows at their limits, NaN where the data determine none, which
        one warning tells.

        Parameters
        ----------
        target : Target
        type : str
            A type of prediction with numbers.
        values : (n, M)
            The predictions where the search stopped.
        """
        limits = self.row_limits(target.rows)
        if limits is None:
            return values
        unknown = limits.unknown(type)
        self._tell_unknown(target, unknown)
        if type in UNBOUNDED:
            return values + limits.added(type)
        return np.where(unknown, np.nan, values)

    def known_codes(self, target: Target, codes: IntArray) -> IntArray:
        """Predicted codes (n,) of rows, -1 where the data determine none, which one
        warning tells.

        Parameters
        ----------
        target : Target
        codes : (n,)
            Those where the search stopped.
        """
        limits = self.row_limits(target.rows)
        if limits is None:
            return codes
        unknown = limits.unknown("class")
        self._tell_unknown(target, unknown)
        return np.where(unknown[:, 0], -1, codes)

    def _tell_unknown(self, target: Target, unknown: BoolArray) -> None:
        """Warn of rows without a prediction because the rows of the fit are
        separated.
        """
        rows = unknown.any(axis=1)
        if rows.any():
            warn(
                undetermined_text(
                    target.index[target.complete].to_numpy()[rows], target.rows.n
                )
            )

    def _probabilities(self, fit: Fit, rows: Rows, scores: FloatArray) -> FloatArray:
        return np.asarray(cast(Any, fit.rule).probabilities(rows, scores))

    @property
    def rule(self) -> LikelihoodRule:
        """The rule of predictions."""
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
        return why_unavailable(self, "margins()") or None

    def _why_no_bounds(self) -> str:
        if self.family.ordered:
            return self.no_bounds
        return (
            "No margin bounds: the thresholds of this model need not increase, so it"
            " has no margins."
        )

    @property
    def divisible(self) -> Sample:
        clusters = self.own_covariance.cluster
        return (
            super().divisible
            if clusters is None
            else replace(self.design.sample, cluster=clusters)
        )

    # Estimates

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
        """(P,) thresholds (or the parameters of their structure), then nominal,
        location and scale effects, then lambda of a flexible link, as R's coef(); NaN
        where aliased, infinite (or NaN) where the response is separated.
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
        if (full := fit.on_flexible_scale()) is not None:
            values = threshold_values(fit) + fit.ends(full[: len(names), ~fit.aliased])
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
    def coefficient_columns(self) -> dict[str, FloatArray]:
        """(P,) std_error, statistic (estimate / error), df of t, and two-sided p_value
        of each parameter.
        """
        fit = self.fit
        information = self.fit.information
        by_model = self.own_covariance.name == "model"
        variances = (
            information.variances if by_model else np.diagonal(self.fixed_covariance)
        )
        # rounding makes negative ones short of a maximum
        variances = np.where(variances >= 0.0, variances, np.nan)
        unknown = fit.infinite | fit.unbounded
        errors = np.where(unknown, np.nan, spread(np.sqrt(variances), fit))
        df = np.full(errors.size, self.own_covariance.df)
        if self.bias_reduced is not None:
            bread = information.covariance()
            df = spread(self.bias_reduced.t_df(bread, np.eye(len(bread))), fit)
        statistic = fit.coefficients / errors
        return {
            "std_error": errors,
            "statistic": statistic,
            "df": df,
            "p_value": two_sided(statistic, df),
        }

    @property
    def se(self) -> pd.Series:
        """(P,) standard errors of `params`: cluster-robust if the fit has clusters; NaN
        for infinite estimates.
        """
        return self._column("std_error")

    @property
    def z_values(self) -> pd.Series:
        """(P,) estimate / standard error."""
        return self._column("statistic")

    @property
    def p_values(self) -> pd.Series:
        """(P,) two-sided p-values of the z-values, by t under CR2 and survey designs;
        not meaningful for thresholds.
        """
        return self._column("p_value")

    def _column(self, name: str) -> pd.Series:
        return pd.Series(
            self.coefficient_columns[name].copy(),
            index=self.parameters.names,
            name=name,
        )

    @cached_property
    def own_covariance(self) -> Covariance:
        """The covariance behind standard errors, limits and Wald tests."""
        chosen = own_covariance(self.design) if self.robust is None else self.robust
        return (
            chosen
            if chosen.asked
            else for_few_clusters(chosen, self.fit, self.design, self.method.penalty)
        )

    @property
    def covariance(self) -> str:
        """Name of the covariance: "model", "HC0", "HC1", "cluster", "CR2" or
        "survey".
        """
        return self.own_covariance.name

    @property
    def design_df(self) -> float:
        """Degrees of freedom of a survey design, of t-values and Wald F tests; infinite
        without one.
        """
        return self.own_covariance.df

    def vcov(self, type: Any = None) -> pd.DataFrame:
        """Covariance of the estimated (not aliased) parameters; NaN for infinite
        estimates.

        Parameters
        ----------
        type : str or dict, optional
            "model": inverse of the observed information. "HC0": sandwich; "HC1": the
            same times n / (n - p). "cluster": sandwich summed within the clusters of
            the fit, times G / (G - 1). {"cluster": "judge", "type": "CR1"}: the same
            for other clusters, a column of the data or one value per row of the fit.
            "CR2", or {"cluster": "judge", "type": "CR2"}: corrected for few clusters.
            Without a type, fewer than 20 clusters get CR2 if it is available, else
            "CR1". None: the covariance of the fit (see `covariance`).

        Returns
        -------
        pandas.DataFrame

        Notes
        -----
        CR2 is that of Bell and McCaffrey (2002) as Pustejovsky and Tipton (2018) define
        it, with the multinomial covariance at the fitted probabilities as working
        model. With two levels and the logit it equals R's clubSandwich for glm. Tests
        of single coefficients, and limits of predictions, effects and means, have
        Satterthwaite's degrees of freedom; there are no joint tests.

        With random effects clusters must be whole groups, or unions of them; HC0, HC1
        and CR2 are not available.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> clustered = fit.vcov({"cluster": "judge", "type": "CR1"})
        >>> float(clustered.loc["temp[T.warm]", "temp[T.warm]"].round(4))
        0.1252
        """
        chosen = self if type is None else with_covariance(self, type)
        names = np.array(self.parameters.names, dtype=object)[~self.fit.aliased]
        matrix = np.array(chosen.fixed_covariance)
        unknown = (self.fit.infinite | self.fit.unbounded)[~self.fit.aliased]
        matrix[unknown], matrix[:, unknown] = np.nan, np.nan
        return square_frame(matrix, list(names))

    @property
    def random_parameters(self) -> Any:
        """Standard deviations and correlations of random effects; None
        without these.
        """
        return None

    def random_part(
        self, level: float
    ) -> tuple[tuple[tuple[str, Any], ...], list[Table], tuple[str, ...]]:
        """Header lines, tables and notes of the summary on random effects.

        Parameters
        ----------
        level : float in (0, 1)
            Confidence level of the limits.
        """
        return (), [], ()

    @cached_property
    def whole_covariance(self) -> FloatArray:
        """(P' + m, P' + m) covariance of the estimated parameters, including those of
        random effects.

        Where estimates are infinite it holds for functions that the data determine
        (`fit.determined`), and no others.
        """
        if self.bias_reduced is not None:
            return self.bias_reduced.covariance(self.fit.information.covariance())
        return covariance_matrix(self.fit, self.own_covariance)

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
        return cast(BiasReduced, self.fit.likelihood.bias_reduced(cluster))

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
    def edf(self) -> int:
        """Number of estimated parameters, including those of the covariance of random
        effects.
        """
        return self.fit.edf

    @property
    def df_residual(self) -> float:
        """nobs - edf."""
        return self.nobs - self.fit.edf

    @property
    def aic(self) -> float:
        """-2 loglik + 2 edf; refused unless the fit maximises the likelihood of
        independent rows.
        """
        return self._criterion("aic", 2.0)

    @property
    def bic(self) -> float:
        """-2 loglik + log(nobs) edf; refused like `aic`."""
        return self._criterion("bic", float(np.log(self.nobs)))

    def _criterion(self, name: str, k: float) -> float:
        check_available(self, name)
        return k * self.fit.edf - 2.0 * self.loglik

    @property
    def deviance(self) -> float:
        """-2 loglik: twice the distance from the saturated model of single rows."""
        return -2.0 * float(self.loglik)

    def issued(self) -> list[Alert]:
        """Warnings issued after the fit."""
        irregular = (
            []
            if self.fit.regular
            else likelihood_alerts(self.fit, self.parameters, self.design)
        )
        issued = [
            *super().issued(),
            *irregular,
            *forgotten_counts(self.design, self.fit),
            *self._covariance_alerts(),
        ]
        return (
            issued
            if self.design.sample.rows.nominal is None
            else issued + self._crossing_alerts()
        )

    def _covariance_alerts(self) -> list[Alert]:
        """Alerts: infinite estimates rule out CR2; few clusters. Raises if the
        covariance cannot be computed.
        """
        chosen = self.own_covariance
        if chosen.name == "model":
            return []
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


def of_errors(r: FittedLikelihood) -> tuple[str, ...]:
    """Notes on the standard errors of a table and on infinite estimates."""
    return (
        f"Standard errors: {r.own_covariance.words}.",
        *without_end(r.fit, r.parameters),
    )


L = TypeVar("L", bound=FittedLikelihood)


def with_covariance(r: L, vcov: Any) -> L:
    """The same fit with another covariance in se, confint, summary, tidy, predict and
    Wald tests.
    """
    chosen: L = replace(r, robust=chosen_covariance(vcov, r.design, r.method.penalty))
    for category, message in chosen._covariance_alerts():
        warn(message, category)
    return chosen
