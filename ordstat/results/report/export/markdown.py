"""Markdown: a pipe table, its title in bold above and its notes below."""

from __future__ import annotations

import re

from ..grid import Grid, aligned

#: An underscore within a word is no mark.
_SPECIAL = re.compile(r"([\\`*|<~^$]|(?<!\w)_|_(?!\w))")


def markdown(grid: Grid) -> str:
    """A table for GitHub, Jupyter, Quarto and pandoc; headings over columns stand before the names of these."""
    names = [": ".join(dict.fromkeys(text for text in texts if text)) for texts in zip(*grid.heads, strict=True)]
    lines = [f"**{_escaped(grid.title)}**", ""] if grid.title else []
    table = [[_escaped(cell) for cell in row] for row in (names, *grid.rows)]
    sizes = [max(3, *map(len, column)) for column in zip(*table, strict=True)]
    ends = {"l": (":", "-"), "r": ("-", ":"), "c": (":", ":")}
    marks = [ends[way][0] + "-" * (size - 2) + ends[way][1] for way, size in zip(grid.align, sizes, strict=True)]
    lines += [_row(row, sizes, grid.align) for row in (table[0], marks, *table[1:])]
    notes = [text for note in grid.notes for text in ("", _escaped(note))]
    return "\n".join([*lines, *notes]) + "\n"


def _row(cells: list[str], sizes: list[int], align: str) -> str:
    padded = (aligned(cell, size, way) for cell, size, way in zip(cells, sizes, align, strict=True))
    return f"| {' | '.join(padded)} |"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text).replace("](", r"\](")
