"""The balanced grid that marginal means are averaged over: its values, its cells and the weights in each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
import pandas as pd

from ...._typing import FloatArray
from ....checks import mapping, one_of, whole
from ....exceptions import OptionError
from ....model.sample import Rows
from ..parameters import listed
from .counterfactual import AT, Population
from .specs import Specs

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
