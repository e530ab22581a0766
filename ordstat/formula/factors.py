"""Factors of a formula: read into Python's syntax tree and evaluated without eval."""

from __future__ import annotations

import ast
import inspect
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import accumulate
from keyword import iskeyword
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray
from ..checks import advice, whole
from ..exceptions import DataError, FormulaError, OptionError
from .columns import Columns, Factor, Value, factor_of
from .contrasts import Contrast, contrast
from .frames import shown_labels, suggest
from .splines import BSpline, CyclicSpline, NaturalSpline, RegressionSpline

MAX_CHARACTERS = 100_000
MAX_TERMS = 10_000
MAX_COLUMNS = 100_000
#: Parentheses inside each other, and bars of random terms and conditions.
MAX_DEPTH, MAX_BARS = 50, 100
#: Characters of all terms together.
MAX_LABELS = 1_000_000
#: Unions and products of terms formed on the way, equal ones too: well below a second of work.
MAX_STEPS = 2_000_000
#: Characters of a formula that an error repeats.
_SHOWN = 200
LARGEST = float(np.finfo(float).max)

#: Names that stand for a value where the data have no such column.
CONSTANTS = {"TRUE": True, "FALSE": False, "pi": float(np.pi)}
CODED = ("C", "factor", "ordered")

#: A name, with the marks of other scripts that follow a letter.
NAME = r"[^\W\d](?:\w|[^\x00-\xbf\xd7\xf7\u2000-\u2bff\u3000-\u303f])*"
#: A text in quotes; one that is not closed reaches to the end, so that the search does not start over inside.
TEXT = r"'(?:\\.|[^'\\])*(?:'|\\?\Z)|\"(?:\\.|[^\"\\])*(?:\"|\\?\Z)|`[^`]+`"
_QUOTED = "quoted_name_"
#: Operators and options of R that Python spells otherwise.
_R_SPELLING = {
    "^": "**", "&&": "&", "||": "|", "!": " not ", "%in%": " in ", "%%": "%", "%/%": "//",
    "Boundary.knots": "boundary_knots",
}  # fmt: skip
#: The same where & and | bind less than comparisons, as in R.
_LOOSE = _R_SPELLING | {"&": " and ", "&&": " and ", "|": " or ", "||": " or "}
_PIECES = re.compile(rf"{TEXT}|\^|&&?|\|\|?|!(?!=)|%in%|%%|%/%|\bBoundary\.knots\b(?=\s*=)|{NAME}", re.DOTALL)

NO_DOLLAR = "columns stand by their names alone, without 'data$' before them."
_R_CALL = re.compile(r"\W*((?:as|is)\.\w+)\(")  # "as" and "is" are no names in Python
_SINGLE_EQUALS = re.compile(r"^[^(=!<>]*=[^=]")
_WITH_BLANKS = re.compile(r"\b[^\W\d]\w*(?: [^\W\d]\w*)+")


def shown(text: str) -> str:
    """A formula in quotes for an error, cut short where it is long."""
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}..."


def too_large(text: str, what: str) -> FormulaError:
    """The error for a formula that passes a limit; `what` says how."""
    return FormulaError(
        f"The formula {shown(text)} {what}. A formula may have at most {MAX_CHARACTERS:,} characters and give at most "
        f"{MAX_TERMS:,} terms: write down the terms that you need. OrdinalClassifier takes any number of columns, "
        "without a formula."
    )


def check_text(text: Any) -> None:
    """FormulaError for a formula that is no text, or that passes a limit."""
    if not isinstance(text, str):
        raise FormulaError(f"A formula must be a text such as 'rating ~ temp + contact'; got {type(text).__name__}.")
    if len(text) > MAX_CHARACTERS:
        raise too_large(text, f"has {len(text):,} characters")
    if text.count("|") > MAX_BARS:
        raise FormulaError(f"The formula {shown(text)} has more than {MAX_BARS} bars '|'.")
    if text.count("(") + text.count("[") > MAX_DEPTH:
        steps = ((character in "([") - (character in ")]") for character in text)
        if max(accumulate(steps)) > MAX_DEPTH:
            raise FormulaError(f"The formula {shown(text)} has more than {MAX_DEPTH} parentheses inside each other.")


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

    @property
    def names(self) -> frozenset[str]:
        """The columns in it."""
        return variables(self.tree)

    @property
    def text(self) -> str:
        """As a formula writes it: column names of any characters in backticks."""
        return f"`{self.label}`" if self.key.startswith(_QUOTED) and self.key.isidentifier() else self.label


def _python(label: str) -> str:
    """The text in Python's spelling; conditions need no parentheses, as in R: x > 0 & !z."""
    tight = _PIECES.sub(lambda piece: _spelled(piece.group(), _R_SPELLING), label)
    try:
        if " not " not in tight and not any(map(_compares_joined, ast.walk(_tree(tight)))):
            return tight
    except SyntaxError:
        pass
    return _PIECES.sub(lambda piece: _spelled(piece.group(), _LOOSE), label).strip()


def _spelled(piece: str, spelling: Mapping[str, str]) -> str:
    if piece[0] == "`":
        return quoted(piece[1:-1])
    # Python takes names that look alike for one: such a name gets a stand-in.
    alike = piece[0] not in "'\"" and (not piece.isascii() or piece.startswith(_QUOTED))
    return quoted(piece) if alike else spelling.get(piece, piece)


def _compares_joined(node: ast.AST) -> bool:
    """Whether Python takes & and | to bind closer than a comparison beside them: x > (0 & z) > 1."""
    if not isinstance(node, ast.Compare):
        return False
    sides = [side for side in (node.left, *node.comparators) if isinstance(side, ast.BinOp)]
    return any(isinstance(side.op, (ast.BitAnd, ast.BitOr)) for side in sides)


def quoted(name: str) -> str:
    """A Python identifier that stands for a column of any name."""
    usable = name.isascii() and name.isidentifier() and not iskeyword(name) and not name.startswith(_QUOTED)
    return name if usable else _QUOTED + name.encode("utf-8", "surrogatepass").hex()


def unquoted(text: str) -> str:
    """A text with the names behind its stand-ins."""
    return re.sub(
        rf"\b{_QUOTED}((?:[0-9a-f]{{2}})+)\b",
        lambda match: bytes.fromhex(match[1]).decode("utf-8", "surrogatepass"),
        text,
    )


@lru_cache(maxsize=1024)
def _tree(code: str) -> ast.expr:
    return ast.parse(code, mode="eval").body


@lru_cache(maxsize=1024)
def parse_expression(text: str) -> Expression:
    """The expression in a piece of a formula; ^ is power, backticks quote names, operators may be R's."""
    check_text(text)
    label = " ".join(text.split())
    try:
        key = ast.unparse(_tree(_python(label)))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise FormulaError(f"Cannot read {shown(label)} in the formula: {_why(error, label)}") from error
    return Expression(key, label)


def _why(error: Exception, label: str) -> str:
    """What is wrong with an expression, without Python's line numbers."""
    why = error.msg.split(". ")[0] if isinstance(error, SyntaxError) else str(error)
    call = _R_CALL.match(label)
    if call is not None:
        return f"{call.group(1)} is R's.{advice('function', call.group(1))}"
    if "$" in label:
        return NO_DOLLAR
    if _SINGLE_EQUALS.match(label):
        return "values are compared by ==."
    names = _WITH_BLANKS.search(label)
    if isinstance(error, SyntaxError) and names is not None:
        return f"{why}. Put backticks around a name with blanks: `{names.group()[:_SHOWN]}`."
    return f"{why}."


def column_expression(name: str) -> Expression:
    """A column by its name, whatever characters that has."""
    return Expression(quoted(name), name)


def dotted_name(node: ast.expr) -> str | None:
    """a.b.c of a chain of attributes, None for anything else."""
    if isinstance(node, ast.Name):
        return unquoted(node.id)
    if isinstance(node, ast.Attribute):
        head = dotted_name(node.value)
        return None if head is None else f"{head}.{unquoted(node.attr)}"
    return None


def variables(tree: ast.expr) -> frozenset[str]:
    """The names in an expression without those of the functions that it calls: columns."""
    called = {id(part) for node in ast.walk(tree) if isinstance(node, ast.Call) for part in ast.walk(node.func)}
    parts = (node for node in ast.walk(tree) if isinstance(node, ast.expr) and id(node) not in called)
    return frozenset(name for part in parts if (name := dotted_name(part)) is not None)


def coded_column(tree: ast.expr) -> str | None:
    """The column that is a factor of the formula itself or inside C(); None of any other expression."""
    if isinstance(tree, ast.Call) and dotted_name(tree.func) in CODED and tree.args:
        tree = tree.args[0]
    return unquoted(tree.id) if isinstance(tree, ast.Name) else None


def literal(node: ast.expr) -> Any:
    """A constant, a negative number, or a list, tuple or c(...) of them; FormulaError for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str, bool, type(None))):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Name):
        value = literal(node.operand)
        if isinstance(value, (int, float)):
            return -value
    if isinstance(node, (ast.List, ast.Tuple)):
        return tuple(literal(item) for item in node.elts)
    if isinstance(node, ast.Call) and dotted_name(node.func) == "c" and not node.keywords:
        return tuple(literal(item) for item in node.args)
    if isinstance(node, ast.Name) and node.id in CONSTANTS:
        return CONSTANTS[node.id]
    raise FormulaError(f"{said(node)} must be a number, a text or a list of them.")


def options(node: ast.Call) -> dict[str, Any]:
    """Keyword arguments, all literal."""
    if any(keyword.arg is None for keyword in node.keywords):
        raise refusal(node)
    return {str(keyword.arg): literal(keyword.value) for keyword in node.keywords}


def source(node: ast.AST) -> str:
    """The text of a node."""
    return unquoted(ast.unparse(node))


def said(node: ast.AST) -> str:
    """The text of a node in quotes, for an error."""
    return shown(source(node))


def refusal(node: ast.AST) -> FormulaError:
    """The error for something outside the language of formulas."""
    hint = " (conditions are joined by & and |)" if isinstance(node, ast.BitXor) else ""
    return FormulaError(
        f"{said(node)} is not allowed in a formula{hint}: it may hold column names, known functions, "
        "arithmetic, comparisons and literals. Make it a column of the data."
    )


#: A fitted transform, the same function of new values as of the old: (N,) to (N,) or (N, m); pickles, prints, compares.
Transform = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, kw_only=True)
class Affine:
    """(x - center) / scale."""

    center: float
    scale: float

    def __call__(self, x: FloatArray) -> FloatArray:
        return (x - self.center) / self.scale


def fit_scale(x: FloatArray, center: bool = True, scale: bool = True) -> Affine:
    """scale(x, center=True, scale=True): less the mean, over the standard deviation of divisor n - 1, as R.

    Without centring the divisor is the root mean square.
    """
    middle = float(x.mean()) if center else 0.0
    spread = float(np.sqrt(np.sum((x - middle) ** 2) / max(x.size - 1, 1))) if scale else 1.0
    if not spread > 0:
        raise DataError(f"the variable must have values that differ; got {x[0]:g} throughout. Drop the term.")
    return Affine(center=middle, scale=spread)


def fit_center(x: FloatArray) -> Affine:
    """center(x): less the mean."""
    return Affine(center=float(x.mean()), scale=1.0)


@dataclass(frozen=True)
class Polynomial:
    """poly(x, degree) of R: polynomials orthonormal over the rows of the fit, by their recurrence, or raw powers."""

    degree: int
    recurrence: dict[str, Any]
    raw: bool = False

    def __call__(self, x: FloatArray) -> FloatArray:
        if self.raw:
            return np.asarray(x[:, None] ** np.arange(1, self.degree + 1))
        from formulaic.transforms.poly import poly

        return np.asarray(poly(x, self.degree, _state=self.recurrence))


def fit_poly(x: FloatArray, degree: int = 1, raw: bool = False) -> Polynomial:
    """poly(x, degree=1, raw=False); the degree is less than the number of distinct values."""
    whole("degree", degree, 1, min(int(np.unique(x).size) - 1, 50))
    polynomial = Polynomial(degree, {}, raw)
    polynomial(x)  # writes the recurrence down
    return polynomial


def _logarithm(x: FloatArray, base: float | None = None) -> FloatArray:
    """log(x, base=e)."""
    return np.log(x) if base is None else np.log(x) / np.log(base)


#: Elementwise functions.
ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "exp": np.exp, "expm1": np.expm1, "log": _logarithm, "log2": np.log2, "log10": np.log10, "log1p": np.log1p,
    "sqrt": np.sqrt, "abs": np.abs, "sign": np.sign, "floor": np.floor, "ceil": np.ceil, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "arctan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "pmax": lambda x, *others: reduce(np.maximum, others, x),
    "pmin": lambda x, *others: reduce(np.minimum, others, x),
}  # fmt: skip

#: Functions fitted to a column of numbers: name to a fitting function of (x, options) -> Transform.
FITTED: dict[str, Callable[..., Transform]] = {
    "scale": fit_scale,
    "center": fit_center,
    "poly": fit_poly,
    "bs": BSpline.fit,
    "ns": NaturalSpline.fit,
    "cr": RegressionSpline.fit,
    "cs": RegressionSpline.fit,
    "cc": CyclicSpline.fit,
}


class Interpreter:
    """Evaluates expressions over the columns of one frame.

    Parameters
    ----------
    columns : Columns
    states : dict
        Fitted transforms by the text of their call; a call not among them is fitted and put there.
    """

    def __init__(self, columns: Columns, states: dict[str, Transform]):
        self.columns = columns
        self.states = states
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
        return np.full(self.columns.n, array) if array.ndim == 0 else array

    def _value(self, node: ast.expr) -> Any:
        handler = getattr(self, f"_{type(node).__name__.lower()}", None)
        if handler is None:
            raise refusal(node)
        return handler(node)

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
        raise refusal(node)

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
        raise unknown_function(node, name)

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


def unknown_function(node: ast.Call, name: str | None) -> FormulaError:
    """The error for a call of a function that formulas do not have."""
    if name is not None and (hint := advice("function", name)):
        return FormulaError(f"Formulas do not have the function {name!r} of {said(node)}.{hint}")
    if name is None or "__" in name or "." in name:
        return refusal(node)
    functions = ["I", "Q", *CODED, *FITTED, *ELEMENTWISE, "offset"]
    return FormulaError(
        f"Formulas do not have the function {name!r} of {said(node)}; {suggest(name, functions)} "
        "Make the result a column of the data."
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
    ast.Add: (numeric, operator.add), ast.Sub: (numeric, operator.sub), ast.Mult: (numeric, operator.mul),
    ast.Div: (numeric, operator.truediv), ast.FloorDiv: (numeric, operator.floordiv),
    ast.Mod: (numeric, operator.mod), ast.Pow: (numeric, operator.pow),
    ast.BitAnd: (condition, operator.and_), ast.BitOr: (condition, operator.or_),
}  # fmt: skip
#: A comparison, and the same with its sides exchanged.
_COMPARISONS: dict[type[ast.cmpop], tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    ast.Eq: (operator.eq, operator.eq), ast.NotEq: (operator.ne, operator.ne),
    ast.Lt: (operator.lt, operator.gt), ast.LtE: (operator.le, operator.ge),
    ast.Gt: (operator.gt, operator.lt), ast.GtE: (operator.ge, operator.le),
}  # fmt: skip
