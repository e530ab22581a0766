"""Pooled estimates of imputed data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import chdtrc, fdtrc

from .._typing import FloatArray
from ..checks import fraction, number
from ..exceptions import DataError, DataWarning, OptionError, UnavailableError, warn
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.parameters import Parameters, spread
from ..likelihood.standard_errors import symmetric_limits, two_sided
from ..report.cells import count
from ..report.frames import NotedFrame
from ..report.ratios import ratio_of
from ..report.render import Report, Summary, Table, as_text
from ..report.sections import shortened
from .comparison import described, estimated_places
from .summary import TITLES
from .tables import exponent_notes
from .wald import JOINT, linear_hypotheses

if TYPE_CHECKING:
    from ..formula.design import Design


@dataclass(frozen=True, eq=False)
class Pooled:
    """Estimates of m data sets, pooled by Rubin's rules [Rubin 1987; Barnard & Rubin 1999].

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
        """Linear combinations L (h, P), each with the smallest degrees of freedom of its estimates."""
        df = self.df_complete
        if isinstance(df, np.ndarray):
            df = np.where(L != 0.0, df, np.inf).min(axis=1)
        return Pooled(self.Q @ L.T, L @ self.U @ L.T, df)


def barnard_rubin(m: int, riv: FloatArray, df_complete: float | FloatArray) -> FloatArray:
    """Degrees of freedom of a pooled estimate: Rubin's (1987) if `df_complete` is infinite, else Barnard & Rubin's.

    1/nu = 1/nu_m + 1/nu_obs, with nu_m = (m - 1) / lambda^2 and lambda = r / (1 + r), the share of the variance due to
    nonresponse [Barnard & Rubin 1999].
    """
    lam = riv / (1.0 + riv)
    with np.errstate(divide="ignore"):
        complete = small_sample_df(df_complete)
        return np.asarray(1.0 / (lam**2 / (m - 1.0) + 1.0 / (complete * (1.0 - lam))))


def small_sample_df(df_complete: float | FloatArray) -> FloatArray:
    """Complete-data degrees of freedom for inference on the observed data [Barnard & Rubin 1999]."""
    nu = np.asarray(df_complete, dtype=np.float64)
    return nu * (1.0 - 2.0 / (nu + 3.0))


class FTest(NamedTuple):
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
    """Wald test that all estimates are 0, assuming the same relative increase in variance for all of them.

    F = Q' U^-1 Q / (k (1 + r)) with r = (1 + 1/m) tr(B U^-1) / k [Li, Raghunathan & Rubin 1991]. Degrees of freedom:
    for k = 1 as for a single estimate, else Reiter's (2007), or `large_sample_df` if `df_complete` is infinite.
    Reiter's formula needs t = k (m - 1) > 4 and enough complete-data degrees of freedom (see `reiter`); R's mice always
    uses it, even for k = 1. Outside its range we use (k + 1) nu / 2 as for large samples, with nu the degrees of
    freedom of one estimate with this r, and at most the degrees of freedom of complete data.
    """
    Q, k, m = pooled.estimate, pooled.estimate.size, pooled.m
    half = np.linalg.cholesky(pooled.within)
    z, between = np.linalg.solve(half, Q), np.linalg.solve(half, np.linalg.solve(half, pooled.between).T)
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

    None outside the range of the formula, whose moments exist only for t > 4 and nu > 4 (1 + a).
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


@dataclass(frozen=True, eq=False, repr=False)
class PooledResults:
    """One model fitted to m imputed data sets, pooled by Rubin's rules; returned by `pool`.

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
        estimated, complete = ~self.fits[0].fit.aliased, self.df_complete
        if all(fit.bias_reduced is not None for fit in self.fits):  # CR2: at most Satterthwaite's
            satterthwaite = [fit.coefficient_columns["df"][estimated] for fit in self.fits]
            complete = np.minimum(complete, np.min(satterthwaite, axis=0))
        Q = np.array([fit.fit.coefficients[estimated] for fit in self.fits])
        return Pooled(Q, np.array([fit.fixed_covariance for fit in self.fits]), complete)

    @cached_property
    def _columns(self) -> pd.DataFrame:
        """(P, 7) estimates, standard errors, t, degrees of freedom, p-values, riv and fmi, by parameter."""
        rules, first = self.pooled, self.fits[0]
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
            {name: spread(values, first.fit) for name, values in columns.items()}, index=self.parameters.names
        )

    @property
    def parameters(self) -> Parameters:
        """Names and kinds of the parameters."""
        return self.fits[0].parameters

    @property
    def n_imputations(self) -> int:
        """Number m of imputations."""
        return len(self.fits)

    @property
    def nobs(self) -> float:
        """Number of observations of each data set; the smallest if they differ."""
        return min(fit.nobs for fit in self.fits)

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
        return pd.concat([fit.thresholds for fit in self.fits], axis=1).mean(axis=1).rename("threshold")

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
        """(P,) two-sided p-values of estimate / standard error; not useful for thresholds."""
        return self._columns["p_value"].copy()

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
        fraction("level", level)
        estimate, error, df = (self._columns[name].to_numpy() for name in ("estimate", "std_error", "df"))
        limits = symmetric_limits(estimate, error, level, df)
        frame = pd.DataFrame(dict(zip(("lower", "upper"), limits, strict=True)), index=self.parameters.names)
        return NotedFrame.of(frame, (), f"Pooled limits, {100 * level:g}%", labels=self.fits[0].names_shown())

    def test(self, hypotheses: str) -> pd.DataFrame:
        """Tests of linear hypotheses on the parameters: "x1 = 0, x2 = 0".

        Parameters
        ----------
        hypotheses : str
            Equations separated by commas, as in `test` of a single fit.

        Returns
        -------
        pandas.DataFrame
            One row per equation, and "joint" for several: difference (left minus right side), std_error, F, df,
            df_denom, p_value, riv (relative increase in variance). A single equation is the t test of `summary`.

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
        difference, errors = shifted.estimate, shifted.std_error
        if len(L) > 1:
            if np.linalg.matrix_rank(L) < len(L):
                raise OptionError(f"hypotheses must not follow from each other; got {hypotheses!r}. Leave one out.")
            tests.append(d1(shifted))
            names, difference, errors = [*names, JOINT], np.append(difference, np.nan), np.append(errors, np.nan)
        table = _table_tests(tests, names)
        table.insert(0, "difference", difference)
        table.insert(1, "std_error", errors)
        return table

    def tidy(self, exponentiate: bool = False, level: float = 0.95) -> pd.DataFrame:
        """One row per parameter: term, estimate, std_error, statistic, df, p_value, conf_low, conf_high, riv, fmi and
        kind.

        Parameters
        ----------
        exponentiate : bool
            Ratios in place of effects and their limits, as in `tidy` of a single fit; other columns still refer to the
            coefficient.
        level : float in (0, 1)
            Confidence level of the limits.
        """
        numbers = np.column_stack((self.params, self.confint(level)))
        notes: list[str] = []
        if exponentiate:
            numbers = ratio_of(self.fits[0]).exponents(self.parameters.kinds, numbers)
            notes = exponent_notes(self.fits[0])
        frame = self._columns.assign(estimate=numbers[:, 0]).rename_axis("term").reset_index()
        frame.insert(6, "conf_low", numbers[:, 1])
        frame.insert(7, "conf_high", numbers[:, 2])
        frame["coef_type"] = self.parameters.kinds
        title = "Pooled parameters" + "; exponents of all but thresholds" * exponentiate
        return NotedFrame.of(frame, notes, title, labels=self.fits[0].names_shown())

    def report(self, level: float = 0.95) -> Report:
        """The summary as data.

        Parameters
        ----------
        level : float in (0, 1)
            Confidence level of the limits.
        """
        kinds = [kind for kind in _TITLES if kind in self.parameters.kinds]
        first, most = self.fits[0], max(fit.nobs for fit in self.fits)
        return Report(
            title=f"Pooled over {self.n_imputations} imputations: {first.family.name}, {described(first)}",
            header=(
                ("Link", dict(first.fit.facts)["link"]),
                ("Std. errors", f"{first.own_covariance.words}, by Rubin's rules"),
                ("Observations", count(self.nobs) if most == self.nobs else f"{count(self.nobs)} to {count(most)}"),
                ("Complete-data df", f"{self.df_complete:g}"),
            ),
            tables=tuple(_table(self, kind, level) for kind in kinds),
            notes=tuple(_notes(self)),
        )

    def summary(self, level: float = 0.95) -> Summary:
        """The summary: its text is str(), its tables are in `.tables`.

        Parameters
        ----------
        level : float in (0, 1)
            Confidence level of the limits.
        """
        return Summary(self.report(level))

    def _repr_html_(self) -> Any:
        return self.summary()._repr_html_()

    def __repr__(self) -> str:
        return as_text(self.report())

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raise UnavailableError for attributes that only single fits have."""
            if not name.startswith("_") and hasattr(type(self.fits[0]), name):
                instead = " Test pooled coefficients by .test('x1 = 0, x2 = 0')." * (name == "anova")
                raise UnavailableError(f"pooled fits have no .{name}. Use that of the single fits in .fits.{instead}")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _likelihood_fits(fits: Any) -> tuple[FittedLikelihood, ...]:
    """The fits as a tuple, checked to be two or more likelihood fits of one model with finite estimates."""
    if not isinstance(fits, (list, tuple)) and not isinstance(fits, Iterator):
        raise OptionError(f"fits must be a list of fits, one for each imputed frame; got a {type(fits).__name__}.")
    given = tuple(fits)
    for k, fit in enumerate(given, start=1):
        _require_likelihood(fit, f"fit {k} of {len(given)}")
    if len(given) < 2:
        raise OptionError(
            "fits must be at least 2 fits, one for each imputed frame, because the spread of the estimates over "
            f"imputations is part of their standard errors; got {len(given)}."
        )
    _require_one_model(given)
    _require_same_rows(given)
    _require_finite(given)
    return given


def _require_likelihood(fit: Any, which: str) -> None:
    """Raise OptionError unless `fit` is a likelihood fit without random effects."""
    if not isinstance(fit, FittedLikelihood):
        raise OptionError(
            f"fits must be likelihood fits ('clm', 'acat', 'probit', ...), because Rubin's rules need standard errors; "
            f"{which} is of type {type(fit).__name__}. Average the predictions of other fits."
        )
    if fit.fit.marginal is not None:
        raise OptionError(f"fits must not have random effects, which pool() does not support; {which} has them.")


#: What must be the same in all fits: its name, its value in a fit, and what to do otherwise.
_COMMON: tuple[tuple[str, Callable[[FittedLikelihood], Any], str], ...] = (
    ("model", lambda fit: "".join(described(fit).split()), "Pool fits of one formula and method only."),
    ("method", lambda fit: fit.method, "Pool fits of one method only."),
    (
        "levels of the response",
        lambda fit: fit.levels,
        "A level without rows is left out of a fit: merge rare levels before imputing, or give all fits the same "
        "levels=[...].",
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
                first, other = (described(each) if what == "model" else get(each) for each in (fits[0], fit))
                raise OptionError(
                    f"fits must have the same {what}: fit 1 has {first!r}, fit {k} has {other!r}. {remedy}"
                )
        if odd := sorted(estimated_places(fit).keys() ^ names):
            holder, other = (1, k) if odd[0] in names else (k, 1)
            raise OptionError(
                f"fits must estimate the same parameters; {odd[0]!r} is estimated in fit {holder} but not in fit "
                f"{other}. Give categorical columns the same categories in every frame, and drop columns that other "
                "columns determine in some frames."
            )


#: Share of the differences expected by chance above which responses belong to
#: different rows. An imputed response differs in the imputed rows only.
_MOST_IMPUTED = 0.5


def _require_same_rows(fits: tuple[FittedLikelihood, ...]) -> None:
    """Raise DataError unless all fits have the same rows, responses and weights.

    A response that differs in some rows counts as imputed; the summary says so.
    """
    a = fits[0].design
    for k, fit in enumerate(fits[1:], start=2):
        b = fit.design
        if a.sample.n != b.sample.n:
            raise DataError(
                f"pool needs fits to the same rows; fit 1 has {a.sample.n} rows, fit {k} "
                f"has {b.sample.n}. Leave out the incomplete data (.imp == 0 of R's mice), "
                "and fit all imputed frames to the same rows."
            )
        if not _same_labels(a, b):
            raise DataError(
                f"pool needs fits to the same rows; fit 1 and fit {k} have {a.sample.n} rows "
                "each, but with other index labels. Give all frames the same rows in the "
                "same order, with the same index."
            )
        if not np.array_equal(a.sample.case_weights, b.sample.case_weights):
            raise DataError(
                f"pool needs fits with the same weights; those of fit 1 and fit {k} differ. "
                "Fit all imputed frames with the weights of one of them."
            )
        differs = a.sample.y != b.sample.y
        shares = [np.bincount(y, minlength=len(fit.levels)) / y.size for y in (a.sample.y, b.sample.y)]
        by_chance = 1.0 - float(shares[0] @ shares[1])
        if differs.mean() > _MOST_IMPUTED * by_chance:
            raise DataError(
                f"pool needs fits to the same rows; the responses of fit 1 and fit {k} differ "
                f"in {int(differs.sum())} of {a.sample.n} rows. Give all frames the same rows "
                "in the same order."
            )


def _same_labels(a: Design, b: Design) -> bool:
    """Whether two designs have rows of the same labels, or are parts of one stacked frame.

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
            names = ", ".join(repr(name) for name in np.array(fit.parameters.names, dtype=object)[unknown][:4])
            raise DataError(
                f"pooling needs finite estimates with standard errors; fit {k} of {len(fits)} lacks them for "
                f"{names}. If its response is separated, fit all frames with penalty='jeffreys' or penalty=1.0, "
                "merge levels, or drop the column."
            )


def _table_tests(tests: list[FTest], names: list[str]) -> pd.DataFrame:
    rows = [(test.statistic, test.df, test.df_denom, test.p_value, test.riv) for test in tests]
    frame = pd.DataFrame(rows, names, ["F", "df", "df_denom", "p_value", "riv"])
    return NotedFrame.of(frame, (), "D1: Wald test, pooled")


#: An FMI above this calls for more imputations than usual.
_HIGH = 0.5
_FORMATS = {"df": ".1f", "p": "p", "FMI": ".2f"}
_HEADS = {"estimate": "estimate", "std_error": "SE", "df": "df", "p_value": "p"}


_TITLES = TITLES | {"threshold": "Thresholds"}


def _table(r: PooledResults, kind: str, level: float) -> Table:
    rows = r.parameters.of(kind)
    names = [r.parameters.records[row].shown({}) for row in rows]
    tidy = r.tidy(level=level).iloc[rows].set_axis(names)
    heads = _HEADS | {"conf_low": f"{50 * (1 - level):.3g}%", "conf_high": f"{50 * (1 + level):.3g}%", "fmi": "FMI"}
    table = Table(title=_TITLES[kind], frame=tidy[list(heads)].rename(columns=heads), formats=_FORMATS)
    return shortened(table, ".tidy()")


def _notes(r: PooledResults) -> list[str]:
    fmi = float(np.nanmax(r.fmi))
    notes = ["FMI: fraction of missing information, the lost share of the information in complete data."]
    if fmi > _HIGH:
        wanted = int(np.ceil(100.0 * fmi / 10.0) * 10)
        notes.append(
            f"The largest FMI is {fmi:.2f}: use about {wanted} imputations (100 FMI), so that another set "
            "would give similar results [White, Royston & Wood 2011]."
        )
    notes = notes if r.n_imputations < 100.0 * fmi else notes[:1]
    first = r.fits[0].design.sample.y
    imputed = np.any([fit.design.sample.y != first for fit in r.fits], axis=0)
    if imputed.any():
        notes.append(
            f"The response was imputed in {int(imputed.sum())} rows. Unless variables outside "
            "the model helped to impute it, such rows add noise alone [von Hippel 2007]."
        )
    return notes


def pool(fits: Iterable[Any], dfcom: float | None = None) -> PooledResults:
    """Pool fits of one model to imputed data sets by Rubin's rules.

    Parameters
    ----------
    fits : list of LikelihoodResults
        At least 2, one for each imputed frame, by clm or acat with any link. They may have nominal and scale effects
        and any covariance (`vcov=`, `cluster=`).
    dfcom : float, optional
        Complete-data degrees of freedom for the t distribution [Barnard & Rubin 1999]; numpy.inf for those of Rubin
        (1987). By default the smallest over the fits of observations minus parameters, of clusters minus 1 if standard
        errors are cluster-robust, or of the degrees of freedom of a survey design. Under CR2 each parameter has at most
        Satterthwaite's.

    Returns
    -------
    PooledResults
        `.params`, `.se`, `.df`, `.fmi`, `.riv`, `.p_values`, `.vcov()`, `.confint()`, `.tidy()`, `.summary()`; tests
        by `.test("x1 = 0, x2 = 0")`.

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
    if all(np.array_equal(fit.fit.coefficients, first, equal_nan=True) for fit in given):
        warn(
            "all fits are equal, so that pooled standard errors do not account for missing values. Impute each frame "
            "with different random numbers.",
            DataWarning,
        )
    if dfcom is None:
        df = _smallest_df(given)
    else:
        df = np.inf if dfcom == np.inf else number("dfcom", dfcom, above=0, also=", or numpy.inf")
    return PooledResults(given, float(df))


def _smallest_df(fits: Iterable[FittedLikelihood]) -> float:
    """The smallest complete-data degrees of freedom of the fits, at least 1."""
    smallest = np.inf
    for fit in fits:
        clusters = fit.own_covariance.n_clusters
        residual = clusters - 1.0 if clusters else fit.df_residual
        smallest = min(smallest, max(residual, 1.0) if fit.design.survey is None else fit.design_df)
    return smallest
