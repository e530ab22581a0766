"""Factors of a formula, evaluated without eval, and the functions of formulas."""

from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from .._typing import BoolArray, FloatArray
from ..checks import advice, suggest, whole
from ..exceptions import DataError, FormulaError, OptionError
from .coding import Contrasts, contrast
from .columns import EXACT, Columns, Factor, Value, factor_of, instead_of
from .level_effects import EFFECTS
from .names import CODED
from .parse import (
    CONSTANTS,
    SMOOTH,
    Expression,
    dotted_name,
    literal,
    said,
    shown,
    source,
    unquoted,
)
from .smooths import fit_smooth
from .weights import quantiles, total_of

LARGEST = float(np.finfo(float).max)
#: Most knots of a spline, and most columns by df=.
MAX_KNOTS = 500

#: A fitted transform (N,) -> (N,) or (N, m), to apply to new values; can be pickled,
#: printed and compared.
Transform = Callable[[FloatArray], FloatArray]


class Weighted(NamedTuple):
    """The values to which a transform is fitted.

    Attributes
    ----------
    x : (N,)
    weights : (N,) > 0
        Numbers of rows that the values stand for.
    """

    x: FloatArray
    weights: FloatArray

    def total(self) -> float:
        """The number of rows.

        Raises
        ------
        DataError
            It is at most 1, so that neither a variance nor a quantile is defined.
        """
        total = total_of(self.weights)
        if not total > 1.0:
            raise DataError(
                "the weights of the rows with a value must sum to more than 1; got "
                f"{total:g}. Give weights= as numbers of rows."
            )
        return total


@dataclass(frozen=True, kw_only=True)
class Affine:
    """(x - center) / scale."""

    center: float
    scale: float

    def __call__(self, x: FloatArray) -> FloatArray:
        return (x - self.center) / self.scale


def fit_scale(x: Weighted, center: bool = True, scale: bool = True) -> Affine:
    """scale(x, center=True, scale=True): (x - mean) / standard deviation, as in R.

    The divisor of the variance is the sum of the weights minus 1. Without centring the
    divisor is the root mean square.
    """
    values, weights = x
    middle = float(np.average(values, weights=weights)) if center else 0.0
    if not scale:
        return Affine(center=middle, scale=1.0)
    if values.min() == values.max() and (center or values[0] == 0):
        raise _constant(values)
    squares = float(np.sum(weights * (values - middle) ** 2))
    spread = float(np.sqrt(squares / (x.total() - 1.0)))
    if not spread > 0:
        raise _constant(values)
    return Affine(center=middle, scale=spread)


def _constant(x: FloatArray) -> DataError:
    return DataError(
        f"the variable must have values that differ; got {x[0]:g} throughout."
    )


@dataclass(frozen=True)
class PolynomialBasis:
    """formulaic's poly(), with the recurrence learned from the rows of the fit."""

    degree: int
    raw: bool
    learned: dict[str, Any]

    def __call__(self, x: FloatArray) -> FloatArray:
        from formulaic.transforms.poly import poly

        return np.asarray(
            poly(x, degree=self.degree, raw=self.raw, _state=self.learned)
        )


def fit_poly(x: Weighted, degree: int = 1, raw: bool = False) -> PolynomialBasis:
    """poly(x, degree=1, raw=False); the degree is less than the number of distinct
    values.

    The polynomials are orthonormal over the rows, each repeated by its weight: the
    recurrence of formulaic's poly(), which takes no weights, with weighted sums.
    """
    values, weights = x
    whole("degree", degree, 1, min(int(np.unique(values).size) - 1, 50))
    if raw:
        return PolynomialBasis(degree, raw, {})
    alpha: dict[int, float] = {}
    norms: dict[int, float] = {}
    before = np.zeros_like(values)
    polynomial = np.ones_like(values)
    for k in range(degree + 1):
        squares = weights * polynomial**2
        norms[k] = np.sum(squares)
        alpha[k] = np.sum(values * squares) / norms[k]
        beta = norms[k] / norms[k - 1] if k else 0.0
        following = (values - alpha[k]) * polynomial - beta * before
        before = polynomial
        polynomial = following
    return PolynomialBasis(degree, raw, {"alpha": alpha, "norms2": norms})


@dataclass(frozen=True, kw_only=True)
class Spline:
    """bs() and ns() of R's splines, with knots at quantiles of x.

    bs() refuses values outside the boundary knots, where polynomial tails are
    unreliable. ns() is linear outside; its columns are cubic B-splines projected on the
    complement of the second derivatives at the boundary.
    """

    knots: tuple[float, ...]
    boundary: tuple[float, float]
    degree: int
    intercept: bool
    natural: bool

    def __call__(self, x: FloatArray) -> FloatArray:
        low, high = ends = np.array(self.boundary)
        if self.natural:
            basis = self._basis(np.clip(x, low, high))
            slopes = self._basis(ends, 1)
            basis += np.outer(np.minimum(x - low, 0), slopes[0]) + np.outer(
                np.maximum(x - high, 0), slopes[1]
            )
            rotation = np.linalg.qr(self._basis(ends, 2).T, mode="complete").Q
            return np.asarray((basis @ rotation)[:, 2:])
        if (outside := (x < low) | (x > high)).any():
            problem = (
                f"bs() was fitted on [{low:g}, {high:g}]; {int(outside.sum())} values"
                " lie outside"
            )
            raise DataError(
                f"{problem}, such as {x[outside][0]:g}. Use ns(), or set"
                " boundary_knots=[low, high]."
            )
        return self._basis(x)

    def _basis(self, x: FloatArray, derivative: int = 0) -> FloatArray:
        """B-splines within the bounds; at the upper bound they have their limits from
        below, so they sum to one.
        """
        from scipy.interpolate import BSpline

        low, high = self.boundary
        knots = np.concatenate(
            [
                np.repeat(low, self.degree + 1),
                self.knots,
                np.repeat(high, self.degree + 1),
            ]
        )
        splines = BSpline(knots, np.eye(knots.size - self.degree - 1), self.degree)
        return np.asarray(splines(np.minimum(x, np.nextafter(high, low)), derivative))[
            :, 0 if self.intercept else 1 :
        ]


def fit_spline(
    x: Weighted,
    df: Any = None,
    knots: Any = None,
    *,
    degree: int = 3,
    intercept: Any = False,
    boundary_knots: Any = None,
    natural: bool = False,
) -> Spline:
    """bs(x, df=None, knots=None, degree=3, intercept=False, boundary_knots=None); `df`
    counts the columns.

    By default the knots are quantiles of x, each value repeated by its weight.
    """
    values, weights = x
    if boundary_knots is not None and np.shape(boundary_knots) != (2,):
        raise FormulaError(
            f"boundary_knots must be [low, high]; got {boundary_knots!r}."
        )
    ends = (values.min(), values.max()) if boundary_knots is None else boundary_knots
    low, high = sorted(ends)
    if not low < high:
        raise _constant(values)
    whole("degree", degree, *((3, 3) if natural else (1, 9)))
    least = int(intercept) + (1 if natural else degree)
    if knots is None:
        most = min(int(np.unique(values).size) + 1, MAX_KNOTS)
        count = 0 if df is None else whole("df", df, least, most) - least
        within = (values >= low) & (values <= high)
        inside = Weighted(values[within], weights[within])
        shares = np.linspace(0, 1, count + 2)[1:-1]
        inner = quantiles(*inside, inside.total(), shares).tolist() if count else []
    else:
        inner = sorted(float(knot) for knot in np.atleast_1d(knots))
        if len(inner) > MAX_KNOTS or not all(low < knot < high for knot in inner):
            raise FormulaError(
                f"knots must lie inside ({low:g}, {high:g}), at most {MAX_KNOTS}; got"
                f" {len(inner):,}."
            )
    boundary = float(low), float(high)
    return Spline(
        knots=tuple(inner),
        boundary=boundary,
        degree=degree,
        intercept=bool(intercept),
        natural=natural,
    )


def _logarithm(x: FloatArray, base: float | None = None) -> FloatArray:
    return np.log(x) if base is None else np.log(x) / np.log(base)


#: Elementwise functions.
ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "exp": np.exp,
    "expm1": np.expm1,
    "log": _logarithm,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "sin": np.sin,
    "cos": np.cos,
    "pmax": lambda x, *others: reduce(np.maximum, others, x),
    "pmin": lambda x, *others: reduce(np.minimum, others, x),
}

#: Functions fitted to a column of numbers: name to a fitting function of (Weighted,
#: options) -> Transform.
FITTED: dict[str, Callable[..., Transform]] = {
    "scale": fit_scale,
    "center": lambda x: fit_scale(x, scale=False),
    "poly": fit_poly,
    "bs": fit_spline,
    "ns": partial(fit_spline, natural=True),
    SMOOTH: fit_smooth,
}


def learns(expression: Expression) -> bool:
    """Whether a factor calls a function that is fitted to the rows."""
    if expression.key.isidentifier():
        return False
    calls = [node for node in ast.walk(expression.tree) if isinstance(node, ast.Call)]
    return any(dotted_name(node.func) in FITTED for node in calls)


class Interpreter:
    """Evaluates expressions over the columns of one frame.

    Parameters
    ----------
    columns : Columns
    states : dict
        Fitted transforms by the text of their call; new calls are fitted and added.
    weights : (N,), optional
        Numbers of rows that the rows stand for where transforms are fitted; 1 by
        default.
    fits : bool
        Whether new calls are fitted; else they leave their argument as it is.
    """

    def __init__(
        self,
        columns: Columns,
        states: dict[str, Transform],
        weights: FloatArray | None = None,
        fits: bool = True,
    ):
        self.columns = columns
        self.states = states
        self.fits = fits
        self._weights = weights
        self.used: dict[str, None] = {}

    def evaluate(
        self, expression: Expression
    ) -> tuple[Value, tuple[str, ...], BoolArray | None]:
        """The value, the columns it depends on, and the rows in which one of these is
        missing.
        """
        self.used = {}
        if expression.key.isidentifier():
            value = self._lookup(unquoted(expression.key))
        else:
            try:
                with np.errstate(all="ignore"):
                    value = self._value(expression.tree)
            except RecursionError as error:
                raise FormulaError(
                    f"{shown(expression.label)} is nested too deeply."
                ) from error
        missing = None
        for name in self.used:
            mask = self.columns.column(name).missing
            if mask is not None:
                missing = mask if missing is None else missing | mask
        if not isinstance(value, Factor):
            value = np.asarray(value)
            if value.dtype.kind not in "biuf":
                raise FormulaError(
                    f"{expression.label!r} does not evaluate to numbers."
                )
            value = (
                np.full(len(self.columns.frame), value) if value.ndim == 0 else value
            )
        return value, tuple(self.used), missing

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=bool() | str()):
                return node.value
            case ast.Constant(value=int() | float() as number) if (
                abs(number) <= LARGEST
            ):
                large = isinstance(number, int) and abs(number) >= EXACT
                return number if large else np.float64(number)
            case ast.Name():
                return self._lookup(str(dotted_name(node)))
            case ast.Attribute() if str(dotted_name(node)) in self.columns:
                return self._lookup(str(dotted_name(node)))
            case ast.UnaryOp(op=ast.Invert() | ast.Not()):
                return ~condition(self._value(node.operand), node)
            case ast.UnaryOp():
                operand = numeric(self._value(node.operand), node)
                return -operand if isinstance(node.op, ast.USub) else operand
            case ast.BinOp() if type(node.op) in _OPERATORS:
                left, right = (
                    numeric(self._value(side), side) for side in (node.left, node.right)
                )
                return _OPERATORS[type(node.op)](left, right)
            case ast.BoolOp():
                values = [condition(self._value(part), part) for part in node.values]
                return reduce(
                    operator.and_ if isinstance(node.op, ast.And) else operator.or_,
                    values,
                )
            case ast.Compare():
                return self._compare(node)
            case ast.Call():
                return self._call(node)
        raise refusal(node)

    def _lookup(self, name: str) -> Any:
        if name in self.columns:
            self.used[name] = None
            return self.columns.column(name).value
        if name in CONSTANTS:
            return CONSTANTS[name]
        instead = instead_of(name, self.columns.frame)
        raise DataError(
            f"The data have no column {name!r}, needed by the formula; {instead}"
        )

    def _compare(self, node: ast.Compare) -> Any:
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            value = self._value(node.left)
            listed = literal(node.comparators[0])
            items = listed if isinstance(listed, tuple) else (listed,)
            if not all(
                isinstance(x, str)
                or (isinstance(x, (int, float)) and abs(x) <= LARGEST)
                for x in items
            ):
                raise FormulaError(
                    f"{said(node)} must compare with a list of numbers, such as [1, 2]."
                )
            tests = [compare(value, ast.Eq(), item, node) for item in items]
            inside = reduce(
                operator.or_, tests, np.zeros(len(self.columns.frame), dtype=bool)
            )
            return inside if isinstance(node.ops[0], ast.In) else ~inside
        values = [self._value(operand) for operand in (node.left, *node.comparators)]
        sides = zip(values[:-1], node.ops, values[1:], strict=True)
        return reduce(
            operator.and_,
            [compare(left, kind, right, node) for left, kind, right in sides],
        )

    def _call(self, node: ast.Call) -> Any:
        name = dotted_name(node.func)
        options = {keyword.arg: keyword.value for keyword in node.keywords}
        if name == "I" and len(node.args) == 1 and not options:
            return self._value(node.args[0])
        if name not in (*CODED, *EFFECTS, *FITTED, *ELEMENTWISE):
            raise unknown_function(node, name)
        if None in options:
            raise refusal(node)
        if not node.args:
            raise FormulaError(f"{said(node)}: {name}() must have a variable.")
        if name in CODED:
            return self._coded(node, name, options)
        values = {str(key): literal(option) for key, option in options.items()}
        if name in EFFECTS:
            factor = factor_of(self._column(node), source(node))
            given = map(literal, node.args[1:])
            effect = bound(EFFECTS[name], node, *given, **values)
            return replace(factor, contrast=None, effect=effect)
        if name in ELEMENTWISE:
            return bound(
                ELEMENTWISE[name],
                node,
                *(numeric(self._value(part), node) for part in node.args),
                **values,
            )
        x = self._numbers(node, name)
        present = np.isfinite(x)
        key = ast.unparse(node)
        if key not in self.states:
            if not self.fits:
                return x
            if not present.any():
                raise DataError(f"{said(node)}: no row has a value.")
            weights = np.ones(x.size) if self._weights is None else self._weights
            rows = Weighted(x[present], weights[present])
            self.states[key] = bound(
                FITTED[name], node, rows, *map(literal, node.args[1:]), **values
            )
        columns = self.states[key](x[present])
        if present.all():
            return columns
        out = np.full((x.size, *columns.shape[1:]), np.nan)
        out[present] = columns
        return out

    def _numbers(self, node: ast.Call, name: str) -> FloatArray:
        """(N,) the variable of a spline or of another function of a whole column."""
        others = [p for p in node.args[1:] if (dotted_name(p) or "") in self.columns]
        if others:
            surface = advice("function", "te") if name == SMOOTH else ""
            raise FormulaError(
                f"{said(node)}: {name}() must have one variable;"
                f" {source(others[0])!r} is another.{surface}"
            )
        value = self._value(node.args[0])
        if name == SMOOTH and isinstance(value, Factor):
            label = source(node.args[0])
            raise FormulaError(
                f"{said(node)}: s() must have a numeric variable; {label!r} is a factor"
                f" of {len(value.levels)} levels. Write {label} for an effect of each"
                f" level, (1 | {label}) for a random one."
            )
        x = np.asarray(numeric(value, node.args[0]), dtype=float)
        if x.ndim != 1:
            raise FormulaError(
                f"{said(node)}: the first argument must be one column of numbers."
            )
        return x

    def _coded(self, node: ast.Call, name: str, options: dict[Any, ast.expr]) -> Factor:
        codings = [
            *node.args[1:],
            *(options[key] for key in ("contrast", "contrasts") if key in options),
        ]
        if set(options) - {"contrast", "contrasts"} or len(codings) > (
            name == "C" or bool(options)
        ):
            raise FormulaError(
                f"{said(node)}: {name}() must have a variable, and one contrast= at"
                " most."
            )
        factor = factor_of(self._column(node), source(node))
        return replace(factor, contrast=contrast_of(codings[0])) if codings else factor

    def _column(self, node: ast.Call) -> Value:
        """The column that a factor is made of."""
        value = self._value(node.args[0])
        if not isinstance(value, (Factor, np.ndarray)):
            raise FormulaError(
                f"{said(node)}: a factor must be made of a column; got {value!r}."
            )
        return value


def refusal(node: ast.AST) -> FormulaError:
    """The error for code that formulas do not allow."""
    return FormulaError(
        f"{said(node)} is not allowed in a formula. Make it a column of the data."
    )


def unknown_function(node: ast.Call, name: str | None) -> FormulaError:
    """The error for a call of an unknown function."""
    hint = advice("function", name or "")
    module, _, last = (name or "").rpartition(".")
    if module in ("np", "numpy") and last in ELEMENTWISE:
        here = source(node).removeprefix(f"{module}.")
        return FormulaError(
            f"{said(node)}: functions of a formula have no module. Write {here!r}."
        )
    if not hint and (name is None or "__" in name or "." in name):
        return refusal(node)
    if not hint:
        near = suggest(str(name), ["I", *CODED, *EFFECTS, *FITTED, *ELEMENTWISE])
        hint = f" Make the result a column of the data; {near}"
    return FormulaError(
        f"Formulas do not have the function {name!r} of {said(node)}.{hint}"
    )


def bound(
    function: Callable[..., Any], node: ast.Call, *arguments: Any, **keywords: Any
) -> Any:
    """function(*arguments, **keywords), with an error that names the arguments if they
    do not fit.
    """
    signature = inspect.signature(
        (lambda x: x) if isinstance(function, np.ufunc) else function
    )
    try:
        signature.bind(*arguments, **keywords)
        return function(*arguments, **keywords)
    except (DataError, FormulaError, OptionError) as error:
        kind = DataError if isinstance(error, DataError) else FormulaError
        raise kind(f"{said(node)}: {error}") from error
    except (TypeError, ValueError, OverflowError) as error:
        names = ", ".join(
            str(p.replace(annotation=p.empty)) for p in signature.parameters.values()
        )
        table = f"arguments of {dotted_name(node.func)}"
        hints = "".join(dict.fromkeys(advice(table, word) for word in keywords))
        raise FormulaError(
            f"{said(node)}: {error}; the arguments are ({names}).{hints}"
        ) from error


def numeric(value: Any, node: ast.AST) -> Any:
    """Numbers for arithmetic: conditions count as 0 and 1, factors and text are
    refused.
    """
    if isinstance(value, Factor):
        example = f", such as {value.levels[0]!r}" if value.levels else ""
        shown = (
            f"{said(node)} is not numeric: it is a factor of {len(value.levels)}"
            f" levels{example}"
        )
        raise FormulaError(f"{shown}. Use it alone, or convert it with pd.to_numeric.")
    if isinstance(value, (str, tuple, type(None))):
        raise FormulaError(f"{value!r} must be a number.")
    if isinstance(value, np.ndarray) and value.dtype.kind in "biu":
        return value.astype(float)
    return value


def condition(value: Any, node: ast.AST) -> Any:
    """Booleans for & | ~."""
    if isinstance(value, bool) or (
        isinstance(value, np.ndarray) and value.dtype == bool
    ):
        return np.asarray(value)
    raise FormulaError(f"{said(node)} must be true or false in every row, as x > 0 is.")


def compare(left: Any, kind: ast.cmpop, right: Any, node: ast.Compare) -> BoolArray:
    """One comparison; a factor compares with one of its levels, by rank if it is
    ordered.
    """
    test = _COMPARISONS.get(type(kind))
    if test is None:
        raise refusal(node)
    if isinstance(left, Factor) and isinstance(right, Factor):
        left, right = (np.array(f.levels, dtype=object)[f.codes] for f in (left, right))
    elif isinstance(left, Factor):
        if isinstance(right, np.ndarray) or right not in left.levels:
            raise FormulaError(
                f"{said(node)}: compare the factor with one of its levels"
                f" {left.levels[:10]!r}."
            )
        if test not in (operator.eq, operator.ne) and not left.ordered:
            raise FormulaError(
                f"{said(node)}: < and > need an ordered factor; use == or !=."
            )
        left, right = left.codes, left.levels.index(right)
    if isinstance(right, Factor) or isinstance(left, str) or isinstance(right, str):
        raise FormulaError(
            f"{said(node)} compares text with numbers, or has a factor only on the"
            " right."
        )
    return np.asarray(test(left, right), dtype=bool)


def contrast_of(node: ast.expr) -> Contrasts:
    """The contrast in C(f, Sum), C(f, contr.sum), C(f, "sum"), C(f, Treatment("b")),
    C(f, [[...]]).
    """
    if isinstance(node, ast.Call):
        values = [
            literal(part)
            for part in (*node.args, *(keyword.value for keyword in node.keywords))
        ]
        if len(values) > 1:
            raise FormulaError(
                f"{said(node)}: a contrast must have a base level at most."
            )
        return contrast(dotted_name(node.func) or source(node), *values)
    if isinstance(node, (ast.Name, ast.Attribute)):
        return contrast(dotted_name(node) or source(node))
    return contrast(literal(node))


_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
