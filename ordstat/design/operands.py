"""What operators of a formula do with numbers, conditions and factors."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import BoolArray
from ..exceptions import DataError, FormulaError
from .columns import Factor, factor_of
from .contrasts import Contrast, contrast
from .expressions import dotted_name, literal, options, refusal, source

_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def numeric(value: Any, node: ast.AST) -> Any:
    """Numbers for arithmetic: conditions count as 0 and 1, factors and text are refused."""
    if isinstance(value, Factor):
        raise FormulaError(
            f"{source(node)!r} is not numeric (its levels are {value.levels[:6]!r}): use C() or convert it."
        )
    if isinstance(value, str):
        raise FormulaError(f"Text {value!r} where a number is needed.")
    return value.astype(float) if isinstance(value, np.ndarray) and value.dtype.kind in "biu" else value


def condition(value: Any, node: ast.AST) -> Any:
    """Booleans for & | ~."""
    if isinstance(value, bool) or (isinstance(value, np.ndarray) and value.dtype == bool):
        return value
    raise FormulaError(f"{source(node)!r} is no condition; put comparisons in parentheses: (x > 0) & (z < 1).")


def compare(left: Any, kind: ast.cmpop, right: Any, node: ast.Compare) -> Any:
    """One comparison, where a factor compares by label (by rank if ordered)."""
    if type(kind) not in _COMPARISONS:
        raise refusal(node)
    if isinstance(left, Factor) and isinstance(right, Factor):
        left, right = (np.array(f.levels, dtype=object)[f.codes] for f in (left, right))
    elif isinstance(right, Factor):
        return _against_label(right, _COMPARISONS[_mirrored(type(kind))], left, node)
    elif isinstance(left, Factor):
        return _against_label(left, _COMPARISONS[type(kind)], right, node)
    elif isinstance(left, str) or isinstance(right, str):
        raise FormulaError(f"{source(node)!r} compares text with numbers.")
    return np.asarray(_COMPARISONS[type(kind)](left, right), dtype=bool)


def _mirrored(kind: type[ast.cmpop]) -> type[ast.cmpop]:
    pairs: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
    return pairs.get(kind, kind)


def _against_label(factor: Factor, test: Callable[[Any, Any], Any], label: Any, node: ast.Compare) -> BoolArray:
    if isinstance(label, np.ndarray) or label not in factor.levels:
        raise FormulaError(f"{source(node)!r}: compare the factor with one of its levels {factor.levels[:10]!r}.")
    if test not in (operator.eq, operator.ne) and not factor.ordered:
        raise FormulaError(f"{source(node)!r}: < and > need an ordered factor; use == or !=.")
    return np.asarray(test(factor.codes, factor.levels.index(label)), dtype=bool)


def contrast_of(node: ast.expr) -> Contrast:
    """The contrast in C(f, Sum), C(f, contr.sum), C(f, "sum"), C(f, Treatment("b")), C(f, [[...]])."""
    if isinstance(node, ast.Call):
        values = [literal(argument) for argument in node.args] + list(options(node).values())
        if len(values) > 1:
            raise FormulaError(f"{source(node)!r}: a contrast takes a base level at most.")
        return contrast(dotted_name(node.func) or source(node), *values)
    if isinstance(node, (ast.Name, ast.Attribute)):
        return contrast(dotted_name(node) or source(node))
    return contrast(literal(node))


def as_factor(value: Any, levels: tuple[Any, ...] | None, label: str) -> Factor:
    """A factor from numbers (sorted levels), conditions (False, True) or a factor; `levels` sets the order."""
    if not isinstance(value, (Factor, np.ndarray)):
        raise FormulaError(f"{label!r}: a factor is made of a column, not of {value!r}.")
    factor = factor_of(value, label)
    if levels is None:
        return factor
    missing = [known for known in factor.levels if known not in levels]
    if missing:
        raise DataError(f"{label!r}: the data have values outside levels=: {missing[:10]!r}.")
    order = np.array([levels.index(known) for known in factor.levels] + [-1])
    return Factor(codes=order[factor.codes], levels=tuple(levels), ordered=factor.ordered)
