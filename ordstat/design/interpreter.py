"""Evaluates the factors of a formula over the columns of a frame, without Python's eval.

Only names of columns, the functions of `transforms`, arithmetic, comparisons and literals mean anything; all else is
refused before it runs. With a context (safe=False) attributes, subscripts and other calls are let through. Columns and
functions are looked up apart, as in R: a column called `log` does not hide log().
"""

from __future__ import annotations

import ast
import builtins
import inspect
import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray
from ..exceptions import DataError, FormulaError, OptionError
from ..words import advice
from .columns import Columns, Factor, Value, factor_of
from .contrasts import Contrast, contrast
from .expressions import (
    CODED,
    CONSTANTS,
    LARGEST,
    Expression,
    dotted_name,
    literal,
    options,
    quoted,
    refusal,
    said,
    shown,
    source,
    unquoted,
)
from .frames import shown_labels, suggest
from .transforms.named import ELEMENTWISE, FITTED, Transform


class Interpreter:
    """Evaluates expressions over the columns of one frame.

    Parameters
    ----------
    columns : Columns
    states : dict
        Fitted transforms by the text of their call; a call not among them is fitted and put there.
    context : mapping or None
        Names open to formulas beyond the columns (safe=False); None keeps to the safe language.
    """

    def __init__(self, columns: Columns, states: dict[str, Transform], context: Mapping[str, Any] | None = None):
        self.columns = columns
        self.states = states
        self.context = context
        self.used: dict[str, None] = {}

    def evaluate(self, expression: Expression) -> tuple[Value, tuple[str, ...], BoolArray | None]:
        """The value, the columns it was made of, and the rows where any of those is missing."""
        self.used = {}
        try:
            with np.errstate(all="ignore"):
                value = self._value(expression.tree)
        except RecursionError as error:
            raise FormulaError(f"{shown(expression.label)} has too many parts inside each other.") from error
        masks = [mask for name in self.used if (mask := self.columns[name].missing) is not None]
        missing = reduce(operator.or_, masks) if masks else None
        if not isinstance(value, Factor):
            value = self._full(value, expression.label)
        return value, tuple(self.used), missing

    def _full(self, value: Any, label: str) -> Value:
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise FormulaError(f"{label!r} does not evaluate to numbers.")
        if array.ndim == 0:
            array = np.full(self.columns.n, array)
        if array.ndim > 2 or array.shape[0] != self.columns.n:
            raise FormulaError(f"{label!r} gives shape {array.shape}; one value per row ({self.columns.n}) is needed.")
        return array

    def _value(self, node: ast.expr) -> Any:
        handler = getattr(self, f"_{type(node).__name__.lower()}", None)
        if handler is not None:
            return handler(node)
        if self.context is None:
            raise refusal(node)
        return self._python(node)

    # names and literals

    def _constant(self, node: ast.Constant) -> Any:
        if isinstance(node.value, (bool, str)):
            return node.value
        if isinstance(node.value, (int, float)) and abs(node.value) <= LARGEST:
            return np.float64(node.value)
        raise refusal(node)

    def _name(self, node: ast.Name) -> Any:
        return self._lookup(unquoted(node.id))

    def _lookup(self, name: str) -> Any:
        if name in self.columns:
            self.used[name] = None
            return self.columns[name].value
        if self.context is not None and (name in self.context or hasattr(builtins, name)):
            return self.context[name] if name in self.context else getattr(builtins, name)
        if name in CONSTANTS:
            return CONSTANTS[name]
        if name.startswith("__"):
            raise FormulaError(f"{name!r} is not a column of the data, and such names are not allowed in a formula.")
        columns = [str(column) for column in self.columns.frame.columns]
        raise DataError(f"The data have no column {name!r}, needed by the formula; {suggest(name, columns)}")

    def _attribute(self, node: ast.Attribute) -> Any:
        name = dotted_name(node)
        if name is not None and name in self.columns:
            return self._lookup(name)
        if self.context is None:
            raise refusal(node)
        return getattr(self._value(node.value), unquoted(node.attr))

    # operators

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        operand = self._value(node.operand)
        if isinstance(node.op, (ast.Invert, ast.Not)):
            return ~condition(operand, node)
        number = numeric(operand, node)
        return -number if isinstance(node.op, ast.USub) else number

    def _binop(self, node: ast.BinOp) -> Any:
        if type(node.op) not in _OPERATORS:
            raise refusal(node)
        read, apply = _OPERATORS[type(node.op)]
        return apply(read(self._value(node.left), node.left), read(self._value(node.right), node.right))

    def _boolop(self, node: ast.BoolOp) -> Any:
        values = [self._value(part) for part in node.values]
        if self.context is not None and not any(isinstance(value, np.ndarray) for value in values):
            return self._python(node)
        join = operator.and_ if isinstance(node.op, ast.And) else operator.or_
        return reduce(join, [condition(value, part) for value, part in zip(values, node.values, strict=True)])

    def _compare(self, node: ast.Compare) -> Any:
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            inside = among(self._value(node.left), literal(node.comparators[0]), node)
            return inside if isinstance(node.ops[0], ast.In) else ~inside
        values = [self._value(operand) for operand in (node.left, *node.comparators)]
        sides = zip(values[:-1], node.ops, values[1:], strict=True)
        return reduce(operator.and_, [compare(left, kind, right, node) for left, kind, right in sides])

    # calls

    def _call(self, node: ast.Call) -> Any:
        name = dotted_name(node.func)
        if name == "I" and len(node.args) == 1 and not node.keywords:
            return self._value(node.args[0])
        if name == "Q" and len(node.args) == 1 and not node.keywords:
            return self._lookup(str(literal(node.args[0])))
        if name in (*CODED, *FITTED) and not node.args:
            raise FormulaError(f"{said(node)} must have a variable in its parentheses.")
        if name in CODED:
            return self._coded(node, str(name))
        if name in ELEMENTWISE:
            arguments = [numeric(self._value(argument), node) for argument in node.args]
            return bound(ELEMENTWISE[name], node, *arguments, **options(node))
        if name in FITTED:
            return self._fitted(FITTED[name], node)
        if self.context is None:
            raise unknown_function(node, name)
        if not isinstance(node.func, ast.Name):
            function = self._value(node.func)
        elif name in self.context or hasattr(builtins, str(name)):  # a column of the same name does not hide it
            function = self.context.get(str(name), getattr(builtins, str(name), None))
        else:
            raise unknown_function(node, name)
        arguments = [self._value(argument) for argument in node.args]
        return function(*arguments, **{key.arg: self._value(key.value) for key in node.keywords if key.arg})

    def _fitted(self, fit: Callable[..., Transform], node: ast.Call) -> FloatArray:
        x = np.asarray(numeric(self._value(node.args[0]), node.args[0]), dtype=float)
        if x.ndim != 1:
            raise FormulaError(f"{said(node)}: the first argument must be one column of numbers.")
        key = ast.unparse(node)
        if key not in self.states:
            seen = x[np.isfinite(x)]
            if not seen.size:
                raise DataError(f"{said(node)}: no row has a value.")
            self.states[key] = bound(fit, node, seen, *map(literal, node.args[1:]), **options(node))
        return self.states[key](x)

    def _coded(self, node: ast.Call, name: str) -> Factor:
        arguments = {str(keyword.arg): keyword.value for keyword in node.keywords}
        if len(node.args) > 1:
            arguments["contrast" if name == "C" else "levels"] = node.args[1]
        if set(arguments) - {"contrast", "contrasts", "levels"} or len(node.args) > 2:
            raise FormulaError(f"{said(node)}: the arguments of {name}() must be a variable, contrast= and levels=.")
        levels = literal(arguments["levels"]) if "levels" in arguments else None
        coding = arguments.get("contrast", arguments.get("contrasts"))
        value = as_factor(self._value(node.args[0]), levels, source(node))
        return value if coding is None else replace(value, contrast=contrast_of(coding))

    def _python(self, node: ast.expr) -> Any:
        """Any Python, over columns and context (safe=False only)."""
        names = {unquoted(item.id): item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
        local = {name: self._lookup(column) for column, name in names.items() if column in self.columns}
        context = {quoted(name): value for name, value in (self.context or {}).items()}
        code = compile(ast.Expression(node), "<formula>", "eval")
        return eval(code, {**context, **local})


def unknown_function(node: ast.Call, name: str | None) -> FormulaError:
    """The error for a call of a function that formulas do not have."""
    if name is not None and (hint := advice("function", name)):
        return FormulaError(f"Formulas do not have the function {name!r} of {said(node)}.{hint}")
    if name is None or "__" in name or "." in name:
        return refusal(node)
    functions = ["I", "Q", *CODED, *FITTED, *ELEMENTWISE, "offset"]
    return FormulaError(
        f"Formulas do not have the function {name!r} of {said(node)}; {suggest(name, functions)} "
        "Make the result a column of the data, or pass safe=False with context= to call functions of your own."
    )


def bound(function: Callable[..., Any], node: ast.Call, *arguments: Any, **keywords: Any) -> Any:
    """function(*arguments, **keywords), with a message that names the arguments where they do not fit."""
    signature = inspect.signature((lambda x: x) if isinstance(function, np.ufunc) else function)
    try:
        signature.bind(*arguments, **keywords)
        return function(*arguments, **keywords)
    except (DataError, FormulaError, OptionError) as error:
        kind = DataError if isinstance(error, DataError) else FormulaError
        raise kind(f"{said(node)}: {error}") from error
    except (TypeError, ValueError, OverflowError) as error:
        names = ", ".join(str(p.replace(annotation=p.empty)) for p in signature.parameters.values())
        raise FormulaError(f"{said(node)}: {error}; the arguments are ({names}).") from error


# What operators do with numbers, conditions and factors


def numeric(value: Any, node: ast.AST) -> Any:
    """Numbers for arithmetic: conditions count as 0 and 1, factors and text are refused."""
    if isinstance(value, Factor):
        raise FormulaError(
            f"{said(node)} is not numeric (its levels are {shown_labels(value.levels)}): use C() or convert it."
        )
    if isinstance(value, (str, tuple, type(None))):
        raise FormulaError(f"{value!r} stands where a number is needed.")
    return value.astype(float) if isinstance(value, np.ndarray) and value.dtype.kind in "biu" else value


def condition(value: Any, node: ast.AST) -> Any:
    """Booleans for & | ~."""
    if isinstance(value, bool) or (isinstance(value, np.ndarray) and value.dtype == bool):
        return value
    raise FormulaError(f"{said(node)} must be true or false in every row, as x > 0 is.")


def compare(left: Any, kind: ast.cmpop, right: Any, node: ast.Compare) -> Any:
    """One comparison, where a factor compares by label (by rank if ordered)."""
    if type(kind) not in _COMPARISONS:
        raise refusal(node)
    test, mirrored = _COMPARISONS[type(kind)]
    if isinstance(left, Factor) and isinstance(right, Factor):
        left, right = (np.array(f.levels, dtype=object)[f.codes] for f in (left, right))
    elif isinstance(right, Factor):
        return _against_label(right, mirrored, left, node)
    elif isinstance(left, Factor):
        return _against_label(left, test, right, node)
    elif isinstance(left, str) or isinstance(right, str):
        raise FormulaError(f"{said(node)} compares text with numbers.")
    return np.asarray(test(left, right), dtype=bool)


def _against_label(factor: Factor, test: Callable[[Any, Any], Any], label: Any, node: ast.Compare) -> BoolArray:
    if isinstance(label, np.ndarray) or label not in factor.levels:
        raise FormulaError(f"{said(node)}: compare the factor with one of its levels {factor.levels[:10]!r}.")
    if test not in (operator.eq, operator.ne) and not factor.ordered:
        raise FormulaError(f"{said(node)}: < and > need an ordered factor; use == or !=.")
    return np.asarray(test(factor.codes, factor.levels.index(label)), dtype=bool)


def among(value: Any, listed: Any, node: ast.Compare) -> BoolArray:
    """Whether values are among those listed: labels of a factor, or numbers."""
    wanted = listed if isinstance(listed, tuple) else (listed,)
    if isinstance(value, Factor):
        tests = [_against_label(value, operator.eq, label, node) for label in wanted]
        return np.asarray(reduce(operator.or_, tests, np.zeros(value.codes.shape, dtype=bool)))
    if any(isinstance(item, str) for item in wanted):
        raise FormulaError(f"{said(node)} compares text with numbers.")
    if not all(isinstance(item, (int, float)) and abs(item) <= LARGEST for item in wanted):
        raise FormulaError(f"{said(node)} must compare with a list of numbers, such as [1, 2].")
    return np.isin(value, np.array(wanted, dtype=float))


def contrast_of(node: ast.expr) -> Contrast:
    """The contrast in C(f, Sum), C(f, contr.sum), C(f, "sum"), C(f, Treatment("b")), C(f, [[...]])."""
    if isinstance(node, ast.Call):
        values = [literal(argument) for argument in node.args] + list(options(node).values())
        if len(values) > 1:
            raise FormulaError(f"{said(node)}: a contrast must have a base level at most.")
        return contrast(dotted_name(node.func) or source(node), *values)
    if isinstance(node, (ast.Name, ast.Attribute)):
        return contrast(dotted_name(node) or source(node))
    return contrast(literal(node))


def as_factor(value: Any, levels: Any, label: str) -> Factor:
    """A factor from numbers (sorted levels), conditions (False, True) or a factor; `levels` sets the order."""
    if not isinstance(value, (Factor, np.ndarray)):
        raise FormulaError(f"{label!r}: a factor must be made of a column; got {value!r}.")
    factor = factor_of(value, label)
    if levels is None:
        return factor
    levels = levels if isinstance(levels, tuple) else (levels,)
    missing = [level for level in factor.levels if level not in levels]
    if missing:
        raise DataError(f"{label!r}: the data have values outside levels=: {shown_labels(missing)}.")
    order = np.array([levels.index(level) for level in factor.levels] + [-1])
    return Factor(codes=order[factor.codes], levels=levels, ordered=factor.ordered)


#: What reads the operands of an operator, and the operator.
_OPERATORS: dict[type[ast.operator], tuple[Callable[[Any, ast.AST], Any], Callable[[Any, Any], Any]]] = {
    ast.Add: (numeric, operator.add),
    ast.Sub: (numeric, operator.sub),
    ast.Mult: (numeric, operator.mul),
    ast.Div: (numeric, operator.truediv),
    ast.FloorDiv: (numeric, operator.floordiv),
    ast.Mod: (numeric, operator.mod),
    ast.Pow: (numeric, operator.pow),
    ast.BitAnd: (condition, operator.and_),
    ast.BitOr: (condition, operator.or_),
}
#: A comparison, and the same with its sides exchanged.
_COMPARISONS: dict[type[ast.cmpop], tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    ast.Eq: (operator.eq, operator.eq),
    ast.NotEq: (operator.ne, operator.ne),
    ast.Lt: (operator.lt, operator.gt),
    ast.LtE: (operator.le, operator.ge),
    ast.Gt: (operator.gt, operator.lt),
    ast.GtE: (operator.ge, operator.le),
}
