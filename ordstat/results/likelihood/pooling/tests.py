"""Pooled Wald tests (D1): linear hypotheses, and a smaller model against a larger one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ....assess.likelihood.rubin import FTest, d1
from ....assess.likelihood.wald import wald_test
from ....exceptions import OptionError
from ....words import told_arguments
from ...report.noted import NotedFrame
from ..comparison import comparable, described, nested_in
from ..fitted import FittedLikelihood
from ..nested_wald import further
from ..wald_tests import JOINT, linear_hypotheses
from .estimates import PooledEstimates
from .same_model import in_words


@told_arguments(method="it without method=, which gives D1")
def pooled_hypothesis_tests(r: PooledEstimates, hypotheses: str) -> pd.DataFrame:
    """Tests of linear hypotheses on the parameters: "x1 = 0, x2 = 0"."""
    names, L, target = linear_hypotheses(r.fits[0], hypotheses)
    combined = r.pooled.combined(L)
    shifted = replace(combined, Q=combined.Q - target)
    tests = [d1(shifted.combined(row[None])) for row in np.eye(len(L))]
    difference, errors = shifted.estimate, shifted.std_error
    if len(L) > 1:
        if wald_test(np.eye(len(L)), np.zeros(len(L)), shifted.within)[1] < len(L):
            raise OptionError(f"hypotheses must not follow from each other; got {hypotheses!r}. Leave one of them out.")
        tests.append(d1(shifted))
        names, difference, errors = [*names, JOINT], np.append(difference, np.nan), np.append(errors, np.nan)
    table = _table(tests, names)
    table.insert(0, "difference", difference)
    table.insert(1, "std_error", errors)
    return table


def _table(tests: list[FTest], names: list[str]) -> pd.DataFrame:
    rows = [(test.statistic, test.df, test.df_denom, test.p_value, test.riv) for test in tests]
    frame = pd.DataFrame(rows, names, ["F", "df", "df_denom", "p_value", "riv"])
    return NotedFrame.of(frame, (), "D1: Wald test, pooled")


@told_arguments(method="it without method=, which gives D1")
def pooled_model_test(r: PooledEstimates, other: PooledEstimates) -> pd.DataFrame:
    """Test of a smaller model against a larger one, both pooled over the same imputed data sets."""
    small, large = _ordered(r, other)
    for pair in zip(small.fits, large.fits, strict=True):
        _check_nested(*pair)
    places = [further(*pair, "Write the hypothesis for .test().") for pair in zip(small.fits, large.fits, strict=True)]
    estimated = np.flatnonzero(~large.fits[0].fit.aliased)
    test = d1(large.pooled.combined(np.eye(estimated.size)[np.isin(estimated, places[0])]))
    return _table([test], [f"{described(small.fits[0])} against {described(large.fits[0])}"])


def _ordered(r: PooledEstimates, other: Any) -> tuple[PooledEstimates, PooledEstimates]:
    if not isinstance(other, PooledEstimates):
        raise OptionError(
            f"anova compares pooled fits with pooled fits; got {in_words(other)}. Give pool(...) of the others."
        )
    if r.n_imputations != other.n_imputations:
        raise OptionError(
            f"anova needs both models fitted to the same imputed data sets; got {r.n_imputations} and "
            f"{other.n_imputations} fits."
        )
    small, large = sorted((r, other), key=lambda one: one.fits[0].edf)
    return small, large


def _check_nested(small: FittedLikelihood, large: FittedLikelihood) -> None:
    """OptionError for models that are not nested on the same rows."""
    comparable([small, large])
    if not nested_in(small, large):
        raise OptionError(
            f"anova needs nested models, fitted to the same imputed data sets: {described(small)!r} and "
            f"{described(large)!r} are not nested."
        )
    if large.edf == small.edf:
        raise OptionError(f"anova needs a smaller and a larger model; {described(small)!r} and the other are alike.")
