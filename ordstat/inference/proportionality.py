"""Tests of proportional odds: likelihood-ratio, Wald and score tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray
from ..exceptions import DataError
from ..formula.sample import Sample
from ..judging.absent_levels import Present
from ..likelihood.standard_errors import rule_by_estimates
from ..likelihood.unavailable import check_available
from ..report.cells import MOST_TERMS, first_few, p_in_words
from ..report.frames import NotedFrame
from ..report.sections import DOUBTFUL
from .terms import marginality_of
from .wald import (
    Joint,
    chi2_frame,
    joint_frame,
    joint_test,
    without_joint_test,
)

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults


_ONE_THRESHOLD = (
    "The response has 2 levels and so one threshold: effects cannot differ between"
    " thresholds."
)
_REFITS = {
    "nominal": (
        "Likelihood-ratio tests of equal effects at all thresholds (proportional odds),"
        " by term"
    ),
    "scale": "Likelihood-ratio tests of equal scale, by term",
}

OMNIBUS = "omnibus"
_SINGULAR = (
    "the information of the model with an effect at each threshold is singular; use"
    " nominal_test()"
)
#: Most rows of a fit that is repeated without its most influential row: among more, one
#: row hardly matters, and the influence of all of them takes long.
_MOST_ROWS = 5_000
#: With more levels, effects at thresholds beside a level of few rows are not tried.
_MANY_LEVELS = 50


def nominal_tests(
    r: LikelihoodResults, scope: str | Sequence[str] | None
) -> pd.DataFrame:
    """Test proportional odds: give each term in turn a separate effect at every
    threshold.
    """
    check_available(r, "nominal_test()")
    if scarce := many_scarce_levels(r):
        raise DataError(
            f"nominal_test() has an effect at each of {len(r.levels) - 1:,} thresholds,"
            f" and {scarce}. Cut the response into a few classes, and test that fit."
        )
    if r.own_covariance.name != "model":
        return _wald_tests(r, scope)
    table = _wider_models(
        r,
        "nominal",
        r.design.nominal_terms,
        [*r.design.terms, *r.design.scale_terms],
        scope,
    )
    if r.design.sample.n_levels == 2:
        table.attrs["notes"] = [_ONE_THRESHOLD, *table.attrs["notes"]]
    return table


def scale_tests(
    r: LikelihoodResults, scope: str | Sequence[str] | None
) -> pd.DataFrame:
    """Likelihood-ratio tests of equal scale: give each location term in turn an effect
    on the log scale.
    """
    check_available(r, "scale_test()")
    return _wider_models(r, "scale", r.design.scale_terms, r.design.terms, scope)


def _wider_models(
    r: LikelihoodResults,
    role: str,
    present: Iterable[str],
    candidates: Iterable[str],
    scope: Any,
) -> pd.DataFrame:
    """Test the model against models with one more term in the nominal or
    scale formula.
    """
    from .single_terms import AIC, coded_anew, refit, refit_table, terms_in

    if scope is None:
        terms = list(dict.fromkeys(candidates))
    else:
        terms = terms_in(r, scope, candidates)
    present = list(present)
    marginality = marginality_of(r.design.spec)
    fits = {}
    notes = list[str]()
    for term in terms:
        if term not in present:
            # Coded by all its levels, a term holds the margins that have its numeric
            # variables.
            inside = [
                inner
                for inner in marginality.margins_of(term)
                if inner not in present and inner != term
            ]
            margins = [
                inner
                for inner in inside
                if term not in marginality.containing.get(inner, ())
            ]
            terms_of_model = [*present, *margins, term]
            fits[term] = refit(r, coded_anew(r, role, terms_of_model, term))
            if margins:  # without them the columns are those of the term alone
                notes.append(f"{term} is tested together with {', '.join(inside)}.")
    table = refit_table(
        r, fits, _REFITS[role], added=True, test="LR", k=AIC, with_loglik=True
    )
    table.attrs["notes"] = [*table.attrs["notes"], *notes]
    return table


def among_present(r: LikelihoodResults) -> LikelihoodResults:
    """The fit without empty levels, whose thresholds have no effects to compare."""
    sample = r.design.sample
    present = Present.of(sample)
    if present.all:
        return r
    levels = replace(
        r.design.levels, values=tuple(r.levels[code] for code in present.codes)
    )
    design = replace(r.design, sample=present.among(sample), levels=levels)
    method = r.method.unstarted().with_cost("absolute")
    return replace(
        r,
        design=design,
        method=method,
        fit=method.fit(design.sample, np.random.default_rng(0)),
    )


# Wald tests, for survey designs and robust standard errors


def _wald_tests(r: LikelihoodResults, scope: Any) -> pd.DataFrame:
    """Wald tests of equal effects at all thresholds by the covariance of the fit, with
    one refit per term.
    """
    from .single_terms import terms_in

    if scope is None:
        terms = list(r.design.terms)
    else:
        terms = terms_in(r, scope, r.design.terms)
    freed = {term: _with_margins(r, term) for term in terms}
    if scope is None:
        freed[OMNIBUS] = np.ones(len(r.design.names), dtype=bool)
    tests = list[Joint]()
    reasons = dict[str, list[str]]()
    for name, columns in freed.items():
        test, why = wald_equality(r, columns)
        tests.append(test)
        if why:
            reasons.setdefault(why, []).append(name)
    notes = [
        f"no test of {first_few(names, MOST_TERMS)}: {why}."
        for why, names in reasons.items()
    ]
    title = (
        "Wald tests of equal effects at all thresholds (proportional odds),"
        f" {r.own_covariance.words}"
    )
    return NotedFrame.of(
        joint_frame(freed, tests), notes, title, labels=r.names_shown()
    )


def wald_equality(r: LikelihoodResults, freed: BoolArray) -> tuple[Joint, str]:
    """Wald test that location columns have equal effects at all thresholds, with the
    reason if it is NaN.
    """
    r = among_present(r)
    covariance = r.own_covariance
    freed = freed & estimated_columns(r)
    n_freed = int(freed.sum())
    no_test = Joint(float("nan"), n_freed * (r.design.sample.n_levels - 2))
    if no_test.df == 0:
        return no_test, "there are no estimated effects, or there is only one threshold"
    if scarce := many_scarce_levels(r):
        return no_test, scarce
    if no_test.df > covariance.most_hypotheses:
        return no_test, without_joint_test(covariance)
    fit, why = freed_fit(r, freed)
    if why:
        return no_test, why
    by_estimates = rule_by_estimates(fit, fit.rule)[: fit.rule.alpha.size].toarray()
    width = by_estimates.shape[1]
    by_column = by_estimates.reshape(-1, fit.rule.alpha.shape[0], width)
    # each freed effect at one threshold minus that at the next
    L = np.diff(by_column[-n_freed:], axis=1).reshape(-1, width)
    L = L[np.any(L != 0.0, axis=1)]
    difference = L @ fit.coefficients[~fit.aliased]
    try:
        test = joint_test(replace(r, fit=fit, robust=covariance), L, difference)
    except DataError as problem:  # a replicate without finite estimates
        return no_test, str(problem).rstrip(".")
    if not np.isfinite(test.statistic):
        return test, "their covariance has too few degrees of freedom"
    return test, ""


def freed_fit(r: LikelihoodResults, freed: BoolArray) -> tuple[Any, str]:
    """The fit with an effect at each threshold for some location columns, and the
    reason if it has no maximum.
    """
    from .nesting import joined

    rows = r.design.sample.rows
    nominal = joined(rows.nominal, rows.X[:, freed])
    wider = replace(rows, X=np.ascontiguousarray(rows.X[:, ~freed]), nominal=nominal)
    try:
        method = r.method.unstarted()
        fit = method.fit(replace(r.design.sample, rows=wider), np.random.default_rng(0))
    except DataError as problem:
        return None, str(problem).rstrip(".")
    why = ""
    if fit.separation is not None:
        why = (
            "some effects at single thresholds are infinite, as some levels have few"
            " rows; merge levels"
        )
    elif not fit.certificate.reached:
        why = (
            "the likelihood with an effect at each threshold has no maximum; merge"
            " levels"
        )
    return fit, why


def no_joint_test(r: LikelihoodResults) -> tuple[str, str]:
    """Why there is no joint test of equal effects of all terms, and the term with the
    smallest p-value in a single test.

    The second is empty if no term has a test.
    """
    if r.own_covariance.name == "model":
        table = score_tests(r)
        separated = "estimates are infinite (separation)"
        if r.fit.separation is not None:
            why = separated
        else:
            why = scarce_level(r) or _SINGULAR
    else:
        why = wald_equality(r, np.ones(len(r.design.names), dtype=bool))[1]
        table = _wald_tests(r, None)
    terms = table.iloc[:-1]["p_value"].dropna()
    if not len(terms):
        return why, ""
    return why, f"{terms.idxmin()} alone, {p_in_words(terms.min())}"


def departures(r: LikelihoodResults) -> tuple[str, ...]:
    """Sentences that name the term whose effects differ most between thresholds, with
    an update() that was checked.
    """
    table = score_tests(r) if r.own_covariance.name == "model" else _wald_tests(r, None)
    worst = (
        table.iloc[:-1]
        .sort_values(["p_value", table.columns[-2]], ascending=[True, False])
        .index[0]
    )
    terms = marginality_of(r.design.spec)
    p = p_in_words(table.loc[worst, "p_value"])
    found = f"Effects differ between thresholds, most for {worst} ({p})."
    if single := _one_row(r):
        return found, single
    names = [terms.texts[name] for name in terms.margins_of(worst)]
    nominal = " + ".join(
        [*filter(None, [(r.design.recipe.nominal or "").strip("~ ")]), *names]
    )
    call = f'update("~ . - {" - ".join(names)}", nominal="~ {nominal}")'
    why = freed_fit(r, _with_margins(r, worst))[1]
    advice = f"In {call} {why}." if why else f"Try {call}; see plot.parallel()."
    return (found, advice, "In large samples small differences are significant.")


def _one_row(r: LikelihoodResults) -> str:
    """A sentence if equal effects are rejected for the most influential row alone, by a
    fit without it.
    """
    from .influence import row_influence

    sample = r.design.sample
    if (
        r.own_covariance.name != "model"
        or sample.weights is not None
        or sample.n > _MOST_ROWS
    ):
        return ""
    row = int(np.nan_to_num(row_influence(r.rule, r.fit, sample).cook).argmax())
    others = np.delete(np.arange(sample.n), row)
    without = sample.take(others)
    if np.unique(without.y).size < sample.n_levels:
        return ""
    try:
        fit = r.method.unstarted().fit(without, np.random.default_rng(0))
    except DataError:
        return ""
    design = replace(r.design, sample=without, index=r.design.index[others])
    test = Joint(*score_equality(replace(r, fit=fit, design=design)))
    if not test.p_value >= DOUBTFUL:
        return ""
    return (
        f"Row {r.design.index[row]!r} alone makes them differ: without it"
        f" {p_in_words(test.p_value)}. Look at this row before you add nominal effects;"
        " see influence()."
    )


# Score test


def score_tests(r: LikelihoodResults) -> pd.DataFrame:
    """Score tests of proportional odds (equal effects at all thresholds), without
    refits.
    """
    check_available(r, "score_test()")
    freed = {term: _with_margins(r, term) for term in r.design.terms} | {
        OMNIBUS: np.ones(len(r.design.names), bool)
    }
    table = chi2_frame(
        freed, [score_equality(r, columns) for columns in freed.values()]
    )
    title = "Score tests of equal effects at all thresholds"
    return NotedFrame.of(table, _missing_tests(r, table), title, labels=r.names_shown())


def _with_margins(r: LikelihoodResults, term: str) -> BoolArray:
    """(D,) mask of the location columns of a term and of the terms that it contains."""
    chosen = np.zeros(len(r.design.names), dtype=bool)
    for name in marginality_of(r.design.spec).margins_of(term):
        chosen[r.design.terms[name]] = True
    return chosen


def without_statistic(table: pd.DataFrame) -> list[str]:
    """Names of the tests without a statistic."""
    return [str(name) for name in table.index[table["chisq"].isna()]]


def _missing_tests(r: LikelihoodResults, table: pd.DataFrame) -> list[str]:
    """Why terms have no score test."""
    if r.fit.separation is not None:
        return [
            "no test: the response is separated, and the score vanishes at infinite"
            " estimates."
        ]
    lacking = ", ".join(without_statistic(table))
    if lacking:
        notes = [f"no test of {lacking}: {scarce_level(r) or _SINGULAR}."]
    else:
        notes = []
    nothing = [str(name) for name, df in table["df"].items() if df == 0]
    if nothing:
        notes.append(
            f"no test of {', '.join(nothing)}: other terms determine its columns, or"
            " they are constant."
        )
    return notes


def many_scarce_levels(r: LikelihoodResults) -> str:
    """`scarce_level` for responses with many levels, whose separate effects would take
    long to fit and be infinite.
    """
    return scarce_level(r) if len(r.levels) > _MANY_LEVELS else ""


def scarce_level(r: LikelihoodResults, columns: BoolArray | None = None) -> str:
    """A sentence on a level with no more rows than location columns to free, and what
    to do; "" if there is none.
    """
    r = among_present(r)
    sample = r.design.sample
    counts = np.bincount(sample.y, sample.case_weights, sample.n_levels)
    least = int(counts.argmin())
    freed = len(r.design.names) if columns is None else int(columns.sum())
    few = (
        f"level {r.levels[least]} has {counts[least]:g}"
        f" {'row' if counts[least] == 1 else 'rows'}; merge levels"
    )
    return few if counts[least] <= freed else ""


def score_equality(
    r: LikelihoodResults, columns: BoolArray | None = None
) -> tuple[float, int]:
    """Score statistic, and its df, for giving some location columns (by default all) an
    effect at each threshold.

    NaN for infinite estimates, as the score is then 0 under any model, and if a level
    has too few rows to separate the effects at its thresholds.
    """
    r = among_present(r)
    estimated = estimated_columns(r)
    freed = estimated if columns is None else columns & estimated
    df = int(freed.sum()) * (r.design.sample.n_levels - 2)
    if r.fit.separation is not None or scarce_level(r, freed):
        return float("nan"), df
    return r.fit.likelihood.score_statistic(*_freed_model(r, freed)), df


def estimated_columns(r: LikelihoodResults) -> BoolArray:
    """(D,) location columns that are not aliased."""
    return ~r.fit.aliased[r.parameters.of("location")]


def _freed_model(r: LikelihoodResults, freed: BoolArray) -> tuple[Sample, FloatArray]:
    """The sample of the model with an effect at each threshold for some columns, and
    the estimates in its terms.
    """
    fit = r.fit
    parameters = r.parameters
    rows = r.design.sample.rows
    kept = estimated_columns(r) & ~freed
    K = r.design.sample.n_levels
    alpha = fit.coefficients[: fit.n_alpha]
    beta = fit.coefficients[fit.layout.of_location]
    zeta = fit.coefficients[fit.n_alpha + fit.n_beta :]  # with lambda
    point = np.concatenate(
        [
            alpha[~np.isnan(alpha)],
            np.repeat(-beta[freed], K - 1),
            beta[kept],
            zeta[~np.isnan(zeta)],
        ]
    )
    nominal = rows.nominal
    scale = rows.scale
    if nominal is not None:
        nominal = nominal[
            :,
            ~fit.aliased[parameters.of("nominal")].reshape(nominal.shape[1], -1)[:, 0],
        ]
    if scale is not None:
        scale = np.ascontiguousarray(scale[:, ~fit.aliased[parameters.of("scale")]])
    nominal = np.ascontiguousarray(
        rows.X[:, freed] if nominal is None else np.hstack([nominal, rows.X[:, freed]])
    )
    wider = replace(
        rows, X=np.ascontiguousarray(rows.X[:, kept]), nominal=nominal, scale=scale
    )
    return replace(r.design.sample, rows=wider), point
