"""Linear relations of named parameters, written as text: "temp = contact, 2 * x1 + x2 = 1", "x1 <= x2"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..checks import did_you_mean
from ..exceptions import OptionError

_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WORD = re.compile(r"[\w.|\[\]:]+")


@dataclass(frozen=True, eq=False)
class Relation:
    """row'b = value, or <= or >=.

    Attributes
    ----------
    text : str
    row : (P,)
    sign : str
    value : float
    """

    text: str
    row: FloatArray
    sign: str
    value: float


def read(text: str, names: Mapping[str, int], size: int, signs: Sequence[str]) -> list[Relation]:
    """The relations between commas or line ends.

    Parameters
    ----------
    text : str
        Numbers, names, + - * / and parentheses. Names may hold any characters: the longest that fits is taken.
    names : mapping of name to place
    size : int
        P.
    signs : sequence of str
        Those allowed among "=", "<=" and ">=".

    Raises
    ------
    OptionError
        A relation that cannot be read, is not linear, or has no parameter in it.

    Examples
    --------
    >>> one = read("2 * x1 - x2 <= 3", {"x1": 0, "x2": 1}, 2, ("<=", ">="))[0]
    >>> one.row.tolist(), one.sign, one.value
    ([2.0, -1.0], '<=', 3.0)
    """
    pieces = _split(text, names)
    if not pieces:
        raise OptionError(f"the text of a relation must not be empty; got {text!r}.")
    return [_Reader(piece, names, size).relation(signs) for piece in pieces]


def _split(text: str, names: Mapping[str, int]) -> list[str]:
    """What stands between commas or line ends; commas inside parameter names do not count."""
    pieces, start, place = [], 0, 0
    while place < len(text):
        name = _name_at(text, place, names)
        if name is not None:
            place += len(name)
            continue
        if text[place] in ",\n":
            pieces.append(text[start:place])
            start = place + 1
        place += 1
    pieces.append(text[start:])
    return [piece.strip() for piece in pieces if piece.strip()]


def _name_at(text: str, place: int, names: Mapping[str, int]) -> str | None:
    """The longest parameter name that starts here and is not part of a longer word."""
    if place and (text[place - 1].isalnum() or text[place - 1] == "_"):
        return None
    fitting = [name for name in names if text.startswith(name, place) and _ends(text, place + len(name), name)]
    return max(fitting, key=len) if fitting else None


def _ends(text: str, end: int, name: str) -> bool:
    following = text[end : end + 1]
    return not (name[-1].isalnum() or name[-1] == "_") or not (following.isalnum() or following in ("_", "[", "|", "."))


@dataclass(eq=False)
class _Reader:
    """Reads one relation: sums of products of numbers and at most one parameter each, on both sides of a sign."""

    text: str
    names: Mapping[str, int]
    size: int
    place: int = field(default=0)

    def relation(self, signs: Sequence[str]) -> Relation:
        left = self._sum()
        sign = self._take(*signs)
        if not sign:
            raise self._error(" or ".join(map(repr, signs)))
        if sign == "=":
            self._take("=")  # "==" of Python
        difference = left - self._sum()
        if self._next():
            raise self._error("the end of the equation")
        if not np.any(difference[:-1]):
            raise OptionError(f"{self.text!r} does not depend on any parameter.")
        return Relation(self.text, difference[:-1], sign, -float(difference[-1]))

    def _sum(self) -> FloatArray:
        sign: Any = "-" if self._take("-") else "+"
        total = self._product() * (1.0 if sign == "+" else -1.0)
        while sign := self._take("+", "-"):
            total = total + self._product() * (1.0 if sign == "+" else -1.0)
        return total

    def _product(self) -> FloatArray:
        total = self._factor()
        while operator := self._take("*", "/"):
            other = self._factor()
            if operator == "/":
                total = total / self._constant(other)
            elif np.any(other[:-1]):
                total = self._constant(total) * other
            else:
                total = total * other[-1]
        return total

    def _constant(self, value: FloatArray) -> float:
        if np.any(value[:-1]):
            raise OptionError(f"{self.text!r} is not linear in the parameters.")
        if value[-1] == 0.0:
            raise OptionError(f"{self.text!r} multiplies or divides by zero.")
        return float(value[-1])

    def _factor(self) -> FloatArray:
        if self._take("("):
            inside = self._sum()
            if not self._take(")"):
                raise self._error("')'")
            return inside
        if self._take("-"):
            return -self._factor()
        self._next()
        value = np.zeros(self.size + 1)
        name = _name_at(self.text, self.place, self.names)
        if name is not None:
            value[self.names[name]] = 1.0
            self.place += len(name)
            return value
        number = _NUMBER.match(self.text, self.place)
        if number is None:
            raise self._error("a number or a parameter")
        value[-1] = float(number.group())
        self.place = number.end()
        return value

    def _next(self) -> str:
        """The next character that is not a blank, not read yet."""
        while self.text[self.place : self.place + 1].isspace():
            self.place += 1
        return self.text[self.place : self.place + 1]

    def _take(self, *symbols: str) -> str:
        self._next()
        found = next((symbol for symbol in symbols if self.text.startswith(symbol, self.place)), "")
        self.place += len(found)
        return found

    def _error(self, expected: str) -> OptionError:
        word = _WORD.match(self.text, self.place)
        found = word.group() if word else self.text[self.place :]
        got = f"{found!r}.{did_you_mean(found, self.names)}" if found else "the end."
        there = f"The parameters are {', '.join(self.names)}." if self.names else "There is no parameter to speak of."
        return OptionError(f"{self.text!r}: expected {expected}, got {got} {there}")
