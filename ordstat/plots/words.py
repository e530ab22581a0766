"""Words of a picture that fit into their place: names in lines, numbers with their limits."""

from __future__ import annotations

import re

import numpy as np

from ..widths import cells

#: Of numbers in a picture.
_MOST_DECIMALS = 5
#: Letters of a line.
_FEWEST = 8
#: Letters of Chinese, Japanese and Korean, as wide as two others.
_WIDE = "\u2e80-\u9fff\uac00-\ud7af\uff01-\uff60"
#: Where a line may end: after blanks, after the signs that join words, and after wide letters.
_PIECES = re.compile(rf"[{_WIDE}][\s_|/,]*|[^\s_|/,{_WIDE}]*[\s_|/,]+|[^\s_|/,{_WIDE}]+")


def in_lines(words: str, letters: int, most: int = 3) -> str:
    """A name in lines of about so many letters; the middle of one that needs more than `most` lines is left out.

    Letters of Chinese, Japanese and Korean count as two. Its dollars are dollars, not the ends of a formula; a name
    that comes in lines keeps them.

    Examples
    --------
    >>> in_lines("Strongly disagree|Neither agree nor disagree", 20)
    'Strongly disagree|\\nNeither agree nor\\ndisagree'
    >>> in_lines("household_income_per_head", 12, most=2)
    'household_\\n..._per_head'
    """
    if "\n" in words:
        return words
    letters = max(letters, _FEWEST)
    kept = letters * most
    while len(lines := _filled(shortened_middle(words, kept), letters)) > most:
        kept -= 1
    return "\n".join(lines).replace("$", r"\$")


def longest_piece(words: str) -> int:
    """Letters of the longest piece that is not broken.

    Examples
    --------
    >>> longest_piece("no answer to_this"), longest_piece("北京"), longest_piece("")
    (6, 2, 0)
    """
    return max((cells(piece.rstrip(" _|/,")) for piece in _PIECES.findall(words)), default=0)


def _filled(words: str, letters: int) -> list[str]:
    lines = [""]
    for piece in _PIECES.findall(words):
        piece = shortened_middle(piece, letters)
        if lines[-1] and cells(lines[-1]) + cells(piece.rstrip()) > letters:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def shortened_middle(name: str, letters: int) -> str:
    """A name of at most so many letters: names that are alike often differ at their ends.

    Examples
    --------
    >>> shortened_middle("redsvm with C = 1000", 13)
    'redsv... 1000'
    """
    if cells(name) <= letters:
        return name
    kept = letters - 3
    return f"{_beginning(name, kept - kept // 2)}...{_beginning(name[::-1], kept // 2)[::-1]}"


def _beginning(name: str, letters: int) -> str:
    """What has room for so many letters, of which wide ones are two."""
    room = np.cumsum([cells(letter) for letter in name]) <= letters
    return name[: int(room.sum())]


def with_limits(estimate: float, low: float, high: float) -> str:
    """An estimate and its limits, with the decimals that their distance calls for, two at least.

    Examples
    --------
    >>> with_limits(2.503, 1.4669, 3.5393), with_limits(-0.00938, -0.01872, -0.0000358)
    ('2.50 [1.47, 3.54]', '-0.00938 [-0.01872, -0.00004]')
    """
    if not np.isfinite([low, high]).all():
        return f"{estimate:.3g}" if np.isfinite(estimate) and np.isnan([low, high]).all() else "no finite estimate"
    decimals = decimals_for(high - low)
    while decimals < _MOST_DECIMALS and any(end and not round(end, decimals) for end in (low, high)):
        decimals += 1  # of a limit near 0 the sign is to be seen
    return f"{estimate:z.{decimals}f} [{low:z.{decimals}f}, {high:z.{decimals}f}]"


def decimals_for(width: float) -> int:
    """Decimals of numbers that lie so far apart, two at least.

    Examples
    --------
    >>> decimals_for(2.1), decimals_for(0.017)
    (2, 3)
    """
    return int(np.clip(1.0 - np.floor(np.log10(max(width, 1e-300))), 2, 8))
