"""Which columns of the data may interact, as groups of the columns of a design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..checks import did_you_mean
from ..exceptions import OptionError
from .design import Design
from .frames import shown_labels

_HOW = "interactions must be groups of columns of the data, such as [['x1', 'x2'], ['x3']]"


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
    groups = [_group(group, known) for group in _listed(interactions)]
    rest = frozenset(known).difference(*groups)
    groups += [rest] if rest else []
    for term, names in variables.items():
        if not any(names <= group for group in groups):
            raise OptionError(
                f"interactions= has no group with {shown_labels(sorted(names))}, which the term {term!r} of the formula "
                "joins: add one, or take the term out."
            )
    places = tuple(_places(design, group) for group in groups)
    return replace(design, sample=replace(design.sample, groups=places))


def _listed(interactions: Any) -> list[Any]:
    if isinstance(interactions, (list, tuple)) and interactions:
        return list(interactions)
    raise OptionError(f"{_HOW}; got {interactions!r}.")


def _group(group: Any, known: Sequence[str]) -> frozenset[str]:
    if isinstance(group, str) or not isinstance(group, (list, tuple, set, frozenset)) or not group:
        raise OptionError(f"{_HOW}; got the group {group!r}.")
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
