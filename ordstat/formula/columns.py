"""Columns of a frame as plain values, and data that are probably wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from .._typing import AnyArray, BoolArray, IntArray
from ..exceptions import DataError, FormulaError
from .contrasts import Contrast
from .frames import check_printable, find_column, has_column, plain, refuse, shown_labels

TEXT = ("string", "empty")
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


def read(column: pd.Series) -> Column:
    """What a column holds: numbers, booleans, or a factor (categoricals and text; text sorts its levels).

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
        return _numbers(column)
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
    """Numbers with a mask of NaN; DataError if a value is infinite."""
    plain_dtype = isinstance(column.dtype, np.dtype)
    values = column.to_numpy() if plain_dtype else column.to_numpy(dtype=float, na_value=np.nan)
    if values.dtype.kind in "iu":
        return Column(values)
    with np.errstate(invalid="ignore", over="ignore"):  # one sum tells whether anything is not finite
        if np.isfinite(np.add.reduce(values, dtype=float)):
            return Column(values)
    rest = ": make it finite, or missing (NaN) to leave the row out."
    refuse(np.isinf(values), column.index, f"Column {str(column.name)!r}", "infinite", rest)
    missing = np.isnan(values)
    return Column(values, missing if missing.any() else None)


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
    codes, levels = pd.factorize(value, sort=True)
    whole = levels.dtype.kind in "iu" or bool(np.all(np.isfinite(levels) & (levels == np.floor(levels))))
    return Factor(codes=codes.astype(np.intp), levels=tuple(int(x) if whole else float(x) for x in levels))


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
    texts: set[str] = field(default_factory=set)

    def __contains__(self, name: str) -> bool:
        return name in self._read or has_column(self.frame, name)

    def __getitem__(self, name: str) -> Column:
        return self.column(name)

    def column(self, name: str, role: str = "the model") -> Column:
        """A column that has to be there; DataError says what needs it."""
        if name not in self._read:
            found = find_column(self.frame, name, role)
            column = read(found)
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


#: Codes of missing answers in surveys; those below 0 too.
_CODES = (7, 8, 9, 66, 77, 88, *range(96, 100), 777, 888, *range(996, 1000), 7777, 8888, *range(9996, 10000))
_ALL_CODES = np.array([-1, -2, -3, *(-code for code in _CODES), *_CODES])
_CODE_SET = frozenset(_ALL_CODES.tolist())
#: Levels of text that reads as numbers: more are named.
_MANY_TEXTS = 5
#: Answers that have no place on a scale.
_NO_ANSWER = re.compile(
    r"(do(n'?t| ?not|n’t)[ _]*know|\bdk\b|refus(ed|al)|no[ _]answer|not[ _](applicable|stated|asked|available)"
    r"|prefer not|missing|unknown|inapplicable|^n\.?/?a\.?$|^nan$|^null$|^none given$|^\s*$)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"^\s*[-+]?(\d[\d ,]*\.?\d*|\.\d+)([eE][-+]?\d+)?\s*%?\s*$")
_LEADING = re.compile(r"^\s*[<>≤≥$€£]*\s*([-+]?\d{1,3}(?:,\d{3})+|[-+]?\d+)(\.\d+)?\s*([kKmM]\b)?")
_FACTORS = {"k": 1e3, "m": 1e6}


def doubtful_response(labels: tuple[Any, ...], name: str) -> tuple[str, ...]:
    """Notes on the labels of a response, in their order, whose levels were not given by `levels=`."""
    if labels and all(isinstance(label, (int, float)) and not isinstance(label, bool) for label in labels):
        codes, scale = codes_apart(np.array(labels, dtype=float))
        if not codes:
            return ()
        return (
            f"Response {name} has the level{'s' * (len(codes) > 1)} {shown_labels(codes)}, away from {scale}: if that "
            "is a code for a missing answer, leave such rows out, or set it to missing; if not, levels=[...] "
            "with all levels in order says so.",
        )
    texts = [label for label in labels if isinstance(label, str)]
    notes = []
    if silent := [text for text in texts if _NO_ANSWER.search(text)]:
        notes.append(
            f"Response {name} has the level{'s' * (len(silent) > 1)} {shown_labels(silent)}, which may not belong to "
            "the scale. If so, set it to missing, or leave such rows out."
        )
    if len(texts) == len(labels) and _disordered(texts):
        notes.append(
            f"Response {name} has levels whose numbers are not in order: {shown_labels(texts, 12)}. "
            "Put the categories in order, or give levels=[...], lowest first."
        )
    return tuple(notes)


def doubtful_columns(columns: Columns, names: Iterable[str]) -> tuple[str, ...]:
    """Notes on the columns `names` of a formula, one each at most."""
    return tuple(note for name in names if (note := _column(name, columns[name], name in columns.texts)))


def _column(name: str, column: Column, plain_text: bool) -> str:
    value = column.value
    rest = "set such values to missing (NaN), or leave these rows out"
    if not isinstance(value, Factor):
        if value.dtype.kind not in "iuf":
            return ""
        seen = value if column.missing is None else value[~column.missing]
        codes, others = codes_apart(seen)
        if not codes:
            return ""
        what = f"the value{'s' * (len(codes) > 1)} {shown_labels(codes)} in {_rows(np.isin(seen, codes))}"
        why = f"far from the others ({others}): if that is a code for a missing answer, {rest}"
        return f"Column {name} has {what}, {why}."
    texts = [level for level in value.levels if isinstance(level, str)]
    silent = [code for code, level in enumerate(value.levels) if isinstance(level, str) and _NO_ANSWER.search(level)]
    if silent and (rows := np.isin(value.codes, silent)).any():
        what = f"the level{'s' * (len(silent) > 1)} {shown_labels(value.levels[code] for code in silent)}"
        return f"Column {name} has {what} in {_rows(rows)}: if that is not an answer, {rest}."
    if plain_text and len(texts) > _MANY_TEXTS and all(_NUMBER.match(level) for level in texts):
        return (
            f"Column {name} is text that reads as numbers, and a factor of {len(texts)} levels here: convert it with "
            "pd.to_numeric, or make it a category if a factor is meant."
        )
    return ""


def codes_apart(values: AnyArray) -> tuple[list[int], str]:
    """Codes of missing answers beyond a gap, in order, and the range of the other values, in words.

    The gap above is wider than the range of the other values. Below numbers that are never negative a code needs a gap
    of more than 1.
    """
    if not values.size or not {values.min(), values.max()} & _CODE_SET:
        return [], ""
    usual = np.isin(values, _ALL_CODES)
    others = values[~usual]
    if not others.size:
        others = values[values == values.min()]
    low, high = float(others.min()), float(others.max())
    codes = sorted({int(code) for code in values[usual]})
    above, below = list[int](), list[int]()
    for code in (code for code in codes if code > high):
        if above or _far(code, code - high, low, high):
            above.append(code)
        else:
            high = float(code)
    for code in (code for code in reversed(codes) if code < low):
        if below or _far(code, low - code, low, high) or (low >= 0 and low - code > 1 and low < high):
            below.append(code)
        else:
            low = float(code)
    return sorted(below) + above, f"{low:g} to {high:g}" if low < high else f"{low:g}"


def _far(code: int, gap: float, low: float, high: float) -> bool:
    """Whether a code lies beyond a gap wider than the range; next to a single value a code must have two digits."""
    return gap > max(high - low, 3.0) and (low < high or abs(code) > 9)


def _rows(rows: BoolArray) -> str:
    return f"{int(rows.sum())} row{'s' * (int(rows.sum()) > 1)}"


def _disordered(texts: list[str]) -> bool:
    """Whether every text begins with a number, such as "1,000-4,999" or "$25k", and these neither rise nor fall."""
    matches = [_LEADING.match(text) for text in texts]
    numbers = [
        float(match[1].replace(",", "") + (match[2] or "")) * _FACTORS.get((match[3] or "").lower(), 1.0)
        for match in matches
        if match is not None
    ]
    return len(numbers) == len(texts) and numbers != sorted(numbers) and numbers != sorted(numbers, reverse=True)
