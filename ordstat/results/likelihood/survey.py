"""What a survey design changes in tests and summaries: Wald F tests in the place of all that rests on the likelihood.

The weighted log-likelihood of a sample is no likelihood: differences of it have no chi-squared distribution, and AIC
has no meaning [Lumley and Scott 2015].
"""

from __future__ import annotations

from typing import Any

from .fitted import FittedLikelihood
from .nested_wald import test_figures, test_of_effects


def survey_figures(r: FittedLikelihood) -> dict[str, Any]:
    """What `glance` tells of the fit in place of its likelihood."""
    return {
        "nobs": r.nobs,
        "edf": r.edf,
        "design_df": r.design_df,
        "pseudo_loglik": r.loglik,
        "mcfadden": r.mcfadden,
        **test_figures(r),
    }


def survey_header(r: FittedLikelihood) -> tuple[tuple[str, Any], ...]:
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
