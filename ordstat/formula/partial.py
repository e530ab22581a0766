"""The censored responses `interval(low, high)` and `Surv(time, event)`, read from a
frame.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray
from ..checks import row_name, shown_labels
from ..exceptions import DataError, OptionError
from .columns import Column, Factor, find_column, read
from .inputs import ALL_LEVELS, Response, check_levels, known_codes
from .parse import PartialCall
from .spans import LevelSpans, NumberSpans, Spans

#: Most whole numbers that may be the answers of a rating scale.
_MOST_RATINGS = 11


def read_partial(
    call: PartialCall, response: str, frame: pd.DataFrame, levels: Any
) -> Response:
    """The answers of all rows; see `_read_spans` for the errors."""
    every = isinstance(levels, str) and levels == ALL_LEVELS
    labels = None if levels is None or every else check_levels(levels)
    spans, missing = _read_spans(call, response, frame, labels)
    codes = np.where(missing, -1, 0).astype(np.intp)
    notes = []
    if call.function == "interval" and isinstance(spans, NumberSpans):
        notes = _notes_on_ratings(response, spans.take(~missing))
    return Response(response, codes, (), notes, spans)


def _notes_on_ratings(response: str, spans: NumberSpans) -> list[str]:
    """A note where intervals begin at an answer of what may be a rating scale, which
    numbers leave out.
    """
    exact = spans.low == spans.high
    values = np.unique(spans.low[exact])
    whole = np.array_equal(values, np.rint(values))
    begins = int(np.isin(spans.low[~exact], values).sum())
    if not whole or values.size > _MOST_RATINGS or not begins:
        return []
    return [
        f"{response} of numbers means low < answer <= high: the value that an interval"
        f" begins at is left out (such rows: {begins}). For ratings give levels=[...],"
        " which includes both ends."
    ]


def _read_spans(
    call: PartialCall,
    response: str,
    frame: pd.DataFrame,
    levels: tuple[Any, ...] | None,
) -> tuple[Spans, BoolArray]:
    """The answers of all rows, and which are missing.

    Parameters
    ----------
    call : PartialCall
    response : str
    frame : DataFrame
    levels : tuple or None
        Labels of both ends; None for numbers and ordered categories.

    Raises
    ------
    DataError
        Ends out of order, events other than 0 and 1, infinite times, no event, or text
        without levels.
    OptionError
        Levels of Surv().
    """
    first, second = (_column(frame, name) for name in call.columns)
    spans: Spans
    if call.function == "Surv":
        if levels is not None:
            raise OptionError(
                "levels goes with interval() and with plain responses; the levels of"
                " Surv() are the times of its events. Leave levels= out."
            )
        spans, missing = _survival(call, first, second, frame)
    elif levels is not None:
        spans, missing = _between_levels(call, first, second, levels)
    elif isinstance(first.value, Factor) and isinstance(second.value, Factor):
        labels = _common_levels(call, first.value, second.value)
        spans, missing = _between_levels(call, first, second, labels)
    else:
        spans, missing = _between_numbers(call, first, second)
    wrong = ~missing & (spans.low > spans.high)
    if wrong.any():
        low, high = call.columns
        where = row_name(frame.index, int(np.argmax(wrong)))
        raise DataError(
            f"The response {response!r} must have {low} <= {high}; it is larger in"
            f" {where} (such rows: {int(wrong.sum())}). Swap or correct these ends."
        )
    return spans, missing


def _column(frame: pd.DataFrame, name: str) -> Column:
    """A column in which an infinite number is an open end, as a missing one is."""
    column = find_column(frame, name, "the response")
    if pd.api.types.is_float_dtype(column):
        column = column.where(~np.isinf(column))
    return read(column)


def _missing(column: Column, n: int) -> BoolArray:
    return np.zeros(n, dtype=bool) if column.missing is None else column.missing


def _numbers(call: PartialCall, column: Column, name: str) -> FloatArray:
    if isinstance(column.value, Factor) or column.value.dtype == bool:
        raise DataError(
            f"{call.function}() must have numbers in {name!r}, or ordered categories in"
            " both columns. Give levels=[...] with all labels in order."
        )
    return np.asarray(column.value, dtype=np.float64)


def _survival(
    call: PartialCall, time: Column, event: Column, frame: pd.DataFrame
) -> tuple[NumberSpans, BoolArray]:
    """An event at its time, or an answer above it."""
    name, flag = call.columns
    index = frame.index
    _check_finite(frame, name)
    times = _numbers(call, time, name)
    missing = _missing(time, len(index)) | _missing(event, len(index))
    if isinstance(event.value, Factor):
        raise DataError(
            f"Surv() must have 1 (event) or 0 (censored) in {flag!r}; got the labels"
            f" {shown_labels(event.value.levels)}. Compare them, as in"
            f" data.assign({flag}=data[{flag!r}] == {event.value.levels[-1]!r})."
        )
    events = np.asarray(event.value, dtype=np.float64)
    wrong = ~missing & (events != 0.0) & (events != 1.0)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise DataError(
            f"Surv() must have 1 (event) or 0 (censored) in {flag!r}; got"
            f" {events[first]:g} in {row_name(index, first)} (such rows:"
            f" {int(wrong.sum())}). The time comes first. Set codes of missing events"
            " to NaN, and compare others with the code of the event, as in"
            f" data.assign({flag}=data[{flag!r}] == {np.max(events[wrong]):g})."
        )
    return NumberSpans(times, np.where(events == 1.0, times, np.inf)), missing


def _check_finite(frame: pd.DataFrame, name: str) -> None:
    """DataError for an infinite time, which is neither an event nor missing."""
    column = find_column(frame, name, "the response")
    if not pd.api.types.is_float_dtype(column):
        return
    infinite = np.isinf(column.to_numpy(dtype=np.float64, na_value=np.nan))
    if infinite.any():
        raise DataError(
            f"Surv() must have finite times in {name!r}; it is infinite in"
            f" {row_name(frame.index, int(np.argmax(infinite)))} (such rows:"
            f" {int(infinite.sum())}). Give the time that such a row was last seen, and"
            " 0 for its event; or make it missing (NaN)."
        )


def _between_numbers(
    call: PartialCall, first: Column, second: Column
) -> tuple[NumberSpans, BoolArray]:
    low, high = (
        _numbers(call, column, name)
        for column, name in zip((first, second), call.columns, strict=True)
    )
    no_low, no_high = (_missing(column, low.size) for column in (first, second))
    spans = NumberSpans(np.where(no_low, -np.inf, low), np.where(no_high, np.inf, high))
    return spans, no_low & no_high


def _between_levels(
    call: PartialCall, first: Column, second: Column, labels: tuple[Any, ...]
) -> tuple[LevelSpans, BoolArray]:
    low, high = (
        known_codes(column, name, labels)
        for column, name in zip((first, second), call.columns, strict=True)
    )
    missing = (low < 0) & (high < 0)
    last = len(labels) - 1
    return LevelSpans(
        np.where(low < 0, 0, low), np.where(high < 0, last, high), labels
    ), missing


def _common_levels(call: PartialCall, first: Factor, second: Factor) -> tuple[Any, ...]:
    """The ordered categories that both columns have."""
    if not (first.ordered and second.ordered and first.levels == second.levels):
        low, high = call.columns
        raise DataError(
            f"{call.function}() must have the same ordered categories in {low!r} and"
            f" {high!r}; got {shown_labels(first.levels)} and"
            f" {shown_labels(second.levels)}. Give levels=[...] with all labels in"
            " order."
        )
    return first.levels
