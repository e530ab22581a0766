"""What a survey design changes in tests and summaries: Wald F tests in the place of all that rests on the likelihood.

The weighted log-likelihood of a sample is no likelihood: differences of it have no chi-squared distribution, and AIC
has no meaning [Lumley and Scott 2015].
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import fdtrc

from ...assess.likelihood.wald import wald_test
from ..report.cells import p_value
from .fitted import FittedLikelihood


def wald_f(statistic: float, hypotheses: int, df: float) -> tuple[float, float, float]:
    """(F, its second degrees of freedom, p-value) of a Wald statistic W of k hypotheses under d design degrees.

    F = (d - k + 1) / (d k) W on k and d - k + 1 degrees [Korn and Graubard 1990], as Stata tests after svy; NaN where
    there are more hypotheses than degrees of freedom: W is infinite then, as its covariance is singular.

    Examples
    --------
    >>> wald_f(9.0, 1, 20.0)[:2]
    (9.0, 20.0)
    >>> wald_f(10.0, 3, 20.0)[:2]
    (3.0, 18.0)
    """
    left = df - hypotheses + 1.0
    if hypotheses == 0 or left <= 0.0 or not np.isfinite(statistic):
        return float("nan"), float("nan"), float("nan")
    F = left / (df * hypotheses) * statistic
    return F, left, float(fdtrc(hypotheses, left, F))


def wald_f_frame(names: Iterable[str], tests: Collection[tuple[float, int]], df: float) -> pd.DataFrame:
    """Wald statistics and their hypotheses as a frame of F tests: df, df2, F, p_value."""
    found = np.array([wald_f(*test, df) for test in tests]).reshape(-1, 3)
    columns = {"df": [k for _, k in tests], "df2": found[:, 1], "F": found[:, 0], "p_value": found[:, 2]}
    return pd.DataFrame(columns, index=list(names))


def overall_test(r: FittedLikelihood) -> pd.Series:
    """The Wald F test that all effects are 0, as a row of `wald_f_frame`."""
    asked = np.zeros(r.fit.aliased.size, dtype=bool)
    asked[r.parameters.of("nominal", "location", "scale")] = True
    L = np.eye(r.edf)[asked[~r.fit.aliased]]
    test = wald_test(L, L @ r.fit.coefficients[~r.fit.aliased], r.vcov().to_numpy())
    return wald_f_frame(["model"], [test], r.design_df).iloc[0]


def survey_figures(r: FittedLikelihood) -> dict[str, Any]:
    """What `glance` tells of the fit in place of its likelihood."""
    test = overall_test(r)
    return {
        "nobs": r.nobs,
        "edf": r.edf,
        "design_df": r.design_df,
        "pseudo_loglik": r.loglik,
        "mcfadden": r.mcfadden,
        "wald_F": test["F"],
        "wald_df": test["df"],
        "wald_df2": test["df2"],
        "wald_p_value": test["p_value"],
    }


def survey_header(r: FittedLikelihood) -> tuple[tuple[str, Any], ...]:
    """Pairs of the summary's header in place of those of a likelihood."""
    survey = r.design.survey
    assert survey is not None
    return (
        ("Survey design", survey.words),
        ("Parameters", r.edf),
        ("Pseudo log-lik.", f"{r.loglik:.4f} (weights of mean 1)"),
        ("Wald F test", _in_words(overall_test(r))),
        ("McFadden R2", f"{r.mcfadden:.4f}"),
        ("Std. errors", r.own_covariance.words),
    )


def _in_words(test: pd.Series) -> str:
    if test["df"] == 0:
        return "none: thresholds only, or infinite estimates"
    if np.isnan(test["F"]):
        return "none: more effects than degrees of freedom of the design"
    p = p_value(test["p_value"])
    return f"{test['F']:.4g} on {test['df']:g} and {test['df2']:g} df, p {'' if p.startswith('<') else '= '}{p}"
