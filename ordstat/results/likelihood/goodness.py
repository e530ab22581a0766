"""Goodness-of-fit tests of a likelihood fit, with the counts that they compare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..._typing import BoolArray, FloatArray, IntArray
from ...assess.likelihood.goodness import (
    Counts,
    halved_patterns,
    hosmer_lemeshow_df,
    ordinal_scores,
    pulkstenis_robinson_df,
    score_groups,
)
from ...assess.likelihood.wald import chi2_tail
from ...checks import generator, one_of, whole
from ...exceptions import ConvergenceWarning, DataError, OptionError, warn
from ..report.noted import NotedFrame
from ..report.render import Report, Reported, Table
from ..report.warnings import not_reached
from .fitted import FittedLikelihood
from .mixed.draws import check_simulated, simulated_sample
from .nested_wald import check_likelihood
from .parameters import refuse_survey
from .residuals import finite_only, penalised
from .single_terms import unstarted

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
