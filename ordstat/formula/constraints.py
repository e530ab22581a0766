"""Linear hypotheses and constraints on named coefficients, read from text."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray
from ..checks import did_you_mean
from ..exceptions import OptionError
from .frames import shown_labels

_TOKEN = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[-+*/()<>=]|\s")
_SIGN = re.compile(r"[<>]=?|==?")
_WORD = re.compile(r"[\w.|\[\]:]+")


class Relation(NamedTuple):
    """row'b = value, or <= or >=, for the (P,) parameters b."""

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
        A relation that cannot be read, is not linear, or contains no parameter.

    Examples
    --------
    >>> relation = read("2 * x1 - x2 <= 3", {"x1": 0, "x2": 1}, 2, ("<=", ">="))[0]
    >>> relation.row.tolist(), relation.sign, relation.value
    ([2.0, -1.0], '<=', 3.0)
    """
    pieces, start, place, coded = [], 0, 0, ""
    while place < len(text):
        name, token = _name_at(text, place, names), _TOKEN.match(text, place)
        if name is not None:
            coded, place = f"{coded} p{names[name]} ", place + len(name)
        elif text[place] in ",\n":
            pieces.append((text[start:place], coded))
            start, place, coded = place + 1, place + 1, ""
        elif token is not None:
            coded, place = coded + token.group(), token.end()
        else:
            word = _WORD.match(text, place)
            raise _unreadable(text, word.group() if word else text[place:], names)
    pieces.append((text[start:], coded))
    pieces = [(piece.strip(), coded) for piece, coded in pieces if coded.strip()]
    if not pieces:
        raise OptionError(f"the text of a relation must not be empty; got {text!r}.")
    return [_relation(piece, coded, names, size, signs) for piece, coded in pieces]


def _name_at(text: str, place: int, names: Mapping[str, int]) -> str | None:
    """The longest parameter name that starts here and is not part of a longer word."""
    if place and (text[place - 1].isalnum() or text[place - 1] == "_"):
        return None
    fitting = [name for name in names if text.startswith(name, place) and _ends(text, place + len(name), name)]
    return max(fitting, key=len) if fitting else None


def _ends(text: str, end: int, name: str) -> bool:
    following = text[end : end + 1]
    return not (name[-1].isalnum() or name[-1] == "_") or not (following.isalnum() or following in ("_", "[", "|", "."))


def _unreadable(text: str, symbol: str, names: Mapping[str, int]) -> OptionError:
    known = f"The parameters are {', '.join(names)}." if names else "There are no parameters."
    return OptionError(
        f"{text!r}: expected a number or a parameter, got {symbol!r}.{did_you_mean(symbol, names)} {known}"
    )


def _relation(text: str, coded: str, names: Mapping[str, int], size: int, signs: Sequence[str]) -> Relation:
    found = _SIGN.findall(coded)
    sign = "=" if found == ["=="] else " ".join(found)
    if sign not in signs:
        raise OptionError(f"{text!r}: expected {' or '.join(map(repr, signs))}, got {sign or 'no sign'!r}.")
    try:
        sides = [ast.parse(side.strip(), mode="eval").body for side in _SIGN.split(coded)]
        left, right = (_linear(side, size, text) for side in sides)
    except OptionError:
        raise
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        known = f"The parameters are {', '.join(names)}."
        raise OptionError(f"{text!r} cannot be read: expected a sum of numbers times parameters. {known}") from None
    difference = left - right
    if not np.any(difference[:-1]):
        raise OptionError(f"{text!r} does not depend on any parameter.")
    return Relation(text, difference[:-1], sign, -float(difference[-1]))


def _linear(node: ast.AST, size: int, text: str) -> FloatArray:
    """(P + 1,) coefficients of the parameters, and the constant."""
    value = np.zeros(size + 1)
    if isinstance(node, ast.Name):
        value[int(node.id[1:])] = 1.0
    elif isinstance(node, ast.Constant):
        value[-1] = float(node.value)  # type: ignore[arg-type]
    elif isinstance(node, ast.UnaryOp):
        value = _linear(node.operand, size, text) * (-1.0 if isinstance(node.op, ast.USub) else 1.0)
    elif isinstance(node, ast.BinOp):
        left, right = _linear(node.left, size, text), _linear(node.right, size, text)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        factor = left if isinstance(node.op, ast.Mult) and np.any(right[:-1]) else right
        if np.any(factor[:-1]) or not isinstance(node.op, (ast.Mult, ast.Div)):
            raise OptionError(f"{text!r} is not linear in the parameters.")
        if factor[-1] == 0.0:
            raise OptionError(f"{text!r} multiplies or divides by zero.")
        other = right if factor is left else left
        value = other * factor[-1] if isinstance(node.op, ast.Mult) else other / factor[-1]
    else:
        raise SyntaxError
    return value


_SIGNS = {"+": ">=", "-": "<="}
_HOW = "constraints must be such as {'x1': '+', 'x2': '-'}, or ['x1 >= 0', 'x1 <= 2 * x2']"
_GROUPS = "interactions must be groups of columns of the data, such as [['x1', 'x2'], ['x3']]"


@dataclass(frozen=True)
class Constraint:
    """Sum of factor * effect <= 0, over columns by name."""

    text: str
    factors: tuple[tuple[str, float], ...]


def constrained(design: Any, constraints: Any) -> Any:
    """The design with restrictions a'w <= 0 on the effects w of its columns.

    Parameters
    ----------
    design : Design
    constraints : mapping of column to "+" or "-", sequence of str, or tuple of Constraint
        "x1 >= 0", "x1 <= x2", "2 * x1 >= x2 + x3", without a constant; columns under their names in the design, such
        as "g[T.b]". A mapping also takes their places, counted from 0. Of the constraints of another design those
        hold whose columns are here; a note names the others.

    Raises
    ------
    OptionError
        A constraint that cannot be read, or an unknown column.
    """
    places = {name: place for place, name in enumerate(design.names)}
    if isinstance(constraints, tuple) and constraints and isinstance(constraints[0], Constraint):
        held = [constraint for constraint in constraints if all(name in places for name, _ in constraint.factors)]
        lost = [constraint for constraint in constraints if constraint not in held]
    else:
        texts = _texts(constraints, design.names)
        relations = [relation for text in texts for relation in read(text, places, len(places), ("<=", ">="))]
        held, lost = [_settled(relation, places) for relation in relations], []
    if lost:
        note = (
            f"constraints= no longer hold {', '.join(repr(constraint.text) for constraint in lost)}: the model has "
            f"no column {shown_labels(_gone(lost, places))} any more. Give constraints= anew."
        )
        design = replace(design, notes=(*design.notes, note))
    design = replace(design, recipe=design.recipe and replace(design.recipe, constraints=tuple(held)))
    if not held:
        return design
    rows = np.zeros((len(held), len(places)))
    for row, constraint in zip(rows, held, strict=True):
        for name, factor in constraint.factors:
            row[places[name]] = factor
            if design.sample.categories is not None and design.sample.categories[places[name]]:
                raise OptionError(
                    f"constraint {constraint.text!r} is on {name!r}, whose categories have no order: make it an "
                    "ordered categorical (pd.CategoricalDtype(levels, ordered=True)), or take the constraint out."
                )
    return replace(design, sample=replace(design.sample, restrictions=rows))


def _gone(lost: Sequence[Constraint], places: Mapping[str, int]) -> list[str]:
    return list(dict.fromkeys(name for constraint in lost for name, _ in constraint.factors if name not in places))


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
    """The column's name, also by its place."""
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


def grouped(design: Any, interactions: Any) -> Any:
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
    if not isinstance(interactions, (list, tuple)) or not interactions:
        raise OptionError(f"{_GROUPS}; got {interactions!r}.")
    groups = []
    for group in interactions:
        if isinstance(group, str) or not isinstance(group, (list, tuple, set, frozenset)) or not group:
            raise OptionError(f"{_GROUPS}; got the group {group!r}.")
        for name in group:
            if name not in known:
                raise OptionError(
                    f"interactions= names {name!r}, which is no column of the formula ({shown_labels(known)})."
                    f"{did_you_mean(name, known)}"
                )
        groups.append(frozenset(group))
    rest = frozenset(known).difference(*groups)
    groups += [rest] if rest else []
    for term, names in variables.items():
        if not any(names <= group for group in groups):
            raise OptionError(
                f"interactions= has no group with {shown_labels(sorted(names))}, which the term {term!r} joins: add "
                "one, or take the term out of the formula."
            )
    places = tuple(
        tuple(
            place
            for term, part in design.terms.items()
            if variables[term] <= group
            for place in range(part.start, part.stop)
        )
        for group in groups
    )
    return replace(design, sample=replace(design.sample, groups=places))
