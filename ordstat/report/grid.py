"""Tables as text and as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby, pairwise

from .cells import cells, filled, wrapped

_GAP = "  "
#: Longer labels of rows are broken.
_LONGEST_LABEL = 44
#: Letters of a name that a number in its place would not shorten by much.
BRIEF_NAME = 4
#: A hyphen that stands for a minus: not within a word or a range.
_NEGATIVE = re.compile(r"(?<![\w.)\]-])-(?=[\d.∞]|inf)")
#: A number, perhaps in parentheses or with stars: what is before its point, and the rest.
_NUMBER = re.compile(r"([(<]*-?\d*)((?:\.\d+)?(?:e[+-]\d+)?[)*]*)")


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table as text.

    Attributes
    ----------
    title : str
    heads : tuple of tuple of str
        Lines of the head, a text for every column. In all but the last, neighbours that are equal are one heading.
    rows : tuple of tuple of str
    align : str
        A letter for every column: "l", "r" or "c".
    n_labels : int
        How many columns at the left tell what a row is.
    rules : frozenset of int
        Rows with a rule above them.
    notes : tuple of str
    """

    title: str
    heads: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[str, ...], ...]
    align: str
    n_labels: int
    rules: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The last line of the head."""
        return self.heads[-1]


def spans(head: Sequence[str]) -> list[tuple[str, int]]:
    """Headings of a line, with the number of columns of each; columns without one stand alone.

    Examples
    --------
    >>> spans(["", "", "men", "men", "women"])
    [('', 1), ('', 1), ('men', 2), ('women', 1)]
    """
    found: list[tuple[str, int]] = []
    for text, columns in groupby(head):
        size = len(list(columns))
        found += [(text, size)] if text else [("", 1)] * size
    return found


def with_minus(text: str) -> str:
    """The text with minus signs for hyphens before numbers."""
    return _NEGATIVE.sub("\N{MINUS SIGN}", text)


def by_numbers(grid: Grid, width: int) -> Grid:
    """A table of the same names in rows and columns, those of the columns by number where they are long and need it."""
    fits = sum(_sizes(grid)) + len(_GAP) * (len(grid.align) - 1) <= width
    if fits or max(map(cells, grid.names[1:])) <= BRIEF_NAME or len(grid.rows) != len(grid.names) - 1:
        return grid
    numbers = [str(k) for k in range(1, len(grid.rows) + 1)]
    rows = tuple((f"{k} = {name}", *texts) for k, (name, *texts) in zip(numbers, grid.rows, strict=True))
    return replace(grid, heads=((*grid.names[: grid.n_labels], *numbers),), rows=rows)


# Text


def grid_text(grid: Grid, width: int) -> str:
    """The table in blocks of columns, each of at most `width` characters, its title above and its notes below."""
    grid = at_the_point(_with_short_labels(grid))
    columns_of = in_blocks(_sizes(grid), n_leading(grid), len(_GAP), width)
    blocks = ["\n".join(line.rstrip() for line in _lines(grid, columns)) for columns in columns_of]
    return titled("\n\n".join(blocks), grid, width)


def titled(body: str, grid: Grid, width: int) -> str:
    """Title, rows and notes."""
    notes = [line for note in grid.notes for line in wrapped(note, width, rest="  ")]
    return "\n".join([*wrapped(grid.title, width), body, *([""] if notes else []), *notes])


def _with_short_labels(grid: Grid) -> Grid:
    """The table with long labels broken; what is left of one goes on in rows without a label of their own."""
    if grid.n_labels != 1 or max((len(row[0]) for row in grid.rows), default=0) <= _LONGEST_LABEL:
        return grid
    rows: list[tuple[str, ...]] = []
    rules: set[int] = set()
    left: list[str] = []
    for number, row in enumerate((*grid.rows, ("end",))):
        while left and row[0]:
            rows.append((left.pop(0), *[""] * (len(grid.align) - 1)))
        rules |= {len(rows)} if number in grid.rules else set()
        first, *more = wrapped(row[0], _LONGEST_LABEL, rest=_GAP) or [left.pop(0) if left else ""]
        left += more
        rows.append((first, *row[1:]))
    return replace(grid, rows=tuple(rows[:-1]), rules=frozenset(rules))


def _sizes(grid: Grid) -> list[int]:
    return [max(map(cells, column)) for column in zip(grid.names, *grid.rows, strict=True)]


def at_the_point(grid: Grid) -> Grid:
    """The numbers of centred columns with blanks around them: between two rules, their points are below each other."""
    if not grid.rows:
        return grid
    ends = sorted({0, *grid.rules, len(grid.rows)})
    columns = [
        [cell for start, end in pairwise(ends) for cell in _pointed(column[start:end])] if way == "c" else column
        for way, column in zip(grid.align, zip(*grid.rows, strict=True), strict=True)
    ]
    return replace(grid, rows=tuple(zip(*columns, strict=True)))


def _pointed(cells: Sequence[str]) -> Sequence[str]:
    found = [_NUMBER.fullmatch(cell) for cell in cells]
    before = max((len(number[1]) for number in found if number), default=0)
    after = max((len(number[2]) for number in found if number), default=0)
    return [
        number[1].rjust(before) + number[2].ljust(after) if number else cell
        for cell, number in zip(cells, found, strict=True)
    ]


def in_blocks(sizes: Sequence[float], n_first: int, gap: float, room: float) -> Iterator[list[int]]:
    """Columns in as many pieces as the room asks for, each with those of the labels first.

    Examples
    --------
    >>> list(in_blocks([5, 4, 4, 4], 1, 2, 17))
    [[0, 1, 2], [0, 3]]
    """
    first = list(range(n_first))
    taken = used = sum(sizes[i] for i in first) + gap * (n_first - 1)
    block = list(first)
    for column in range(n_first, len(sizes)):
        size = sizes[column] + gap
        if used + size > room and len(block) > n_first:
            yield block
            block, used = list(first), taken
        block.append(column)
        used += size
    yield block


def n_leading(grid: Grid) -> int:
    """How many columns at the left stand in every block: those of the labels, or else the words before the numbers."""
    words = len(grid.align) - len(grid.align.lstrip("l"))
    return max(grid.n_labels or (words if words < len(grid.align) else 1), 1)


def part(grid: Grid, columns: Sequence[int]) -> Grid:
    """Some columns of a table, without its title and notes."""
    chosen = [tuple(tuple(line[i] for i in columns) for line in lines) for lines in (grid.heads, grid.rows)]
    align = "".join(grid.align[i] for i in columns)
    return replace(grid, title="", notes=(), heads=chosen[0], rows=chosen[1], align=align)


def _lines(grid: Grid, columns: list[int]) -> Iterator[str]:
    """Head, rule, rows; labels to the left, numbers to the right or, of models, in the middle."""
    sizes = _sizes(grid)
    sizes = [sizes[i] for i in columns]
    heads = [[head[i] for i in columns] for head in grid.heads]
    for head in heads[:-1]:
        sizes = _widened(head, sizes)
    rule = "-" * (sum(sizes) + len(_GAP) * (len(sizes) - 1))
    align = "".join(grid.align[i] for i in columns)
    yield from (_headings(head, sizes) for head in heads[:-1])
    yield _line(heads[-1], sizes, align)
    yield rule
    for number, row in enumerate(grid.rows):
        if number in grid.rules:
            yield rule
        cells = [row[i] for i in columns]
        if any(cell.strip() for cell in cells):
            yield _line(cells, sizes, align)


def _widened(head: list[str], sizes: list[int]) -> list[int]:
    """Sizes of columns that leave room for their headings."""
    wider, start = list(sizes), 0
    for text, count in spans(head):
        room = sum(wider[start : start + count]) + len(_GAP) * (count - 1)
        wider[start + count - 1] += max(len(text) - room, 0)
        start += count
    return wider


def _headings(head: list[str], sizes: list[int]) -> str:
    pieces, start = [], 0
    for text, count in spans(head):
        pieces.append(text.center(sum(sizes[start : start + count]) + len(_GAP) * (count - 1)))
        start += count
    return _GAP.join(pieces)


def _line(cells: Sequence[str], sizes: Sequence[int], align: str) -> str:
    return _GAP.join(aligned(cell, size, way) for cell, size, way in zip(cells, sizes, align, strict=True))


def aligned(cell: str, size: int, way: str) -> str:
    """A cell with blanks to its size: at its right of "l", at its left of "r", on both sides of "c"."""
    return filled(cell, size, {"l": str.ljust, "r": str.rjust, "c": str.center}[way])


CELL = "padding:.15em .8em;text-align:right;white-space:nowrap"
LABEL = "padding:.15em .8em .15em 0;text-align:left;white-space:pre"  # the nodes of a tree are indented
RULE = "border-bottom:1px solid currentColor"
TABLE = "border-collapse:collapse;margin:.2em 0;font-variant-numeric:tabular-nums;background:transparent"

_ROW = '<tr style="background:transparent">'
_STYLES = {"l": LABEL, "r": CELL, "c": CELL.replace("right", "center")}


def html(grid: Grid) -> str:
    """A table element between its title and its notes."""
    heads = [_headings_html(head) for head in grid.heads[:-1]] + [_cells("th", grid.names, grid.align, RULE)]
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


def _headings_html(head: tuple[str, ...]) -> str:
    style = f"padding:.15em .8em;text-align:center;{RULE}"
    return "".join(
        f'<th colspan="{size}" style="{style}">{escape(text)}</th>' if text else "<td></td>"
        for text, size in spans(head)
    )
