"""Reference grids, and the places that effects are evaluated at."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..checks import listed, mapping, variable_names
from ..exceptions import OptionError, warn
from ..formula.sample import Rows
from .contrasts import named_method
from .counterfactual import AT, Population

_NAME = re.compile(r"`([^`]+)`|([^\s`*:+]+)")
#: Largest number of rows of a grid.
_LARGEST = 1_000_000


@dataclass(frozen=True)
class Specs:
    """The variables of the means, of the groups, and the requested contrasts."""

    main: tuple[str, ...]
    by: tuple[str, ...]
    method: str | None = None

    @property
    def names(self) -> list[str]:
        """All variables, with the groups last."""
        return [*self.main, *self.by]

    def with_outer(self, nesting: Nesting) -> Specs:
        """With the factors that a variable is nested in, beside it, as R's emmeans."""
        by = with_outer(self.by, nesting, ())
        return replace(self, main=with_outer(self.main, nesting, by), by=by)


#: Factor -> the factors that it is nested in.
Nesting = Mapping[str, tuple[str, ...]]


def with_outer(
    names: Sequence[str], nesting: Nesting, without: Sequence[str]
) -> tuple[str, ...]:
    """Names, each followed by the factors that it is nested in, except those in
    `without`.
    """
    both = dict.fromkeys(
        one for name in names for one in (name, *nesting.get(name, ()))
    )
    return tuple(name for name in both if name in names or name not in without)


def nesting_of(rows: Population, terms: Sequence[frozenset[str]]) -> Nesting:
    """The factors that are nested in others, by the rules of R's emmeans.

    By the data: a level of the inner factor occurs with one level of the outer one.
    By the formula: a factor without a term of its own occurs only within another
    term, as b in `a + a:b`.

    Parameters
    ----------
    rows : Population
    terms : sequence of frozenset of str
        Variables of each term of the location.
    """
    factors = [name for name, levels in rows.categories.items() if len(levels) > 1]
    used = rows.frame.loc[rows.weights > 0, factors]
    codes = {name: pd.factorize(used[name])[0] for name in factors}
    found: dict[str, list[str]] = {}
    for inner in factors:
        others = [
            name
            for name in factors
            if name != inner and inner not in found.get(name, ())
        ]
        outers = [name for name in others if _is_function(codes[inner], codes[name])]
        if frozenset([inner]) not in terms:
            around = [term - {inner} for term in terms if inner in term]
            around = [term for term in around if term in terms and inner not in term]
            smallest = [
                term for term in around if not any(one < term for one in around)
            ]
            outers += sorted(frozenset().union(*smallest) & set(factors) - set(outers))
        if outers:
            found[inner] = outers
    nesting = {}
    for inner, outers in found.items():
        # those that the outer factors are nested in count too
        around_inner: list[str] = []
        for name in outers:
            around_inner += [name, *found.get(name, ())]
        distinct = dict.fromkeys(around_inner)
        distinct.pop(inner, None)
        nesting[inner] = tuple(distinct)
    return nesting


def read_specs(
    variables: str | Sequence[str], by: Any, response: str, ask: str
) -> Specs:
    """The specs of names or of a formula.

    Raises
    ------
    OptionError
        The formula cannot be read, the response is among the variables, all
        variables are in `by`, or one has the name of a column of the table.

    Examples
    --------
    >>> read_specs("pairwise ~ a * b | c", None, "y", ask="emmeans")
    Specs(main=('a', 'b'), by=('c',), method='pairwise')
    """
    groups = list(dict.fromkeys(variable_names("by", by)))
    method = None
    if isinstance(variables, str) and "~" in variables:
        left, _, right = variables.partition("~")
        first, _, inside = right.partition("|")
        if "~" in right or "|" in inside or ("|" in right and not inside.strip()):
            raise OptionError(
                "the formula of means must be like '~ a', '~ a * b' or 'pairwise ~ a |"
                f" b'; got {variables!r}."
            )
        method = named_method(left.strip()) if left.strip() else None
        names, more = (
            [quoted or plain for quoted, plain in _NAME.findall(text)]
            for text in (first, inside)
        )
        groups += [name for name in more if name not in groups]
        overall = first.strip() == "1"
        names = [] if overall else names
    else:
        names = variable_names("variables", variables)
        overall = False
    main = tuple(dict.fromkeys(name for name in names if name not in groups))
    if not main and not overall:
        raise OptionError(f"{ask} needs a variable of the formula that is not in by=.")
    if response in (*main, *groups):
        raise OptionError(
            f"{response!r} is the response: leave it out. With scale='prob' there is a"
            " row for each of its levels, and contrasts are taken within them."
        )
    _require_other_names([*main, *groups], _NUMBERS)
    return Specs(main, tuple(groups), method)


def _require_other_names(names: Iterable[str], taken: Sequence[str]) -> None:
    """OptionError for a variable that has the name of a column of the table."""
    for name in names:
        if name in taken:
            raise OptionError(
                f"{name!r} is a column of the table itself: rename that of the data."
            )


def _listed_values(rows: Population, name: str, given: Any) -> list[Any]:
    """The values of a variable in `at`; "mean" and "median" of a number are
    computed.
    """
    if isinstance(given, Iterable) and not isinstance(given, str):
        values = list(given)
    else:
        values = [given]
    if name not in rows.categories:
        values = [
            rows.middle(name, one) if one in ("mean", "median") else one
            for one in values
        ]
    if not values:
        raise OptionError(f"at= gives no value of {name!r}.")
    for value in values:
        rows.check_level(name, value)
    return values


def _check_size(values: Mapping[str, Sequence[Any]]) -> None:
    """OptionError for a grid that is too large."""
    size = math.prod(len(column) for column in values.values())
    if size > _LARGEST:
        widest = sorted(values, key=lambda name: -len(values[name]))[:3]
        raise OptionError(
            f"the grid of all levels has {size:,} rows, and at most {_LARGEST:,} are"
            " averaged: hold variables at a value with at=, such as"
            f" {', '.join(map(repr, widest))}."
        )


def on_one_scale(rows: Rows) -> Rows:
    """Rows with the mean of their log scales, so that latent variables have
    one unit.
    """
    if rows.scale is None:
        columns = None
    else:
        columns = np.tile(rows.scale.mean(axis=0), (rows.n, 1))
    if rows.scale_offset is None:
        offset = None
    else:
        offset = np.full(rows.n, rows.scale_offset.mean())
    return replace(rows, scale=columns, scale_offset=offset)


def _is_function(inner: IntArray, outer: IntArray) -> bool:
    """Whether each code of `inner` occurs with one code of `outer`."""
    last = np.zeros(int(inner.max(initial=0)) + 1, dtype=np.intp)
    last[inner] = outer
    return bool((last[inner] == outer).all())


@dataclass(frozen=True, eq=False)
class ReferenceGrid:
    """All combinations of some values of the variables.

    Attributes
    ----------
    population : Population
    names : tuple of str
        Variables of the cells.
    values : mapping of str to list
        Values of every variable; variables of the cells come first, so that rows of a
        cell are contiguous.
    nesting : mapping of str to tuple of str
        Nested factors: a combination of their levels that has no row is left out.
    """

    population: Population
    names: tuple[str, ...]
    values: Mapping[str, list[Any]]
    nesting: Nesting

    @cached_property
    def cells(self) -> pd.DataFrame:
        """(C, ...) the combinations of the variables of the cells."""
        cells = self.population.grid({name: self.values[name] for name in self.names})
        return cells[list(self.names)][self.occurring].reset_index(drop=True)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """All rows of the cells."""
        frame = self.population.grid(self.values)
        kept = np.repeat(self.occurring, self.kept.shape[1])
        return frame if kept.all() else frame[kept].reset_index(drop=True)

    @cached_property
    def kept(self) -> BoolArray:
        """(all cells, S) rows whose levels of nested factors occur together."""
        kept = np.ones(self.shape, dtype=np.bool_)
        for inner in self._nested:
            kept &= self._together(inner)
        return kept.reshape(self.n_cells, -1)

    @property
    def occurring(self) -> BoolArray:
        """(all cells,) those with a row that is kept."""
        return np.asarray(self.kept.any(axis=1))

    @cached_property
    def equal(self) -> FloatArray:
        """(C, S) equal weights: of inner levels within the outer ones, then
        of these.
        """
        weights = np.ones(self.shape)
        for inner in self._nested:
            if inner not in self.names:
                together = self._together(inner)
                number = together.sum(
                    axis=list(self.values).index(inner), keepdims=True
                )
                weights *= together / np.maximum(number, 1)
        return (weights.reshape(self.kept.shape) * self.kept)[self.occurring]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values of each variable."""
        return tuple(len(column) for column in self.values.values())

    @property
    def n_cells(self) -> int:
        """The number of combinations of the variables of the cells, with and without
        rows.
        """
        return math.prod(len(self.values[name]) for name in self.names)

    @property
    def _nested(self) -> list[str]:
        return [name for name in self.values if name in self.nesting]

    def _together(self, inner: str) -> BoolArray:
        """Whether levels of a nested factor and of those around it occur, one axis per
        variable.
        """
        return _frequencies(self, [inner, *self.nesting[inner]]) > 0.0


def grid_of(rows: Population, specs: Specs, at: Any, nesting: Nesting) -> ReferenceGrid:
    """The grid with cells for some variables; OptionError if it is too large.

    Values come from `at`; by default all levels of factors, and the weighted mean of
    numbers.
    """
    at = mapping("at", at, AT)
    for name in (*specs.names, *at):
        rows.check(name)
    values: dict[str, list[Any]] = {}
    for name in dict.fromkeys((*specs.names, *rows.variables)):
        if name in at:
            values[name] = _listed_values(rows, name, at[name])
        elif name in rows.categories:
            values[name] = list(rows.categories[name])
        else:
            values[name] = [rows.mean(name)]
    _check_size(values)
    return ReferenceGrid(rows, tuple(specs.names), values, nesting)


#: Weights (C, S) in the cells from the frequencies (C, levels of the first other
#: variable, ...).
WEIGHTS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "equal": np.ones_like,
    "proportional": lambda counts: np.broadcast_to(counts.sum(axis=0), counts.shape),
    "cells": lambda counts: counts,
}


def cell_weights(grid: ReferenceGrid, weights: str) -> FloatArray:
    """(C, S) the weight of each row of each cell, summing to 1; NaN for empty cells."""
    if weights == "equal":  # needs no table of the rows unless factors are nested
        shares = grid.equal
    else:
        others = [
            len(column)
            for name, column in grid.values.items()
            if name not in grid.names
        ]
        factors = [name for name in grid.values if name in grid.population.categories]
        counts = _frequencies(grid, factors).reshape(grid.n_cells, *others)
        shares = WEIGHTS[weights](counts).reshape(grid.kept.shape) * grid.kept
        shares = shares[grid.occurring]
    with np.errstate(invalid="ignore"):
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _frequencies(grid: ReferenceGrid, names: Sequence[str]) -> FloatArray:
    """Weights of the rows of the data at each combination of the levels of factors, one
    axis per variable.
    """
    rows = grid.population
    values = grid.values
    names = [name for name in values if name in names]
    for name in names:
        if len(set(values[name])) < len(values[name]):
            raise OptionError(
                f"at= gives a value of {name!r} twice, so rows cannot be counted. Name"
                " it once."
            )
    codes = [
        pd.Index(values[name]).get_indexer(pd.Index(rows.frame[name])) for name in names
    ]
    if names:
        inside = np.all([code >= 0 for code in codes], axis=0)
    else:
        inside = np.ones(len(rows.frame), dtype=np.bool_)
    table = np.zeros([len(values[name]) for name in names])
    np.add.at(table, tuple(code[inside] for code in codes), rows.weights[inside])
    shape = [len(column) if name in names else 1 for name, column in values.items()]
    return np.broadcast_to(table.reshape(shape), grid.shape)


#: Columns of numbers in tables of means and effects.
_NUMBERS = ("estimate", "std_error", "df", "statistic", "p_value", "lower", "upper")
#: Columns of a table of effects.
_TAKEN = (
    "term",
    "contrast",
    "difference",
    "row",
    "threshold",
    "level",
    "measure",
    *_NUMBERS,
)
#: The labels of a place, and its rows.
Group = tuple[dict[str, Any], Population]


def places_of(everyone: Population, at: Any, by: Any) -> list[Group]:
    """Labels and rows of every place; at="rows" is one place with all rows.

    Parameters
    ----------
    everyone : Population
    at : {"mean", "median", "rows"}, mapping or None
    by : str or sequence of str, optional
    """
    names = listed(by)
    _check(everyone, at, names)
    groups = _groups(everyone, names)
    if isinstance(at, str):
        return [
            (labels, rows if at == "rows" else _typical(rows, at))
            for labels, rows in groups
        ]
    for name in at or {}:
        everyone.check(name)
    values = {
        name: _listed_values(everyone, name, given)
        for name, given in (at or {}).items()
    }
    _check_size(values)
    points = [
        dict(zip(values, point, strict=True)) for point in product(*values.values())
    ]
    return [
        (point | labels, rows.at(point)) for point in points for labels, rows in groups
    ]


def _typical(rows: Population, how: str) -> Population:
    """One row: numbers at their mean or median, factors at their most
    frequent level.
    """
    values = {}
    for name in rows.variables:
        if name in rows.categories:
            weights = (
                pd.Series(rows.weights)
                .groupby(rows.frame[name].to_numpy(dtype=object))
                .sum()
            )
            values[name] = max(
                rows.categories[name], key=lambda level: weights.get(level, 0.0)
            )
        else:
            values[name] = rows.middle(name, how)
    return replace(rows, frame=rows.frame.iloc[:1], weights=np.ones(1)).at(values)


def _check(everyone: Population, at: Any, by: Sequence[Any]) -> None:
    """OptionError for unknown or conflicting `at` and `by`."""
    if not (
        at in ("mean", "median", "rows")
        if isinstance(at, str)
        else isinstance(at, (Mapping, type(None)))
    ):
        raise OptionError(
            "at must be 'mean', 'median', 'rows' or values of variables such as"
            f" {{'age': [30, 60]}}; got {at!r}."
        )
    given = list(at) if isinstance(at, Mapping) else []
    for name in by:
        if not isinstance(name, Hashable) or name not in everyone.frame.columns:
            raise OptionError(f"by names no column of the data: {name!r}.")
        if name in given:
            raise OptionError(
                f"{name!r} must not be in both: at= sets its value, by= keeps that of"
                " each row."
            )
    if at == "rows" and by:
        raise OptionError("by= needs averages; at='rows' gives every row separately.")
    _require_other_names((*by, *given), _TAKEN)


def _groups(everyone: Population, columns: Sequence[str]) -> list[Group]:
    """The rows with each value of some columns, in order."""
    if not columns:
        return [({}, everyone)]
    rows_of = pd.Series(np.arange(len(everyone.frame)))
    keys = [everyone.frame[name].reset_index(drop=True) for name in columns]
    missing = int(np.any([key.isna().to_numpy() for key in keys], axis=0).sum())
    if missing:
        warn(
            f"{missing} of {len(rows_of)} rows have no value of by= and are in no"
            " group."
        )
    groups = []
    for key, rows in rows_of.groupby(keys, observed=True, sort=True):
        group = np.asarray(rows)
        if everyone.weights[group].sum() > 0:
            labels = dict(
                zip(columns, key if isinstance(key, tuple) else (key,), strict=True)
            )
            groups.append((labels, everyone.among(group)))
    return groups
