"""Values that a file holds beside numbers, texts, lists and dataclasses: what each is taken apart into, and made of."""

from __future__ import annotations

from datetime import date
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from ..exceptions import DataError
from ..model.likelihood.flexible import FLEXIBLE, FlexibleLink, link_of
from ..model.likelihood.links import Link
from .classes import functions


def _dict(*parts: Any) -> dict[Any, Any]:
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _scalar(dtype: str, content: str) -> Any:
    return np.frombuffer(bytes.fromhex(content), dtype)[0]


def _objects(shape: tuple[int, ...], *values: Any) -> Any:
    flat = np.empty(len(values), dtype=object)
    flat[:] = values
    return flat.reshape(shape)


def _partial(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Only a file's own functions take arguments, but for the one that makes a design of a formula."""
    made = partial(function, *arguments, **keywords)
    if _name(made.func) == ["make"]:
        raise DataError("it gives arguments to the function 'make'.")
    return made


def _time(text: str, unit: Any, zone: str | None) -> Any:
    return (pd.Timestamp(text).tz_convert(zone) if zone else pd.Timestamp(text)).as_unit(unit)


def _column(values: Any) -> Any:
    """The values of an index or a series as an array of NumPy or pandas."""
    return values.to_numpy() if isinstance(values.dtype, np.dtype) else values.array


def _categorical(codes: Any, categories: Any, ordered: bool) -> pd.Categorical:
    return pd.Categorical.from_codes(codes, categories, ordered=ordered)


def _levels(names: list[Any], *levels: Any) -> pd.MultiIndex:
    return pd.MultiIndex.from_arrays(levels, names=names)


def _frame(index: Any, names: Any, *columns: Any) -> pd.DataFrame:
    series = {j: pd.Series(values, index=index, dtype=values.dtype) for j, values in enumerate(columns)}
    return pd.DataFrame(series, index=index, copy=False).set_axis(names, axis=1)


def _name(function: Any) -> list[str]:
    """The name of a function in a file; KeyError if a file may not hold it."""
    return [{value: name for name, value in functions().items()}[function]]


def _function(name: str) -> Any:
    return functions()[name]


#: By the name in a file: the type, the parts of a value, the value of the parts.
VALUES: dict[str, tuple[Any, Any, Any]] = {
    "float": (float, lambda x: [str(x)], float),  # infinite or NaN
    "tuple": (tuple, list, lambda *items: items),
    "dict": (dict, lambda d: [part for pair in d.items() for part in pair], _dict),
    "frozenset": (frozenset, lambda s: sorted(s, key=repr), lambda *items: frozenset(items)),
    "slice": (slice, lambda s: [s.start, s.stop, s.step], slice),
    "date": (date, lambda d: [d.isoformat()], date.fromisoformat),
    "scalar": (np.generic, lambda x: [x.dtype.str, x.tobytes().hex()], _scalar),
    "objects": (np.ndarray, lambda a: [a.shape, *a.ravel()], _objects),
    "function": (FunctionType, _name, _function),
    "ufunc": (np.ufunc, _name, _function),
    "partial": (partial, lambda p: [p.func, p.args, p.keywords], _partial),
    "link": (Link, lambda link: [link.name, link.lam], link_of),
    "flexible": (FlexibleLink, lambda link: [link.name], FLEXIBLE.__getitem__),
    "NA": (type(pd.NA), lambda x: [], lambda: pd.NA),
    "NaT": (type(pd.NaT), lambda x: [], lambda: pd.NaT),
    "time": (pd.Timestamp, lambda t: [t.isoformat(), t.unit, t.tz and str(t.tz)], _time),
    "period": (pd.Period, lambda p: [p.ordinal, p.freqstr], lambda n, freq: pd.Period(ordinal=n, freq=freq)),
    "interval": (pd.Interval, lambda i: [i.left, i.right, i.closed], pd.Interval),
    "categorical": (pd.Categorical, lambda c: [c.codes, c.categories, c.ordered], _categorical),
    "column": (ExtensionArray, lambda a: [str(a.dtype), *a.astype(object)], lambda dtype, *a: pd.array(a, dtype=dtype)),
    "range": (pd.RangeIndex, lambda i: [i.start, i.stop, i.step, None, False, i.name], pd.RangeIndex),
    "levels": (pd.MultiIndex, lambda i: [list(i.names), *map(i.get_level_values, range(i.nlevels))], _levels),
    "index": (pd.Index, lambda i: [_column(i), i.name], lambda a, name: pd.Index(a, a.dtype, name=name)),
    "series": (pd.Series, lambda s: [_column(s), s.index, s.name], lambda a, i, name: pd.Series(a, i, a.dtype, name)),
    "frame": (
        pd.DataFrame,
        lambda d: [d.index, d.columns, *(_column(d.iloc[:, j]) for j in range(d.shape[1]))],
        _frame,
    ),
}
