"""Likelihood-ratio tests: between fits, of single terms dropped and added, and stepwise selection by AIC.

A variance of random effects that is 0 in the smaller model lies at the boundary of the larger one. The statistic of
one more variance is then 1/2 chi2(0) + 1/2 chi2(1) [Self and Liang 1987], that of one more column, correlated with q
others, 1/2 chi2(q) + 1/2 chi2(q + 1) [Stram and Lee 1994]. R's anova takes chi2 of all parameters, which is more
cautious than it needs to be.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray
from ..checks import number, one_of
from ..exceptions import DataError, OptionError
from ..formula.sample import Sample
from ..likelihood.fit import LikelihoodFit
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.flexible import FLEXIBLE
from ..likelihood.parameters import listed
from ..likelihood.unavailable import check_available
from ..report.cells import MOST_TERMS, first_few
from ..report.frames import NotedFrame
from .terms import Marginality, columns_of, marginality_of
from .wald import chi2_tail

if TYPE_CHECKING:
    from ..formula.design import Design

#: Negative likelihood ratios below this share of the log-likelihood are rounding.
_ROUNDING = 1e-8
#: Criteria as near to each other as this are equal.
_EQUAL = 1e-7
#: A likelihood ratio that is 0 but for rounding, by the size of the log-likelihoods.
_ZERO = 1e-10
#: A gradient, where estimates are infinite, of a log-likelihood that has not come near its limit.
_STEEP = 1e-3
#: Steps after which a selection ends, as in R.
_MOST_STEPS = 1000
#: The penalty of AIC.
_AIC = 2.0
#: What `test=` may be; "Chisq" is R's name of "LR".
_TESTS = ("LR", "Chisq", None)
#: The row of the model itself.
NONE = "<none>"


def without_rounding(statistic: FloatArray, df: FloatArray, loglik: FloatArray) -> FloatArray:
    """Likelihood-ratio statistics, 0 where they are negative, or of no degrees of freedom, by rounding alone."""
    tiny = np.abs(statistic) <= _ROUNDING * (1.0 + np.abs(loglik))
    return np.asarray(np.where(tiny & ((statistic < 0.0) | (df <= 0.0)), 0.0, statistic))


# Between fits

_BOUNDARY = "A variance of 0 lies at a boundary: p_value is by `distribution`, p_chi2 by chi2 as in R."


def likelihood_ratio_tests(fits: Sequence[FittedLikelihood]) -> pd.DataFrame:
    """R's anova() of several fits, the smallest first; see `LikelihoodResults.anova`."""
    for fit in fits:
        check_same_rows(fits[0], fit)
        check_available(fit, "anova() of several fits")
    ordered = sorted(fits, key=lambda fit: fit.fit.edf)
    n_par, loglik = np.array([(fit.fit.edf, fit.fit.loglik) for fit in ordered]).T
    df, pairs = np.append(np.nan, np.diff(n_par)), list(pairwise(ordered))
    statistic = without_rounding(np.append(np.nan, 2.0 * np.diff(loglik)), df, loglik)
    within = np.append(True, [nested_in(small, large) for small, large in pairs])
    nested = within & ~(statistic < 0.0)
    models = {"no_par": n_par.astype(int), "aic": 2.0 * n_par - 2.0 * loglik, "loglik": loglik}
    tests = {"lr_stat": statistic, "df": df, "p_value": np.where(nested, chi2_tail(statistic, df), np.nan)}
    if any(fit.fit.marginal is not None for fit in fits):
        tests |= _at_boundaries(tests, pairs)
    table = pd.DataFrame(models | tests, index=[described(fit) for fit in ordered])
    notes = _notes(ordered, within, nested) + [_BOUNDARY] * ("distribution" in table)
    return NotedFrame.of(table, notes, "Likelihood ratio tests between nested models", {"p_chi2": "p"})


def _at_boundaries(
    tests: dict[str, FloatArray], pairs: list[tuple[FittedLikelihood, FittedLikelihood]]
) -> dict[str, Any]:
    """P-values by the distribution at a boundary where random effects differ, beside those of chi-squared."""
    p_values, distributions = tests["p_value"].copy(), [""]
    for place, (small, large) in enumerate(pairs, start=1):
        rules = [fit.fit.marginal.quadrature for fit in (small, large) if fit.fit.marginal is not None]
        if len(set(rules)) > 1:
            raise OptionError(
                "anova needs random effects integrated out by the same rule; got "
                f"quadrature={rules[0]} and {rules[1]}. Fit both with one of them."
            )
        p_value, words = _boundary_test(small, large, float(tests["lr_stat"][place])) or (p_values[place], "")
        distributions.append(words)
        if not np.isnan(p_values[place]):
            p_values[place] = p_value
    return {"p_value": p_values, "p_chi2": tests["p_value"], "distribution": distributions}


def _notes(fits: Sequence[FittedLikelihood], within: BoolArray, nested: BoolArray) -> list[str]:
    notes = [
        f"{described(fit)!r} does not contain the smaller model before it: they are not nested, no p-value."
        if not contains
        else f"{described(fit)!r} has a lower likelihood than the smaller model before it, a local maximum: no p-value."
        for fit, contains, fine in zip(fits, within, nested, strict=True)
        if not fine
    ]
    separated = ", ".join(repr(described(fit)) for fit in fits if fit.fit.separation is not None)
    return [*notes, _SEPARATED.format(separated)] if separated else notes


def check_same_rows(one: FittedLikelihood, other: FittedLikelihood) -> None:
    """DataError unless both were fitted to the same responses with the same weights."""
    if isinstance(other, (list, tuple)):
        raise OptionError("anova takes the other fits one by one, as in fit1.anova(fit2, fit3); got several in one.")
    if not isinstance(other, FittedLikelihood):
        raise OptionError(f"anova compares likelihood fits; got one of type {type(other).__name__}.")
    a, b = one.design, other.design
    if a.sample.n != b.sample.n or not a.index.equals(b.index):
        raise DataError(
            f"anova needs models of the same rows: {a.sample.n} rows in {a.formula!r}, {b.sample.n} in {b.formula!r}"
            f"{' of another index' if a.sample.n == b.sample.n else ''}. Drop the rows with missing values first."
        )
    if a.levels.values != b.levels.values or not np.array_equal(a.sample.y, b.sample.y):
        raise DataError(f"anova needs models of the same response; {a.response!r} and {b.response!r} differ.")
    if not np.array_equal(a.sample.case_weights, b.sample.case_weights):
        raise DataError(f"anova needs models with the same weights; those of {b.formula!r} are others.")


def described(fit: FittedLikelihood) -> str:
    """A fit in one line: its formulas, and the method where it is not the default."""
    recipe = fit.design.recipe
    sides = [f"{role} = {text}" for role, text in (("nominal", recipe.nominal), ("scale", recipe.scale)) if text]
    parts = [fit.design.formula, *sides]
    method = repr(fit.method)
    return ", ".join(parts if method.endswith("()") else [*parts, method])


# Which model contains which


def nested_in(small: FittedLikelihood, large: FittedLikelihood) -> bool:
    """Whether every column of one model is a combination of columns of the other, of the same link or its family.

    So are its thresholds, where they have a structure.
    """
    a, b = small.design.sample.rows, large.design.sample.rows
    return (
        _link_within(small, large)
        and _thresholds_within(small, large)
        and _random_within(small, large)
        and spanned(joined(a.nominal), joined(b.nominal))
        and spanned(joined(a.X, offset_difference(a.offset, b.offset)), joined(b.X, b.nominal))
        and spanned(joined(a.scale, offset_difference(a.scale_offset, b.scale_offset)), joined(b.scale))
    )


def _link_within(small: FittedLikelihood, large: FittedLikelihood) -> bool:
    if small.family.name != large.family.name:
        return False
    if large.fit.n_lambda:
        family = FLEXIBLE[large.family.link.name]
        return small.family.link.name in (family.name, *family.members)
    return bool(dict(small.fit.facts)["link"] == dict(large.fit.facts)["link"])


def _thresholds_within(small: FittedLikelihood, large: FittedLikelihood) -> bool:
    one, other = small.fit.jacobian, large.fit.jacobian
    if other is None:
        return True
    one = np.eye(len(other)) if one is None else one
    return bool(np.linalg.matrix_rank(np.hstack([one, other])) == np.linalg.matrix_rank(other))


def offset_difference(one: FloatArray | None, other: FloatArray | None) -> FloatArray | None:
    """(N, 1) difference of two offsets; None without offsets."""
    if one is None and other is None:
        return None
    return np.reshape((0.0 if one is None else one) - (0.0 if other is None else other), (-1, 1))


def joined(*blocks: FloatArray | None) -> FloatArray | None:
    """Columns side by side; None without columns."""
    given = [block for block in blocks if block is not None]
    return np.ascontiguousarray(np.hstack(given)) if given else None


def spanned(columns: FloatArray | None, others: FloatArray | None) -> bool:
    """Whether the columns are combinations of others and a constant."""
    if columns is None or columns is others:
        return True
    centred = columns - columns.mean(axis=0)
    size = np.linalg.norm(centred, axis=0)
    if others is not None and others.shape[1]:
        basis = others - others.mean(axis=0)
        length = np.linalg.norm(basis, axis=0)
        basis = basis / np.where(length > 0.0, length, 1.0)
        centred = centred - basis @ np.linalg.lstsq(basis, centred, rcond=None)[0]
    rest = np.linalg.norm(centred, axis=0)
    floor = 1e-12 * np.sqrt(len(columns)) * np.abs(columns).max(axis=0, initial=0.0)
    return bool(np.all(rest <= 1e-7 * size + floor))


def estimated_places(fit: FittedLikelihood) -> dict[str, int]:
    """Positions of the estimated parameters, by name."""
    return {fit.parameters.names[place]: int(place) for place in np.flatnonzero(~fit.fit.aliased)}


# Random effects

#: Columns whose effects are correlated, and the factors of their group.
Block = tuple[frozenset[str], frozenset[str]]


def _blocks(fit: FittedLikelihood) -> list[Block]:
    """The random terms of a fit, independent effects one by one."""
    pairs: list[Block] = []
    for term in fit.design.random:
        given = [] if term.root is None else [f"covariance {hash(term.root.tobytes())}"]
        group = frozenset([*(factor.key for factor in term.part.group.factors), *given])
        parts = [frozenset(term.names)] if term.correlated else [frozenset([name]) for name in term.names]
        pairs += [(columns, group) for columns in parts]
    return pairs


def _random_within(small: FittedLikelihood, large: FittedLikelihood) -> bool:
    """Whether the random effects of one model are among those of the other."""
    wider = _blocks(large)
    return all(any(group == other and columns <= more for more, other in wider) for columns, group in _blocks(small))


def _boundary_test(small: FittedLikelihood, large: FittedLikelihood, statistic: float) -> tuple[float, str] | None:
    """The p-value and the distribution behind it in words; None if the random effects are the same."""
    fewer, more = _blocks(small), _blocks(large)
    if set(fewer) == set(more):
        return None
    statistic = 0.0 if is_zero(statistic, large.fit.loglik) else statistic
    df = large.fit.edf - small.fit.edf
    few, many = (np.array([len(columns) for columns, _ in blocks], dtype=int) for blocks in (fewer, more))
    added, n_random = many.sum() - few.sum(), sum(q * (q + 1) // 2 for q in many) - sum(q * (q + 1) // 2 for q in few)
    if added == 0 and n_random == df:
        return None  # correlations alone: no boundary
    if added != 1 or n_random != df:
        return float(chi2_tail(statistic, df)), f"chi2({df}), conservative"
    q = df - 1
    lower = float(chi2_tail(statistic, q)) if q else float(statistic == 0.0)
    return 0.5 * lower + 0.5 * float(chi2_tail(statistic, df)), f"1/2 chi2({q}) + 1/2 chi2({df})"


def is_zero(statistic: float, loglik: float) -> bool:
    """Whether a likelihood ratio is that of a variance of 0, but for rounding."""
    return statistic <= _ZERO * (1.0 + abs(loglik))


# Single terms

_SEPARATED = (
    "infinite estimates in {}: the likelihood is its limit, and the chi-squared distribution of the statistic is in "
    "doubt."
)
_WITHOUT_MAXIMUM = "no maximum of the likelihood was reached in the model of {}."
_NOT_NESTED = (
    "no p-value for {}: the larger model has the lower likelihood (a local maximum), or terms are coded otherwise "
    "there, so that this model is not nested in it."
)
_THE_SAME = "no test of {}: other columns take over the effect, so that the model stays the same."
_TITLES = {
    -1.0: "Likelihood ratio tests of dropping single terms",
    1.0: "Likelihood ratio tests of adding single terms",
}


@dataclass(frozen=True, eq=False)
class Refit:
    """Another model of the same rows: its parameters and log-likelihood, NaN where it has no maximum."""

    edf: float = np.nan
    loglik: float = np.nan
    separated: bool = False

    def criterion(self, k: float) -> float:
        """AIC with a penalty of k for each parameter."""
        return k * self.edf - 2.0 * self.loglik


def refit(r: FittedLikelihood, sample: Sample) -> Refit:
    """The method of a fit on another sample, from its own start; NaN where the sample gives no maximum."""
    try:
        fit: LikelihoodFit = unstarted(r).fit(sample, np.random.default_rng(0))
    except DataError:
        return Refit()
    separated = fit.separation is not None
    # A search that was given up on the way to infinity has not come near the limit.
    given_up = fit.trace.message.startswith("stopped") or fit.certificate.value > _STEEP
    if given_up if separated else not fit.certificate.reached:
        return Refit()
    return Refit(float(fit.edf), float(fit.loglik), separated)


def unstarted(r: FittedLikelihood) -> Any:
    """The method of a fit without its starting values, which suit its parameters only."""
    return replace(cast(Any, r.method), start=None)


def coded_anew(r: FittedLikelihood, role: str, terms: Sequence[str], changed: str) -> Sample:
    """The sample with other terms in one formula, coded as in that formula alone.

    Parameters
    ----------
    r : LikelihoodResults
    role : {"formula", "nominal", "scale"}
    terms : sequence of str
        All terms that the formula then has, from any formula of the fit.
    changed : str
        The term that came or went. Where the columns of the fit do not give the new ones, they are read from the data.
    """
    design = r.design
    columns = columns_of(design, terms)
    if columns is not None:
        changes: dict[str, Any] = {"X" if role == "formula" else role: columns}
        return replace(design.sample, rows=replace(design.sample.rows, **changes))
    text = marginality_of(design.spec).texts[changed]
    change = f"~ . - {text}" if changed not in terms else f"~ . + {text}" if len(terms) > 1 else f"~ {text}"
    return _updated(design, changed, **{role: change}).sample


def _updated(old: Design, term: str, **changes: Any) -> Design:
    """The design with a term put in or taken out; DataError where that changes the rows that are complete."""
    new = old.updated(**changes)
    check_complete(old, new, term)
    return new


def check_complete(old: Design, new: Design, term: str) -> None:
    """DataError where putting in or taking out a term changes the rows that are complete."""
    if old.sample.n != new.sample.n or not old.index.equals(new.index):
        raise DataError(
            f"{term!r} is missing in some of the {max(old.sample.n, new.sample.n)} rows of the fit "
            f"({min(old.sample.n, new.sample.n)} rows have it): models are compared on the same rows, so drop the rows "
            "with missing values first."
        )


def dropped_terms(
    r: FittedLikelihood, scope: str | Sequence[str] | None = None, *, test: str | None = "LR", k: float = _AIC
) -> pd.DataFrame:
    """Each term dropped alone, as R's drop1()."""
    check_available(r, "drop1()")
    terms = marginality_of(r.design.spec).droppable() if scope is None else terms_in(r, scope, r.design.terms)
    return refit_table(r, _drop_fits(r, terms), -1.0, test, k)


def _drop_fits(r: FittedLikelihood, terms: Iterable[str]) -> dict[str, Refit]:
    """The model without each term."""
    kept = {term: [other for other in r.design.terms if other != term] for term in terms}
    return {term: refit(r, coded_anew(r, "formula", others, term)) for term, others in kept.items()}


def added_terms(
    r: FittedLikelihood, scope: str | Sequence[str], *, test: str | None = "LR", k: float = _AIC
) -> pd.DataFrame:
    """Each term of a scope added alone, as R's add1()."""
    check_available(r, "add1()")
    texts = _enterable(r, _widest(r, scope))
    if not texts:
        raise OptionError(f"scope must have a term that the model lacks; got {scope!r}, and {r.formula!r} has it all.")
    return refit_table(r, _add_fits(r, texts), 1.0, test, k)


def _add_fits(r: FittedLikelihood, texts: dict[str, str]) -> dict[str, Refit]:
    """The model with each term, given as a formula writes it."""
    return {term: refit(r, _updated(r.design, term, formula=f"~ . + {text}").sample) for term, text in texts.items()}


def _widest(r: FittedLikelihood, scope: Any) -> Marginality:
    """The terms of the largest model; a dot in its formula stands for the model of `r`."""
    formula = scope if isinstance(scope, str) else " + ".join(scope)
    design = r.design.updated(formula=formula if "~" in formula else f"~ . + {formula}")
    present = [term.text for term in r.design.random]
    for term in design.random:
        if term.text not in present:
            raise _not_fixed(term.text, "with")
    return marginality_of(design.spec)


def _not_fixed(term: str, how: str) -> OptionError:
    """For a random term in a scope; fits with and without it are compared."""
    return OptionError(
        f"scope must hold fixed effects; got the random term {term}. Fit {how} it by update(), and compare the fits "
        "by anova(), which uses the distribution of a variance at its boundary."
    )


def terms_in(r: FittedLikelihood, scope: Any, available: Iterable[str]) -> list[str]:
    """The terms of a scope, in a formula or by their names; OptionError for one that is not available."""
    names, asked = list(available), listed(scope)
    if isinstance(scope, str) and "~" in scope:
        by_factors = {factors: term for term, factors in marginality_of(r.design.spec).factors.items()}
        asked = [by_factors.get(factors, term) for term, factors in _widest(r, scope).factors.items()]
    for term in asked:
        if term not in names:
            if isinstance(term, str) and "|" in term:
                raise _not_fixed(term, "without")
            raise OptionError(f"scope has no term {term!r} of the model; its terms are {', '.join(names)}.")
    return asked


def _enterable(r: FittedLikelihood, wide: Marginality) -> dict[str, str]:
    """Terms of the largest model that may enter (the terms they contain are in the model), with their texts."""
    present = set(marginality_of(r.design.spec).factors.values())
    lacking = {term: factors for term, factors in wide.factors.items() if factors not in present}
    return {
        term: wide.texts[term]
        for term, factors in lacking.items()
        if not any(other < factors for other in lacking.values())
    }


def refit_table(
    r: FittedLikelihood, fits: dict[str, Refit], sign: float, test: str | None, k: float, title: str = ""
) -> pd.DataFrame:
    """One row for each model; `sign` is +1 where terms were added and -1 where they were dropped.

    With a title the table has the log-likelihoods too.
    """
    one_of("test", test, _TESTS)
    base = Refit(r.fit.edf, r.fit.loglik, r.fit.separation is not None)
    models = {NONE: base, **fits}
    edf, logliks = np.array([(model.edf, model.loglik) for model in models.values()]).T
    df = sign * (edf - base.edf) + 0.0  # no -0.0
    lrt = without_rounding(2.0 * sign * (logliks - base.loglik), df, logliks)
    df[0] = lrt[0] = np.nan
    not_nested = ((df > 0.0) & (lrt < 0.0)) | ((df <= 0.0) & (lrt != 0.0))
    columns = {"df": df} | ({"loglik": logliks} if title else {}) | {"aic": k * edf - 2.0 * logliks}
    if test is not None:
        columns |= {"lrt": lrt, "p_value": np.where(not_nested, np.nan, chi2_tail(lrt, df))}
    table = NotedFrame(columns, index=list(models))
    unfinished = [] if r.fit.certificate.reached or base.separated else [NONE]
    notes = {
        _SEPARATED: [name for name, model in models.items() if model.separated],
        _WITHOUT_MAXIMUM: unfinished + [name for name, model in fits.items() if np.isnan(model.loglik)],
        _NOT_NESTED: list(table.index[not_nested]),
        _THE_SAME: list(fits) if test is not None and not (df[1:].any() or lrt[1:].any()) else [],
    }
    texts = [text.format(first_few(names, MOST_TERMS)) for text, names in notes.items() if names]
    return NotedFrame.of(table, texts, title or _TITLES[sign])


# Stepwise selection


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The result of `step`.

    Attributes
    ----------
    fit : LikelihoodResults
        The model at which no single term improves the criterion.
    trace : pandas.DataFrame
        One row for each step: change ("+ term", "- term"), df, loglik, edf, aic (with the penalty k).
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


def stepwise(r: FittedLikelihood, scope: Any = None, *, k: float = _AIC) -> Selection:
    """Location terms dropped and added one by one while AIC falls, as R's step()."""
    check_available(r, "step()")
    number("k", k, least=0.0, also=", such as 2 (AIC) or numpy.log(n) (BIC)")
    lower, upper = _limits(r, scope)
    steps = [("", r)]
    while len(steps) <= _MOST_STEPS and (best := _best_change(r, lower, upper, k)) is not None:
        change, formula = best
        changed = cast(Any, r).update(formula, method=unstarted(r))
        check_complete(r.design, changed.design, change[2:])
        r = changed
        steps.append((change, r))
    return Selection(r, _trace(steps, k))


def _limits(r: FittedLikelihood, scope: Any) -> tuple[set[frozenset[str]], Marginality | None]:
    """Factors of the terms that must stay, and the terms of the largest model; dots stand for the first one."""
    limits = scope if isinstance(scope, dict) else {"upper": scope}
    if unknown := set(limits) - {"lower", "upper"}:
        raise OptionError(f"scope takes the keys 'lower' and 'upper'; got {', '.join(map(repr, unknown))}.")
    lower, upper = limits.get("lower"), limits.get("upper")
    must = set() if lower is None else set(marginality_of(r.design.updated(formula=lower).spec).factors.values())
    return must, None if upper is None else _widest(r, upper)


def _best_change(
    r: FittedLikelihood, lower: set[frozenset[str]], upper: Marginality | None, k: float
) -> tuple[str, str] | None:
    """The change of a single term that lowers the criterion most, and its formula; None if none lowers it.

    The last term that adds no parameter goes first, unless the criterion rises.
    """
    marginality = marginality_of(r.design.spec)
    terms = [term for term in marginality.droppable() if marginality.factors[term] not in lower]
    fits = {(f"- {term}", f"~ . - {marginality.texts[term]}"): fit for term, fit in _drop_fits(r, terms).items()}
    now = k * r.fit.edf - 2.0 * r.fit.loglik
    idle = [change for change, fit in fits.items() if fit.edf == r.fit.edf and fit.criterion(k) < now + _EQUAL]
    if idle:
        return idle[-1]
    if upper is not None:
        texts = _enterable(r, upper)
        fits |= {(f"+ {term}", f"~ . + {texts[term]}"): fit for term, fit in _add_fits(r, texts).items()}
    finite = {change: fit.criterion(k) for change, fit in fits.items() if np.isfinite(fit.loglik)}
    best = min(finite, key=finite.__getitem__, default=None)
    return best if best is not None and finite[best] < now - _EQUAL else None


def _trace(steps: list[tuple[str, FittedLikelihood]], k: float) -> pd.DataFrame:
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
    notes = [] if k == _AIC else [f"aic: with a penalty of {k:g} for each parameter."]
    return NotedFrame.of(frame, notes, "Steps, from the model given to the one chosen")
