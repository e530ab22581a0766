"""A value as JSON and arrays, and back.

None, bool, int, finite float, str and list stand for themselves; anything else is a mapping of one entry, such as
{"tuple": [...]}. Dataclasses and arrays are stored once each, and {"object": 7} and {"array": 3} refer to them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from .._typing import AnyArray
from ..exceptions import DataError, OptionError
from .classes import check_fields, class_of, classes_named
from .models import as_model, model_parts
from .sound import check_sound, check_whole
from .values import VALUES

_TAGS = {kind: tag for tag, (kind, _, _) in VALUES.items()}


@dataclass(eq=False)
class Packing:
    """Values on their way into a file."""

    objects: list[Any] = field(default_factory=list)
    arrays: list[AnyArray] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    _seen: dict[int, tuple[Any, Any]] = field(default_factory=dict)  # with the value, whose id stays its own

    def pack(self, value: Any) -> Any:
        """The value as JSON; OptionError if a file cannot hold it."""
        if value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value)):
            return value
        if type(value) is list:
            return [self.pack(item) for item in value]
        if id(value) not in self._seen:
            self._seen[id(value)] = value, self._packed(value)
        return self._seen[id(value)][1]

    def _packed(self, value: Any) -> dict[str, Any]:
        kind = type(value)
        library = kind.__module__.partition(".")[0] in ("numpy", "pandas")
        tag = next((_TAGS[base] for base in (kind.__mro__ if library else (kind,)) if base in _TAGS), None)
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            self.arrays.append(value)
            return {"array": len(self.arrays) - 1}
        try:
            if tag is not None:
                return {tag: [self.pack(part) for part in VALUES[tag][1](value)]}
        except KeyError:
            raise self._refusal(value) from None
        if (parts := model_parts(value)) is not None:
            return {"model": [self.pack(part) for part in parts]}
        names = {f.name for f in fields(kind)} if is_dataclass(kind) else set()
        if kind not in classes_named(kind.__name__) or class_of(kind.__name__, names) is not kind:
            raise self._refusal(value)
        state = value.__getstate__() if hasattr(kind, "__getstate__") else None
        packed, state = {}, state if isinstance(state, dict) else {}
        for f in fields(kind):
            self.path.append(f.name)
            packed[f.name] = self.pack(state.get(f.name, getattr(value, f.name)))
            self.path.pop()
        self.objects.append({"class": kind.__name__, "fields": packed})
        return {"object": len(self.objects) - 1}

    def _refusal(self, value: Any) -> OptionError:
        shown = repr(value)
        return OptionError(
            f"save cannot put {type(value).__name__} {shown[:77]}{'...' * (len(shown) > 77)} into a file (it is "
            f"fit.{'.'.join(self.path)}): a file holds numbers, texts and the classes of ordstat, and no other code. "
            "Fit without it, or use pickle, whose files only those should open who trust their author."
        )


@dataclass(eq=False)
class Unpacking:
    """Values on their way out of a file."""

    arrays: list[AnyArray]
    objects: list[Any] = field(default_factory=list)

    def add(self, entry: dict[str, Any]) -> None:
        """Make the next dataclass."""
        given = {name: self.unpack(value) for name, value in entry["fields"].items()}
        kind = class_of(entry["class"], set(given))
        made = object.__new__(kind)
        for name, value in given.items():
            object.__setattr__(made, name, value)
        check_fields(made)
        if hasattr(kind, "__post_init__"):
            made.__post_init__()
        check_sound(made)
        self.objects.append(made)

    def unpack(self, given: Any) -> Any:
        """The value of some JSON."""
        if isinstance(given, list):
            return [self.unpack(item) for item in given]
        if not isinstance(given, dict):
            return given
        ((tag, inside),) = given.items()
        if tag in ("object", "array"):
            if isinstance(inside, bool) or inside < 0:
                raise DataError(f"it refers to the {tag} {inside!r}.")
            return (self.objects if tag == "object" else self.arrays)[inside]
        parts = [self.unpack(part) for part in inside]
        return as_model(*parts) if tag == "model" else VALUES[tag][2](*parts)


def fit_of(tree: Any, arrays: list[AnyArray]) -> Any:
    """The fit of a document and arrays, checked."""
    unpacking = Unpacking(arrays)
    for entry in tree["objects"]:
        unpacking.add(entry)
    fit = unpacking.unpack(tree["fit"])
    if not hasattr(type(fit), "save"):
        raise DataError("it holds something other than a fit.")
    check_whole(fit)
    return fit
