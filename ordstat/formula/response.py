"""The response: its labels, their order and codes; several ordered columns."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from .._typing import IntArray
from ..checks import brief
from ..exceptions import DataError
from .columns import Column, Factor, doubtful_response, factor_of, matched, read
from .frames import find_column, plain, shown_labels

_FEW = 30  # distinct values that are not whole numbers beyond which a response is taken for continuous

#: A text that is a number.
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")


@dataclass(frozen=True, eq=False)
class Response:
    """A response before any row is left out.

    Attributes
    ----------
    name : str
    codes : (N,), -1 where missing
    declared : tuple
        All labels in order, with or without rows.
    notes : tuple of str
    """

    name: str
    codes: IntArray
    declared: tuple[Any, ...]
    notes: tuple[str, ...] = ()


def read_response(column: Column, name: str, levels: tuple[Any, ...] | None) -> Response:
    """Codes and labels of a response.

    Ordered categoricals keep their order; numbers and booleans sort; anything else needs `levels`.

    Raises
    ------
    DataError
        For text or unordered categories without `levels`, values outside `levels`, a continuous response.
    """
    factor = _factor(column, name)
    if levels is not None:
        return Response(name, _by_levels(factor, levels, name), levels)
    if isinstance(column.value, Factor) and not factor.ordered and factor.levels:
        raise _unordered(name, factor.levels)
    note = _check_numbers(factor.levels, name) if isinstance(column.value, np.ndarray) else ()
    return Response(name, factor.codes, factor.levels, (*note, *doubtful_response(factor.levels, name)))


def _factor(column: Column, name: str) -> Factor:
    """Codes and the sorted (or declared) labels, before `levels` are looked at."""
    factor = factor_of(column.value, name)
    codes = factor.codes.astype(np.intp)
    return replace(factor, codes=codes if column.missing is None else np.where(column.missing, -1, codes))


def _check_numbers(labels: tuple[Any, ...], name: str) -> tuple[str, ...]:
    if not any(isinstance(label, float) for label in labels):
        return ()
    if len(labels) > _FEW:
        raise DataError(
            f"The response {name!r} looks continuous ({len(labels)} distinct values such as {labels[0]!r}): "
            "cut it into ordered classes with pd.cut, or give levels=[...] to take every value as a rank."
        )
    return (f"Response {name} holds {len(labels)} values that are not whole numbers; they are taken as ranks.",)


def _too_few(name: str, labels: tuple[Any, ...]) -> DataError:
    found = f"all have {labels[0]!r}" if labels else "have none"
    return DataError(f"The response {name!r} needs rows of at least 2 levels; the rows used {found}.")


def _unordered(name: str, labels: tuple[Any, ...]) -> DataError:
    if len(labels) < 2:
        return _too_few(name, labels)
    if all(isinstance(label, str) and _NUMBER.fullmatch(label.strip()) for label in labels):
        shown = shown_labels(sorted(labels, key=float))
        return DataError(
            f"The response {name!r} is text that reads as numbers: {shown}. Make numbers of it, data[{name!r}] = "
            f"pd.to_numeric(data[{name!r}]), or give the texts in order, as levels=[{shown}]."
        )
    shown = shown_labels(labels)
    return DataError(
        f"The response {name!r} has labels without an order: {shown}. Say which is lowest, either with "
        f"levels=[{shown}] put in order, or with "
        f"data[{name!r}] = pd.Categorical(data[{name!r}], categories=[{shown}], ordered=True) put in order."
    )


def check_levels(levels: Any) -> tuple[Any, ...]:
    """The levels= argument as a tuple of different labels."""
    unordered = isinstance(levels, (str, bytes, set, frozenset, Mapping)) or not isinstance(levels, Iterable)
    if unordered or not all(isinstance(label, Hashable) for label in levels):
        kind = "a set has no order" if isinstance(levels, (set, frozenset)) else f"got {brief(levels)}"
        kind = "got a mapping; rename the labels in the data first" if isinstance(levels, Mapping) else kind
        raise DataError(f"levels= must be a list of labels in order, lowest first; {kind}.")
    labels = tuple(plain(label) for label in levels)
    if any(label is None or label is pd.NA or label != label for label in labels):
        raise DataError(
            "levels= names a missing value (None or NaN). Drop it: rows without a response are left out anyway."
        )
    if len(set(labels)) < len(labels):
        raise DataError(f"levels= names a label twice: {shown_labels(labels, 30)}. Name each once.")
    return labels


def _by_levels(factor: Factor, levels: tuple[Any, ...], name: str) -> IntArray:
    codes, outside = matched(factor, levels)
    if outside:
        raise DataError(
            f"The response {name!r} has values outside the levels {shown_labels(levels, 30)}: {shown_labels(outside)}, "
            f"in {int((codes == -2).sum())} rows. Add them to levels=, or set them to missing to leave these rows out."
        )
    return codes


def known_codes(column: Column, name: str, levels: tuple[Any, ...]) -> IntArray:
    """(N,) codes of new data by the levels of a fit, -1 where missing; an unknown label raises DataError."""
    return _by_levels(_factor(column, name), levels, name)


def used_levels(codes: IntArray, declared: tuple[Any, ...], name: str) -> IntArray:
    """Codes of the declared levels that rows have; DataError where fewer than two do."""
    used = np.flatnonzero(np.bincount(codes, minlength=len(declared)))
    if used.size < 2:
        raise _too_few(name, tuple(declared[code] for code in used))
    return used


def read_items(
    frame: pd.DataFrame, names: Sequence[str], levels: Any = None
) -> tuple[tuple[Any, ...], IntArray, tuple[str, ...]]:
    """Levels, (N, J) codes (-1 where missing) and notes of columns that share their levels.

    Numbers have the levels that any of the columns has; other columns must have the same levels.

    Raises
    ------
    DataError
        As for a response; and items of different levels, or fewer than two levels.
    """
    given = None if levels is None else check_levels(levels)
    columns = {name: read(find_column(frame, name, "rows=")) for name in names}
    items = {name: read_response(column, name, given) for name, column in columns.items()}
    first = items[names[0]].declared
    for name, item in items.items():
        labels = (*first, *item.declared)
        if item.declared != first and not all(isinstance(label, (int, float)) for label in labels):
            raise DataError(
                f"The columns of rows= must have the same levels; {names[0]!r} has {shown_labels(first)}, {name!r} has "
                f"{shown_labels(item.declared)}. Give levels=[...] for all of them, or describe them one by one."
            )
    if any(item.declared != first for item in items.values()):
        given = tuple(sorted({label for item in items.values() for label in item.declared}))
        items = {name: read_response(column, name, given) for name, column in columns.items()}
    shared = items[names[0]].declared
    if len(shared) < 2:
        raise DataError(
            f"rows={list(names)!r} has answers of one level only, {shown_labels(shared)}: name the levels by "
            "levels=[...]."
        )
    codes = np.column_stack([item.codes for item in items.values()]).astype(np.intp)
    return shared, codes, tuple(note for item in items.values() for note in item.notes)
