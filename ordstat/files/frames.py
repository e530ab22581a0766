"""Kinds of pandas' values: labels of rows, columns and frames."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from ..exceptions import DataError
from .packing import Kind, Packing, Unpacking, expect

#: Dtypes that pandas has beside NumPy's.
_OWN = re.compile(
    r"object|str|string|boolean|U?Int(8|16|32|64)|Float(32|64)|period\[\w+(-\w+)?\]|"
    r"datetime64\[(s|ms|us|ns), [\w/+:-]+\]"
)


def _pack_column(column: Any, packing: Packing) -> Any:
    """The values of an index or a series."""
    name = str(column.dtype)
    if isinstance(column.dtype, pd.CategoricalDtype):
        categories, codes = packing.pack(column.array.categories), packing.pack(np.asarray(column.array.codes))
        return {"codes": codes, "categories": categories, "ordered": bool(column.array.ordered)}
    if isinstance(column.dtype, np.dtype) and not column.dtype.hasobject:
        return {"values": packing.pack(column.to_numpy())}
    if isinstance(column.dtype, pd.IntervalDtype):
        ends = [packing.pack(end) for end in (column.array.left, column.array.right)]
        return {"intervals": ends, "closed": column.array.closed}
    if name == "object":  # of the missing ones, each as it is
        return {"listed": packing.pack_each(column.tolist()), "dtype": name}
    if _OWN.fullmatch(name) is None:
        raise packing.refusal(column, f"no file holds a column of dtype {name}")
    if isinstance(column.dtype, pd.PeriodDtype):
        return {"listed": [None if _missing(x) else str(x) for x in column], "dtype": name}
    return {"listed": [None if _missing(x) else packing.pack(x) for x in column.tolist()], "dtype": name}


def _missing(value: Any) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and np.isnan(value))


def _column(given: Any, unpacking: Unpacking) -> Any:
    expect(given, dict)
    if "codes" in given:
        categories, codes = unpacking.unpack(given["categories"]), unpacking.unpack(given["codes"])
        return pd.Categorical.from_codes(codes, categories=categories, ordered=bool(given["ordered"]))
    if "values" in given:
        return unpacking.unpack(given["values"])
    if "intervals" in given:
        left, right = unpacking.unpack_each(given["intervals"])
        return pd.arrays.IntervalArray.from_arrays(left, right, closed=given["closed"])
    name, values = expect(given["dtype"], str), unpacking.unpack_each(given["listed"])
    if _OWN.fullmatch(name) is None:
        raise DataError(f"it holds a column of dtype {name}.")
    return np.array([*values, None], dtype=object)[:-1] if name == "object" else pd.array(values, dtype=name)


def _pack_index(value: Any, packing: Packing) -> Any:
    names = packing.pack_each(value.names)
    if isinstance(value, pd.RangeIndex):
        return {"range": [value.start, value.stop, value.step], "names": names}
    if isinstance(value, pd.MultiIndex):
        levels = [_pack_column(value.get_level_values(j), packing) for j in range(value.nlevels)]
        return {"levels": levels, "names": names}
    return {"column": _pack_column(value, packing), "names": names}


def _index(given: Any, unpacking: Unpacking) -> Any:
    names = unpacking.unpack_each(expect(given, dict)["names"])
    if "range" in given:
        start, stop, step = given["range"]
        return pd.RangeIndex(start, stop, step, name=names[0])
    if "levels" in given:
        return pd.MultiIndex.from_arrays([_column(level, unpacking) for level in given["levels"]], names=names)
    values = _column(given["column"], unpacking)
    return pd.Index(values, name=names[0], dtype=values.dtype)


def _pack_series(value: Any, packing: Packing) -> Any:
    return {
        "index": packing.pack(value.index),
        "values": _pack_column(value, packing),
        "name": packing.pack(value.name),
    }


def _series(given: Any, unpacking: Unpacking) -> Any:
    values = _column(given["values"], unpacking)
    name, index = unpacking.unpack(given["name"]), unpacking.unpack(given["index"])
    return pd.Series(values, index=index, name=name, dtype=values.dtype)


def _pack_frame(value: Any, packing: Packing) -> Any:
    columns = [_pack_column(value.iloc[:, j], packing) for j in range(value.shape[1])]
    return {"index": packing.pack(value.index), "names": packing.pack(value.columns), "columns": columns}


def _frame(given: Any, unpacking: Unpacking) -> Any:
    index = unpacking.unpack(given["index"])
    columns = [pd.Series(_column(one, unpacking), index=index) for one in given["columns"]]
    frame = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=index)
    frame.columns = unpacking.unpack(given["names"])
    return frame


def _pack_time(value: Any, packing: Packing) -> Any:
    return [value.isoformat(), value.unit, None if value.tz is None else str(value.tz)]


def _time(given: Any, unpacking: Unpacking) -> Any:
    text, unit, zone = given
    return pd.Timestamp(text).tz_convert(zone).as_unit(unit) if zone else pd.Timestamp(text).as_unit(unit)


def _pack_interval(value: Any, packing: Packing) -> Any:
    return [packing.pack(value.left), packing.pack(value.right), value.closed]


def _interval(given: Any, unpacking: Unpacking) -> Any:
    left, right, closed = unpacking.unpack_each(given)
    return pd.Interval(left, right, closed)


FRAMES: tuple[Kind, ...] = (
    Kind("index", (pd.Index,), _pack_index, _index, heirs=True),
    Kind("series", (pd.Series,), _pack_series, _series),
    Kind("frame", (pd.DataFrame,), _pack_frame, _frame),
    Kind("interval", (pd.Interval,), _pack_interval, _interval),
    Kind("time", (pd.Timestamp,), _pack_time, _time),
    Kind(
        "missing",
        (type(pd.NA), type(pd.NaT)),
        lambda v, p: str(v),
        lambda given, u: pd.NaT if given == "NaT" else pd.NA,
    ),
)
