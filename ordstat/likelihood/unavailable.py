"""The table of methods that a fit does not support, with reasons and alternatives.

`words.toml` has those of pooled fits and other methods.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, TypeVar

from ..exceptions import UnavailableError
from ..formula.smooths import UNPENALISED_TERMS

T = TypeVar("T")


@dataclass(frozen=True)
class Modifier:
    """A part of a fit that makes some methods ("questions") unavailable.

    Attributes
    ----------
    reason : str
        Words after "is not available for fits with".
    holds : callable(fit) -> bool
        Whether a fit has this part.
    instead : mapping of str to str
        The unavailable methods, and what to use instead, if anything.
    rows : mapping of str to str
        Methods that are available for other rows -> the argument for these rows.
    """

    reason: str
    holds: Callable[[Any], bool]
    instead: Mapping[str, str]
    rows: Mapping[str, str] = field(default_factory=dict)


_SAMPLE = "a fit to a sample of rows in memory"
_NEEDS_ALL_ROWS = (
    "margins residuals influence gof discrimination bootstrap draws emmeans emtrends"
    " subgroups joint_tests anova drop1 add1 step brant nominal_test scale_test"
    " score_test profile partial_fit plot report"
)
#: Questions that rows in blocks exclude -> the argument that brings other rows.
_OTHER_ROWS = {
    "predict()": "newdata",
    "errors()": "newdata",
    "confusion()": "newdata",
    "reliability()": "newdata",
    "calibration_slopes()": "newdata",
    "importance()": "newdata",
    "simulate()": "newdata",
    "marginal_effects()": "newdata",
    "superiority()": "newdata",
    "bounds()": "newdata",
    "augment()": "data",
    "model_matrix()": "newdata",
    "conformal()": "data",
}
#: Likelihoods are compared, and there is no likelihood of independent rows.
_RATIOS = {
    "anova() of several fits": "anova() of the largest fit alone, or test()",
    "drop1()": "anova(type='II')",
    "add1()": "update() with the terms, and anova(type='II')",
    "step()": "anova(type='II')",
    "scale_test()": "update(scale='~ x'), and test('scale.x') of that fit",
}
_NO_LIKELIHOOD = {
    **_RATIOS,
    "score_test()": "nominal_test()",
    "brant()": "nominal_test()",
    "gof()": "test() of terms added to the model",
    "profile()": "confint()",
    "confint(type='profile')": "confint(type='wald')",
    "draws()": "confint(), or test() of a function of the parameters",
}
#: The model's errors, which the reason names, have them.
_CRITERIA = {"aic": "", "bic": ""}
_UNPENALISED = "the fit update(penalty=None)"
_UNLIMITED = "a fit with x in place of mono(x)"
_REFIT = "refit(), which does not account for the selection"
#: What needs errors or the maximum of the likelihood, which shrunken estimates lack.
_NEEDS_MAXIMUM = (
    "vcov with_vcov confint conf_int profile bootstrap draws test anova joint_tests"
    " drop1 add1 step nominal_test scale_test score_test brant gof influence vif"
    " marginal_effects emmeans emtrends superiority subgroups partial_fit bounds"
    " margins"
)
#: Terms whose coefficients have no penalty.
_UNPENALISED_BASIS = f"a fit with {UNPENALISED_TERMS}"
_UNPENALISED_QUESTIONS = (
    "anova() of several fits",
    "drop1()",
    "add1()",
    "step()",
    "scale_test()",
    "nominal_test()",
    "score_test()",
    "brant()",
    "gof()",
    "profile()",
    "vif()",
    "subgroups()",
    "plot.parallel()",
)
_IN_CLASSES = "a fit to the response cut into a few classes"
#: With more levels, what takes numbers for each pair of levels, or of rows and levels,
#: takes minutes or gigabytes.
MOST_LEVELS = 2_000
_OTHER_GOODNESS = "anova() against a model with more terms, or residuals()"

#: The parts of a fit that exclude questions. A message names the first that holds.
MODIFIERS = {
    "blocks": Modifier(
        "rows in blocks, as it needs the rows of the fit",
        lambda r: not r.in_memory,
        {f"{name}()": _SAMPLE for name in _NEEDS_ALL_ROWS.split()}
        | {"response": _SAMPLE}
        | {
            question: f"{question[:-1]}{argument}=...), or {_SAMPLE}"
            for question, argument in _OTHER_ROWS.items()
        },
        _OTHER_ROWS,
    ),
    "path": Modifier(
        "an elastic net, as shrunken and selected coefficients have no standard errors,"
        " limits or tests",
        lambda r: r.fit.path is not None,
        {f"{name}()": _REFIT for name in _NEEDS_MAXIMUM.split()}
        | {
            "predict() with errors": _REFIT,
            "bounds()": "errors(cv=)",
            "margins()": "errors(cv=)",
            "plot.parallel()": "nominal= with the penalty",
        },
    ),
    "monotone": Modifier(
        "mono(x), whose steps may be held at 0 by the constraint, where errors, tests"
        " and criteria do not hold",
        lambda r: r.design.sample.stepped is not None,
        {
            **dict.fromkeys(
                [f"{name}()" for name in _NEEDS_MAXIMUM.split()], _UNLIMITED
            ),
            **dict.fromkeys(("predict() with errors", "aic", "bic"), _UNLIMITED),
            **dict.fromkeys(
                ("test()", "anova()", "anova() of several fits", "drop1()"),
                f"monotone_test(), or {_UNLIMITED}",
            ),
            "bounds()": "errors(cv=)",
            "margins()": "errors(cv=)",
            "plot.parallel()": _UNLIMITED,
        },
    ),
    "random": Modifier(
        "random effects, as rows of a group depend on each other and have thresholds"
        " of their own",
        lambda r: r.fit.marginal is not None,
        {
            "score_test()": "nominal_test() or scale_test(), which fit again",
            "brant()": "nominal_test()",
            "gof()": "residuals()",
            "influence()": "update(data=) without a group, which fits again",
            "draws()": "bootstrap()",
            "bounds()": "errors(cv=)",
            "margins()": "errors(cv=)",
        },
    ),
    "survey": Modifier(
        "a survey design, whose rows have no likelihood",
        lambda r: r.design.survey is not None,
        {
            **_NO_LIKELIHOOD,
            "aic": "anova() of this fit alone",
            "bic": "anova() of this fit alone",
            "bootstrap()": (
                "the errors of the fit, or SurveyDesign(replicates=...,"
                " type='bootstrap')"
            ),
        },
    ),
    "partial": Modifier(
        "censored answers",
        lambda r: r.design.sample.highest is not None,
        {
            "gof()": "residuals()",
            "brant()": "nominal_test()",
            "score_test()": "nominal_test()",
            "discrimination()": "errors()",
            "reliability()": "residuals()",
            "calibration_slopes()": "residuals()",
            "plot.parallel()": "nominal_test()",
            "bootstrap()": "confint(), or vcov={'cluster': ...}",
            "conformal()": "predict(type='prob')",
            "margins()": "residuals()",
            "bounds()": "errors(cv=)",
        },
    ),
    "given": Modifier(
        "a covariance matrix of your own, which holds for these estimates alone (see"
        " also .with_vcov('model'))",
        lambda r: r.own_covariance.matrix is not None,
        {
            **_NO_LIKELIHOOD,
            **_CRITERIA,
            "nominal_test()": "update(nominal='~ x'), and test() of that fit",
            "subgroups()": "update('~ . + arm * group'), and marginal_effects(by=)",
        },
    ),
    "robust": Modifier(
        "robust standard errors, as it assumes independent rows (see also"
        " .with_vcov('model'))",
        lambda r: r.own_covariance.name not in ("model", "survey"),
        {**_NO_LIKELIHOOD, **_CRITERIA},
    ),
    "by level": Modifier(
        "an effect of every term on every level",
        lambda r: r.method.supports.by_level,
        {
            "drop1()": "anova() of update('~ . - x') and this fit, or test('x')",
            "add1()": "anova() of this fit and update('~ . + x')",
            "step()": "the aic of update('~ . - x')",
            "nominal_test()": "anova() of update(method='acat') and this fit",
            "score_test()": "anova() of update(method='acat') and this fit",
            "scale_test()": "",
            "brant()": "anova() of update(method='acat') and this fit",
            "discrimination()": "errors()",
        },
    ),
    "factors": Modifier(
        "scores of the levels, by which effects differ between these",
        lambda r: r.fit.has_level_scores,
        {
            "nominal_test()": "anova() of this fit and update(method='multinomial')",
            "score_test()": "anova() of this fit and update(method='multinomial')",
            "brant()": "anova() of this fit and update(method='multinomial')",
            "scale_test()": "",
            "influence()": "update(data=) without the row",
            "joint_tests()": "anova()",
            "gof() of groups": _OTHER_GOODNESS,
        },
    ),
    "nominal": Modifier(
        "nominal effects",
        lambda r: r.design.sample.rows.nominal is not None,
        {"brant()": "nominal_test()", "gof() of groups": _OTHER_GOODNESS},
    ),
    "scale": Modifier(
        "scale effects",
        lambda r: (
            r.design.sample.rows.scale is not None
            or r.design.sample.rows.scale_offset is not None
        ),
        {"brant()": "nominal_test()", "gof() of groups": _OTHER_GOODNESS},
    ),
    "structure": Modifier(
        "structured thresholds, or a link with a parameter",
        lambda r: r.fit.jacobian is not None or r.fit.flexible_layout.link > 0,
        {
            "score_test()": "nominal_test()",
            "brant()": "nominal_test()",
            "gof() of groups": _OTHER_GOODNESS,
        },
    ),
    "smooth": Modifier(
        "smooth terms, whose coefficients are penalised",
        lambda r: r.fit.smooths is not None,
        {
            "anova()": "smooths(), and test() of other coefficients",
            **dict.fromkeys(_UNPENALISED_QUESTIONS, _UNPENALISED_BASIS),
            "confint(type='profile')": "confint(type='wald')",
            "joint_tests()": "smooths(), and test() of other coefficients",
            "influence()": "update(data=) without the row",
            "margins()": "errors(cv=)",
            "bounds()": "errors(cv=)",
        },
    ),
    "no smooth": Modifier(
        "no smooth terms",
        lambda r: r.fit.smooths is None,
        {"smooths()": "the fit update('~ . - x + s(x)')"},
    ),
    "penalty": Modifier(
        "a penalty, as it needs the maximum of the likelihood",
        lambda r: r.method.penalised,
        {
            **_RATIOS,
            "aic": _UNPENALISED,
            "bic": _UNPENALISED,
            "nominal_test()": _UNPENALISED,
            "score_test()": _UNPENALISED,
            "brant()": _UNPENALISED,
            "gof()": _UNPENALISED,
        },
    ),
    "separated": Modifier(
        "a separated response, as it needs finite estimates",
        lambda r: r.fit.separation is not None,
        {
            "gof()": "drop1(), or anova() against a model with more terms",
            "influence()": "update(data=) without the row",
        },
    ),
    "unordered": Modifier(
        "thresholds that need not increase",
        lambda r: not r.family.ordered,
        {"margins()": "predict(type='prob')"},
    ),
    "very many levels": Modifier(
        f"more than {MOST_LEVELS:,} levels, as it takes time and memory by pairs of"
        " levels, or of rows and levels",
        lambda r: len(r.levels) > MOST_LEVELS,
        {
            "margins()": f"residuals(), or {_IN_CLASSES}",
            "bounds()": _IN_CLASSES,
            "scale_test()": f"plot.residuals('x'), or {_IN_CLASSES}",
        },
    ),
    "infinite estimates": Modifier(
        "infinite estimates, as distances to the thresholds are infinite too",
        lambda r: r.fit.without_maximum,
        {
            "margins()": "the fit update(penalty=1.0)",
        },
    ),
    "lost": Modifier(
        "a likelihood without a maximum, so that rows have no predictions",
        lambda r: r.fit.lost,
        dict.fromkeys(
            (
                "simulate()",
                "reliability()",
                "calibration_slopes()",
                "importance()",
                "conformal()",
                "discrimination()",
                "bootstrap()",
                "errors()",
                "confusion()",
                "residuals()",
            ),
            "the fit that its warning advises",
        ),
    ),
    "binary": Modifier(
        "2 levels of the response, which have one threshold",
        lambda r: len(r.levels) == 2,
        {"score_test()": "", "brant()": ""},
    ),
    "location": Modifier(
        "no location effects",
        lambda r: not r.design.names,
        {"score_test()": "", "brant()": ""},
    ),
}


def excluding(r: Any, question: str, other_rows: bool = False) -> tuple[str, str]:
    """The reason why a method is unavailable, and what to use instead; empty if it is
    available. `other_rows` asks about other rows than those of the fit.
    """
    for modifier in MODIFIERS.values():
        if other_rows and question in modifier.rows:
            continue
        if question in modifier.instead and modifier.holds(r):
            instead = modifier.instead[question]
            return modifier.reason, f" Use {instead}." if instead else ""
    return "", ""


def why_unavailable(r: Any, question: str, other_rows: bool = False) -> str:
    """A sentence on why a method is unavailable, and what to use instead; empty if it
    is available.
    """
    part, use = excluding(r, question, other_rows)
    return f"{question} is not available for fits with {part}.{use}" if part else ""


def check_available(r: Any, question: str) -> None:
    """Raise an error if a fit does not support a method.

    Raises
    ------
    UnavailableError
        The message has the reason, and what to use instead.
    """
    if why := why_unavailable(r, question):
        raise UnavailableError(why)


def without(name: str) -> Callable[[type[T]], type[T]]:
    """Class decorator for results that all have one of `MODIFIERS`: its unavailable
    methods raise UnavailableError on access, so that `hasattr` is False.
    """
    modifier = MODIFIERS[name]

    def marked(results: type[T]) -> type[T]:
        for question in modifier.instead:
            argument = modifier.rows.get(question)
            member: Any
            if argument is None:
                member = _refused(question)
            else:
                member = _of_other_rows(results, question, argument)
            setattr(results, question.removesuffix("()"), member)
        return results

    return marked


def _refused(question: str) -> property:
    return property(lambda r: check_available(r, question))


def _of_other_rows(results: type, question: str, argument: str) -> Callable[..., Any]:
    """A method that is refused without the argument that brings other rows."""
    name = question.removesuffix("()")

    def ask(r: Any, *given: Any, **named: Any) -> Any:
        method = getattr(super(results, r), name)
        asked = signature(method).bind(*given, **named).arguments
        if asked.get(argument) is None:
            check_available(r, question)
        return method(*given, **named)

    return ask
