"""Signs and orders of named coefficients, as rows of numbers for the columns of a design."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..exceptions import OptionError
from .design import Design

_SIGNS = {"+": ">=", "-": "<="}
_RELATION = re.compile(r"^(.+?)\s*(<=|>=)\s*(.+)$", re.DOTALL)
_HOW = "constraints are {'x1': '+', 'x2': '-'} or a list such as ['x1 >= 0', 'x1 <= x2']"


def constrained(design: Design, constraints: Any) -> Design:
    """The design with restrictions a'w <= 0 on the effects w of its columns.

    Parameters
    ----------
    design : Design
    constraints : mapping of column to "+" or "-", or sequence of str
        "x1 >= 0", "x1 <= 0", "x1 <= x2", "x1 >= x2"; columns under their names in the design, such as "g[T.b]". A
        mapping also takes their places, counted from 0.

    Raises
    ------
    OptionError
        A constraint that cannot be read, or a name that is no column.
    """
    rows = [_row(text, design.names) for text in _texts(constraints, design.names)]
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
        raise OptionError(f"constraints name the column {column}; the model has the columns 0 to {len(names) - 1}.")
    return names[column]


def _row(text: str, names: tuple[str, ...]) -> FloatArray:
    """a with a'w <= 0."""
    found = _RELATION.match(text.strip())
    if found is None:
        raise OptionError(f"{_HOW}; got {text!r}.")
    left, relation, right = found.groups()
    row = _unit(left, names, text) - _unit(right, names, text)
    return row if relation == "<=" else -row


def _unit(name: str, names: tuple[str, ...], text: str) -> FloatArray:
    row = np.zeros(len(names))
    if name in names:
        row[names.index(name)] = 1.0
    elif name != "0":
        known = ", ".join(repr(column) for column in names)
        raise OptionError(f"constraint {text!r} names {name!r}, which is no column of the model. They are: {known}.")
    return row
