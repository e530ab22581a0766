"""Wald tests of linear hypotheses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..checks import listed_texts, one_of
from ..exceptions import OptionError
from ..formula.factors import read_relations
from ..likelihood.fitted import FittedLikelihood, with_covariance
from ..likelihood.parameters import check_determined
from ..likelihood.wald import quadratic_form, sequential_contrasts
from ..report.frames import NotedFrame
from ..report.warnings import without_end
from .comparison import (
    TESTS,
    comparable,
    is_wald,
    joint_frame,
    joint_test,
    likelihood_ratio_tests,
    wald_comparison,
    with_words,
)

if TYPE_CHECKING:
    from ..formula.coding import Marginality
    from ..formula.design import Design

#: The row of the joint test.
JOINT = "joint"


#: Other names of a type.
_ALIASES = {"1": "I", "2": "II", "3": "III", "balanced": "III"}
#: Contrasts whose coefficients these types test.
_CODED = {"III": "sum", "baseline": "treatment"}


def analysis_of_variance(r: FittedLikelihood, *others: Any, type: str = "I", test: str = "auto") -> pd.DataFrame:
    """Tests against other fits (likelihood ratio, or Wald beside robust errors), or of location terms of this one."""
    if not others:
        one_of("test", test, TESTS)
        if test not in ("auto", "Wald"):
            raise OptionError(
                f"anova of one fit has Wald tests; got test={test!r}. Give the smaller fits too, or use "
                f"drop1(test={test!r})."
            )
        return wald_anova(r, type)
    fits = comparable([r, *others])
    return wald_comparison(fits) if is_wald(test, fits) else likelihood_ratio_tests(fits)


def wald_anova(r: FittedLikelihood, type: str) -> pd.DataFrame:
    """Wald tests of the location terms of one fit; see `LikelihoodResults.anova`."""
    kind = _ALIASES.get(str(type), str(type))
    one_of("type", kind, ("I", "II", *_CODED))
    design, marginality = r.design, r.design.spec.marginality()
    places = r.parameters.of("location")
    estimated = ~r.fit.aliased[places]
    onto = np.eye(r.fit.aliased.size)[places][:, ~r.fit.aliased]  # from contrasts of location effects
    beta = r.fit.coefficients[~r.fit.aliased]
    contrasts = _recoded_contrasts if kind in _CODED else _sequential_contrasts
    rows = [L @ onto for L in contrasts(r, kind, marginality, estimated)]
    table = joint_frame(design.terms, [joint_test(r, L, L @ beta) for L in rows])
    return with_words(table, f"Wald tests of type {kind}", r.own_covariance)


def _sequential_contrasts(
    r: FittedLikelihood, kind: str, marginality: Marginality, estimated: BoolArray
) -> list[FloatArray]:
    """Types I and II: terms in the order of the formula, or with those that contain a term after it."""
    design, sample = r.design, r.design.sample
    centred = sample.X - np.average(sample.X, axis=0, weights=sample.case_weights)
    gram = (centred * sample.case_weights[:, None]).T @ centred
    found = []
    for term, columns in design.terms.items():
        own = np.arange(columns.start, columns.stop)
        order = np.arange(estimated.size) if kind == "I" else _containing_last(term, marginality, design)
        found.append(sequential_contrasts(gram, own[estimated[own]], order[estimated[order]]))
    return found


def _recoded_contrasts(
    r: FittedLikelihood, kind: str, marginality: Marginality, estimated: BoolArray
) -> list[FloatArray]:
    """Types III and baseline: coefficients under another coding; NaN where an aliased column leaves them unknown.

    A term that no other contains is tested whatever is aliased in it, and where the other coding would be another
    model: by its columns that are not aliased.
    """
    coded = r.design.spec.hypotheses(_CODED[kind])
    found = []
    for term, columns in r.design.terms.items():
        # Known in all cells: nothing is aliased in the term or in those that contain it.
        if coded and all(estimated[r.design.terms[name]].all() for name in (term, *marginality.containing[term])):
            found.append(coded[term])
        elif marginality.containing[term]:
            found.append(np.full((columns.stop - columns.start, estimated.size), np.nan))
        else:
            found.append(np.eye(estimated.size)[columns][estimated[columns]])
    return found


def _containing_last(term: str, marginality: Marginality, design: Design) -> IntArray:
    """Columns in the order: other terms, this term, the terms that contain it."""
    containing = marginality.containing[term]
    others = [name for name in design.terms if name != term and name not in containing]
    columns = [np.arange(design.terms[name].start, design.terms[name].stop) for name in (*others, term, *containing)]
    return np.concatenate(columns)


def hypothesis_tests(r: FittedLikelihood, hypotheses: str | Sequence[str], *, vcov: Any = None) -> pd.DataFrame:
    """Wald tests of linear hypotheses on the parameters."""
    index, L, target = linear_hypotheses(r, hypotheses)
    r = r if vcov is None else with_covariance(r, vcov)
    covariance = r._covariance(None)
    difference = L @ r.fit.coefficients[~r.fit.aliased] - target + r.fit.ends(L)
    tests = [joint_test(r, L[i : i + 1], difference[i : i + 1]) for i in range(len(L))]
    errors = np.sqrt([quadratic_form(row[None], covariance)[0, 0] for row in L])
    if len(L) > 1:
        tests.append(joint_test(r, L, difference))
        index.append(JOINT)
        difference, errors = np.append(difference, np.nan), np.append(errors, np.nan)
    found = pd.DataFrame({"difference": difference, "std_error": errors}, index)
    table = pd.concat([found, joint_frame(index, tests)], axis=1)
    notes = list(without_end(r.fit, r.parameters, True)) if table["p_value"].isna().any() else []
    if tests[-1].df > r.own_covariance.most_at_once:
        notes.append(f"no joint test: {r.own_covariance.why_no_more}.")
    return NotedFrame.of(table, notes, f"Wald tests, {r.own_covariance.words}")


def linear_hypotheses(r: FittedLikelihood, hypotheses: str | Sequence[str]) -> tuple[list[str], FloatArray, FloatArray]:
    """Equations as text, and L (h, P') and the target (h,) of L b = target, over the estimated parameters b."""
    text = "\n".join(listed_texts("hypotheses", hypotheses))
    if not text.strip():
        raise OptionError(f"hypotheses must be a text such as 'x1 = x2, x3 = 0'; got {hypotheses!r}.")
    random = r.random_parameters
    if random is not None and (tested := [name for name in random.names if name in text]):
        raise OptionError(
            f"test must be of fixed parameters; got {tested[0]!r}, whose test is at a boundary. Fit without the random "
            f"term by update(), and compare the fits by anova(); {random.where_limits(tested[:1])}."
        )
    names, location = {name: place for place, name in enumerate(r.parameters.names)}, r.parameters.of("location")
    for term, columns in r.design.terms.items():
        if columns.stop - columns.start == 1:
            names.setdefault(term, int(location[columns.start]))
    equations = read_relations(text, names, r.fit.coefficients.size, ("=",))
    estimated = ~r.fit.aliased
    for one in equations:
        check_determined(np.flatnonzero(one.row), r.fit, r.parameters, f"test of {one.text!r}")
        if np.any(one.row[~estimated] != 0.0):
            raise OptionError(f"{one.text!r} names a parameter that is aliased, so not estimated.")
    L = np.array([one.row for one in equations])[:, estimated]
    return [one.text for one in equations], L, np.array([one.value for one in equations])
