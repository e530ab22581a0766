"""The summary of a likelihood fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray
from ..checks import flag, fraction, label_texts
from ..fit import count_above
from ..likelihood.covariance_choice import own_covariance
from ..likelihood.fit import LikelihoodFit
from ..likelihood.parameters import threshold_values
from ..likelihood.standard_errors import symmetric_limits
from ..likelihood.unavailable import excluding
from ..report.cells import (
    EXACT,
    column_cells,
    few_decimals,
    limit_heads,
    p_in_words,
    ratio_decimals,
)
from ..report.grid import SCREEN, SHORTEST_LABEL
from ..report.ratios import ratio_of
from ..report.render import Line, Report, Summary, Table
from ..report.sections import (
    DOUBTFUL,
    alert_notes,
    certificate_text,
    data_header,
    error_figures,
    error_tables,
    estimates_of,
    fractional,
    one_row,
    shared_tables,
    summary_of,
    threshold_table,
)
from .level_scores import READING, score_notes
from .proportionality import (
    departures,
    no_joint_test,
    score_equality,
    wald_equality,
)
from .smooths import level_effect_notes, smooth_tests
from .wald import Joint, zero_test

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults


#: Titles of the tables of estimates, by the kind of the parameters.
TITLES = {
    "location": "Location effects (positive = higher response)",
    "scale": (
        "Scale effects on the log scale (positive = wider distribution of the response)"
    ),
    "nominal": "Nominal effects",
    "threshold": "Parameters of the thresholds",
    "lambda": "Parameter of the link",
    "phi": "Scores of the levels (0 of the lowest, 1 of the highest)",
}
#: Names of the test of all effects by the covariance; of all others, "Wald test".
_TESTS = {"model": "LR test", "CR2": "Wald F test", "survey": "Wald F test"}

#: Title of the table of smooth terms.
SMOOTHS = "Smooth terms (s(x): edf 1 = straight line; p: no effect at all)"
_NO_SCORES = "without effects the scores of the levels are undefined"

# Figures of the whole fit


def likelihood_figures(r: LikelihoodResults) -> pd.DataFrame:
    """One row of statistics of the whole fit (see `glance`)."""
    tests = {} if r.fit.marginal is not None else figures_of_test(r)
    return one_row(
        _figures(r, tests) | error_figures(r) | {"converged": r.fit.certificate.reached}
    )


def _figures(
    r: LikelihoodResults, tests: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The likelihood, criteria, `tests` and R2s that the fit has.

    Differences of a survey-weighted log-likelihood have no chi-squared distribution,
    and survey fits have no AIC [Lumley and Scott 2015].
    """
    fit = r.fit
    n = float(r.fit.n_obs)
    r2 = pseudo_r2(fit, n)
    if r.design.survey is not None:
        figures = {
            "nobs": n,
            "edf": fit.edf,
            "design_df": r.design_df,
            "pseudo_loglik": fit.loglik,
        }
        return {**figures, "mcfadden": r2["mcfadden"], **(tests or {})}
    edf = fit.edf
    deviance = np.nan if r.without_aic else -2.0 * fit.loglik
    figures = {
        "nobs": n,
        "edf": edf,
        "df_residual": n - edf,
        "loglik": fit.loglik,
        "null_loglik": fit.null_loglik,
    }
    figures |= {"aic": deviance + 2.0 * edf, "bic": deviance + np.log(n) * edf}
    if fit.marginal is not None:
        return figures
    shown = {name: r2[name] for name in ("mcfadden", "nagelkerke")}
    return {**figures, **(tests or {}), **shown}


def pseudo_r2(fit: LikelihoodFit, n: float) -> dict[str, float]:
    """R2s of Cox and Snell, Nagelkerke and McFadden, for n cases."""
    explained = float(np.expm1(2.0 * (fit.null_loglik - fit.loglik) / n))
    largest = float(np.expm1(2.0 * fit.null_loglik / n))
    return {
        "cox_snell": no_rounding(-explained),
        "nagelkerke": no_rounding(explained / largest),
        "mcfadden": no_rounding(1.0 - fit.loglik / fit.null_loglik),
    }


def no_rounding(share: float) -> float:
    """An R2, set to exactly 0 if it differs from 0 by rounding alone.

    Examples
    --------
    >>> no_rounding(-2e-16), no_rounding(0.25)
    (0.0, 0.25)
    """
    return 0.0 if abs(share) < 1e-13 else share


def effects_test(r: LikelihoodResults) -> Joint:
    """Test that all effects are 0: a likelihood-ratio test with the model's covariance,
    else a Wald test.
    """
    if r.own_covariance.name != "model":
        return zero_test(r, r.parameters.of("nominal", "location", "scale"))
    gain = 2.0 * (r.fit.loglik - r.fit.null_loglik)
    # without effects the scores of levels have no value: there is no chi-squared
    if r.without_aic or r.parameters.of("phi").size:
        gain = float("nan")
    return Joint(gain, int(r.fit.edf) - r.fit.null_edf)


def figures_of_test(r: LikelihoodResults) -> dict[str, Any]:
    """The test of all effects for `glance`; NaN with smooth terms, which have tests of
    their own.
    """
    if r.fit.smooths is not None:
        return dict.fromkeys(("lr_chi2", "lr_df", "lr_p_value"), float("nan"))
    test = effects_test(r)
    name = r.own_covariance.name
    if name in ("CR2", "survey"):
        parts = ("wald_F", "wald_df", "wald_df_resid", "wald_p_value")
        return dict(zip(parts, (*test[:3], test.p_value), strict=True))
    kind = "lr" if name == "model" else "wald"
    return {
        f"{kind}_chi2": test.statistic,
        f"{kind}_df": test.df,
        f"{kind}_p_value": test.p_value,
    }


def _test_of_effects(r: LikelihoodResults) -> str:
    """The test of all effects as text for the summary, or why there is none."""
    covariance = r.own_covariance
    if r.fit.edf == r.fit.null_edf:
        return "not available: the model has thresholds only"
    if r.fit.smooths is not None:
        return "not available: smooth terms have their own tests"
    if covariance.name == "model" and r.without_aic:
        return f"not available: {r.without_aic}"
    if r.parameters.of("phi").size:
        return f"not available: {_NO_SCORES}"
    test = effects_test(r)
    if np.isnan(test.statistic):
        if test.df > covariance.most_hypotheses:
            return f"not available: {covariance.why_no_joint_test}"
        if test.df and covariance.survey is not None:
            return "not available: more effects than degrees of freedom of the design"
        infinite = "not available: infinite estimates"
        return infinite if test.df == 0 else "not available"
    p = p_in_words(test.p_value)
    if np.isinf(test.df_resid):
        return f"{test.statistic:.2f} on {test.df} df, {p}"
    return f"{test.statistic:.4g} on {test.df} and {round(test.df_resid, 1):g} df, {p}"


# All of the summary


def likelihood_summary(
    r: LikelihoodResults,
    section: str | None,
    exponentiate: bool | None,
    level: float,
    per: Any,
    labels: Any,
) -> Summary:
    """The summary: its text is str(), its tables are in `.tables`."""
    fraction("level", level)
    labels = label_texts(labels)
    if exponentiate is not None:
        flag("exponentiate", exponentiate)
    judged = shared_tables(r) if r.no_margins is None else error_tables(r)
    header, random, notes = r.random_part(level)
    effects = _effect_tables(r, bool(exponentiate), level, per, labels)
    converged = ("Convergence", certificate_text(r.fit.certificate, r.fit.trace))
    report = Report(
        title=r.title,
        header=(*data_header(r), *_fit_header(r, header), converged),
        tables=(*random, *effects, threshold_estimates(r), *judged),
        notes=(*alert_notes(r), *notes, *level_effect_notes(r), *score_notes(r)),
        margin_notes=lambda: _margin_notes(r),
    )
    if section is not None:
        return summary_of(r, section, report)
    model = _screen_tables(r, report, exponentiate, labels)
    return summary_of(r, section, report, model)


def _fit_header(
    r: LikelihoodResults, random: tuple[tuple[str, Any], ...]
) -> tuple[tuple[str, Any], ...]:
    """Header pairs about likelihood, tests, R2s and standard errors; `random` are those
    about random effects.
    """
    words = r.error_words
    figures = _figures(r)
    edf = r.fit.edf
    name = _TESTS.get(r.own_covariance.name, "Wald test")
    if r.design.survey is not None:
        return (
            ("Survey design", r.design.survey.words),
            ("Parameters", edf),
            ("Pseudo log-lik.", f"{r.fit.loglik:.4f} (weights of mean 1)"),
            (name, _test_of_effects(r)),
            ("McFadden R2", f"{figures['mcfadden']:.4f}"),
            ("Std. errors", words),
        )
    if r.fit.smooths is not None:
        edf = round(edf, 2)
    residual_df = round(figures["df_residual"], 2)
    size = (
        ("Parameters", f"{edf}, residual df {residual_df:g}"),
        ("Log-likelihood", f"{r.fit.loglik:.4f}"),
    )
    criteria = f"{figures['aic']:.2f}, {figures['bic']:.2f}"
    if r.without_aic:
        criteria = f"not available: {r.without_aic}"
    if random:
        return (*size, ("AIC, BIC", criteria), *random)
    test = _test_of_effects(r)
    tested: tuple[tuple[str, Any], ...] = (("AIC, BIC", criteria), (name, test))
    if test == criteria:
        tested = ((f"AIC, BIC, {name}", test),)
    usual = own_covariance(r.design).name
    if r.own_covariance.name == "model" and usual != "model":
        words = f"not robust, {words}"
    return (
        *size,
        *tested,
        ("McFadden R2", f"{figures['mcfadden']:.4f}"),
        ("Nagelkerke R2", f"{figures['nagelkerke']:.4f}"),
        ("Std. errors", words),
    )


def _margin_notes(r: LikelihoodResults) -> tuple[str, ...]:
    """Notes on margins and bounds, for fits that have margins."""
    if r.no_margins is not None:
        return ()
    return (*r.margin_bounds.notes, _threshold_rule(r))


def _threshold_rule(r: LikelihoodResults) -> str:
    """Note that margins judge the threshold rule, and on how many rows it agrees with
    `predict`.
    """
    p = r.training
    by_thresholds = count_above(r.gaps(r.design.sample.rows, r.fit.scores))
    same = float(p.weights[by_thresholds == p.codes].sum())
    total = p.weights.sum()
    if same == total:
        agreement = "all"
    elif fractional(r):
        agreement = f"{100.0 * same / total:.1f}%"
    else:
        agreement = f"{same:g} of {total:g}"
    return (
        "Margins, errors at a margin and bounds refer to the threshold rule (the level"
        " is the number of thresholds below the score), which agrees with predict() on"
        f" {agreement} training rows."
    )


# Estimates


def _effect_tables(
    r: LikelihoodResults,
    exponentiate: bool,
    level: float,
    per: Any,
    labels: Mapping[str, str],
) -> list[Table]:
    """Full tables of every kind of effects, and the ratios of the location effects if
    `exponentiate`.
    """
    factors = np.ones(len(r.parameters.records))
    units: Mapping[str, str] = {}
    if per is not None:
        from .tables import rescaled

        factors, units = rescaled(r, per)
    estimates = _estimates(r, level, factors)
    tables = []
    for kind in TITLES:
        # thresholds that are parameters themselves have a table of their own
        own_table = kind == "threshold" and r.fit.jacobian is None
        without_value = kind == "phi" and not r.parameters.of("location").size
        if _rows_of(r, kind).size and not (own_table or without_value):
            tables.append(_effect_table(r, kind, estimates, units, labels))
    if exponentiate and _rows_of(r, "location").size:
        tables.insert(1, ratio_table(r, tables[0].frame))
    if r.fit.smooths is not None:
        tables.append(_smooth_table(r))
    return tables


def _estimates(r: LikelihoodResults, level: float, factors: FloatArray) -> pd.DataFrame:
    """Estimates of all parameters with errors, tests and limits; estimates, errors and
    limits are multiplied by factors.
    """
    columns = r.coefficient_columns
    low, high = symmetric_limits(
        r.fit.coefficients, columns["std_error"], level, columns["df"]
    )
    statistic = "z" if r.bias_reduced is None and np.isinf(r.own_covariance.df) else "t"
    changed = {"estimate": r.fit.limits, "std. error": columns["std_error"]}
    limits = dict(zip(limit_heads(level), (low, high), strict=True))
    shown = changed | {statistic: columns["statistic"]}
    if r.bias_reduced is not None:
        shown["df"] = columns["df"]
    frame = pd.DataFrame(shown | {"p": columns["p_value"]} | limits)
    frame[[*changed, *limits]] *= factors[: len(frame), None]
    return frame


def _effect_table(
    r: LikelihoodResults,
    kind: str,
    estimates: pd.DataFrame,
    units: Mapping[str, str],
    labels: Mapping[str, str],
) -> Table:
    """The table of one kind of effects."""
    rows = _rows_of(r, kind)
    records = [r.parameters.records[row] for row in rows]
    effects = []
    if kind in ("nominal", "scale"):
        effects = [each.effect(labels, units.get(each.name, "")) for each in records]
    index = effects
    if kind != "scale":
        index = [each.shown(labels, unit=units.get(each.name, "")) for each in records]
    frame = estimates.iloc[rows].set_axis(index)
    formats = {"z": ".2f", "t": ".2f", "df": ".1f", "p": "p"}
    title = TITLES[kind]
    if kind == "nominal":
        title = f"{r.family.nominal_title} ({r.family.nominal_words})"
    table = Table(title=title, frame=frame, formats=formats, role=kind)
    if kind == "nominal":
        return replace(table, brief=_by_threshold(r, frame, effects))
    return table


def _rows_of(r: LikelihoodResults, kind: str) -> IntArray:
    """The parameters of one kind, without the coefficients of curves."""
    rows = r.parameters.of(kind)
    return rows[np.isin(rows, r.curve_coefficients, invert=True)]


def _smooth_table(r: LikelihoodResults) -> Table:
    """Degrees of freedom and tests of the smooth terms."""
    tests = pd.DataFrame(smooth_tests(r)).drop(columns="lambda")
    heads = {"ref_df": "Ref. df", "chisq": "chi2", "p_value": "p"}
    frame = tests.rename(columns=heads)
    formats = {"edf": ".2f", "Ref. df": ".2f", "sd": ".3f", "chi2": ".2f", "p": "p"}
    return Table(title=SMOOTHS, frame=frame, formats=formats, role="smooths")


def ratio_table(r: LikelihoodResults, effects: pd.DataFrame) -> Table:
    """Odds ratios, or the ratios of another link, with confidence limits, from the
    table of location effects.
    """
    ratio = ratio_of(r)
    low, high = effects.columns[-2:]
    numbers = np.column_stack([effects["estimate"], effects[low], effects[high]])
    values = ratio.exponents(["location"] * len(effects), numbers)
    frame = pd.DataFrame(values, index=effects.index, columns=[ratio.name, low, high])
    return Table(
        title=ratio.title,
        frame=frame,
        formats=dict.fromkeys(frame, EXACT + ratio_decimals(frame)),
        role="ratios",
    )


def threshold_estimates(r: LikelihoodResults) -> Table:
    """Thresholds with standard errors; structured ones by the delta method."""
    jacobian = r.fit.jacobian
    thresholds = r.thresholds
    if jacobian is None:
        errors: FloatArray = r.coefficient_columns["std_error"][: thresholds.size]
    else:
        covariance = r.fixed_covariance[: jacobian.shape[1], : jacobian.shape[1]]
        errors = np.sqrt(np.einsum("ki,ij,kj->k", jacobian, covariance, jacobian))
        errors = np.where(np.isnan(threshold_values(r.fit)), np.nan, errors)
        if r.fit.determined is not None:
            functions = np.zeros((len(jacobian), np.count_nonzero(~r.fit.aliased)))
            functions[:, : jacobian.shape[1]] = jacobian
            errors = np.where(r.fit.determined.diverge(functions), np.nan, errors)
    frame = pd.DataFrame({"threshold": thresholds, "std. error": errors})
    return replace(threshold_table(frame), title=r.family.threshold_title)


# One screen


def _screen_tables(
    r: LikelihoodResults,
    report: Report,
    exponentiate: bool | None,
    labels: Mapping[str, str],
) -> list[Table | Line]:
    """Effects with ratios in the same row, thresholds in one or two lines, and the test
    of proportional odds.
    """
    with_ratios = ratio_of(r).named if exponentiate is None else exponentiate
    names = {name for side in r.design.spec.column_names.values() for name in side}
    references = []
    for first, level in r.design.spec.references.items():
        if first in names:
            references.append(level.shown(labels))
    blocks: list[Table | Line] = []
    for block in estimates_of(report):
        if block.role == "thresholds" and references:
            blocks.append(Line(head="Reference levels:", items=tuple(references)))
        if isinstance(block, Line) or block.role not in ("ratios", *TITLES):
            blocks.append(block)
        elif block.brief is not None:
            blocks.append(block.brief)
        elif block.role == "location" and with_ratios:
            blocks.append(_beside_ratios(r, _brief(block)))
        elif block.role != "ratios":
            blocks.append(_brief(block))
    return [*blocks, *_proportionality(r)]


def _brief(block: Table) -> Table:
    """The table of effects with few digits."""
    frame = block.frame.rename(columns={"std. error": "SE"})
    errors = frame["SE"].fillna(frame["estimate"].abs())
    formats = dict.fromkeys(frame, few_decimals(errors)) | {**block.formats}
    return replace(block, frame=frame, formats=formats)


def _beside_ratios(r: LikelihoodResults, effects: Table) -> Table:
    """The table of location effects with the ratios to the right; without their limits
    if the screen is too narrow.
    """
    ratio = ratio_of(r)
    ratios = ratio_table(r, effects.frame)
    limits = [f" {name}" for name in ratios.frame.columns[1:]]
    columns = ratios.frame.set_axis([ratio.head, *limits], axis=1)
    sign = "exp(-estimate), " if ratio.sign < 0.0 else ""
    formats = dict.fromkeys(columns, ratios.formats[ratio.name])
    wide = replace(
        effects,
        title=f"{effects.title}; {ratio.head} = {sign}{ratio.name}",
        frame=pd.concat([effects.frame, columns], axis=1),
        formats={**effects.formats, **formats},
    )
    label, *sizes = wide.grid.sizes
    if min(label, SHORTEST_LABEL) + sum(sizes) + len(sizes) <= SCREEN:
        return wide
    return replace(wide, frame=wide.frame.iloc[:, :-2])


def _by_threshold(
    r: LikelihoodResults, frame: pd.DataFrame, effects: Sequence[str]
) -> Table:
    """Nominal effects with standard errors: one row per effect, one column per
    threshold.
    """
    heads = list(r.fit.threshold_names) or r.threshold_names
    errors = frame["std. error"]
    spec = few_decimals(errors.fillna(frame["estimate"].abs()))
    estimates = column_cells(frame["estimate"], spec)
    texts = list(map("{} ({})".format, estimates, column_cells(errors, spec)))
    index = list(effects[:: len(heads)])
    cells = pd.DataFrame(np.reshape(texts, (-1, len(heads))), index, heads)
    title = f"{r.family.nominal_title} with standard errors ({r.family.nominal_words})"
    return Table(title=title, frame=cells)


#: What a summary says where a test needs more fits, or rows in memory.
_UNTESTED = "Equal effects at all thresholds were not tested: use {}."


def _proportionality(r: LikelihoodResults) -> list[Line]:
    """The test of equal effects at all thresholds, or why there is none, and what to
    try if effects differ.
    """
    if not r.design.names or r.design.sample.n_levels == 2:  # nothing to test
        return []
    if r.parameters.of("phi").size:
        return _sentence(READING)
    if not r.in_memory:
        return _sentence(_UNTESTED.format("score_test() of a sample"))
    if r.fit.marginal is not None:
        return _sentence(_UNTESTED.format("nominal_test()"))
    score = r.own_covariance.name == "model"
    kind = "score" if score else "Wald"
    part, use = excluding(r, "score_test()" if score else "nominal_test()")
    if part:
        return _sentence(
            f"Equal effects at all thresholds: there is no {kind} test of fits with"
            f" {part}.{use}"
        )
    if score:
        test = Joint(*score_equality(r))
    else:
        everything = np.ones(len(r.design.names), dtype=bool)
        test, *_ = wald_equality(r, everything)
    if not np.isfinite(test.p_value):
        why, term = no_joint_test(r)
        if term:
            return _sentence(
                f"Equal effects at all thresholds, {kind} test: {term}. There is no"
                f" joint test, as {why}."
            )
        return _sentence(f"Equal effects at all thresholds were not tested: {why}.")
    figures = f"chi2({test.df})"
    if np.isfinite(test.df_resid):
        figures = f"F({test.df}, {test.df_resid:.4g})"
    tested = "Equal effects at all thresholds"
    if r.family.proportional_odds:
        tested = "Proportional odds"
    p = p_in_words(test.p_value)
    lines = _sentence(f"{tested}, {kind} test: {figures} = {test.statistic:.2f}, {p}")
    if test.p_value < DOUBTFUL:
        lines.append(Line(items=departures(r), between=" "))
    return lines


def _sentence(text: str) -> list[Line]:
    return [Line(items=(text,))]
