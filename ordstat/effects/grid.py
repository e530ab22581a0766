"""Reference grids: variables, values and where effects are asked for."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import mapping, one_of, whole
from ..exceptions import OptionError, warn
from ..formula.sample import Rows
from ..likelihood.parameters import listed, texts
from .contrasts import named_method
from .counterfactual import AT, Population

_NAME = re.compile(r"`([^`]+)`|([^\s`*:+]+)")


@dataclass(frozen=True)
class Specs:
    """The variables of the means, those that groups are made by, and the contrasts asked for with them."""

    main: tuple[str, ...]
    by: tuple[str, ...]
    method: str | None = None

    @property
    def names(self) -> list[str]:
        """All variables, those of the groups last."""
        return [*self.main, *self.by]


def read_specs(variables: str | Sequence[str], by: Any, response: str, ask: str = "emmeans") -> Specs:
    """The specs of names or of a formula.

    Raises
    ------
    OptionError
        For a formula that cannot be read, the response among the variables, or no variable that is not in `by`.

    Examples
    --------
    >>> read_specs("pairwise ~ a * b | c", None, "y")
    Specs(main=('a', 'b'), by=('c',), method='pairwise')
    """
    groups, method = list(dict.fromkeys(texts("by", by))), None
    if isinstance(variables, str) and "~" in variables:
        left, main, inside = _sides(variables)
        method = named_method(left) if left else None
        groups += [name for name in inside if name not in groups]
    else:
        main = texts("variables", variables)
    own = tuple(dict.fromkeys(name for name in main if name not in groups))
    if not own:
        raise OptionError(f"{ask} needs a variable of the formula that is not in by=.")
    if response in (*own, *groups):
        raise OptionError(
            f"{response!r} is the response: leave it out. With scale='prob' there is a row for each of its levels, and "
            "contrasts are taken within them."
        )
    return Specs(own, tuple(groups), method)


def _sides(formula: str) -> tuple[str, list[str], list[str]]:
    """What stands before "~", between it and "|", and after."""
    left, _, right = formula.partition("~")
    main, _, inside = right.partition("|")
    if "~" in right or "|" in inside or ("|" in right and not inside.strip()):
        raise OptionError(f"the formula of means must be like '~ a', '~ a * b' or 'pairwise ~ a | b'; got {formula!r}.")
    return left.strip(), _variables(main), _variables(inside)


def _variables(text: str) -> list[str]:
    return [quoted or plain for quoted, plain in _NAME.findall(text)]


#: What a number can be held at.
REDUCE = ("weighted_mean", "mean")
#: Rows of a grid, at most.
_LARGEST = 1_000_000


def grid_values(
    rows: Population, names: Sequence[str], at: Mapping[str, Any], cov_keep: Any, cov_reduce: str
) -> dict[str, list[Any]]:
    """Values of every variable: those of `at`, all levels of factors, and of numbers the mean or the distinct values.

    A number keeps all its values if `cov_keep` names it, or holds a count that is not below how many they are.
    """
    one_of("cov_reduce", cov_reduce, REDUCE)
    keep = listed(cov_keep)
    kept = [one for one in keep if isinstance(one, str)]
    counts = [
        whole("cov_keep", n, 0, also=", names of variables, or both in a list") for n in keep if not isinstance(n, str)
    ]
    for name in (*names, *at, *kept):
        rows.check(name)
    values: dict[str, list[Any]] = {}
    for name in (*names, *(other for other in rows.variables if other not in names)):
        if name in at:
            values[name] = listed_values(rows, name, at[name])
        elif name in rows.categories:
            values[name] = list(rows.categories[name])
        else:
            distinct = rows.distinct(name)
            whole_set = name in kept or len(distinct) <= max(counts, default=0)
            values[name] = distinct if whole_set else [rows.mean(name, weighted=cov_reduce == "weighted_mean")]
    return values


def listed_values(rows: Population, name: str, given: Any) -> list[Any]:
    """The values that `at` has for a variable."""
    values = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    if not values:
        raise OptionError(f"at= gives no value of {name!r}.")
    for value in values:
        rows.check_level(name, value)
    return values


def check_size(values: Mapping[str, Sequence[Any]]) -> None:
    """OptionError for a grid that is too large to be formed."""
    size = math.prod(len(column) for column in values.values())
    if size > _LARGEST:
        widest = sorted(values, key=lambda name: -len(values[name]))[:3]
        raise OptionError(
            f"the grid of all levels has {size:,} rows, and at most {_LARGEST:,} are averaged: hold variables at a "
            f"value with at=, such as {', '.join(map(repr, widest))}."
        )


def on_one_scale(rows: Rows) -> Rows:
    """Rows with the mean of their log scales in each, so that their latent variables have one unit."""
    columns = None if rows.scale is None else np.tile(rows.scale.mean(axis=0), (rows.n, 1))
    offset = None if rows.scale_offset is None else np.full(rows.n, rows.scale_offset.mean())
    return replace(rows, scale=columns, scale_offset=offset)


@dataclass(frozen=True, eq=False)
class Grid:
    """All combinations of some values of the variables.

    Attributes
    ----------
    population : Population
    names : tuple of str
        Variables of the cells.
    values : mapping of str to list
        Values of every variable; those of the cells come first, so that each cell is so many rows on end.
    given : frozenset of str
        Variables whose values the user gave.
    """

    population: Population
    names: tuple[str, ...]
    values: Mapping[str, list[Any]]
    given: frozenset[str]

    @cached_property
    def cells(self) -> pd.DataFrame:
        """(C, ...) the combinations of the variables of the cells."""
        return self.population.grid({name: self.values[name] for name in self.names})[list(self.names)]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """All rows."""
        return self.population.grid(self.values)

    @property
    def averaged(self) -> list[str]:
        """Variables that the means are averaged over."""
        return [name for name, column in self.values.items() if name not in self.names and len(column) > 1]

    @property
    def held(self) -> dict[str, Any]:
        """Variables that have one value."""
        return {name: column[0] for name, column in self.values.items() if len(column) == 1}

    def by_cell(self, weights: str) -> Iterator[tuple[slice, FloatArray]]:
        """The rows of each cell, with their weights."""
        shares = cell_weights(self, weights)
        size = shares.shape[1]
        return ((slice(k * size, (k + 1) * size), row) for k, row in enumerate(shares))


def grid_of(rows: Population, specs: Specs, at: Any, cov_keep: Any, cov_reduce: str) -> Grid:
    """The grid with cells for some variables; OptionError where it is too large."""
    at = mapping("at", at, AT)
    values = grid_values(rows, specs.names, at, cov_keep, cov_reduce)
    check_size(values)
    return Grid(rows, tuple(specs.names), values, frozenset(at))


#: Weights (C, S) in the cells from the frequencies (C, levels of the first other variable, ...).
WEIGHTS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "equal": np.ones_like,
    "proportional": lambda counts: np.broadcast_to(counts.sum(axis=0), counts.shape),
    "outer": lambda counts: np.broadcast_to(_outer(counts.sum(axis=0)), counts.shape),
    "cells": lambda counts: counts,
    "flat": lambda counts: (counts > 0.0).astype(np.float64),
}


def _outer(counts: FloatArray) -> FloatArray:
    """The product of the margins of a table."""
    axes = range(counts.ndim)
    margins = [counts.sum(axis=tuple(k for k in axes if k != axis), keepdims=True) for axis in axes]
    return np.asarray(reduce(np.multiply, margins, np.ones(())))


def cell_weights(grid: Grid, weights: str) -> FloatArray:
    """(C, S) what each row of each cell weighs, summing to 1; NaN in cells where the data have no rows."""
    n_cells = len(grid.cells)
    if weights == "equal":  # no table of the rows is needed
        size = math.prod(len(column) for column in grid.values.values()) // n_cells
        return np.full((n_cells, size), 1.0 / size)
    others = [len(column) for name, column in grid.values.items() if name not in grid.names]
    shares = WEIGHTS[weights](frequencies(grid).reshape(n_cells, *others)).reshape(n_cells, -1)
    with np.errstate(invalid="ignore"):
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def frequencies(grid: Grid) -> FloatArray:
    """Weights of the rows of the data at each combination of the values, one axis a variable.

    Rows are told apart by factors and by the numbers that keep their own values; numbers at a mean or at given values
    are the same everywhere.
    """
    rows = grid.population
    told = [name for name in grid.values if name in rows.categories or _kept(grid, name)]
    for name in told:
        if len(set(grid.values[name])) < len(grid.values[name]):
            raise OptionError(f"at= gives a value of {name!r} twice, so that rows cannot be counted: name it once.")
    codes = [pd.Index(grid.values[name]).get_indexer(pd.Index(rows.frame[name])) for name in told]
    inside = np.all([code >= 0 for code in codes], axis=0) if told else np.ones(len(rows.frame), dtype=np.bool_)
    table = np.zeros([len(grid.values[name]) for name in told])
    np.add.at(table, tuple(code[inside] for code in codes), rows.weights[inside])
    shape = [len(column) if name in told else 1 for name, column in grid.values.items()]
    return np.broadcast_to(table.reshape(shape), [len(column) for column in grid.values.values()])


def _kept(grid: Grid, name: str) -> bool:
    return name not in grid.given and len(grid.values[name]) > 1


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
