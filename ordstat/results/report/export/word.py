"""Word documents, by python-docx where it is installed."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from typing import Any

from ..grid import Grid, spans, with_minus

_SIDES = {"l": "LEFT", "r": "RIGHT", "c": "CENTER"}


def write_docx(grids: Sequence[Grid], path: str | PathLike[str]) -> None:
    """A document with a table after another, titles above and notes below.

    Raises
    ------
    ImportError
        python-docx is not installed.
    """
    try:
        from docx import Document
    except ImportError as error:
        raise ImportError("to_docx needs python-docx, which is not installed: pip install ordstat[docx]") from error
    document = Document()
    for grid in grids:
        if grid.title:
            document.add_paragraph(grid.title, style="Caption")
        _add(document, grid)
        _add_notes(document, grid.notes)
    document.save(fspath(path))


def _add(document: Any, grid: Grid) -> None:
    n_heads = len(grid.heads)
    table = document.add_table(rows=n_heads + len(grid.rows), cols=len(grid.align))
    for place, texts in enumerate((*grid.heads, *grid.rows)):
        cells = table.rows[place].cells
        if place < n_heads - 1:
            _write_headings(cells, texts)
            continue
        for cell, text, way in zip(cells, texts, grid.align, strict=True):
            _write(cell, text, way)
    _draw_rules(table, {0: "top", n_heads - 1: "bottom", n_heads + len(grid.rows) - 1: "bottom"})
    _draw_rules(table, {n_heads + row: "top" for row in grid.rules})


def _write_headings(cells: Any, head: Sequence[str]) -> None:
    start = 0
    for text, size in spans(head):
        _write(cells[start].merge(cells[start + size - 1]), text, "c")
        start += size


def _write(cell: Any, text: str, way: str) -> None:
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.shared import Pt

    paragraph = cell.paragraphs[0]
    paragraph.text = with_minus(text)
    paragraph.alignment = getattr(WD_ALIGN_PARAGRAPH, _SIDES[way])
    paragraph.paragraph_format.space_after = Pt(0)


def _draw_rules(table: Any, sides: dict[int, str]) -> None:
    """A line at one side of all cells of some rows: python-docx has no borders of its own."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    for row, side in sides.items():
        for cell in table.rows[row].cells:
            properties = cell._tc.get_or_add_tcPr()
            borders = properties.find(qn("w:tcBorders"))
            if borders is None:
                borders = OxmlElement("w:tcBorders")
                properties.append(borders)
            line = OxmlElement(f"w:{side}")
            line.set(qn("w:val"), "single")
            line.set(qn("w:sz"), "6")
            borders.append(line)


def _add_notes(document: Any, notes: Sequence[str]) -> None:
    from docx.shared import Pt

    for note in notes:
        paragraph = document.add_paragraph()
        paragraph.paragraph_format.space_after = Pt(2)
        paragraph.add_run(note).font.size = Pt(9)
    document.add_paragraph()
