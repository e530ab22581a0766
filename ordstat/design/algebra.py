"""What the operators of a formula make of its factors: a set of terms, formed only as far as the limits allow.

A term is a number whose bits are the positions of its factors, so that a product of terms is the `|` of their bits and
a factor counts once however often it is named; 0 is the intercept. A set of terms is a dict without values, which keeps
their order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from operator import or_

from ..exceptions import FormulaError
from .expressions import MAX_STEPS, MAX_TERMS, NO_DOLLAR, shown, too_large

Terms = dict[int, None]
#: A set of terms, the digits of a number, an operator or a parenthesis.
Symbol = Terms | str

_POWER = "**"
_RANK = {"(": 0, "+": 1, "-": 1, "*": 2, "/": 2, ":": 3, _POWER: 4}
_SIGNS = "+-"
_OPERATORS = re.compile(r"\*\*|\S")


def operators(run: str) -> list[str]:
    """The operators in a run of their characters, such as "+ -"."""
    return [_POWER if operator == "^" else operator for operator in _OPERATORS.findall(run)]


def positions(term: int) -> Iterator[int]:
    """The positions of the factors of a term."""
    while term:
        lowest = term & -term
        yield lowest.bit_length() - 1
        term ^= lowest


class Expansion:
    """Reads the symbols of one right-hand side from left to right, and forms what it can as soon as it can.

    Parameters
    ----------
    text : str
        The formula, for errors.

    Attributes
    ----------
    values : list of Terms
        What still waits for its operator. The first, and the first after each parenthesis, is a sum of its own to
        which all others are added.
    waiting : list of str
        Operators and open parentheses, none above one of higher rank but for a parenthesis.
    steps : int
        Unions and products of terms so far.
    """

    def __init__(self, text: str):
        self.text = text
        self.values: list[Terms] = [{0: None}]
        self.waiting = ["+"]
        self.wants_value = True
        self.steps = 0

    def terms(self, symbols: Iterable[Symbol]) -> list[int]:
        """The terms in the order of R before it sorts them by degree, 0 for an intercept that stays."""
        for symbol in symbols:
            self._read(symbol)
        if self.wants_value:
            raise self._unreadable("it ends where a term should follow")
        self._work_off(1)
        if self.waiting:
            raise self._unreadable("a parenthesis is not closed")
        return list(self.values[0])

    def _read(self, symbol: Symbol) -> None:
        if self.waiting[-1] == _POWER:
            self._raise_to(symbol)
        elif isinstance(symbol, dict):
            self._push(symbol)
        elif symbol.isdigit():
            self._number(symbol)
        elif symbol == "(":
            self._push({})
            self.waiting += ["(", "+"]
            self.wants_value = True
        elif symbol == ")":
            self._close()
        else:
            self._operator(symbol)

    def _push(self, terms: Terms) -> None:
        if not self.wants_value:
            raise self._unreadable("an operator is missing between two terms")
        self.values.append(terms)
        self.wants_value = False

    def _number(self, digits: str) -> None:
        """1 is the intercept and 0 says to leave it out; no other number is a term."""
        if digits == "0" and self.wants_value and self.waiting[-1] in _SIGNS:
            self._sign("-")
        elif digits != "1" and self.wants_value:
            raise FormulaError(
                f"{shown(self.text)} multiplies a term by a number; put arithmetic inside I(), as in I(2 * x)."
            )
        self._push({0: None})

    def _close(self) -> None:
        if self.wants_value:
            raise self._unreadable("a term should stand before ')'")
        self._work_off(1)
        if not self.waiting:
            raise self._unreadable("it has a ')' without '('")
        self.waiting.pop()

    def _operator(self, symbol: str) -> None:
        if self.wants_value:
            self._sign(symbol)
            return
        if symbol not in _RANK:
            raise self._unreadable(f"{symbol!r} is no operator of formulas{_meant(symbol)}")
        if symbol != _POWER:  # which binds closest, and takes what comes next at once
            self._work_off(_RANK[symbol])
        self.waiting.append(symbol)
        self.wants_value = True

    def _sign(self, symbol: str) -> None:
        """A sign before a term, after another sign or where a sum begins: a second minus undoes the first."""
        if symbol not in _SIGNS or self.waiting[-1] not in _SIGNS:
            raise self._unreadable(f"misplaced operator {symbol!r}{_meant(symbol)}")
        if symbol == "-":
            self.waiting[-1] = "+" if self.waiting[-1] == "-" else "-"

    def _work_off(self, rank: int) -> None:
        """Apply the operators that bind as closely as `rank` or closer, back to a parenthesis."""
        while self.waiting and _RANK[self.waiting[-1]] >= rank:
            right, left = self.values.pop(), self.values.pop()
            self.values.append(_MEANING[self.waiting.pop()](self, left, right))

    def _raise_to(self, exponent: Symbol) -> None:
        """The last value times itself, until that adds nothing: by then every product of its factors is there."""
        if isinstance(exponent, dict) or not exponent.isdigit() or not exponent.strip("0"):
            raise self._unreadable("an exponent must be a whole number, 1 or more")
        self.waiting.pop()
        base = terms = self.values.pop()
        for _ in range(_at_most(exponent, MAX_TERMS) - 1):
            size, terms = len(terms), self._product(terms, base)
            if len(terms) == size:
                break
        self.values.append(terms)
        self.wants_value = False

    # What the operators mean

    def _sum(self, left: Terms, right: Terms) -> Terms:
        self._count(len(right))
        left.update(right)
        return self._within(left)

    def _difference(self, left: Terms, right: Terms) -> Terms:
        self._count(len(right))
        for term in right:
            left.pop(term, None)
        return left

    def _product(self, left: Terms, right: Terms) -> Terms:
        self._count(len(left) * len(right))
        out: Terms = {}
        for one in left:
            out.update(dict.fromkeys([one | other for other in right]))
            self._within(out)
        return out

    def _crossed(self, left: Terms, right: Terms) -> Terms:
        return self._within(left | right | self._product(left, right))

    def _nested(self, left: Terms, right: Terms) -> Terms:
        self._count(len(left))
        inside = {reduce(or_, left): None} if left else {}
        return self._within(left | self._product(inside, right))

    def _within(self, terms: Terms) -> Terms:
        if len(terms) - (0 in terms) > MAX_TERMS:
            raise too_large(self.text, f"gives more than {MAX_TERMS:,} terms")
        return terms

    def _count(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise too_large(self.text, f"takes more than {MAX_STEPS:,} sums and products of terms to work out")

    def _unreadable(self, why: str) -> FormulaError:
        return FormulaError(f"Cannot read the formula {shown(self.text)}: {why}.")


def _meant(symbol: str) -> str:
    """What to write in place of something that is no operator."""
    if symbol[0] in "<>=!":
        return "; put conditions inside I(), as in I(x > 40)"
    if symbol[0] == "$":
        return f": {NO_DOLLAR.rstrip('.')}"
    return {",": "; join terms by '+'", "\N{MINUS SIGN}": "; write '-', the minus of the keyboard"}.get(symbol, "")


_MEANING: dict[str, Callable[[Expansion, Terms, Terms], Terms]] = {
    "+": Expansion._sum,
    "-": Expansion._difference,
    "*": Expansion._crossed,
    "/": Expansion._nested,
    ":": Expansion._product,
}


def _at_most(digits: str, limit: int) -> int:
    """A whole number, or the limit where it is larger; a text of any length."""
    significant = digits.lstrip("0")
    return limit if len(significant) > len(str(limit)) else min(int(significant), limit)
