"""Linear hypotheses and constraints on named coefficients, read from text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..checks import did_you_mean
from ..exceptions import OptionError
from .design import Design
from .frames import shown_labels

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


_SIGNS = {"+": ">=", "-": "<="}
_HOW = "constraints must be such as {'x1': '+', 'x2': '-'}, or ['x1 >= 0', 'x1 <= 2 * x2']"
_GROUPS = "interactions must be groups of columns of the data, such as [['x1', 'x2'], ['x3']]"


@dataclass(frozen=True)
class Constraint:
    """Sum of factor * effect <= 0, over columns by name."""

    text: str
    factors: tuple[tuple[str, float], ...]

    def row(self, places: Mapping[str, int]) -> FloatArray:
        """a with a'w <= 0 for the effects w of the columns at these places."""
        row = np.zeros(len(places))
        for name, factor in self.factors:
            row[places[name]] = factor
        return row


def constrained(design: Design, constraints: Any) -> Design:
    """The design with restrictions a'w <= 0 on the effects w of its columns.

    Parameters
    ----------
    design : Design
    constraints : mapping of column to "+" or "-", or sequence of str
        "x1 >= 0", "x1 <= x2", "2 * x1 >= x2 + x3", without a constant; columns under their names in the design, such
        as "g[T.b]". A mapping also takes their places, counted from 0.

    Raises
    ------
    OptionError
        A constraint that cannot be read, or a name that is no column.
    """
    places = {name: place for place, name in enumerate(design.names)}
    texts = _texts(constraints, design.names)
    relations = [one for text in texts for one in read(text, places, len(places), ("<=", ">="))]
    return _held(design, [_settled(one, places) for one in relations])


def kept(design: Design, constraints: tuple[Constraint, ...]) -> Design:
    """The design with constraints of another one, as far as their columns are here; a note names the others."""
    here = set(design.names)
    lost = [one for one in constraints if not here.issuperset(name for name, _ in one.factors)]
    held = _held(design, [one for one in constraints if one not in lost])
    if not lost:
        return held
    texts = ", ".join(repr(one.text) for one in lost)
    gone = ", ".join(dict.fromkeys(repr(name) for one in lost for name, _ in one.factors if name not in here))
    note = f"constraints= no longer hold {texts}: the model has no column {gone} any more. Give constraints= anew."
    return replace(held, notes=(*held.notes, note))


def _held(design: Design, constraints: list[Constraint]) -> Design:
    """With these constraints in the sample, and in the recipe for updates."""
    recipe = design.recipe and replace(design.recipe, constraints=tuple(constraints))
    if not constraints:
        return replace(design, recipe=recipe)
    places = {name: place for place, name in enumerate(design.names)}
    rows = np.array([one.row(places) for one in constraints])
    if design.sample.categories is not None:
        _refuse_categories([name for name, place in places.items() if design.sample.categories[place]], constraints)
    return replace(design, recipe=recipe, sample=replace(design.sample, restrictions=rows))


def _refuse_categories(names: list[str], constraints: list[Constraint]) -> None:
    """OptionError where a constraint is on a column of categories."""
    for one in constraints:
        for name, _ in one.factors:
            if name in names:
                raise OptionError(
                    f"constraint {one.text!r} is on {name!r}, whose categories have no order: make it an ordered "
                    "categorical (pd.CategoricalDtype(levels, ordered=True)), or take the constraint out."
                )


def _texts(constraints: Any, names: tuple[str, ...]) -> list[str]:
    if isinstance(constraints, Mapping):
        unknown = [sign for sign in constraints.values() if sign not in _SIGNS]
        if unknown:
            raise OptionError(f"{_HOW}; got the sign {unknown[0]!r}.")
        return [f"{_name(column, names)} {_SIGNS[sign]} 0" for column, sign in constraints.items()]
    if isinstance(constraints, str):
        return [constraints]
    if not isinstance(constraints, (list, tuple)) or not all(isinstance(text, str) for text in constraints):
        raise OptionError(f"{_HOW}; got {constraints!r}.")
    return list(constraints)


def _name(column: Any, names: tuple[str, ...]) -> str:
    """The column's name, where a place is given."""
    if isinstance(column, bool) or not isinstance(column, (int, np.integer)):
        return str(column)
    if not 0 <= column < len(names):
        raise OptionError(f"constraints must name columns from 0 to {len(names) - 1}; got {column}.")
    return names[column]


def _settled(relation: Relation, places: Mapping[str, int]) -> Constraint:
    """A relation by the names of its columns."""
    if relation.value != 0.0:
        raise OptionError(
            f"constraint {relation.text!r} must compare coefficients with each other or with 0; got the constant "
            f"{relation.value:g}."
        )
    row = relation.row if relation.sign == "<=" else -relation.row
    return Constraint(relation.text, tuple((name, float(row[place])) for name, place in places.items() if row[place]))


def grouped(design: Design, interactions: Any) -> Design:
    """The design with groups of columns: an effect of several variables is of those in one group.

    Parameters
    ----------
    design : Design
    interactions : list of lists of str
        Names of columns of the data; one may be in several groups, and those in none make one more.

    Raises
    ------
    OptionError
        What is no such list, a name that is no column of the formula, or a term of variables in no common group.
    """
    variables = design.spec.variables()
    known = sorted(frozenset().union(*variables.values()))
    groups = [_group(group, known) for group in _groups(interactions)]
    rest = frozenset(known).difference(*groups)
    groups += [rest] if rest else []
    for term, names in variables.items():
        if not any(names <= group for group in groups):
            raise OptionError(
                f"interactions= has no group with {shown_labels(sorted(names))}, which the term {term!r} joins: add "
                "one, or take the term out of the formula."
            )
    places = tuple(_places(design, group) for group in groups)
    return replace(design, sample=replace(design.sample, groups=places))


def _groups(interactions: Any) -> list[Any]:
    if isinstance(interactions, (list, tuple)) and interactions:
        return list(interactions)
    raise OptionError(f"{_GROUPS}; got {interactions!r}.")


def _group(group: Any, known: Sequence[str]) -> frozenset[str]:
    if isinstance(group, str) or not isinstance(group, (list, tuple, set, frozenset)) or not group:
        raise OptionError(f"{_GROUPS}; got the group {group!r}.")
    for name in group:
        if name not in known:
            raise OptionError(
                f"interactions= names {name!r}, which is no column of the formula ({shown_labels(known)})."
                f"{did_you_mean(name, known)}"
            )
    return frozenset(group)


def _places(design: Design, group: frozenset[str]) -> tuple[int, ...]:
    """Columns of the design that depend on variables of a group alone."""
    variables = design.spec.variables()
    inside = [part for term, part in design.terms.items() if variables[term] <= group]
    return tuple(place for part in inside for place in range(part.start, part.stop))
