"""Data frames of any kind, their columns as plain values, and data that are probably wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .._typing import AnyArray, BoolArray, IntArray
from ..checks import nearest
from ..exceptions import DataError, FormulaError

TEXT = ("string", "empty")
NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal")
ACCEPTED = "a pandas or polars DataFrame, a pyarrow Table or a mapping of columns (OrdinalClassifier takes arrays)"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def as_frame(data: Any) -> pd.DataFrame:
    """The data as a pandas frame whose column names are texts; nothing is ever written to the data."""
    frame = data
    package = type(data).__module__.split(".")[0]
    if isinstance(data, Mapping):
        try:
            frame = pd.DataFrame(dict(data))
        except ValueError as error:
            raise DataError(f"data= must have values of one length in every column: {error}.") from error
    elif package == "pyarrow" and hasattr(data, "to_pandas"):
        frame = data.to_pandas()
    elif package == "polars" and hasattr(data, "get_columns"):
        frame = _from_polars(data)
    if isinstance(frame, pd.DataFrame):
        return frame if frame.columns.inferred_type == "string" else frame.rename(columns=str)
    hint = "; call .collect() first" if hasattr(data, "collect") else ""
    hint = "; the formula comes first, ordfit(formula, data)" if isinstance(data, str) and "~" in data else hint
    raise DataError(f"data= must be {ACCEPTED}; got {type(data).__module__}.{type(data).__qualname__}{hint}.")


def _from_polars(data: Any) -> pd.DataFrame:
    """By narwhals, a dependency of formulaic: polars' own conversion needs pyarrow."""
    import narwhals as nw

    columns = {}
    for series in nw.from_native(data, eager_only=True).iter_columns():
        columns[series.name] = series.to_numpy()
        if isinstance(series.dtype, nw.Enum):  # an Enum declares its order
            columns[series.name] = pd.Categorical(series.to_list(), list(series.dtype.categories), ordered=True)
        elif series.dtype == nw.Categorical:
            columns[series.name] = pd.Categorical(series.to_list())
    return pd.DataFrame(columns)


def suggest(name: str, names: Iterable[Any]) -> str:
    """The end of a message about an unknown name: the nearest names, else the first few."""
    known = [str(other) for other in names]
    if close := nearest(name, known, most=3):
        return "did you mean " + " or ".join(repr(other) for other in close) + "?"
    shown = ", ".join(repr(other) for other in known[:12])
    return f"there are {shown}{', ...' if len(known) > 12 else ''}." if known else "the data have no columns."


def find_column(frame: pd.DataFrame, name: str, role: str) -> pd.Series:
    """The column of that name; DataError says what needs it."""
    if name not in frame.columns:
        raise DataError(f"The data have no column {name!r}, needed for {role}; {suggest(name, frame.columns)}")
    check_printable([name], "The column name")
    column: Any = frame[name]
    if isinstance(column, pd.DataFrame):
        raise DataError(f"The data have {column.shape[1]} columns named {name!r}; rename them so that {role} is clear.")
    series: pd.Series = column
    return series


def check_printable(names: Iterable[Any], where: str) -> None:
    """DataError if a name holds a control character, which would reach the terminal; `where` says what it names."""
    for name in names:
        if isinstance(name, str) and _CONTROL.search(name):
            raise DataError(f"{where} {name!r} has a control character; rename it.")


def row_name(index: pd.Index, position: int) -> str:
    """A row in words: its label, and its position if the label is another number."""
    label = index[position]
    if isinstance(label, (int, np.integer)) and int(label) == position:
        return f"row {position}"
    return f"row {tuple(map(plain, label)) if isinstance(label, tuple) else plain(label)!r} (position {position})"


def refuse(bad: BoolArray, index: pd.Index, name: str, value: AnyArray | str, rest: str, where: str = "") -> None:
    """DataError that names the first of the bad rows, with its value or what is wrong with it, and counts them."""
    if not bad.any():
        return
    place = int(np.argmax(bad))
    is_what = value if isinstance(value, str) else f"{value[place]:g}"
    raise DataError(f"{name} is {is_what} in {row_name(index, place)}{where} ({int(bad.sum())} such rows){rest}")


def shown_labels(labels: Iterable[Any], limit: int = 10) -> str:
    """Up to `limit` labels as Python writes them."""
    listed = [repr(plain(label)) for label in labels]
    return ", ".join(listed[:limit]) + (f", ... ({len(listed)} in all)" if len(listed) > limit else "")


def plain(label: Any) -> Any:
    """A label as a plain Python value, so that it prints and pickles as the user wrote it."""
    return label.item() if isinstance(label, np.generic) else label


# Columns as values


@dataclass(frozen=True, eq=False, kw_only=True)
class Factor:
    """A categorical column.

    Attributes
    ----------
    codes : (N,) integers, -1 where missing
    levels : tuple
    ordered : bool
        Whether the levels were declared to be in order.
    contrast : Contrasts or None
        Coding asked for in the formula, as in C(f, Sum).
    """

    codes: IntArray
    levels: tuple[Any, ...]
    ordered: bool = False
    contrast: Any = None


#: Numbers (N,) or (N, m), a condition (N,) of booleans, or a factor.
Value = AnyArray | Factor


class Column(NamedTuple):
    """A value with its missing rows, None if no row is missing. Entries of missing rows mean nothing."""

    value: Value
    missing: BoolArray | None = None


def take(value: Value, keep: BoolArray) -> Value:
    """The rows of a mask."""
    return replace(value, codes=value.codes[keep]) if isinstance(value, Factor) else value[keep]


def with_gaps(value: Value, missing: BoolArray | None) -> Value:
    """The value with NaN, or the code -1, where it is missing; a condition becomes a factor."""
    if missing is None:
        return value
    if isinstance(value, np.ndarray) and value.dtype != bool:
        return np.where(missing if value.ndim == 1 else missing[:, None], np.nan, value)
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
        return _factor(np.asarray(column.array.codes), dtype.categories, str(column.name), bool(dtype.ordered))
    kind = pd.api.types.infer_dtype(column, skipna=True) if dtype.kind == "O" and isinstance(dtype, np.dtype) else ""
    if pd.api.types.is_bool_dtype(dtype) or kind == "boolean":
        missing = column.isna().to_numpy()
        values = column.astype("boolean").to_numpy(dtype=bool, na_value=False)
        return Column(values, missing if missing.any() else None)
    if pd.api.types.is_complex_dtype(dtype):
        raise DataError(f"Column {column.name!r} holds complex numbers; it must hold real ones.")
    if pd.api.types.is_numeric_dtype(dtype):
        return _numbers(column)
    kind = kind or pd.api.types.infer_dtype(column, skipna=True)
    if kind in TEXT:
        codes, labels = pd.factorize(column, sort=True)
        if not len(labels):
            return Column(np.full(len(column), np.nan), np.ones(len(column), dtype=bool))
        return _factor(codes, labels, str(column.name))
    if kind in NUMBERS:
        try:
            return _numbers(pd.to_numeric(column).astype(float))
        except OverflowError as error:
            raise DataError(f"Column {column.name!r} holds a whole number that is too large; rescale it.") from error
    must = "it must hold numbers, booleans, text or categoricals"
    raise DataError(f"Column {column.name!r} holds {kind} values; {must}. Convert it.")


def _factor(codes: IntArray, labels: Any, name: str, ordered: bool = False) -> Column:
    levels = tuple(plain(label) for label in (labels if isinstance(labels, tuple) else labels.tolist()))
    check_printable(levels, f"Column {name!r}: the level")
    missing = codes < 0
    return Column(Factor(codes=codes, levels=levels, ordered=ordered), missing if missing.any() else None)


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
    return Factor(codes=codes.astype(np.intp), levels=tuple(map(int if whole else float, levels.tolist())))


def matched(factor: Factor, levels: tuple[Any, ...]) -> tuple[IntArray, list[Any]]:
    """Codes of a factor by other levels, -1 where missing and -2 where unknown, and its labels that are unknown."""
    if factor.levels == levels:
        return factor.codes, []
    position = {level: code for code, level in enumerate(levels)}
    codes = np.array([position.get(level, -2) for level in factor.levels] + [-1], dtype=np.intp)[factor.codes]
    return codes, [factor.levels[code] for code in np.unique(factor.codes[codes == -2])]


def recode(value: Value, levels: tuple[Any, ...], name: str) -> IntArray:
    """(N,) codes by the levels of a fit, -1 where missing; DataError names levels the fit has not seen."""
    codes, unseen = matched(factor_of(value, name), levels)
    if unseen:
        known = f"known levels are {shown_labels(levels, 30)}"
        raise DataError(f"{name!r} has levels the fit has not seen: {shown_labels(unseen)}; {known}.")
    return codes


class Columns:
    """The columns of a frame, read once each when first asked for.

    Parameters
    ----------
    frame : pandas.DataFrame
    declared : mapping of column name to Factor, optional
        Factor columns of a fit, without rows; their levels hold for this frame too.
    """

    def __init__(self, frame: pd.DataFrame, declared: Mapping[str, Factor] | None = None):
        self.frame = frame
        self._declared = declared or {}
        self._columns: dict[str, Column] = {}

    def __contains__(self, name: str) -> bool:
        return name in self.frame.columns

    def column(self, name: str, role: str = "the model") -> Column:
        """A column that must be there; DataError says what needs it."""
        if name not in self._columns:
            column = read(find_column(self.frame, name, role))
            if (factor := self._declared.get(name)) is not None:
                codes = recode(column.value, factor.levels, name)
                column = Column(replace(factor, codes=codes), column.missing)
            self._columns[name] = column
        return self._columns[name]

    def declared(self, names: Iterable[str]) -> dict[str, Factor]:
        """Those of these columns that are factors, without their rows."""
        values = zip(names, map(self.column, names), strict=True)
        return {name: replace(f, codes=f.codes[:0]) for name, (f, _) in values if isinstance(f, Factor)}


# Data that are probably not what they seem

#: Codes of missing answers in surveys; those below 0 too.
_CODES = (7, 8, 9, 66, 77, 88, *range(96, 100), 777, 888, *range(996, 1000), 7777, 8888, *range(9996, 10000))
_ALL_CODES = np.array([-1, -2, -3, *(-code for code in _CODES), *_CODES])
_CODE_SET = frozenset(_ALL_CODES.tolist())
#: Answers that have no place on a scale.
_NO_ANSWER = re.compile(
    r"(do(n'?t| ?not|n’t)[ _]*know|\bdk\b|refus(ed|al)|no[ _]answer|not[ _](applicable|stated|asked|available)"
    r"|prefer not|missing|unknown|inapplicable|^n\.?/?a\.?$|^nan$|^null$|^none given$|^\s*$)",
    re.IGNORECASE,
)
_LEADING = re.compile(r"^\s*[<>≤≥$€£]*\s*([-+]?\d{1,3}(?:,\d{3})+|[-+]?\d+)(\.\d+)?\s*([kKmM]\b)?")
_FACTORS = {"k": 1e3, "m": 1e6}
#: Words of answers from the lowest to the highest, with those that mean the same; {} stands for each of the pairs.
_SCALES = (
    "never<rarely|seldom|hardly ever<sometimes|occasionally<often|frequently|usually|most of the time<always",
    "none|not at all|no<a little|slight|mild|very low|minor<low|small|little<some|somewhat|medium|moderate|moderately"
    "<a lot|high|large|severe|strong|major<very high|very large|very severe|extremely|extreme",
    "terrible|very bad|very poor<bad|poor<fair|average|acceptable<good<very good<excellent",
    "too little<about right<too much",
    "strongly {1}|very {1}|{1} strongly<{1}<somewhat {1}|slightly {1}<neither|neutral|undecided|neither {0} nor {1}"
    "<somewhat {0}|slightly {0}<{0}<strongly {0}|very {0}|{0} strongly",
)
_PAIRS = ("agree", "disagree"), ("satisfied", "dissatisfied"), ("likely", "unlikely"), ("important", "unimportant")


def scale_order(labels: Iterable[str]) -> list[str]:
    """The labels from the lowest to the highest if all are words of one known scale; else an empty list.

    Examples
    --------
    >>> scale_order(["high", "low", "medium"])
    ['low', 'medium', 'high']
    """
    words = {label: " ".join(label.lower().split()) for label in labels}
    for scale, pair in product(_SCALES, _PAIRS):
        steps = [step.split("|") for step in scale.format(*pair).split("<")]
        ranks = {word: rank for rank, step in enumerate(steps) for word in step}
        if ranks.keys() >= {*words.values()}:
            return sorted(words, key=lambda label: ranks[words[label]])
    return []


#: What to do about doubtful values.
SET_MISSING = ": if that is not an answer, set it to missing (NaN), or leave these rows out"


def doubtful(what: str, column: Column, labels: tuple[Any, ...] = ()) -> list[str]:
    """Which values of a column may be codes of missing answers, in words; `labels` are those of a response in order."""
    value = column.value
    if isinstance(value, Factor):
        texts = enumerate(value.levels)
        silent = {code: text for code, text in texts if isinstance(text, str) and _NO_ANSWER.search(text)}
        if silent and (rows := np.isin(value.codes, [*silent])).any():
            return [f"{what} has {_several('level', [*silent.values()], rows)}"]
        if not labels or not all(isinstance(label, (int, float)) for label in labels):
            return []
        value = np.array(labels, dtype=float)[value.codes[value.codes >= 0]]
    elif value.dtype.kind not in "iuf":
        return []
    elif column.missing is not None:
        value = value[~column.missing]
    codes, others = codes_apart(value)
    word = "level" if labels else "value"
    return codes and [f"{what} has {_several(word, codes, np.isin(value, codes))}, far from the others ({others})"]


def _several(word: str, labels: Sequence[Any], rows: BoolArray) -> str:
    count = int(rows.sum())
    return f"the {word}{'s' * (len(labels) > 1)} {shown_labels(labels)} in {count} row{'s' * (count > 1)}"


def disordered(what: str, texts: list[str]) -> list[str]:
    """A note on levels of text in an order that their numbers, or their words, do not have."""
    matches = [match for text in texts if (match := _LEADING.match(text))]  # such as "1,000-4,999" or "$25k"
    numbers = [float(m[1].replace(",", "") + (m[2] or "")) * _FACTORS.get((m[3] or "").lower(), 1.0) for m in matches]
    words = [text for text in texts if not _NO_ANSWER.search(text)]
    right = scale_order(words) if len(words) > 2 and words == sorted(words) else []
    if right and words not in (right, right[::-1]):
        return [f"{what} has its levels in the order of the alphabet. Give levels={right}, lowest first."]
    if not texts or len(numbers) < len(texts) or sorted(numbers) in (numbers, numbers[::-1]):
        return []
    cure = "Put the categories in order, or give levels=[...], lowest first"
    return [f"{what} has levels whose numbers are not in order: {shown_labels(texts, 12)}. {cure}."]


def codes_apart(values: AnyArray) -> tuple[list[Any], str]:
    """Codes of missing answers beyond a gap, in order, and the range of the other values, in words.

    The gap above is wider than the range of the other values. Below numbers that are never negative a code needs a gap
    of more than 1.
    """
    if not values.size or not {values.min(), values.max()} & _CODE_SET:
        return [], ""
    usual = np.isin(values, _ALL_CODES)
    others = values[~usual] if not usual.all() else values[values == values.min()]
    low, high = float(others.min()), float(others.max())
    codes = sorted({int(code) for code in values[usual]})
    above, high = _beyond([code for code in codes if code > high], low, high)
    below, least = _beyond([-code for code in reversed(codes) if code < low], -high, -low, positive=True)
    low = -least
    return [-code for code in reversed(below)] + above, f"{low:g} to {high:g}" if low < high else f"{low:g}"


def _beyond(codes: list[int], low: float, high: float, positive: bool = False) -> tuple[list[int], float]:
    """Of growing codes above a range those beyond a gap wider than it, and the highest of the others.

    Next to a single value a code must have two digits. `positive` is for ranges and codes with their signs turned.
    """
    for place, code in enumerate(codes):
        gap = code - high
        far = gap > max(high - low, 3.0) and (low < high or abs(code) > 9)
        if far or (positive and gap > 1 and low < high <= 0 < code):
            return codes[place:], high
        high = float(code)
    return [], high
