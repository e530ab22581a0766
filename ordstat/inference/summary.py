"""The summary of a likelihood fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..fit import count_above
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.parameters import own_covariance
from ..report.render import Part, Report, Summary, Table
from ..report.sections import (
    alert_notes,
    certificate_text,
    data_header,
    error_figures,
    error_tables,
    fractional,
    one_row,
    shared_tables,
    shown_part,
)
from .comparison import test_figures, test_of_effects
from .tables import effect_tables, screen_tables, threshold_estimates

#: What a fit tells of its likelihood, in the order of a table.
_FIGURES = ("nobs", "edf", "df_residual", "loglik", "null_loglik", "aic", "bic")


def likelihood_figures(r: FittedLikelihood) -> pd.DataFrame:
    """One row of figures of the whole fit."""
    if r.design.survey is not None:
        own = _survey_figures(r)
    else:
        own = {name: getattr(r, name) for name in _FIGURES}
        if r.without_aic:
            own |= {"aic": np.nan, "bic": np.nan}
        if r.fit.marginal is None:
            own |= test_figures(r) | {name: getattr(r, name) for name in ("mcfadden", "nagelkerke")}
    return one_row(own | error_figures(r) | {"converged": r.certificate.reached})


def _survey_figures(r: FittedLikelihood) -> dict[str, Any]:
    """What `glance` shows: differences of a weighted log-likelihood have no chi-squared distribution, and there is no
    AIC [Lumley and Scott 2015]."""
    return {
        "nobs": r.nobs,
        "edf": r.edf,
        "design_df": r.design_df,
        "pseudo_loglik": r.loglik,
        "mcfadden": r.mcfadden,
        **test_figures(r),
    }


def _survey_header(r: FittedLikelihood) -> tuple[tuple[str, Any], ...]:
    """Pairs of the summary's header in place of those of a likelihood."""
    survey = r.design.survey
    assert survey is not None
    return (
        ("Survey design", survey.words),
        ("Parameters", r.edf),
        ("Pseudo log-lik.", f"{r.loglik:.4f} (weights of mean 1)"),
        test_of_effects(r),
        ("McFadden R2", f"{r.mcfadden:.4f}"),
        ("Std. errors", r.own_covariance.words),
    )


def likelihood_summary(
    r: FittedLikelihood, section: str | None = None, *, exponentiate: bool | None = None, level: float = 0.95
) -> Summary:
    """The summary: its text is str(), its tables are in `.tables`."""
    report = likelihood_report(r, bool(exponentiate), level)
    return shown_part(r, section, report, screen_tables(r, report, exponentiate, level))


def likelihood_report(r: FittedLikelihood, exponentiate: bool = False, level: float = 0.95) -> Report:
    """All of the summary as data."""
    judged = shared_tables(r) if r.no_margins is None else error_tables(r)
    header, random, notes = r.random_part(level)
    tables: list[Table | Part] = [*random, *effect_tables(r, exponentiate, level), threshold_estimates(r), *judged]
    return Report(
        title=r.title,
        header=(*data_header(r), *_fit_header(r, header), ("Certificate", certificate_text(r.certificate, r.trace))),
        tables=tuple(tables),
        notes=(*alert_notes(r), *notes),
        margin_notes=tuple if r.no_margins else lambda: (*r.margin_bounds.notes, _threshold_rule(r)),
    )


def _fit_header(r: FittedLikelihood, random: tuple[tuple[str, Any], ...]) -> tuple[tuple[str, Any], ...]:
    if r.design.survey is not None:
        return _survey_header(r)
    size = ("Parameters", f"{r.edf}, residual df {r.df_residual:g}"), ("Log-likelihood", f"{r.loglik:.4f}")
    if random:
        return (*size, _criteria(r), *random)
    (criteria, words), (test, result) = _criteria(r), test_of_effects(r)
    switched = r.covariance == "model" and own_covariance(r.design).name != "model"
    return (
        *size,
        *([(f"{criteria}, {test}", words)] if words == result else [(criteria, words), (test, result)]),
        ("McFadden R2", f"{r.mcfadden:.4f}"),
        ("Nagelkerke R2", f"{r.nagelkerke:.4f}"),
        ("Std. errors", "not robust, " * switched + r.own_covariance.words),
    )


def _criteria(r: FittedLikelihood) -> tuple[str, str]:
    return "AIC, BIC", f"none: {r.without_aic}" if r.without_aic else f"{r.aic:.2f}, {r.bic:.2f}"


def _threshold_rule(r: FittedLikelihood) -> str:
    """Margins judge another rule than `predict` follows: on how many rows the two differ."""
    p = r.training
    by_thresholds = count_above(r.gaps(r.design.sample.rows, r.fit.scores))
    same = float(p.weights[by_thresholds == p.codes].sum())
    total = p.weights.sum()
    share = f"{100.0 * same / total:.1f}%" if fractional(r) else f"{same:g} of {total:g}"
    agreement = "all" if same == total else share
    return (
        "Margins, errors at a margin and bounds belong to the threshold rule (the level is the number of thresholds "
        f"below the score); it gives the level of predict() for {agreement} training rows."
    )
