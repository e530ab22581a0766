"""Typst: a figure that holds a table. Texts are strings, in which nothing but quotes and backslashes has a meaning."""

from __future__ import annotations

from ..grid import Grid, spans, with_minus

_SIDES = {"l": "left", "r": "right", "c": "center"}


def typst(grid: Grid, label: str | None = None) -> str:
    """A figure with a table of three rules, and the notes below it.

    Parameters
    ----------
    grid : Grid
    label : str, optional
        To be referred to as @label.
    """
    sides = ", ".join(_SIDES[way] for way in grid.align)
    heads = [", ".join(_heading(*span) for span in spans(head)) for head in grid.heads[:-1]]
    lines = ["#figure(", "  kind: table,", f"  caption: {_string(grid.title)}," if grid.title else "  caption: none,"]
    lines += ["  table(", f"    columns: {len(grid.align)}, align: ({sides},), stroke: none,", "    table.hline(),"]
    lines += ["    table.header(", *(f"      {head}," for head in [*heads, _row(grid.names)]), "    ),", _RULE]
    for number, row in enumerate(grid.rows):
        lines += [*([_RULE] if number in grid.rules else []), f"    {_row(row)},"]
    lines += ["    table.hline(),", "  ),", f") <{label}>" if label else ")"]
    return "\n".join([*lines, *(f"#text(size: 0.85em, {_string(note)})\\" for note in grid.notes)]) + "\n"


_RULE = "    table.hline(stroke: 0.5pt),"


def _heading(text: str, size: int) -> str:
    return f"table.cell(colspan: {size}, align: center, {_string(text)})" if text else '""'


def _row(cells: tuple[str, ...]) -> str:
    return ", ".join(map(_string, cells))


def _string(text: str) -> str:
    quoted = with_minus(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}"'
