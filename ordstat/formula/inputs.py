"""The response, and the arguments weights, offset, cluster, cost and subset."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray
from pandas.api.types import infer_dtype

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..checks import brief, counted, plain, refuse, shown_labels
from ..exceptions import DataError, OptionError
from .answers import is_number, no_answer, scale_order
from .columns import Column, Columns, Factor, factor_of, find_column, matched, read
from .doubtful import by_numbers, response_notes
from .factors import Interpreter
from .parse import Expression, column_expression, parse_expression
from .weights import HEAVIEST, LIGHTEST, extreme

if TYPE_CHECKING:
    from .spans import Spans

#: levels="all": every value of a numeric response is a level.
ALL_LEVELS = "all"
# with more distinct values that are not whole numbers, a response counts as continuous
_FEW = 30


class Response(NamedTuple):
    """The response of all rows.

    Attributes
    ----------
    name : str
    codes : (N,), -1 where missing
    declared : tuple
        All labels in order, with or without rows.
    notes : list of str
    spans : Spans or None
        Censored answers, or None. `codes` are then 0, or -1 where missing, and
        `declared` is empty: the levels come from the rows used.
    """

    name: str
    codes: IntArray
    declared: tuple[Any, ...]
    notes: list[str]
    spans: Spans | None = None


def read_response(column: Column, name: str, levels: Any) -> Response:
    """Codes and labels of a response.

    Ordered categoricals keep their order; numbers and booleans sort; anything else
    needs `levels`. With levels="all" every value of a numeric response is a level.

    Raises
    ------
    DataError
        Text or unordered categories without `levels`, values outside `levels`, or a
        continuous response.
    """
    every = isinstance(levels, str) and levels == ALL_LEVELS
    if levels is not None and not every:
        levels = check_levels(levels)
        return Response(name, known_codes(column, name, levels), levels, [])
    if every and isinstance(column.value, Factor):
        raise DataError(
            f"levels='all' must go with a numeric response; {name!r} is not. Give"
            " levels=[...] in order."
        )
    factor = factor_of(column.value, name)
    notes = list[str]()
    labels = factor.levels
    if isinstance(column.value, Factor) and not factor.ordered and labels:
        raise _unordered(name, labels)
    if isinstance(column.value, np.ndarray) and any(
        isinstance(label, float) for label in labels
    ):
        if len(labels) > _FEW and not every:
            continuous = (
                f"looks continuous ({len(labels)} distinct values such as"
                f" {labels[0]!r})"
            )
            raise DataError(
                f"The response {name!r} {continuous}. Write levels='all' to make each"
                " value a level (likelihood methods take many), levels=[...] to name"
                " them, or cut it with pd.cut."
            )
        if not every:
            text = (
                f"Response {name} holds {len(labels)} values that are not whole"
                " numbers; they are taken as ranks."
            )
            notes.append(text)
    codes = _with_missing(factor.codes, column)
    notes += response_notes(f"Response {name}", column, labels)
    return Response(name, codes, labels, notes)


def _too_few(name: str, labels: tuple[Any, ...]) -> DataError:
    what = f"all have {labels[0]!r}" if labels else "have none"
    return DataError(
        f"The response {name!r} needs rows of at least 2 levels; the rows used {what}."
    )


def _unordered(name: str, labels: tuple[Any, ...]) -> DataError:
    if len(labels) < 2:
        return _too_few(name, labels)
    silent = [label for label in labels if _is_silent(label, labels)]
    variants = _variants(labels, labels)
    left_out = {*silent, *variants}
    labels = tuple(label for label in labels if label not in left_out) or labels
    if all(isinstance(label, str) and is_number(label) for label in labels):
        what = "is text that reads as numbers"
        scale = sorted(labels, key=float)
        do = f"make numbers of it, pd.to_numeric(data[{name!r}])"
    else:
        what = "has labels without an order"
        scale = scale_order(map(str, labels)) or by_numbers(labels)
        do = "make it an ordered pd.Categorical"
    order = f"levels=[{shown_labels(scale or labels)}], lowest first"
    if not scale:
        order += f" (here {_how_listed(labels)})"
    message = f"The response {name!r} {what}. Give {order}, or {do}."
    if silent:
        shown = shown_labels(silent)
        message += f" Set {shown} to missing first, if that is no answer"
        message += f": {_replaced(name, dict.fromkeys(silent))}."
    if variants:
        message += f" First make one label of two: {_replaced(name, variants)}."
    return DataError(message)


def _how_listed(labels: tuple[Any, ...]) -> str:
    """How a message calls the order in which it lists labels without an order."""
    if not any(isinstance(label, str) for label in labels):
        return "as the data list them"
    texts = list(map(str, labels))
    return "by the alphabet" if texts == sorted(texts) else "as the data list them"


def _variants(labels: Iterable[Any], known: Iterable[Any]) -> dict[str, str]:
    """Labels that differ from another known one in capitals and blanks alone, and that
    one: the first of them that has no blanks at its ends.
    """
    first: dict[str, str] = {}
    for label in sorted(
        filter(_is_text, known), key=lambda label: label != label.strip()
    ):
        first.setdefault(_folded(label), label)
    return {
        label: first[_folded(label)]
        for label in filter(_is_text, labels)
        if first.get(_folded(label), label) != label
    }


def _is_text(label: Any) -> bool:
    return isinstance(label, str)


def _folded(label: str) -> str:
    """A label without capitals, and with one blank between words."""
    return " ".join(label.split()).casefold()


def _replaced(name: str, variants: Mapping[str, str | None]) -> str:
    """The call that replaces labels of a column by others."""
    return f"data.replace({{{name!r}: {variants!r}}})"


def check_levels(levels: Any) -> tuple[Any, ...]:
    """The levels= argument as a tuple of different labels."""
    unordered = isinstance(
        levels, (str, bytes, set, frozenset, Mapping)
    ) or not isinstance(levels, Iterable)
    if unordered or not all(isinstance(label, Hashable) for label in levels):
        raise DataError(
            "levels= must be a list of labels in order, lowest first; got"
            f" {brief(levels)}."
        )
    labels = tuple(plain(label) for label in levels)
    if any(label is None or label is pd.NA or label != label for label in labels):
        raise DataError(
            "levels= names a missing value (None or NaN). Drop it: such rows are left"
            " out anyway."
        )
    if len(set(labels)) < len(labels):
        raise DataError(
            f"levels= names a label twice: {shown_labels(labels, 30)}. Name each once."
        )
    return labels


def _with_missing(codes: IntArray, column: Column) -> IntArray:
    """The codes with -1 in rows where the column has no value."""
    if column.missing is None:
        return codes.astype(np.intp)
    return np.where(column.missing, -1, codes)


def known_codes(column: Column, name: str, levels: tuple[Any, ...]) -> IntArray:
    """(N,) codes by given levels, -1 if missing; DataError for an unknown label."""
    codes, outside = matched(factor_of(column.value, name), levels)
    codes = _with_missing(codes, column)
    if outside:
        what = (
            f"{shown_labels(levels, 30)}: {shown_labels(outside)}, in"
            f" {counted(int((codes == -2).sum()), 'row')}"
        )
        used = set(codes[codes >= 0].tolist())
        empty = [label for code, label in enumerate(levels) if code not in used]
        cure = _outside_cure(name, outside, levels, empty)
        raise DataError(
            f"The response {name!r} has values outside the levels {what}. {cure}."
        )
    return codes


def _outside_cure(
    name: str, outside: Sequence[Any], levels: tuple[Any, ...], empty: list[Any]
) -> str:
    """What to do about labels outside levels=; `empty` are levels without rows."""
    variants = _variants(outside, levels)
    silent = [label for label in outside if _is_silent(label, levels)]
    if variants or silent:
        aims = ["to make one label of two"] if variants else []
        if silent:
            shown = shown_labels(silent)
            aims.append(f"to set {shown} to missing, if that is no answer")
        call = _replaced(name, {**variants, **dict.fromkeys(silent)})
        return f"Write {call} {', and '.join(aims)}"
    cure = "Add them to levels=, or set them to missing to leave these rows out"
    if not empty:
        return cure
    return (
        f"No row has {shown_labels(empty)} of levels=: spell labels as the data do."
        f" Otherwise {cure[0].lower()}{cure[1:]}"
    )


def _is_silent(label: Any, labels: Iterable[Any]) -> bool:
    """Whether a label says that there is no answer: by words, or as a number among
    words.
    """
    if no_answer(label):
        return True
    words = [other for other in labels if _is_text(other) and not is_number(other)]
    return _is_text(label) and is_number(label) and len(words) > 1


def used_levels(codes: IntArray, declared: tuple[Any, ...], name: str) -> IntArray:
    """Codes of the declared levels that have rows; DataError for fewer than two."""
    used = np.flatnonzero(np.bincount(codes, minlength=len(declared)))
    if used.size < 2:
        raise _too_few(name, tuple(declared[code] for code in used))
    return used


def read_items(
    frame: pd.DataFrame, names: Sequence[str], levels: Any, role: str = "rows="
) -> tuple[tuple[Any, ...], IntArray, list[str]]:
    """Levels, (N, J) codes (-1 where missing) and notes of columns that share their
    levels.

    The levels of numbers are those that occur in any column; other columns must have
    the same levels.
    """
    columns = [find_column(frame, name, role) for name in names]
    kinds = {
        column.dtype
        for column in columns
        if isinstance(column.dtype, pd.CategoricalDtype)
    }
    if (
        levels is None
        and kinds
        and len({*kinds, *(column.dtype for column in columns)}) > 1
    ):
        raise DataError(
            f"The columns {shown_labels(names)} must have the same levels. Give"
            " levels=[...] for all of them."
        )
    texts = {column.name: infer_dtype(column) == "string" for column in columns}
    if len({*texts.values()}) > 1 and not kinds:
        words = next(name for name, is_text in texts.items() if is_text)
        raise DataError(
            f"The columns {shown_labels(names)} must have the same levels; {words!r}"
            " holds text, others do not. Describe them separately, or make them alike."
        )
    item = read_response(read(pd.concat(columns, ignore_index=True)), names[0], levels)
    if not item.declared:
        raise DataError(f"{role}{list(names)!r} has no answers: all are missing.")
    if len(item.declared) < 2:
        raise DataError(
            f"{role}{list(names)!r} has only the level {shown_labels(item.declared)}:"
            " give levels=[...]."
        )
    return item.declared, item.codes.reshape(len(names), -1).T, item.notes


# Arguments besides the formula


def subset_mask(
    subset: Any, frame: pd.DataFrame, declared: Mapping[str, Factor] | None = None
) -> BoolArray:
    """(N,) rows to use, from a mask or a condition such as "judge != '1'"; a missing
    condition leaves the row out.

    `declared` has factor columns whose levels other rows have too.
    """
    if isinstance(subset, str):
        value, _, missing = Interpreter(Columns(frame, declared), {}).evaluate(
            parse_expression(subset)
        )
    else:
        value, missing = read(values_of(subset, "subset", frame.index))
    if isinstance(value, Factor) or value.dtype != bool:
        raise DataError(
            "subset= must be a condition or a mask of booleans, one per row."
        )
    return value if missing is None else value & ~missing


def values_of(given: Any, role: str, index: pd.Index) -> pd.Series:
    """N values under the index of the data."""
    if isinstance(given, pd.Series):
        if not given.index.equals(index):
            rest = (
                "its index differs from that of the data. Reindex it, or pass"
                f" {role}.to_numpy()"
            )
            raise DataError(f"{role}= must have the index of the data; {rest}.")
        return given
    if hasattr(given, "to_pylist"):  # of pyarrow
        given = given.to_pylist()
    elif hasattr(given, "null_count") and given.null_count():
        given = given.to_list()  # of polars
    elif isinstance(given, pd.Index):
        given = given.array
    elif hasattr(given, "to_numpy") and not isinstance(given, ExtensionArray):
        given = given.to_numpy()
    values = given
    if not hasattr(given, "dtype") and isinstance(given, Iterable):
        values = list(given)
    is_array = hasattr(values, "dtype") or isinstance(values, list)
    shape = shape_of(values) if is_array else ()
    if shape != (len(index),):
        got = f"shape {shape}" if is_array else brief(given)
        if shape is None:
            got = "lists of different lengths"
        raise DataError(
            f"{role}= must be a column name or {len(index)} values, one per row; got"
            f" {got}."
        )
    # pandas would make floating-point numbers of whole ones beside None
    gaps = isinstance(values, list) and any(v is None or v is pd.NA for v in values)
    return pd.Series(values, index=index, name=role, dtype=object if gaps else None)


def shape_of(values: Any) -> tuple[int, ...] | None:
    """The shape of nested lists or an array; None for lists of different lengths."""
    try:
        return tuple(np.shape(values))
    except ValueError:
        return None


def vector(
    given: Any,
    role: str,
    columns: Columns,
    rows: BoolArray | None,
    index: pd.Index,
    of: str = "",
) -> Column:
    """An argument by column name, by arithmetic over columns such as "w - 1", or as N
    values.

    `rows` is the mask of the subset, `index` the index of all rows; `of` follows the
    role in errors, as in "weights= of SurveyDesign".
    """
    if isinstance(given, str) and is_arithmetic(given, columns):
        value, _, missing = Interpreter(columns, {}).evaluate(parse_expression(given))
        return Column(value, missing)
    if isinstance(given, str):
        return columns.column(given, f"{role}={of}")
    series = values_of(given, role, index)
    return read(series if rows is None else series[rows])


def expression_of(text: str, columns: Columns) -> Expression:
    """A column by its name, or arithmetic over columns."""
    if is_arithmetic(text, columns):
        return parse_expression(text)
    return column_expression(text)


def is_arithmetic(text: str, columns: Columns) -> bool:
    """Whether a text is arithmetic over columns rather than a column name."""
    return any(mark in text for mark in "+-*/^(<>=&|") and text not in columns


def numbers(column: Column, role: str, index: pd.Index) -> FloatArray:
    """The values of an argument that must be numeric; values of missing rows are
    arbitrary.
    """
    if isinstance(column.value, Factor) or column.value.ndim != 1:
        raise DataError(
            f"{role}= must be one column of numbers. Convert it with pd.to_numeric, or"
            " name another."
        )
    array = column.value.astype(float)
    bad = ~np.isfinite(array)
    if column.missing is not None:
        bad &= ~column.missing
    refuse(bad, index, f"{role}=", array, "; it must be finite.")
    return array


def weights_of(column: Column, given: Any, index: pd.Index) -> FloatArray:
    """Case weights: finite, not negative, neither tiny nor huge."""
    weights = numbers(column, "weights", index)
    named = f", column {given!r}" if isinstance(given, str) else ""
    refuse(weights < 0, index, "weights=", weights, ": weights must be 0 or more.")
    rest = (
        f": a weight must be 0 or from {LIGHTEST:g} to {HEAVIEST:g}. Divide all weights"
        " by their mean."
    )
    refuse(extreme(weights), index, "weights=", weights, rest, named)
    return weights


def case_weights_of(frame: pd.DataFrame, given: Any) -> tuple[FloatArray, BoolArray]:
    """(N,) weights, 1 where none are given and 0 where missing, and which rows have
    one.
    """
    every = np.ones(len(frame), dtype=np.bool_)
    if given is None:
        return every.astype(np.float64), every
    column = vector(given, "weights", Columns(frame), None, frame.index)
    values = weights_of(column, given, frame.index)
    present = every if column.missing is None else ~column.missing
    return np.where(present, values, 0.0), present


def clusters_of(values: AnyArray | Factor) -> IntArray:
    """Codes 0..G-1 of clusters without missing rows, at least two of them."""
    labels, codes = np.unique(
        values.codes if isinstance(values, Factor) else values, return_inverse=True
    )
    if labels.size < 2:
        raise DataError(
            "cluster= has the same value in every row used; it must hold at least 2"
            " clusters."
        )
    return codes.astype(np.intp)


def cost_matrix(costs: Any, rows: BoolArray | None, index: pd.Index) -> FloatArray:
    """(N, K) costs of the rows in the subset, NaN if missing; `index` is the index of
    all rows.
    """
    if isinstance(costs, pd.DataFrame) and not costs.index.equals(index):
        raise DataError(
            "cost= is a frame with another index than the data. Reindex it, or pass"
            " cost.to_numpy()."
        )
    try:
        matrix = np.asarray(costs, dtype=float)
    except (ValueError, TypeError, OverflowError) as error:
        hint = "Give columns as data[['a', 'b', 'c']]"
        raise DataError(
            f"cost= must hold numbers in rows of one length: {error}. {hint}."
        ) from error
    if matrix.ndim != 2 or matrix.shape[0] != len(index):
        raise DataError(
            f"cost= must have {len(index)} rows, one per row of the data; got shape"
            f" {matrix.shape}."
        )
    return matrix if rows is None else matrix[rows]


def check_costs(
    costs: FloatArray, response: Response, used: IntArray, index: pd.Index
) -> FloatArray:
    """Costs of the levels in use; `costs` has a column for each declared or each used
    level.
    """
    if costs.shape[1] not in (len(response.declared), used.size):
        raise DataError(
            f"cost= must have one column per level of the response, {used.size}; got"
            f" {costs.shape[1]}."
        )
    refuse(np.asarray(np.isinf(costs).any(axis=1)), index, "cost=", "infinite", ".")
    return costs if costs.shape[1] == used.size else costs[:, used]


def check_cost_labels(
    cost: Any, levels: Sequence[Any], unused: Sequence[Any], by_row: bool
) -> None:
    """OptionError if the labels of a frame of costs are not the levels in their order.

    Default columns 0, 1, ... are not checked, and neither are rows of a matrix. With
    `by_row` the rows are those of the data. Costs without labels pass.
    """
    if not isinstance(cost, pd.DataFrame):
        return
    axes = {} if by_row else {"rows": cost.index}
    axes["columns"] = cost.columns
    for name, labels in axes.items():
        default = pd.RangeIndex(len(labels))
        if isinstance(labels, pd.RangeIndex) and labels.equals(default):
            continue
        used = [label for label in labels if label not in unused]
        if used != list(levels):
            order = f"{list(labels)}, and the levels, lowest first, are {list(levels)}"
            raise OptionError(
                f"the {name} of cost= are labelled {order}: reorder them, or give"
                " cost.to_numpy()."
            )
