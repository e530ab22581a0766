"""Tables that print what they are about below their rows."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape

import pandas as pd

from ...report.cells import column_cells

_WIDTH = 80
_FORMATS = {
    "estimate": "estimate", "std_error": "estimate", "lower": "estimate", "upper": "estimate", "statistic": ".3f",
    "chisq": ".3f", "df": "int", "p_value": "p",
}  # fmt: skip


class NotedFrame(pd.DataFrame):
    """A data frame whose notes, `attrs["notes"]`, are printed below it; a part of it is a plain data frame."""

    @classmethod
    def of(cls, frame: pd.DataFrame, notes: Sequence[str]) -> NotedFrame:
        """A frame with notes."""
        found = cls(frame)
        found.attrs["notes"] = list(notes)
        return found

    def __repr__(self) -> str:
        return noted_text(self, self.attrs.get("notes", []))

    def _repr_html_(self) -> str:
        return noted_html(self, self.attrs.get("notes", []))


def noted_text(frame: pd.DataFrame, notes: Sequence[str]) -> str:
    """A table and its notes, as text."""
    lines = [line for note in notes for line in textwrap.wrap(note, _WIDTH, subsequent_indent="  ")]
    return "\n".join([_shown(frame).to_string(index=False), "", *lines])


def noted_html(frame: pd.DataFrame, notes: Sequence[str]) -> str:
    """A table and its notes, for notebooks."""
    return str(_shown(frame).to_html(index=False)) + "".join(f"<p>{escape(note)}</p>" for note in notes)


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    """Its cells as text; numbers that are no results as they are."""
    columns = {
        name: column_cells(frame[name], _FORMATS.get(name, "g" if frame[name].dtype.kind == "f" else "text"))
        for name in frame.columns
    }
    return pd.DataFrame(columns)
