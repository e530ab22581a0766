"""Whether a value can stand in a field of a dataclass, by the annotation of that field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field
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


def check_field(kind: type, f: Field[Any], value: Any) -> None:
    """DataError where the annotation of a field tells that a value is none of its own."""
    text = f.type if isinstance(f.type, str) else ""
    wanted = [part.partition("[")[0].strip() for part in _choices(text)]
    if not all(name in _ARRAYS or name in _SCALARS or name == "None" for name in wanted):
        return
    if not any(_is(value, name) for name in wanted):
        raise DataError(f"{f.name} of its {kind.__name__} is {type(value).__name__}, and must be {text}.")


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
