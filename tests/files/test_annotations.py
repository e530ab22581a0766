"""Values are held against the annotations of fields, down to the items of containers."""

import ast
from collections.abc import Callable, Mapping, Sequence  # noqa: F401  # named in annotations
from dataclasses import fields, is_dataclass, make_dataclass
from importlib import import_module
from pathlib import Path

import pytest

from ordstat import DataError
from ordstat.files import checked
from ordstat.files.checked import check_field
from ordstat.files.known import _modules

#: Names of annotations that any value may stand for.
OPEN = {"Any", "...", "S"}


class Holding:
    """Stands for the class of a field; its annotations are tried one by one."""


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        ("tuple[int, ...]", ((), (1, 2)), ((1, "a"), [1], (1.5,))),
        ("tuple[int, str]", ((1, "a"),), ((1,), (1, "a", 2), ("a", 1))),
        ("tuple[tuple[str, float], ...]", ((("a", 1),),), (("a",), (("a", "b"),))),
        ("list[Path | None]", ([], [None, Path("x")]), (["x"], (None,))),
        ("dict[str, Path]", ({}, {"a": Path("x")}), ({1: Path("x")}, {"a": 1})),
        ("Mapping[str, frozenset[int]]", ({"a": frozenset({1})},), ({"a": {1}}, {"a": frozenset({"1"})})),
        ("float | Sequence[float]", (1.0, [1, 2], (0.5,)), ("a", ["a"])),
        ("Sequence[Any]", ((1, "a"), []), (3,)),
        ("Callable[[int], str] | None", (None, check_field), ("make",)),
        ("Unknown[int]", (1, "a", None), ()),
    ],
)
def test_annotations(annotation, good, bad):
    (own,) = fields(make_dataclass("Own", [("x", int)]))
    own.type, kind = annotation, Holding
    for value in good:
        check_field(kind, own, value)
    for value in bad:
        with pytest.raises(DataError, match="x of its Holding is"):
            check_field(kind, own, value)


def _names(annotation):
    """The names in an annotation that are neither arrays, scalars nor containers."""
    match annotation:
        case ast.BinOp(left=one, right=other):
            return _names(one) | _names(other)
        case ast.Constant():
            return set()
        case ast.Subscript(value=ast.Name(id=name), slice=inside) if name in checked._CONTAINERS:
            return set().union(*map(_names, inside.elts if isinstance(inside, ast.Tuple) else [inside]))
        case ast.Subscript(value=outer):
            return _names(outer)
    name = ast.unparse(annotation)
    return set() if name in {*checked._ARRAYS, *checked._SCALARS, *checked._CONTAINERS, *OPEN} else {name}


def _dataclasses():
    for module in sorted(_modules()):
        for kind in vars(import_module(f"ordstat.{module}")).values():
            if isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == f"ordstat.{module}":
                yield kind


def test_every_annotation_tells_a_class():
    """A name that could not be looked up would let anything through."""
    kinds = [*_dataclasses()]
    unknown = {
        (kind.__name__, f.name, name)
        for kind in kinds
        for f in fields(kind)
        if isinstance(f.type, str)
        for name in _names(checked._parsed(f.type))
        if checked._class(kind, name) is None
    }
    assert len(kinds) > 300 and unknown == set()
