"""HTML: no script, no class names, colours taken from the page so that dark themes work."""

from __future__ import annotations

from html import escape

from ..grid import Grid, spans

CELL = "padding:.15em .8em;text-align:right;white-space:nowrap"
LABEL = "padding:.15em .8em .15em 0;text-align:left;white-space:pre"  # the nodes of a tree are indented
RULE = "border-bottom:1px solid currentColor"
TABLE = "border-collapse:collapse;margin:.2em 0;font-variant-numeric:tabular-nums;background:transparent"

_ROW = '<tr style="background:transparent">'
_STYLES = {"l": LABEL, "r": CELL, "c": CELL.replace("right", "center")}


def html(grid: Grid) -> str:
    """A table element between its title and its notes."""
    heads = [_headings(head) for head in grid.heads[:-1]] + [_cells("th", grid.names, grid.align, RULE)]
    last = {number - 1 for number in grid.rules}
    rows = [_cells("td", row, grid.align, RULE if i in last else "") for i, row in enumerate(grid.rows)]
    title = f"<p><b>{escape(grid.title)}</b></p>" if grid.title else ""
    notes = "".join(f'<p style="margin:.2em 0;opacity:.8">{escape(note)}</p>' for note in grid.notes)
    head, body = ("\n".join(f"{_ROW}{row}</tr>" for row in part) for part in (heads, rows))
    return (
        f'{title}\n<table style="{TABLE}"><thead>\n{head}\n</thead><tbody>\n{body}\n</tbody></table>\n{notes}'.strip()
    )


def _cells(tag: str, cells: tuple[str, ...], align: str, more: str) -> str:
    end = f";{more}" if more else ""
    pairs = zip(cells, align, strict=True)
    return "".join(f'<{tag} style="{_STYLES[way]}{end}">{escape(cell)}</{tag}>' for cell, way in pairs)


def _headings(head: tuple[str, ...]) -> str:
    style = f"padding:.15em .8em;text-align:center;{RULE}"
    return "".join(
        f'<th colspan="{size}" style="{style}">{escape(text)}</th>' if text else "<th></th>"
        for text, size in spans(head)
    )
