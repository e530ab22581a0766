"""Reads and evaluates one factor of a formula, such as log(age) or I(x1^2 + x2), without running Python's eval.

Only names of columns, the functions of `transforms`, arithmetic, comparisons and literals mean anything here; all
else is refused before it runs. With a context (safe=False) attributes, subscripts and other calls are let through.
Names of columns and of functions are looked up apart, as R does: a column called `log` does not hide log().
"""

from __future__ import annotations

import ast
import builtins
import inspect
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray
from ..exceptions import DataError, FormulaError
from .columns import Columns, Factor, Value
from .contrasts import Contrast, contrast
from .frames import suggest
from .transforms import ELEMENTWISE, FITTED, Transform

_QUOTED = "quoted_name_"
_PIECES = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]+`|\^")
_CONSTANTS = {"TRUE": True, "FALSE": False, "pi": float(np.pi)}
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_LOGIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {ast.BitAnd: operator.and_, ast.BitOr: operator.or_}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_CODED = ("C", "factor", "ordered")


@dataclass(frozen=True)
class Expression:
    """One factor of a formula.

    Attributes
    ----------
    key : str
        Normal form: two spellings of one factor share it.
    label : str
        As the user wrote it.
    """

    key: str
    label: str

    @property
    def tree(self) -> ast.expr:
        return _tree(self.key)


def _encode(piece: re.Match[str]) -> str:
    text = piece.group()
    if text == "^":
        return "**"
    return quoted(text[1:-1]) if text[0] == "`" else text


def quoted(name: str) -> str:
    """A Python identifier that stands for a column of any name."""
    return name if name.isidentifier() else _QUOTED + name.encode().hex()


def unquoted(identifier: str) -> str:
    """The column name behind an identifier."""
    return bytes.fromhex(identifier[len(_QUOTED) :]).decode() if identifier.startswith(_QUOTED) else identifier


@lru_cache(maxsize=1024)
def _tree(code: str) -> ast.expr:
    return ast.parse(code, mode="eval").body


@lru_cache(maxsize=1024)
def parse_expression(text: str) -> Expression:
    """The expression in a piece of a formula; ^ is power, backticks quote names."""
    label = " ".join(text.split())
    try:
        tree = _tree(_PIECES.sub(_encode, label))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise FormulaError(f"Cannot read {label!r} in the formula: {error}.") from error
    return Expression(ast.unparse(tree), label)


def column_expression(name: str) -> Expression:
    """A column by its name, whatever characters that has."""
    return Expression(quoted(name), name)


def dotted_name(node: ast.expr) -> str | None:
    """a.b.c of a chain of attributes, None for anything else."""
    if isinstance(node, ast.Name):
        return unquoted(node.id)
    if isinstance(node, ast.Attribute):
        head = dotted_name(node.value)
        return None if head is None else f"{head}.{node.attr}"
    return None


def literal(node: ast.expr) -> Any:
    """A constant, a negative number, or a list, tuple or c(...) of them; FormulaError for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str, bool, type(None))):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -literal(node.operand)
    if isinstance(node, (ast.List, ast.Tuple)):
        return tuple(literal(item) for item in node.elts)
    if isinstance(node, ast.Call) and dotted_name(node.func) == "c" and not node.keywords:
        return tuple(literal(item) for item in node.args)
    if isinstance(node, ast.Name) and node.id in _CONSTANTS:
        return _CONSTANTS[node.id]
    raise FormulaError(f"{source(node)!r} has to be a number, a text or a list of them.")


def source(node: ast.AST) -> str:
    """The text of a node."""
    return ast.unparse(node)


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
        with np.errstate(all="ignore"):
            value = self._value(expression.tree)
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
        if isinstance(node.value, (int, float)):
            return np.float64(node.value)
        raise refusal(node)

    def _name(self, node: ast.Name) -> Any:
        return self._lookup(unquoted(node.id))

    def _lookup(self, name: str) -> Any:
        if name in self.columns:
            self.used[name] = None
            return self.columns[name].value
        if self.context is not None and (name in self.context or hasattr(builtins, name)):
            return self._open_name(name)
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if name.startswith("__"):
            raise FormulaError(f"{name!r} is no column of the data, and such names are not allowed in a formula.")
        known = [str(column) for column in self.columns.frame.columns]
        raise DataError(f"The data have no column {name!r}, needed by the formula; {suggest(name, known)}")

    def _open_name(self, name: str) -> Any:
        """A name of the context, else one of Python's own (safe=False only)."""
        context = self.context or {}
        return context[name] if name in context else getattr(builtins, name)

    def _attribute(self, node: ast.Attribute) -> Any:
        name = dotted_name(node)
        if name is not None and name in self.columns:
            return self._lookup(name)
        if self.context is None:
            raise refusal(node)
        return getattr(self._value(node.value), node.attr)

    # operators

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        operand = self._value(node.operand)
        if isinstance(node.op, (ast.Invert, ast.Not)):
            return ~condition(operand, node)
        number = numeric(operand, node)
        return -number if isinstance(node.op, ast.USub) else number

    def _binop(self, node: ast.BinOp) -> Any:
        kind = type(node.op)
        if kind in _ARITHMETIC:
            left, right = numeric(self._value(node.left), node.left), numeric(self._value(node.right), node.right)
            return _ARITHMETIC[kind](left, right)
        if kind in _LOGIC:
            left, right = self._value(node.left), self._value(node.right)
            return _LOGIC[kind](condition(left, node.left), condition(right, node.right))
        raise refusal(node)

    def _compare(self, node: ast.Compare) -> Any:
        values = [self._value(operand) for operand in (node.left, *node.comparators)]
        outcomes = [
            compare(left, kind, right, node)
            for left, kind, right in zip(values[:-1], node.ops, values[1:], strict=True)
        ]
        return reduce(operator.and_, outcomes)

    # calls

    def _call(self, node: ast.Call) -> Any:
        name = dotted_name(node.func)
        if name == "I" and len(node.args) == 1 and not node.keywords:
            return self._value(node.args[0])
        if name == "Q" and len(node.args) == 1 and not node.keywords:
            return self._lookup(str(literal(node.args[0])))
        if name in _CODED:
            return self._coded(node, str(name))
        if name in ELEMENTWISE:
            arguments = [numeric(self._value(argument), node) for argument in node.args]
            return bound(ELEMENTWISE[name], node, *arguments, **options(node))
        if name in FITTED:
            return self._fitted(FITTED[name], node)
        if self.context is None:
            raise unknown_function(node, name)
        arguments = [self._value(argument) for argument in node.args]
        keywords = {keyword.arg: self._value(keyword.value) for keyword in node.keywords if keyword.arg}
        return self._function(node, name)(*arguments, **keywords)

    def _function(self, node: ast.Call, name: str | None) -> Any:
        """What an open call calls: a column of the same name does not hide it."""
        if not isinstance(node.func, ast.Name):
            return self._value(node.func)
        if name not in (self.context or {}) and not hasattr(builtins, str(name)):
            raise unknown_function(node, name)
        return self._open_name(str(name))

    def _fitted(self, fit: Callable[..., Transform], node: ast.Call) -> FloatArray:
        if not node.args:
            raise FormulaError(f"{source(node)!r} lacks its variable.")
        x = np.asarray(numeric(self._value(node.args[0]), node.args[0]), dtype=float)
        if x.ndim != 1:
            raise FormulaError(f"{source(node)!r}: the first argument has to be one column of numbers.")
        key = source(node)
        if key not in self.states:
            seen = x[np.isfinite(x)]
            if not seen.size:
                raise DataError(f"{key!r}: no row has a value.")
            self.states[key] = bound(fit, node, seen, *map(literal, node.args[1:]), **options(node))
        return self.states[key](x)

    def _coded(self, node: ast.Call, name: str) -> Factor:
        if not node.args:
            raise FormulaError(f"{source(node)!r} lacks its variable.")
        arguments = {str(keyword.arg): keyword.value for keyword in node.keywords}
        if len(node.args) > 1:
            arguments["contrast" if name == "C" else "levels"] = node.args[1]
        unknown = set(arguments) - {"contrast", "contrasts", "levels"}
        if unknown or len(node.args) > 2:
            raise FormulaError(f"{source(node)!r}: {name}() takes a variable, contrast= and levels=.")
        levels = literal(arguments["levels"]) if "levels" in arguments else None
        coding = arguments.get("contrast", arguments.get("contrasts"))
        value = as_factor(self._value(node.args[0]), levels, source(node))
        if coding is None:
            return value
        return Factor(codes=value.codes, levels=value.levels, ordered=value.ordered, contrast=contrast_of(coding))

    def _python(self, node: ast.expr) -> Any:
        """Any Python, over columns and context (safe=False only)."""
        names = {unquoted(item.id): item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
        local = {name: self._lookup(column) for column, name in names.items() if column in self.columns}
        code = compile(ast.Expression(node), "<formula>", "eval")
        return eval(code, {**(self.context or {}), **local})


def refusal(node: ast.AST) -> FormulaError:
    """The error for something outside the language of formulas."""
    hint = ""
    if isinstance(node, (ast.BitXor, ast.BoolOp)):
        hint = " (conditions are joined by & and |, each in parentheses)"
    return FormulaError(
        f"{source(node)!r} is not allowed in a formula{hint}: it may hold column names, known functions, arithmetic, "
        "comparisons and literals. Make it a column of the data, or pass safe=False with context= if you trust it."
    )


def unknown_function(node: ast.Call, name: str | None) -> FormulaError:
    """The error for a call of something that is no known function."""
    if name is None or "__" in name or "." in name:
        return refusal(node)
    known = ["I", "Q", *_CODED, *FITTED, *ELEMENTWISE, "offset"]
    return FormulaError(
        f"{name!r} in {source(node)!r} is no function known to formulas; {suggest(name, known)} "
        "Make the result a column of the data, or pass safe=False with context= to call functions of your own."
    )


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


def options(node: ast.Call) -> dict[str, Any]:
    """Keyword arguments, all literal."""
    if any(keyword.arg is None for keyword in node.keywords):
        raise refusal(node)
    return {str(keyword.arg): literal(keyword.value) for keyword in node.keywords}


def bound(function: Callable[..., Any], node: ast.Call, *arguments: Any, **keywords: Any) -> Any:
    """function(*arguments, **keywords), with a message that tells the arguments where they do not fit."""
    if not isinstance(function, np.ufunc):
        signature = inspect.signature(function)
        try:
            signature.bind(*arguments, **keywords)
        except TypeError as error:
            raise FormulaError(f"{source(node)!r}: {error}; the arguments are {signature}.") from error
    elif len(arguments) != 1 or keywords:
        raise FormulaError(f"{source(node)!r} takes one variable.")
    return function(*arguments, **keywords)


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
    factor = value if isinstance(value, Factor) else _factor_of(value, label)
    if levels is None:
        return factor
    missing = [known for known in factor.levels if known not in levels]
    if missing:
        raise DataError(f"{label!r}: the data have values outside levels=: {missing[:10]!r}.")
    order = np.array([levels.index(known) for known in factor.levels] + [-1])
    return Factor(codes=order[factor.codes], levels=tuple(levels), ordered=factor.ordered)


def _factor_of(value: Any, label: str) -> Factor:
    if not isinstance(value, np.ndarray) or value.ndim != 1:
        raise FormulaError(f"{label!r} needs one column.")
    if value.dtype == bool:
        return Factor(codes=value.astype(np.intp), levels=(False, True))
    present = ~np.isnan(value)
    labels, inverse = np.unique(value[present], return_inverse=True)
    codes = np.full(value.shape, -1)
    codes[present] = inverse
    whole = np.all(labels == np.floor(labels))
    return Factor(codes=codes, levels=tuple(labels.astype(int).tolist() if whole else labels.tolist()))
