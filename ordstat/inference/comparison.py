"""Likelihood-ratio tests between fits.

A random-effects variance that is 0 in the smaller model lies on the boundary of the
larger model. The statistic for one more variance is then distributed as 1/2 chi2(0) +
1/2 chi2(1) [Self and Liang 1987], and for one more column correlated with q others as
1/2 chi2(q) + 1/2 chi2(q + 1) [Stram and Lee 1994]. R's anova uses chi2 with one degree
of freedom for each added parameter, which is conservative.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray
from ..exceptions import DataError, OptionError
from ..formula.sample import Rows
from ..likelihood.fit import LikelihoodFit
from ..likelihood.rule import crossed_rows
from ..likelihood.unavailable import check_available
from ..report.cells import MOST_TERMS, first_few
from ..report.frames import NotedFrame
from .nesting import nested_in, random_blocks
from .wald import chi2_tail

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults

#: Negative likelihood ratios up to this share of the log-likelihood count as 0.
_ROUNDING = 1e-8
#: Likelihood ratios up to this share of the log-likelihood count as 0.
_ZERO = 1e-10


def without_rounding(
    statistic: FloatArray, df: FloatArray, loglik: FloatArray
) -> FloatArray:
    """Likelihood-ratio statistics, with rounding errors set to 0: small negative
    values, and small values on 0 df.
    """
    tiny = np.abs(statistic) <= _ROUNDING * (1.0 + np.abs(loglik))
    return np.where(tiny & ((statistic < 0.0) | (df <= 0.0)), 0.0, statistic)


#: A gradient above this shows that the log-likelihood is not near its maximum, or near
#: its limit if estimates are infinite.
STEEP = 1e-3
#: Share of the rows that may have negative probabilities in a model that is tested.
_MOST_NEGATIVE = 0.01
#: Notes on models, which tables of single terms have too.
SEPARATED_NOTE = (
    "infinite estimates in {}: the log-likelihood is its limit, and the chi-squared"
    " distribution of the statistic is doubtful."
)
LOCAL_NOTE = (
    "a local maximum in {}: the log-likelihood is higher along a path without a"
    " maximum, so that the p-value of a test of this model is doubtful."
)
NEGATIVE_NOTE = (
    "no p-value for {}: effects at each threshold make probabilities negative in many"
    " rows, often because a level has few rows; merge levels."
)
WITHOUT_MAXIMUM = "no maximum of the likelihood was reached in the model of {}."
UNSCORED_NOTE = (
    "no p-value for {}: without effects the scores of the levels are undefined, and the"
    " statistic has no chi-squared distribution."
)
_BOUNDARY = (
    "A variance of 0 lies on a boundary: p_value is that of the column distribution,"
    " p_chi2 that of chi2 as in R."
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
    unscored = np.append(False, [_unscored(small, large) for small, large in pairs])
    testable = nested & ~negative & ~np.append(False, negative[:-1]) & ~unscored
    early = np.array([unfinished(fit.fit) for fit in ordered])
    statistic[early | np.append(False, early[:-1])] = np.nan
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
    if early.any():
        names = first_few(list(table.index[early]), MOST_TERMS)
        notes.append(WITHOUT_MAXIMUM.format(names))
    if "distribution" in table and table["distribution"].any():
        notes.append(_BOUNDARY)
    if negative.any():
        names = first_few(list(table.index[negative]), MOST_TERMS)
        notes.append(NEGATIVE_NOTE.format(names))
    if unscored.any():
        names = first_few(list(table.index[unscored]), MOST_TERMS)
        notes.append(UNSCORED_NOTE.format(names))
    return NotedFrame.of(
        table, notes, "Likelihood ratio tests between nested models", {"p_chi2": "p"}
    )


def unfinished(fit: LikelihoodFit) -> bool:
    """Whether the search ended far from a maximum and from the limit of the likelihood,
    so that the log-likelihood is of no use.
    """
    if fit.certificate.reached:
        return False
    steep = fit.certificate.value > STEEP
    if fit.separation is not None:
        return fit.trace.stopped or steep
    return fit.lost or steep


def _unscored(small: LikelihoodResults, large: LikelihoodResults) -> bool:
    """Whether the larger model has scores of levels, which have no value in the smaller
    one, without effects.
    """
    scores = large.parameters.of("phi").size > 0
    return scores and small.fit.edf == small.fit.null_edf


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
    notes = []
    for fit, contains, testable in zip(fits, within, nested, strict=True):
        if testable:
            continue
        problem = (
            "does not contain the smaller model before it: no p-value, as they are not"
            " nested."
        )
        if contains:
            problem = (
                "has a lower likelihood than the smaller model before it (local"
                " maximum): no p-value."
            )
        notes.append(f"{described(fit)!r} {problem}")
    separated = ", ".join(
        repr(described(fit)) for fit in fits if fit.fit.determined is not None
    )
    if separated:
        notes.append(SEPARATED_NOTE.format(separated))
    local = ", ".join(
        repr(described(fit)) for fit in fits if fit.fit.diverging_elsewhere is not None
    )
    if local:
        notes.append(LOCAL_NOTE.format(local))
    return notes


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
            f"anova compares likelihood fits; got one of type {type(other).__name__}."
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
    """Describe a fit in one line: its formulas, and its method unless that is the
    cumulative logit.
    """
    recipe = fit.design.recipe
    sides = [
        f"{role} = {text}"
        for role, text in (("nominal", recipe.nominal), ("scale", recipe.scale))
        if text
    ]
    parts = [fit.design.formula, *sides]
    method = str(fit.method)
    if method != "CumulativeLink()":
        parts.append(method.removesuffix("()"))
    return ", ".join(parts)


def _boundary_test(
    small: LikelihoodResults, large: LikelihoodResults, statistic: float
) -> tuple[float, str] | None:
    """The p-value and the name of its distribution; None if the random effects are the
    same.
    """
    fewer = random_blocks(small)
    more = random_blocks(large)
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


def improper(rule: Any, rows: Rows) -> bool:
    """Whether probabilities are negative in so many rows that they form no
    distribution.
    """
    return crossed_rows(rule, rows).size > _MOST_NEGATIVE * rows.n
