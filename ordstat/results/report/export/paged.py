"""A table on a page: in smaller letters where it is too wide, and in blocks of columns where it is wider still."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..grid import Grid, in_blocks, n_leading, part, spans

#: A column of longer labels breaks its lines.
LONG = 40
#: What such a column has of the width of a page.
BROKEN = 0.4
#: Widths of letters of 10 points in common serif fonts: those like a comma, a t and an M; others have about five.
_WIDTHS = {**dict.fromkeys("ijl.,:;!'| ", 2.9), **dict.fromkeys("frst()[]-", 3.9), **dict.fromkeys("mwMW%@&<>=+", 8.0)}


@dataclass(frozen=True)
class Block:
    """Columns that stand side by side, without title and notes, and about how many points each is wide."""

    grid: Grid
    widths: tuple[float, ...]


def paged(grid: Grid, room: float, full: tuple[float, float], small: tuple[float, float]) -> tuple[list[Block], bool]:
    """Blocks of a table, and whether its letters are small.

    Parameters
    ----------
    grid : Grid
        Names of columns of a table in small letters are in two lines where they are wider than their cells.
    room : float
        Points from margin to margin.
    full, small : (size, gap)
        Size of letters beside 10 points, and points between two columns.
    """
    widths = _widths(grid, room, *full)
    if sum(widths) <= room:
        return [Block(grid, tuple(widths))], False
    grid = replace(grid, heads=(*grid.heads[:-1], _in_two_lines(grid)))
    widths = _widths(grid, room, *small)
    chosen = _alike_blocks(widths, n_leading(grid), room)
    return [Block(part(grid, columns), tuple(widths[i] for i in columns)) for columns in chosen], True


def breaks(grid: Grid) -> bool:
    """Whether labels of rows break their lines."""
    return grid.n_labels == 1 and max((len(row[0]) for row in grid.rows), default=0) > LONG


def _widths(grid: Grid, room: float, size: float, gap: float) -> list[float]:
    columns = zip(*map(_alone, grid.heads[:-1]), grid.names, *grid.rows, strict=True)
    widths = [size * max(_points(line) for cell in column for line in cell.split("\n")) + gap for column in columns]
    return [BROKEN * room + gap, *widths[1:]] if breaks(grid) else widths


def _alone(head: Sequence[str]) -> list[str]:
    """Headings over one column; those over several have room."""
    return [text if count == 1 else "" for text, count in spans(head) for _ in range(count)]


def _points(text: str) -> float:
    return sum(_WIDTHS.get(letter, 7.2 if letter.isupper() else 5.2) for letter in text)


def _in_two_lines(grid: Grid) -> tuple[str, ...]:
    return tuple(_broken(name, cells) for name, *cells in zip(grid.names, *grid.rows, strict=True))


def _broken(name: str, cells: Sequence[str]) -> str:
    places = [place for place, letter in enumerate(name) if letter == " "]
    if not places or _points(name) <= max(map(_points, cells), default=0.0):
        return name
    middle = min(places, key=lambda place: abs(place - len(name) / 2))
    return f"{name[:middle]}\n{name[middle + 1 :]}"


def _alike_blocks(widths: Sequence[float], n_first: int, room: float) -> list[list[int]]:
    """As few blocks as there is room for, about as wide as each other."""
    blocks = list(in_blocks(widths, n_first, 0.0, room))
    while 1 < len(blocks) < len(widths) - n_first:
        room -= 5.0
        narrower = list(in_blocks(widths, n_first, 0.0, room))
        if len(narrower) > len(blocks):
            break
        blocks = narrower
    return blocks
