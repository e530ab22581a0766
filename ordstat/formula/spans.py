"""Censored answers as codes of levels.

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
    """Answers with low < answer <= high, exact where both ends are equal; open ends are
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

    def levels(self, name: str) -> NumberLevels:
        """The levels of these answers; DataError without an exact one."""
        values = np.unique(self.low[self.low == self.high])
        if not values.size:
            raise DataError(
                f"The response {name!r} must have an exact answer, such as an event, in"
                f" some rows; it has none in {self.low.size} rows. Round the answers,"
                " so that an interval becomes one level."
            )
        before = bool((self.high < values[0]).any())
        beyond = bool((self.low >= values[-1])[self.low < self.high].any())
        return NumberLevels(name, values, (before, beyond))


@dataclass(frozen=True, eq=False)
class NumberLevels:
    """Levels of answers that are numbers.

    Attributes
    ----------
    name : str
        The response.
    values : (M,)
        The exact answers, in order.
    open_ends : (bool, bool)
        Whether there is a level below all of these, and one above.
    """

    name: str
    values: FloatArray
    open_ends: tuple[bool, bool]

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels of the levels, lowest first."""
        before, beyond = self.open_ends
        exact = factor_of(self.values, self.name).levels
        below = [f"< {exact[0]}"] if before else []
        above = [f"> {exact[-1]}"] if beyond else []
        return (*below, *exact, *above)

    def coded(self, spans: NumberSpans, index: pd.Index | None) -> Coded:
        """Answers as codes; DataError, with the row's label in the index, for an
        interval strictly between two exact answers. With index None nothing is checked.
        """
        values = self.values
        before, beyond = self.open_ends
        exact = spans.low == spans.high
        y = np.where(
            exact,
            np.searchsorted(values, spans.low),
            np.searchsorted(values, spans.low, side="right"),
        )
        highest = np.searchsorted(values, spans.high, side="right") - 1
        empty = (y > highest) & (y < values.size) & (highest >= 0)
        if index is not None and empty.any():
            first = int(np.argmax(empty))
            raise DataError(
                f"The response {self.name!r} must have an exact answer inside every"
                f" interval; there is none above {spans.low[first]:g} and up to"
                f" {spans.high[first]:g}, in {row_name(index, first)} (such rows:"
                f" {int(empty.sum())}). Round the answers, or widen these intervals."
            )
        if beyond:
            highest[spans.high > values[-1]] = values.size
        if before:
            y += 1
            y[(spans.low < values[0]) & ~exact] = 0
            highest += 1
        return Coded(y, highest, self.labels, [], self.open_ends)


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

    def levels(self, name: str) -> JoinedLevels:
        """The levels of these answers; DataError unless two have exact answers."""
        exact = self.low[self.low == self.high]
        known = np.bincount(exact, minlength=len(self.labels)) > 0
        if known.sum() < 2:
            raise DataError(
                f"The response {name!r} must have exact answers at two levels or more;"
                f" it has them at {int(known.sum())}."
            )
        return JoinedLevels(name, self.labels, known)


@dataclass(frozen=True, eq=False)
class JoinedLevels:
    """Levels with exact answers; a level without one is joined to the level below, or
    above if it is the lowest.

    Attributes
    ----------
    name : str
        The response.
    given : tuple
        All labels.
    known : (M,)
        Whether a label has an exact answer.
    """

    name: str
    given: tuple[Any, ...]
    known: BoolArray

    @property
    def joined(self) -> IntArray:
        """(M,) the level of each label."""
        return np.asarray(np.maximum(np.cumsum(self.known) - 1, 0))

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels of the levels, lowest first."""
        parts: list[list[Any]] = [[] for _ in range(int(self.known.sum()))]
        for label, level in zip(self.given, self.joined, strict=True):
            parts[level].append(label)
        return tuple(
            [
                part[0] if len(part) == 1 else f"{part[0]} to {part[-1]}"
                for part in parts
            ]
        )

    @property
    def notes(self) -> list[str]:
        """A note on levels that were joined, if some were."""
        pairs = zip(self.given, self.known, strict=True)
        lost = [label for label, known in pairs if not known]
        if not lost:
            return []
        return [
            f"Levels of {self.name} without an exact answer were joined with a"
            f" neighbour: {shown_labels(lost)}."
        ]

    def coded(self, spans: LevelSpans, index: pd.Index | None) -> Coded:
        """Answers as codes."""
        joined = self.joined
        return Coded(joined[spans.low], joined[spans.high], self.labels, self.notes)


Spans = NumberSpans | LevelSpans
SpanLevels = NumberLevels | JoinedLevels
