"""The data argument: what is accepted, how it becomes a pandas frame, and how a column is found by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from .._typing import AnyArray, BoolArray
from ..checks import nearest
from ..exceptions import DataError

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
ACCEPTED = "a pandas or polars DataFrame, a pyarrow Table or a mapping of column name to values"


def as_frame(data: Any) -> pd.DataFrame:
    """The data as a pandas frame; a pandas frame comes back as it is, and nothing is ever written to it."""
    if isinstance(data, pd.DataFrame):
        return data
    if isinstance(data, Mapping):
        try:
            return pd.DataFrame(dict(data))
        except ValueError as error:
            raise DataError(f"data= must have values of one length in every column: {error}.") from error
    package = type(data).__module__.split(".")[0]
    if package == "pyarrow" and hasattr(data, "to_pandas"):
        frame: pd.DataFrame = data.to_pandas()
        return frame
    if package == "polars" and hasattr(data, "get_columns"):
        return _from_polars(data)
    hint = "; call .collect() first" if hasattr(data, "collect") else ""
    if isinstance(data, str) and "~" in data:
        hint = "; the formula comes first, ordfit(formula, data)"
    elif isinstance(data, pd.Series):
        hint = "; arrays of inputs and of a response are for OrdinalClassifier().fit(X, y)"
    raise DataError(f"data= must be {ACCEPTED}; got {type(data).__module__}.{type(data).__qualname__}{hint}.")


def _from_polars(data: Any) -> pd.DataFrame:
    """By narwhals, a dependency of formulaic: polars' own conversion needs pyarrow."""
    import narwhals as nw

    def column(series: Any) -> Any:
        if isinstance(series.dtype, nw.Enum):  # an Enum declares its order
            return pd.Categorical(series.to_list(), categories=list(series.dtype.categories), ordered=True)
        return pd.Categorical(series.to_list()) if series.dtype == nw.Categorical else series.to_numpy()

    frame = nw.from_native(data, eager_only=True)
    return pd.DataFrame({name: column(frame[name]) for name in frame.columns})


def suggest(name: str, names: Iterable[Any]) -> str:
    """The tail of a message about an unknown name: the nearest known ones, else the first few."""
    known = [str(other) for other in names]
    if close := nearest(name, known, most=3):
        return "did you mean " + " or ".join(repr(other) for other in close) + "?"
    shown = ", ".join(repr(other) for other in known[:12])
    return f"there are {shown}{', ...' if len(known) > 12 else ''}." if known else "there are none."


def find_column(frame: pd.DataFrame, name: str, role: str) -> pd.Series:
    """The column of that name, matched as text where it is not a string; DataError says what needs it."""
    key: Any = name
    if name not in frame.columns:
        matches = [column for column in frame.columns if str(column) == name]
        if not matches:
            raise DataError(f"The data have no column {name!r}, needed for {role}; {suggest(name, frame.columns)}")
        key = matches[0]
    check_printable([name], "The column name")
    column: Any = frame[key]
    if isinstance(column, pd.DataFrame):
        raise DataError(f"The data have {column.shape[1]} columns named {name!r}; rename them so that {role} is clear.")
    series: pd.Series = column
    return series


def check_printable(names: Iterable[Any], where: str) -> None:
    """DataError where a name holds a control character, which would reach the terminal; `where` says what it names."""
    for name in names:
        if isinstance(name, str) and _CONTROL.search(name):
            raise DataError(f"{where} {name!r} has a control character; rename it.")


def has_column(frame: pd.DataFrame, name: str) -> bool:
    """Whether a column goes by that name."""
    return name in frame.columns or any(str(column) == name for column in frame.columns)


def row_name(index: pd.Index, position: int) -> str:
    """A row in words: its label, and its position where the label does not tell it."""
    label = index[position]
    same = isinstance(label, (int, np.integer)) and int(label) == position
    shown = tuple(map(plain, label)) if isinstance(label, tuple) else plain(label)
    return f"row {position}" if same else f"row {shown!r} (position {position})"


def refuse(bad: BoolArray, index: pd.Index, name: str, value: AnyArray | str, rest: str, where: str = "") -> None:
    """DataError that names the first of the bad rows, with its value or what is wrong with it, and counts them."""
    if not bad.any():
        return
    place = int(np.argmax(bad))
    found = value if isinstance(value, str) else f"{value[place]:g}"
    raise DataError(f"{name} is {found} in {row_name(index, place)}{where} ({int(bad.sum())} such rows){rest}")


def shown_labels(labels: Iterable[Any], limit: int = 10) -> str:
    """Up to `limit` labels as Python writes them."""
    listed = [repr(plain(label)) for label in labels]
    return ", ".join(listed[:limit]) + (f", ... ({len(listed)} in all)" if len(listed) > limit else "")


def plain(label: Any) -> Any:
    """A label as a plain Python value, so that it prints and pickles as the user wrote it."""
    return label.item() if isinstance(label, np.generic) else label
