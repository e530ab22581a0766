"""Data frames that print their title above and their notes below their rows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import pandas as pd

from .cells import MISSING, column_cells
from .render import blocks_of

_WIDTH = 80
_FORMATS = {
    "estimate": "estimate", "std_error": "estimate", "lower": "estimate", "upper": "estimate", "difference": "estimate",
    "statistic": ".3f", "chisq": ".3f", "F": ".3f", "lr_stat": ".3f", "lrt": ".3f", "loglik": ".3f", "aic": ".2f",
    "deff": ".3f", "riv": ".3f", "df": "int", "no_par": "int", "df_resid": ".1f", "df_denom": ".1f", "p_value": "p3",
}  # fmt: skip
#: Text of more characters than this is listed below the rows.
_LONG = 40


class NotedFrame(pd.DataFrame):
    """A data frame that prints its title and notes with its rows, all columns in 80 characters.

    The title is `attrs["title"]`, the notes are `attrs["notes"]`. The numbers are those of any data frame, and a part
    of it or a copy is a plain data frame. Printed rows of a default index have no labels.
    """

    @classmethod
    def of(cls, frame: pd.DataFrame, notes: Iterable[str] = (), title: str = "") -> NotedFrame:
        """A frame with a title and notes."""
        found = cls(frame)
        found.attrs = {**frame.attrs, "notes": list(notes), "title": title}
        return found

    def __repr__(self) -> str:
        return noted_text(self, self.attrs.get("notes", []), self.attrs.get("title", ""))

    def _repr_html_(self) -> str:
        return noted_html(self, self.attrs.get("notes", []), self.attrs.get("title", ""))


def noted_text(frame: pd.DataFrame, notes: Sequence[str], title: str = "") -> str:
    """A table, its title and its notes, as text."""
    cells, long = _cells(frame)
    below = [line for note in [*long, *notes] for line in textwrap.wrap(note, _WIDTH, subsequent_indent="  ")]
    return "\n".join([*textwrap.wrap(title, _WIDTH), _rows(frame, cells), *([""] if below else []), *below])


def noted_html(frame: pd.DataFrame, notes: Sequence[str], title: str = "") -> str:
    """A table, its title and its notes, for notebooks."""
    cells, long = _cells(frame)
    head = f"<p><b>{escape(title)}</b></p>" if title else ""
    body = str(pd.DataFrame(cells, index=frame.index).to_html(index=_labelled(frame)))
    return head + body + "".join(f"<p>{escape(note)}</p>" for note in [*long, *notes])


def _rows(frame: pd.DataFrame, cells: dict[str, list[str]]) -> str:
    """Head and rows; in blocks of columns, with the labels of the rows first, where a line would be too long."""
    shown = pd.DataFrame(cells)
    if not _labelled(frame):
        text = shown.to_string(index=False)
        if len(text.partition("\n")[0]) <= _WIDTH:
            return text
    columns = [[str(name), *values] for name, values in cells.items()]
    if _labelled(frame):
        labels = [str(label) for label in frame.index]
        columns.insert(0, ["" if frame.index.name is None else str(frame.index.name), *labels])
    return "\n\n".join("\n".join(line.rstrip() for line in block) for block in blocks_of(columns, _WIDTH))


def _cells(frame: pd.DataFrame) -> tuple[dict[str, list[str]], list[str]]:
    """Cells as text by column, numbers that are no results as they are; and what columns of long text say."""
    cells: dict[str, list[str]] = {}
    long: list[str] = []
    for name in frame.columns:
        column = frame[name]
        texts = column_cells(column, _format(name, column))
        if max(map(len, texts), default=0) > _LONG:
            said = dict.fromkeys(zip(texts, frame.index, strict=True))
            long += [f"{name} of {label}: {text}" for text, label in said]
        else:
            cells[str(name)] = ["" if text == MISSING else text for text in texts] if _labelled(frame) else texts
    return cells, long


def _format(name: Any, column: pd.Series) -> str:
    """How the numbers of a column are shown, which users may have made a column of names."""
    if column.dtype.kind in "fiu":
        if name == "df" and not (column.isna() | (column % 1 == 0)).all():
            return ".1f"  # Satterthwaite's
        return _FORMATS.get(name, "g" if column.dtype.kind == "f" else "int")
    return "bool" if column.dtype.kind == "b" else "text"


def _labelled(frame: pd.DataFrame) -> bool:
    """Whether rows have names of their own."""
    return not isinstance(frame.index, pd.RangeIndex)
