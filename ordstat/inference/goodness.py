"""Goodness of fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..checks import generator, one_of, whole
from ..exceptions import ConvergenceWarning, DataError, OptionError, warn
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.parameters import refuse_survey
from ..likelihood.wald import chi2_tail
from ..report.frames import NotedFrame
from ..report.render import Report, Reported, Table
from ..report.warnings import not_reached
from .comparison import check_likelihood
from .predictions import check_simulated, simulated_sample
from .residuals import finite_only, penalised
from .single_terms import unstarted


@dataclass(frozen=True, eq=False, kw_only=True)
class Counts:
    """Observed and expected counts.

    Attributes
    ----------
    observed, expected : (G, K)
    """

    observed: FloatArray
    expected: FloatArray

    @classmethod
    def of(cls, groups: IntArray, y: IntArray, weights: FloatArray, probabilities: FloatArray) -> Counts:
        """By group codes 0..G-1 (N,)."""
        n_groups, K = int(groups.max()) + 1, probabilities.shape[1]
        observed = np.bincount(groups * K + y, weights, minlength=n_groups * K).reshape(n_groups, K)
        expected = np.column_stack([np.bincount(groups, weights * probabilities[:, k], n_groups) for k in range(K)])
        return cls(observed=observed.astype(np.float64), expected=expected.astype(np.float64))

    @property
    def pearson(self) -> float:
        """Sum of (O - E)^2 / E."""
        with np.errstate(divide="ignore", invalid="ignore"):  # no number where nothing is expected
            return float(((self.observed - self.expected) ** 2 / self.expected).sum())

    @property
    def deviance(self) -> float:
        """2 sum of O log(O / E)."""
        some = self.observed > 0.0
        return 2.0 * float(self.observed[some] @ np.log(self.observed[some] / self.expected[some]))

    @property
    def small(self) -> float:
        """Share of the cells that expect fewer than 5."""
        return float(np.mean(self.expected < 5.0))


def ordinal_scores(probabilities: FloatArray) -> FloatArray:
    """(N,) expected rank, 1..K."""
    return np.asarray(probabilities @ np.arange(1.0, probabilities.shape[1] + 1.0))


def score_groups(scores: FloatArray, weights: FloatArray, n_groups: int) -> IntArray:
    """(N,) group codes 0..n_groups-1 of nearly equal weight in the order of the scores; equal scores stay together.

    Raises
    ------
    DataError
        Too few distinct scores for that many groups.
    """
    values, inverse = np.unique(_rounded(scores), return_inverse=True)
    share = np.bincount(inverse, weights) / weights.sum()
    middle = np.cumsum(share) - 0.5 * share
    groups = np.minimum((middle * n_groups).astype(np.intp), n_groups - 1)
    formed = np.unique(groups).size
    if formed < n_groups:
        raise DataError(
            f"the fit gives the rows {values.size} distinct scores, too few (or too unequally shared) for "
            f"{n_groups} groups: {formed} can be formed. "
            + (f"Use groups={formed} or fewer." if formed > 2 else "No test by groups is possible.")
        )
    return np.asarray(groups[inverse].astype(np.intp))


def _rounded(scores: FloatArray) -> FloatArray:
    """Scores that differ by rounding alone made equal."""
    return np.round(scores, 10)


def halved_patterns(patterns: IntArray, scores: FloatArray, weights: FloatArray) -> IntArray:
    """(N,) codes of the patterns 0..I-1 cut at their median score: 2 pattern, or 2 pattern + 1 above it.

    Raises
    ------
    DataError
        A pattern whose rows all have the same score has no upper half.
    """
    rounded, upper = _rounded(scores), np.zeros(scores.size, dtype=np.intp)
    for pattern in range(int(patterns.max()) + 1):
        rows = np.flatnonzero(patterns == pattern)
        upper[rows] = rounded[rows] > _weighted_median(rounded[rows], weights[rows])
        if not upper[rows].any():
            raise DataError(
                "the Pulkstenis-Robinson test cuts each pattern of the categorical covariates at its median score, and "
                f"{rows.size} rows of one pattern have no score above theirs: it needs a numeric covariate that varies "
                "within every pattern. Use test='hosmer-lemeshow' or 'lipsitz'."
            )
    return 2 * patterns + upper


def _weighted_median(values: FloatArray, weights: FloatArray) -> float:
    """The middle of the values, each repeated by its weight; the mean of the two middle ones where there are two."""
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    half = 0.5 * below[-1]
    first = int(np.searchsorted(below, half * (1.0 - 1e-12)))
    second = int(np.searchsorted(below, half * (1.0 + 1e-12), side="right"))
    return 0.5 * float(values[order[first]] + values[order[min(second, values.size - 1)]])


def hosmer_lemeshow_df(n_groups: int, n_levels: int) -> int:
    """(G - 2)(K - 1) + (K - 2)."""
    return (n_groups - 2) * (n_levels - 1) + (n_levels - 2)


def pulkstenis_robinson_df(n_patterns: int, n_levels: int, n_categorical: int) -> int:
    """(2I - 1)(K - 1) - k - 1.

    Raises
    ------
    DataError
        No degrees of freedom are left.
    """
    df = (2 * n_patterns - 1) * (n_levels - 1) - n_categorical - 1
    if df < 1:
        raise DataError(
            f"the Pulkstenis-Robinson test has {df} degrees of freedom with {n_patterns} patterns of the categorical "
            f"covariates, {n_levels} levels and {n_categorical} categorical parameters: too few patterns."
        )
    return df


#: Groups by score where the user does not say.
_GROUPS = 10


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class GoodnessOfFit(Reported):
    """A test of fit, with the counts behind it.

    Attributes
    ----------
    name : str
    table : frame
        One row a statistic: columns statistic, df, p_value.
    observed, expected : frame
        Counts by group (rows) and level of the response (columns).
    notes : tuple of str
        What speaks against the chi-square approximation.
    """

    name: str
    table: pd.DataFrame
    observed: pd.DataFrame
    expected: pd.DataFrame
    notes: tuple[str, ...]

    @property
    def p_value(self) -> float:
        """p-value of the first statistic."""
        return float(self.table["p_value"].iloc[0])

    def report(self) -> Report:
        """All tables, as data."""
        tables = (
            Table(title="Test", frame=self.table, formats={"df": "int", "p_value": "p3"}),
            Table(title="Observed counts", frame=self.observed, formats=dict.fromkeys(self.observed, "g")),
            Table(title="Expected counts", frame=self.expected, formats=dict.fromkeys(self.expected, ".1f")),
        )
        return Report(title=f"Goodness of fit: {self.name}", header=(), tables=tables, notes=self.notes)


def goodness_of_fit(
    r: FittedLikelihood,
    test: str = "hosmer-lemeshow",
    groups: int | None = None,
    *,
    simulations: int | None = None,
    seed: int | np.random.Generator = 0,
) -> GoodnessOfFit:
    """Test the model against departures that nobody named."""
    mixed = r.fit.marginal is not None
    one_of("test", test, _TESTS)
    refuse_survey(r.design, "gof", "test() of terms added to the model")
    check_likelihood(r, "gof", "use test() of terms added to the model, a Wald test then")
    if groups is not None:
        whole("groups", groups, 3)
    finite_only(r, "gof()")
    if penalised(r):
        raise OptionError("gof() compares with the maximum of the likelihood: fit without penalty=.")
    if not mixed and simulations is not None:
        raise OptionError(f"simulations must be left out where there are no random effects; got {simulations!r}.")
    if mixed:
        return _simulated(
            r, test, groups, whole("simulations", 200 if simulations is None else simulations, 1), generator(seed)
        )
    return _TESTS[test](r, groups)


def _simulated(
    r: FittedLikelihood, test: str, groups: int | None, simulations: int, rng: np.random.Generator
) -> GoodnessOfFit:
    """Observed against expected counts at the modes, with a p-value by the parametric bootstrap."""
    if test != "hosmer-lemeshow":
        raise OptionError(
            f"test={test!r} has its law from independent rows, and rows of a group are not: use "
            "test='hosmer-lemeshow', whose law is simulated where there are random effects."
        )
    check_simulated(r, None)
    n_groups = groups or _GROUPS
    found = _counts(r, score_groups(_scores(r), r.design.sample.case_weights, n_groups))
    draws = [_redrawn(r, n_groups, rng) for _ in range(simulations)]
    known = np.array([one for one in draws if np.isfinite(one)])
    p = (1.0 + float((known >= found.pearson * (1.0 - 1e-12)).sum())) / (1.0 + known.size)
    notes = [f"Expected counts are at the modes of the random effects; p-value by {known.size} simulated data sets."]
    if known.size < simulations:
        notes.append(f"{simulations - known.size} more gave no finite estimates, or too few groups: left out.")
    made = _result(
        r, "Hosmer-Lemeshow at the modes", found, [("Pearson", found.pearson, 0)], _groups(n_groups), tuple(notes)
    )
    table = made.table.assign(df=np.nan, p_value=p)
    return replace(made, table=table)


def _redrawn(r: FittedLikelihood, n_groups: int, rng: np.random.Generator) -> float:
    """The statistic of a simulated data set and its own fit; NaN without finite estimates of all levels, or groups."""
    sample = simulated_sample(r, rng)
    if np.any(np.bincount(sample.y, sample.case_weights, minlength=sample.n_levels) == 0.0):
        return float("nan")
    try:
        fit = unstarted(r).fit(sample, rng)
        if not fit.certificate.reached or fit.separation is not None:
            return float("nan")
        probabilities = fit.rule.probabilities(sample.rows, fit.scores)
        codes = score_groups(ordinal_scores(probabilities), sample.case_weights, n_groups)
    except DataError:
        return float("nan")
    return Counts.of(codes, sample.y, sample.case_weights, probabilities).pearson


def _lipsitz(r: FittedLikelihood, groups: int | None) -> GoodnessOfFit:
    sample, n_groups = r.design.sample, groups or _GROUPS
    codes = score_groups(_scores(r), r.design.sample.case_weights, n_groups)
    indicators = (codes[:, None] == np.arange(1, n_groups)).astype(np.float64)
    wider = replace(sample, rows=replace(sample.rows, X=np.ascontiguousarray(np.hstack([sample.X, indicators]))))
    fit = r.method.fit(wider, np.random.default_rng(0))
    if not fit.certificate.reached:
        warn(f"Lipsitz test: {not_reached(fit)}", ConvergenceWarning)
    df = int(np.count_nonzero(~fit.aliased)) - r.edf
    if df == 0:
        raise DataError(
            f"the Lipsitz test adds indicators of {n_groups} groups to the model, and this model already tells those "
            "apart: each distinct score has its own effects."
        )
    found = [("likelihood ratio", 2.0 * (fit.loglik - r.loglik), df)]
    most = float(sample.case_weights.sum()) / (5.0 * sample.n_levels)  # [Fagerland and Hosmer 2013]
    advice = f"{n_groups} groups: 6 or more, and fewer than n / (5 K) = {most:.3g}, are recommended."
    notes = () if 6 <= n_groups < most else (advice,)
    return _result(r, "Lipsitz, Fitzmaurice and Molenberghs", _counts(r, codes), found, _groups(n_groups), notes)


def _hosmer_lemeshow(r: FittedLikelihood, groups: int | None) -> GoodnessOfFit:
    _location_only(r, "hosmer-lemeshow")
    n_groups = groups or _GROUPS
    counts = _counts(r, score_groups(_scores(r), r.design.sample.case_weights, n_groups))
    found = [("Pearson chi2", counts.pearson, hosmer_lemeshow_df(n_groups, r.design.sample.n_levels))]
    return _result(
        r, "ordinal Hosmer-Lemeshow (Fagerland and Hosmer)", counts, found, _groups(n_groups), _small(counts)
    )


def _pulkstenis_robinson(r: FittedLikelihood, groups: int | None) -> GoodnessOfFit:
    if groups is not None:
        raise OptionError("groups goes with the tests 'lipsitz' and 'hosmer-lemeshow' alone.")
    _location_only(r, "pulkstenis-robinson")
    columns = _categorical_columns(r)
    sample = r.design.sample
    patterns: IntArray = np.unique(sample.X[:, columns], axis=0, return_inverse=True)[1].reshape(-1)
    codes = halved_patterns(patterns, _scores(r), sample.case_weights)
    counts = _counts(r, codes)
    n_patterns = int(patterns.max()) + 1
    estimated = ~r.fit.aliased[r.parameters.of("location")]
    df = pulkstenis_robinson_df(n_patterns, sample.n_levels, int(np.count_nonzero(columns & estimated)))
    found = [("Pearson chi2", counts.pearson, df), ("deviance chi2", counts.deviance, df)]
    names = [f"pattern {p + 1}, {half} score" for p in range(n_patterns) for half in ("lower", "upper")]
    return _result(r, "Pulkstenis-Robinson", counts, found, names, _small(counts))


def _categorical_columns(r: FittedLikelihood) -> BoolArray:
    """(D,) columns of X that belong to terms of categorical factors alone."""
    design = r.design
    chosen = np.zeros(len(design.names), dtype=np.bool_)
    for term in design.categorical:
        chosen[design.terms[term]] = True
    if not chosen.any():
        raise DataError(
            "the Pulkstenis-Robinson test groups rows by the patterns of the categorical covariates; this model has "
            "none (text, boolean and categorical columns count, and C(x)): use test='hosmer-lemeshow' or 'lipsitz'."
        )
    if chosen.all():
        raise DataError(
            "the Pulkstenis-Robinson test cuts the patterns of the categorical covariates by what the numeric ones add "
            "to the score, and this model has no numeric covariate: use test='hosmer-lemeshow' or 'lipsitz'."
        )
    return chosen


def _location_only(r: FittedLikelihood, test: str) -> None:
    if r.design.nominal_names or r.design.scale_names or r.fit.jacobian is not None or r.fit.n_lambda:
        raise OptionError(
            f"test={test!r} is defined for flexible thresholds and location effects alone; under nominal or scale "
            "effects, structured thresholds or a link parameter its degrees of freedom are not known: use "
            "test='lipsitz'."
        )


_TESTS: dict[str, Callable[[FittedLikelihood, int | None], GoodnessOfFit]] = {
    "hosmer-lemeshow": _hosmer_lemeshow,
    "lipsitz": _lipsitz,
    "pulkstenis-robinson": _pulkstenis_robinson,
}


def _probabilities(r: FittedLikelihood) -> FloatArray:
    return r.rule.probabilities(r.design.sample.rows, r.fit.scores)


def _scores(r: FittedLikelihood) -> FloatArray:
    return ordinal_scores(_probabilities(r))


def _counts(r: FittedLikelihood, codes: IntArray) -> Counts:
    sample = r.design.sample
    return Counts.of(codes, sample.y, sample.case_weights, _probabilities(r))


def _groups(n_groups: int) -> list[str]:
    return [f"group {g + 1}" for g in range(n_groups)]


def _small(counts: Counts) -> tuple[str, ...]:
    if counts.small <= 0.2:
        return ()
    return (f"{100.0 * counts.small:.0f}% of the cells expect fewer than 5 cases: the p-value is rough.",)


def _result(
    r: FittedLikelihood,
    name: str,
    counts: Counts,
    found: list[tuple[str, float, int]],
    groups: list[str],
    notes: tuple[str, ...],
) -> GoodnessOfFit:
    rows = [(value, df, float(chi2_tail(value, df))) for _, value, df in found]
    table = pd.DataFrame(rows, index=[label for label, _, _ in found], columns=["statistic", "df", "p_value"])
    both = (pd.DataFrame(cells, index=groups, columns=list(r.levels)) for cells in (counts.observed, counts.expected))
    observed, expected = both
    table = NotedFrame.of(table, notes, f"Goodness of fit: {name}")
    return GoodnessOfFit(name=name, table=table, observed=observed, expected=expected, notes=notes)
