"""Cells of a terminal that a text takes: letters of Chinese, Japanese and Korean take two, marks upon letters none."""

from __future__ import annotations

from collections.abc import Callable
from unicodedata import combining, east_asian_width


def cells(text: str) -> int:
    r"""How many cells a text takes.

    Examples
    --------
    >>> cells("abc"), cells("北京"), cells("e\u0301")
    (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(0 if combining(letter) else 1 + (east_asian_width(letter) in "WF") for letter in text)


def filled(text: str, size: int, fill: Callable[[str, int], str]) -> str:
    """A text with blanks to its size, by `str.ljust`, `str.rjust` or `str.center`.

    Examples
    --------
    >>> filled("北京", 6, str.rjust)
    '  北京'
    """
    return fill(text, size - cells(text) + len(text))
