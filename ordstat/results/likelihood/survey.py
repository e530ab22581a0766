"""What a survey design changes in tests and summaries: Wald F tests in the place of all that rests on the likelihood.

The weighted log-likelihood of a sample is no likelihood: differences of it have no chi-squared distribution, and AIC
has no meaning [Lumley and Scott 2015].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..report.cells import p_value
from .fitted import FittedLikelihood
from .joint_tests import Joint
from .nested_wald import effects_test


def survey_figures(r: FittedLikelihood) -> dict[str, Any]:
    """What `glance` tells of the fit in place of its likelihood."""
    test = effects_test(r)
    return {
        "nobs": r.nobs,
        "edf": r.edf,
        "design_df": r.design_df,
        "pseudo_loglik": r.loglik,
        "mcfadden": r.mcfadden,
        "wald_F": test.statistic,
        "wald_df": test.df,
        "wald_df2": test.df_resid,
        "wald_p_value": test.p_value,
    }


def survey_header(r: FittedLikelihood) -> tuple[tuple[str, Any], ...]:
    """Pairs of the summary's header in place of those of a likelihood."""
    survey = r.design.survey
    assert survey is not None
    return (
        ("Survey design", survey.words),
        ("Parameters", r.edf),
        ("Pseudo log-lik.", f"{r.loglik:.4f} (weights of mean 1)"),
        ("Wald F test", _HELD if r.held_in_order else _in_words(effects_test(r))),
        ("McFadden R2", f"{r.mcfadden:.4f}"),
        ("Std. errors", r.own_covariance.words),
    )


_HELD = "none: the order of thresholds holds estimates back"


def _in_words(test: Joint) -> str:
    if test.df == 0:
        return "none: thresholds only, or infinite estimates"
    if np.isnan(test.statistic):
        return "none: more effects than degrees of freedom of the design"
    p = p_value(test.p_value)
    return f"{test.statistic:.4g} on {test.df:g} and {test.df_resid:g} df, p {'' if p.startswith('<') else '= '}{p}"
