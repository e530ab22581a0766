"""HTML: no script, no class names, colours taken from the page so that dark themes work."""

from __future__ import annotations

from html import escape

from .grid import Grid, spans

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
    table = f'<table style="{TABLE}"><thead>\n{head}\n</thead><tbody>\n{body}\n</tbody></table>'
    return f"{title}\n{scrolled(table, grid.title)}\n{notes}".strip()


def scrolled(table: str, name: str) -> str:
    """A table that is moved by itself where the page is narrower, by keys too."""
    return (
        f'<div style="overflow-x:auto" tabindex="0" role="group" aria-label="{escape(name) or "Table"}">{table}</div>'
    )


def cell(tag: str, text: str, style: str) -> str:
    """A cell; a head without words is none."""
    tag = tag if text else "td"
    return f'<{tag} style="{style}">{escape(text)}</{tag}>'


def _cells(tag: str, cells: tuple[str, ...], align: str, more: str) -> str:
    end = f";{more}" if more else ""
    pairs = zip(cells, align, strict=True)
    return "".join(cell(tag, text, f"{_STYLES[way]}{end}") for text, way in pairs)


def _headings(head: tuple[str, ...]) -> str:
    style = f"padding:.15em .8em;text-align:center;{RULE}"
    return "".join(
        f'<th colspan="{size}" style="{style}">{escape(text)}</th>' if text else "<td></td>"
        for text, size in spans(head)
    )
