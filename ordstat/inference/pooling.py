"""Pooled estimates of imputed data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pandas as pd
from scipy.special import chdtrc, expit, fdtrc

from .._typing import FloatArray
from ..checks import advice, flag, fraction, label_texts, number, one_of
from ..exceptions import DataError, DataWarning, OptionError, UnavailableError, warn
from ..fit import least_expected
from ..judging.costs import CostMatrix
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.parameters import Parameters, spread
from ..likelihood.standard_errors import UNCERTAIN, symmetric_limits, two_sided
from ..report.advice import with_advice
from ..report.cells import count
from ..report.frames import NotedFrame
from ..report.ratios import ratio_of
from ..report.render import Report, Summary, Table
from ..report.sections import observations, one_row, shortened
from ..report.warnings import not_estimated
from ..results import known_type
from .comparison import described, estimated_places
from .predictions import delta_df, prediction_columns
from .summary import TITLES, ratio_table
from .tables import deviations_of, exponent_notes, rescaled
from .wald import JOINT, linear_hypotheses, term_hypotheses

if TYPE_CHECKING:
    from ..formula.design import Design
    from ..formula.names import Parameter
    from ..likelihood.family import Family
    from ..plots.accessor import PooledPlots


class Combined(NamedTuple):
    """Pooled values (...), with their standard errors and degrees of freedom."""

    estimate: FloatArray
    std_error: FloatArray
    df: FloatArray


def rubin(
    estimates: FloatArray, variances: FloatArray, df_complete: float | FloatArray
) -> Combined:
    """Rubin's rules for single numbers [Rubin 1987; Barnard & Rubin 1999].

    Parameters
    ----------
    estimates, variances : (m, ...)
        Of each fit, on a scale on which estimates are about normal.
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
    return Combined(
        estimates.mean(axis=0),
        np.sqrt(within + between),
        barnard_rubin(m, riv, df_complete),
    )


def bounded_limits(
    low: float,
    high: float,
    estimates: FloatArray,
    variances: FloatArray,
    df_complete: float | FloatArray,
    level: float,
) -> tuple[FloatArray, FloatArray]:
    """Limits of values between `low` and `high`, pooled on the logit scale of their
    share of the range.

    Values without error are their own limits.

    Parameters
    ----------
    low, high : float
    estimates, variances, df_complete
        As in `rubin`, on the scale of the values.
    level : float in (0, 1)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logits = np.log(estimates - low) - np.log(high - estimates)
        slopes = (high - low) / ((estimates - low) * (high - estimates))
        pooled = rubin(logits, variances * slopes**2, df_complete)
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
        return Pooled(self.Q @ L.T, L @ self.U @ L.T, df)


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
        return np.asarray(1.0 / (lam**2 / (m - 1.0) + 1.0 / (complete * (1.0 - lam))))


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
    always uses it, even for k = 1. Outside its range we use (k + 1) nu / 2 as for large
    samples, with nu the degrees of freedom of one estimate with this r, and at most the
    degrees of freedom of complete data.
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


@dataclass(frozen=True, eq=False)
class PooledRandom:
    """Pooled standard deviations and correlations of random effects.

    Attributes
    ----------
    names, kinds : list of str
        As in `RandomParameters` of a single fit.
    transformed : Combined
        Logs of standard deviations, Fisher's z of correlations.
    estimates, errors : (R,)
        On their own scale; where a fit has a variance of 0 or a correlation of 1, the
        mean without an error.
    """

    names: list[str]
    kinds: list[str]
    transformed: Combined
    estimates: FloatArray
    errors: FloatArray

    @classmethod
    def of(cls, fits: Sequence[Any], df_complete: float) -> PooledRandom:
        """Pool those of several fits."""
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

    def frame(self, level: float, factors: FloatArray) -> pd.DataFrame:
        """Rows of `tidy`, in units of the factors."""
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
        frame = pd.DataFrame(numbers).mul(factors, axis=0)
        frame["df"] = np.where(known, df, np.nan)
        return frame.assign(term=self.names, coef_type=self.kinds)


@with_advice
@dataclass(frozen=True, eq=False, repr=False)
class PooledResults:
    """One model fitted to m imputed data sets, pooled by Rubin's rules; returned by
    `pool`.

    Every question is put to all fits, and their answers are combined: estimates are
    means, variances those within fits plus (1 + 1/m) times those between fits, and
    limits come from t with Barnard and Rubin's degrees of freedom.

    Attributes
    ----------
    fits : tuple of LikelihoodResults
    df_complete : float
        Degrees of freedom that complete data would have.

    Examples
    --------
    >>> import numpy as np
    >>> from ordstat import datasets, ordfit, pool
    >>> wine, rng = datasets.load("wine"), np.random.default_rng(1)
    >>> drawn = [rng.choice(["no", "yes"], 72) for _ in range(5)]  # stand-ins for imputations
    >>> frames = [wine.assign(contact=wine["contact"].where(wine.index % 5 > 0, values)) for values in drawn]
    >>> pooled = pool([ordfit("rating ~ temp + contact", frame) for frame in frames])
    >>> pooled.confint(0.9).round(2).loc["temp[T.warm]"].tolist()
    [1.64, 3.45]
    """

    fits: tuple[FittedLikelihood, ...]
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
        return Pooled(
            Q, np.array([fit.fixed_covariance for fit in self.fits]), complete
        )

    @cached_property
    def _columns(self) -> pd.DataFrame:
        """(P, 7) estimates, standard errors, t, degrees of freedom, p-values, riv and
        fmi, by parameter.
        """
        rules = self.pooled
        first = self.fits[0]
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
        return pd.DataFrame(
            {name: spread(values, first.fit) for name, values in columns.items()},
            index=self.parameters.names,
        )

    @property
    def parameters(self) -> Parameters:
        """Names and kinds of the parameters."""
        return self.fits[0].parameters

    @property
    def design(self) -> Design:
        """The design of the first fit; those of the others differ in imputed values."""
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
        """The call that made the fits, and their pooling."""
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
        """Standard deviations and correlations of random effects; None without these."""
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
    def nobs(self) -> float:
        """Number of observations of each data set."""
        return self.fits[0].nobs

    @property
    def params(self) -> pd.Series:
        """(P,) means of the estimates, named as in each fit; NaN where aliased."""
        return self._columns["estimate"].copy()

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
        return self._columns["std_error"].copy()

    @property
    def df(self) -> pd.Series:
        """(P,) degrees of freedom of the t distribution [Barnard & Rubin 1999]."""
        return self._columns["df"].copy()

    @property
    def riv(self) -> pd.Series:
        """(P,) relative increase in variance due to nonresponse."""
        return self._columns["riv"].copy()

    @property
    def fmi(self) -> pd.Series:
        """(P,) fraction of missing information."""
        return self._columns["fmi"].copy()

    @property
    def p_values(self) -> pd.Series:
        """(P,) two-sided p-values of estimate / standard error; not useful for
        thresholds.
        """
        return self._columns["p_value"].copy()

    def vcov(self) -> pd.DataFrame:
        """Covariance of the estimated (not aliased) parameters: U + (1 + 1/m) B of
        Rubin's rules.
        """
        names = np.array(self.parameters.names, dtype=object)[~self.fits[0].fit.aliased]
        return pd.DataFrame(self.pooled.total, index=names, columns=names)

    def confint(self, level: float = 0.95) -> pd.DataFrame:
        """Confidence limits by quantiles of the t distribution, columns lower and
        upper.

        Parameters
        ----------
        level : float in (0, 1)
        """
        fraction("level", level)
        estimate, error, df = (
            self._columns[name].to_numpy() for name in ("estimate", "std_error", "df")
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
            f"Pooled limits, {100 * level:g}%",
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
            An equation that cannot be read, is not linear or follows from the others.

        Notes
        -----
        Wald tests of the pooled estimates (D1), assuming the same relative increase in variance in all directions [Li,
        Raghunathan & Rubin 1991; for small complete samples Reiter 2007].

        Examples
        --------
        >>> import numpy as np
        >>> from ordstat import datasets, ordfit, pool
        >>> wine, rng = datasets.load("wine"), np.random.default_rng(1)
        >>> drawn = [rng.choice(["no", "yes"], 72) for _ in range(5)]  # stand-ins for imputations
        >>> frames = [wine.assign(contact=wine["contact"].where(wine.index % 5 > 0, values)) for values in drawn]
        >>> pooled = pool([ordfit("rating ~ temp + contact", frame) for frame in frames])
        >>> pooled.test("temp = 0, contact = 0").round(2).loc["joint", ["F", "df"]].tolist()
        [11.36, 2.0]
        """
        names, L, target = linear_hypotheses(self.fits[0], hypotheses)
        combined = self.pooled.combined(L)
        shifted = replace(combined, Q=combined.Q - target)
        tests = [d1(shifted.combined(row[None])) for row in np.eye(len(L))]
        difference = shifted.estimate
        errors = shifted.std_error
        if len(L) > 1:
            if np.linalg.matrix_rank(L) < len(L):
                raise OptionError(
                    f"hypotheses must not follow from each other; got {hypotheses!r}."
                    " Leave one out."
                )
            tests.append(d1(shifted))
            names = [*names, JOINT]
            difference = np.append(difference, np.nan)
            errors = np.append(errors, np.nan)
        table = _table_tests(tests, names)
        table.insert(0, "difference", difference)
        table.insert(1, "std_error", errors)
        return table

    def anova(self, *others: Any, type: str = "I") -> pd.DataFrame:
        """Tests of the location terms, pooled.

        Parameters
        ----------
        type : {"I", "II", "III", "baseline"}
            What is tested of a term that stands beside others, as in `anova` of a
            single fit. Types I and II depend on the columns, so that each fit has its
            own contrasts.

        Returns
        -------
        pandas.DataFrame
            One row per term: F, df, df_denom, p_value, riv; NaN where aliased columns
            leave the hypotheses of a term undetermined.

        Raises
        ------
        UnavailableError
            Comparison with other fits: likelihoods have no pooled value. Rows in
            blocks.

        Notes
        -----
        Wald tests (D1), as in `test` [Li, Raghunathan & Rubin 1991; Reiter 2007].

        Examples
        --------
        >>> import numpy as np
        >>> from ordstat import datasets, ordfit, pool
        >>> wine, rng = datasets.load("wine"), np.random.default_rng(1)
        >>> drawn = [rng.choice(["no", "yes"], 72) for _ in range(5)]  # stand-ins for imputations
        >>> frames = [wine.assign(contact=wine["contact"].where(wine.index % 5 > 0, values)) for values in drawn]
        >>> pooled = pool([ordfit("rating ~ temp + contact", frame) for frame in frames])
        >>> pooled.anova(type="III").round(2)["F"].to_dict()
        {'temp': 21.97, 'contact': 7.01}
        """
        if others:
            raise UnavailableError(
                "pooled fits have no likelihood ratio, as likelihoods of imputed data"
                " have no pooled value. Give anova() the largest model alone, or use"
                " .test('x1 = 0, x2 = 0')."
            )
        asked = [term_hypotheses(fit, type) for fit in self.fits if fit.in_memory]
        if len(asked) < len(self.fits):
            raise UnavailableError(
                "pooled fits to rows in blocks have no .anova. Test pooled coefficients by"
                " .test('x1 = 0, x2 = 0')."
            )
        kind = asked[0][0]
        tests = [
            self._tested(rows)
            for rows in zip(*(rows for _, rows in asked), strict=True)
        ]
        table = _table_tests(tests, list(self.design.terms))
        title = f"D1: Wald tests of type {kind}, pooled"
        return NotedFrame.of(table, (), title, labels=self.names_shown())

    def _tested(self, rows: Sequence[FloatArray]) -> FTest:
        """Test that L b = 0 with the rows L (h, P') of each fit; NaN without determined
        rows.
        """
        stacked = np.array(rows)
        if not stacked.size or not np.isfinite(stacked).all():
            return FTest(np.nan, 0, np.nan, np.nan)
        rules = self.pooled
        Q = np.einsum("mhp,mp->mh", stacked, rules.Q)
        U = stacked @ rules.U @ stacked.transpose(0, 2, 1)
        return d1(Pooled(Q, U, rules.combined(stacked[0]).df_complete))

    def tidy(
        self, exponentiate: bool = False, level: float = 0.95, per: Any = None
    ) -> pd.DataFrame:
        """One row per parameter: term, estimate, std_error, statistic, df, p_value,
        conf_low, conf_high, riv, fmi and kind.

        Standard deviations of random effects are pooled on the log scale, correlations
        on Fisher's z scale.

        Parameters
        ----------
        exponentiate : bool
            Ratios in place of effects and their limits, as in `tidy` of a single fit;
            other columns still refer to the coefficient.
        level : float in (0, 1)
            Confidence level of the limits.
        per : dict of variable to number, or "sd", optional
            Size of the change of numeric variables, as in `tidy` of a single fit; "sd"
            is the mean over the fits of the standard deviation. `attrs["per"]` lists
            the terms.
        """
        flag("exponentiate", exponentiate)
        first = self.fits[0]
        frame = self._columns.copy()
        numbers = np.column_stack((self.params, self.confint(level)))
        factors = np.ones(len(self.all_parameters))
        suffixes: dict[str, str] = {}
        if per is not None:
            every = [deviations_of(fit) for fit in self.fits]
            deviations = {
                name: float(np.mean([each[name] for each in every]))
                for name in every[0]
            }
            factors, suffixes = rescaled(first, per, deviations)
        numbers *= factors[: len(numbers), None]
        frame["std_error"] *= factors[: len(numbers)]
        if exponentiate:
            numbers = ratio_of(first).exponents(self.parameters.kinds, numbers)
        frame["estimate"] = numbers[:, 0]
        frame = frame.rename_axis("term").reset_index()
        frame.insert(6, "conf_low", numbers[:, 1])
        frame.insert(7, "conf_high", numbers[:, 2])
        frame["coef_type"] = self.parameters.kinds
        if self.random_parameters is not None:
            random = self.random_parameters.frame(level, factors[len(numbers) :])
            frame = pd.concat(
                [frame, random.reindex(columns=frame.columns)], ignore_index=True
            )
        frame.attrs |= {"per": suffixes} if suffixes else {}
        notes = [*not_estimated(first.fit, self.parameters)]
        notes += [f"{name}: {suffix}." for name, suffix in suffixes.items()]
        if exponentiate:
            notes += exponent_notes(first)
        title = (
            "Pooled parameters; effects exponentiated"
            if exponentiate
            else "Pooled parameters"
        )
        return NotedFrame.of(frame, notes, title, labels=self.names_shown())

    def glance(self) -> pd.DataFrame:
        """One row of figures: nobs, n_imputations, edf, df_complete, the largest fmi,
        and the test of all effects (D1).

        Likelihoods, AIC and R2s of fits to imputed data have no pooled value.

        Examples
        --------
        >>> import numpy as np
        >>> from ordstat import datasets, ordfit, pool
        >>> wine, rng = datasets.load("wine"), np.random.default_rng(1)
        >>> drawn = [rng.choice(["no", "yes"], 72) for _ in range(5)]  # stand-ins for imputations
        >>> frames = [wine.assign(contact=wine["contact"].where(wine.index % 5 > 0, values)) for values in drawn]
        >>> figures = pool([ordfit("rating ~ temp + contact", frame) for frame in frames]).glance()
        >>> figures[["nobs", "n_imputations", "fmi", "wald_F", "wald_df"]].round(2).to_numpy().tolist()
        [[72.0, 5.0, 0.33, 11.36, 2.0]]
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
        if chosen.any():
            test = d1(self.pooled.combined(np.eye(chosen.size)[chosen]))
            figures |= {"wald_F": test.statistic, "wald_df": test.df}
            figures |= {"wald_df_resid": test.df_denom, "wald_p_value": test.p_value}
        converged = all(fit.fit.certificate.reached for fit in self.fits)
        return one_row(figures | {"converged": converged})

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
    ) -> pd.Series | pd.DataFrame:
        """Predict new rows, or the rows of the fits, by the mean of the predictions of
        all fits.

        Parameters
        ----------
        newdata : data frame, optional
            As in `predict` of a single fit; None means the rows of each fit, with its
            imputed values.
        type : str
            As in `predict` of a single fit, except "margin". "class" is the level of
            smallest expected cost by the mean probabilities.
        se : bool
            Add standard errors by Rubin's rules.
        interval : "confidence", optional
            Add confidence limits; for probabilities and the expected rank they are
            pooled on the logit scale.
        level : float in (0, 1)
            Confidence level of the limits.
        cost, re
            As in `predict` of a single fit.

        Returns
        -------
        pandas.Series or pandas.DataFrame
            As of a single fit.

        Raises
        ------
        OptionError
            Another type, or standard errors of a type without them.

        Examples
        --------
        >>> import numpy as np
        >>> from ordstat import datasets, ordfit, pool
        >>> wine, rng = datasets.load("wine"), np.random.default_rng(1)
        >>> drawn = [rng.choice(["no", "yes"], 72) for _ in range(5)]  # stand-ins for imputations
        >>> frames = [wine.assign(contact=wine["contact"].where(wine.index % 5 > 0, values)) for values in drawn]
        >>> pooled = pool([ordfit("rating ~ temp + contact", frame) for frame in frames])
        >>> pooled.predict(wine.head(2), "mean", se=True).round(3).to_numpy().tolist()
        [[2.052, 0.163], [2.052, 0.163]]
        """
        one_of("interval", interval, ("confidence", None))
        fraction("level", level)
        first = self.fits[0]
        type = known_type(first, type)
        given = {} if re is None else {"re": re}
        uncertain = flag("se", se) or interval is not None
        allowed = UNCERTAIN if uncertain else ("class", *UNCERTAIN)
        if type not in allowed:
            what = (
                "with standard errors or intervals" if uncertain else "over imputations"
            )
            raise OptionError(
                f"type must be one of {', '.join(map(repr, allowed))} {what}; got"
                f" {type!r}."
            )
        if cost is not None and type != "class":
            raise OptionError(f"cost goes with type='class'; got type={type!r}.")
        if uncertain:
            answers = [
                cast(Any, fit).predict(newdata, type, se=True, **given)
                for fit in self.fits
            ]
            complete = self._complete_df(newdata, type)
            return _pooled_predictions(
                first, answers, complete, type, se, interval, level
            )
        of_class = type == "class"
        answers = [
            cast(Any, fit).predict(newdata, "prob" if of_class else type, **given)
            for fit in self.fits
        ]
        mean = np.mean(
            [answer.to_numpy(dtype=np.float64) for answer in answers], axis=0
        )
        if isinstance(answers[0], pd.Series):
            return pd.Series(mean, index=answers[0].index, name=answers[0].name)
        if not of_class:
            return pd.DataFrame(
                mean, index=answers[0].index, columns=answers[0].columns
            )
        known = ~np.isnan(mean).any(axis=1)
        codes = np.full(len(mean), -1, dtype=np.intp)
        chosen = (
            first.rule.cost if cost is None else CostMatrix.parse(cost, first.levels)
        )
        codes[known] = least_expected(mean[known], chosen)
        return first.design.levels.categorical(
            codes, answers[0].index, first.design.response
        )

    def _complete_df(self, newdata: Any, type: str) -> float | FloatArray:
        """Complete-data degrees of freedom of predictions: under CR2 at most
        Satterthwaite's of each.
        """
        if any(fit.bias_reduced is None for fit in self.fits):
            return self.df_complete
        smallest: float | FloatArray = self.df_complete
        for fit in self.fits:
            target = fit.target(newdata)
            df = delta_df(fit, target.rows, type)
            placed = np.full((target.complete.size, df.shape[1]), np.nan)
            placed[target.complete] = df
            smallest = np.minimum(smallest, placed)
        return smallest

    def emmeans(
        self,
        variables: str | Sequence[str],
        *,
        at: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Any:
        """Estimated marginal means of all fits, pooled.

        Numbers are held at the mean over all fits, so that every fit has the same grid.
        Probabilities and expected ranks are means over the fits, which add up; their
        limits are pooled on the logit scale. Odds are pooled as log odds.

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

        Examples
        --------
        >>> import numpy as np
        >>> from ordstat import datasets, ordfit, pool
        >>> wine, rng = datasets.load("wine"), np.random.default_rng(1)
        >>> drawn = [rng.choice(["no", "yes"], 72) for _ in range(5)]  # stand-ins for imputations
        >>> frames = [wine.assign(contact=wine["contact"].where(wine.index % 5 > 0, values)) for values in drawn]
        >>> pooled = pool([ordfit("rating ~ temp + contact", frame) for frame in frames])
        >>> pooled.emmeans("contact").contrasts()[["contrast", "estimate", "std_error"]].round(3).values.tolist()
        [['no - yes', -1.48, 0.559]]
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
        """Slopes of a number by the levels of other variables, of all fits, pooled.

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
        """Marginal effects of all fits, pooled: averages over the rows of each fit,
        with its imputed values.

        Parameters
        ----------
        variables : str or sequence of str, optional
            As in `marginal_effects` of a single fit.
        **options
            scale, contrast, change, at, by, newdata, weights, level, re: as in
            `marginal_effects` of a single fit. Steps such as change="sd", and places
            such as at="mean", are those of each fit.

        Returns
        -------
        MarginalEffects
            With `.frame` and `.contrasts()`; df are Barnard and Rubin's.

        Examples
        --------
        >>> import numpy as np
        >>> from ordstat import datasets, ordfit, pool
        >>> wine, rng = datasets.load("wine"), np.random.default_rng(1)
        >>> drawn = [rng.choice(["no", "yes"], 72) for _ in range(5)]  # stand-ins for imputations
        >>> frames = [wine.assign(contact=wine["contact"].where(wine.index % 5 > 0, values)) for values in drawn]
        >>> pooled = pool([ordfit("rating ~ temp + contact", frame) for frame in frames])
        >>> effects = pooled.marginal_effects("contact", scale="mean").frame
        >>> effects[["contrast", "estimate", "std_error"]].round(3).values.tolist()
        [['yes - no', 0.659, 0.227]]
        """
        _refuse_options(options, "marginal_effects")
        answers = [
            cast(Any, fit).marginal_effects(variables, **options) for fit in self.fits
        ]
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
            Confidence level of the limits.
        exponentiate : bool
            Whether to add a table of odds ratios, hazard ratios or exponents of the
            location effects.
        per : dict of variable to number, or "sd", optional
            As in `tidy`.
        labels : dict of str to str, optional
            Text for variables or terms, such as {"age": "Age (years)"}.
        """
        first = self.fits[0]
        tables = _tables(
            self, level, flag("exponentiate", exponentiate), per, label_texts(labels)
        )
        report = Report(
            title=self.title,
            header=(
                ("Link", dict(first.fit.facts)["link"]),
                ("Std. errors", f"{first.own_covariance.words}, by Rubin's rules"),
                ("Observations", count(observations(first))),
                ("Complete-data df", f"{self.df_complete:g}"),
            ),
            tables=tuple(tables),
            notes=tuple(_notes(self)),
        )
        return Summary(report)

    def report(self, path: Any = None, *, pictures: bool = True) -> Any:
        """Write a page about the pooled fits; see `report` of a single fit. Without a
        path the summary is returned.

        Parameters
        ----------
        path : str or path, optional
            "report.html".
        pictures : bool
            Whether to draw (by matplotlib).
        """
        from ..report.page import written_report

        flag("pictures", pictures)
        return (
            self.summary()
            if path is None
            else written_report(self, path, pictures=pictures)
        )

    @property
    def plot(self) -> PooledPlots:
        """Pictures of the pooled estimates, by matplotlib: `pooled.plot.forest()`."""
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


def _likelihood_fits(fits: Any) -> tuple[FittedLikelihood, ...]:
    """The fits as a tuple, checked to be two or more likelihood fits of one model with
    finite estimates.
    """
    if not isinstance(fits, (list, tuple)) and not isinstance(fits, Iterator):
        raise OptionError(
            "fits must be a list of fits, one for each imputed frame; got a"
            f" {type(fits).__name__}."
        )
    given = tuple(fits)
    for k, fit in enumerate(given, start=1):
        _require_likelihood(fit, f"fit {k} of {len(given)}")
    if len(given) < 2:
        raise OptionError(
            "fits must be at least 2 fits, one for each imputed frame, because the"
            " spread of the estimates over imputations is part of their standard"
            f" errors; got {len(given)}."
        )
    _require_one_model(given)
    _require_same_rows(given)
    _require_finite(given)
    return given


def _require_likelihood(fit: Any, which: str) -> None:
    """Raise OptionError unless `fit` is a likelihood fit."""
    if not isinstance(fit, FittedLikelihood):
        raise OptionError(
            "fits must be likelihood fits ('clm', 'acat', 'cratio', ...), because"
            f" Rubin's rules need standard errors; {which} is of type"
            f" {type(fit).__name__}. Average the predictions of other fits."
        )


#: What must be the same in all fits: its name, its value in a fit, and what to do
#: otherwise.
_COMMON: tuple[tuple[str, Callable[[FittedLikelihood], Any], str], ...] = (
    (
        "model",
        lambda fit: "".join(described(fit).split()),
        "Pool fits of one formula and method only.",
    ),
    ("method", lambda fit: fit.method, "Pool fits of one method only."),
    (
        "levels of the response",
        lambda fit: fit.levels,
        (
            "Without levels= a level that no row has is left out of a fit: give all"
            " fits the same levels=[...], or merge rare levels before imputing."
        ),
    ),
    ("covariance", lambda fit: fit.covariance, "Use the same vcov for all."),
    (
        "weights",
        lambda fit: "none" if fit.design.sample.weights is None else "weights",
        "Fit all of them with weights=, or none.",
    ),
)


def _require_one_model(fits: tuple[FittedLikelihood, ...]) -> None:
    """Raise OptionError unless all fits are of one model, with the same parameters."""
    names = estimated_places(fits[0]).keys()
    for k, fit in enumerate(fits, start=1):
        for what, get, remedy in _COMMON:
            if get(fit) != get(fits[0]):
                first, other = (
                    described(each) if what == "model" else get(each)
                    for each in (fits[0], fit)
                )
                raise OptionError(
                    f"fits must have the same {what}: fit 1 has {first!r}, fit {k} has"
                    f" {other!r}. {remedy}"
                )
        if odd := sorted(estimated_places(fit).keys() ^ names):
            holder, other = (1, k) if odd[0] in names else (k, 1)
            raise OptionError(
                f"fits must estimate the same parameters; {odd[0]!r} is estimated in"
                f" fit {holder} but not in fit {other}. Give categorical columns the"
                " same categories in every frame, and drop columns that other columns"
                " determine in some frames."
            )


#: Share of the differences expected by chance above which responses belong to
#: different rows. An imputed response differs in the imputed rows only.
_MOST_IMPUTED = 0.5


def _require_same_rows(fits: tuple[FittedLikelihood, ...]) -> None:
    """Raise DataError unless all fits have the same rows, responses and weights.

    A response that differs in some rows counts as imputed; the summary says so. Of rows
    in blocks the numbers of rows and sums of weights are compared.
    """
    first = fits[0]
    a = first.design
    for k, fit in enumerate(fits[1:], start=2):
        b = fit.design
        if first.n_rows != fit.n_rows:
            raise DataError(
                f"pool needs fits to the same rows; fit 1 has {first.n_rows} rows, fit"
                f" {k} has {fit.n_rows}. Leave out the incomplete data (.imp == 0 of"
                " R's mice), and fit all imputed frames to the same rows."
            )
        in_memory = first.in_memory and fit.in_memory
        if first.nobs != fit.nobs or (
            in_memory
            and not np.array_equal(a.sample.case_weights, b.sample.case_weights)
        ):
            raise DataError(
                f"pool needs fits with the same weights; those of fit 1 and fit {k}"
                " differ. Fit all imputed frames with the weights of one of them."
            )
        if not in_memory:
            continue
        if not _same_labels(a, b):
            raise DataError(
                f"pool needs fits to the same rows; fit 1 and fit {k} have {a.sample.n}"
                " rows each, but with other index labels. Give all frames the same"
                " rows in the same order, with the same index."
            )
        differs = a.sample.y != b.sample.y
        shares = [
            np.bincount(y, minlength=len(fit.levels)) / y.size
            for y in (a.sample.y, b.sample.y)
        ]
        by_chance = 1.0 - float(shares[0] @ shares[1])
        if differs.mean() > _MOST_IMPUTED * by_chance:
            raise DataError(
                f"pool needs fits to the same rows; the responses of fit 1 and fit {k}"
                f" differ in {int(differs.sum())} of {a.sample.n} rows. Give all frames"
                " the same rows in the same order."
            )


def _same_labels(a: Design, b: Design) -> bool:
    """Whether two designs have rows of the same labels, or are parts of one stacked
    frame.

    The labels of a stacked frame go on from one part to the next, so that no part
    shares one with another. The places of the rows in their parts are then compared.
    """
    if a.index.equals(b.index):
        return True
    if a.index.isin(b.index).any():
        return False
    if not all(_placed(design) for design in (a, b)):
        return True
    first, second = (design.data.index.get_indexer(design.index) for design in (a, b))
    if a.data is b.data:  # parts chosen by subset=
        return np.array_equal(first - first[0], second - second[0])
    return a.n_given == b.n_given and np.array_equal(first, second)


def _placed(design: Design) -> bool:
    """Whether the data are there and their labels tell the places of the rows."""
    return isinstance(design.data, pd.DataFrame) and design.data.index.is_unique


def _require_finite(fits: tuple[FittedLikelihood, ...]) -> None:
    """Raise DataError for infinite estimates and for estimates without standard errors."""
    for k, fit in enumerate(fits, start=1):
        unknown = ~np.isfinite(fit.se.to_numpy()) & ~fit.fit.aliased
        unknown |= fit.fit.infinite
        if unknown.any():
            names = ", ".join(
                repr(name)
                for name in np.array(fit.parameters.names, dtype=object)[unknown][:4]
            )
            firth = "penalty='jeffreys' or " if fit.family.local else ""
            raise DataError(
                "pooling needs finite estimates with standard errors; fit "
                f"{k} of {len(fits)} lacks them for {names}. If its response is "
                f"separated, fit all frames with {firth}penalty=1.0, merge levels, or "
                "drop the column."
            )


def _table_tests(tests: list[FTest], names: list[str]) -> pd.DataFrame:
    rows = [
        (test.statistic, test.df, test.df_denom, test.p_value, test.riv)
        for test in tests
    ]
    frame = pd.DataFrame(rows, names, ["F", "df", "df_denom", "p_value", "riv"])
    return NotedFrame.of(frame, (), "D1: Wald test, pooled")


#: An FMI above this calls for more imputations than usual.
_HIGH = 0.5
_FORMATS = {"df": ".1f", "p": "p", "FMI": ".2f"}
_HEADS = {"estimate": "estimate", "std_error": "SE", "df": "df", "p_value": "p"}


_TITLES = TITLES | {"threshold": "Thresholds"}


def _tables(
    r: PooledResults,
    level: float,
    exponentiate: bool,
    per: Any,
    labels: Mapping[str, str],
) -> Iterator[Table]:
    """Tables of the parameters by kind, with ratios of the location effects if
    `exponentiate`.
    """
    tidy = r.tidy(level=level, per=per)
    suffixes = tidy.attrs.get("per", {})
    names = []
    for record in r.all_parameters:
        # the title says "scale"
        write = record.effect if record.kind == "scale" else record.shown
        unit = suffixes.get(record.name, "")
        names.append(f"{write(labels)}, {unit}" if unit else write(labels))
    limits = {
        "conf_low": f"{50 * (1 - level):.3g}%",
        "conf_high": f"{50 * (1 + level):.3g}%",
    }
    heads = _HEADS | limits | {"fmi": "FMI"}
    frame = pd.DataFrame(tidy)[list(heads)].rename(columns=heads).set_axis(names)
    for kind, title in _TITLES.items():
        rows = (tidy["coef_type"] == kind).to_numpy()
        if rows.any():
            yield shortened(
                Table(title=title, frame=frame[rows], formats=_FORMATS), ".tidy()"
            )
        if exponentiate and kind == "location" and rows.any():
            yield ratio_table(
                r.fits[0], frame.loc[rows, ["estimate", *limits.values()]]
            )
    random = tidy["coef_type"].isin(["sd", "cor"]).to_numpy()
    if random.any():
        table = frame.loc[random].drop(columns=["p", "FMI"])
        note = (
            "Standard deviations are pooled on the log scale, correlations on Fisher's"
            " z scale."
        )
        if table["SE"].isna().any():
            note += " NA: a variance is 0, or a correlation 1, in a fit."
        yield Table(title="Random effects", frame=table, formats=_FORMATS, note=note)


def _pooled_predictions(
    first: FittedLikelihood,
    answers: Sequence[pd.DataFrame],
    df_complete: float | FloatArray,
    type: str,
    se: bool,
    interval: str | None,
    level: float,
) -> pd.DataFrame:
    """Predictions with standard errors of all fits, by Rubin's rules."""
    shape = (len(answers), len(answers[0]), -1)
    estimates, errors = (
        np.array([answer[name].to_numpy() for answer in answers]).reshape(shape)
        for name in ("estimate", "std_error")
    )
    pooled = rubin(estimates, errors**2, df_complete)
    tables = {"estimate": pooled.estimate}
    if se:
        tables["std_error"] = pooled.std_error
    if interval is not None:
        ends = {
            "prob": (0.0, 1.0),
            "cum_prob": (0.0, 1.0),
            "mean": (1.0, float(len(first.levels))),
        }.get(type)
        if ends is None:
            limits = symmetric_limits(
                pooled.estimate, pooled.std_error, level, pooled.df
            )
        else:
            limits = bounded_limits(*ends, estimates, errors**2, df_complete, level)
        tables["lower"], tables["upper"] = limits
    columns = prediction_columns(first, type, list(tables))
    frame = pd.DataFrame(
        np.hstack(list(tables.values())), index=answers[0].index
    ).set_axis(columns, axis=1)
    notes = [
        f"Standard errors: {first.own_covariance.words}, by Rubin's rules over"
        f" {len(answers)} imputations."
    ]
    return NotedFrame.of(frame, notes, f"Predictions, type {type!r}")


def _notes(r: PooledResults) -> list[str]:
    fmi = float(np.nanmax(r.fmi))
    notes = [
        "FMI: fraction of missing information, the lost share of the information in"
        " complete data."
    ]
    if fmi > _HIGH:
        wanted = int(np.ceil(100.0 * fmi / 10.0) * 10)
        notes.append(
            f"The largest FMI is {fmi:.2f}: use about {wanted} imputations (100 FMI),"
            " so that another set would give similar results [White, Royston & Wood"
            " 2011]."
        )
    notes = notes if r.n_imputations < 100.0 * fmi else notes[:1]
    first = r.fits[0].design.sample.y
    in_memory = [fit for fit in r.fits if fit.in_memory]
    imputed = np.any([fit.design.sample.y != first for fit in in_memory], axis=0)
    if imputed.any():
        notes.append(
            f"The response was imputed in {int(imputed.sum())} rows. Unless variables"
            " outside the model helped to impute it, such rows add noise alone [von"
            " Hippel 2007]."
        )
    return notes


@with_advice
def pool(fits: Iterable[Any], dfcom: float | None = None) -> PooledResults:
    """Pool fits of one model to imputed data sets by Rubin's rules.

    Parameters
    ----------
    fits : list of LikelihoodResults
        At least 2, one for each imputed frame, by "clm", "acat", "cratio" or
        "sratio" with any link. They may have nominal and scale effects, random effects
        and any covariance (`vcov=`, `cluster=`).
    dfcom : float, optional
        Complete-data degrees of freedom for the t distribution [Barnard & Rubin 1999];
        numpy.inf for those of Rubin (1987). By default the smallest over the fits of
        observations minus parameters, of clusters minus 1 if standard errors are
        cluster-robust, or of the degrees of freedom of a survey design. Under CR2 each
        parameter has at most Satterthwaite's.

    Returns
    -------
    PooledResults
        `.params`, `.se`, `.df`, `.fmi`, `.riv`, `.p_values`, `.vcov()`, `.confint()`,
        `.tidy()`, `.glance()`, `.summary()`; tests by `.test("x1 = 0, x2 = 0")` and, of
        terms, `.anova()`; `.predict()`, `.emmeans()`, `.emtrends()`,
        `.marginal_effects()`, `.plot.forest()` and `.report("page.html")`, as of a
        single fit.

    Raises
    ------
    OptionError
        Fewer than 2 fits, fits of different models, or fits without standard errors.
    DataError
        Fits to different rows, responses or weights; infinite estimates (a separated
        response).

    Warns
    -----
    DataWarning
        All fits are equal.

    Notes
    -----
    Estimates are means over the fits, with covariance T = U + (1 + 1/m) B: U is the mean covariance of the fits, B the
    covariance of the estimates between fits [Rubin 1987]. Results agree with R's mice (`pool`, `D1`).

    Examples
    --------
    >>> import numpy as np
    >>> from ordstat import datasets, ordfit, pool
    >>> wine, rng = datasets.load("wine"), np.random.default_rng(1)
    >>> drawn = [rng.choice(["no", "yes"], 72) for _ in range(5)]  # stand-ins for imputations
    >>> frames = [wine.assign(contact=wine["contact"].where(wine.index % 5 > 0, values)) for values in drawn]
    >>> pooled = pool([ordfit("rating ~ temp + contact", frame) for frame in frames])
    >>> pooled.fmi.round(2)[["temp[T.warm]", "contact[T.yes]"]].tolist()
    [0.07, 0.33]
    """
    given = _likelihood_fits(fits)
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


def _smallest_df(fits: Iterable[FittedLikelihood]) -> float:
    """The smallest complete-data degrees of freedom of the fits, at least 1."""
    smallest = np.inf
    for fit in fits:
        clusters = fit.own_covariance.n_clusters
        residual = clusters - 1.0 if clusters else fit.df_residual
        smallest = min(
            smallest, max(residual, 1.0) if fit.design.survey is None else fit.design_df
        )
    return smallest
