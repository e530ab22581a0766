"""What a file may name: dataclasses and a few functions of the package, by names that do not tell where they are."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, reduce
from importlib import import_module
from operator import or_
from pathlib import Path
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from ..exceptions import DataError

_PACKAGE = __name__.partition(".")[0]
#: Functions that a fit may hold, after their modules.
_FUNCTIONS = (
    "api refit, design.build make, learners.base _side_by_side, learners.named _answers, methods.boosting _gap, "
    "methods.boosting _score, methods.orstump _rule_answers, methods.shared.voting VotingMethod.tally, "
    "methods.voting CostTransform.tally, methods.voting OneVersusOne.tally, model.ensembles.ensembles hard_sign"
)
#: Kinds of dtypes that an array of a field may have.
_KINDS = {
    "numpy.dtype[numpy.float64]": "fiub",
    f"numpy.dtype[numpy.{np.intp.__name__}]": "iu",
    "numpy.dtype[numpy.bool]": "b",
}
_SCALARS: dict[Any, Any] = {bool: (bool, np.bool_), int: (int, np.integer), float: (float, int, np.number)}


@cache
def _modules() -> dict[str, list[str]]:
    """Modules of the package by the names of their classes, read from the sources: importing all takes a second."""
    root = Path(str(import_module(_PACKAGE).__file__)).parent
    modules = defaultdict(list)
    for path in sorted(root.rglob("*.py")):
        for name in re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            modules[name].append(".".join((_PACKAGE, *path.relative_to(root).with_suffix("").parts)))
    return modules


@cache
def classes_named(name: str) -> tuple[Any, ...]:
    """The classes of the package with a name."""
    return tuple(getattr(import_module(module), name) for module in _modules().get(name, ()))


def class_of(name: str, names: set[str]) -> Any:
    """The dataclass of a name with fields of these names."""
    for kind in classes_named(name):
        if is_dataclass(kind) and {f.name for f in fields(kind)} == names:
            return kind
    raise DataError(f"this version of ordstat has no class {name!r} with the fields {', '.join(sorted(names))}.")


@cache
def functions() -> dict[str, Any]:
    """The functions that a fit may hold, by their names in a file."""
    pairs = (text.split() for text in _FUNCTIONS.split(", "))
    return {"tanh": np.tanh} | {
        name: reduce(getattr, name.split("."), cast(Any, import_module(f"{_PACKAGE}.{module}")))
        for module, name in pairs
    }


def check_fields(made: Any) -> None:
    """DataError if a field of a dataclass holds what its annotation does not allow."""
    for name, hint in _hints(made.__class__).items():
        if not _fits(getattr(made, name), hint):
            raise DataError(f"{name} of {type(made).__name__} must not be a {type(getattr(made, name)).__name__}.")


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """Types of the fields; names that a module imports for type checkers alone are looked up by `_modules`."""
    texts = " ".join(str(hint) for base in kind.__mro__ for hint in vars(base).get("__annotations__", {}).values())
    imported = {name for base in kind.__mro__ for name in vars(import_module(base.__module__))}
    words = set(re.findall(r"\w+", texts)) & _modules().keys() - imported
    names = {word: reduce(or_, classes_named(word)) for word in words}
    hints = get_type_hints(kind, localns=names)
    return {f.name: hints[f.name] for f in fields(kind)}


def _fits(value: Any, hint: Any) -> bool:
    kind: Any = get_origin(hint) or hint
    inside = get_args(hint)
    if kind in (Union, UnionType):
        return any(_fits(value, one) for one in inside)
    if kind is np.ndarray:
        return isinstance(value, kind) and value.dtype.kind in _KINDS.get(str(inside[1]), value.dtype.kind)
    if kind is Any or not isinstance(kind, type):
        return True
    if kind is Callable or getattr(kind, "_is_protocol", False):
        return callable(value) or type(value).__module__.startswith(_PACKAGE)
    if not isinstance(value, _SCALARS.get(kind, kind)):
        return False
    if issubclass(kind, Mapping) and inside:
        return all(_fits(key, inside[0]) and _fits(item, inside[1]) for key, item in value.items())
    if issubclass(kind, tuple) and inside and inside[-1] is not ...:
        return len(value) == len(inside) and all(map(_fits, value, inside))
    return not (issubclass(kind, Sequence) and inside) or all(_fits(item, inside[0]) for item in value)
