"""Several ordered columns that share their levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._typing import IntArray
from ..exceptions import DataError
from .columns import read
from .frames import find_column, shown_labels
from .response import Response, check_levels, read_response


@dataclass(frozen=True, eq=False)
class Items:
    """Answers to items of the same levels.

    Attributes
    ----------
    levels : tuple
        All of them in order, with or without answers.
    codes : (N, J), -1 where missing
    notes : tuple of str
    """

    levels: tuple[Any, ...]
    codes: IntArray
    notes: tuple[str, ...]


def read_items(frame: pd.DataFrame, names: Sequence[str], levels: Any = None) -> Items:
    """The answers of some columns; numbers have the levels that any of them has, other columns must have the same.

    Raises
    ------
    DataError
        As for a response; and items of different levels, or fewer than two levels.
    """
    given = None if levels is None else check_levels(levels)
    columns = {name: read(find_column(frame, name, "rows=")) for name in names}
    found = {name: read_response(column, name, given) for name, column in columns.items()}
    if given is None and len({one.declared for one in found.values()}) > 1:
        union = _all_numbers(found)
        found = {name: read_response(column, name, union) for name, column in columns.items()}
    shared = found[names[0]].declared
    if len(shared) < 2:
        raise DataError(
            f"rows={list(names)!r} has answers of one level only, {shown_labels(shared) or 'none'}: say which levels "
            "there are, by levels=[...]."
        )
    codes = np.column_stack([one.codes for one in found.values()]).astype(np.intp)
    return Items(shared, codes, tuple(note for one in found.values() for note in one.notes))


def _all_numbers(found: dict[str, Response]) -> tuple[Any, ...]:
    """The numbers that occur in any item, in order; DataError where an item has other levels than numbers."""
    (first, one), *others = found.items()
    for name, other in others:
        labels = (*one.declared, *other.declared)
        if one.declared != other.declared and not all(isinstance(label, (int, float)) for label in labels):
            raise DataError(
                f"The columns of rows= must have the same levels; {first!r} has {shown_labels(one.declared)}, {name!r} "
                f"has {shown_labels(other.declared)}. Give levels=[...] for all of them, or describe them one by one."
            )
    return tuple(sorted({label for one in found.values() for label in one.declared}))
