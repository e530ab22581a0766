"""Wald tests of fits to imputed data sets, pooled (D1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..exceptions import OptionError, UnavailableError
from ..likelihood.user_scale import CovarianceMatrix
from ..report.frames import NotedFrame
from .rubin import FTest, Pooled, d1
from .wald import (
    JOINT,
    linear_hypotheses,
    term_hypotheses,
    without_location,
    without_test,
)

if TYPE_CHECKING:
    from .pooling import PooledResults


def pooled_hypothesis_tests(pooled: PooledResults, hypotheses: str) -> pd.DataFrame:
    """Tests of linear hypotheses on the parameters; see `PooledResults.test`."""
    names, L, target = linear_hypotheses(pooled.fits[0], hypotheses)
    combined = pooled.pooled.combined(L)
    shifted = replace(combined, Q=combined.Q - target)
    tests = [d1(shifted.combined(row[None])) for row in np.eye(len(L))]
    difference = shifted.estimate
    errors = shifted.std_error
    if len(L) > 1:
        if np.linalg.matrix_rank(L) < len(L):
            raise OptionError(
                f"hypotheses must not follow from each other; got {hypotheses!r}."
                " Leave one out."
            )
        tests.append(d1(shifted))
        names = [*names, JOINT]
        difference = np.append(difference, np.nan)
        errors = np.append(errors, np.nan)
    table = _table_tests(tests, names)
    table.insert(0, "difference", difference)
    table.insert(1, "std_error", errors)
    return table


def pooled_anova(
    pooled: PooledResults, others: Sequence[Any], type: str
) -> pd.DataFrame:
    """Tests of the location terms; see `PooledResults.anova`."""
    if others:
        raise UnavailableError(
            "pooled fits have no likelihood ratio, as likelihoods of imputed data"
            " cannot be pooled. Give anova() the largest model alone, or use"
            " .test('x1 = 0, x2 = 0')."
        )
    asked = [term_hypotheses(fit, type) for fit in pooled.fits if fit.in_memory]
    if len(asked) < len(pooled.fits):
        raise UnavailableError(
            "pooled fits to rows in blocks have no .anova. Test pooled coefficients"
            " by .test('x1 = 0, x2 = 0')."
        )
    kind = asked[0][0]
    tests = [
        _tested(pooled, rows) for rows in zip(*(rows for _, rows in asked), strict=True)
    ]
    table = _table_tests(tests, list(pooled.design.terms))
    untested = [str(name) for name in table.index[table["p_value"].isna()]]
    notes = [without_test(untested)] if untested else []
    notes += without_location(pooled.design)
    title = f"D1: Wald tests of type {kind}, pooled"
    return NotedFrame.of(table, notes, title, labels=pooled.names_shown())


def _tested(pooled: PooledResults, rows: Sequence[FloatArray]) -> FTest:
    """Test that L b = 0 with the rows L (h, P') of each fit; NaN without determined
    rows.
    """
    stacked = np.array(rows)
    if not stacked.size or not np.isfinite(stacked).all():
        return FTest(np.nan, 0, np.nan, np.nan)
    rules = pooled.pooled
    Q = np.einsum("mhp,mp->mh", stacked, rules.Q)
    U = [
        CovarianceMatrix(one.quadratic(L))
        for one, L in zip(rules.U, stacked, strict=True)
    ]
    return d1(Pooled(Q, U, rules.combined(stacked[0]).df_complete))


def _table_tests(tests: list[FTest], names: list[str]) -> pd.DataFrame:
    rows = [
        (test.statistic, test.df, test.df_denom, test.p_value, test.riv)
        for test in tests
    ]
    frame = pd.DataFrame(rows, names, ["F", "df", "df_denom", "p_value", "riv"])
    return NotedFrame.of(frame, (), "D1: Wald test, pooled")
