"""Multiple imputation: `pool`, and the methods of pooled fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..advice import with_advice
from ..checks import advice, flag, fraction, label_texts, number
from ..exceptions import DataWarning, OptionError, UnavailableError, warn
from ..likelihood.alerts import not_estimated
from ..likelihood.parameters import Parameters, with_aliased
from ..likelihood.standard_errors import symmetric_limits, two_sided
from ..likelihood.user_scale import unit_rows
from ..report.cells import count
from ..report.frames import NotedFrame
from ..report.render import Report, Summary
from ..report.sections import observations, one_row
from .comparison import described
from .poolable import poolable
from .pooled_predictions import pooled_prediction
from .pooled_summary import notes_of, tables_of, tidy_pooled
from .pooled_tests import pooled_anova, pooled_hypothesis_tests
from .rubin import Pooled, PooledRandom, d1

if TYPE_CHECKING:
    from ..formula.design import Design
    from ..formula.names import Parameter
    from ..likelihood.family import Family
    from ..likelihood.results import LikelihoodResults
    from ..plots.accessor import PooledPlots


_PAPERS = (
    "Rubin, D. B. (1987). Multiple Imputation for Nonresponse in Surveys. Wiley.",
    (
        "Barnard, J. and Rubin, D. B. (1999). Small-sample degrees of freedom with"
        " multiple imputation. Biometrika, 86, 948-955."
    ),
)
#: Options of questions to single fits that would change the fits.
_OF_FITS = {
    "vcov": "Give it to the fits, as in pool([fit.with_vcov('HC1') for fit in fits]).",
    "data": "Give it to load(path, data=...) of each fit.",
}


def _refuse_options(options: Mapping[str, Any], question: str) -> None:
    """OptionError for options that belong to the single fits."""
    for name, remedy in _OF_FITS.items():
        if options.get(name) is not None:
            raise OptionError(
                f"{name} must be left out of {question}() over imputations. {remedy}"
            )


@with_advice
@dataclass(frozen=True, eq=False, repr=False)
class PooledResults:
    """One model fitted to m imputed data sets, pooled by Rubin's rules; returned by
    `pool`.

    Every method combines the results of all fits. Estimates are means; variances are
    those within fits plus (1 + 1/m) times those between fits; confidence intervals use
    the t distribution with Barnard and Rubin's degrees of freedom.

    Attributes
    ----------
    fits : tuple of LikelihoodResults
    df_complete : float
        Degrees of freedom that complete data would have.

    Examples
    --------
    Random numbers stand in for imputations.

    >>> import numpy as np
    >>> from ordstat import datasets, ordfit, pool
    >>> wine, rng = datasets.load("wine"), np.random.default_rng(1)
    >>> missing = wine.index % 5 == 0
    >>> fits = []
    >>> for _ in range(5):
    ...     drawn = rng.choice(["no", "yes"], 72)
    ...     frame = wine.assign(contact=wine["contact"].where(~missing, drawn))
    ...     fits.append(ordfit("rating ~ temp + contact", frame))
    >>> pooled = pool(fits)
    >>> pooled.confint(0.9).round(2).loc["temp[T.warm]"].tolist()
    [1.64, 3.45]
    >>> joint = pooled.test("temp = 0, contact = 0").loc["joint"]
    >>> joint[["F", "df"]].round(2).tolist()
    [11.36, 2.0]
    >>> pooled.anova(type="III").round(2)["F"].to_dict()
    {'temp': 21.97, 'contact': 7.01}
    >>> pooled.glance()[["nobs", "n_imputations", "fmi"]].round(2).to_numpy().tolist()
    [[72.0, 5.0, 0.33]]
    >>> pooled.predict(wine.head(2), "mean", se=True).round(3).to_numpy().tolist()
    [[2.052, 0.163], [2.052, 0.163]]
    >>> answers = [pooled.emmeans("contact").contrasts()]
    >>> answers.append(pooled.marginal_effects("contact", scale="mean").frame)
    >>> for frame in answers:
    ...     frame[["contrast", "estimate", "std_error"]].round(3).to_numpy().tolist()
    [['no - yes', -1.48, 0.559]]
    [['yes - no', 0.659, 0.227]]
    """

    fits: tuple[LikelihoodResults, ...]
    df_complete: float

    @cached_property
    def pooled(self) -> Pooled:
        """Rubin's rules over the estimated parameters, as arrays."""
        estimated = ~self.fits[0].fit.aliased
        complete = self.df_complete
        # CR2: at most Satterthwaite's
        if all(fit.bias_reduced is not None for fit in self.fits):
            satterthwaite = [
                fit.coefficient_columns["df"][estimated] for fit in self.fits
            ]
            complete = np.minimum(complete, np.min(satterthwaite, axis=0))
        Q = np.array([fit.fit.coefficients[estimated] for fit in self.fits])
        return Pooled(Q, [fit.covariance_of_estimates for fit in self.fits], complete)

    @cached_property
    def coefficient_columns(self) -> dict[str, FloatArray]:
        """(P,) estimates, standard errors, t, degrees of freedom, p-values, riv and fmi
        of each parameter.
        """
        rules = self.pooled
        t = rules.estimate / rules.std_error
        columns = {
            "estimate": rules.estimate,
            "std_error": rules.std_error,
            "statistic": t,
            "df": rules.df,
            "p_value": two_sided(t, rules.df),
            "riv": rules.riv,
            "fmi": rules.fmi,
        }
        first = self.fits[0].fit
        return {name: with_aliased(values, first) for name, values in columns.items()}

    def _column(self, name: str) -> pd.Series:
        return pd.Series(
            self.coefficient_columns[name].copy(),
            index=pd.Index(self.parameters.names),
            name=name,
        )

    @property
    def parameters(self) -> Parameters:
        """Names and kinds of the parameters."""
        return self.fits[0].parameters

    @property
    def design(self) -> Design:
        """The design of the first fit; the other designs differ in imputed values."""
        return self.fits[0].design

    @property
    def method(self) -> Any:
        """The method of all fits."""
        return self.fits[0].method

    @property
    def family(self) -> Family:
        """The likelihood family of all fits."""
        return self.fits[0].family

    @property
    def levels(self) -> tuple[Any, ...]:
        """The K labels of the response, lowest first."""
        return self.fits[0].levels

    @property
    def title(self) -> str:
        """Title of the summary."""
        first = self.fits[0]
        return (
            f"Pooled over {self.n_imputations} imputations: {first.family.name},"
            f" {described(first)}"
        )

    @property
    def papers(self) -> tuple[str, ...]:
        """References of the method and of the pooling."""
        return (*self.method.papers, *_PAPERS)

    @property
    def call(self) -> str:
        """The calls of the first fit and of `pool`, as text."""
        return f"pool([{self.fits[0].call} for data in frames])"

    @property
    def all_parameters(self) -> list[Parameter]:
        """Records of the thresholds and coefficients, including those of random
        effects.
        """
        return self.fits[0].all_parameters

    def names_shown(self, labels: Mapping[str, str] | None = None) -> dict[str, str]:
        """Printed names of columns, terms and parameters, by their names, with the
        user's labels.
        """
        return self.fits[0].names_shown(labels)

    @cached_property
    def random_parameters(self) -> PooledRandom | None:
        """Standard deviations and correlations of random effects; None without them."""
        if self.fits[0].random_parameters is None:
            return None
        return PooledRandom.of(
            [fit.random_parameters for fit in self.fits], self.df_complete
        )

    @property
    def n_imputations(self) -> int:
        """Number m of imputations."""
        return len(self.fits)

    @property
    def converged(self) -> bool:
        """Whether every fit has converged."""
        return all(fit.converged for fit in self.fits)

    @property
    def nobs(self) -> float:
        """Number of observations of each data set."""
        return self.fits[0].nobs

    @property
    def params(self) -> pd.Series:
        """(P,) means of the estimates, named as in each fit; NaN where aliased."""
        return self._column("estimate")

    @property
    def coef(self) -> pd.Series:
        """Means of nominal, location and scale effects."""
        return self.params.iloc[self.parameters.of("nominal", "location", "scale")]

    @property
    def thresholds(self) -> pd.Series:
        """(K-1,) means of the thresholds "low|high"."""
        return (
            pd.concat([fit.thresholds for fit in self.fits], axis=1)
            .mean(axis=1)
            .rename("threshold")
        )

    @property
    def se(self) -> pd.Series:
        """(P,) standard errors, from the variance within and between data sets."""
        return self._column("std_error")

    @property
    def df(self) -> pd.Series:
        """(P,) degrees of freedom of the t distribution [Barnard & Rubin 1999]."""
        return self._column("df")

    @property
    def riv(self) -> pd.Series:
        """(P,) relative increase in variance due to nonresponse."""
        return self._column("riv")

    @property
    def fmi(self) -> pd.Series:
        """(P,) fraction of missing information."""
        return self._column("fmi")

    @property
    def p_values(self) -> pd.Series:
        """(P,) two-sided p-values of estimate / standard error; not useful for
        thresholds.
        """
        return self._column("p_value")

    def vcov(self) -> pd.DataFrame:
        """Covariance of the estimated (not aliased) parameters: U + (1 + 1/m) B of
        Rubin's rules.
        """
        names = np.array(self.parameters.names, dtype=object)[~self.fits[0].fit.aliased]
        return pd.DataFrame(self.pooled.total, index=names, columns=names)

    def confint(self, level: float = 0.95) -> pd.DataFrame:
        """Confidence intervals by the t distribution, with columns lower and upper.

        Parameters
        ----------
        level : float in (0, 1)
        """
        fraction("level", level)
        estimate, error, df = (
            self.coefficient_columns[name] for name in ("estimate", "std_error", "df")
        )
        limits = symmetric_limits(estimate, error, level, df)
        frame = pd.DataFrame(
            dict(zip(("lower", "upper"), limits, strict=True)),
            index=self.parameters.names,
        )
        notes = not_estimated(self.fits[0].fit, self.parameters)
        return NotedFrame.of(
            frame,
            tuple(notes),
            f"Pooled {100 * level:g}% confidence intervals",
            labels=self.fits[0].names_shown(),
        )

    def test(self, hypotheses: str) -> pd.DataFrame:
        """Tests of linear hypotheses on the parameters: "x1 = 0, x2 = 0".

        Parameters
        ----------
        hypotheses : str
            Equations separated by commas, as in `test` of a single fit.

        Returns
        -------
        pandas.DataFrame
            One row per equation, and "joint" for several: difference (left minus right
            side), std_error, F, df, df_denom, p_value, riv (relative increase in
            variance). A single equation is the t test of `summary`.

        Raises
        ------
        OptionError
            An equation cannot be read, is not linear or follows from the others.

        Notes
        -----
        Wald tests of the pooled estimates (D1), assuming the same relative increase in
        variance in all directions [Li, Raghunathan & Rubin 1991; for small complete
        samples Reiter 2007].
        """
        return pooled_hypothesis_tests(self, hypotheses)

    def anova(self, *others: Any, type: str = "I") -> pd.DataFrame:
        """Pooled tests of the location terms.

        Parameters
        ----------
        type : {"I", "II", "III", "baseline"}
            Type of the tests, as in `anova` of a single fit. Types I and II depend on
            the columns, so that each fit has its own contrasts.

        Returns
        -------
        pandas.DataFrame
            One row per term: F, df, df_denom, p_value, riv; NaN where aliased columns
            leave the hypotheses of a term undetermined.

        Raises
        ------
        UnavailableError
            `others` are given (likelihoods cannot be pooled), or the data are in
            blocks.

        Notes
        -----
        Wald tests (D1), as in `test` [Li, Raghunathan & Rubin 1991; Reiter 2007].
        """
        return pooled_anova(self, others, type)

    def tidy(
        self, exponentiate: bool = False, level: float = 0.95, per: Any = None
    ) -> pd.DataFrame:
        """One row per parameter: term, estimate, std_error, statistic, df, p_value,
        conf_low, conf_high, riv, fmi and coef_type.

        Standard deviations of random effects are pooled on the log scale, correlations
        on Fisher's z scale.

        Parameters
        ----------
        exponentiate : bool
            Ratios instead of effects, with their confidence intervals, as in `tidy` of
            a single fit; other columns still refer to the coefficient.
        level : float in (0, 1)
            Confidence level of the intervals.
        per : dict of variable to number, or "sd", optional
            Size of the change of numeric variables, as in `tidy` of a single fit; "sd"
            is the mean standard deviation over the fits. `attrs["per"]` lists the
            terms.
        """
        return tidy_pooled(self, exponentiate, level, per)

    def glance(self) -> pd.DataFrame:
        """One row: nobs, n_imputations, edf, df_complete, fmi (the largest), the test
        of all effects (D1; wald_F, wald_df, wald_df_resid, wald_p_value) and converged.

        Likelihoods, AIC and R2 of fits to imputed data cannot be pooled.
        """
        first = self.fits[0]
        figures = {
            "nobs": self.nobs,
            "n_imputations": self.n_imputations,
            "edf": first.fit.edf,
            "df_complete": self.df_complete,
            "fmi": float(np.nanmax(self.fmi)),
        }
        effects = self.parameters.of("nominal", "location", "scale")
        chosen = np.isin(np.flatnonzero(~first.fit.aliased), effects)
        # without effects scores of levels have no value: no test
        if chosen.any() and not self.parameters.of("phi").size:
            rows = unit_rows(np.flatnonzero(chosen), chosen.size)
            test = d1(self.pooled.combined(rows))
            figures |= {"wald_F": test.statistic, "wald_df": test.df}
            figures |= {"wald_df_resid": test.df_denom, "wald_p_value": test.p_value}
        return one_row(figures | {"converged": self.converged})

    # Questions that are put to every fit

    def predict(
        self,
        newdata: Any = None,
        type: str = "class",
        *,
        se: bool = False,
        interval: str | None = None,
        level: float = 0.95,
        cost: Any = None,
        re: str | None = None,
        at: Any = None,
        interpolate: bool = False,
    ) -> Any:
        """Predict new rows, or the rows of the fits, by the mean of the predictions of
        all fits.

        Parameters
        ----------
        newdata : data frame, optional
            As in `predict` of a single fit; None means the rows of each fit, with its
            imputed values.
        type : str
            As in `predict` of a single fit, except "margin". "class" is the level of
            smallest expected cost under the mean probabilities; "quantile" is their
            quantile.
        se : bool
            Add standard errors by Rubin's rules.
        interval : "confidence", optional
            Add confidence intervals; for probabilities and means they are pooled on the
            logit scale.
        level : float in (0, 1)
            Confidence level of the intervals.
        cost, re, at, interpolate
            As in `predict` of a single fit.

        Returns
        -------
        pandas.Series or pandas.DataFrame
            As of a single fit.

        Raises
        ------
        OptionError
            An unknown type, or standard errors for a type that has none.
        """
        return pooled_prediction(
            self,
            newdata,
            type,
            se=se,
            interval=interval,
            level=level,
            cost=cost,
            re=re,
            at=at,
            interpolate=interpolate,
        )

    def emmeans(
        self,
        variables: str | Sequence[str],
        *,
        at: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Any:
        """Pooled estimated marginal means.

        Numeric variables are held at their mean over all fits, so that every fit has
        the same grid. Probabilities and expected ranks are means over the fits, so
        probabilities add up to 1; confidence intervals are pooled on the logit scale.
        Odds are pooled as log odds.

        Parameters
        ----------
        variables, at
            As in `emmeans` of a single fit.
        **options
            by, scale, weights, level, re: as in `emmeans` of a single fit.

        Returns
        -------
        Emmeans
            With `.frame` and `.contrasts()`; df are Barnard and Rubin's.
        """
        return self._means("emmeans", (variables,), at, options)

    def emtrends(
        self,
        variables: str | Sequence[str],
        var: str,
        *,
        at: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Any:
        """Pooled slopes of a numeric variable within the levels of other variables.

        Parameters
        ----------
        variables, var, at
            As in `emtrends` of a single fit.
        **options
            by, scale, weights, level, re: as in `emtrends` of a single fit.

        Returns
        -------
        Emmeans
        """
        return self._means("emtrends", (variables, var), at, options)

    def _means(
        self, question: str, given: tuple[Any, ...], at: Any, options: dict[str, Any]
    ) -> Any:
        """Means or slopes over one grid, with numbers at the mean over all fits."""
        _refuse_options(options, question)
        answers = [
            getattr(fit, question)(*given, at=at, **options) for fit in self.fits
        ]
        means = {
            name: float(np.mean([answer.held[name] for answer in answers]))
            for name in answers[0].held
        }
        if any(answer.held != answers[0].held for answer in answers):
            answers = [
                getattr(fit, question)(*given, at={**means, **(at or {})}, **options)
                for fit in self.fits
            ]
        return answers[0].over_imputations(answers[1:], self.df_complete)

    def marginal_effects(
        self, variables: str | Sequence[str] | None = None, **options: Any
    ) -> Any:
        """Pooled marginal effects: averages over the rows of each fit, with its imputed
        values.

        Parameters
        ----------
        variables : str or sequence of str, optional
            As in `marginal_effects` of a single fit.
        **options
            scale, contrast, change, at, by, newdata, weights, level, re: as in
            `marginal_effects` of a single fit. Steps such as change="sd", and places
            such as at="mean", are computed in each fit.

        Returns
        -------
        MarginalEffects
            With `.frame` and `.contrasts()`; df are Barnard and Rubin's.
        """
        _refuse_options(options, "marginal_effects")
        answers = [fit.marginal_effects(variables, **options) for fit in self.fits]
        return answers[0].over_imputations(answers[1:], self.df_complete)

    def superiority(self, variable: str, **options: Any) -> Any:
        """Pooled win probabilities: means over the fits, with confidence intervals
        pooled on the logit scale.

        Parameters
        ----------
        variable : str
            As in `superiority` of a single fit.
        **options
            average, contrast, levels, better, by, newdata, weights, level, re: as in
            `superiority` of a single fit.

        Returns
        -------
        Superiority
            With `.frame` and `.contrasts()`; df are Barnard and Rubin's.
        """
        _refuse_options(options, "superiority")
        answers = [fit.superiority(variable, **options) for fit in self.fits]
        return answers[0].over_imputations(answers[1:], self.df_complete)

    # What is printed

    def summary(
        self,
        level: float = 0.95,
        *,
        exponentiate: bool = False,
        per: Any = None,
        labels: Mapping[str, str] | None = None,
    ) -> Summary:
        """The summary: its text is str(), its tables are in `.tables`.

        Parameters
        ----------
        level : float in (0, 1)
            Confidence level of the intervals.
        exponentiate : bool
            Whether to add a table of odds ratios, hazard ratios or exponentials of the
            location effects.
        per : dict of variable to number, or "sd", optional
            As in `tidy`.
        labels : dict of str to str, optional
            Text for variables or terms, such as {"age": "Age (years)"}.
        """
        first = self.fits[0]
        flag("exponentiate", exponentiate)
        tidy = self.tidy(level=level, per=per)
        tables = tables_of(self.fits, tidy, level, exponentiate, label_texts(labels))
        header = (
            ("Link", self.method.link_text),
            ("Std. errors", f"{first.own_covariance.words}, by Rubin's rules"),
            ("Observations", count(observations(first))),
            ("Complete-data df", f"{self.df_complete:g}"),
        )
        missing = not_estimated(self.fits[0].fit, self.parameters)
        usual = notes_of(self.fits, float(np.nanmax(self.fmi)))
        report = Report(
            title=self.title,
            header=header,
            tables=tuple(tables),
            notes=(*missing, *usual),
        )
        return Summary(report)

    def report(self, path: Any = None, *, pictures: bool = True) -> Any:
        """Write an HTML report of the pooled fits; see `report` of a single fit.
        Without a path the summary is returned.

        Parameters
        ----------
        path : str or path, optional
            "report.html".
        pictures : bool
            Whether to draw (by matplotlib).
        """
        from ..report.page import written_report

        flag("pictures", pictures)
        if path is None:
            return self.summary()
        return written_report(self, path, pictures=pictures)

    @property
    def plot(self) -> PooledPlots:
        """Plots of the pooled estimates, by matplotlib: `pooled.plot.forest()`."""
        from ..plots.accessor import PooledPlots

        return PooledPlots(self)

    def _repr_html_(self) -> Any:
        return self.summary()._repr_html_()

    def __repr__(self) -> str:
        return repr(self.summary())

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raise UnavailableError for attributes that only single fits have."""
            if not name.startswith("_") and hasattr(type(self.fits[0]), name):
                raise UnavailableError(
                    f"pooled fits have no .{name}. Use that of the single fits in"
                    f" .fits.{advice('pooled', name)}"
                )
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}"
            )


@with_advice
def pool(fits: Iterable[Any], dfcom: float | None = None) -> PooledResults:
    """Pool fits of one model to imputed data sets by Rubin's rules.

    Parameters
    ----------
    fits : list of LikelihoodResults
        At least 2, one for each imputed frame, by a likelihood method ("clm", "acat",
        "cratio", "sratio", "multinomial", "stereotype"). They may have nominal, scale
        and random effects and any covariance (`vcov=`, `cluster=`), but no smooths.
    dfcom : float, optional
        Complete-data degrees of freedom for the t distribution [Barnard & Rubin 1999];
        numpy.inf for those of Rubin (1987). By default the smallest value over the fits
        of: observations minus parameters; clusters minus 1 if standard errors are
        cluster-robust; or the degrees of freedom of a survey design. Under CR2
        Satterthwaite's degrees of freedom are an upper bound for each parameter.

    Returns
    -------
    PooledResults
        `.params`, `.se`, `.df`, `.fmi`, `.riv`, `.p_values`, `.vcov()`, `.confint()`,
        `.tidy()`, `.glance()`, `.summary()`; tests by `.test("x1 = 0, x2 = 0")` and, of
        terms, `.anova()`; `.predict()`, `.emmeans()`, `.emtrends()`,
        `.marginal_effects()`, `.superiority()`, `.plot.forest()` and
        `.report("page.html")`, as of a single fit.

    Raises
    ------
    OptionError
        Fewer than 2 fits, fits of different models, or fits without standard errors.
    DataError
        Fits to different rows, responses or weights; infinite estimates (separation).

    Warns
    -----
    DataWarning
        All fits are equal.

    Notes
    -----
    Estimates are means over the fits, with covariance T = U + (1 + 1/m) B: U is the
    mean covariance of the fits, B the covariance of the estimates between fits [Rubin
    1987]. Results agree with R's mice (`pool`, `D1`).

    Examples
    --------
    >>> import numpy as np
    >>> from ordstat import datasets, ordfit, pool
    >>> wine, rng = datasets.load("wine"), np.random.default_rng(1)
    >>> missing = wine.index % 5 == 0
    >>> fits = []
    >>> for _ in range(5):  # random numbers stand in for imputations
    ...     drawn = rng.choice(["no", "yes"], 72)
    ...     frame = wine.assign(contact=wine["contact"].where(~missing, drawn))
    ...     fits.append(ordfit("rating ~ temp + contact", frame))
    >>> pool(fits).fmi.round(2)[["temp[T.warm]", "contact[T.yes]"]].tolist()
    [0.07, 0.33]
    """
    given = poolable(fits)
    first = given[0].fit.coefficients
    if all(
        np.array_equal(fit.fit.coefficients, first, equal_nan=True) for fit in given
    ):
        warn(
            "all fits are equal, so that pooled standard errors do not account for"
            " missing values. Impute each frame with different random numbers.",
            DataWarning,
        )
    if dfcom is None:
        df = _smallest_df(given)
    elif isinstance(dfcom, float) and dfcom == np.inf:
        df = np.inf
    else:
        df = number("dfcom", dfcom, above=0, also=", or numpy.inf")
    return PooledResults(given, float(df))


def _smallest_df(fits: Iterable[LikelihoodResults]) -> float:
    """The smallest complete-data degrees of freedom of the fits, at least 1."""
    smallest = np.inf
    for fit in fits:
        clusters = fit.own_covariance.n_clusters
        residual = clusters - 1.0 if clusters else fit.df_residual
        smallest = min(
            smallest, max(residual, 1.0) if fit.design.survey is None else fit.design_df
        )
    return smallest
