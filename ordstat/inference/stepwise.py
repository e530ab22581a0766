"""Stepwise selection of location terms by AIC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from ..checks import number
from ..exceptions import OptionError
from ..likelihood.unavailable import check_available
from ..report.frames import Exported, NotedFrame
from .single_terms import (
    AIC,
    add_fits,
    check_complete,
    drop_fits,
    enterable,
    widest_model,
)
from .terms import Marginality, marginality_of

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults

#: Criteria that differ by at most this much count as equal.
_EQUAL = 1e-7
#: Largest number of steps of a selection, as in R.
_MOST_STEPS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class StepwiseSelection(Exported):
    """The result of `step`.

    Attributes
    ----------
    fit : LikelihoodResults
        The selected model: adding or dropping a single term does not improve its
        criterion.
    trace : pandas.DataFrame
        One row per step: change ("+ term", "- term"), df, loglik, edf, aic (with the
        penalty k).
    """

    fit: LikelihoodResults
    trace: pd.DataFrame

    def __repr__(self) -> str:
        return f"{super().__repr__()}\n{self.fit!r}"

    def exported(self) -> list[NotedFrame]:
        notes = [*self.trace.attrs.get("notes", ()), f"Chosen: {self.fit.formula}"]
        return [NotedFrame.of(self.trace.set_index("change"), notes, "Steps")]


def stepwise(r: LikelihoodResults, scope: Any, *, k: float) -> StepwiseSelection:
    """Drop and add location terms one at a time while AIC falls, as R's step()."""
    check_available(r, "step()")
    number("k", k, least=0.0, also=", such as 2 (AIC) or numpy.log(n) (BIC)")
    lower, upper = _limits(r, scope)
    steps = [("", r)]
    while (
        len(steps) <= _MOST_STEPS
        and (best := _best_change(r, lower, upper, k)) is not None
    ):
        change, formula = best
        changed = cast(Any, r).update(formula, method=r.method.unstarted())
        check_complete(r.design, changed.design, change[2:])
        r = changed
        steps.append((change, r))
    return StepwiseSelection(r, _trace(steps, k))


def _limits(
    r: LikelihoodResults, scope: Any
) -> tuple[set[frozenset[str]], Marginality | None]:
    """Factors of the terms that must stay, and the terms of the largest model; dots
    stand for the model of `r`.
    """
    limits = scope if isinstance(scope, dict) else {"upper": scope}
    if unknown := set(limits) - {"lower", "upper"}:
        raise OptionError(
            "the keys of scope must be 'lower' and 'upper'; got"
            f" {', '.join(map(repr, unknown))}."
        )
    lower = limits.get("lower")
    upper = limits.get("upper")
    if lower is None:
        kept = set()
    else:
        kept = set(
            marginality_of(r.design.updated(formula=lower).spec).factors.values()
        )
    return kept, None if upper is None else widest_model(r, upper)


def _best_change(
    r: LikelihoodResults,
    lower: set[frozenset[str]],
    upper: Marginality | None,
    k: float,
) -> tuple[str, str] | None:
    """The change of a single term that lowers the criterion most, and its formula; None
    if no change lowers it.

    Terms without parameters are dropped first, starting with the last, unless the
    criterion rises.
    """
    marginality = marginality_of(r.design.spec)
    terms = [
        term
        for term in marginality.droppable()
        if marginality.factors[term] not in lower
    ]
    fits = {
        (f"- {term}", f"~ . - {marginality.texts[term]}"): fit
        for term, fit in drop_fits(r, terms).items()
    }
    now = k * r.fit.edf - 2.0 * r.fit.loglik
    idle = [
        change
        for change, fit in fits.items()
        if fit.edf == r.fit.edf and fit.criterion(k) < now + _EQUAL
    ]
    if idle:
        return idle[-1]
    if upper is not None:
        texts = enterable(r, upper)
        fits |= {
            (f"+ {term}", f"~ . + {texts[term]}"): fit
            for term, fit in add_fits(r, texts).items()
        }
    finite = {
        change: fit.criterion(k)
        for change, fit in fits.items()
        if np.isfinite(fit.loglik)
    }
    best = min(finite, key=finite.__getitem__, default=None)
    return best if best is not None and finite[best] < now - _EQUAL else None


def _trace(steps: list[tuple[str, LikelihoodResults]], k: float) -> pd.DataFrame:
    edf, loglik = np.array([(fit.fit.edf, fit.fit.loglik) for _, fit in steps]).T
    frame = pd.DataFrame(
        {
            "change": [change for change, _ in steps],
            "df": np.append(np.nan, np.diff(edf)),
            "loglik": loglik,
            "edf": edf.astype(int),
            "aic": k * edf - 2.0 * loglik,
        }
    )
    notes = [] if k == AIC else [f"aic has a penalty of {k:g} per parameter."]
    return NotedFrame.of(frame, notes, "Steps from the given model to the chosen model")
