"""LaTeX with the rules of the booktabs package."""

from __future__ import annotations

import re
import unicodedata

from ..grid import Grid, spans, with_minus

#: Characters that mean something to LaTeX, or that its oldest fonts have not.
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$", "|": "$|$", '"': "''",
    "[": "{[}", "]": "{]}", "×": r"$\times$", "²": "$^2$", "±": r"$\pm$", "−": "$-$", "≤": r"$\le$",
    "≥": r"$\ge$", "≠": r"$\ne$", "–": "--", "—": "---", "…": r"\dots{}", "∞": r"$\infty$", "\N{NO-BREAK SPACE}": "~",
}  # fmt: skip
_STARS = re.compile(r"(\*+)")
#: A column of longer labels breaks its lines.
_LONG = 40
#: Width of the text of an article, in points; a wider table has smaller letters.
_PAGE = 345.0


def latex(grid: Grid, label: str | None = None) -> str:
    r"""A table environment for a document with \usepackage{booktabs}.

    Parameters
    ----------
    grid : Grid
    label : str, optional
        Of \label.
    """
    lines = [r"\begin{table}[htbp]", r"\centering"]
    lines += [rf"\caption{{{escaped(grid.title)}}}"] if grid.title else []
    lines += [rf"\label{{{label}}}"] if label else []
    lines += [r"\footnotesize\setlength{\tabcolsep}{4pt}"] if _width(grid) > _PAGE else []
    lines += [rf"\begin{{tabular}}{{{_columns(grid)}}}", r"\toprule"]
    for head in grid.heads[:-1]:
        lines += _headings(head)
    lines += [_row(grid.names), r"\midrule"]
    for number, row in enumerate(grid.rows):
        lines += [*([r"\midrule"] if number in grid.rules else []), _row(row)]
    lines += [r"\bottomrule", r"\end{tabular}", *_notes(grid.notes), r"\end{table}"]
    return "\n".join(lines) + "\n"


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
    first = r"p{0.4\linewidth}" if _breaks(grid) else grid.align[:1]
    return first + grid.align[1:]


def _breaks(grid: Grid) -> bool:
    """Whether labels of rows break their lines."""
    return grid.n_labels == 1 and max((len(row[0]) for row in grid.rows), default=0) > _LONG


def _width(grid: Grid) -> float:
    """About how many points a table is wide: a figure has 5, a column 12 around it."""
    letters = [max(map(len, column)) for column in zip(grid.names, *grid.rows, strict=True)]
    first = 0.4 * _PAGE if _breaks(grid) else 5.0 * letters[0]
    return first + 5.0 * sum(letters[1:]) + 12.0 * len(letters)


def _row(cells: tuple[str, ...]) -> str:
    return " & ".join(map(escaped, cells)) + r" \\"


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
