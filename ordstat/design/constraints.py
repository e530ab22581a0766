"""Signs and orders of named coefficients, as rows of numbers for the columns of a design."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..exceptions import OptionError
from ..model.equations import Relation, read
from .design import Design

_SIGNS = {"+": ">=", "-": "<="}
_HOW = "constraints must be such as {'x1': '+', 'x2': '-'}, or ['x1 >= 0', 'x1 <= 2 * x2']"


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
    rows = [_row(one) for text in texts for one in read(text, places, len(places), ("<=", ">="))]
    if not rows:
        return design
    return replace(design, sample=replace(design.sample, restrictions=np.array(rows)))


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


def _row(relation: Relation) -> FloatArray:
    """a with a'w <= 0."""
    if relation.value != 0.0:
        raise OptionError(
            f"constraint {relation.text!r} must compare coefficients with each other or with 0; got the constant "
            f"{relation.value:g}."
        )
    return relation.row if relation.sign == "<=" else -relation.row
