"""A page as Markdown, with its pictures as files beside it."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from ..report.cells import number
from ..report.render import Line, Report, Table
from .blocks import Block, Code, Drawing, Items, Page, Words

_MARKS = re.compile(r"([\\`*_{}\[\]<>|#~$])")


def as_markdown(page: Page, folder: str) -> tuple[str, dict[str, bytes]]:
    """The text, and the files that it shows, by their names in `folder`.

    Examples
    --------
    >>> from ordstat.results.page.blocks import Section
    >>> print(as_markdown(Page("y ~ a_b", (Section("Data", (Words("1 row."),)),)), "report_files")[0])
    # y \\~ a\\_b
    <BLANKLINE>
    ## Data
    <BLANKLINE>
    1 row.
    <BLANKLINE>
    """
    blocks = [block for section in page.sections for block in section.blocks if isinstance(block, Drawing)]
    names = {id(block): f"{i:02d}-{_file_name(block.name)}.{block.kind}" for i, block in enumerate(blocks, 1)}
    parts = [f"# {_plain(page.title)}"]
    for section in page.sections:
        parts.append(f"## {_plain(section.title)}")
        parts += [_block(block, PurePosixPath(folder) / names.get(id(block), "")) for block in section.blocks]
    return "\n\n".join(parts) + "\n", {names[id(block)]: block.data for block in blocks}


def _block(block: Block, path: PurePosixPath) -> str:
    match block:
        case Words(text):
            return _plain(text)
        case Code(text):
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
            return f"{fence}\n{text}\n{fence}"
        case Items(items):
            return "\n".join(f"- {f'**{_plain(head)}**: ' if head else ''}{_plain(text)}" for head, text in items)
        case Report():
            return _report(block)
        case Drawing():
            return f"![{_plain(block.caption)}](<{path}>)\n\n*{_plain(block.caption)}*"


def _report(report: Report) -> str:
    header = [f"{_plain(label)}: {_plain(number(value))}" for label, value in report.header]
    parts = [f"**{_plain(report.title)}**", *header, *map(_piece, report.tables)]
    notes = [f"- {_plain(note)}" for note in (*report.notes, *report.of_margins)]
    return "\n\n".join([*parts, *(["\n".join(notes)] if notes else [])])


def _piece(piece: Table | Line) -> str:
    if isinstance(piece, Line):
        return _plain(piece.text)
    return "\n\n".join(str(table.noted().to_markdown()).strip() for table in piece.pieces)


def _plain(text: str) -> str:
    """Text whose marks are letters."""
    return _MARKS.sub(r"\\\1", " ".join(str(text).split()))


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]+", "-", name).strip("-") or "picture"
