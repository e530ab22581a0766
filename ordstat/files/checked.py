"""Whether a value can stand in a field of a dataclass, by the annotation of that field."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field
from functools import partial
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from ..exceptions import DataError

#: Kinds of NumPy's dtypes that each alias of `_typing` holds.
_ARRAYS = {"FloatArray": "fiub", "IntArray": "iu", "BoolArray": "b", "AnyArray": "fiubOMmSUV"}
_SCALARS: dict[str, tuple[type, ...]] = {
    "bool": (bool, np.bool_),
    "int": (int, np.integer, np.bool_),
    "float": (float, int, np.floating, np.integer),
    "str": (str,),
    "tuple": (tuple,),
    "list": (list,),
    "dict": (dict,),
    "Mapping": (Mapping,),
    "Sequence": (Sequence,),
}
#: Functions that a file may hold.
_CALLED = (FunctionType, partial, np.ufunc)
_PLAIN = {"None", *_ARRAYS, *_SCALARS}
_PACKAGE = __name__.partition(".")[0]


def check_field(kind: type, f: Field[Any], value: Any) -> None:
    """DataError where the annotation of a field tells that a value is none of its own."""
    text = f.type if isinstance(f.type, str) else ""
    wanted = [part.partition("[")[0].strip() for part in _choices(text)]
    classes = {name: _class(kind, name) for name in wanted if name not in _PLAIN}
    if None in classes.values():
        return
    if not any(_is(value, name) if name in _PLAIN else _stands_for(value, classes[name]) for name in wanted):
        raise DataError(f"{f.name} of its {kind.__name__} is {type(value).__name__}, and must be {text}.")


def _class(kind: type, name: str) -> Any:
    """The class that a dataclass's annotation names; None where it is no class, as with an alias."""
    found: Any = SimpleNamespace(**vars(sys.modules[kind.__module__]))
    for part in name.split("."):
        found = getattr(found, part, None)
    known = found is Callable or (isinstance(found, type) and found is not Any)
    return found if known else None


def _stands_for(value: Any, kind: Any) -> bool:
    """Whether a value is of a class; in place of a protocol, whether it is the package's own or its function."""
    if getattr(kind, "_is_protocol", False) or kind is Callable:
        return type(value).__module__.partition(".")[0] == _PACKAGE or isinstance(value, _CALLED)
    return isinstance(value, kind)


def _is(value: Any, name: str) -> bool:
    if name == "None":
        return value is None
    if name in _ARRAYS:
        return isinstance(value, np.ndarray) and value.dtype.kind in _ARRAYS[name]
    return isinstance(value, _SCALARS[name])


def _choices(text: str) -> list[str]:
    """What stands between the bars of an annotation, those inside brackets apart."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
