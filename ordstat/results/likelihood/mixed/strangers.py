"""Groups of new data that the fit has not: told where it has none of them, which as a rule are the same ones written in
another type, and told apart, for rows of one share their effects."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...._typing import BoolArray, IntArray
from ....design.expressions import named
from ....design.frames import as_frame, find_column, has_column, shown_labels
from ....design.random_terms import RandomTerm
from ....exceptions import DataWarning


def tell_unknown_groups(terms: Sequence[RandomTerm], newdata: Any) -> None:
    """DataWarning where the columns of the groups are there, and none of their labels is known."""
    frame = as_frame(newdata)
    for term in terms:
        for factor, levels in zip(term.part.group.factors, term.levels, strict=True):
            for name in sorted(named(factor.tree)):
                came = [*find_column(frame, name, "a group").dropna().unique()] if has_column(frame, name) else []
                if came and set(came).isdisjoint(levels):
                    warnings.warn(_unknown(name, levels, came), DataWarning, stacklevel=2)
                    return


def groups_apart(term: RandomTerm, newdata: Any, complete: BoolArray) -> IntArray:
    """(n,) whole numbers below n, equal where complete rows have the same labels; all different without the columns."""
    frame, n = as_frame(newdata), int(complete.sum())
    names = sorted(set().union(*(named(factor.tree) for factor in term.part.group.factors)))
    if not all(has_column(frame, name) for name in names):
        return np.arange(n)
    apart = np.zeros(n, dtype=np.intp)
    for name in names:
        own = pd.factorize(find_column(frame, name, "a group")[complete], use_na_sentinel=False)[0]
        apart = np.unique(apart * (n + 1) + own, return_inverse=True)[1]
    return apart


def _unknown(name: str, levels: Sequence[object], came: Sequence[object]) -> str:
    return (
        f"no group of newdata is one of the fit: {name!r} has {shown_labels(levels, 3)} in the fit and "
        f"{shown_labels(came, 3)} in newdata. Predictions are averages over the groups of the population; "
        "re='marginal' gives them without this warning. Where they are groups of the fit, write them in the same type."
    )
