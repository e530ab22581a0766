"""A summary as data, and its one renderer: text of 80 columns, where its tables do with them, or HTML for notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from itertools import chain, zip_longest
from typing import Any

import pandas as pd

from .cells import cells, column_cells, filled, number, wrapped
from .frames import NotedFrame
from .grid import CELL, LABEL, RULE, TABLE, cell, scrolled


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
    fold : int
        Text only: how many pieces of a long narrow table stand side by side.
    section : str
        The part of the summary it belongs to.
    inline : bool
        Shown in a line or two where the summary is to be short.
    brief : Table, optional
        What stands in its place where the summary is to be short.
    below : tuple of Table
        Tables of the same columns, or fewer, that go on under the same head, each after a line with its title.
    """

    title: str
    frame: pd.DataFrame
    formats: Mapping[Any, str] = field(default_factory=dict)
    note: str = ""
    fold: int = 1
    section: str = "model"
    inline: bool = False
    brief: Table | None = None
    below: tuple[Table, ...] = ()

    @property
    def pieces(self) -> tuple[Table, ...]:
        """The table and those below it."""
        return (self, *self.below)

    def noted(self) -> NotedFrame:
        """The frame with title and note."""
        return NotedFrame.of(self.frame, [self.note] if self.note else [], self.title, self.formats)


@dataclass(frozen=True, kw_only=True)
class Line:
    """Short pieces of text, one after the other; a piece is not broken at the end of a line.

    Attributes
    ----------
    items : tuple of str
    head : str
        What stands before them; further lines begin under the first item.
    between : str
    """

    items: tuple[str, ...]
    head: str = ""
    between: str = "; "

    @property
    def words(self) -> str:
        """The items in one line, with commas where blanks alone would not keep them apart."""
        return (self.between if self.between.strip() else ", ").join(self.items)

    @property
    def text(self) -> str:
        """All of it in one line."""
        return f"{self.head} {self.words}".strip()


@dataclass(frozen=True, eq=False)
class Part:
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
    tables : tuple of Table, Line or Part
    notes : tuple of str
    margin_notes : callable
        Returns the notes that concern margins and bounds alone.
    """

    title: str
    header: tuple[tuple[str, Any], ...]
    tables: tuple[Table | Line | Part, ...]
    notes: tuple[str, ...] = ()
    margin_notes: Callable[[], tuple[str, ...]] = tuple

    @cached_property
    def blocks(self) -> tuple[Table | Line, ...]:
        """All tables and lines, computed."""
        computed = ((block,) if not isinstance(block, Part) else block.make() for block in self.tables)
        return tuple(chain.from_iterable(computed))

    @cached_property
    def of_margins(self) -> tuple[str, ...]:
        """The notes that concern margins and bounds alone."""
        return tuple(self.margin_notes())

    @property
    def sections(self) -> set[str]:
        """The sections that have tables."""
        return {block.section for block in self.tables if not isinstance(block, Line)}

    def in_section(self, section: str) -> tuple[Table, ...]:
        """The tables of a section, computed."""
        chosen = (b for b in self.tables if not isinstance(b, Line) and b.section == section)
        return tuple(table for b in chosen for table in (b.make() if isinstance(b, Part) else (b,)))


WIDTH = 100
#: Lines are no longer, but for tables that need more.
SCREEN = 80
_GAP = "  "
_KEPT = "\N{NO-BREAK SPACE}"
_LONGEST_LABEL = 44
#: Labels are not broken into lines of fewer letters.
_SHORTEST_LABEL = 20


class Summary:
    """A summary to look at: text in a terminal, HTML in a notebook, frames in `tables`.

    Attributes
    ----------
    report : Report
        What is shown.
    data : Report
        All there is to show.

    Parameters
    ----------
    report : Report
    data : Report, optional
        `report` itself unless given.
    """

    def __init__(self, report: Report, data: Report | None = None) -> None:
        self.report = report
        self.data = report if data is None else data

    def __repr__(self) -> str:
        return as_text(self.report)

    def _repr_html_(self) -> str:
        return as_html(self.report, None if self.data is self.report else self.data)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """All tables by title, unrounded."""
        return {table.title: table.noted() for table in self.data.blocks if isinstance(table, Table)}


class Reported:
    """What is shown by its report, in a terminal and in a notebook."""

    def report(self) -> Report:
        """The summary as data."""
        raise TypeError(f"{type(self).__name__} defines no report")

    def summary(self) -> Summary:
        """The summary: its text is str(), its tables are in `.tables`."""
        return Summary(self.report())

    def __repr__(self) -> str:
        return as_text(self.report())

    def _repr_html_(self) -> str:
        return as_html(self.report())


# Text


def as_text(report: Report, width: int = SCREEN, widest: int = WIDTH) -> str:
    """The report in at most `width` columns, tables that need more in `widest`."""
    lines = [*wrapped(report.title, width, hyphens=False), "=" * width, *_header_lines(report.header, width)]
    for before, block in zip((None, *report.blocks), report.blocks, strict=False):
        if not (isinstance(block, Line) and (before is None or isinstance(before, Line))):
            lines.append("")
        lines += lines_of(block, width) if isinstance(block, Line) else _table_lines(block, width, max(width, widest))
    if notes := (*report.notes, *report.of_margins):
        lines += ["", *(line for note in notes for line in _hanging("* ", note, width))]
    return "\n".join(line.rstrip() for line in lines)


def kept(item: str, room: int = SCREEN // 2) -> str:
    """The item with blanks at which no line is broken, unless it is long."""
    return item if len(item) >= room else item.replace(" ", _KEPT)


def lines_of(line: Line, width: int) -> list[str]:
    """The items of a line, which keep their spaces unless they are long, in as many lines of text as they need."""
    head = line.head and line.head + (" " if line.head.endswith(":") else _GAP)
    room = width - len(head)
    whole = line.between.join(kept(item, room) for item in line.items)
    return [text.replace(_KEPT, " ") for text in _hanging(head, whole, width)]


def _header_lines(pairs: Sequence[tuple[str, Any]], width: int) -> Iterator[str]:
    """Pairs two on a line; a pair too long for half a line gets its own."""
    label_width = max((len(label) for label, _ in pairs), default=0)
    half = (width - len(_GAP)) // 2
    room = half - label_width - len(_GAP)
    waiting = ""
    for label, value in pairs:
        text = number(value)
        cell = f"{label:<{label_width}}{_GAP}{text}"
        if len(text) > room:
            if waiting:
                yield waiting
            waiting = ""
            yield from _hanging(f"{label:<{label_width}}{_GAP}", text, width)
        elif waiting:
            yield f"{waiting:<{half}}{_GAP}{cell}"
            waiting = ""
        else:
            waiting = cell
    if waiting:
        yield waiting


def _hanging(head: str, text: str, width: int) -> list[str]:
    return wrapped(text, width, head, " " * len(head), hyphens=_KEPT not in text) or [head]


def width_of(table: Table) -> int:
    """Characters in a line of the table, in one block, its columns as near to each other as they may be."""
    return len(_aligned(_columns(table, None), 1)[1])


def _table_lines(table: Table, usual: int, width: int) -> Iterator[str]:
    """In `usual` characters a line where they do for all columns, near to each other if they have to be."""
    yield from wrapped(table.title, usual)
    room = _room(table, usual)
    columns = _columns(table, room)
    near, far = (len(_aligned(columns, gap)[1]) for gap in (1, len(_GAP)))
    for block in _blocks(columns, width):
        lines = _aligned(block, 1 if far > usual >= near else len(_GAP))
        yield from _folded(_with_titles(lines, table, usual, room), table.fold, width)
    for piece in table.pieces:
        yield from wrapped(piece.note, usual)


def _room(table: Table, usual: int) -> int:
    """Letters of a line of a label by which the table keeps within `usual`; of some tables it cannot."""
    longest = max((cells(str(label)) for piece in table.pieces for label in piece.frame.index), default=0)
    room = longest - max(width_of(table) - usual, 0)
    return room if room >= min(_SHORTEST_LABEL, longest) else _LONGEST_LABEL


def _with_titles(lines: list[str], table: Table, width: int, room: int) -> list[str]:
    """The lines of a table, and the titles of those below it above theirs."""
    found, start = lines[:2], 2
    for piece in table.pieces:
        found += [] if piece is table else wrapped(piece.title, width)
        end = start + sum(len(_label(label, room)) for label in piece.frame.index)
        found += lines[start:end]
        start = end
    return found


def _columns(table: Table, room: int | None) -> list[list[str]]:
    """The row labels, then every column with its head, as text."""
    heads = [_named(table.frame.index), *map(str, table.frame)]
    return [list(column) for column in zip(heads, *_rows(table, room), strict=True)]


def _rows(table: Table, room: int | None) -> Iterator[tuple[str, ...]]:
    """Label and cells of every row, of the tables below too; of a long label one line after the other."""
    for piece in table.pieces:
        for label, *row in zip(piece.frame.index, *_bodies(piece, list(table.frame)), strict=True):
            first, *more = _label(label, room)
            yield (first, *row)
            yield from ((line, *[""] * len(row)) for line in more)


def _label(label: Any, room: int | None) -> list[str]:
    """The lines of a label of a row, its blanks before each; one where there is room without end."""
    text = str(label).replace("\n", " ")
    if room is None or cells(text) <= room:
        return [text]
    before = " " * (len(text) - len(text.lstrip()))
    parts = text.strip().replace("[T.", "\n[T.", 1).split("\n")
    size = max(room - len(before) - len(_GAP), _SHORTEST_LABEL // 2)
    lines = [line for part in parts for line in wrapped(part, size, hyphens=False) or [part]]
    return [before + lines[0], *(f"{before}{_GAP}{line}" for line in lines[1:])]


def _bodies(table: Table, names: Sequence[Any]) -> list[list[str]]:
    """The cells of the columns of these names; blank where the table has no such column."""
    own = list(table.frame)
    bodies = [column_cells(table.frame.iloc[:, i], table.formats.get(name)) for i, name in enumerate(own)]
    return (
        bodies if own == names else [dict(zip(own, bodies, strict=True)).get(n, [""] * len(table.frame)) for n in names]
    )


def _named(index: pd.Index[Any]) -> str:
    return "" if index.name is None else str(index.name)


def _blocks(columns: list[list[str]], width: int) -> Iterator[list[list[str]]]:
    """Columns in as many pieces as the width asks for, each with the row labels first."""
    first, rest = columns[0], columns[1:]
    taken = used = max(map(cells, first))
    block = [first]
    for column in rest:
        size = max(map(cells, column)) + len(_GAP)
        if used + size > width and len(block) > 1:
            yield block
            block, used = [first], taken
        block.append(column)
        used += size
    yield block


def _aligned(block: list[list[str]], gap: int) -> list[str]:
    """Lines of one block: head, rule, rows; labels to the left, numbers to the right."""
    sizes = [max(map(cells, column)) for column in block]
    ways = [str.ljust, *[str.rjust] * (len(block) - 1)]
    columns = [
        [filled(text, size, way) for text in column] for column, size, way in zip(block, sizes, ways, strict=True)
    ]
    rows = [(gap * " ").join(row) for row in zip(*columns, strict=True)]
    return [rows[0], "-" * (sum(sizes) + gap * (len(sizes) - 1)), *rows[1:]]


def _folded(lines: list[str], fold: int, width: int) -> list[str]:
    """Head and rule above each of `fold` pieces side by side, or the lines as they are where they would not fit."""
    head, body = lines[:2], lines[2:]
    size, bar = len(lines[0]), "    "
    if fold < 2 or fold * size + (fold - 1) * len(bar) > width:
        return lines
    height = -(-len(body) // fold)
    pieces = [head + body[start : start + height] for start in range(0, len(body), height)]
    return [bar.join(row) for row in zip_longest(*pieces, fillvalue=" " * size)]


# HTML

_BLOCK = '<div style="margin-bottom:1em">'


def as_html(report: Report, folded: Report | None = None) -> str:
    """The report as one div of escaped text; below it, to be opened by a click, another one."""
    parts = [
        '<div style="color:inherit;font-size:.95em">',
        f'<div style="font-weight:bold;{RULE};margin-bottom:.4em">{escape(report.title)}</div>',
        _header_html(report.header),
        *(_line_html(block) if isinstance(block, Line) else _table_html(block) for block in report.blocks),
        *(f'<div style="opacity:.8">{escape(note)}</div>' for note in (*report.notes, *report.of_margins)),
        "" if folded is None else f"<details><summary>All tables</summary>{as_html(folded)}</details>",
        "</div>",
    ]
    return "\n".join(parts)


def _line_html(line: Line) -> str:
    head = line.head and f"<b>{escape(line.head)}</b> "
    return f'<div style="margin-bottom:.3em">{head}{escape(line.words)}</div>'


def _header_html(pairs: Sequence[tuple[str, Any]]) -> str:
    if not pairs:
        return ""
    rows = "".join(
        f'<tr style="background:transparent"><td style="{LABEL};opacity:.8">{escape(label)}</td>'
        f'<td style="{LABEL};white-space:normal">{escape(number(value))}</td></tr>'
        for label, value in pairs
    )
    return f'{_BLOCK}<table style="{TABLE}">{rows}</table></div>'


def _table_html(table: Table) -> str:
    name = _named(table.frame.index)
    head = cell("th", name, f"{LABEL};{RULE}") + "".join(cell("th", str(n), f"{CELL};{RULE}") for n in table.frame)
    body = "".join(_piece_html(piece, piece is not table, list(table.frame)) for piece in table.pieces)
    notes = "".join(f'<div style="opacity:.8">{escape(piece.note)}</div>' for piece in table.pieces if piece.note)
    shown = (
        f'<table style="{TABLE}"><thead><tr style="background:transparent">{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )
    title = f'<div style="font-weight:bold">{escape(table.title)}</div>' if table.title else ""
    return f"{_BLOCK}{title}{scrolled(shown, table.title or name)}{notes}</div>"


def _piece_html(table: Table, titled: bool, names: list[Any]) -> str:
    """The rows of a table, below its title where it goes on under the head of another."""
    across = f'<th colspan="{1 + len(names)}" style="{LABEL}">{escape(table.title)}</th>'
    title = f'<tr style="background:transparent">{across}</tr>' if titled else ""
    return title + "".join(
        f'<tr style="background:transparent"><td style="{LABEL}">{escape(str(label))}</td>'
        + "".join(f'<td style="{CELL}">{escape(cell)}</td>' for cell in row)
        + "</tr>"
        for label, row in zip(table.frame.index, zip(*_bodies(table, names), strict=True), strict=True)
    )
