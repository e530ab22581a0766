"""Effects of ordered predictors: smooth(x)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from .._typing import FloatArray
from ..checks import number, shown_labels
from ..exceptions import DataError, FormulaError
from .names import ORDERED
from .parse import Expression, Term, dotted_name

if TYPE_CHECKING:
    from .coding import Coding
    from .spec import FormulaSpec

#: Most levels of an ordered predictor.
_MOST_LEVELS = 100


@dataclass(frozen=True, kw_only=True)
class OrderedEffect:
    """What holds for the steps between neighbouring levels of a predictor.

    Attributes
    ----------
    kind : {"smooth"}
        Squared steps are penalised.
    weight : float or None
        The smoothing parameter (sp=); None if it is estimated.
    """

    kind: str
    weight: float | None = None


def smooth_steps(sp: float | None = None) -> OrderedEffect:
    """smooth(x, sp=None): steps between neighbouring levels are shrunken; `sp` holds
    the smoothing parameter.
    """
    weight = None if sp is None else number("sp", sp, above=0.0)
    return OrderedEffect(kind="smooth", weight=weight)


#: The functions of formulas: name to what makes the effect of the options.
EFFECTS: dict[str, Callable[..., OrderedEffect]] = {"smooth": smooth_steps}


def steps(count: int) -> FloatArray:
    """(count, count) from the effects of levels 1, ..., count against level 0 to the
    steps between neighbouring levels.

    Examples
    --------
    >>> steps(2)
    array([[ 1.,  0.],
           [-1.,  1.]])
    """
    return np.asarray(np.eye(count) - np.eye(count, k=-1))


def ordered_terms(spec: FormulaSpec) -> list[tuple[Term, Expression, Coding]]:
    """The location terms of ordered predictors, each a term of its own.

    Raises
    ------
    FormulaError
        smooth(x) inside another expression, in an interaction, or outside the location
        effects.
    DataError
        A variable without an order, or with too many or too few levels.
    """
    found = []
    elsewhere = [*spec.offsets.values(), *spec.groups.values()]
    for random in spec.location.random:
        elsewhere += random.columns.factors.values()
    for role, side in spec.by_role.items():
        for term in side.terms:
            factor = term.factors[0]
            alone = role == "location" and len(term.factors) == 1
            if alone and _is_call(factor.tree):
                coding = spec.codings[factor.key]
                _check_levels(factor, coding)
                found.append((term, factor, coding))
            else:
                elsewhere += term.factors
    for expression in elsewhere:
        _check_without(expression)
    return found


def _check_without(expression: Expression) -> None:
    """FormulaError for smooth() in an expression."""
    if "(" not in expression.key:
        return
    for node in ast.walk(expression.tree):
        if _is_call(node):
            raise FormulaError(
                f"{ast.unparse(node)} must be a term of its own, neither in an"
                " interaction nor in another expression, and not one of nominal=,"
                " scale= or random terms. Write the variable itself there."
            )


def _is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and dotted_name(node.func) in ORDERED


def _check_levels(factor: Expression, coding: Coding) -> None:
    """DataError unless the levels have an order, and are not too many or too few."""
    levels = coding.levels
    numbers = all(isinstance(level, Real) for level in levels)
    if not coding.ordered and not (numbers and list(levels) == sorted(levels)):
        raise DataError(
            f"{factor.label!r}: the variable must be an ordered categorical or numbers;"
            f" got {shown_labels(levels)} without an order. Give its levels, lowest"
            " first, by pd.Categorical(values, levels, ordered=True)."
        )
    if len(levels) > _MOST_LEVELS:
        raise DataError(
            f"{factor.label!r}: the variable must have at most {_MOST_LEVELS} levels;"
            f" got {len(levels):,}. Join levels, or write s() of it as a number."
        )
