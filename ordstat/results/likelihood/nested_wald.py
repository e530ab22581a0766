"""Wald tests in place of likelihood ratios, for fits whose covariance is not that of independent rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from ..._typing import IntArray
from ...checks import one_of
from ...exceptions import OptionError
from ..report.cells import p_value
from .comparison import described, nested_in
from .fitted import FittedLikelihood
from .joint_tests import Joint, joint_frame, with_words, zero
from .parameters import Covariance

#: What `test=` may be: "auto" is "Wald" beside robust errors, else "LR"; "Chisq" is R's name of "LR".
TESTS = ("auto", "LR", "Chisq", "Wald")


def is_wald(test: str, fits: Iterable[FittedLikelihood], also: tuple[str, ...] = ()) -> bool:
    """Whether these fits are compared by Wald tests: asked for, or one of them has robust standard errors."""
    one_of("test", test, (*TESTS, *also))
    return test == "Wald" or (test == "auto" and any(fit.covariance != "model" for fit in fits))


def effects_test(r: FittedLikelihood) -> Joint:
    """Against thresholds only: all nominal, location and scale effects are 0; NaN where they are held back."""
    effects = r.parameters.of("nominal", "location", "scale")
    return Joint(np.nan, effects.size) if r.held_in_order else zero(r, effects)


def dropped_by_wald(r: FittedLikelihood, terms: Sequence[str]) -> pd.DataFrame:
    """Each term's effects are 0; terms that others contain are refused, as the others would take over their effect."""
    check_droppable(r, terms)
    location = r.parameters.of("location")
    tests = {term: zero(r, location[r.design.terms[term]]) for term in terms}
    return with_words(joint_frame(tests, tests.values()), "Wald tests of dropping single terms", r.own_covariance)


def check_droppable(r: FittedLikelihood, terms: Iterable[str]) -> None:
    """OptionError for terms that others contain."""
    free = r.design.spec.marginality().droppable()
    for term in terms:
        if term not in free:
            raise OptionError(
                f"drop1 by a Wald test takes terms that no other contains; {term!r} is part of an interaction. Use "
                "anova(type='III'), or test='LR'."
            )


def added_by_wald(r: FittedLikelihood, wider: dict[str, FittedLikelihood]) -> pd.DataFrame:
    """The parameters that each wider fit has more are 0 in it."""
    tests = {term: zero(fit, further(r, fit)) for term, fit in wider.items()}
    return with_words(joint_frame(tests, tests.values()), "Wald tests of adding single terms", r.own_covariance)


def wald_comparison(fits: Sequence[FittedLikelihood]) -> pd.DataFrame:
    """Each fit against the next larger one: in the larger, what the smaller lacks is 0."""
    ordered = sorted(fits, key=lambda fit: fit.edf)
    tests = [_against(small, large) for small, large in pairwise(ordered)]
    table = joint_frame([described(fit) for fit in ordered[1:]], tests).reindex([described(fit) for fit in ordered])
    table.insert(0, "no_par", [fit.edf for fit in ordered])
    return with_words(table, "Wald tests between nested models", ordered[-1].own_covariance)


def _against(small: FittedLikelihood, large: FittedLikelihood) -> Joint:
    if large.covariance == "model" and small.covariance != "model":
        raise OptionError(
            f"anova tests by the covariance of the larger fit, and {described(large)!r} has that of the model beside "
            f"{small.own_covariance.words} of the smaller: give both the same, by vcov= or .with_vcov()."
        )
    check_nested(small, large)
    return zero(large, further(small, large))


def check_nested(small: FittedLikelihood, large: FittedLikelihood) -> None:
    """OptionError where the larger model does not contain the smaller."""
    if not nested_in(small, large):
        raise OptionError(
            f"anova by a Wald test takes nested models; {described(large)!r} does not contain {described(small)!r}."
        )


def further(small: FittedLikelihood, large: FittedLikelihood) -> IntArray:
    """Places of the parameters of the larger fit that the smaller lacks.

    Raises
    ------
    OptionError
        The smaller one is the larger at other values than 0 of them.
    """
    have = _estimated(small)
    more = [place for name, place in _estimated(large).items() if name not in have]
    if len(more) != large.edf - small.edf or "lambda" in set(_estimated(large)) - set(have):
        raise OptionError(
            f"a Wald test against {described(small)!r} is none of effects that are 0 in {described(large)!r}, as "
            "terms are coded otherwise there: write the hypothesis for .test(), or use test='LR'."
        )
    return np.array(more, dtype=np.intp)


def _estimated(fit: FittedLikelihood) -> dict[str, int]:
    """Places of the parameters that are estimated, by name."""
    places = np.flatnonzero(~fit.fit.aliased)
    return {fit.parameters.names[place]: int(place) for place in places}


def check_likelihood(r: FittedLikelihood, name: str, instead: str) -> None:
    """OptionError where a question to the likelihood of independent rows is asked beside robust errors."""
    if r.covariance != "model":
        raise OptionError(
            f"{name} takes the rows for independent, and this fit has other standard errors "
            f"({r.own_covariance.words}): {instead}, or ask .with_vcov('model').{name}()."
        )


def test_figures(r: FittedLikelihood) -> dict[str, Any]:
    """The test of all effects for `glance`: likelihood ratio, or Wald beside robust errors."""
    if r.covariance == "model":
        return {name: getattr(r, name) for name in ("lr_chi2", "lr_df", "lr_p_value")}
    test = effects_test(r)
    if np.isinf(test.df_resid):
        return {"wald_chi2": test.statistic, "wald_df": test.df, "wald_p_value": test.p_value}
    names = ("wald_f", "wald_df", "wald_df_resid", "wald_p_value")
    return dict(zip(names, (*test, test.p_value), strict=True))


def test_of_effects(r: FittedLikelihood) -> tuple[str, str]:
    """Name and words of the test of all effects, for the summary."""
    name = "LR test" if r.covariance == "model" else "Wald test"
    if r.edf == r.fit.null_edf:
        return name, "none: thresholds only"
    if name == "LR test" and r.method.penalty is not None:
        return name, "none: a penalised fit is no maximum of the likelihood"
    if r.held_in_order:
        return name, "none: the order of thresholds holds estimates back"
    test = Joint(r.lr_chi2, r.lr_df) if name == "LR test" else effects_test(r)
    return name, _words(test, r.own_covariance)


def _words(test: Joint, chosen: Covariance) -> str:
    if np.isnan(test.statistic):
        return f"none: fewer than {test.df + 1} clusters" if test.df > chosen.most_at_once else "none"
    shown = p_value(test.p_value)
    p = f"p < {shown[1:]}" if shown.startswith("<") else f"p = {shown}"
    if np.isinf(test.df_resid):
        return f"{test.statistic:.4g} on {test.df} df, {p}"
    return f"F {test.statistic:.4g} on {test.df} and {test.df_resid:.1f} df, {p}"
