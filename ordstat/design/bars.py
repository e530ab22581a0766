"""Random terms of a formula, `(1 + x | g)`, taken out of the text before anything else reads it.

A right-hand side is cut into pieces at the + and - that stand in no parenthesis. A piece that is one parenthesis around
a bar is a random term; the others, joined again, are the fixed part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ..exceptions import FormulaError
from .expressions import shown

#: The right form, for every message about a bar.
FORM = "A random term reads (1 | group), (1 + x | group), (1 + x || group) or (1 | outer/inner), after a +"
_OPEN, _CLOSE, _QUOTES = "([{", ")]}", "'\"`"


@dataclass(frozen=True)
class Piece:
    """A piece of a sum.

    Attributes
    ----------
    sign : str
        "+" or "-".
    text : str
        Without the sign and blanks around it.
    bar : tuple of int or None
        Where the bar of a random term begins and ends in the text; None of a fixed piece.
    """

    sign: str
    text: str
    bar: tuple[int, int] | None = None

    @property
    def halves(self) -> tuple[str, str, bool]:
        """What stands before and after the bar of a random term, and whether the bar is single."""
        assert self.bar is not None
        start, end = self.bar
        return self.text[1:start].strip(), self.text[end:-1].strip(), end - start == 1


def split_bars(text: str) -> tuple[str, tuple[Piece, ...]]:
    """The fixed part of a right-hand side, "1" where nothing else is left, and its random terms.

    Raises
    ------
    FormulaError
        A bar that is no random term of its own, or one after a minus.

    Examples
    --------
    >>> fixed, bars = split_bars("temp + contact + (1 | judge)")
    >>> fixed, bars[0].halves
    ('temp + contact', ('1', 'judge', True))
    """
    fixed, bars = cut(text)
    taken = next((bar for bar in bars if bar.sign == "-"), None)
    if taken is not None:
        raise FormulaError(f"The random term {shown(taken.text)} stands after a minus. {FORM}; leave out what is not.")
    return fixed, bars


@lru_cache(maxsize=64)
def _without_bars(formula: str) -> tuple[str, tuple[Piece, ...]]:
    tildes = [place for place, character, depth in _bare(formula) if character == "~" and depth == 0]
    if not tildes:
        return split_bars(formula)
    fixed, bars = split_bars(formula[tildes[-1] + 1 :])
    return f"{formula[: tildes[-1]].rstrip()} ~ {fixed}", bars


def without_bars(formula: str) -> tuple[str, tuple[Piece, ...]]:
    """`split_bars` of a formula with or without a response, which stays."""
    if not isinstance(formula, str) or "|" not in formula:
        return formula, ()
    return _without_bars(formula)


def cut(text: str) -> tuple[str, tuple[Piece, ...]]:
    """`split_bars` that leaves random terms after a minus to the caller."""
    if not isinstance(text, str) or "|" not in text:
        return text, ()
    found = list(_pieces(text))
    bars = tuple(piece for piece in found if piece.bar is not None)
    if not bars:
        return text, ()
    rest = [piece for piece in found if piece.bar is None]
    joined = "".join(f" {piece.sign} {piece.text}" for piece in rest).strip()
    return joined.removeprefix("+").strip() or "1", bars


def _pieces(text: str) -> Iterator[Piece]:
    start, sign = 0, "+"
    for place, character, depth in _bare(text):
        before = text[start:place].strip()
        if depth == 0 and character in "+-" and (before or place == start or not text[:place].strip()):
            if before:
                yield _piece(sign, before, text)
            sign, start = character, place + 1
    yield _piece(sign, text[start:].strip(), text)


def _bare(text: str) -> Iterator[tuple[int, str, int]]:
    """(place, character, parentheses around it) of what stands in no quotes."""
    depth, quote = 0, ""
    for place, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
            continue
        if character in _QUOTES:
            quote = character
            continue
        depth -= character in _CLOSE
        yield place, character, depth
        depth += character in _OPEN


def _piece(sign: str, text: str, whole: str) -> Piece:
    """A random term where the text is one parenthesis around one bar; FormulaError for a bar anywhere else."""
    bare = list(_bare(text))
    bars = [place for place, character, depth in bare if character == "|" and depth <= 1 and not _in_call(text, place)]
    if not bars:
        return Piece(sign, text)
    end = bars[-1] + 1
    closes = [place for place, character, depth in bare if character == ")" and depth == 0]
    alone = text.startswith("(") and closes == [len(text) - 1]
    if not alone or len(bars) > 2 or (len(bars) == 2 and bars[1] != bars[0] + 1):
        raise FormulaError(f"Cannot read the '|' of {shown(text)} in the formula {shown(whole.strip())}. {FORM}.")
    piece = Piece(sign, text, (bars[0], end))
    left, right, _ = piece.halves
    if not left or not right:
        side = "before" if not left else "after"
        raise FormulaError(f"The random term {shown(text)} has nothing {side} its bar. {FORM}.")
    return piece


def _in_call(text: str, place: int) -> bool:
    """Whether the parenthesis around a place belongs to a call, as in I((a > 1) | b)."""
    opened = [at for at, character, depth in _bare(text[:place]) if character == "(" and depth == 0]
    return bool(opened) and opened[-1] > 0 and (text[opened[-1] - 1].isalnum() or text[opened[-1] - 1] in "_.")
