"""Signs and orders of named coefficients, as rows of numbers for the columns of a design; variables that may interact.

Once read, a constraint goes by the names of its columns, so that an update keeps it where they are still there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..checks import did_you_mean
from ..exceptions import OptionError
from ..model.equations import Relation, read
from .design import Design
from .frames import shown_labels

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
