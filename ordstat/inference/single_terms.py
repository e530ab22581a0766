"""Single-term deletions and additions, as R's drop1() and add1()."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..checks import listed, listed_texts, number, one_of
from ..exceptions import DataError, OptionError
from ..formula.sample import Sample
from ..formula.smooths import UNPENALISED_TERMS
from ..likelihood.fit import LikelihoodFit
from ..likelihood.unavailable import check_available
from ..report.cells import MOST_TERMS, first_few
from ..report.frames import NotedFrame
from .comparison import (
    LOCAL_NOTE,
    NEGATIVE_NOTE,
    SEPARATED_NOTE,
    UNSCORED_NOTE,
    WITHOUT_MAXIMUM,
    improper,
    unfinished,
    without_rounding,
)
from .terms import Marginality, columns_of_terms, marginality_of
from .wald import chi2_tail

if TYPE_CHECKING:
    from ..formula.design import Design
    from ..likelihood.results import LikelihoodResults

#: Penalty per parameter in AIC.
AIC = 2.0
#: Values of `test=`; "Chisq" is R's name for "LR".
_TESTS = ("LR", "Chisq", None)
#: Row label of the model itself.
NONE = "<none>"
_NOT_NESTED = (
    "no p-value for {}: the larger model has the lower likelihood (a local maximum), or"
    " codes terms differently, so that the models are not nested."
)
_THE_SAME = (
    "no test of {}: other columns take over the effect, so that the model stays the"
    " same."
)
_DROPPED = "Likelihood ratio tests of dropping single terms"
_ADDED = "Likelihood ratio tests of adding single terms"


@dataclass(frozen=True, eq=False)
class Refit:
    """Another model fitted to the same rows.

    Attributes
    ----------
    edf, loglik : float
        Its number of parameters and log-likelihood; NaN if it has no maximum.
    separated : bool
        Whether it has infinite estimates.
    local : bool
        Whether the maximum is local, as the log-likelihood is higher along a path
        without a maximum.
    negative : bool
        Whether many rows have negative probabilities.
    """

    edf: float = np.nan
    loglik: float = np.nan
    separated: bool = False
    local: bool = False
    negative: bool = False

    @classmethod
    def of(cls, fit: LikelihoodFit, negative: bool = False) -> Refit:
        """The statistics of a fit."""
        return cls(
            edf=float(fit.edf),
            loglik=float(fit.loglik),
            separated=fit.separation is not None,
            local=fit.diverging_elsewhere is not None,
            negative=negative,
        )

    def criterion(self, k: float) -> float:
        """AIC with a penalty of k for each parameter."""
        return k * self.edf - 2.0 * self.loglik


def refit(r: LikelihoodResults, sample: Sample) -> Refit:
    """Fit the method of `r` to another sample, with default starting values; NaN if
    there is no maximum.
    """
    try:
        fit: LikelihoodFit = r.method.unstarted().fit(sample, np.random.default_rng(0))
    except DataError:
        return Refit()
    diverging = fit.separation is None and not fit.certificate.reached
    if diverging or unfinished(fit):
        return Refit()
    return Refit.of(fit, negative=improper(fit.rule, sample.rows))


def coded_anew(
    r: LikelihoodResults, role: str, terms: Sequence[str], changed: str
) -> Sample:
    """The sample with other terms in one formula, coded as in a new fit of that
    formula.

    Parameters
    ----------
    r : LikelihoodResults
    role : {"formula", "nominal", "scale"}
    terms : sequence of str
        All terms of the new formula; each occurs in a formula of the fit.
    changed : str
        The added or removed term. Columns that the fit does not have are computed from
        the data.
    """
    design = r.design
    columns = columns_of_terms(design, terms)
    if columns is not None:
        changes: dict[str, Any] = {"X" if role == "formula" else role: columns}
        return replace(design.sample, rows=replace(design.sample.rows, **changes))
    texts = marginality_of(design.spec).texts
    present = {
        "formula": design.terms,
        "nominal": design.nominal_terms,
        "scale": design.scale_terms,
    }[role]
    added = " + ".join(texts[term] for term in terms if term not in present)
    start = "~ . + " if present else "~ "
    change = start + added if changed in terms else f"~ . - {texts[changed]}"
    return _updated(design, changed, **{role: change}).sample


def _updated(old: Design, term: str, **changes: Any) -> Design:
    """The design with a term added or removed; DataError if that changes which rows are
    complete.
    """
    new = old.updated(**changes)
    check_complete(old, new, term)
    return new


def check_complete(old: Design, new: Design, term: str) -> None:
    """Raise DataError if adding or removing a term changes which rows are complete."""
    if old.sample.n != new.sample.n or not old.index.equals(new.index):
        raise DataError(
            f"{term!r} is missing in some of the {max(old.sample.n, new.sample.n)} rows"
            f" of the fit ({min(old.sample.n, new.sample.n)} rows have it). Models are"
            " compared on the same rows: drop the rows with missing values first."
        )


def dropped_terms(
    r: LikelihoodResults,
    scope: str | Sequence[str] | None,
    *,
    test: str | None,
    k: float,
) -> pd.DataFrame:
    """Drop each term in turn, as R's drop1()."""
    check_available(r, "drop1()")
    if scope is None:
        terms = marginality_of(r.design.spec).droppable()
    else:
        terms = terms_in(r, scope, r.design.terms)
    fits = drop_fits(r, terms)
    return refit_table(r, fits, _DROPPED, added=False, test=test, k=k)


def drop_fits(r: LikelihoodResults, terms: Iterable[str]) -> dict[str, Refit]:
    """Fits without each term in turn."""
    kept = {
        term: [other for other in r.design.terms if other != term] for term in terms
    }
    return {
        term: refit(r, coded_anew(r, "formula", others, term))
        for term, others in kept.items()
    }


def added_terms(
    r: LikelihoodResults,
    scope: str | Sequence[str],
    *,
    test: str | None,
    k: float,
) -> pd.DataFrame:
    """Add each term of a scope in turn, as R's add1()."""
    check_available(r, "add1()")
    texts = enterable(r, widest_model(r, scope))
    if not texts:
        raise OptionError(
            f"scope must have a term that the model lacks; got {scope!r} for the model"
            f" {r.formula!r}."
        )
    fits = add_fits(r, texts)
    return refit_table(r, fits, _ADDED, added=True, test=test, k=k)


def add_fits(r: LikelihoodResults, texts: dict[str, str]) -> dict[str, Refit]:
    """Fits with each term added in turn; `texts` has the terms as formula text."""
    return {
        term: refit(r, _updated(r.design, term, formula=f"~ . + {text}").sample)
        for term, text in texts.items()
    }


def widest_model(r: LikelihoodResults, scope: Any) -> Marginality:
    """The terms of the largest model; a dot in its formula stands for the
    model of `r`.
    """
    formula = " + ".join(listed_texts("scope", scope))
    design = r.design.updated(formula=formula if "~" in formula else f"~ . + {formula}")
    present = [term.text for term in r.design.random]
    for term in design.random:
        if term.text not in present:
            raise _not_fixed(term.text, "with")
    if design.sample.smooths is not None or design.sample.stepped is not None:
        raise OptionError(
            "scope must hold terms without a penalty or constraint: write"
            f" {UNPENALISED_TERMS} or mono(x)."
        )
    return marginality_of(design.spec)


def _not_fixed(term: str, how: str) -> OptionError:
    """The error for a random term in a scope."""
    return OptionError(
        f"scope must hold fixed effects only; got the random term {term}. Fit {how} it"
        " by update(), and compare the fits by anova(), which uses the distribution of"
        " a variance at its boundary."
    )


def terms_in(r: LikelihoodResults, scope: Any, available: Iterable[str]) -> list[str]:
    """The terms of a scope, given as a formula or by name; OptionError for a term that
    is not available.
    """
    names = list(available)
    asked = listed(scope)
    if isinstance(scope, str) and "~" in scope:
        by_factors = {
            factors: term
            for term, factors in marginality_of(r.design.spec).factors.items()
        }
        asked = [
            by_factors.get(factors, term)
            for term, factors in widest_model(r, scope).factors.items()
        ]
    for term in asked:
        if not isinstance(term, str) or term not in names:
            if isinstance(term, str) and "|" in term:
                raise _not_fixed(term, "without")
            raise OptionError(
                f"scope must hold terms of the model ({', '.join(names)}); got"
                f" {term!r}."
            )
    return asked


def enterable(r: LikelihoodResults, wide: Marginality) -> dict[str, str]:
    """Formula texts of the terms that may enter, as all terms that they contain are in
    the model.
    """
    present = set(marginality_of(r.design.spec).factors.values())
    lacking = {
        term: factors
        for term, factors in wide.factors.items()
        if factors not in present
    }
    return {
        term: wide.texts[term]
        for term, factors in lacking.items()
        if not any(other < factors for other in lacking.values())
    }


def refit_table(
    r: LikelihoodResults,
    fits: dict[str, Refit],
    title: str,
    *,
    added: bool,
    test: str | None,
    k: float,
    with_loglik: bool = False,
) -> pd.DataFrame:
    """Table with one row per model, each compared with the model of `r`; models have a
    term more if `added`, else a term less.
    """
    one_of("test", test, _TESTS)
    number("k", k, least=0.0, also=", such as 2 (AIC) or numpy.log(n) (BIC)")
    base = Refit.of(r.fit)
    models = {NONE: base, **fits}
    edf, logliks = np.array([(model.edf, model.loglik) for model in models.values()]).T
    sign = 1.0 if added else -1.0
    df = sign * (edf - base.edf) + 0.0  # no -0.0
    lrt = without_rounding(2.0 * sign * (logliks - base.loglik), df, logliks)
    lacks_maximum = not (r.fit.certificate.reached or base.separated)
    df[0] = np.nan
    lrt[0] = np.nan
    if lacks_maximum:
        lrt[:] = np.nan
    not_nested = ((df > 0.0) & (lrt < 0.0)) | ((df <= 0.0) & (lrt != 0.0))
    negative = np.array([model.negative for model in models.values()])
    columns = {"df": df}
    if with_loglik:
        columns["loglik"] = logliks
    columns["aic"] = k * edf - 2.0 * logliks
    the_same: list[str] = []
    unscored = np.zeros(edf.size, dtype=bool)
    if r.parameters.of("phi").size:
        unscored[1:] = np.minimum(edf[1:], edf[0]) == r.fit.null_edf
    table = NotedFrame(columns, index=list(models))
    if test is not None:
        unknown = not_nested | negative | unscored
        p_value = np.where(unknown, np.nan, chi2_tail(lrt, df))
        table = NotedFrame(table.assign(lrt=lrt, p_value=p_value))
        the_same = list(table.index[(df == 0.0) & (lrt == 0.0)])
    lacking = [name for name, model in fits.items() if np.isnan(model.loglik)]
    if lacks_maximum:
        lacking = [NONE, *lacking]
    notes = {
        SEPARATED_NOTE: [name for name, model in models.items() if model.separated],
        LOCAL_NOTE: [name for name, model in models.items() if model.local],
        WITHOUT_MAXIMUM: lacking,
        _NOT_NESTED: list(table.index[not_nested & ~negative]),
        NEGATIVE_NOTE: list(table.index[negative]),
        UNSCORED_NOTE: list(table.index[unscored]),
        _THE_SAME: the_same,
    }
    texts = [
        text.format(first_few(names, MOST_TERMS))
        for text, names in notes.items()
        if names
    ]
    return NotedFrame.of(table, texts, title, labels=r.names_shown())
