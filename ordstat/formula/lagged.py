"""The previous answer of each person, for Markov models of repeated answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..advice import with_advice
from ..checks import counted
from ..exceptions import DataError, DataWarning, OptionError, warn
from .columns import as_frame, find_column


@with_advice
def lagged(
    data: Any,
    response: str,
    *,
    by: str,
    time: str,
    gap: str | None = None,
    name: str = "previous",
) -> pd.DataFrame:
    """The data with the previous answer of each person as a column.

    "Previous" is by time; the rows keep their order. The first row of a person has no
    previous answer, so `ordfit` leaves it out.

    Parameters
    ----------
    data : data frame
        A row for each person and time.
    response : str
        Column of the answers.
    by : str
        Column of the persons.
    time : str
        Column of the times; numeric.
    gap : str, optional
        Name of a new column of the time since the previous row.
    name : str
        Name of the new column of previous answers.

    Returns
    -------
    pandas.DataFrame
        A copy with the new columns, which are missing in the first row of a person. The
        previous answer is also missing after a missing answer. Whole numbers are of
        pandas' type "Int64".

    Raises
    ------
    OptionError
        A new column exists already, or both new columns have the same name.
    DataError
        A column does not exist, or exists twice; a person or time is missing; times are
        not numeric; a person has two rows with the same time.

    Warns
    -----
    DataWarning
        Rows with the same time follow gaps of different lengths, and there is no `gap`.

    References
    ----------
    Rohde, French, Stewart & Harrell (2024), Bayesian transition models for ordinal
    longitudinal outcomes, Statistics in Medicine 43.

    Examples
    --------
    >>> import pandas as pd
    >>> from ordstat import lagged
    >>> visits = pd.DataFrame({"id": [1, 1, 1, 2], "t": [3, 1, 2, 1]})
    >>> visits["y"] = [5, 3, 4, 2]
    >>> lagged(visits, "y", by="id", time="t", gap="days")["previous"].tolist()
    [4, <NA>, 3, <NA>]
    """
    frame = as_frame(data)
    answers = find_column(frame, response, "response=")
    times = _times(find_column(frame, time, "time="), time)
    persons, _ = pd.factorize(find_column(frame, by, "by="))
    for new in (name, gap):
        if new is not None and new in frame.columns:
            raise OptionError(
                f"the new column {new!r} must not be a column of the data already. Give"
                " another name=, or gap=."
            )
    if gap == name:
        raise OptionError(
            f"gap must be another name than that of the previous answers, {name!r}."
            " Give two names."
        )
    if (persons < 0).any():
        row = frame.index[int(np.argmin(persons))]
        raise DataError(f"by={by!r} has a missing value at row {row}.")
    order = np.lexsort((times, persons))
    first = _first_rows(frame, persons[order], times[order], order, by, time)
    before = np.full(len(frame), -1)
    before[order[~first]] = order[:-1][~first[1:]]
    if pd.api.types.is_integer_dtype(answers.dtype):
        answers = answers.astype("Int64")
    previous = pd.api.extensions.take(answers.array, before, allow_fill=True)
    out = frame.assign(**{name: previous})
    gaps = np.where(before >= 0, times - times[before], np.nan)
    if gap is None:
        _tell_of_gaps(times, gaps, time)
    else:
        out[gap] = gaps
    return out


def _tell_of_gaps(times: FloatArray, gaps: FloatArray, time: str) -> None:
    """DataWarning for rows whose gap is not the median of the rows of their time."""
    has_one = np.isfinite(gaps)
    by_time = pd.Series(gaps[has_one]).groupby(times[has_one])
    rows = int((gaps[has_one] != by_time.transform("median")).sum())
    if rows:
        shortest = gaps[has_one].min()
        longest = gaps[has_one].max()
        warn(
            f"{time!r}: the gap since the previous row is unusual for its time in"
            f" {counted(rows, 'row')} (gaps {shortest:g} to {longest:g}). Give gap= for"
            " a column of gaps, and make it a predictor; or add the rows between, with"
            " missing answers.",
            DataWarning,
        )


def _times(column: pd.Series, time: str) -> FloatArray:
    """(n,) times; DataError unless all are finite numbers."""
    if not pd.api.types.is_numeric_dtype(column):
        raise DataError(
            f"time={time!r} must be a column of numbers, such as days since the start;"
            f" got {column.dtype}."
        )
    times = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if not np.isfinite(times).all():
        row = column.index[int(np.argmin(np.isfinite(times)))]
        raise DataError(f"time={time!r} has no finite value at row {row}.")
    return times


def _first_rows(
    frame: pd.DataFrame,
    persons: IntArray,
    times: FloatArray,
    order: IntArray,
    by: str,
    time: str,
) -> BoolArray:
    """(n,) the first row of each person, of rows in order; DataError for two rows of
    one time.
    """
    first = np.ones(len(persons), dtype=np.bool_)
    first[1:] = persons[1:] != persons[:-1]
    twice = np.flatnonzero(~first[1:] & (times[1:] == times[:-1]))
    if twice.size:
        rows = [frame.index[order[twice[0] + step]] for step in (0, 1)]
        person = frame[by].iloc[order[twice[0]]]
        raise DataError(
            f"rows {rows[0]} and {rows[1]} have the same {by} ({person}) and the same"
            f" {time} ({times[twice[0]]:g}). Leave one out, or average them."
        )
    return first
