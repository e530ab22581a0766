"""Word documents, by python-docx where it is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Any

from ..grid import Grid, spans, with_minus
from .paged import Block, paged

_SIDES = {"l": "LEFT", "r": "RIGHT", "c": "CENTER"}
#: Letters of every computer, whose widths are known.
_FONT = "Times New Roman"
_FULL, _SMALL = 10.0, 8.5
#: Points between the texts of two cells: the margins of Word, and a little.
_GAP = 15.0


def write_docx(grids: Sequence[Grid], file: IO[bytes]) -> None:
    """A document with a table after another, titles above and notes below.

    Raises
    ------
    ImportError
        python-docx is not installed.
    """
    document = new_document()
    for grid in grids:
        add_grid(document, grid)
    document.save(file)


def new_document() -> Any:
    """An empty document in black letters.

    Raises
    ------
    ImportError
        python-docx is not installed.
    """
    try:
        from docx import Document
        from docx.shared import Pt, RGBColor
    except ImportError as error:
        raise ImportError("to_docx needs python-docx, which is not installed: pip install ordstat[docx]") from error
    document = Document()
    for name in ("Normal", "Caption"):
        font = document.styles[name].font
        font.name, font.size = _FONT, Pt(_FULL)
    for name in ("Caption", "Heading 1", "Heading 2"):
        document.styles[name].font.color.rgb = RGBColor(0, 0, 0)
    return document


def add_grid(document: Any, grid: Grid) -> None:
    """A table at the end of a document, in blocks where it is wider than its page."""
    from docx.shared import Pt

    if grid.title:
        document.add_paragraph(grid.title, style="Caption").paragraph_format.keep_with_next = True
    section = document.sections[0]
    room = (section.page_width - section.left_margin - section.right_margin) / Pt(1)
    blocks, small = paged(grid, room, (_FULL / 10.0, _GAP), (_SMALL / 10.0, _GAP))
    for place, block in enumerate(blocks):
        if place:
            document.add_paragraph().paragraph_format.space_after = Pt(0)
        _add(document, block, _SMALL if small else _FULL)
    _add_notes(document, grid.notes)


def _add(document: Any, block: Block, size: float) -> None:
    grid, n_heads = block.grid, len(block.grid.heads)
    table = document.add_table(rows=n_heads + len(grid.rows), cols=len(grid.align))
    _set_widths(table, block.widths)
    for place, texts in enumerate((*grid.heads, *grid.rows)):
        cells = table.rows[place].cells
        if place < n_heads - 1:
            _write_headings(cells, texts, size)
            continue
        for cell, text, way in zip(cells, texts, grid.align, strict=True):
            _write(cell, text, way, size)
    _repeat_heads(table, n_heads)
    _draw_rules(table, {0: "top", n_heads - 1: "bottom", n_heads + len(grid.rows) - 1: "bottom"})
    _draw_rules(table, {n_heads + row: "top" for row in grid.rules})


def _set_widths(table: Any, widths: Sequence[float]) -> None:
    from docx.shared import Pt

    table.autofit = False
    for column, width in zip(table.columns, widths, strict=True):
        column.width = Pt(width)
        for cell in column.cells:
            cell.width = Pt(width)


def _repeat_heads(table: Any, n_heads: int) -> None:
    """Heads again on every page, rows in one piece: python-docx knows neither."""
    from docx.oxml import OxmlElement

    for place, row in enumerate(table.rows):
        properties = row._tr.get_or_add_trPr()
        properties.append(OxmlElement("w:cantSplit"))
        if place < n_heads:
            properties.append(OxmlElement("w:tblHeader"))


def _write_headings(cells: Any, head: Sequence[str], size: float) -> None:
    start = 0
    for text, count in spans(head):
        _write(cells[start].merge(cells[start + count - 1]), text, "c", size)
        start += count


def _write(cell: Any, text: str, way: str, size: float) -> None:
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.shared import Pt

    paragraph = cell.paragraphs[0]
    paragraph.add_run(with_minus(text)).font.size = Pt(size)
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

    for place, note in enumerate(notes):
        paragraph = document.add_paragraph()
        paragraph.paragraph_format.space_after = Pt(2)
        paragraph.paragraph_format.space_before = Pt(2 if place else 4)
        paragraph.add_run(with_minus(note)).font.size = Pt(9)
    document.add_paragraph()
