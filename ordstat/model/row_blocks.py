"""Rows a block at a time, where all of them at once would take too much memory or leave the cache."""

from __future__ import annotations

from collections.abc import Iterator

#: Numbers held at once (32 MB), and numbers that stay in the cache.
HELD, CACHED = 1 << 22, 1 << 15


def row_blocks(n: int, per_row: int = 1, room: int = HELD) -> Iterator[slice]:
    """Slices of the rows 0..n-1, each of so many rows that `per_row` numbers a row fit into `room`.

    Examples
    --------
    >>> list(row_blocks(5, per_row=2, room=4))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(room // max(per_row, 1), 1)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))
