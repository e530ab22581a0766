"""Where effects are asked for: at all rows, at groups of them, at given values, or at a typical row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from ....exceptions import OptionError, warn
from ..parameters import listed
from .counterfactual import Population
from .grid import check_size, listed_values

#: What stands for all rows: numbers at this, factors at their most frequent level.
TYPICAL = ("mean", "median")
#: Columns that a table of effects has of its own.
_TAKEN = ("term", "contrast", "difference", "row", "threshold", "level")

#: What tells a place from others, and its rows.
Place = tuple[dict[str, Any], Population]


def places(everyone: Population, at: Any, by: Any) -> list[Place]:
    """The rows of every place, with what tells it from the others.

    Parameters
    ----------
    everyone : Population
    at : {"mean", "median", "rows"}, mapping or None
        "rows" stands for all of them: who asks takes them one by one.
    by : str or sequence of str, optional
    """
    names = listed(by)
    _check(everyone, at, names)
    groups = list(_groups(everyone, names))
    if isinstance(at, str):
        return [(labels, rows if at == "rows" else typical(rows, at)) for labels, rows in groups]
    values = {name: _values(everyone, name, given) for name, given in (at or {}).items()}
    check_size(values)
    points = [dict(zip(values, point, strict=True)) for point in product(*values.values())]
    return [(point | labels, rows.at(point)) for point in points for labels, rows in groups]


def typical(rows: Population, how: str) -> Population:
    """One row: numbers at their mean or median, factors at their most frequent level."""
    one = replace(rows, frame=rows.frame.iloc[:1], weights=np.ones(1))
    values = {name: _mode(rows, name) if name in rows.categories else rows.middle(name, how) for name in rows.variables}
    return one.at(values)


def _mode(rows: Population, name: str) -> Any:
    """The heaviest level, the first of equal ones."""
    column, levels = rows.frame[name].to_numpy(dtype=object), rows.categories[name]
    return levels[int(np.argmax([rows.weights[column == level].sum() for level in levels]))]


def _values(everyone: Population, name: str, given: Any) -> list[Any]:
    """The values that `at` has for a variable; of a number also its "mean" and "median"."""
    everyone.check(name)
    if name in everyone.categories:
        return listed_values(everyone, name, given)
    numbers = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    named = [everyone.middle(name, one) if isinstance(one, str) and one in TYPICAL else one for one in numbers]
    return listed_values(everyone, name, named)


def _check(everyone: Population, at: Any, by: Sequence[Any]) -> None:
    """OptionError where `at` or `by` cannot be."""
    known = at in (*TYPICAL, "rows") if isinstance(at, str) else isinstance(at, (Mapping, type(None)))
    if not known:
        raise OptionError(
            f"at must be 'mean', 'median', 'rows' or values of variables such as {{'age': [30, 60]}}; got {at!r}."
        )
    absent = [name for name in by if name not in everyone.frame.columns]
    if absent:
        raise OptionError(f"by names no column of the data: {', '.join(map(repr, absent))}.")
    if at == "rows" and by:
        raise OptionError("by= goes with averages; at='rows' gives every row by itself.")
    twice = [name for name in by if isinstance(at, Mapping) and name in at]
    if twice:
        raise OptionError(f"{twice[0]!r} is in at= and in by=: at sets all rows to a value, by takes rows as they are.")
    taken = [name for name in (*by, *(at if isinstance(at, Mapping) else ())) if name in _TAKEN]
    if taken:
        raise OptionError(f"{taken[0]!r} is a column of the table itself: rename that of the data.")


def _groups(everyone: Population, columns: Sequence[str]) -> Iterator[Place]:
    """The rows with each value of some columns, in order; all of them without."""
    if not columns:
        yield {}, everyone
        return
    rows_of = pd.Series(np.arange(len(everyone.frame)))
    keys = [everyone.frame[name].reset_index(drop=True) for name in columns]
    missing = int(np.any([key.isna().to_numpy() for key in keys], axis=0).sum())
    if missing:
        warn(f"{missing} of {len(rows_of)} rows have no value of by= and are in no group.")
    for key, rows in rows_of.groupby(keys, observed=True, sort=True):
        group = np.asarray(rows)
        if everyone.weights[group].sum() > 0:
            yield dict(zip(columns, key if isinstance(key, tuple) else (key,), strict=True)), everyone.among(group)
