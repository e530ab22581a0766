"""A page as a Word document, by python-docx."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from ..report.cells import number
from ..report.export.word import add_grid, new_document
from ..report.render import Line, Report, Table
from .blocks import Block, Code, Drawing, Items, Page, Words

#: Inches between the margins, which pictures keep within; points of letters of a program.
_WIDTH, _TYPED = 6.0, 9


def as_word(page: Page) -> bytes:
    """The document, its pictures in it."""
    document = new_document()
    document.core_properties.title = page.title
    document.add_heading(page.title, level=1)
    for section in page.sections:
        document.add_heading(section.title, level=2)
        for block in section.blocks:
            _add(document, block)
    stream = BytesIO()
    document.save(stream)
    return stream.getvalue()


def _add(document: Any, block: Block) -> None:
    match block:
        case Words(text):
            document.add_paragraph(text)
        case Code(text):
            _add_code(document, text)
        case Items(items):
            for head, text in items:
                _add_item(document, head, text)
        case Report():
            _add_report(document, block)
        case Drawing():
            _add_drawing(document, block)


def _add_code(document: Any, text: str) -> None:
    from docx.shared import Pt

    font = document.add_paragraph().add_run(text).font
    font.name, font.size = "Courier New", Pt(_TYPED)


def _add_item(document: Any, head: str, text: str) -> None:
    paragraph = document.add_paragraph(style=None if head else "List Bullet")
    if head:
        paragraph.add_run(f"{head}: ").bold = True
    paragraph.add_run(text)


def _add_report(document: Any, report: Report) -> None:
    document.add_paragraph(report.title, style="Caption")
    for label, value in report.header:
        _add_item(document, label, number(value))
    for piece in report.tables:
        if isinstance(piece, Line):
            document.add_paragraph(piece.text)
            continue
        _add_table(document, piece)
    for note in (*report.notes, *report.of_margins):
        _add_item(document, "", note)


def _add_table(document: Any, table: Table) -> None:
    for grid in (grid for piece in table.pieces for grid in piece.noted().grids()):
        add_grid(document, grid)


def _add_drawing(document: Any, drawing: Drawing) -> None:
    from docx.shared import Inches

    picture = document.add_picture(BytesIO(drawing.data))
    shrunk = min(1.0, Inches(_WIDTH) / picture.width)
    picture.width, picture.height = int(shrunk * picture.width), int(shrunk * picture.height)
    picture._inline.docPr.set("descr", drawing.caption)
    document.paragraphs[-1].paragraph_format.keep_with_next = True
    document.add_paragraph(drawing.caption, style="Caption")
