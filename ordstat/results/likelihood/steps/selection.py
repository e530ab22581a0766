"""Terms dropped and added one by one while AIC falls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ....checks import number, one_of
from ....exceptions import OptionError
from ....words import told_arguments
from ...refit import updated
from ...report.noted import NotedFrame
from ..comparison import check_unpenalised
from ..fitted import FittedLikelihood
from ..nested_wald import check_likelihood
from ..single_terms import add_fits, check_rows, drop_fits, enterable, unstarted, widest

if TYPE_CHECKING:
    from ....design.terms import Marginality

#: Criteria as near to each other as this are equal.
_ROUNDING = 1e-7
#: The penalty of AIC.
_AIC = 2.0


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """What `step` found.

    Attributes
    ----------
    fit : LikelihoodResults
        The model at which no single term improves the criterion.
    trace : pandas.DataFrame
        One row a step: change ("+ term", "- term"), df, loglik, edf, aic (with the penalty k).
    """

    fit: FittedLikelihood
    trace: pd.DataFrame

    def __repr__(self) -> str:
        return f"{self._noted()!r}\n{self.fit!r}"

    def _repr_html_(self) -> str:
        return self._noted()._repr_html_()

    def _noted(self) -> NotedFrame:
        told = [*self.trace.attrs.get("notes", ()), f"Chosen: {self.fit.formula}"]
        return NotedFrame.of(self.trace.set_index("change"), told, "Steps")


@told_arguments(trace="the .trace of what it gives", steps="max_steps=", test="drop1() and add1(), which have it")
def stepwise(
    r: FittedLikelihood,
    scope: Any = None,
    *,
    direction: str | None = None,
    k: float = _AIC,
    max_steps: int = 1000,
) -> Selection:
    """Location terms dropped and added one by one while AIC falls, as R's step(); first those of no effect, df 0."""
    number("k", k, least=0.0, also=", such as 2 (AIC) or numpy.log(n) (BIC)")
    lower, upper = _limits(r, scope)
    chosen = direction or ("backward" if upper is None else "both")
    one_of("direction", chosen, ("both", "backward", "forward"))
    if upper is None and chosen == "forward":
        raise OptionError("direction='forward' needs scope=, the formula of the largest model.")
    wanted = upper if chosen != "backward" else None
    check_unpenalised([r], "step")
    check_likelihood(r, "step", "use drop1() and add1(), Wald tests then")
    rows = [("", r)]
    for _ in range(max_steps):
        best = _best_change(r, lower, wanted, chosen != "forward", k)
        if best is None:
            break
        change, formula = best
        changed = updated(r, formula, method=unstarted(r))
        check_rows(r.design, changed.design, change[2:])
        r = changed
        rows.append((change, r))
    return Selection(r, _trace(rows, k))


def _limits(r: FittedLikelihood, scope: Any) -> tuple[set[frozenset[str]], Marginality | None]:
    """Factors of the terms that must stay, and the terms of the largest model; dots stand for the first one."""
    if isinstance(scope, dict):
        unknown = set(scope) - {"lower", "upper"}
        if unknown:
            raise OptionError(f"scope takes the keys 'lower' and 'upper'; got {', '.join(map(repr, unknown))}.")
        lower, upper = scope.get("lower"), scope.get("upper")
    else:
        lower, upper = None, scope
    must = set() if lower is None else set(r.design.updated(formula=lower).spec.marginality().factors.values())
    return must, None if upper is None else widest(r, upper, None)


def _best_change(
    r: FittedLikelihood, lower: set[frozenset[str]], upper: Marginality | None, drop: bool, k: float
) -> tuple[str, str] | None:
    """The single term whose coming or going lowers the criterion most, and the formula that does it.

    Terms without a parameter of their own go first, the last of them, unless the criterion rises.
    """
    marginality = r.design.spec.marginality()
    terms = [term for term in marginality.droppable() if drop and marginality.factors[term] not in lower]
    found = {(f"- {term}", f"~ . - {marginality.texts[term]}"): fit for term, fit in drop_fits(r, terms).items()}
    now = k * r.edf - 2.0 * r.loglik
    idle = [change for change, fit in found.items() if fit.edf == r.edf and fit.criterion(k) < now + _ROUNDING]
    if idle:
        return idle[-1]
    if upper is not None:
        texts = enterable(r, upper)
        found |= {(f"+ {term}", f"~ . + {texts[term]}"): fit for term, fit in add_fits(r, texts, None).items()}
    finite = {change: fit.criterion(k) for change, fit in found.items() if np.isfinite(fit.loglik)}
    best = min(finite, key=finite.__getitem__, default=None)
    return best if best is not None and finite[best] < now - _ROUNDING else None


def _trace(rows: list[tuple[str, FittedLikelihood]], k: float) -> pd.DataFrame:
    fits = [fit for _, fit in rows]
    edf = np.array([fit.edf for fit in fits])
    loglik = np.array([fit.loglik for fit in fits])
    steps = {"change": [change for change, _ in rows], "df": np.append(np.nan, np.diff(edf))}
    frame = pd.DataFrame(steps | {"loglik": loglik, "edf": edf, "aic": k * edf - 2.0 * loglik})
    told = [] if k == _AIC else [f"aic: with a penalty of {k:g} a parameter."]
    return NotedFrame.of(frame, told, "Steps, from the model given to the one chosen")
