"""Columns of a frame as plain values: numbers, conditions or factors, with the rows where they are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..exceptions import DataError, FormulaError
from ..model.row_blocks import CACHED, row_blocks
from .contrasts import Contrast
from .frames import check_printable, find_column, has_column, plain, refuse, shown_labels

TEXT = ("string", "empty")
#: Columns whose rows share a line of the cache.
_WIDTH = 8
NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal")


@dataclass(frozen=True, eq=False, kw_only=True)
class Factor:
    """A categorical column.

    Attributes
    ----------
    codes : (N,) integers, -1 where missing
    levels : tuple
    ordered : bool
        Whether the levels were declared to be in order.
    contrast : Contrast or None
        Coding asked for in the formula, as in C(f, Sum).
    """

    codes: IntArray
    levels: tuple[Any, ...]
    ordered: bool = False
    contrast: Contrast | None = None

    def take(self, keep: BoolArray) -> Factor:
        """The rows of a mask."""
        return replace(self, codes=self.codes[keep])

    def bare(self) -> Factor:
        """Without rows."""
        return Factor(codes=self.codes[:0], levels=self.levels, ordered=self.ordered, contrast=self.contrast)


#: Numbers (N,) or (N, m), a condition (N,) of booleans, or a factor.
Value = AnyArray | Factor


@dataclass(frozen=True, eq=False)
class Column:
    """A value with its missing rows; None where no row is missing. Entries of missing rows mean nothing."""

    value: Value
    missing: BoolArray | None = None


def take(value: Value, keep: BoolArray) -> Value:
    """The rows of a mask."""
    return value.take(keep) if isinstance(value, Factor) else value[keep]


def with_gaps(value: Value, missing: BoolArray | None) -> Value:
    """The value with NaN, or the code -1, where it is missing; a condition becomes a factor."""
    if missing is None:
        return value
    if isinstance(value, np.ndarray) and value.dtype != bool:
        found = value.astype(np.float64)
        found[missing] = np.nan
        return found
    factor = factor_of(value, "the condition")
    return replace(factor, codes=np.where(missing, -1, factor.codes))


def read(column: pd.Series, *, finite: bool = False) -> Column:
    """What a column holds: numbers, booleans, or a factor (categoricals and text; text sorts its levels).

    Parameters
    ----------
    column : pandas.Series
    finite : bool
        Whether its numbers are known to be finite already.

    Raises
    ------
    DataError
        For dates, complex numbers and mixtures of text and numbers.
    """
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        levels = tuple(plain(label) for label in dtype.categories.tolist())
        return _factor(np.asarray(column.array.codes), levels, str(column.name), bool(dtype.ordered))
    if pd.api.types.is_bool_dtype(dtype):
        return _booleans(column)
    if pd.api.types.is_complex_dtype(dtype):
        raise DataError(f"Column {column.name!r} holds complex numbers; it must hold real ones.")
    if pd.api.types.is_numeric_dtype(dtype):
        return Column(column.to_numpy()) if finite else _numbers(column)
    return _objects(column)


def _factor(codes: IntArray, levels: tuple[Any, ...], name: str, ordered: bool = False) -> Column:
    check_printable(levels, f"Column {name!r}: the level")
    missing = codes < 0
    return Column(Factor(codes=codes, levels=levels, ordered=ordered), missing if missing.any() else None)


def _booleans(column: pd.Series) -> Column:
    missing = column.isna().to_numpy()
    values = column.astype("boolean").to_numpy(dtype=bool, na_value=False)
    return Column(values, missing if missing.any() else None)


def _numbers(column: pd.Series) -> Column:
    plain_dtype = isinstance(column.dtype, np.dtype)
    values = column.to_numpy() if plain_dtype else column.to_numpy(dtype=float, na_value=np.nan)
    if values.dtype.kind in "iu":
        return Column(values)
    return Column(values, missing_numbers(values, str(column.name), column.index))


def missing_numbers(values: FloatArray, name: str, index: pd.Index) -> BoolArray | None:
    """Mask of NaN, None where all are finite; DataError where a value is infinite."""
    with np.errstate(invalid="ignore", over="ignore"):  # one sum tells whether anything is not finite
        if np.isfinite(np.add.reduce(values, dtype=float)):
            return None
    rest = ": make it finite, or missing (NaN) to leave the row out."
    refuse(np.isinf(values), index, f"Column {name!r}", "infinite", rest)
    missing = np.isnan(values)
    return missing if missing.any() else None


def _objects(column: pd.Series) -> Column:
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind in TEXT:
        codes, labels = pd.factorize(column, sort=True)
        if not len(labels):
            return Column(np.full(len(column), np.nan), np.ones(len(column), dtype=bool))
        return _factor(codes, tuple(plain(label) for label in labels), str(column.name))
    if kind == "boolean":
        return _booleans(column)
    if kind in NUMBERS:
        try:
            return _numbers(pd.to_numeric(column).astype(float))
        except OverflowError as error:
            raise DataError(f"Column {column.name!r} holds a whole number that is too large; rescale it.") from error
    raise DataError(
        f"Column {column.name!r} holds {kind} values; it must hold numbers, booleans, text or categoricals. Convert it "
        "(dates to a number of days, mixtures with .astype(str) or pd.to_numeric)."
    )


def factor_of(value: Value, label: str) -> Factor:
    """A factor of numbers (levels sorted) or of a condition (levels False, True)."""
    if isinstance(value, Factor):
        return value
    if value.ndim != 1:
        raise FormulaError(f"{label!r} must have one column to be a factor; it has several.")
    if value.dtype == bool:
        return Factor(codes=value.astype(np.intp), levels=(False, True))
    codes, levels = _sorted_codes(value)
    return Factor(codes=codes, levels=levels)


def _sorted_codes(values: AnyArray) -> tuple[IntArray, tuple[Any, ...]]:
    """Places of numbers among the distinct ones, -1 where missing."""
    codes, uniques = pd.factorize(values)  # hashing; only the distinct values are sorted
    order = np.argsort(uniques)
    rank = np.empty(order.size + 1, dtype=np.intp)
    rank[order], rank[-1] = np.arange(order.size), -1
    found = uniques[order]
    whole = found.dtype.kind in "iu" or bool(np.all(np.isfinite(found) & (found == np.floor(found))))
    return rank[codes], tuple(int(x) if whole else float(x) for x in found)


def matched(factor: Factor, levels: tuple[Any, ...]) -> tuple[IntArray, list[Any]]:
    """Codes of a factor by other levels, -1 where missing, and those of its labels that are not among them."""
    if factor.levels == levels:
        return factor.codes, []
    position = {level: code for code, level in enumerate(levels)}
    codes = np.array([position.get(level, -2) for level in factor.levels] + [-1], dtype=np.intp)[factor.codes]
    return codes, [factor.levels[code] for code in np.unique(factor.codes[codes == -2])]


Used = Callable[[], Mapping[str, Sequence[Any]]]


def recode(value: Value, levels: tuple[Any, ...], name: str, used: Used = dict) -> IntArray:
    """(N,) codes by the levels of a fit, -1 where missing; DataError names levels the fit has not seen.

    `used` gives those that had rows there by name, where not all had.
    """
    codes, unseen = matched(factor_of(value, name), levels)
    if unseen:
        raise DataError(
            f"{name!r} has {'a level' if len(unseen) == 1 else 'levels'} the fit has not seen: "
            f"{shown_labels(unseen)}; known levels are {shown_labels(used().get(name, levels), 30)}."
        )
    return codes


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a frame, read once each when first asked for.

    Attributes
    ----------
    frame : pandas.DataFrame
    known : mapping of column name to Factor
        Factor columns of a fit, without rows; their levels hold for this frame too.
    used : callable, optional
        Gives the levels that had rows in the fit, by the name of a factor column.
    texts : set of str
        Names of the columns read so far that are no categoricals.
    """

    frame: pd.DataFrame
    known: Mapping[str, Factor] = field(default_factory=dict)
    used: Used = dict
    _read: dict[str, Column] = field(default_factory=dict)
    _finite: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)

    def look_over(self, names: Iterable[str]) -> None:
        """Find the finite columns among `names`, a block of rows at a time.

        Columns that lie in one row-major table share cache lines: reading them together costs one walk through memory
        where one after the other costs a walk each.
        """
        if self.n <= CACHED // _WIDTH or not self.frame.columns.is_unique:
            return
        columns = {name: self.frame[name].to_numpy() for name in names if self._strided(name)}
        sums = np.zeros(len(columns))
        with np.errstate(invalid="ignore", over="ignore"):  # one sum tells whether anything is not finite
            for some in row_blocks(self.n, _WIDTH, CACHED):
                sums += [np.add.reduce(values[some]) for values in columns.values()]
        self._finite.update(name for name, total in zip(columns, sums, strict=True) if np.isfinite(total))

    def _strided(self, name: str) -> bool:
        """Whether `name` is one column of floats whose entries do not lie side by side."""
        if name not in self.frame.columns:
            return False
        column = self.frame[name]
        return column.dtype == np.float64 and column.to_numpy().strides[0] != column.dtype.itemsize

    def __contains__(self, name: str) -> bool:
        return name in self._read or has_column(self.frame, name)

    def __getitem__(self, name: str) -> Column:
        return self.column(name)

    def column(self, name: str, role: str = "the model") -> Column:
        """A column that has to be there; DataError says what needs it."""
        if name not in self._read:
            found = find_column(self.frame, name, role)
            column = read(found, finite=name in self._finite)
            if not isinstance(found.dtype, pd.CategoricalDtype):
                self.texts.add(name)
            if (declared := self.known.get(name)) is not None:
                codes = recode(column.value, declared.levels, name, self.used)
                column = _factor(codes, declared.levels, name, declared.ordered)
            self._read[name] = column
        return self._read[name]

    def declared(self) -> dict[str, Factor]:
        """The factor columns read so far, without their rows."""
        values = {name: column.value for name, column in self._read.items()}
        return {name: v.bare() for name, v in values.items() if isinstance(v, Factor)}

    @property
    def n(self) -> int:
        return len(self.frame)
