"""The rows that a fit uses (complete, with positive weight), and their levels."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from .._typing import BoolArray, IntArray
from ..checks import row_name, shown_labels
from ..exceptions import DataError
from . import inputs
from .columns import take
from .reading import RecipeValues

ZERO_WEIGHT = "(weight 0)"


@dataclass(frozen=True, eq=False, kw_only=True)
class UsedRows:
    """The complete rows of positive weight, n of N.

    Attributes
    ----------
    mask : (N,) or None
        None if all rows are used.
    dropped : mapping of str to int
        Rows left out, by the variable with the missing value, and under ZERO_WEIGHT.
    y : (n,) codes 0..K-1 of the levels
    highest : (n,) or None
        The highest level that a censored answer allows (y is the lowest).
    places : (K,)
        Positions of the levels among the declared labels.
    levels, unused : tuple
        Labels in use, lowest first, and those left out.
    notes : tuple of str
    open_ends : (bool, bool)
        Whether the lowest and the highest level hold all answers beyond the exact ones.
    """

    mask: BoolArray | None
    dropped: Mapping[str, int]
    y: IntArray
    highest: IntArray | None
    places: IntArray
    levels: tuple[Any, ...]
    unused: tuple[Any, ...]
    notes: tuple[str, ...]
    open_ends: tuple[bool, bool] = (False, False)

    def of(self, value: Any) -> Any:
        """The used rows of a value; None of None."""
        if self.mask is None or value is None:
            return value
        return take(value, self.mask)


def used_rows(
    given: RecipeValues, na_action: str, keep_levels: bool, one_level: bool
) -> UsedRows:
    """The rows to use and their levels.

    `keep_levels` keeps levels without rows; `one_level` allows rows of a single level.
    """
    response = given.response
    mask, dropped, notes = _kept(given, na_action)
    if response.spans is not None:
        return _used_in_part(given, mask, dropped, notes)
    codes = response.codes if mask is None else response.codes[mask]
    declared = response.declared
    every = np.arange(len(declared))
    present = every
    if not one_level:
        present = inputs.used_levels(codes, declared, response.name)
    used = every if keep_levels else present
    levels = tuple([declared[code] for code in used])
    with_rows = frozenset(present.tolist())
    without_rows = [code for code in range(len(declared)) if code not in with_rows]
    unused = () if keep_levels else tuple([declared[code] for code in without_rows])
    absent = [declared[code] for code in without_rows] if keep_levels else []
    notes += response.notes
    notes += unused_note(unused, "the response")
    if absent:
        notes.append(
            f"No row has the levels {shown_labels(absent)} of the response: their"
            " probability is 0."
        )
    code_of = np.zeros(len(declared), dtype=np.intp)
    code_of[used] = np.arange(used.size)
    return UsedRows(
        mask=mask,
        dropped=dropped,
        y=code_of[codes],
        highest=None,
        places=used,
        levels=levels,
        unused=unused,
        notes=tuple(notes),
    )


def _used_in_part(
    given: RecipeValues,
    mask: BoolArray | None,
    dropped: dict[str, int],
    notes: list[str],
) -> UsedRows:
    """The rows to use and their levels, for censored answers."""
    response = given.response
    used = np.ones(len(given.index), dtype=bool) if mask is None else mask
    answers = cast(Any, response.spans).take(used)
    coded = answers.levels(response.name).coded(answers, given.index[used])
    y = coded.y.astype(np.intp)
    highest = coded.highest.astype(np.intp)
    return UsedRows(
        mask=mask,
        dropped=dropped,
        y=y,
        highest=None if np.array_equal(y, highest) else highest,
        places=np.arange(len(coded.levels)),
        levels=coded.levels,
        unused=(),
        notes=(*notes, *response.notes, *coded.notes),
        open_ends=coded.open_ends,
    )


def _kept(
    given: RecipeValues, na_action: str
) -> tuple[BoolArray | None, dict[str, int], list[str]]:
    """The mask of the rows to use (None if all), counts of the others, and a note on
    them.
    """
    index = given.index
    n = len(index)
    missing = {given.response.name: given.response.codes < 0, **given.missing}
    masks = {name: mask for name, mask in missing.items() if mask.any()}
    dropped = {name: int(mask.sum()) for name, mask in masks.items()}
    if not masks and given.weights is None and n:
        return None, dropped, []
    lost = np.zeros(n, dtype=bool)
    for mask in masks.values():
        lost |= mask
    count = int(lost.sum())
    notes = list[str]()
    if masks:
        if na_action == "raise":
            first = row_name(index, int(np.argmax(lost)))
            raise incomplete(dropped, count, n, f"; first {first}")
        notes.append(left_out(dropped, count, n))
    if given.weights is not None:
        zero = given.weights == 0
        if zero.any():
            dropped[ZERO_WEIGHT] = int(zero.sum())
            lost |= zero
    if lost.all():
        why = _counted(dropped).replace(ZERO_WEIGHT, "weights= of 0")
        reason = f"; left out for {why}" if why else ""
        raise DataError(f"None of the {n} rows can be used{reason}.")
    return ~lost if dropped else None, dropped, notes


def left_out(dropped: Mapping[str, int], lost: int, n: int) -> str:
    """The note on rows left out for a missing value, counted by variable."""
    return f"{lost} of {n} rows left out for missing values: {_counted(dropped)}."


def incomplete(
    dropped: Mapping[str, int], lost: int, n: int, where: str = ""
) -> DataError:
    """The error of rows with a missing value under na_action='raise'."""
    what = f"{lost} of {n} rows have missing values: {_counted(dropped)}{where}"
    return DataError(f"{what}. Fill or drop them, or use na_action='omit'.")


def _counted(dropped: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in dropped.items())


def unused_note(labels: Collection[Any], of: str) -> list[str]:
    """A note on levels without rows, if there are any."""
    if not labels:
        return []
    return [f"Levels of {of} without rows were left out: {shown_labels(labels)}."]
