"""A likelihood fit as data frames, one row a parameter or one row in all, and its summary."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ...model.rules import count_above
from ..report.render import Report, Summary, Table
from ..report.sections import (
    alert_notes,
    certificate_text,
    data_header,
    error_figures,
    error_tables,
    fractional,
    shared_tables,
    shortened,
)
from .fitted import FittedLikelihood
from .nested_wald import test_figures, test_of_effects
from .order import order_notes
from .profile import confidence_limits
from .survey import survey_figures, survey_header

#: What a fit tells of its likelihood, in the order of a table.
_FIGURES = ("nobs", "edf", "df_residual", "loglik", "null_loglik", "aic", "bic")
_SHARES = ("mcfadden", "nagelkerke")


def tidy_parameters(
    r: FittedLikelihood, conf_int: bool = True, exponentiate: bool = False, level: float = 0.95
) -> pd.DataFrame:
    """One row per parameter: term, estimate, std_error, statistic, p_value, conf_low, conf_high, coef_type.

    Under a CR2 covariance also df, the degrees of freedom of t.

    Parameters
    ----------
    conf_int : bool
        Whether to give the limits.
    exponentiate : bool
        exp() of estimate and limits of all terms but thresholds; std_error, statistic and p_value stay those of
        the coefficient.
    level : float
        Confidence level of the limits.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> fit.tidy(exponentiate=True).round(2).loc[4:, ["term", "estimate", "conf_low", "conf_high"]]
                 term  estimate  conf_low  conf_high
    4    temp[T.warm]     12.22      4.34      34.44
    5  contact[T.yes]      4.61      1.81      11.73
    """
    limits = confidence_limits(r, level=level).to_numpy()
    numbers = np.column_stack((r.fit.coefficients, limits))
    if exponentiate:
        effects = r.parameters.of("nominal", "location", "scale")
        with np.errstate(over="ignore"):  # infinite, of a large coefficient
            numbers[effects] = np.exp(numbers[effects])
    estimate, low, high = numbers.T
    tests = {"std_error": r._standard_errors, "statistic": r.z_values.to_numpy()}
    tests |= {"df": r.t_df} if r.bias_reduced is not None else {}
    tests |= {"p_value": r.p_values.to_numpy()}
    ends = {"conf_low": low, "conf_high": high} if conf_int else {}
    named = {"term": r.parameters.names, "estimate": estimate}
    return pd.DataFrame(named | tests | ends | {"coef_type": r.parameters.kinds})


def likelihood_figures(r: FittedLikelihood) -> pd.DataFrame:
    """One row of figures of the whole fit; with robust errors wald_chi2, wald_df, wald_p_value in place of lr_chi2 ....

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> fit.glance()[["nobs", "loglik", "aic", "mcfadden"]].round(3)
       nobs  loglik      aic  mcfadden
    0  72.0 -86.492  184.984     0.166
    """
    if r.design.survey is not None:
        own = survey_figures(r)
    else:
        own, shares = ({name: getattr(r, name) for name in names} for names in (_FIGURES, _SHARES))
        own = own | test_figures(r) | shares
    return pd.DataFrame([own | error_figures(r) | {"converged": r.certificate.reached}])


#: Name of the ratio, sign of the coefficient in it, title of its table, where the family has none.
_EXPONENT = ("exp(estimate)", 1.0, "Exponents of the location effects; no odds or hazards under this link")
_SCALED = ("exp(estimate)", 1.0, "Exponents of the location effects: ratios of odds or hazards only at scale 1")


def likelihood_summary(r: FittedLikelihood, exponentiate: bool = False, level: float = 0.95) -> Summary:
    """The summary: its text is str(), its tables are in `.tables`.

    Parameters
    ----------
    exponentiate : bool
        Add the odds ratios (logit), hazard ratios (cloglog) or exponents of the effects, with limits.
    level : float in (0, 1)
        Confidence level of the limits.
    """
    return Summary(likelihood_report(r, exponentiate, level))


def likelihood_report(r: FittedLikelihood, exponentiate: bool = False, level: float = 0.95) -> Report:
    """The summary as data.

    Parameters
    ----------
    exponentiate, level
        As in `likelihood_summary`.
    """
    judged = shared_tables(r) if r.no_margins is None else error_tables(r)
    tables = [*_effect_tables(r, exponentiate, level), _threshold_table(r), *judged]
    return Report(
        title=f"{r.family.name}: {r.design.formula}",
        header=(*data_header(r), *_fit_header(r), ("Certificate", certificate_text(r.certificate, r.trace))),
        tables=tuple(tables),
        notes=(*alert_notes(r), *order_notes(r), *_margin_notes(r)),
    )


def _margin_notes(r: FittedLikelihood) -> tuple[str, ...]:
    return () if r.no_margins else (*r.margin_bounds.notes, _threshold_rule(r))


def _fit_header(r: FittedLikelihood) -> tuple[tuple[str, Any], ...]:
    if r.design.survey is not None:
        return survey_header(r)
    return (
        ("Parameters", f"{r.edf}, residual df {r.df_residual:g}"),
        ("Log-likelihood", f"{r.loglik:.4f}"),
        ("AIC, BIC", f"{r.aic:.2f}, {r.bic:.2f}"),
        test_of_effects(r),
        ("McFadden R2", f"{r.mcfadden:.4f}"),
        ("Nagelkerke R2", f"{r.nagelkerke:.4f}"),
        ("Std. errors", r.own_covariance.words),
    )


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


def _effect_tables(r: FittedLikelihood, exponentiate: bool, level: float) -> list[Table]:
    titles = {
        "location": "Location effects (positive = higher response)",
        "nominal": "Nominal effects, by threshold (positive = lower response)",
        "scale": "Scale effects on the log scale (positive = wider distribution of the response)",
    }
    if r.fit.jacobian is not None:
        titles["threshold"] = "Parameters of the thresholds"
    titles["lambda"] = "Parameter of the link"
    found: list[Table] = []
    for kind, title in titles.items():
        rows = r.parameters.of(kind)
        if rows.size:
            found.append(_effects(r, rows, title, level))
    if exponentiate and r.design.names:
        found.insert(1, _ratios(r, level))
    return found


def _limit_names(level: float) -> tuple[str, str]:
    return f"{50 * (1 - level):.3g}%", f"{50 * (1 + level):.3g}%"


def _effects(r: FittedLikelihood, rows: Any, title: str, level: float) -> Table:
    tidy = tidy_parameters(r, level=level).iloc[rows].set_index("term").rename_axis(None).drop(columns="coef_type")
    plain = ["z" if np.isinf(r.design_df) else "t", "p"]
    tests = plain if r.bias_reduced is None else ["t", "df", "p"]
    frame = tidy.set_axis(["estimate", "std. error", *tests, *_limit_names(level)], axis=1)
    return Table(title=title, frame=frame, formats={"z": ".2f", "t": ".2f", "df": ".1f", "p": "p"})


def _ratios(r: FittedLikelihood, level: float) -> Table:
    """Odds ratios or what the link has in their place, with limits."""
    rows = r.parameters.of("location")
    scaled = r.design.sample.rows.scale is not None or r.design.sample.rows.scale_offset is not None
    name, sign, title = _SCALED if scaled else r.family.ratios.get(r.family.link.name, _EXPONENT)
    with np.errstate(over="ignore"):  # infinite, of a large coefficient
        limits = np.sort(np.exp(sign * confidence_limits(r, level=level).to_numpy()[rows]), axis=1)
        ratios = np.exp(sign * r.fit.coefficients[rows])
    low, high = _limit_names(level)
    frame = pd.DataFrame({name: ratios, low: limits[:, 0], high: limits[:, 1]}, index=list(r.design.names))
    return Table(title=title, frame=frame, formats=dict.fromkeys(frame, "ratio"))


def _threshold_table(r: FittedLikelihood) -> Table:
    frame = pd.DataFrame({"threshold": r.thresholds, "std. error": r.threshold_se})
    return shortened(Table(title="Thresholds", frame=frame), ".thresholds")
