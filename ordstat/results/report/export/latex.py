"""LaTeX with the rules of the booktabs package."""

from __future__ import annotations

import re
import unicodedata

from ..grid import Grid, spans, with_minus
from .paged import BROKEN, LONG, breaks, paged

#: Characters that mean something to LaTeX, or that its oldest fonts have not.
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$", "|": "$|$", '"': "''",
    "[": "{[}", "]": "{]}", "×": r"$\times$", "²": "$^2$", "±": r"$\pm$", "−": "$-$", "≤": r"$\le$",
    "≥": r"$\ge$", "≠": r"$\ne$", "–": "--", "—": "---", "…": r"\dots{}", "∞": r"$\infty$", "\N{NO-BREAK SPACE}": "~",
}  # fmt: skip
_STARS = re.compile(r"(\*+)")
#: A little less than the width of the text of an article, in points.
_PAGE = 340.0
#: Lines that a page has room for: a longer table goes on over pages.
_MOST_LINES = 40
_SMALL = r"\footnotesize\setlength{\tabcolsep}{4pt}"


def latex(grid: Grid, label: str | None = None) -> str:
    r"""A table environment for a document with \usepackage{booktabs}, or a longtable where no page has room for it.

    Parameters
    ----------
    grid : Grid
    label : str, optional
        Of \label.
    """
    found, small = paged(grid, _PAGE, (1.0, 12.0), (0.85, 8.0))
    blocks, setting = [block.grid for block in found], [_SMALL] * small
    lines = sum(len(block.rows) + len(block.heads) + 1 for block in blocks)
    return (_floating if lines <= _MOST_LINES else _long)(grid, blocks, setting, label)


def _floating(grid: Grid, blocks: list[Grid], setting: list[str], label: str | None) -> str:
    """A table that LaTeX puts where there is room, its blocks below each other."""
    lines = [r"\begin{table}[htbp]", r"\centering", *_caption(grid, label), *setting]
    for place, block in enumerate(blocks):
        lines += [r"\par\medskip"] * (place > 0)
        lines += [rf"\begin{{tabular}}{{{_columns(block)}}}", r"\toprule", *_head(block)]
        lines += [*_body(block), r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*lines, *_notes(grid.notes), r"\end{table}"]) + "\n"


def _long(grid: Grid, blocks: list[Grid], setting: list[str], label: str | None) -> str:
    """A table over pages, its head on each of them."""
    lines = [r"% \usepackage{booktabs,longtable}", "{", *setting]
    for place, block in enumerate(blocks):
        caption = [] if place else _caption(grid, label)
        lines += [rf"\begin{{longtable}}{{{_columns(block)}}}", *([*caption, r"\\"] if caption else [])]
        lines += [r"\toprule", *_head(block), r"\endhead", r"\bottomrule", r"\endfoot", *_body(block)]
        lines += [r"\end{longtable}", *([] if grid.title and not place else [r"\addtocounter{table}{-1}"])]
    return "\n".join([*lines, *_notes(grid.notes), "}"]) + "\n"


def _caption(grid: Grid, label: str | None) -> list[str]:
    caption = [rf"\caption{{{escaped(grid.title)}}}"] if grid.title else []
    return caption + ([rf"\label{{{label}}}"] if label else [])


def _head(grid: Grid) -> list[str]:
    names = [_name(*pair) for pair in zip(grid.names, grid.align, strict=True)]
    return [*(line for head in grid.heads[:-1] for line in _headings(head)), " & ".join(names) + r" \\", r"\midrule"]


def _name(name: str, way: str) -> str:
    """The name of a column, perhaps of two lines."""
    shown = r" \\ ".join(escaped(line) for line in name.split("\n"))
    return rf"\shortstack[{way}]{{{shown}}}" if "\n" in name else shown


def _body(grid: Grid) -> list[str]:
    rows = ([*([r"\midrule"] if number in grid.rules else []), _row(row)] for number, row in enumerate(grid.rows))
    return [line for lines in rows for line in lines]


def escaped(text: str) -> str:
    """Text as LaTeX prints it, a hyphen before a number as a minus.

    Examples
    --------
    >>> print(escaped("a_b & c%, 1|2"), escaped("-1.5"), escaped("<.001"))
    a\\_b \\& c\\%, 1$|$2 $-$1.5 $<$.001
    """
    pieces = _STARS.split(with_minus(text))
    return "".join(
        f"$^{{{piece}}}$" if place % 2 else "".join(map(_letter, piece)) for place, piece in enumerate(pieces)
    )


def _letter(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    name = unicodedata.name(character, "") if character >= "\u0370" else ""
    if name.startswith("GREEK SMALL LETTER ") and name.count(" ") == 3:
        letter = name.rpartition(" ")[2].lower().replace("lamda", "lambda")
        return character if letter in ("omicron", "final") else rf"$\{letter}$"
    return character


def _columns(grid: Grid) -> str:
    first = rf"p{{{BROKEN}\linewidth}}" if breaks(grid) else grid.align[:1]
    return first + grid.align[1:]


def _row(cells: tuple[str, ...]) -> str:
    ragged = r"\raggedright " * (len(cells[0]) > LONG)
    return ragged + " & ".join(map(escaped, cells)) + r" \\"


def _headings(head: tuple[str, ...]) -> list[str]:
    """A line of headings over columns, and the rules below them."""
    cells, rules, start = [], [], 1
    for text, size in spans(head):
        cells.append(rf"\multicolumn{{{size}}}{{c}}{{{escaped(text)}}}" if size > 1 else escaped(text))
        rules += [rf"\cmidrule(lr){{{start}-{start + size - 1}}}"] if text else []
        start += size
    return [" & ".join(cells) + r" \\", *rules]


def _notes(notes: tuple[str, ...]) -> list[str]:
    if not notes:
        return []
    return [r"\par\smallskip", r"{\footnotesize\raggedright", *(rf"{escaped(note)}\par" for note in notes), "}"]
