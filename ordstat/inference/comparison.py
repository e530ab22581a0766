"""Likelihood-ratio tests between fits and of single terms dropped or added, and
stepwise selection by AIC.

A random-effects variance that is 0 in the smaller model lies on the boundary of the
larger model. The statistic for one more variance is then distributed as 1/2 chi2(0) +
1/2 chi2(1) [Self and Liang 1987], and for one more column correlated with q others as
1/2 chi2(q) + 1/2 chi2(q + 1) [Stram and Lee 1994]. R's anova uses chi2 with one degree
of freedom for each added parameter, which is conservative.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray
from ..checks import listed, listed_texts, number, one_of
from ..exceptions import DataError, OptionError
from ..formula.sample import Rows, Sample
from ..likelihood.fit import LikelihoodFit
from ..likelihood.flexible import FLEXIBLE
from ..likelihood.rule import crossed_rows
from ..likelihood.unavailable import check_available
from ..report.cells import MOST_TERMS, first_few
from ..report.frames import NotedFrame
from .terms import Marginality, columns_of, marginality_of
from .wald import chi2_tail

if TYPE_CHECKING:
    from ..formula.design import Design
    from ..likelihood.results import LikelihoodResults

#: Negative likelihood ratios up to this share of the log-likelihood count as 0.
_ROUNDING = 1e-8
#: Criteria that differ by at most this much count as equal.
_EQUAL = 1e-7
#: Likelihood ratios up to this share of the log-likelihood count as 0.
_ZERO = 1e-10
#: If estimates are infinite, a gradient above this shows that the log-likelihood is not
#: near its limit.
_STEEP = 1e-3
#: Largest number of steps of a selection, as in R.
_MOST_STEPS = 1000
#: Penalty per parameter in AIC.
_AIC = 2.0
#: Values of `test=`; "Chisq" is R's name for "LR".
_TESTS = ("LR", "Chisq", None)
#: Row label of the model itself.
NONE = "<none>"


def without_rounding(
    statistic: FloatArray, df: FloatArray, loglik: FloatArray
) -> FloatArray:
    """Likelihood-ratio statistics, with rounding errors set to 0: small negative
    values, and small values on 0 df.
    """
    tiny = np.abs(statistic) <= _ROUNDING * (1.0 + np.abs(loglik))
    return np.asarray(
        np.where(tiny & ((statistic < 0.0) | (df <= 0.0)), 0.0, statistic)
    )


# Between fits

_BOUNDARY = (
    "A variance of 0 lies on a boundary: p_value uses `distribution`, p_chi2 uses chi2"
    " as in R."
)


def likelihood_ratio_tests(fits: Sequence[LikelihoodResults]) -> pd.DataFrame:
    """Compare several fits, smallest first, as R's anova(); see
    `LikelihoodResults.anova`.
    """
    for fit in fits:
        check_same_rows(fits[0], fit)
        check_available(fit, "anova() of several fits")
    ordered = sorted(fits, key=lambda fit: fit.fit.edf)
    n_par, loglik = np.array([(fit.fit.edf, fit.fit.loglik) for fit in ordered]).T
    df = np.append(np.nan, np.diff(n_par))
    pairs = list(pairwise(ordered))
    statistic = without_rounding(np.append(np.nan, 2.0 * np.diff(loglik)), df, loglik)
    within = np.append(True, [nested_in(small, large) for small, large in pairs])
    nested = within & ~(statistic < 0.0)
    negative = np.array([improper(fit.rule, fit.design.sample.rows) for fit in ordered])
    testable = nested & ~negative & ~np.append(False, negative[:-1])
    models = {
        "no_par": n_par.astype(int),
        "aic": 2.0 * n_par - 2.0 * loglik,
        "loglik": loglik,
    }
    tests = {
        "lr_stat": statistic,
        "df": df,
        "p_value": np.where(testable, chi2_tail(statistic, df), np.nan),
    }
    if any(fit.fit.marginal is not None for fit in fits):
        tests |= _at_boundaries(tests, pairs)
    table = pd.DataFrame(models | tests, index=[described(fit) for fit in ordered])
    notes = _notes(ordered, within, nested)
    if "distribution" in table and table["distribution"].any():
        notes.append(_BOUNDARY)
    notes += (
        [_NEGATIVE.format(first_few(list(table.index[negative]), MOST_TERMS))]
        if negative.any()
        else []
    )
    return NotedFrame.of(
        table, notes, "Likelihood ratio tests between nested models", {"p_chi2": "p"}
    )


def _at_boundaries(
    tests: dict[str, FloatArray],
    pairs: list[tuple[LikelihoodResults, LikelihoodResults]],
) -> dict[str, Any]:
    """P-values from the boundary distribution where random effects differ, and from
    chi-squared.
    """
    p_values = tests["p_value"].copy()
    distributions = [""]
    for row, (small, large) in enumerate(pairs, start=1):
        rules = [
            fit.fit.marginal.quadrature
            for fit in (small, large)
            if fit.fit.marginal is not None
        ]
        if len(set(rules)) > 1:
            raise OptionError(
                f"quadrature must be the same in all fits of anova; got {rules[0]} and"
                f" {rules[1]}. Fit all of them with the same one."
            )
        p_value, distribution = _boundary_test(
            small, large, float(tests["lr_stat"][row])
        ) or (p_values[row], "")
        distributions.append(distribution)
        if not np.isnan(p_values[row]):
            p_values[row] = p_value
    return {
        "p_value": p_values,
        "p_chi2": tests["p_value"],
        "distribution": distributions,
    }


def _notes(
    fits: Sequence[LikelihoodResults], within: BoolArray, nested: BoolArray
) -> list[str]:
    notes = [
        (
            f"{described(fit)!r} does not contain the smaller model before it: no"
            " p-value, as they are not nested."
            if not contains
            else (
                f"{described(fit)!r} has a lower likelihood than the smaller model"
                " before it (local maximum): no p-value."
            )
        )
        for fit, contains, testable in zip(fits, within, nested, strict=True)
        if not testable
    ]
    separated = ", ".join(
        repr(described(fit)) for fit in fits if fit.fit.separation is not None
    )
    return [*notes, _SEPARATED.format(separated)] if separated else notes


def check_same_rows(first: LikelihoodResults, other: LikelihoodResults) -> None:
    """Raise DataError unless both were fitted to the same responses with the same
    weights.
    """
    if isinstance(other, (list, tuple)):
        raise OptionError(
            "anova takes fits as separate arguments, as in fit1.anova(fit2, fit3); got"
            " a list or tuple."
        )
    if not isinstance(getattr(other, "fit", None), LikelihoodFit):
        raise OptionError(
            f"anova compares likelihood fits; got a {type(other).__name__}."
        )
    a = first.design
    b = other.design
    if a.sample.n != b.sample.n or not a.index.equals(b.index):
        index = " with another index" if a.sample.n == b.sample.n else ""
        raise DataError(
            f"anova needs models of the same rows; got {a.sample.n} in {a.formula!r}"
            f" and {b.sample.n} in {b.formula!r}{index}."
            " Drop the rows with missing values first."
        )
    if a.levels.values != b.levels.values or not np.array_equal(
        a.sample.answers, b.sample.answers
    ):
        raise DataError(
            f"anova needs models of the same response; {a.response!r} and"
            f" {b.response!r} differ."
        )
    if not np.array_equal(a.sample.case_weights, b.sample.case_weights):
        raise DataError(
            f"anova needs models with the same weights; those of {b.formula!r} differ."
        )


def described(fit: LikelihoodResults) -> str:
    """Describe a fit in one line: its formulas, and its method unless all options are
    defaults.
    """
    recipe = fit.design.recipe
    sides = [
        f"{role} = {text}"
        for role, text in (("nominal", recipe.nominal), ("scale", recipe.scale))
        if text
    ]
    parts = [fit.design.formula, *sides]
    method = repr(fit.method)
    return ", ".join(parts if method.endswith("()") else [*parts, method])


# Which model contains which


def nested_in(small: LikelihoodResults, large: LikelihoodResults) -> bool:
    """Whether `small` is a special case of `large`.

    Its columns and structured thresholds are combinations of those of `large`; its link
    is the same or in the family.
    """
    a = small.design.sample.rows
    b = large.design.sample.rows
    return (
        _link_within(small, large)
        and _thresholds_within(small, large)
        and _random_within(small, large)
        and spanned(joined(a.nominal), joined(b.nominal))
        and spanned(
            joined(a.X, offset_difference(a.offset, b.offset)), joined(b.X, b.nominal)
        )
        and spanned(
            joined(a.scale, offset_difference(a.scale_offset, b.scale_offset)),
            joined(b.scale),
        )
    )


def _link_within(small: LikelihoodResults, large: LikelihoodResults) -> bool:
    if small.family.name != large.family.name:
        return False
    if large.fit.n_lambda:
        family = FLEXIBLE[large.family.link.name]
        return small.family.link.name in (family.name, *family.members)
    return bool(small.method.link == large.method.link)


def _thresholds_within(small: LikelihoodResults, large: LikelihoodResults) -> bool:
    inner = small.fit.jacobian
    outer = large.fit.jacobian
    if outer is None:
        return True
    inner = np.eye(len(outer)) if inner is None else inner
    return bool(
        np.linalg.matrix_rank(np.hstack([inner, outer])) == np.linalg.matrix_rank(outer)
    )


def offset_difference(
    first: FloatArray | None, second: FloatArray | None
) -> FloatArray | None:
    """(N, 1) difference of two offsets; None without offsets."""
    if first is None and second is None:
        return None
    return np.reshape(
        (0.0 if first is None else first) - (0.0 if second is None else second), (-1, 1)
    )


def joined(*blocks: FloatArray | None) -> FloatArray | None:
    """Columns side by side; None without columns."""
    given = [block for block in blocks if block is not None]
    return np.ascontiguousarray(np.hstack(given)) if given else None


def spanned(columns: FloatArray | None, others: FloatArray | None) -> bool:
    """Whether the columns are linear combinations of the others and a constant."""
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


def estimated_places(fit: LikelihoodResults) -> dict[str, int]:
    """Positions of the estimated parameters, by name."""
    return {
        fit.parameters.names[position]: int(position)
        for position in np.flatnonzero(~fit.fit.aliased)
    }


# Random effects

#: Columns with correlated effects, and the factors of their group.
Block = tuple[frozenset[str], frozenset[str]]


def _blocks(fit: LikelihoodResults) -> list[Block]:
    """The random terms of a fit, with a separate block for each independent effect."""
    pairs: list[Block] = []
    for term in fit.design.random:
        covariance = (
            [] if term.root is None else [f"covariance {hash(term.root.tobytes())}"]
        )
        group = frozenset(
            [*(factor.key for factor in term.part.group.factors), *covariance]
        )
        parts = (
            [frozenset(term.names)]
            if term.correlated
            else [frozenset([name]) for name in term.names]
        )
        pairs += [(columns, group) for columns in parts]
    return pairs


def _random_within(small: LikelihoodResults, large: LikelihoodResults) -> bool:
    """Whether the random effects of one model are among those of the other."""
    wider = _blocks(large)
    return all(
        any(group == other and columns <= more for more, other in wider)
        for columns, group in _blocks(small)
    )


def _boundary_test(
    small: LikelihoodResults, large: LikelihoodResults, statistic: float
) -> tuple[float, str] | None:
    """The p-value and the name of its distribution; None if the random effects are the
    same.
    """
    fewer = _blocks(small)
    more = _blocks(large)
    if set(fewer) == set(more):
        return None
    statistic = 0.0 if is_zero(statistic, large.fit.loglik) else statistic
    df = large.fit.edf - small.fit.edf
    few, many = (
        np.array([len(columns) for columns, _ in blocks], dtype=int)
        for blocks in (fewer, more)
    )
    added = many.sum() - few.sum()
    n_random = sum(q * (q + 1) // 2 for q in many) - sum(q * (q + 1) // 2 for q in few)
    if added == 0 and n_random == df:
        return None  # only correlations are added: no boundary
    if added != 1 or n_random != df:
        return float(chi2_tail(statistic, df)), f"chi2({df}), conservative"
    q = df - 1
    lower = float(chi2_tail(statistic, q)) if q else float(statistic == 0.0)
    return (
        0.5 * lower + 0.5 * float(chi2_tail(statistic, df)),
        f"1/2 chi2({q}) + 1/2 chi2({df})",
    )


def is_zero(statistic: float, loglik: float) -> bool:
    """Whether a likelihood ratio is 0 up to rounding, as for a variance of 0."""
    return statistic <= _ZERO * (1.0 + abs(loglik))


# Single terms

_SEPARATED = (
    "infinite estimates in {}: the likelihood is its limit, and the chi-squared"
    " distribution of the statistic is doubtful."
)
_WITHOUT_MAXIMUM = "no maximum of the likelihood was reached in the model of {}."
_NOT_NESTED = (
    "no p-value for {}: the larger model has the lower likelihood (a local maximum), or"
    " codes terms differently, so that the models are not nested."
)
_NEGATIVE = (
    "no p-value for {}: effects at each threshold make probabilities negative in many"
    " rows, often because a level has few rows; merge levels."
)
#: Share of the rows that may have negative probabilities in a model that is tested.
_MOST_NEGATIVE = 0.01
_THE_SAME = (
    "no test of {}: other columns take over the effect, so that the model stays the"
    " same."
)
_TITLES = {
    -1.0: "Likelihood ratio tests of dropping single terms",
    1.0: "Likelihood ratio tests of adding single terms",
}


@dataclass(frozen=True, eq=False)
class Refit:
    """Another model of the same rows: its number of parameters and log-likelihood, NaN
    if it has no maximum.
    """

    edf: float = np.nan
    loglik: float = np.nan
    separated: bool = False
    negative: bool = False

    def criterion(self, k: float) -> float:
        """AIC with a penalty of k for each parameter."""
        return k * self.edf - 2.0 * self.loglik


def refit(r: LikelihoodResults, sample: Sample) -> Refit:
    """Fit the method of `r` to another sample, with default starting values; NaN if
    there is no maximum.
    """
    try:
        fit: LikelihoodFit = unstarted(r).fit(sample, np.random.default_rng(0))
    except DataError:
        return Refit()
    separated = fit.separation is not None
    # A search that stopped early on the way to infinity is not near the limit.
    stopped = fit.trace.stopped or fit.certificate.value > _STEEP
    if stopped if separated else not fit.certificate.reached:
        return Refit()
    return Refit(
        float(fit.edf), float(fit.loglik), separated, improper(fit.rule, sample.rows)
    )


def improper(rule: Any, rows: Rows) -> bool:
    """Whether probabilities are negative in so many rows that the likelihood is not one
    of a distribution.
    """
    return crossed_rows(rule, rows).size > _MOST_NEGATIVE * rows.n


def unstarted(r: LikelihoodResults) -> Any:
    """The method of a fit without its starting values, which hold only for its own
    parameters.
    """
    return replace(cast(Any, r.method), start=None)


def coded_anew(
    r: LikelihoodResults, role: str, terms: Sequence[str], changed: str
) -> Sample:
    """The sample with other terms in one formula, coded as that formula alone would
    code them.

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
    columns = columns_of(design, terms)
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
    scope: str | Sequence[str] | None = None,
    *,
    test: str | None = "LR",
    k: float = _AIC,
) -> pd.DataFrame:
    """Drop each term in turn, as R's drop1()."""
    check_available(r, "drop1()")
    terms = (
        marginality_of(r.design.spec).droppable()
        if scope is None
        else terms_in(r, scope, r.design.terms)
    )
    return refit_table(r, _drop_fits(r, terms), -1.0, test, k)


def _drop_fits(r: LikelihoodResults, terms: Iterable[str]) -> dict[str, Refit]:
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
    test: str | None = "LR",
    k: float = _AIC,
) -> pd.DataFrame:
    """Add each term of a scope in turn, as R's add1()."""
    check_available(r, "add1()")
    texts = _enterable(r, _widest(r, scope))
    if not texts:
        raise OptionError(
            f"scope must have a term that the model lacks; got {scope!r} for the model"
            f" {r.formula!r}."
        )
    return refit_table(r, _add_fits(r, texts), 1.0, test, k)


def _add_fits(r: LikelihoodResults, texts: dict[str, str]) -> dict[str, Refit]:
    """Fits with each term added in turn; `texts` has the terms as formula text."""
    return {
        term: refit(r, _updated(r.design, term, formula=f"~ . + {text}").sample)
        for term, text in texts.items()
    }


def _widest(r: LikelihoodResults, scope: Any) -> Marginality:
    """The terms of the largest model; a dot in its formula stands for the
    model of `r`.
    """
    formula = " + ".join(listed_texts("scope", scope))
    design = r.design.updated(formula=formula if "~" in formula else f"~ . + {formula}")
    present = [term.text for term in r.design.random]
    for term in design.random:
        if term.text not in present:
            raise _not_fixed(term.text, "with")
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
            for term, factors in _widest(r, scope).factors.items()
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


def _enterable(r: LikelihoodResults, wide: Marginality) -> dict[str, str]:
    """Formula texts of the terms that may enter: the model has all terms that they
    contain.
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
    sign: float,
    test: str | None,
    k: float,
    title: str = "",
) -> pd.DataFrame:
    """Table with one row per model; `sign` is +1 for added terms and -1 for dropped
    terms.

    A table with a title also has the log-likelihoods.
    """
    one_of("test", test, _TESTS)
    number("k", k, least=0.0, also=", such as 2 (AIC) or numpy.log(n) (BIC)")
    base = Refit(r.fit.edf, r.fit.loglik, r.fit.separation is not None)
    models = {NONE: base, **fits}
    edf, logliks = np.array([(model.edf, model.loglik) for model in models.values()]).T
    df = sign * (edf - base.edf) + 0.0  # no -0.0
    lrt = without_rounding(2.0 * sign * (logliks - base.loglik), df, logliks)
    df[0] = lrt[0] = np.nan
    not_nested = ((df > 0.0) & (lrt < 0.0)) | ((df <= 0.0) & (lrt != 0.0))
    columns = (
        {"df": df}
        | ({"loglik": logliks} if title else {})
        | {"aic": k * edf - 2.0 * logliks}
    )
    negative = np.array([model.negative for model in models.values()])
    if test is not None:
        columns |= {
            "lrt": lrt,
            "p_value": np.where(not_nested | negative, np.nan, chi2_tail(lrt, df)),
        }
    table = NotedFrame(columns, index=list(models))
    unfinished = [] if r.fit.certificate.reached or base.separated else [NONE]
    notes = {
        _SEPARATED: [name for name, model in models.items() if model.separated],
        _WITHOUT_MAXIMUM: (
            unfinished
            + [name for name, model in fits.items() if np.isnan(model.loglik)]
        ),
        _NOT_NESTED: list(table.index[not_nested & ~negative]),
        _NEGATIVE: list(table.index[negative]),
        _THE_SAME: (
            list(table.index[1:][(df[1:] == 0.0) & (lrt[1:] == 0.0)])
            if test is not None
            else []
        ),
    }
    texts = [
        text.format(first_few(names, MOST_TERMS))
        for text, names in notes.items()
        if names
    ]
    return NotedFrame.of(table, texts, title or _TITLES[sign], labels=r.names_shown())


# Stepwise selection


@dataclass(frozen=True, eq=False, repr=False)
class StepwiseSelection:
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
        return f"{self._noted()!r}\n{self.fit!r}"

    def _repr_html_(self) -> str:
        return self._noted()._repr_html_()

    def _noted(self) -> NotedFrame:
        notes = [*self.trace.attrs.get("notes", ()), f"Chosen: {self.fit.formula}"]
        return NotedFrame.of(self.trace.set_index("change"), notes, "Steps")


def stepwise(
    r: LikelihoodResults, scope: Any = None, *, k: float = _AIC
) -> StepwiseSelection:
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
        changed = cast(Any, r).update(formula, method=unstarted(r))
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
    kept = (
        set()
        if lower is None
        else set(marginality_of(r.design.updated(formula=lower).spec).factors.values())
    )
    return kept, None if upper is None else _widest(r, upper)


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
        for term, fit in _drop_fits(r, terms).items()
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
        texts = _enterable(r, upper)
        fits |= {
            (f"+ {term}", f"~ . + {texts[term]}"): fit
            for term, fit in _add_fits(r, texts).items()
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
    notes = [] if k == _AIC else [f"aic has a penalty of {k:g} per parameter."]
    return NotedFrame.of(frame, notes, "Steps from the given model to the chosen model")
