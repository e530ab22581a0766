"""Wald tests in place of likelihood ratios, for fits whose covariance is not that of independent rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.linalg import null_space

from ..._typing import BoolArray, FloatArray, IntArray
from ...checks import one_of
from ...exceptions import OptionError
from ...model.sample import Sample
from ..report.cells import p_in_words
from .comparison import described, joined, nested_in, offset_difference, spanned
from .fitted import FittedLikelihood
from .joint_tests import Joint, joint_frame, joint_test, with_words, zero
from .mixed.comparison import blocks
from .parameters import Covariance

#: What `test=` may be: "auto" is "Wald" beside robust errors, else "LR"; "Chisq" is R's name of "LR".
TESTS = ("auto", "LR", "Chisq", "Wald")
_INSTEAD = "Write the hypothesis for .test(), or use test='LR'."
#: Parts of columns of size 1 below this are rounding.
_ROUNDING, _TINY = 1e-7, 1e-300


def is_wald(test: str, fits: Iterable[FittedLikelihood], also: tuple[str, ...] = ()) -> bool:
    """Whether these fits are compared by Wald tests: asked for, or one of them has robust standard errors."""
    one_of("test", test, (*TESTS, *also))
    return test == "Wald" or (test == "auto" and any(fit.covariance != "model" for fit in fits))


def effects_test(r: FittedLikelihood) -> Joint:
    """Against thresholds only: all nominal, location and scale effects are 0."""
    effects = r.parameters.of("nominal", "location", "scale")
    return zero(r, effects)


def dropped_by_wald(r: FittedLikelihood, terms: Sequence[str]) -> pd.DataFrame:
    """Each term's effects are 0; terms that others contain are refused, as the others would take over their effect."""
    free = r.design.spec.marginality().droppable()
    for term in terms:
        if term not in free:
            raise OptionError(
                f"drop1 by a Wald test takes terms that no other contains; {term!r} is part of an interaction. Use "
                "anova(type='III'), or test='LR'."
            )
    tests = {}
    for term in terms:
        L = _dropped_hypothesis(r, r.design.terms[term])
        tests[term] = joint_test(r, L, L @ r.fit.coefficients[~r.fit.aliased])
    return with_words(joint_frame(tests, tests.values()), "Wald tests of dropping single terms", r.own_covariance)


def _dropped_hypothesis(r: FittedLikelihood, columns: slice) -> FloatArray:
    """(h, P') location effects that are 0 without a term, but for what aliased columns of others take over then."""
    places, estimated = r.parameters.of("location"), np.flatnonzero(~r.fit.aliased)
    L = np.eye(estimated.size)[np.isin(estimated, places[columns])]
    own, aliased = np.isin(np.arange(places.size), np.arange(places.size)[columns]), r.fit.aliased[places]
    if (aliased & ~own).any():
        L = _not_taken_over(r.design.sample, own & ~aliased, ~own & ~aliased, ~own & aliased) @ L
    return L


def _not_taken_over(sample: Sample, own: BoolArray, others: BoolArray, aliased: BoolArray) -> FloatArray:
    """(k, h) combinations of the effects of a term's own columns that are 0 wherever aliased columns are in its place.

    Aliased columns are sums of thresholds, nominal effects, other columns and own ones, each of these scaled to 1.
    """
    rows, used = sample.rows, sample.case_weights > 0.0
    columns = joined(np.ones((rows.n, 1)), rows.nominal, rows.X[:, others], rows.X[:, own])
    assert columns is not None
    (left, size), (right, _) = (_scaled(part[used]) for part in (columns, rows.X[:, aliased]))
    first = left.shape[1] - np.count_nonzero(own)
    carried = np.linalg.lstsq(left, right, rcond=None)[0].T[:, first:]
    carried = np.where(np.abs(carried) > _ROUNDING, carried, 0.0)
    return np.asarray(null_space(carried, rcond=_ROUNDING).T * size[first:])


def _scaled(columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Columns divided by their largest value, and these."""
    size = np.maximum(np.abs(columns).max(axis=0), _TINY)
    return columns / size, size


def added_by_wald(r: FittedLikelihood, wider: dict[str, FittedLikelihood]) -> pd.DataFrame:
    """The parameters that each wider fit has more are 0 in it."""
    tests = {term: zero(fit, further(r, fit)) for term, fit in wider.items()}
    return with_words(joint_frame(tests, tests.values()), "Wald tests of adding single terms", r.own_covariance)


def wald_comparison(fits: Sequence[FittedLikelihood]) -> pd.DataFrame:
    """Each fit against the next larger one: in the larger, what the smaller lacks is 0."""
    ordered = sorted(fits, key=lambda fit: fit.edf)
    tests = [_against(small, large) for small, large in pairwise(ordered)]
    names = [str(place) for place in range(len(ordered))]
    table = joint_frame(names[1:], tests).reindex(names)
    table.index = pd.Index([described(fit) for fit in ordered])  # which may be equal
    table.insert(0, "no_par", [fit.edf for fit in ordered])
    return with_words(table, "Wald tests between nested models", ordered[-1].own_covariance)


def _against(small: FittedLikelihood, large: FittedLikelihood) -> Joint:
    if large.covariance == "model" and small.covariance != "model":
        raise OptionError(
            f"anova tests by the covariance of the larger fit, and {described(large)!r} has that of the model beside "
            f"{small.own_covariance.words} of the smaller: give both the same, by vcov= or .with_vcov()."
        )
    check_nested(small, large)
    if set(blocks(small)) != set(blocks(large)):
        raise OptionError(
            f"anova by a Wald test takes models of the same random effects; those of {described(small)!r} and "
            f"{described(large)!r} differ. Use test='LR', which knows of variances at their boundary."
        )
    return zero(large, further(small, large))


def check_nested(small: FittedLikelihood, large: FittedLikelihood) -> None:
    """OptionError where the larger model does not contain the smaller."""
    if not nested_in(small, large):
        raise OptionError(
            f"anova by a Wald test takes nested models; {described(large)!r} does not contain {described(small)!r}."
        )


def further(small: FittedLikelihood, large: FittedLikelihood, instead: str = _INSTEAD) -> IntArray:
    """Places of the parameters of the larger fit that the smaller lacks.

    Raises
    ------
    OptionError
        The smaller one is the larger at other values than 0 of them, or has another penalty.
    """
    one, other = ([what for label, what in fit.fit.facts if label == "penalty"] for fit in (small, large))
    if one != other:
        raise OptionError(
            f"anova takes fits of one penalty, which estimates are drawn together by; {described(small)!r} and "
            f"{described(large)!r} have others. Fit both with the same penalty=, or without."
        )
    have, own = _estimated(small), _estimated(large)
    odd = [name for name in have if name not in own]
    why = None
    if odd:
        why = f"the smaller one has {odd[0]!r}, which the larger lacks"
    elif "lambda" in own and "lambda" not in have:
        why = "the link of the smaller one is that of the larger at a lambda that is not 0"
    elif _offsets_move(small, large):
        why = "their offsets differ by more than effects of the smaller one take up"
    if why is not None:
        raise OptionError(
            f"a Wald test is of parameters that are 0 in the smaller model, and {described(small)!r} is not "
            f"{described(large)!r} with some at 0 (terms may be coded otherwise): {why}. {instead}"
        )
    return np.array([place for name, place in own.items() if name not in have], dtype=np.intp)


def _offsets_move(small: FittedLikelihood, large: FittedLikelihood) -> bool:
    """Whether the smaller model has another offset, which no effects that both have make up for."""
    a, b = small.design.sample.rows, large.design.sample.rows
    location = offset_difference(a.offset, b.offset)
    scale = offset_difference(a.scale_offset, b.scale_offset)
    return not (spanned(location, joined(a.X, a.nominal)) and spanned(scale, a.scale))


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
    """The test of all effects for `glance`: likelihood ratio, or Wald beside robust errors and in surveys."""
    if r.covariance == "model":
        return {name: getattr(r, name) for name in ("lr_chi2", "lr_df", "lr_p_value")}
    test = effects_test(r)
    if r.covariance not in ("CR2", "survey"):
        return {"wald_chi2": test.statistic, "wald_df": test.df, "wald_p_value": test.p_value}
    names = ("wald_F", "wald_df", "wald_df_resid", "wald_p_value")
    return dict(zip(names, (*test, test.p_value), strict=True))


def test_of_effects(r: FittedLikelihood) -> tuple[str, str]:
    """Name and words of the test of all effects, for the summary."""
    name = "LR test" if r.covariance == "model" else "Wald F test" if r.covariance in ("CR2", "survey") else "Wald test"
    if r.edf == r.fit.null_edf:
        return name, "none: thresholds only"
    if name == "LR test" and r.method.penalty is not None:
        return name, "none: a penalised fit is no maximum of the likelihood"
    test = Joint(r.lr_chi2, r.lr_df) if name == "LR test" else effects_test(r)
    return name, _words(test, r.own_covariance)


def _words(test: Joint, chosen: Covariance) -> str:
    if np.isnan(test.statistic):
        if test.df > chosen.most_at_once:
            return f"none: {chosen.why_no_more}"
        if test.df and chosen.survey is not None:
            return "none: more effects than degrees of freedom of the design"
        return "none: infinite estimates" if test.df == 0 else "none"
    p = p_in_words(test.p_value)
    if np.isinf(test.df_resid):
        return f"{test.statistic:.4g} on {test.df} df, {p}"
    return f"F {test.statistic:.4g} on {test.df} and {round(test.df_resid, 1):g} df, {p}"
