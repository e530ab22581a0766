"""Cells of a terminal that a text takes: letters of Chinese, Japanese and Korean take two, marks upon letters none; and
texts in lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from textwrap import TextWrapper
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


_KEPT = "\N{NO-BREAK SPACE}"
#: A formula without blanks is broken behind operators and commas, a name that is longer than a line behind these.
_BEHIND = (r"[^~+*:,/^]+[~+*:,/^]*|[~+*:,/^]+", r"[^_.(\[]+[_.(\[]*|[_.(\[]+")


class _Lines(TextWrapper):
    """Words that are longer than a line, as formulas without blanks are, broken at their operators."""

    def _split(self, text: str) -> list[str]:
        room = self.width - max(len(self.initial_indent), len(self.subsequent_indent))
        parts = super()._split(text)
        for behind in _BEHIND:
            parts = [one for part in parts for one in (re.findall(behind, part) if len(part) > room else [part])]
        return parts


def wrapped(text: str, width: int, first: str = "", rest: str = "", hyphens: bool = True) -> list[str]:
    """Lines of a text of at most `width` letters, broken at blanks, formulas at operators too.

    Parameters
    ----------
    text : str
    width : int
    first, rest : str
        What stands before the first line, and before the others.
    hyphens : bool
        Whether lines end behind hyphens, too.

    Examples
    --------
    >>> wrapped("Model: rating~temperature+contact", 20)
    ['Model: rating~', 'temperature+contact']
    >>> wrapped("`name of a column` + other", 20)
    ['`name of a column` +', 'other']
    """
    whole = re.sub("`[^`]*`", lambda name: name[0].replace(" ", _KEPT), text)
    lines = _Lines(width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=hyphens).wrap(whole)
    return lines if whole == text else [line.replace(_KEPT, " ") for line in lines]
