"""The response: which labels it has, in which order, and their codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._typing import AnyArray, IntArray
from ..exceptions import DataError
from .columns import Column, Factor, Value
from .doubtful import doubtful_response
from .frames import plain, shown_labels

_FEW = 30  # distinct values that are not whole numbers beyond which a response is taken for continuous


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
    codes, labels = _labels(column)
    if levels is not None:
        return Response(name, _by_levels(codes, labels, levels, name), levels)
    if isinstance(column.value, Factor) and not column.value.ordered and labels:
        raise _unordered(name, labels)
    note = _check_numbers(labels, name) if isinstance(column.value, np.ndarray) else ()
    return Response(name, codes, labels, (*note, *doubtful_response(labels, name)))


def _labels(column: Column) -> tuple[IntArray, tuple[Any, ...]]:
    """Codes and the sorted (or declared) labels, before `levels` are looked at."""
    value = column.value
    if isinstance(value, Factor):
        return value.codes.astype(np.intp), value.levels
    if value.dtype == bool:
        codes, labels = value.astype(np.intp), (False, True)
    else:
        codes, labels = _sorted_codes(value)
    if column.missing is not None:
        codes = np.where(column.missing, -1, codes)
    return codes, labels


def _sorted_codes(values: AnyArray) -> tuple[IntArray, tuple[Any, ...]]:
    codes, uniques = pd.factorize(values)  # hashing; only the distinct values are sorted
    order = np.argsort(uniques)
    rank = np.empty(order.size + 1, dtype=np.intp)
    rank[order], rank[-1] = np.arange(order.size), -1
    found = uniques[order]
    whole = found.dtype.kind in "iu" or bool(np.all(found == np.floor(found)))
    return rank[codes], tuple(int(x) if whole else float(x) for x in found)


def _check_numbers(labels: tuple[Any, ...], name: str) -> tuple[str, ...]:
    if not any(isinstance(label, float) for label in labels):
        return ()
    if len(labels) > _FEW:
        raise DataError(
            f"The response {name!r} looks continuous ({len(labels)} distinct values such as {labels[0]!r}): "
            "cut it into ordered classes with pd.cut, or give levels=[...] to take every value as a rank."
        )
    return (
        f"Response {name} holds {len(labels)} values that are not whole numbers; they were taken as ranks in order.",
    )


def _unordered(name: str, labels: tuple[Any, ...]) -> DataError:
    shown = shown_labels(labels)
    return DataError(
        f"The response {name!r} has labels without an order: {shown}. Say which is lowest, either with "
        f"levels=[{shown}] put in order, or with "
        f"data[{name!r}] = pd.Categorical(data[{name!r}], categories=[{shown}], ordered=True) put in order."
    )


def check_levels(levels: Any) -> tuple[Any, ...]:
    """The levels= argument as a tuple of different labels."""
    if isinstance(levels, (str, bytes)):
        raise DataError(f"levels= takes a list of labels in order, lowest first, not the text {levels!r}.")
    if isinstance(levels, (set, frozenset)):
        raise DataError("levels= takes a list of labels in order, lowest first; a set has no order.")
    labels = tuple(plain(label) for label in levels)
    if any(label is None or label != label for label in labels):
        raise DataError("levels= names a missing value (None or NaN); rows without a response are left out anyway.")
    if len(set(labels)) < len(labels):
        raise DataError(f"levels= names a label twice: {shown_labels(labels, 30)}.")
    return labels


def _by_levels(codes: IntArray, labels: tuple[Any, ...], levels: tuple[Any, ...], name: str) -> IntArray:
    position = {level: code for code, level in enumerate(levels)}
    order = np.array([position.get(label, -2) for label in labels] + [-1], dtype=np.intp)
    moved = order[codes]
    if (moved == -2).any():
        outside = np.unique(codes[moved == -2])
        raise DataError(
            f"The response {name!r} has values outside the levels {shown_labels(levels, 30)}: "
            f"{shown_labels(labels[code] for code in outside)}."
        )
    return moved


def known_codes(column: Column, name: str, levels: tuple[Any, ...]) -> IntArray:
    """(N,) codes of new data by the levels of a fit, -1 where missing; an unknown label raises DataError."""
    counted = _counted(column.value, levels)
    return _by_levels(*_labels(column), levels, name) if counted is None else counted


def _counted(value: Value, levels: tuple[Any, ...]) -> IntArray | None:
    """Codes of whole numbers by levels that go up by one; None where the labels have to be looked at one by one."""
    if isinstance(value, Factor) or value.dtype.kind != "i" or not value.size or type(levels[0]) is not int:
        return None
    first, last = levels[0], levels[-1]
    if levels != tuple(range(first, last + 1)) or value.min() < first or value.max() > last:
        return None
    codes: IntArray = value.astype(np.intp) - first
    return codes


def used_levels(codes: IntArray, declared: tuple[Any, ...], name: str) -> IntArray:
    """Codes of the declared levels that rows have; DataError where fewer than two do."""
    used = np.flatnonzero(np.bincount(codes, minlength=len(declared)))
    if used.size < 2:
        found = f"all have {declared[used[0]]!r}" if used.size else "have none"
        raise DataError(f"The response {name!r} needs rows of at least 2 levels; the rows used {found}.")
    return used
