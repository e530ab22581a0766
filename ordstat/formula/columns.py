"""Data frames of any type, and their columns as plain values."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, NamedTuple, cast
from unicodedata import normalize

import numpy as np
import pandas as pd

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..checks import brief, plain, refuse, shown_labels, suggest
from ..exceptions import DataError, DataWarning, FormulaError, warn

TEXT = ("string", "empty")
NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal")
ACCEPTED = (
    "a pandas or polars DataFrame, a pyarrow Table or a mapping of columns"
    " (OrdinalClassifier takes arrays)"
)
_IN_FILES = (
    "; ordfit(formula, path) and fit.predict_to(new, path) take the path of a Parquet"
    " file, all else takes rows in memory, as pandas.read_parquet(path) reads them"
)
#: What reads a file whose name ends so.
PANDAS_READERS = {
    ".csv": "read_csv",
    ".tsv": "read_table",
    ".xls": "read_excel",
    ".xlsx": "read_excel",
    ".dta": "read_stata",
    ".sav": "read_spss",
    ".feather": "read_feather",
}
#: Columns of a wide frame are more than this many.
_WIDE = 99
#: Columns of a fit are read together if they are at least so many, and their numbers at
#: most so many.
_SEVERAL = 16
_COPIED = 1 << 20
#: Below this floating-point numbers hold every whole number.
EXACT = 2.0**53
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def as_frame(data: Any) -> pd.DataFrame:
    """The data as a pandas frame with text column names; the data are never changed."""
    frame = data
    package = type(data).__module__.split(".")[0]
    if isinstance(data, Mapping):
        try:
            frame = pd.DataFrame(dict(data))
        except ValueError as error:
            raise DataError(
                "data= must have values of one length in every column, in lists such as"
                f" {{'x': [1, 2], 'g': ['a', 'b']}}; got {brief(dict(data))}."
            ) from error
    elif package == "pyarrow" and hasattr(data, "to_pandas"):
        frame = from_arrow(data)
    elif package == "polars" and hasattr(data, "get_columns"):
        frame = _from_polars(data)
    if isinstance(frame, pd.DataFrame):
        if isinstance(frame.columns, pd.MultiIndex):
            raise _many_levels(frame.columns)
        if frame.columns.inferred_type == "string":
            return frame
        return frame.rename(columns=str)
    refuse_other_files(data)
    hint = ""
    if isinstance(data, str) and "~" in data:
        hint = "; the formula comes first, ordfit(formula, data)"
    elif isinstance(data, (str, os.PathLike)):
        hint = _IN_FILES
    elif hasattr(data, "collect"):
        hint = "; call .collect() first"
    raise DataError(
        f"data= must be {ACCEPTED}; got"
        f" {type(data).__module__}.{type(data).__qualname__}{hint}."
    )


def refuse_other_files(
    data: Any, name: str = "data", takes: str = "rows in memory"
) -> None:
    """DataError for the path of a file that must be read by pandas first; it says how.

    `takes` names what the caller reads.
    """
    reader = None
    if isinstance(data, (str, os.PathLike)):
        path = os.fspath(data)
        reader = PANDAS_READERS.get(os.path.splitext(str(path))[1].lower())
    if reader is not None:
        raise DataError(
            f"{name} must be {takes}; got {path!r}. Read it: pandas.{reader}({path!r})."
        )


def _many_levels(columns: pd.MultiIndex) -> DataError:
    flat = "data.columns = ['_'.join(map(str, name)) for name in data.columns]"
    return DataError(
        f"Every column of the data must have one name; got names of {columns.nlevels}"
        f" levels (a MultiIndex), such as {tuple(columns[0])!r}. Join them: {flat}."
    )


def with_codes(X: Any) -> Any:
    """A frame with columns of text and categories replaced by numbers; arrays and
    frames of numbers are unchanged.

    Missing values become NaN, whatever the column holds them as.
    """
    if not hasattr(X, "columns"):
        return X
    frame = as_frame(X)
    codes = {}
    for name, dtype in frame.dtypes.items():
        column = find_column(frame, str(name), "X")
        if dtype.kind == "c" or not pd.api.types.is_numeric_dtype(dtype):
            value = with_gaps(*read(column))
            if isinstance(value, Factor):
                value = np.where(value.codes < 0, np.nan, value.codes)
            codes[str(name)] = value
    return frame.assign(**codes) if codes else X


def with_nan(X: Any) -> Any:
    """X with NaN where a masked array is masked, or an array of objects holds None or
    pandas.NA.

    Raises
    ------
    DataError
        X is the path of a file, or rows in blocks.
    """
    refuse_other_files(X, "X")
    in_blocks = hasattr(X, "schema") and not hasattr(X, "columns")
    if in_blocks or isinstance(X, (str, os.PathLike)):
        raise DataError(
            "X must be rows in memory; got"
            f" {type(X).__module__}.{type(X).__qualname__}{_IN_FILES}."
        )
    if isinstance(X, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(X), np.nan, X.data)
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 2:
        return np.where(pd.isna(X), np.nan, X)
    return X


def unmasked(values: Any, name: str) -> Any:
    """The values of an array, none of which may be masked.

    Raises
    ------
    DataError
        A value of a masked array is masked.
    """
    if not isinstance(values, np.ma.MaskedArray):
        return values
    missing = int(np.ma.getmaskarray(values).sum())
    if missing:
        raise DataError(
            f"{name} must have no missing values; got {missing} masked of"
            f" {values.size}. Leave these rows out."
        )
    return values.data


def from_arrow(data: Any, **options: Any) -> pd.DataFrame:
    """A table or batch of pyarrow. Whole numbers of 64 bits stay whole beside missing
    values: as floating-point numbers large ones, such as identifiers, would be equal.
    """
    pa = import_module("pyarrow")
    whole = {pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype()}
    if any(column.null_count and column.type in whole for column in data.columns):
        options["types_mapper"] = whole.get
    return cast(pd.DataFrame, data.to_pandas(**options))


def _from_polars(data: Any) -> pd.DataFrame:
    """By narwhals: polars' own conversion needs pyarrow."""
    import narwhals as nw

    columns: dict[str, Any] = {}
    whole = {nw.Int64: "Int64", nw.UInt64: "UInt64"}
    for series in nw.from_native(data, eager_only=True).iter_columns():
        kind = whole.get(type(series.dtype))
        if kind is not None and series.null_count():
            columns[series.name] = pd.array(series.to_list(), dtype=kind)
            continue
        if isinstance(series.dtype, (nw.Struct, nw.Array, nw.Int128, nw.UInt128)):
            # NumPy has tables of them, or nothing
            columns[series.name] = pd.Series(series.to_list(), dtype=object)
            continue
        columns[series.name] = series.to_numpy()
        if isinstance(series.dtype, nw.Enum):  # an Enum declares its order
            columns[series.name] = pd.Categorical(
                series.to_list(), list(series.dtype.categories), ordered=True
            )
        elif series.dtype == nw.Categorical:
            columns[series.name] = pd.Categorical(series.to_list())
    return pd.DataFrame(columns)


def instead_of(name: str, frame: pd.DataFrame) -> str:
    """The end of a message about a column that a frame does not have."""
    if name == "nan" and frame.columns.hasnans:
        return "a column has no name (None or NaN): rename it, or leave it out."
    if name in frame.index.names:
        return f"{name!r} is a level of the row index: give data.reset_index()."
    if name in {normalize("NFC", str(column)) for column in frame.columns}:
        return (
            "a column has this name in another Unicode form: write data.columns ="
            " data.columns.str.normalize('NFC')."
        )
    return suggest(name, frame.columns)


def find_column(frame: pd.DataFrame, name: str, role: str) -> pd.Series:
    """The column of a name; if it is missing, a DataError names the role."""
    try:
        column: Any = frame[name]
    except KeyError:
        raise DataError(
            f"The data have no column {name!r}, needed for {role};"
            f" {instead_of(name, frame)}"
        ) from None
    check_printable([name], "The column name")
    if isinstance(column, pd.DataFrame):
        raise DataError(
            f"The data have {column.shape[1]} columns named {name!r}, needed for"
            f" {role}; rename all but one."
        )
    series: pd.Series = column
    return series


def check_printable(names: Iterable[Any], where: str) -> None:
    """DataError if a name contains a control character, which would reach the terminal;
    `where` describes the name.
    """
    for name in names:
        if isinstance(name, str) and _CONTROL.search(name):
            raise DataError(f"{where} {name!r} has a control character; rename it.")


# Columns as values


@dataclass(frozen=True, eq=False, kw_only=True)
class Factor:
    """A categorical column.

    Attributes
    ----------
    codes : (N,) integers, -1 where missing
    levels : tuple
    ordered : bool
        Whether the levels were declared as ordered.
    contrast : Contrasts or None
        Coding in the formula, as in C(f, Sum).
    effect : LevelEffect or None
        Effect of smooth(f), mono(f) or fuse(f) in the formula.
    """

    codes: IntArray
    levels: tuple[Any, ...]
    ordered: bool = False
    contrast: Any = None
    effect: Any = None


#: Numbers (N,) or (N, m), a condition (N,) of booleans, or a factor.
Value = AnyArray | Factor


class Column(NamedTuple):
    """A value with the mask of its missing rows (None if no row is missing). Entries of
    missing rows are arbitrary.
    """

    value: Value
    missing: BoolArray | None = None


def take(value: Value, keep: BoolArray) -> Value:
    """The rows of a mask."""
    if isinstance(value, Factor):
        return replace(value, codes=value.codes[keep])
    return value[keep]


def with_gaps(value: Value, missing: BoolArray | None) -> Value:
    """The value with NaN, or the code -1, where it is missing; a condition becomes a
    factor.
    """
    if missing is None:
        return value
    if isinstance(value, np.ndarray) and value.dtype != bool:
        return np.where(missing if value.ndim == 1 else missing[:, None], np.nan, value)
    factor = factor_of(value, "the condition")
    return replace(factor, codes=np.where(missing, -1, factor.codes))


def read(column: pd.Series) -> Column:
    """The values of a column: numbers, booleans, or a factor (categoricals and text;
    text sorts its levels).

    Raises
    ------
    DataError
        Dates, complex numbers, or a mixture of text and numbers.
    """
    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return _numbers(column)
    if isinstance(dtype, pd.ArrowDtype) and hasattr(dtype.pyarrow_dtype, "index_type"):
        # a dictionary, which is pyarrow's categorical
        plain_column = import_module("pyarrow").array(column).to_pandas()
        column = plain_column.rename(column.name)
        dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _factor(
            np.asarray(column.array.codes),
            dtype.categories,
            str(column.name),
            bool(dtype.ordered),
        )
    kind = ""
    if dtype.kind == "O" and isinstance(dtype, np.dtype):
        kind = pd.api.types.infer_dtype(column, skipna=True)
    if pd.api.types.is_bool_dtype(dtype) or kind == "boolean":
        missing = column.isna().to_numpy()
        values = column.astype("boolean").to_numpy(dtype=bool, na_value=False)
        return Column(values, missing if missing.any() else None)
    if pd.api.types.is_complex_dtype(dtype):
        raise DataError(
            f"Column {column.name!r} holds complex numbers; it must hold real ones."
        )
    if pd.api.types.is_numeric_dtype(dtype):
        return _numbers(column)
    return _by_kind(column, kind or pd.api.types.infer_dtype(column, skipna=True))


def _by_kind(column: pd.Series, kind: str) -> Column:
    """Text, or objects that are numbers; DataError for other kinds of pandas'
    `infer_dtype`.
    """
    if kind in TEXT:
        codes, labels = pd.factorize(column, sort=True)
        if not len(labels):
            return Column(
                np.full(len(column), np.nan), np.ones(len(column), dtype=bool)
            )
        return _factor(codes, labels, str(column.name))
    if kind in NUMBERS:
        try:
            if kind == "integer":
                return _numbers(column.astype("Int64"))
            return _numbers(pd.to_numeric(column).astype(float))
        except OverflowError as error:
            raise DataError(
                f"Column {column.name!r} holds a whole number that is too large."
                " Rescale it, or make text of it if it names levels or groups."
            ) from error
    must = "it must hold numbers, booleans, text or categoricals"
    do = _conversion(f"data[{column.name!r}]", kind)
    raise DataError(f"Column {column.name!r} holds {kind} values; {must}. {do}.")


def _conversion(values: str, kind: str) -> str:
    """What makes numbers of the values of a kind; code for those of time."""
    if kind.startswith("timedelta"):
        return f"Make it a number of days: {values} / pd.Timedelta(days=1)"
    if kind == "period":
        dates = f"{values}.dt.to_timestamp()"
    elif kind == "datetime64":
        dates = values
    elif kind.startswith("date"):
        # objects, which have no accessor `dt`
        dates = f"pd.to_datetime({values})"
    else:
        return "Convert it"
    return f"Make it a number of days: ({dates} - {dates}.min()).dt.days"


def _factor(codes: IntArray, labels: Any, name: str, ordered: bool = False) -> Column:
    # by an array of objects, which texts of pyarrow become faster than a list
    levels = tuple([plain(label) for label in labels.to_numpy(dtype=object)])
    check_printable(levels, f"Column {name!r}: the level")
    missing = codes < 0
    return Column(
        Factor(codes=codes, levels=levels, ordered=ordered),
        missing if missing.any() else None,
    )


def _numbers(column: pd.Series) -> Column:
    """Numbers with a mask of NaN; DataError if a value is infinite.

    Numbers that are not whole become float64 here: transforms of float16 or float32
    would lose digits, or overflow.
    """
    options: dict[str, Any] = {}
    if not isinstance(column.dtype, np.dtype):
        if pd.api.types.is_integer_dtype(column.dtype):
            return _whole(column)
        options = {"dtype": float, "na_value": np.nan}
    values = column.to_numpy(**options)
    if values.dtype.kind in "iu":
        return Column(values.astype(values.dtype.newbyteorder("="), copy=False))
    values = values.astype(np.float64, copy=False)
    # the sum shows whether all values are finite
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(np.add.reduce(values, dtype=float)):
            return Column(values)
    rest = ": make it finite, or missing (NaN) to leave the row out."
    refuse(
        np.isinf(values), column.index, f"Column {str(column.name)!r}", "infinite", rest
    )
    missing = np.isnan(values)
    return Column(values, missing if missing.any() else None)


def _whole(column: pd.Series) -> Column:
    """Whole numbers of a type that has missing values; floating-point numbers would not
    tell large ones apart.
    """
    missing = column.isna().to_numpy()
    if missing.all():
        return Column(np.full(len(column), np.nan), missing)
    signed = pd.api.types.is_signed_integer_dtype(column.dtype)
    # a missing row gets a number of the column, so that no level is added
    some = column.iloc[int(np.argmin(missing))]
    values = column.to_numpy(dtype=np.int64 if signed else np.uint64, na_value=some)
    return Column(values, missing if missing.any() else None)


def factor_of(value: Value, label: str) -> Factor:
    """A factor of numbers (levels sorted) or of a condition (levels False, True)."""
    if isinstance(value, Factor):
        return value
    if value.ndim != 1:
        raise FormulaError(
            f"{label!r} must have one column to be a factor; it has several."
        )
    if value.dtype == bool:
        return Factor(codes=value.astype(np.intp), levels=(False, True))
    codes, levels = pd.factorize(value, sort=True)
    whole = levels.dtype.kind in "iu" or bool(
        np.all(np.isfinite(levels) & (levels == np.floor(levels)))
    )
    return Factor(
        codes=codes.astype(np.intp, copy=False),
        levels=tuple(map(int if whole else float, levels.tolist())),
    )


def matched(factor: Factor, levels: tuple[Any, ...]) -> tuple[IntArray, list[Any]]:
    """Codes of a factor by other levels, -1 if missing and -2 if unknown, and the
    unknown labels.
    """
    if factor.levels == levels:
        return factor.codes, []
    position = {level: code for code, level in enumerate(levels)}
    codes = np.array(
        [position.get(level, -2) for level in factor.levels] + [-1], dtype=np.intp
    )[factor.codes]
    return codes, [factor.levels[code] for code in np.unique(factor.codes[codes == -2])]


def fitted_codes(value: Value, levels: tuple[Any, ...], name: str) -> IntArray:
    """(N,) codes by the levels of a fit, -1 if missing; DataError for levels that are
    not in the fit.
    """
    codes, unseen = matched(factor_of(value, name), levels)
    if unseen:
        fitted = f"{shown_labels(levels, 30)}. Leave out these rows, or fit again"
        raise DataError(
            f"{name!r} has levels that are not in the fit: {shown_labels(unseen)}; it"
            f" has {fitted}."
        )
    return codes


def fitted_codes_or_missing(
    value: Value, levels: tuple[Any, ...], name: str
) -> IntArray:
    """(N,) codes by the levels of a fit, -1 if missing or not in the fit, with a
    DataWarning for these.
    """
    codes, unseen = matched(factor_of(value, name), levels)
    if unseen:
        shown = shown_labels(unseen)
        warn(
            f"{name!r} has levels that are not in the fit: {shown}. They count as"
            " missing values.",
            DataWarning,
        )
    return np.maximum(codes, -1)


def _range(value: Value) -> tuple[float, float] | None:
    """Least and largest number; None of a factor, a condition, or no rows."""
    if isinstance(value, Factor) or value.dtype.kind not in "iuf" or not value.size:
        return None
    low = value.min()
    high = value.max()
    if np.isnan(low):  # minima ignore missing values at a price
        low = np.fmin.reduce(value)
        high = np.fmax.reduce(value)
    return float(low), float(high)


def _read_at_once(names: Iterable[str], values: AnyArray) -> dict[str, Column]:
    """The columns of an array, by name, if they are finite floating-point numbers,
    which are read faster together; else empty.
    """
    if values.dtype != np.float64:
        return {}
    low = values.min(initial=0.0)
    high = values.max(initial=0.0)
    if not (low > -EXACT and high < EXACT):  # none is missing or infinite either
        return {}
    return dict(zip(names, map(Column, values.T), strict=True))


def _has_many_numbers(frame: pd.DataFrame) -> bool:
    """Whether a frame is wide and all its columns are floating-point numbers."""
    return frame.shape[1] > _WIDE and all(dtype == np.float64 for dtype in frame.dtypes)


class Columns:
    """The columns of a frame, each read once, on demand.

    Parameters
    ----------
    frame : pandas.DataFrame
    declared : mapping of column name to Factor, optional
        Factor columns of a fit, without rows, whose levels hold for this frame too. If
        it is empty, all columns of the fit are numbers, which are read together.
    unseen_missing : bool
        Whether unknown levels of these columns count as missing; else they raise
        DataError.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        declared: Mapping[str, Factor] | None = None,
        unseen_missing: bool = False,
    ):
        self.frame = frame
        self._unseen_missing = unseen_missing
        self._declared = declared or {}
        self._columns: dict[str, Column] = {}
        self._ranges: dict[str, tuple[float, float] | None] = {}
        numbers_alone = declared is not None and not declared
        numbers_alone = numbers_alone and frame.columns.is_unique
        if numbers_alone and (len(frame) == 1 or _has_many_numbers(frame)):
            self._columns = _read_at_once(frame.columns, frame.to_numpy())
        self._read_together = bool(self._columns)

    def __contains__(self, name: str) -> bool:
        return name in self.frame.columns

    def together(self, names: Sequence[str]) -> FloatArray | None:
        """(n, D) values of numeric columns without missing values, if they were read
        together; else None.

        Examples
        --------
        >>> Columns(pd.DataFrame({"x": [2.0], "z": [1.0]}), {}).together(["z", "x"])
        array([[1., 2.]])
        """
        if not self._read_together:
            return None
        values = [np.asarray(self._columns[name].value) for name in names]
        return np.stack(values, axis=1) if values else np.zeros((len(self.frame), 0))

    def read_together(self, names: Collection[str]) -> None:
        """Read those of several columns that are floating-point numbers together, if
        their copy is small.
        """
        frame = self.frame
        many = len(frame) * len(names) > _COPIED
        if many or len(names) < _SEVERAL or not frame.columns.is_unique:
            return
        types = frame.dtypes.tolist()
        numbers = {
            name: place
            for place, name in enumerate(frame.columns.tolist())
            if types[place] == np.float64 and name in names
        }
        check_printable(numbers, "The column name")
        places = list(numbers.values())
        few = frame.shape[1] <= 2 * len(places)
        if few and all(dtype in (np.float64, np.int64) for dtype in types):
            values = frame.to_numpy()[:, places]
        else:  # by places, as a search for the names takes longer
            values = frame.take(places, axis=1).to_numpy()
        read = _read_at_once(numbers, values)
        self._columns |= read
        if read and len(values):
            ends = values.min(axis=0).tolist(), values.max(axis=0).tolist()
            self._ranges |= dict(zip(numbers, zip(*ends, strict=True), strict=True))

    def column(self, name: str, role: str = "the model") -> Column:
        """A column; if it is missing, a DataError names the role that needs it."""
        if name not in self._columns:
            column = read(find_column(self.frame, name, role))
            factor = self._declared.get(name)
            if factor is not None:
                column = self._as_in_fit(column, factor, name)
            self._columns[name] = column
        return self._columns[name]

    def _as_in_fit(self, column: Column, factor: Factor, name: str) -> Column:
        """A column with the codes of a factor of the fit."""
        value, missing = column
        if not self._unseen_missing:
            codes = fitted_codes(value, factor.levels, name)
            return Column(replace(factor, codes=codes), missing)
        codes = fitted_codes_or_missing(value, factor.levels, name)
        absent = codes < 0
        if missing is not None:
            absent |= missing
        return Column(replace(factor, codes=codes), absent)

    def range(self, name: str) -> tuple[float, float] | None:
        """Smallest and largest number of a column, found once; None for columns that
        are not numeric.

        Examples
        --------
        >>> Columns(pd.DataFrame({"x": [2.0, 1.0, np.nan]})).range("x")
        (1.0, 2.0)
        """
        if name not in self._ranges:
            self._ranges[name] = _range(self.column(name).value)
        return self._ranges[name]

    def among(self, rows: BoolArray | None) -> Columns:
        """The columns at the rows of a mask (None: all rows), as read here."""
        if rows is None:
            return self
        some = Columns(self.frame[rows])
        for name, (value, missing) in self._columns.items():
            still = (
                None if missing is None or not missing[rows].any() else missing[rows]
            )
            some._columns[name] = Column(take(value, rows), still)
        return some

    def declared(self, names: Iterable[str]) -> dict[str, Factor]:
        """The factors among some columns, without their rows."""
        values = zip(names, map(self.column, names), strict=True)
        return {
            name: replace(f, codes=f.codes[:0])
            for name, (f, _) in values
            if isinstance(f, Factor)
        }
