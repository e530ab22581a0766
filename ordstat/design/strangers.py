"""Groups of new data that the fit has not: told where it has none of them, which as a rule are the same ones written in
another type, and told apart, for rows of one share their effects.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, IntArray
from ..exceptions import OrdstatError
from .columns import Columns, factor_of
from .expressions import Expression, variables
from .frames import as_frame, find_column, has_column, shown_labels
from .interpreter import Interpreter
from .parse import RandomPart


def unknown_labels(part: RandomPart, levels: Sequence[tuple[object, ...]], data: Any) -> str:
    """In words the first column of the group that is there and has no label of the fit; empty where there is none."""
    frame = as_frame(data)
    for factor, known in zip(part.group.factors, levels, strict=True):
        came = _labels(factor, frame)
        if came and set(came).isdisjoint(known):
            return f"{factor.label!r} has {shown_labels(known, 3)} in the fit and {shown_labels(came, 3)} in newdata"
    return ""


def _labels(factor: Expression, frame: pd.DataFrame) -> list[object]:
    """What a factor of groups is in new data, of f(g) its values; empty where that cannot be told without the fit."""
    names = sorted(variables(factor.tree))
    if not all(has_column(frame, name) for name in names):
        return []
    if isinstance(factor.tree, ast.Name):
        return [*find_column(frame, names[0], "a group").dropna().unique()]
    interpreter = Interpreter(Columns(frame), {})
    try:
        value, _, missing = interpreter.evaluate(factor)
        found = factor_of(value, factor.label)
    except OrdstatError:  # a function of the user's own
        return []
    if interpreter.states:  # one that was fitted to the rows of the fit
        return []
    codes = found.codes if missing is None else found.codes[~missing]
    return [found.levels[code] for code in np.unique(codes[codes >= 0])]


def groups_apart(part: RandomPart, data: Any, complete: BoolArray) -> IntArray:
    """(n,) whole numbers below n, equal where complete rows have the same labels; all different without the columns."""
    frame, n = as_frame(data), int(complete.sum())
    names = sorted(set().union(*(variables(factor.tree) for factor in part.group.factors)))
    if not all(has_column(frame, name) for name in names):
        return np.arange(n)
    apart = np.zeros(n, dtype=np.intp)
    for name in names:
        own = pd.factorize(find_column(frame, name, "a group")[complete], use_na_sentinel=False)[0]
        apart = np.unique(apart * (n + 1) + own, return_inverse=True)[1]
    return apart
