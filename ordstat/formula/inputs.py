"""Arguments beside the formula: weights, offset, cluster, costs and subset, by column name or as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..checks import brief
from ..exceptions import DataError, OptionError
from .columns import Column, Columns, Factor, read
from .factors import Interpreter, parse_expression
from .frames import find_column, has_column, refuse, shown_labels
from .sample import HEAVIEST, LIGHTEST, extreme


class Given(NamedTuple):
    """An argument as a column, and the names under which its missing rows are counted."""

    column: Column
    names: tuple[str, ...]


def subset_mask(subset: Any, frame: pd.DataFrame) -> BoolArray:
    """(N,) rows to use, from a mask or a condition such as "judge != '1'"; a missing condition leaves the row out."""
    if isinstance(subset, str):
        value, _, missing = Interpreter(Columns(frame), {}).evaluate(parse_expression(subset))
        column = Column(value, missing)
    else:
        column = read(values_of(subset, "subset", frame.index))
    if isinstance(column.value, Factor) or column.value.dtype != bool:
        raise DataError("subset= must be a condition or a mask of booleans, one per row.")
    return column.value if column.missing is None else column.value & ~column.missing


def values_of(given: Any, role: str, index: pd.Index) -> pd.Series:
    """N values under the index of the data."""
    if isinstance(given, pd.Series):
        if not given.index.equals(index):
            raise DataError(
                f"{role}= must have the index of the data, and its index is not that of the data: reindex it, or give "
                f"{role}.to_numpy() to match rows by position."
            )
        return given
    if hasattr(given, "to_numpy"):
        given = given.to_numpy()
    values = given if hasattr(given, "dtype") else list(given) if isinstance(given, Iterable) else None
    shape = () if values is None else shape_of(values)
    if shape != (len(index),):
        got = brief(given) if values is None else "lists of different lengths" if shape is None else f"shape {shape}"
        raise DataError(f"{role}= must be a column name or {len(index)} values, one per row; got {got}.")
    return pd.Series(values, index=index, name=role)


def shape_of(values: Any) -> tuple[int, ...] | None:
    """The shape of nested lists or an array; None where the lists differ in length."""
    try:
        return tuple(np.shape(values))
    except ValueError:
        return None


def is_expression(text: str, frame: pd.DataFrame) -> bool:
    """Whether a text is arithmetic over columns, such as "w - 1", rather than the name of one."""
    return not has_column(frame, text) and any(mark in text for mark in "+-*/^(<>=&|")


def vector(given: Any, role: str, interpreter: Interpreter, rows: BoolArray | None, index: pd.Index) -> Given:
    """An argument by column name, by expression over the columns, or as N values (`rows` is the subset's mask)."""
    if not isinstance(given, str):
        series = values_of(given, role, index)
        return Given(read(series if rows is None else series[rows]), (role,))
    if role == "cluster" or not is_expression(given, interpreter.columns.frame):
        return Given(interpreter.columns.column(given, f"{role}="), (given,))
    value, names, missing = interpreter.evaluate(parse_expression(given))
    return Given(Column(value, missing), names)


def numbers(given: Given, role: str, index: pd.Index) -> FloatArray:
    """The values of an argument that has to be numeric; where missing they mean nothing."""
    value = given.column.value
    if isinstance(value, Factor) or value.ndim != 1:
        raise DataError(f"{role}= must be one column of numbers. Convert it with pd.to_numeric, or name another.")
    array, missing = value.astype(float), given.column.missing
    bad = ~np.isfinite(array) if missing is None else ~(np.isfinite(array) | missing)
    refuse(bad, index, f"{role}=", array, "; it must be finite.")
    return array


def weights_of(given: Given, index: pd.Index) -> FloatArray:
    """Case weights: finite, not negative, and of a size that a number of rows may have."""
    weights = numbers(given, "weights", index)
    column = "" if given.names == ("weights",) else f", column {shown_labels(given.names)}"
    refuse(weights < 0, index, "weights=", weights, ": weights must be 0 or more.")
    rest = f": a weight must be 0 or from {LIGHTEST:g} to {HEAVIEST:g}. Divide all weights by their mean."
    refuse(extreme(weights), index, "weights=", weights, rest, column)
    return weights


def cluster_codes(values: AnyArray | Factor) -> IntArray:
    """Codes 0..G-1 of clusters without missing rows, at least two of them."""
    raw = values.codes if isinstance(values, Factor) else values
    found, codes = np.unique(raw, return_inverse=True)
    if found.size < 2:
        raise DataError("cluster= has the same value in every row used; it must hold at least 2 clusters.")
    return codes.astype(np.intp)


def cost_columns(costs: Any) -> tuple[str, ...] | None:
    """The names, where cost= is a list of column names."""
    if isinstance(costs, str) or not isinstance(costs, Sequence) or not costs:
        return None
    return tuple(costs) if all(isinstance(name, str) for name in costs) else None


def cost_matrix(costs: Any, frame: pd.DataFrame, rows: BoolArray | None, index: pd.Index) -> FloatArray:
    """(N, K) costs of the rows in the subset, NaN where missing; `index` is that of all rows."""
    names = cost_columns(costs)
    if names is not None:
        columns = [read(find_column(frame, name, "cost=")).value for name in names]
        if any(isinstance(column, Factor) for column in columns):
            raise DataError("cost= must name columns of numbers.")
        return np.column_stack([np.asarray(column, dtype=float) for column in columns])
    if isinstance(costs, str):
        raise DataError(f"cost= must be a list of columns, one per level; got the single name {costs!r}.")
    if isinstance(costs, pd.DataFrame) and not costs.index.equals(index):
        raise DataError("cost= is a frame whose index is not that of the data: reindex it, or give cost.to_numpy().")
    try:
        matrix = np.asarray(costs, dtype=float)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(f"cost= must hold numbers in rows of one length: {error}.") from error
    n_given = len(index)
    if matrix.ndim != 2 or matrix.shape[0] != n_given:
        raise DataError(f"cost= must have {n_given} rows, one per row of the data; got shape {matrix.shape}.")
    return matrix if rows is None else matrix[rows]


def check_costs(costs: FloatArray, declared: int, used: IntArray, index: pd.Index) -> FloatArray:
    """Costs of the levels in use; one column per level, declared or used."""
    if costs.shape[1] not in (declared, used.size):
        raise DataError(f"cost= must have one column per level of the response, {used.size}; got {costs.shape[1]}.")
    refuse(np.asarray(np.isinf(costs).any(axis=1)), index, "cost=", "infinite", ".")
    return costs if costs.shape[1] == used.size else costs[:, used]


def check_cost_labels(cost: pd.DataFrame, levels: Sequence[Any], unused: Sequence[Any], by_row: bool) -> None:
    """Raise OptionError where the labels of a frame of costs are not the levels in their order.

    Columns numbered 0, 1, ... by default say nothing and are taken as they stand, and so are the rows of a matrix.
    `by_row` says that the rows are those of the data.
    """
    axes = {"columns": cost.columns} if by_row else {"rows": cost.index, "columns": cost.columns}
    for name, labels in axes.items():
        plain = isinstance(labels, pd.RangeIndex) and labels.equals(pd.RangeIndex(len(labels)))
        if not plain and [label for label in labels if label not in unused] != list(levels):
            raise OptionError(
                f"the {name} of cost= are labelled {list(labels)}, and the levels, lowest first, are {list(levels)}: "
                "put them in that order under those labels, or give cost.to_numpy() to have them taken as they stand."
            )
