"""Tables of texts, printed in lines of 80 characters or as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from itertools import chain, groupby, pairwise

from .cells import FORMATS, cells, filled, wrapped

#: Characters of a line.
SCREEN = 80
#: Longer labels of rows are broken, into lines of at least `SHORTEST_LABEL` characters.
_LONGEST_LABEL = 44
SHORTEST_LABEL = 18
#: Names of levels up to this length stay, because numbers would save little room.
_BRIEF_NAME = 4


@dataclass(frozen=True, kw_only=True)
class TextGrid:
    """A table of texts.

    Attributes
    ----------
    title : str
    heads : tuple of tuple of str
        Lines of the head, a text for every column. Above the last line, equal
        neighbours are one heading.
    rows : tuple of tuple of str
    align : str
        "l" or "r" for every column.
    n_labels : int
        Number of columns at the left that name the rows.
    notes : tuple of str
    titles : mapping of int to str
        Titles within the table, by the row below them.
    """

    title: str
    heads: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[str, ...], ...]
    align: str
    n_labels: int = 1
    notes: tuple[str, ...] = ()
    titles: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def sizes(self) -> list[int]:
        """Characters that each column needs."""
        sizes = []
        for column in zip(self.heads[-1], *self.rows, strict=True):
            sizes.append(max(map(cells, column)))
        return sizes

    @property
    def width(self) -> int:
        """Characters of a line of the whole table with one blank between columns."""
        return _total(self.sizes, 1)


def _total(sizes: Sequence[int], gap: int) -> int:
    return sum(sizes) + gap * (len(sizes) - 1)


def by_numbers(grid: TextGrid) -> TextGrid:
    """The table, with numbers for long names of columns if it is too wide and its rows
    have the same names.
    """
    labels = [row[0] for row in grid.rows]
    names = grid.heads[-1]
    after = 1 + len(labels)
    longest = max(map(cells, labels), default=0)
    fits = longest <= _BRIEF_NAME or _total(grid.sizes, 2) <= SCREEN
    if fits or list(names[1:after]) != labels:
        return grid
    numbers = [str(k) for k in range(1, after)]
    rows = []
    for k, (label, *texts) in zip(numbers, grid.rows, strict=True):
        rows.append((f"{k} = {label}", *texts))
    return replace(
        grid, heads=((names[0], *numbers, *names[after:]),), rows=tuple(rows)
    )


def grid_lines(grid: TextGrid) -> list[str]:
    """Title, head and rows; a table wider than the screen is split into blocks of
    columns.
    """
    if grid.n_labels == 1 and grid.width > SCREEN:
        grid = _with_short_labels(grid)
    sizes = grid.sizes
    lines = wrapped(grid.title, SCREEN)
    if grid.width <= SCREEN:
        gap = 2 if _total(sizes, 2) <= SCREEN else 1
        return lines + _block_lines(grid, range(len(sizes)), list(sizes), gap)
    n_first = _identifying(grid)
    for block in _in_blocks(sizes, n_first):
        part = _with_texts(grid, block[n_first:])
        lines += _block_lines(part, block, [sizes[i] for i in block], 2)
        lines.append("")
    return lines[:-1]


def _with_texts(grid: TextGrid, columns: Sequence[int]) -> TextGrid:
    """The table without the rows that have other columns than these alone, and without
    the titles above such rows.

    Lines without any text beside their label, parts of long labels, stay with the rows
    above or below them.
    """
    full = [any(row[grid.n_labels :]) for row in grid.rows]
    here = [any(row[i] for i in columns) for row in grid.rows]
    kept = list(here)
    numbers = [number for number, text in enumerate(full) if text]
    for number, text in enumerate(full):
        if not text:
            above = [n for n in numbers if n < number][-1:]
            below = [n for n in numbers if n > number][:1]
            kept[number] = any(here[n] for n in (*above, *below))
    titles = {}
    starts = [*sorted(grid.titles), len(kept)]
    for start, end in pairwise(starts):
        if any(kept[start:end]):
            titles[sum(kept[:start])] = grid.titles[start]
    rows = tuple(row for row, keep in zip(grid.rows, kept, strict=True) if keep)
    return replace(grid, rows=rows, titles=titles)


def _identifying(grid: TextGrid) -> int:
    """Number of columns at the left that every block repeats: the labels, or the words
    at the left, and then as many columns as tell the rows apart.
    """
    count = len(grid.align)
    words = count - len(grid.align.lstrip("l"))
    least = grid.n_labels
    if not least:
        least = words if 0 < words < count else 1
    for n in range(least, count):
        if len({row[:n] for row in grid.rows}) == len(grid.rows):
            return n
        if grid.heads[-1][n] in FORMATS:  # figures name no row
            break
    return least


def _with_short_labels(grid: TextGrid) -> TextGrid:
    """The table with long labels broken; the name of a factor is on a separate line
    above its levels.
    """
    longest = max((cells(row[0]) for row in grid.rows), default=0)
    room = longest - (grid.width - SCREEN)
    if room < min(SHORTEST_LABEL, longest):
        room = _LONGEST_LABEL
    rows: list[tuple[str, ...]] = []
    titles = {}
    variable = ""
    blank = [""] * (len(grid.align) - 1)
    for number, (label, *texts) in enumerate(grid.rows):
        if number in grid.titles:
            titles[len(rows)] = grid.titles[number]
        name = label.strip()
        indent = label[: len(label) - len(label.lstrip())]
        head = label
        colon = ""
        if cells(label) > room:
            head, colon, level = name.partition(": ")
        if colon:
            if head != variable and len(rows) in titles:
                rows += [(indent + line, *blank) for line in _label_lines(head, room)]
            elif head != variable:
                titles[len(rows)] = head
            name = level
            indent += "  "
        variable = head
        first, *more = _label_lines(name, room - len(indent))
        rows.append((indent + first, *texts))
        rows += [(f"{indent}  {line}", *blank) for line in more]
    return replace(grid, rows=tuple(rows), titles=titles)


def _label_lines(label: str, room: int) -> list[str]:
    """A label in lines of `room` characters."""
    if cells(label) <= room:
        return [label]
    return wrapped(label, max(room - 2, SHORTEST_LABEL // 2), hyphens=False) or [label]


def _in_blocks(sizes: Sequence[int], n_first: int) -> Iterator[list[int]]:
    """Blocks of columns that fit on the screen, all with the first `n_first`."""
    first = list(range(n_first))
    block = list(first)
    for column in range(n_first, len(sizes)):
        wide = _total([sizes[i] for i in (*block, column)], 2) > SCREEN
        if wide and len(block) > n_first:
            yield block
            block = list(first)
        block.append(column)
    yield block


def _block_lines(
    grid: TextGrid, columns: Sequence[int], sizes: list[int], gap: int
) -> list[str]:
    """Head, rule and rows of some columns."""
    between = gap * " "
    lines = []
    upper: list[list[tuple[str, int, int]]] = []
    for texts_of_head in grid.heads[:-1]:
        upper.append(list(spans([texts_of_head[i] for i in columns])))
    for text, start, end in chain.from_iterable(upper):
        sizes[end - 1] += max(cells(text) - _total(sizes[start:end], gap), 0)
    for head in upper:
        lines.append(
            between.join(
                filled(text, _total(sizes[start:end], gap), str.center)
                for text, start, end in head
            )
        )
    fills = {"l": str.ljust, "r": str.rjust}
    for row in (grid.heads[-1], *grid.rows):
        texts = []
        for i, size in zip(columns, sizes, strict=True):
            texts.append(filled(row[i], size, fills[grid.align[i]]))
        lines.append(between.join(texts))
    body = len(upper) + 1
    for number, title in sorted(grid.titles.items(), reverse=True):
        lines[body + number : body + number] = wrapped(title, SCREEN)
    return [*lines[:body], "-" * _total(sizes, gap), *lines[body:]]


def spans(head: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """(heading, start, end) of the columns under each heading; columns without a
    heading stand alone.

    Examples
    --------
    >>> list(spans(["", "men", "men", "women"]))
    [('', 0, 1), ('men', 1, 3), ('women', 3, 4)]
    """
    for _, group in groupby(enumerate(head), key=lambda pair: pair[1] or pair):
        (start, text), *more = group
        yield text, start, start + 1 + len(more)


_CELL = "padding:.15em .8em;text-align:right;white-space:nowrap"
# the nodes of a tree are indented
LABEL = "padding:.15em .8em .15em 0;text-align:left;white-space:pre"
RULE = "border-bottom:1px solid currentColor"
_TABLE = (
    "border-collapse:collapse;margin:.2em"
    " 0;font-variant-numeric:tabular-nums;background:transparent"
)
_ROW = '<tr style="background:transparent">'


def html_table(rows: Iterable[str], name: str) -> str:
    """A table element that scrolls, also by keyboard, if the page is narrower."""
    body = "\n".join(f"{_ROW}{row}</tr>" for row in rows)
    return (
        '<div style="overflow-x:auto" tabindex="0" role="group"'
        f' aria-label="{escape(name) or "Table"}"><table'
        f' style="{_TABLE}">{body}</table></div>'
    )


def grid_html(grid: TextGrid) -> str:
    """The table between its title and its notes."""
    rows = [
        "".join(_heading(*span) for span in spans(head)) for head in grid.heads[:-1]
    ]
    rows.append(_cells_html("th", grid.heads[-1], grid.align, f";{RULE}"))
    for number, row in enumerate(grid.rows):
        if number in grid.titles:
            rows.append(
                f'<th colspan="{len(row)}"'
                f' style="{LABEL}">{escape(grid.titles[number])}</th>'
            )
        rows.append(_cells_html("td", row, grid.align, ""))
    if grid.title:
        title = f'<div style="font-weight:bold">{escape(grid.title)}</div>'
    else:
        title = ""
    notes = "".join(
        f'<div style="margin:.2em 0;opacity:.8">{escape(note)}</div>'
        for note in grid.notes
    )
    table = html_table(rows, grid.title or grid.heads[-1][0])
    return f'<div style="margin-bottom:1em">{title}{table}{notes}</div>'


def _cells_html(tag: str, texts: Sequence[str], align: str, more: str) -> str:
    """Cells of a row; an empty head is a plain cell."""
    styles = {"l": f"{LABEL}{more}", "r": f"{_CELL}{more}"}
    tags = [tag if text else "td" for text in texts]
    return "".join(
        f'<{tag} style="{styles[side]}">{escape(text)}</{tag}>'
        for tag, text, side in zip(tags, texts, align, strict=True)
    )


def _heading(text: str, start: int, end: int) -> str:
    if not text:
        return "<td></td>"
    style = f"padding:.15em .8em;text-align:center;{RULE}"
    return f'<th colspan="{end - start}" style="{style}">{escape(text)}</th>'
