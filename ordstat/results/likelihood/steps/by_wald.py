"""Selection of terms by Wald tests, for fits whose rows AIC would take for independent.

A step drops the term of the largest p-value, unless that is below the level to stay; where all stay, it adds the one of
the smallest p-value below the level to enter, tested in the model that has it. With a level to enter that is not above
the one to stay no step is taken back at once; a longer round is told and ended.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ....checks import fraction
from ....exceptions import OptionError, OrdstatWarning
from ...refit import updated
from ...report.noted import NotedFrame
from ..fitted import FittedLikelihood
from ..nested_wald import added_by_wald, dropped_by_wald
from ..single_terms import check_rows, enterable, wider

if TYPE_CHECKING:
    from ....design.terms import Marginality

#: p-values if none are given; that to stay is larger, so that what came in is not thrown out at once.
ENTER, STAY = 0.05, 0.10


@dataclass(frozen=True)
class Levels:
    """A term enters if its p-value is below `enter`, and stays if it is below `stay`."""

    enter: float
    stay: float

    def __post_init__(self) -> None:
        fraction("enter", self.enter)
        fraction("stay", self.stay)
        if self.enter > self.stay:
            raise OptionError(
                f"enter must not be above stay, or a term would come and go for ever; got enter={self.enter:g}, "
                f"stay={self.stay:g}."
            )


@dataclass(frozen=True, eq=False)
class Step:
    """A term that came or went, with the row of its test, and the fit after it."""

    change: str
    test: Any
    fit: FittedLikelihood


def wald_steps(
    r: FittedLikelihood,
    lower: set[frozenset[str]],
    upper: Marginality | None,
    drop: bool,
    levels: Levels,
    max_steps: int,
) -> tuple[FittedLikelihood, pd.DataFrame]:
    """The fit at which all terms stay and none enters, and the steps to it.

    Parameters
    ----------
    r : LikelihoodResults
    lower : set of frozenset of str
        Factors of the terms that must stay.
    upper : Marginality or None
        Terms that may enter.
    drop : bool
        Whether terms may go.
    levels : Levels
    max_steps : int
    """
    start, untested, told = r, dict[str, None](), list[str]()
    steps: list[Step] = []
    seen = {frozenset(r.design.terms)}
    while len(steps) < max_steps:
        step = _dropped(r, lower, levels.stay, untested) if drop else None
        if step is None and upper is not None:
            step = _added(r, upper, levels.enter, untested)
        if step is None:
            break
        if (terms := frozenset(step.fit.design.terms)) in seen:
            told.append(f"Ended where {step.change!r} would come back to a model that was left.")
            break
        seen.add(terms)
        steps.append(step)
        r = step.fit
    return r, _trace(start, steps, levels, [*told, *_lacking(untested)])


def _dropped(r: FittedLikelihood, lower: set[frozenset[str]], stay: float, untested: dict[str, None]) -> Step | None:
    """Without the term of the largest p-value; those whose columns are all aliased go first."""
    marginality = r.design.spec.marginality()
    terms = [term for term in marginality.droppable() if marginality.factors[term] not in lower]
    tests = dropped_by_wald(r, terms)
    idle = [term for term in terms if _aliased(r, term)]
    p = _p_values(tests.drop(index=idle), untested)
    worst = max(p, key=p.__getitem__, default=None)
    if idle:
        worst = idle[-1]
    elif worst is None or p[worst] < stay:
        return None
    term = str(worst)
    smaller: FittedLikelihood = updated(r, f"~ . - {marginality.texts[term]}", start=None)
    check_rows(r.design, smaller.design, term)
    return Step(f"- {term}", tests.loc[term], smaller)


def _aliased(r: FittedLikelihood, term: str) -> bool:
    return bool(r.fit.aliased[r.parameters.of("location")[r.design.terms[term]]].all())


def _added(r: FittedLikelihood, upper: Marginality, enter: float, untested: dict[str, None]) -> Step | None:
    """With the term of the smallest p-value."""
    texts = enterable(r, upper)
    with warnings.catch_warnings():  # of models that are only tried; what has no test is told
        warnings.simplefilter("ignore", OrdstatWarning)
        fits = {term: wider(r, text, term, None) for term, text in texts.items()}
    tests = added_by_wald(r, fits)
    p = _p_values(tests, untested)
    term = min(p, key=p.__getitem__, default="")
    if not term or p[term] >= enter:
        return None
    return Step(f"+ {term}", tests.loc[term], fits[term])


def _p_values(tests: pd.DataFrame, untested: dict[str, None]) -> dict[str, float]:
    """Those of the terms that have a test; the others are noted."""
    p = {str(term): float(value) for term, value in tests["p_value"].items()}
    untested.update(dict.fromkeys(term for term, value in p.items() if np.isnan(value)))
    return {term: value for term, value in p.items() if not np.isnan(value)}


def _lacking(untested: Iterable[str]) -> list[str]:
    names = ", ".join(untested)
    return [f"no test of {names}: such terms stay, and do not enter."] if names else []


def _trace(start: FittedLikelihood, steps: list[Step], levels: Levels, told: list[str]) -> pd.DataFrame:
    statistics = ["chisq"] if np.isinf(start.design_df) and start.bias_reduced is None else ["df_resid", "F"]
    names = ["df", *statistics, "p_value"]
    rows: list[dict[str, Any]] = [{"change": ""}]
    rows += [{"change": step.change} | {name: step.test.get(name) for name in names} for step in steps]
    frame = pd.DataFrame(rows, columns=["change", *names]).astype(dict.fromkeys(names, np.float64))
    frame["edf"] = [start.edf, *(step.fit.edf for step in steps)]
    rule = (
        f"Wald tests, {start.own_covariance.words}: a term stays if p < {levels.stay:g}, and enters if "
        f"p < {levels.enter:g}. AIC is not used: it takes the rows for independent."
    )
    if start.covariance == "model":
        rule = rule.partition(" AIC")[0]
    return NotedFrame.of(frame, [rule, *told], "Steps, from the model given to the one chosen")
