"""Terms added and dropped, one after another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from ..checks import number, one_of
from ..exceptions import DataError, OptionError
from ..formula.sample import Sample
from ..likelihood.fit import LikelihoodFit
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.parameters import not_fixed, terms_of
from ..likelihood.wald import chi2_tail
from ..report.cells import MOST_TERMS, first_few
from ..report.frames import NotedFrame
from ..results import updated
from .comparison import (
    added_by_wald,
    as_independent,
    check_likelihood,
    check_unpenalised,
    dropped_by_wald,
    is_wald,
    without_rounding,
)

if TYPE_CHECKING:
    from ..formula.coding import Marginality
    from ..formula.design import Design

NONE = "<none>"

# A gradient, where estimates are infinite, of a log-likelihood that has not come near its limit.
_STEEP = 1e-3

# Notes below a table, of the models in some of its rows.
_SEPARATED = (
    "infinite estimates in the model of {}: the likelihood is its limit, and the chi-squared distribution of the "
    "statistic is in doubt."
)
_WITHOUT_MAXIMUM = "no maximum of the likelihood was reached in the model of {}."
_LOWERED = "the larger model has the lower likelihood, a local maximum, in the row of {}: no p-value."
_NOT_NESTED = (
    "the model in the row of {} has another likelihood by no more parameters, as terms are coded otherwise there: this "
    "model is not nested in it, nor it in this one, and there is no p-value."
)
#: By the sign of what changes.
_THE_SAME = {
    -1.0: "no test of {}: other columns take over the effect, so that the model without it is the same.",
    1.0: "no test of {}: columns of the model say as much, so that the model with it is the same.",
}


@dataclass(frozen=True, eq=False)
class Refit:
    """Another model of the same rows: its parameters and log-likelihood, NaN where it has no maximum."""

    edf: float
    loglik: float
    separated: bool

    @classmethod
    def of(cls, fit: LikelihoodFit) -> Refit:
        """A fit that reached its maximum, or the limit of the likelihood under separation."""
        separated = fit.separation is not None
        # A search that was given up on the way to infinity has not come near the limit.
        given_up = fit.trace.message.startswith("stopped") or fit.certificate.value > _STEEP
        if given_up if separated else not fit.certificate.reached:
            return NO_FIT
        return cls(float(fit.edf), float(fit.loglik), separated)

    def criterion(self, k: float) -> float:
        """AIC with a penalty of k a parameter."""
        return k * self.edf - 2.0 * self.loglik


NO_FIT = Refit(np.nan, np.nan, False)


def fitted(r: FittedLikelihood, sample: Sample) -> Refit:
    """The method of a fit on another sample, from its own start; without a maximum where the sample has none."""
    try:
        return Refit.of(unstarted(r).fit(sample, np.random.default_rng(0)))
    except DataError:
        return NO_FIT


def unstarted(r: FittedLikelihood) -> Any:
    """The method of a fit for other models: without its starting values, which are those of its own parameters."""
    return replace(cast(Any, r.method), start=None)


def coded_anew(r: FittedLikelihood, role: str, terms: Sequence[str], changed: str) -> Sample:
    """The sample with other terms in one formula, coded as in that formula alone.

    Parameters
    ----------
    r : LikelihoodResults
    role : {"formula", "nominal", "scale"}
    terms : sequence of str
        All that the formula has then, from any formula of the fit.
    changed : str
        The one that came or went. Where the columns of the fit do not tell the new ones, the data are asked.
    """
    design = r.design
    columns = design.spec.recoded(design, terms)
    if columns is not None:
        changes: dict[str, Any] = {"X" if role == "formula" else role: columns}
        rows = replace(design.sample.rows, **changes)
        return replace(design.sample, rows=rows)
    text = design.spec.marginality().texts[changed]
    change = f"~ . - {text}" if changed not in terms else f"~ . + {text}" if len(terms) > 1 else f"~ {text}"
    new = design.updated(**{role: change})
    check_rows(design, new, changed)
    return new.sample


def dropped_terms(
    r: FittedLikelihood, scope: str | Sequence[str] | None = None, *, test: str | None = "auto", k: float = 2.0
) -> pd.DataFrame:
    """Each term taken out on its own, as R's drop1()."""
    terms = r.design.spec.marginality().droppable() if scope is None else terms_in(r, scope, r.design.terms)
    if test is not None and is_wald(test, [r]):
        return dropped_by_wald(r, terms)
    check_unpenalised([r], "drop1")
    return refit_table(r, drop_fits(r, terms), -1.0, test, k)


def drop_fits(r: FittedLikelihood, terms: Iterable[str]) -> dict[str, Refit]:
    """The model without each term."""
    kept = {term: [other for other in r.design.terms if other != term] for term in terms}
    return {term: fitted(r, coded_anew(r, "formula", others, term)) for term, others in kept.items()}


def added_terms(
    r: FittedLikelihood, scope: str | Sequence[str], *, test: str | None = "auto", k: float = 2.0, data: Any = None
) -> pd.DataFrame:
    """Each term of a scope put in on its own, as R's add1()."""
    texts = enterable(r, widest(r, scope, data))
    if not texts:
        raise OptionError(f"scope must have a term that the model lacks; got {scope!r}, and {r.formula!r} has it all.")
    if test is not None and is_wald(test, [r]):
        return added_by_wald(r, {term: wider(r, text, term, data) for term, text in texts.items()})
    check_unpenalised([r], "add1")
    return refit_table(r, add_fits(r, texts, data), 1.0, test, k)


def wider(r: FittedLikelihood, text: str, term: str, data: Any) -> FittedLikelihood:
    """The fit with a further term, and the covariance of this one."""
    found: FittedLikelihood = updated(r, f"~ . + {text}", data=data, start=None)
    check_rows(r.design, found.design, term)
    return found


def add_fits(r: FittedLikelihood, texts: dict[str, str], data: Any) -> dict[str, Refit]:
    """The model with each term, given as a formula writes it."""
    fits = {}
    for term, text in texts.items():
        design = r.design.updated(data, formula=f"~ . + {text}")
        check_rows(r.design, design, term)
        fits[term] = fitted(r, design.sample)
    return fits


def widest(r: FittedLikelihood, scope: Any, data: Any) -> Marginality:
    """The terms of the largest model; a dot in its formula stands for the model of `r`."""
    formula = scope if isinstance(scope, str) else " + ".join(scope)
    design = r.design.updated(data, formula=formula if "~" in formula else f"~ . + {formula}")
    for term in design.random:
        if term.text not in [own.text for own in r.design.random]:
            raise not_fixed(term.text, "with")
    return design.spec.marginality()


def terms_in(r: FittedLikelihood, scope: Any, known: Iterable[str]) -> list[str]:
    """The terms of a scope, in a formula or by their names; OptionError for one that is not among those known."""
    if not isinstance(scope, str) or "~" not in scope:
        return terms_of(scope, known)
    own = {factors: term for term, factors in r.design.spec.marginality().factors.items()}
    return terms_of([own.get(factors, term) for term, factors in widest(r, scope, None).factors.items()], known)


def enterable(r: FittedLikelihood, wide: Marginality) -> dict[str, str]:
    """Terms of the largest model that may enter (the terms they contain are in the model), with their texts."""
    have = set(r.design.spec.marginality().factors.values())
    lacking = {term: own for term, own in wide.factors.items() if own not in have}
    return {
        term: wide.texts[term] for term, own in lacking.items() if not any(other < own for other in lacking.values())
    }


def check_rows(old: Design, new: Design, term: str) -> None:
    """DataError where putting in or taking out a term changes the rows that are complete."""
    if old.sample.n != new.sample.n or not old.index.equals(new.index):
        raise DataError(
            f"{term!r} is missing in some of the {max(old.sample.n, new.sample.n)} rows of the fit "
            f"({min(old.sample.n, new.sample.n)} rows have it): models are compared on the same rows, so drop the rows "
            "with missing values first."
        )


#: What a table of models that differ by one term shows, by its sign.
_TITLES = {
    -1.0: "Likelihood ratio tests of dropping single terms",
    1.0: "Likelihood ratio tests of adding single terms",
    "loglik": "Likelihood ratio tests of freeing the effects of single terms",
}


def refit_table(
    r: FittedLikelihood, fits: dict[str, Refit], sign: float, test: str | None, k: float, loglik: bool = False
) -> pd.DataFrame:
    """One row a model; `sign` is +1 where terms were added and -1 where they were dropped."""
    base = Refit(r.edf, r.loglik, r.fit.separation is not None)
    models = [base, *fits.values()]
    edf, logliks = (np.array([getattr(model, name) for model in models]) for name in ("edf", "loglik"))
    df = sign * (edf - base.edf) + 0.0  # no -0.0
    lrt = without_rounding(2.0 * sign * (logliks - base.loglik), df, logliks)
    df[0] = lrt[0] = np.nan
    columns: dict[str, Any] = {"df": df}
    if loglik:
        columns["loglik"] = logliks
    columns["aic"] = k * edf - 2.0 * logliks
    worse, other = (df > 0.0) & (lrt < 0.0), (df <= 0.0) & (lrt != 0.0)
    if test is not None:
        columns |= {"lrt": lrt, "p_value": np.where(worse, np.nan, chi2_tail(lrt, df))}
    table = NotedFrame(columns, index=[NONE, *fits])
    unfinished = [] if r.certificate.reached or base.separated else [NONE]
    notes = {
        _SEPARATED: [name for name, fit in {NONE: base, **fits}.items() if fit.separated],
        _WITHOUT_MAXIMUM: unfinished + [name for name, fit in fits.items() if np.isnan(fit.loglik)],
        _LOWERED: list(table.index[worse]),
        _NOT_NESTED: list(table.index[other]),
    }
    if test is not None and fits and (df[1:] == 0.0).all() and (lrt[1:] == 0.0).all():  # a table without a test
        notes[_THE_SAME[sign]] = list(fits)
    table.attrs["title"] = _TITLES["loglik" if loglik else sign]
    told = [] if r.covariance == "model" else [as_independent("this fit")]
    table.attrs["notes"] = told + [text.format(first_few(names, MOST_TERMS)) for text, names in notes.items() if names]
    return table


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
        notes = [*self.trace.attrs.get("notes", ()), f"Chosen: {self.fit.formula}"]
        return NotedFrame.of(self.trace.set_index("change"), notes, "Steps")


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
    notes = [] if k == _AIC else [f"aic: with a penalty of {k:g} a parameter."]
    return NotedFrame.of(frame, notes, "Steps, from the model given to the one chosen")
