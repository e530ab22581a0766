"""A summary as data, and its one renderer: text of at most 100 columns, or HTML for notebooks."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import zip_longest
from typing import Any

import pandas as pd

from .cells import column_cells, number


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
    """

    title: str
    frame: pd.DataFrame
    formats: Mapping[Any, str] = field(default_factory=dict)
    note: str = ""
    fold: int = 1


@dataclass(frozen=True, eq=False, kw_only=True)
class Report:
    """Pure data of one summary.

    Attributes
    ----------
    title : str
    header : tuple of (label, value)
    tables : tuple of Table
    notes : tuple of str
    """

    title: str
    header: tuple[tuple[str, Any], ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()


WIDTH = 100
_GAP = "  "
_LONGEST_LABEL = 44


class Summary:
    """A report to look at: text in a terminal, HTML in a notebook, frames in `tables`.

    Parameters
    ----------
    report : Report
    """

    def __init__(self, report: Report) -> None:
        self.report = report

    def __repr__(self) -> str:
        return as_text(self.report)

    def _repr_html_(self) -> str:
        return as_html(self.report)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables by title, unrounded."""
        return {table.title: table.frame for table in self.report.tables}


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


def as_text(report: Report, width: int = WIDTH) -> str:
    """The report in at most `width` columns."""
    lines = [*textwrap.wrap(report.title, width), "=" * width, *_header_lines(report.header, width)]
    for table in report.tables:
        lines += ["", *_table_lines(table, width)]
    if report.notes:
        lines += ["", *(line for note in report.notes for line in _hanging("* ", note, width))]
    return "\n".join(line.rstrip() for line in lines)


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
    return textwrap.wrap(text, width, initial_indent=head, subsequent_indent=" " * len(head)) or [head]


def _table_lines(table: Table, width: int) -> Iterator[str]:
    yield from textwrap.wrap(table.title, width)
    columns = _columns(table)
    for block in _blocks(columns, width):
        lines = _aligned(block)
        yield from _folded(lines, table.fold, width)
    if table.note:
        yield from textwrap.wrap(table.note, width)


def _columns(table: Table) -> list[list[str]]:
    """The row labels, then every column with its head, as text."""
    frame = table.frame
    labels = [_shortened(str(label)) for label in frame.index]
    bodies = [
        [str(name), *column_cells(frame.iloc[:, i], table.formats.get(name))] for i, name in enumerate(frame.columns)
    ]
    return [["" if frame.index.name is None else str(frame.index.name), *labels], *bodies]


def _shortened(label: str) -> str:
    if len(label) <= _LONGEST_LABEL:
        return label
    kept = _LONGEST_LABEL - 3
    return f"{label[: kept - kept // 2]}...{label[-(kept // 2) :]}"


def _blocks(columns: list[list[str]], width: int) -> Iterator[list[list[str]]]:
    """Columns in as many pieces as the width asks for, each with the row labels first."""
    first, rest = columns[0], columns[1:]
    taken = used = max(map(len, first))
    block = [first]
    for column in rest:
        size = max(map(len, column)) + len(_GAP)
        if used + size > width and len(block) > 1:
            yield block
            block, used = [first], taken
        block.append(column)
        used += size
    yield block


def blocks_of(columns: list[list[str]], width: int) -> Iterator[list[str]]:
    """Lines of the pieces of a table of text, its first column the row labels, in at most `width` characters."""
    return (_aligned(block) for block in _blocks(columns, width))


def _aligned(block: list[list[str]]) -> list[str]:
    """Lines of one block: head, rule, rows; labels to the left, numbers to the right."""
    sizes = [max(map(len, column)) for column in block]
    rows = [
        _GAP.join([row[0].ljust(sizes[0]), *(cell.rjust(size) for cell, size in zip(row[1:], sizes[1:], strict=True))])
        for row in zip(*block, strict=True)
    ]
    return [rows[0], "-" * len(rows[0]), *rows[1:]]


def _folded(lines: list[str], fold: int, width: int) -> list[str]:
    """Head and rule above each of `fold` pieces side by side, or the lines as they are where they would not fit."""
    head, body = lines[:2], lines[2:]
    size, bar = len(lines[0]), "    "
    if fold < 2 or fold * size + (fold - 1) * len(bar) > width:
        return lines
    height = -(-len(body) // fold)
    pieces = [head + body[start : start + height] for start in range(0, len(body), height)]
    return [bar.join(row) for row in zip_longest(*pieces, fillvalue=" " * size)]


# HTML: no script, no class names, colours taken from the page so that dark themes work.

_CELL = "padding:.15em .8em;text-align:right;white-space:nowrap"
_LABEL = "padding:.15em .8em .15em 0;text-align:left;white-space:pre"  # the nodes of a tree are indented
_RULE = "border-bottom:1px solid currentColor"
_TABLE = "border-collapse:collapse;margin:.2em 0;font-variant-numeric:tabular-nums;background:transparent"
_BLOCK = '<div style="margin-bottom:1em">'


def as_html(report: Report) -> str:
    """The report as one div of escaped text."""
    parts = [
        '<div style="color:inherit;font-size:.95em">',
        f'<div style="font-weight:bold;{_RULE};margin-bottom:.4em">{escape(report.title)}</div>',
        _header_html(report.header),
        *(_table_html(table) for table in report.tables),
        *(f'<div style="opacity:.8">{escape(note)}</div>' for note in report.notes),
        "</div>",
    ]
    return "\n".join(parts)


def _header_html(pairs: Sequence[tuple[str, Any]]) -> str:
    rows = "".join(
        f'<tr style="background:transparent"><td style="{_LABEL};opacity:.8">{escape(label)}</td>'
        f'<td style="{_LABEL};white-space:normal">{escape(number(value))}</td></tr>'
        for label, value in pairs
    )
    return f'{_BLOCK}<table style="{_TABLE}">{rows}</table></div>'


def _table_html(table: Table) -> str:
    frame = table.frame
    bodies = [column_cells(frame.iloc[:, i], table.formats.get(name)) for i, name in enumerate(frame.columns)]
    name = "" if frame.index.name is None else str(frame.index.name)
    head = f'<th style="{_LABEL};{_RULE}">{escape(name)}</th>' + "".join(
        f'<th style="{_CELL};{_RULE}">{escape(str(column))}</th>' for column in frame.columns
    )
    rows = "".join(
        f'<tr style="background:transparent"><td style="{_LABEL}">{escape(str(label))}</td>'
        + "".join(f'<td style="{_CELL}">{escape(body[i])}</td>' for body in bodies)
        + "</tr>"
        for i, label in enumerate(frame.index)
    )
    note = f'<div style="opacity:.8">{escape(table.note)}</div>' if table.note else ""
    return (
        f'{_BLOCK}<div style="font-weight:bold">{escape(table.title)}</div>'
        f'<table style="{_TABLE}"><thead><tr style="background:transparent">{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table>{note}</div>"
    )
