"""Likelihood-ratio tests between fits of the same rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from .._typing import FloatArray
from ..exceptions import DataError, OptionError

if TYPE_CHECKING:
    from .likelihood import LikelihoodResults

#: A smaller model may be this much better by rounding of the two log-likelihoods.
_ROUNDING = 1e-8


def chi2_tail(statistic: Any, df: Any) -> FloatArray:
    """P(chi2 with df degrees of freedom > statistic); NaN where df is 0 or anything is missing."""
    statistic, df = np.asarray(statistic, dtype=np.float64), np.asarray(df, dtype=np.float64)
    known = (df > 0.0) & ~np.isnan(statistic)
    tail = chdtrc(np.where(known, df, 1.0), np.maximum(np.where(known, statistic, 0.0), 0.0))
    return np.asarray(np.where(known, tail, np.nan))


def likelihood_ratio_tests(fits: Sequence[LikelihoodResults]) -> pd.DataFrame:
    """R's anova() of several fits, the smallest first; see `LikelihoodResults.anova`."""
    for other in fits[1:]:
        _check_same_rows(fits[0], other)
    ordered = sorted(fits, key=lambda fit: fit.edf)
    n_par = np.array([fit.edf for fit in ordered])
    loglik = np.array([fit.loglik for fit in ordered])
    statistic = np.append(np.nan, 2.0 * np.diff(loglik))
    df = np.append(np.nan, np.diff(n_par).astype(np.float64))
    nested = ~(statistic < -_ROUNDING * (1.0 + np.abs(loglik)))
    table = pd.DataFrame(
        {
            "no_par": n_par,
            "aic": 2.0 * n_par - 2.0 * loglik,
            "loglik": loglik,
            "lr_stat": statistic,
            "df": df,
            "p_value": np.where(nested, chi2_tail(statistic, df), np.nan),
        },
        index=[described(fit) for fit in ordered],
    )
    table.attrs["notes"] = _notes(ordered, nested)
    return table


def _notes(fits: Sequence[LikelihoodResults], nested: Any) -> list[str]:
    notes = [
        f"{described(fit)!r} has a lower likelihood than the smaller model before it: they are not nested, no p-value."
        for fit, fine in zip(fits, nested, strict=True)
        if not fine
    ]
    separated = [described(fit) for fit in fits if fit.fit.separation is not None]
    if separated:
        notes.append(
            f"infinite estimates in {', '.join(map(repr, separated))}: the likelihood is its limit, and the "
            "chi-squared distribution of the statistic is in doubt."
        )
    return [*notes, *penalty_notes(fits)]


def penalty_notes(fits: Iterable[LikelihoodResults]) -> list[str]:
    """A word on likelihood ratios of penalised fits."""
    if all(fit.method.penalty is None for fit in fits):
        return []
    return [
        "penalised estimates: the log-likelihoods are those of the data at the estimates, not maxima, so that the "
        "chi-squared distribution of the statistic and the number of parameters in AIC do not hold."
    ]


def described(fit: LikelihoodResults) -> str:
    """A fit in one line: its formulas, and the method where it is not the default."""
    recipe = fit.design.recipe
    parts = [fit.design.formula]
    if recipe is not None:
        parts += [f"{role} = {text}" for role, text in (("nominal", recipe.nominal), ("scale", recipe.scale)) if text]
    method = repr(fit.method)
    return ", ".join(parts if method.endswith("()") else [*parts, method])


def _check_same_rows(one: LikelihoodResults, other: LikelihoodResults) -> None:
    """DataError unless both were fitted to the same responses with the same weights."""
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
