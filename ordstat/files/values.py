"""Kinds of plain values: containers, numbers of NumPy, arrays, links, and functions of the package."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Any

import numpy as np

from ..exceptions import DataError
from ..model.likelihood.flexible import FLEXIBLE, FlexibleLink, link_of
from ..model.likelihood.links import Link
from .known import function_of, name_of_function
from .packing import Kind, Packing, Unpacking, expect, numbers, place

#: Kinds of dtypes of a single number or time.
_NUMBERS = "biufmM"
#: Makes a design from a formula, which is code: with no arguments but those that the package gives it.
_MAKER = "design.build.make"


def _pairs(value: dict[Any, Any], packing: Packing) -> Any:
    pairs = []
    for key, item in value.items():
        with packing.at(str(key)):
            pairs.append([packing.pack(key), packing.pack(item)])
    return pairs


def _mapping(given: Any, unpacking: Unpacking) -> dict[Any, Any]:
    pairs = [expect(pair, list) for pair in expect(given, list)]
    if any(len(pair) != 2 for pair in pairs):
        raise DataError("it holds a mapping whose entries are no pairs.")
    return {unpacking.unpack(key): unpacking.unpack(value) for key, value in pairs}


def _pack_array(value: Any, packing: Packing) -> Any:
    if not numbers(value):
        return None
    packing.arrays.append(value)
    return len(packing.arrays) - 1


def _pack_objects(value: Any, packing: Packing) -> Any:
    return {"shape": list(value.shape), "values": packing.pack_each(value.ravel().tolist())}


def _objects(given: Any, unpacking: Unpacking) -> Any:
    shape, values = given["shape"], unpacking.unpack_each(given["values"])
    flat = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        flat[i] = value
    return flat.reshape([expect(n, int) for n in expect(shape, list)])


def _pack_number(value: Any, packing: Packing) -> Any:
    if value.dtype.kind not in _NUMBERS:
        return None
    return [value.dtype.str, packing.pack(value.view("i8").item() if value.dtype.kind in "mM" else value.item())]


def _number(given: Any, unpacking: Unpacking) -> Any:
    name, value = expect(given, list)
    dtype = np.dtype(expect(name, str))
    if dtype.kind not in _NUMBERS:
        raise DataError(f"it holds a number of dtype {dtype}.")
    number = expect(unpacking.unpack(value), int, float, bool)
    return np.array(number, dtype="i8").view(dtype)[()] if dtype.kind in "mM" else np.array(number, dtype=dtype)[()]


def _pack_link(value: Any, packing: Packing) -> Any:
    again = link_of(value.name, value.lam)
    named = again is value if value.lam is None else isinstance(value.interval, partial)
    return [value.name, value.lam] if named else None


def _link(given: Any, unpacking: Unpacking) -> Any:
    name, lam = given
    return link_of(expect(name, str), lam)


def _pack_partial(value: Any, packing: Packing) -> Any:
    with packing.at("function"):
        called = packing.pack(value.func)
    return [called, packing.pack_each(value.args), packing.pack_named(value.keywords)]


def _partial(given: Any, unpacking: Unpacking) -> Any:
    function, arguments, keywords = given
    named = {name: unpacking.unpack(value) for name, value in expect(keywords, dict).items()}
    called: Callable[..., Any] = unpacking.unpack(function)
    known = called.func if isinstance(called, partial) else called
    if name_of_function(known) in (None, _MAKER):
        raise DataError(f"it gives arguments to {known!r}, and a file may not.")
    return partial(called, *unpacking.unpack_each(arguments), **named)


def _ufunc(given: Any, unpacking: Unpacking) -> Any:
    if given != "tanh":
        raise DataError(f"it names the function {given!r}, and a file may not.")
    return np.tanh


def _slice(given: Any, unpacking: Unpacking) -> slice:
    return slice(*unpacking.unpack_each(given))


def _unordered(value: Any, packing: Packing) -> Any:
    return packing.pack_each(sorted(value, key=repr))


def _each(value: Any, packing: Packing) -> Any:
    return packing.pack_each(value)


VALUES: tuple[Kind, ...] = (
    Kind("tuple", (tuple,), _each, lambda given, u: tuple(u.unpack_each(given))),
    Kind("dict", (dict,), _pairs, _mapping),
    Kind("set", (set,), _unordered, lambda given, u: set(u.unpack_each(given))),
    Kind("frozenset", (frozenset,), _unordered, lambda given, u: frozenset(u.unpack_each(given))),
    Kind("slice", (slice,), lambda v, p: p.pack_each((v.start, v.stop, v.step)), _slice),
    Kind("number", (np.generic,), _pack_number, _number, heirs=True),
    Kind("array", (np.ndarray,), _pack_array, lambda given, u: u.arrays[place(given, u.arrays)]),
    Kind("objects", (np.ndarray,), _pack_objects, _objects),
    Kind("link", (Link,), _pack_link, _link),
    Kind("flexible", (FlexibleLink,), lambda v, p: v.name, lambda given, u: FLEXIBLE[given]),
    Kind("function", (type(_pairs),), lambda v, p: name_of_function(v), lambda given, u: function_of(given)),
    Kind("partial", (partial,), _pack_partial, _partial),
    Kind("ufunc", (np.ufunc,), lambda v, p: "tanh" if v is np.tanh else None, _ufunc),
    Kind("date", (date,), lambda v, p: v.isoformat(), lambda given, u: date.fromisoformat(given)),
)
