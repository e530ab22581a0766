"""Whether a value can stand in a field of a dataclass, by the annotation of that field: items of containers too."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field
from functools import cache, partial
from importlib import import_module
from types import FunctionType, SimpleNamespace, UnionType
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
}
_CONTAINERS: dict[str, tuple[type, ...]] = {
    "tuple": (tuple,),
    "list": (list,),
    "set": (set,),
    "frozenset": (frozenset,),
    "dict": (dict,),
    "Mapping": (Mapping,),
    "Sequence": (Sequence,),
}
#: Functions that a file may hold.
_CALLED = (FunctionType, partial, np.ufunc)
_PACKAGE = __name__.partition(".")[0]
#: Where classes are that annotations name while types are checked and at no other time.
_ELSEWHERE = {
    "Design": f"{_PACKAGE}.design.design",
    "MarginalLikelihood": f"{_PACKAGE}.solvers.likelihood.mixed.estimate",
}


def check_field(kind: type, f: Field[Any], value: Any) -> None:
    """DataError where the annotation of a field tells that a value, or what it contains, is none of its own."""
    if isinstance(f.type, str) and not _fits(value, _parsed(f.type), kind):
        raise DataError(f"{f.name} of its {kind.__name__} is {_told(value)}, and must be {f.type}.")


def _told(value: Any) -> str:
    """The type of a value, and of the items of a container."""
    inside = value.values() if isinstance(value, Mapping) else value
    if not isinstance(value, (tuple, list, set, frozenset, Mapping)) or not value:
        return type(value).__name__
    return f"{type(value).__name__} of {', '.join(dict.fromkeys(type(item).__name__ for item in inside))}"


@cache
def _parsed(annotation: str) -> ast.expr:
    return ast.parse(annotation, mode="eval").body


def _fits(value: Any, annotation: ast.expr, kind: type) -> bool:
    """Whether a value is of an annotation, as far as that tells: Any, aliases and type variables take all."""
    match annotation:
        case ast.BinOp(left=one, right=other):
            return _fits(value, one, kind) or _fits(value, other, kind)
        case ast.Constant(value=None):
            return value is None
        case ast.Subscript(value=ast.Name(id=name), slice=inside) if name in _CONTAINERS:
            return isinstance(value, _CONTAINERS[name]) and _holds(value, name, inside, kind)
        case ast.Subscript(value=outer):
            return _fits(value, outer, kind)
        case ast.Name(id=name) if name in _ARRAYS:
            return isinstance(value, np.ndarray) and value.dtype.kind in _ARRAYS[name]
        case ast.Name(id=name) if name in _SCALARS or name in _CONTAINERS:
            return isinstance(value, (_SCALARS | _CONTAINERS)[name])
    found = _class(kind, ast.unparse(annotation))
    return found is None or _stands_for(value, found)


def _holds(value: Any, name: str, inside: ast.expr, kind: type) -> bool:
    """Whether the items of a container are of what stands between the brackets after its name."""
    wanted = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    if isinstance(value, Mapping):
        return _all(value, wanted[0], kind) and _all(value.values(), wanted[1], kind)
    if name != "tuple" or ast.unparse(wanted[-1]) == "...":
        return _all(value, wanted[0], kind)
    pairs = zip(value, wanted, strict=False)
    return len(value) == len(wanted) and all(_fits(item, one, kind) for item, one in pairs)


def _all(items: Iterable[Any], wanted: ast.expr, kind: type) -> bool:
    return all(_fits(item, wanted, kind) for item in items)


@cache
def _class(kind: type, name: str) -> Any:
    """The class that an annotation of a class or of its bases names; None where it is no class."""
    modules = [base.__module__ for base in kind.__mro__]
    for module in [*modules, *([_ELSEWHERE[name]] if name in _ELSEWHERE else [])]:
        found: Any = SimpleNamespace(**(vars(builtins) | vars(import_module(module))))
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is not None:
            break
    return found if isinstance(found, UnionType) else _outer(found)


def _outer(found: Any) -> Any:
    """A class, or that of an alias with brackets; None of anything else."""
    outer = getattr(found, "__origin__", found)
    return outer if outer is Callable or (isinstance(outer, type) and outer is not Any) else None


def _stands_for(value: Any, kind: Any) -> bool:
    """Whether a value is of a class; in place of a protocol, whether it is the package's own or its function."""
    if isinstance(kind, UnionType):
        outers = [_outer(one) for one in kind.__args__]
        return None in outers or any(_stands_for(value, one) for one in outers)
    if getattr(kind, "_is_protocol", False) or kind is Callable:
        return type(value).__module__.partition(".")[0] == _PACKAGE or isinstance(value, _CALLED)
    return isinstance(value, kind)
