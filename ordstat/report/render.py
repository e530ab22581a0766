"""A summary as data, and its rendering as text (80 columns, if its tables fit) or as
HTML for notebooks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from itertools import repeat
from typing import Any

import pandas as pd

from .cells import column_cells, header_text, wrapped
from .frames import Exported, NotedFrame, one_line
from .grid import (
    LABEL,
    RULE,
    SCREEN,
    TextGrid,
    by_numbers,
    grid_html,
    grid_lines,
    html_table,
)

_GAP = "  "
_NO_BREAK = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Table:
    """One table of a report.

    Attributes
    ----------
    title : str
    frame : pandas.DataFrame
        Numbers unrounded; the index holds the row labels.
    formats : mapping of column to format
        "estimate" (4 decimals), "p" (p-values), "int", "percent", "g" or a format spec;
        columns not named follow their dtype.
    note : str
        One line under the table.
    section : str
        The part of the summary it belongs to.
    role : str
        What it holds, where the one-screen summary treats it apart: a kind of
        parameters, "ratios", or "thresholds", which are shown in a line or two.
    brief : Table, optional
        The shorter table for the one-screen summary.
    below : tuple of Table
        Tables with some of the columns, printed under the same head, each after a line
        with its title.
    square : bool
        Columns and rows have the same names; numbers replace long ones if the table is
        too wide.
    labels : mapping of str to str
        Readable names of rows.
    """

    title: str
    frame: pd.DataFrame
    formats: Mapping[Any, str] = field(default_factory=dict)
    note: str = ""
    section: str = "model"
    role: str = ""
    brief: Table | None = None
    below: tuple[Table, ...] = ()
    square: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def grid(self) -> TextGrid:
        """The table as text, including the tables in `below`."""
        names = list(self.frame)
        rows: list[tuple[str, ...]] = []
        titles = {}
        notes = []
        for piece in (self, *self.below):
            if piece is not self:
                titles[len(rows)] = piece.title
            frame = piece.frame
            columns = [[one_line(piece.labels.get(name, name)) for name in frame.index]]
            for name in names:
                cells = [""] * len(frame)
                if name in frame:
                    cells = column_cells(frame[name], piece.formats.get(name))
                columns.append(cells)
            rows += zip(*columns, strict=True)
            notes += [piece.note] if piece.note else []
        grid = TextGrid(
            title=self.title,
            heads=(
                (
                    "" if self.frame.index.name is None else str(self.frame.index.name),
                    *map(str, names),
                ),
            ),
            rows=tuple(rows),
            align="l" + "r" * len(names),
            notes=tuple(notes),
            titles=titles,
        )
        return by_numbers(grid) if self.square else grid

    def noted(self) -> NotedFrame:
        """The frame with title and note."""
        notes = [self.note] if self.note else []
        numbers = self.frame.select_dtypes("float").columns
        formats = dict.fromkeys(numbers, "estimate") | {**self.formats}
        return NotedFrame.of(self.frame, notes, self.title, formats, labels=self.labels)


@dataclass(frozen=True, kw_only=True)
class Line:
    """Short pieces of text in a row; no piece is broken across lines.

    Attributes
    ----------
    items : tuple of str
    head : str
        Text before the items; further lines begin under the first item.
    between : str
    role : str
        "thresholds", or "more" for the line that names further sections.
    """

    items: tuple[str, ...]
    head: str = ""
    between: str = "; "
    role: str = ""


@dataclass(frozen=True, eq=False)
class DeferredTables:
    """Tables that are computed when their section is shown.

    Attributes
    ----------
    section : str
    make : callable
        Returns the tables.
    """

    section: str
    make: Callable[[], Sequence[Table]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Report:
    """The data of one summary.

    Attributes
    ----------
    title : str
    header : tuple of (label, value)
    tables : tuple of Table, Line or DeferredTables
    notes : tuple of str
    margin_notes : callable
        Returns the notes on margins and bounds only.
    """

    title: str
    header: tuple[tuple[str, Any], ...]
    tables: tuple[Table | Line | DeferredTables, ...]
    notes: tuple[str, ...] = ()
    margin_notes: Callable[[], tuple[str, ...]] = tuple

    @cached_property
    def blocks(self) -> tuple[Table | Line, ...]:
        """All tables and lines, computed."""
        blocks: list[Table | Line] = []
        for block in self.tables:
            blocks += block.make() if isinstance(block, DeferredTables) else [block]
        return tuple(blocks)

    @cached_property
    def all_notes(self) -> tuple[str, ...]:
        """All notes, computed."""
        return (*self.notes, *self.margin_notes())


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """A summary: text in a terminal, HTML in a notebook, data frames in `tables`.

    Attributes
    ----------
    report : Report
        The part to show.
    data : Report, optional
        The full summary, if `report` is only a part of it.
    """

    report: Report
    data: Report | None = None

    def __repr__(self) -> str:
        return as_text(self.report)

    def _repr_html_(self) -> str:
        return as_html(self.report, self.data)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """All tables by title, unrounded."""
        blocks = (self.data or self.report).blocks
        return {
            table.title: table.noted() for table in blocks if isinstance(table, Table)
        }


class Reported(Exported):
    """Base class of objects that print as their report, in a terminal or a notebook."""

    def report(self) -> Report:
        """The summary as data."""
        raise TypeError(f"{type(self).__name__} defines no report")

    def summary(self) -> Summary:
        """The summary: str() returns its text, `.tables` its tables."""
        return Summary(self.report())

    def exported(self) -> list[NotedFrame]:
        report = self.report()
        tables = [block.noted() for block in report.blocks if isinstance(block, Table)]
        if tables:
            tables[-1].attrs["notes"] = [*tables[-1].attrs["notes"], *report.all_notes]
        return tables

    def __repr__(self) -> str:
        return as_text(self.report())

    def _repr_html_(self) -> str:
        return as_html(self.report())


# Text


def as_text(report: Report) -> str:
    """The report in lines of at most 80 characters."""
    lines = [*wrapped(report.title, SCREEN, hyphens=False), "=" * SCREEN]
    lines += _header_lines(report.header) if report.header else []
    in_table = False
    for block in report.blocks:
        after_table = in_table
        in_table = isinstance(block, Table)
        lines += [""] if after_table or in_table else []
        if isinstance(block, Line):
            lines += lines_of(block)
        else:
            grid = block.grid
            lines += grid_lines(grid)
            for note in grid.notes:
                lines += wrapped(note, SCREEN)
    lines += [""] if report.all_notes else []
    for note in report.all_notes:
        lines += wrapped(note, SCREEN, "* ", "  ")
    return "\n".join([line.rstrip(" ") for line in "\n".join(lines).split("\n")])


def unbroken(item: str, room: int = SCREEN // 2) -> str:
    """The item with non-breaking spaces, unless it is long."""
    return item if len(item) >= room else item.replace(" ", _NO_BREAK)


def lines_of(line: Line) -> list[str]:
    """The items as lines of text; only long items are broken."""
    head = line.head and line.head + (" " if line.head.endswith(":") else _GAP)
    items = map(unbroken, line.items, repeat(SCREEN - len(head)))
    return (
        "\n".join(_hanging(head, line.between.join(items)))
        .replace(_NO_BREAK, " ")
        .split("\n")
    )


def _header_lines(pairs: Sequence[tuple[str, Any]]) -> list[str]:
    """Pairs below each other, two on a line if both are short."""
    size = max(len(label) for label, _ in pairs)
    half = SCREEN // 2
    lines = list[str]()
    for label, value in pairs:
        added = _hanging(f"{label:<{size}}{_GAP}", header_text(value))
        if lines and len(added) == 1 and max(len(lines[-1]), len(added[0])) < half:
            lines[-1] = f"{lines[-1]:<{half}}{added[0]}"
        else:
            lines += added
    return lines


def _hanging(head: str, text: str) -> list[str]:
    return wrapped(
        text, SCREEN, head, " " * len(head), hyphens=_NO_BREAK not in text
    ) or [head]


# HTML


def as_html(report: Report, folded: Report | None = None) -> str:
    """The report as a div of escaped text; a click opens `folded` below it."""
    header = [
        f'<td style="{LABEL};opacity:.8">{escape(label)}</td>'
        f'<td style="{LABEL};white-space:normal">{escape(header_text(value))}</td>'
        for label, value in report.header
    ]
    bold = f"font-weight:bold;{RULE};margin-bottom:.4em"
    parts = [
        '<div style="color:inherit;font-size:.95em">',
        f'<div style="{bold}">{escape(report.title)}</div>',
        html_table(header, "Header") if header else "",
    ]
    for block in report.blocks:
        html = _line_html(block) if isinstance(block, Line) else grid_html(block.grid)
        parts.append(html)
    for note in report.all_notes:
        parts.append(f'<div style="opacity:.8">{escape(note)}</div>')
    more = ""
    if folded is not None:
        more = f"<details><summary>All tables</summary>{as_html(folded)}</details>"
    return "\n".join([*parts, more, "</div>"])


def _line_html(line: Line) -> str:
    """The items in one line, with commas if only blanks would separate them."""
    head = f"<b>{escape(line.head)}</b> " if line.head else ""
    between = line.between
    if not between.strip() and between != " ":
        between = ", "
    words = between.join(line.items)
    return f'<div style="margin-bottom:.3em">{head}{escape(words)}</div>'
