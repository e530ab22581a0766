"""Likelihood-ratio tests between fits of the same rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from ..._typing import BoolArray, FloatArray
from ...assess.likelihood.wald import chi2_tail
from ...exceptions import DataError, OptionError
from ...model.likelihood.flexible import FLEXIBLE
from ..report.noted import NotedFrame
from .fitted import FittedLikelihood
from .mixed.comparison import boundary_test, check_same_rule, random_within
from .parameters import refuse_survey

#: A smaller model may be this much better by rounding of the two log-likelihoods.
_ROUNDING = 1e-8


def chi2_frame(names: Iterable[str], tests: Collection[tuple[float, int]]) -> pd.DataFrame:
    """Statistics and their degrees of freedom, as a frame with p-values."""
    chisq, df = (np.array([test[place] for test in tests], kind) for place, kind in ((0, float), (1, int)))
    return pd.DataFrame({"df": df, "chisq": chisq, "p_value": chi2_tail(chisq, df)}, index=list(names))


def without_rounding(statistic: FloatArray, df: FloatArray, loglik: FloatArray) -> FloatArray:
    """Likelihood-ratio statistics, 0 where they are negative, or of no degrees of freedom, by rounding alone."""
    tiny = np.abs(statistic) <= _ROUNDING * (1.0 + np.abs(loglik))
    return np.asarray(np.where(tiny & ((statistic < 0.0) | (df <= 0.0)), 0.0, statistic))


def likelihood_ratio_tests(fits: Sequence[FittedLikelihood]) -> pd.DataFrame:
    """R's anova() of several fits, the smallest first; see `LikelihoodResults.anova`."""
    check_unpenalised(fits, "anova")
    ordered = sorted(fits, key=lambda fit: fit.edf)
    n_par = np.array([fit.edf for fit in ordered])
    loglik = np.array([fit.loglik for fit in ordered])
    df = np.append(np.nan, np.diff(n_par).astype(np.float64))
    statistic = without_rounding(np.append(np.nan, 2.0 * np.diff(loglik)), df, loglik)
    within = np.append(True, [nested_in(small, large) for small, large in pairwise(ordered)])
    nested = within & ~(statistic < 0.0)
    models = {"no_par": n_par, "aic": 2.0 * n_par - 2.0 * loglik, "loglik": loglik}
    tests = {"lr_stat": statistic, "df": df, "p_value": np.where(nested, chi2_tail(statistic, df), np.nan)}
    table = pd.DataFrame(models | tests, index=[described(fit) for fit in ordered])
    table = _at_boundaries(table, ordered)
    return NotedFrame.of(table, _notes(ordered, within, nested), "Likelihood ratio tests between nested models")


def _at_boundaries(table: pd.DataFrame, fits: Sequence[FittedLikelihood]) -> pd.DataFrame:
    """With p-values by the law at a boundary where random effects differ, beside those of chi-squared."""
    if all(fit.fit.marginal is None for fit in fits):
        return table
    chi2, laws = table["p_value"].to_numpy(), [""]
    p_values = chi2.copy()
    for place, (small, large) in enumerate(pairwise(fits), start=1):
        check_same_rule(small, large)
        found = boundary_test(small, large, float(table["lr_stat"].iloc[place]))
        laws.append("" if found is None else found.law)
        if found is not None and not np.isnan(chi2[place]):
            p_values[place] = found.p_value
    return table.assign(p_value=p_values, p_chi2=chi2, law=laws)


def _notes(fits: Sequence[FittedLikelihood], within: BoolArray, nested: BoolArray) -> list[str]:
    robust = [described(fit) for fit in fits if fit.covariance != "model"]
    notes = [as_independent(", ".join(map(repr, robust)))] if robust else []
    notes += [
        f"{described(fit)!r} does not contain the smaller model before it: they are not nested, no p-value."
        if not contains
        else f"{described(fit)!r} has a lower likelihood than the smaller model before it, a local maximum: no p-value."
        for fit, contains, fine in zip(fits, within, nested, strict=True)
        if not fine
    ]
    separated = [described(fit) for fit in fits if fit.fit.separation is not None]
    if separated:
        notes.append(
            f"infinite estimates in {', '.join(map(repr, separated))}: the likelihood is its limit, and the "
            "chi-squared distribution of the statistic is in doubt."
        )
    return notes


def as_independent(what: str) -> str:
    """What is told of likelihood ratios that were asked for beside robust errors."""
    return (
        f"Likelihood ratios and AIC take rows for independent and the model for true, and {what} has robust standard "
        "errors, which do not: test='Wald' goes with these."
    )


def check_unpenalised(fits: Iterable[FittedLikelihood], name: str) -> None:
    """OptionError for penalised fits, whose log-likelihoods are not maxima, and for those of a survey design."""
    for fit in fits:
        refuse_survey(fit.design, name)
        check_maximum(fit, name)


def check_maximum(fit: FittedLikelihood, name: str) -> None:
    """OptionError where a penalty keeps a fit from the maximum of the likelihood."""
    if any(label == "penalty" for label, _ in fit.fit.facts):
        raise OptionError(
            f"{name} compares maxima of the likelihood, and {described(fit)!r} is penalised: its log-likelihood is "
            "none, and has no chi-squared distribution. Fit without the penalty, or use Wald tests (test(), "
            "anova() of one fit), profile limits, or errors(cv=10)."
        )


def nested_in(small: FittedLikelihood, large: FittedLikelihood) -> bool:
    """Whether every column of one model is a combination of columns of the other, of the same link or its family.

    So are its thresholds, where they have a structure.
    """
    a, b = small.design.sample.rows, large.design.sample.rows
    return (
        _link_within(small, large)
        and _thresholds_within(small, large)
        and random_within(small, large)
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
    """(N, 1) of offsets; None where there are none."""
    if one is None and other is None:
        return None
    return np.reshape((0.0 if one is None else one) - (0.0 if other is None else other), (-1, 1))


def joined(*blocks: FloatArray | None) -> FloatArray | None:
    """Columns side by side; None where there are none."""
    given = [block for block in blocks if block is not None]
    return np.ascontiguousarray(np.hstack(given)) if given else None


def spanned(columns: FloatArray | None, others: FloatArray | None) -> bool:
    """Whether the columns are combinations of others and a constant."""
    if columns is None or (others is not None and columns is others):
        return True
    mean = columns.mean(axis=0)
    centred = columns - mean
    size = np.linalg.norm(centred, axis=0)
    if others is not None and others.shape[1]:
        basis = others - others.mean(axis=0)
        length = np.linalg.norm(basis, axis=0)
        basis = basis / np.where(length > 0.0, length, 1.0)
        centred = centred - basis @ np.linalg.lstsq(basis, centred, rcond=None)[0]
    left = np.linalg.norm(centred, axis=0)
    floor = 1e-12 * np.sqrt(len(columns)) * np.abs(columns).max(axis=0, initial=0.0)
    return bool(np.all(left <= 1e-7 * size + floor))


def described(fit: FittedLikelihood) -> str:
    """A fit in one line: its formulas, and the method where it is not the default."""
    recipe = fit.design.recipe
    parts = [fit.design.formula]
    if recipe is not None:
        parts += [f"{role} = {text}" for role, text in (("nominal", recipe.nominal), ("scale", recipe.scale)) if text]
    method = repr(fit.method)
    return ", ".join(parts if method.endswith("()") else [*parts, method])


def comparable(fits: Sequence[FittedLikelihood]) -> Sequence[FittedLikelihood]:
    """The fits, if they are of the same rows."""
    for other in fits[1:]:
        _check_same_rows(fits[0], other)
    return fits


def _check_same_rows(one: FittedLikelihood, other: FittedLikelihood) -> None:
    """DataError unless both were fitted to the same responses with the same weights."""
    if isinstance(other, (list, tuple)):
        raise OptionError("anova takes the other fits one by one, as in fit1.anova(fit2, fit3); got several in one.")
    if not hasattr(other, "loglik"):
        raise OptionError(f"anova compares likelihood fits; {other!r} has no likelihood.")
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
