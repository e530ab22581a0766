"""Groups of new data that the fit has not: told where it has none of them, which as a rule are the same ones written in
another type, and told apart, for rows of one share their effects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, IntArray
from .expressions import variables
from .frames import as_frame, find_column, has_column, shown_labels
from .parse import RandomPart


def unknown_labels(part: RandomPart, levels: Sequence[tuple[object, ...]], data: Any) -> str:
    """In words the first column of the group that is there and has no label of the fit; empty where there is none."""
    frame = as_frame(data)
    for factor, known in zip(part.group.factors, levels, strict=True):
        for name in sorted(variables(factor.tree)):
            came = [*find_column(frame, name, "a group").dropna().unique()] if has_column(frame, name) else []
            if came and set(came).isdisjoint(known):
                return f"{name!r} has {shown_labels(known, 3)} in the fit and {shown_labels(came, 3)} in newdata"
    return ""


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
