"""Questions that a likelihood fit cannot answer, why, and what to ask instead.

The table for random effects is `REFUSED` in `mixed/results.py`.
"""

from __future__ import annotations

from typing import Any

from ..exceptions import UnavailableError

#: Part of a fit -> its description with the reason for a refusal.
MODIFIERS = {
    "survey": "a survey design, whose rows have no likelihood",
    "robust": (
        "robust standard errors, as it assumes independent rows (see also"
        " .with_vcov('model'))"
    ),
    "penalty": "a penalty, as it needs the maximum of the likelihood",
    "infinite": (
        "a separated response, as it needs finite estimates (fit with penalty=, or"
        " merge levels)"
    ),
    "nominal": "nominal effects",
    "scale": "scale effects",
    "structure": "structured thresholds, or a link with a parameter",
    "location": "no location effects",
    "binary": "2 levels of the response, which have one threshold",
}
_UNPENALISED = "update(penalty=None), and ask that fit"
#: Question -> the parts of a fit that exclude it -> what to ask instead, if anything.
REFUSED = {
    "aic": {"survey": "anova() of this fit alone"},
    "bic": {"survey": "anova() of this fit alone"},
    "anova() of several fits": {
        "survey robust penalty": "anova() of the largest fit alone, or test()"
    },
    "drop1()": {"survey robust penalty": "anova(type='II')"},
    "add1()": {
        "survey robust penalty": "update() with the terms, and anova(type='II')"
    },
    "step()": {"survey robust penalty": "anova(type='II')"},
    "nominal_test()": {"penalty": _UNPENALISED},
    "scale_test()": {
        "survey robust penalty": "update(scale='~ x'), and test('scale.x') of that fit"
    },
    "score_test()": {
        "survey robust structure": "nominal_test()",
        "penalty": _UNPENALISED,
        "binary location": "",
    },
    "brant()": {
        "survey robust nominal scale structure": "nominal_test()",
        "penalty": _UNPENALISED,
        "binary location": "",
    },
    "gof()": {
        "survey robust": "test() of terms added to the model",
        "penalty": _UNPENALISED,
        "infinite": "drop1(), or anova() against a model with more terms",
    },
    "gof() of groups": {
        "nominal scale structure": (
            "anova() against a model with more terms, or residuals()"
        )
    },
    "influence()": {"infinite": "update(data=) without the row"},
    "profile()": {"survey robust": "confint()"},
    "confint(type='profile')": {"survey robust": "confint(type='wald')"},
    "bootstrap()": {
        "survey": (
            "the errors of the fit, or SurveyDesign(replicates=..., type='bootstrap')"
        )
    },
}


def excluding(r: Any, question: str) -> tuple[str, str]:
    """The part of a fit that excludes a question of `REFUSED`, and what to ask instead;
    empty if it answers.
    """
    rows = r.design.sample.rows
    covariance = r.own_covariance
    present = {
        "survey": r.design.survey is not None,
        "robust": covariance.name not in ("model", "survey"),
        "penalty": "penalty" in dict(r.fit.facts),
        "infinite": r.fit.separation is not None,
        "nominal": rows.nominal is not None,
        "scale": rows.scale is not None or rows.scale_offset is not None,
        "structure": r.fit.jacobian is not None or r.fit.n_lambda > 0,
        "location": not r.design.names,
        "binary": len(r.levels) == 2,
    }
    for modifiers, instead in REFUSED[question].items():
        for name in modifiers.split():
            if present[name]:
                return MODIFIERS[name], f" Use {instead}." if instead else ""
    return "", ""


def why_unavailable(r: Any, question: str) -> str:
    """Why a fit does not answer a question of `REFUSED`, and what to ask instead; empty
    if it answers.
    """
    part, use = excluding(r, question)
    return f"{question} is not available for fits with {part}.{use}" if part else ""


def check_available(r: Any, question: str) -> None:
    """Refuse a question that a fit does not answer.

    Raises
    ------
    UnavailableError
        With the reason, and what to ask instead.
    """
    if why := why_unavailable(r, question):
        raise UnavailableError(why)
