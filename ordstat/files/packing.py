"""A value as JSON and arrays, and back: a table of the kinds of values that a file holds.

Plain JSON stands for itself (None, bool, int, finite float, str, list). Anything else is a mapping of one entry, a tag
and what belongs to it: {"tuple": [...]}. Dataclasses and arrays stand once each in a table of their own, in the order
in which they were finished, and {"object": 7}, {"array": 3} refer to it: what was one thing stays one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from .._typing import AnyArray
from ..exceptions import DataError, OptionError
from .checked import check_field
from .known import class_of, filled, name_of
from .sound import check_sound

#: Containers inside each other, in a file.
DEEPEST = 200


@dataclass(frozen=True)
class Kind:
    """A kind of values: how one becomes JSON, and JSON one of them.

    Attributes
    ----------
    tag : str
    types : tuple of type
        What it takes.
    pack : callable (value, packing) -> JSON, or None where it is, after all, none of the kind
    unpack : callable (JSON, unpacking) -> value
    heirs : bool
        Whether it takes subclasses too.
    """

    tag: str
    types: tuple[type, ...]
    pack: Callable[[Any, Packing], Any]
    unpack: Callable[[Any, Unpacking], Any]
    heirs: bool = False

    def takes(self, value: Any) -> bool:
        """Whether a value is of the kind."""
        return isinstance(value, self.types) if self.heirs else type(value) in self.types


@dataclass(eq=False)
class Packing:
    """Values on their way into a file.

    Attributes
    ----------
    kinds : tuple of Kind
    objects : list
        JSON of every dataclass.
    arrays : list of array
    place : list of str
        Names of the fields that lead to what is packed.
    """

    kinds: tuple[Kind, ...]
    objects: list[Any] = field(default_factory=list)
    arrays: list[AnyArray] = field(default_factory=list)
    place: list[str] = field(default_factory=list)
    _known: dict[int, tuple[Any, Any]] = field(default_factory=dict)  # with the value, so that its id stays its own

    def pack(self, value: Any) -> Any:
        """The value as JSON; OptionError where a file cannot hold it."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if type(value) is list:
            return self.pack_each(value)
        if id(value) not in self._known:
            packed = self._tagged(value)
            if next(iter(packed)) not in ("object", "array"):
                return packed
            self._known[id(value)] = value, packed
        return self._known[id(value)][1]

    def pack_each(self, values: Any) -> list[Any]:
        """A list of JSON."""
        return [self.pack(value) for value in values]

    def pack_named(self, values: dict[str, Any]) -> dict[str, Any]:
        """JSON by name."""
        packed = {}
        for name, value in values.items():
            with self.at(name):
                packed[name] = self.pack(value)
        return packed

    @contextmanager
    def at(self, name: str) -> Iterator[None]:
        """Inside a field of this name."""
        self.place.append(name)
        yield
        self.place.pop()

    def _tagged(self, value: Any) -> dict[str, Any]:
        for kind in self.kinds:
            if kind.takes(value) and (packed := kind.pack(value, self)) is not None:
                return {kind.tag: packed}
        name = name_of(type(value))
        if name is None:
            raise self.refusal(value)
        self.objects.append({"class": name, "fields": self.pack_named(_state(value))})
        return {"object": len(self.objects) - 1}

    def refusal(self, value: Any, why: str = "") -> OptionError:
        """The error for a value that no file holds."""
        place = ".".join(self.place)
        return OptionError(
            f"save cannot put {type(value).__name__} {_shown(value)} into a file (it is fit.{place}): "
            f"{why or 'a file holds numbers, texts and the classes of ordstat, and no code of others'}. Fit without "
            "it, or use pickle, whose files only those should open who trust their author."
        )


def _state(value: Any) -> dict[str, Any]:
    """The fields of a dataclass, as it pickles them."""
    own = {f.name for f in fields(value)}
    state = value.__getstate__() if hasattr(type(value), "__getstate__") else None
    state = state if isinstance(state, dict) else {}
    return {name: state.get(name, getattr(value, name)) for name in sorted(own)}


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


@dataclass(eq=False)
class Unpacking:
    """Values on their way out of a file.

    Attributes
    ----------
    kinds : mapping of tag to Kind
    arrays : list of array
    objects : list
        Those made so far.
    """

    kinds: dict[str, Kind]
    arrays: list[AnyArray]
    objects: list[Any] = field(default_factory=list)
    _depth: int = 0

    def add(self, given: Any) -> Any:
        """Make the next dataclass of the table."""
        if not isinstance(given, dict) or given.keys() != {"class", "fields"} or not isinstance(given["fields"], dict):
            raise DataError("its table of objects is not one.")
        kind = class_of(given["class"])
        values = filled(kind, {name: self.unpack(value) for name, value in given["fields"].items()})
        for f in fields(kind):
            check_field(kind, f, values[f.name])
        made: Any = object.__new__(kind)
        for name, value in values.items():
            object.__setattr__(made, name, value)
        if hasattr(kind, "__post_init__"):
            made.__post_init__()
        check_sound(str(name_of(kind)), made)
        self.objects.append(made)
        return made

    def unpack(self, given: Any) -> Any:
        """The value of some JSON; DataError where it is none that `Packing` makes."""
        if not isinstance(given, (list, dict)):
            return given
        self._depth += 1
        if self._depth > DEEPEST:
            raise DataError("its values lie too deep inside each other.")
        found = self.unpack_each(given) if isinstance(given, list) else self._untagged(given)
        self._depth -= 1
        return found

    def unpack_each(self, given: Any) -> list[Any]:
        """A list of values."""
        return [self.unpack(value) for value in expect(given, list)]

    def _untagged(self, given: dict[str, Any]) -> Any:
        if len(given) != 1:
            raise DataError("it holds a mapping that stands for nothing.")
        tag, inside = next(iter(given.items()))
        if tag == "object":
            return self.objects[place(inside, self.objects)]
        if tag == "float":
            return float(inside)
        if tag not in self.kinds:
            raise DataError(f"it holds a {tag!r}, which this version of ordstat does not know.")
        return self.kinds[tag].unpack(inside, self)


def expect(given: Any, *types: type) -> Any:
    """What was given; DataError where it is of no such type."""
    if not isinstance(given, types) or (isinstance(given, bool) and bool not in types):
        raise DataError(f"it has a {type(given).__name__} where {types[0].__name__} belongs.")
    return given


def place(given: Any, table: list[Any]) -> int:
    """A place in a table; DataError where it is none."""
    if not 0 <= expect(given, int) < len(table):
        raise DataError("it refers to something that it does not hold.")
    return int(given)


def numbers(value: Any) -> bool:
    """Whether an array holds no Python objects."""
    return isinstance(value, np.ndarray) and not value.dtype.hasobject
