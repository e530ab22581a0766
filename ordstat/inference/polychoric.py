"""Correlation matrices of ordered and numeric columns."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from statsmodels.stats.correlation_tools import corr_nearest
from statsmodels.tools.sm_exceptions import IterationLimitWarning

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..advice import with_advice
from ..checks import counted, flag, one_of
from ..exceptions import DataError, DataWarning, OptionError, warn
from ..formula.columns import Columns, Factor, as_frame, factor_of
from ..formula.doubtful import column_notes
from ..formula.inputs import case_weights_of
from ..report.cells import MOST_TERMS, count, first_few
from ..report.frames import NotedFrame
from ..report.render import Report, Reported, Table
from ..threads import FILTERS
from .correlations import (
    Correlation,
    pearson_of,
    polychoric_of,
    polyserial_of,
)

_METHODS = ("two-step", "ml")
#: Eigenvalues below 0 by less than this are rounding.
_ROUNDING = 1e-8
#: A whole-number column with at most so many values may be a scale of answers.
_FEW = 10
#: More levels are better taken as numbers.
_MOST_LEVELS = 30
#: Pairs that the printed report lists.
_MOST_PAIRS = 10
#: How their numbers are printed.
_FORMATS = {
    "correlation": ".3f",
    "std_error": ".3f",
    "n": "int",
    "G2": ".2f",
    "df": "int",
    "p_value": "p",
}
#: Level of the count of tables that contradict normality.
_ALPHA = 0.01


@dataclass(frozen=True, eq=False)
class _Item:
    """A column: codes of an ordered one, or numbers; arbitrary where missing."""

    name: str
    values: AnyArray
    present: BoolArray
    ordered: bool


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Polychoric(Reported):
    """Correlations of the normal variables behind columns; what `polychoric` returns.

    Attributes
    ----------
    matrix : pandas.DataFrame
        Correlations.
    std_errors : pandas.DataFrame
        Their standard errors, 0 on the diagonal, NaN where a correlation is at a bound.
    n : pandas.DataFrame
        Sum of the weights of the rows with both values of a pair.
    pairs : pandas.DataFrame
        A row for each pair: kind ("polychoric", "polyserial", "Pearson"), correlation,
        std_error, n, and the test of normality: statistic (G2), df, p_value.
    method : str
        "two-step" or "ml".
    smallest_eigenvalue : float
        Smallest eigenvalue of the matrix of pairwise correlations; negative if this is
        not a valid correlation matrix.
    notes : tuple of str
    """

    matrix: pd.DataFrame
    std_errors: pd.DataFrame
    n: pd.DataFrame
    pairs: pd.DataFrame
    method: str
    smallest_eigenvalue: float
    notes: tuple[str, ...]

    def report(self) -> Report:
        """The tables as data."""
        tables = [
            Table(
                title="Correlations",
                frame=self.matrix,
                formats=dict.fromkeys(self.matrix, ".2f"),
                square=True,
            )
        ]
        if len(self.pairs) <= _MOST_PAIRS:
            index = pd.Index(
                [f"{first}, {second}" for first, second in self.pairs.index]
            )
            tables.append(
                Table(
                    title="Pairs, with tests of normality",
                    frame=self.pairs.set_axis(index).rename(
                        columns={"statistic": "G2"}
                    ),
                    formats=_FORMATS,
                )
            )
        methods = {"two-step": "two steps", "ml": "maximum likelihood"}
        header = [
            ("Kinds", _kinds(self)),
            ("Method", methods[self.method]),
            ("Rows", _rows(self)),
        ]
        if len(self.pairs) > _MOST_PAIRS:
            errors = self.pairs["std_error"]
            span = f"{errors.min():.3f} to {errors.max():.3f} (.std_errors)"
            header.append(("Std. errors", span))
        return Report(
            title=f"Correlations of {len(self.matrix)} columns",
            header=tuple(header),
            tables=tuple(tables),
            notes=(*self.notes, *_about_tests(self)),
        )


_FRACTIONS = (
    "weights= must be frequency counts; these are not whole numbers. Correlations use"
    " them, but standard errors and tests change with the scale of the weights, and"
    " ignore a sampling design."
)


@with_advice
def polychoric(
    frame: Any,
    weights: Any = None,
    *,
    ordered: bool | str | Sequence[str] = (),
    method: str = "two-step",
    nearest: bool = False,
) -> Polychoric:
    """Correlations of all pairs of columns: polychoric of two ordered ones, polyserial
    of an ordered and a numeric one, Pearson's of two numeric ones.

    A polychoric correlation is that of two normal variables which were cut at
    thresholds to give the answers [Olsson 1979].

    Parameters
    ----------
    frame : data frame
        Ordered categoricals, booleans and numbers. Never changed.
    weights : str or array of length N, optional
        Case weights: the number of observations that a row represents. A column named
        here is left out of the matrix.
    ordered : str, list of str or True, optional
        Numeric columns that hold ordered answers such as 1 to 5; True for all.
    method : {"two-step", "ml"}
        "two-step" takes the thresholds from each column alone, then estimates the
        correlation; "ml" estimates both together by maximum likelihood, for each pair.
    nearest : bool
        Whether to replace a matrix with a negative eigenvalue by the nearest
        correlation matrix [Higham 2002]. Standard errors remain those of the pairs.

    Returns
    -------
    Polychoric
        `.matrix`, `.std_errors`, `.n`, `.pairs`; it prints the correlations and, of up
        to 10 pairs, their standard errors and tests.

    Raises
    ------
    DataError
        Fewer than two columns, a column without an order or with a single value.
    OptionError
        An unknown method, or a name in `ordered` that is not a column.

    Warns
    -----
    DataWarning
        Whole numbers with few distinct values that are treated as numeric. Values that
        may be codes of missing answers. Correlations of 1 or -1. A matrix with a
        negative eigenvalue. Weights that are not whole numbers.

    Notes
    -----
    Each pair uses the rows that have both values, and the levels that occur in them.
    Standard errors of two steps come from the estimating equations of both steps
    together, and hold without normality too; those of R's polycor take the thresholds
    as known. Standard errors by maximum likelihood are those of the information, which
    assumes normality. Polyserial maximum likelihood is an ordered probit regression of
    the answers on the number. G2 tests bivariate normality from the table of a pair, on
    (I - 1)(J - 1) - 1 degrees of freedom; for this numeric columns are cut at normal
    quartiles.

    References
    ----------
    Olsson (1979), Maximum likelihood estimation of the polychoric correlation
    coefficient, Psychometrika 44, 443-460; Olsson, Drasgow & Dorans (1982), The
    polyserial correlation coefficient, Psychometrika 47, 337-347; Higham (2002),
    Computing the nearest correlation matrix, IMA Journal of Numerical Analysis 22,
    329-343.

    Examples
    --------
    >>> from ordstat import datasets, polychoric
    >>> wine = datasets.load("wine")
    >>> wine["warm"] = wine["temp"] == "warm"
    >>> found = polychoric(wine[["rating", "warm", "response"]])
    >>> found.pairs["correlation"].round(3).tolist()
    [0.717, 0.994, 0.715]
    """
    table = as_frame(frame)
    one_of("method", method, _METHODS)
    flag("nearest", nearest)
    w, weight_notes = _weights(table, weights)
    if isinstance(weights, str) and weights in table.columns:
        table = table.drop(columns=weights)
    items, notes = _items(table, ordered, w > 0.0)
    notes += weight_notes
    found = {
        (first.name, second.name): _pair(first, second, w, method == "ml")
        for first, second in combinations(items, 2)
    }
    names = pd.Index([item.name for item in items])
    matrix = _square(names, {pair: c.estimate for pair, c in found.items()}, 1.0)
    bounds = [" with ".join(pair) for pair, c in found.items() if c.at_bound]
    if bounds:
        notes.append(
            f"At a bound of 1 or -1, without a standard error: "
            f"{first_few(bounds, MOST_TERMS)}. The table of such a pair has empty cells"
            " on one side of the diagonal."
        )
        warn(notes[-1], DataWarning)
    smallest = float(np.linalg.eigvalsh(matrix.to_numpy())[0])
    if smallest < -_ROUNDING:
        notes.append(_about_eigenvalue(smallest, nearest))
        if nearest:
            matrix = _nearest(matrix)
        else:
            warn(notes[-1], DataWarning)
    sizes = {pair: c.n for pair, c in found.items()}
    own = [float(w[item.present].sum()) for item in items]
    return Polychoric(
        matrix=matrix,
        std_errors=_square(names, {pair: c.std_error for pair, c in found.items()}, 0),
        n=_square(names, sizes, own),
        pairs=_pairs(found, notes),
        method=method,
        smallest_eigenvalue=smallest,
        notes=tuple(notes),
    )


@with_advice
def polyserial(
    frame: Any,
    number: str,
    answer: str,
    weights: Any = None,
    *,
    method: str = "two-step",
) -> Correlation:
    """The correlation of a numeric column with the normal variable behind an ordered
    one.

    Parameters
    ----------
    frame : data frame
    number, answer : str
        Names of the numeric and the ordered column; the latter may hold numbers.
    weights, method
        As in `polychoric`.

    Returns
    -------
    Correlation
        `.estimate`, `.std_error`, `.n`, `.statistic`, `.df`, `.p_value`.

    Raises
    ------
    DataError, OptionError
        As in `polychoric`.

    References
    ----------
    Olsson, Drasgow & Dorans (1982), The polyserial correlation coefficient,
    Psychometrika 47, 337-347.

    Examples
    --------
    >>> from ordstat import datasets, polyserial
    >>> wine = datasets.load("wine")
    >>> round(polyserial(wine, "response", "rating").estimate, 3)
    0.994
    """
    table = as_frame(frame)
    one_of("method", method, _METHODS)
    w = _weights(table, weights)[0]
    chosen = {name: table.get(name) for name in (number, answer)}
    if len(chosen) < 2 or any(column is None for column in chosen.values()):
        raise OptionError(
            "number and answer must name two different columns; got"
            f" {number!r} and {answer!r}."
        )
    items, _ = _items(pd.DataFrame(chosen), [answer], w > 0.0)
    if items[0].ordered:
        raise DataError(
            f"Column {number!r} must hold numbers; it is ordered. Use polychoric for"
            " two ordered columns."
        )
    return _pair(items[0], items[1], w, method == "ml")


# Reading


def _weights(table: pd.DataFrame, weights: Any) -> tuple[FloatArray, list[str]]:
    """(N,) case weights, 0 where missing, and notes."""
    values, present = case_weights_of(table, weights)
    notes = []
    if not present.all():
        rows = counted(int((~present).sum()), "row")
        notes.append(f"{rows} left out for missing weights.")
    if not np.array_equal(values, np.rint(values)):
        notes.append(_FRACTIONS)
    for note in notes:
        warn(note, DataWarning)
    return values, notes


def _items(
    table: pd.DataFrame, ordered: Any, used: BoolArray
) -> tuple[list[_Item], list[str]]:
    """The columns as codes or numbers, and notes on doubtful ones."""
    names = list(table.columns)
    if len(names) < 2:
        raise DataError(
            f"A correlation needs two columns or more; got {names}. Give a frame with"
            " the columns to correlate."
        )
    given = [ordered] if isinstance(ordered, str) else ordered or ()
    listed = names if ordered is True else [str(name) for name in given]
    unknown = [name for name in listed if name not in names]
    if unknown:
        raise OptionError(
            f"ordered must name columns of the frame; it has no {unknown[0]!r}."
        )
    columns = Columns(table)
    items = [_item(columns, name, name in listed, used) for name in names]
    scales = [
        item.name
        for item in items
        if not item.ordered and _few_whole_numbers(item.values[item.present])
    ]
    notes = []
    if scales:
        notes.append(
            f"Taken as numeric, though they are whole numbers with {_FEW} values or"
            f" fewer: {first_few(scales, MOST_TERMS)}. Give ordered=[...], or"
            " ordered=True for all, if they are answers on a scale."
        )
    notes += column_notes(_as_numbers(table), names)
    for note in notes:
        warn(note, DataWarning)
    return items, notes


def _few_whole_numbers(values: AnyArray) -> bool:
    """Whether numbers may be the codes of a scale; with missing values, pandas stores
    such codes as floats.
    """
    distinct = np.unique(values)
    return bool(distinct.size <= _FEW and np.array_equal(distinct, np.rint(distinct)))


def _item(columns: Columns, name: str, ordered: bool, used: BoolArray) -> _Item:
    value, missing = columns.column(name, "the correlations")
    if isinstance(value, Factor) and not value.ordered:
        raise DataError(
            f"Column {name!r} has labels without an order. Make it an ordered"
            " pd.Categorical, or leave it out."
        )
    if isinstance(value, Factor) or value.dtype == bool or ordered:
        values = factor_of(value, name).codes.astype(np.intp)
        ordered = True
    else:
        values = value
    present = used if missing is None else used & ~missing
    distinct = np.unique(values[present]).size
    if distinct < 2:
        raise DataError(
            f"Column {name!r} must have two different values or more in the rows used."
            " Leave it out."
        )
    if ordered and distinct > _MOST_LEVELS:
        raise DataError(
            f"Column {name!r} must have {_MOST_LEVELS} levels at most to be ordered;"
            f" got {distinct}. Make it numeric, or cut it into classes with pd.cut."
        )
    return _Item(name, values, present, ordered)


def _as_numbers(table: pd.DataFrame) -> Columns:
    """The columns, with numbers in place of ordered categories that are numbers."""
    numbers = {}
    for name, column in table.items():
        dtype = column.dtype
        if isinstance(dtype, pd.CategoricalDtype) and dtype.categories.dtype.kind in (
            "iuf"
        ):
            numbers[str(name)] = column.astype(np.float64)
    return Columns(table.assign(**numbers))


def _pair(first: _Item, second: _Item, w: FloatArray, ml: bool) -> Correlation:
    """The correlation of two columns in the rows that have both."""
    rows = first.present & second.present
    weights = w[rows]
    x = first.values[rows]
    y = second.values[rows]
    for item, values in ((first, x), (second, y)):
        if np.unique(values).size < 2:
            raise DataError(
                f"Column {item.name!r} has fewer than two values in the rows that have"
                f" both {first.name!r} and {second.name!r}. Leave one of them out."
            )
    if first.ordered and second.ordered:
        return polychoric_of(_counts(x, y, weights), ml)
    if first.ordered:
        return polyserial_of(y.astype(np.float64), _present_codes(x), weights, ml)
    if second.ordered:
        return polyserial_of(x.astype(np.float64), _present_codes(y), weights, ml)
    return pearson_of(x.astype(np.float64), y.astype(np.float64), weights)


def _present_codes(codes: IntArray) -> IntArray:
    """Codes 0, 1, ... of the levels that occur."""
    occurs = np.bincount(codes) > 0
    return (np.cumsum(occurs) - 1)[codes]


def _counts(x: IntArray, y: IntArray, w: FloatArray) -> FloatArray:
    """The table of two codes, without levels that do not occur."""
    width = int(y.max()) + 1
    size = (int(x.max()) + 1) * width
    table = np.bincount(x * width + y, w, size).reshape(-1, width)
    return np.asarray(table[table.any(axis=1)][:, table.any(axis=0)], dtype=np.float64)


# Tables


def _square(
    names: pd.Index, values: dict[tuple[str, str], float], diagonal: Any
) -> pd.DataFrame:
    """A symmetric frame of values by pair."""
    square = np.zeros((len(names),) * 2)
    rows, columns = np.triu_indices(len(names), 1)
    square[rows, columns] = square[columns, rows] = list(values.values())
    np.fill_diagonal(square, diagonal)
    return pd.DataFrame(square, index=names, columns=names)


def _nearest(matrix: pd.DataFrame) -> pd.DataFrame:
    """The nearest correlation matrix."""
    with FILTERS, warnings.catch_warnings():
        # it projects as often as it may where rounding hides the end
        warnings.simplefilter("ignore", IterationLimitWarning)
        projected = corr_nearest(matrix.to_numpy())
    return pd.DataFrame(projected, index=matrix.index, columns=matrix.columns)


def _about_eigenvalue(smallest: float, nearest: bool) -> str:
    eigenvalue = f"The smallest eigenvalue of the pairwise matrix is {smallest:.3g}"
    if nearest:
        return f"{eigenvalue}; the matrix shown is the nearest correlation matrix."
    return (
        f"{eigenvalue}: it is no correlation matrix. Give nearest=True for the nearest."
    )


def _pairs(
    found: dict[tuple[str, str], Correlation], notes: Sequence[str]
) -> NotedFrame:
    rows = [
        (c.kind, c.estimate, c.std_error, c.n, c.statistic, c.df, c.p_value)
        for c in found.values()
    ]
    columns = ["kind", "correlation", "std_error", "n", "statistic", "df", "p_value"]
    index = pd.MultiIndex.from_tuples(list(found), names=["first", "second"])
    frame = pd.DataFrame(rows, columns=columns, index=index)
    return NotedFrame.of(
        frame, notes, "Correlations of pairs", {"n": "int", "statistic": ".2f"}
    )


def _kinds(r: Polychoric) -> str:
    counts = r.pairs["kind"].value_counts(sort=False)
    return ", ".join(f"{number} {kind}" for kind, number in counts.items())


def _rows(r: Polychoric) -> str:
    least = count(r.pairs["n"].min())
    most = count(r.pairs["n"].max())
    return most if least == most else f"{least} to {most} a pair"


def _about_tests(r: Polychoric) -> list[str]:
    tested = r.pairs["p_value"].dropna()
    if tested.empty:
        return []
    low = int((tested < _ALPHA).sum())
    where = "" if len(r.pairs) <= _MOST_PAIRS else " All tests are in .pairs."
    if low == 0:
        return [f"Normality is not rejected in any table at p < {_ALPHA:g}.{where}"]
    tables = "" if len(tested) == 1 else f" in {low} of {len(tested)} tables"
    return [
        f"Normality is rejected at p < {_ALPHA:g}{tables};"
        f" with many rows small departures are significant.{where}"
    ]
