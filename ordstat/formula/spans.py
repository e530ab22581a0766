"""Answers known in part as codes of levels.

Such an answer is one of several neighbouring levels. Numbers are levels where some row
has them exactly; an answer beyond all of these has a level of its own, "> last" or
"< first". Levels without an exact answer cannot be told apart from their neighbours:
their probability may be 0 at the maximum [Turnbull 1976, JRSS B 38, 290-295].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..checks import row_name, shown_labels
from ..exceptions import DataError
from .columns import factor_of


class Coded(NamedTuple):
    """Answers as codes of levels.

    Attributes
    ----------
    y : (n,)
        The lowest level that each answer allows.
    highest : (n,)
        The highest one; equal to y where the answer is exact.
    levels : tuple
        Labels, lowest first.
    notes : list of str
    open_ends : (bool, bool)
        Whether the lowest level holds all answers below, and the highest all above, the
        exact ones.
    """

    y: IntArray
    highest: IntArray
    levels: tuple[Any, ...]
    notes: list[str]
    open_ends: tuple[bool, bool] = (False, False)


@dataclass(frozen=True, eq=False)
class NumberSpans:
    """Answers with low < answer <= high, exact where both are equal; open ends are
    infinite.

    Attributes
    ----------
    low, high : (N,)
    """

    low: FloatArray
    high: FloatArray

    def take(self, rows: BoolArray) -> NumberSpans:
        """The answers of some rows."""
        return NumberSpans(self.low[rows], self.high[rows])

    def given(self) -> list[Any]:
        """Each answer as a number, or as the interval (low, high]."""
        return [
            low if low == high else pd.Interval(low, high, closed="right")
            for low, high in zip(self.low.tolist(), self.high.tolist(), strict=True)
        ]

    def coded(self, name: str, index: pd.Index) -> Coded:
        """The answers as codes; DataError for one between two exact answers."""
        exact = self.low == self.high
        values = np.unique(self.low[exact])
        if not values.size:
            raise DataError(
                f"The response {name!r} must have an exact answer in some rows; it has"
                f" none in {exact.size} rows. Round the answers, so that an interval"
                " becomes one level."
            )
        y = np.where(
            exact,
            np.searchsorted(values, self.low),
            np.searchsorted(values, self.low, side="right"),
        )
        highest = np.searchsorted(values, self.high, side="right") - 1
        beyond = y == values.size
        before = highest < 0
        empty = (y > highest) & ~beyond & ~before
        if empty.any():
            first = int(np.argmax(empty))
            raise DataError(
                f"The response {name!r} must have an exact answer inside every"
                f" interval; there is none above {self.low[first]:g} and up to"
                f" {self.high[first]:g}, in {row_name(index, first)} (such rows:"
                f" {int(empty.sum())}). Round the answers, or widen these intervals."
            )
        labels = list(factor_of(values, name).levels)
        highest[self.high > values[-1]] = len(labels) - 1
        if beyond.any():
            highest[self.high > values[-1]] = len(labels)
            labels.append(f"> {labels[-1]}")
        if before.any():
            below = self.low < values[0]
            y = y + 1
            y[below & ~exact] = 0
            highest = highest + 1
            labels.insert(0, f"< {labels[0]}")
        open_ends = bool(before.any()), bool(beyond.any())
        return Coded(y, highest, tuple(labels), [], open_ends)


@dataclass(frozen=True, eq=False)
class LevelSpans:
    """Answers from a lowest to a highest level, both included.

    Attributes
    ----------
    low, high : (N,) codes
    labels : tuple
    """

    low: IntArray
    high: IntArray
    labels: tuple[Any, ...]

    def take(self, rows: BoolArray) -> LevelSpans:
        """The answers of some rows."""
        return replace(self, low=self.low[rows], high=self.high[rows])

    def given(self) -> list[Any]:
        """Each answer as a label, or as the text "low to high"."""
        labels = self.labels
        return [
            labels[low] if low == high else f"{labels[low]} to {labels[high]}"
            for low, high in zip(self.low, self.high, strict=True)
        ]

    def coded(self, name: str, index: pd.Index) -> Coded:
        """The answers as codes; a level without an exact answer joins the one below, or
        above if it is the lowest.
        """
        counts = np.bincount(self.low[self.low == self.high], minlength=self.n_labels)
        known = counts > 0
        if known.sum() < 2:
            raise DataError(
                f"The response {name!r} must have exact answers at two levels or more;"
                f" it has them at {int(known.sum())}."
            )
        joined = np.maximum(np.cumsum(known) - 1, 0)
        parts = [
            [
                label
                for label, group in zip(self.labels, joined, strict=True)
                if group == k
            ]
            for k in range(int(known.sum()))
        ]
        levels = tuple(
            part[0] if len(part) == 1 else f"{part[0]} to {part[-1]}" for part in parts
        )
        notes = []
        if not known.all():
            lost = [
                label
                for label, kept in zip(self.labels, known, strict=True)
                if not kept
            ]
            notes.append(
                f"Levels of {name} without an exact answer were joined with a"
                f" neighbour: {shown_labels(lost)}."
            )
        return Coded(joined[self.low], joined[self.high], levels, notes)

    @property
    def n_labels(self) -> int:
        return len(self.labels)


Spans = NumberSpans | LevelSpans
