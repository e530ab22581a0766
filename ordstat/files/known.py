"""What a file may name: dataclasses of the package, a few of its functions, and nothing else.

A name in a file is looked up in what the package itself holds, never imported as it stands there.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from importlib import import_module
from typing import Any, cast

from ..exceptions import DataError

_PACKAGE = __name__.partition(".")[0]
#: Layers whose dataclasses a fit is made of.
LAYERS = ("assess", "design", "learners", "methods", "model", "results", "solvers")
#: Functions that a fit may hold.
FUNCTIONS = (
    "api.refit",
    "design.build.make",
    "learners.base._side_by_side",
    "learners.named._answers",
    "methods.boosting._gap",
    "methods.boosting._score",
    "methods.orstump._answers",
    "methods.shared.voting.VotingMethod.tally",
    "methods.voting.CostTransform.tally",
    "methods.voting.OneVersusOne.tally",
    "model.ensembles.ensembles.hard_sign",
)


@cache
def _modules() -> frozenset[str]:
    """Every module of the layers, by its name in the package."""
    package = import_module(_PACKAGE)
    found = pkgutil.walk_packages(package.__path__, f"{_PACKAGE}.", onerror=lambda name: None)
    names = (module.name.removeprefix(f"{_PACKAGE}.") for module in found)
    return frozenset(name for name in names if name.partition(".")[0] in LAYERS)


def name_of(kind: type) -> str | None:
    """The name of a dataclass of the package in a file; None of any other class."""
    module = kind.__module__.removeprefix(f"{_PACKAGE}.")
    known = is_dataclass(kind) and module in _modules() and "." not in kind.__qualname__
    return f"{module}.{kind.__qualname__}" if known else None


def class_of(name: Any) -> type:
    """The dataclass of a name; DataError where the package has none."""
    module, _, own = str(name).rpartition(".")
    if module in _modules():
        found = vars(import_module(f"{_PACKAGE}.{module}")).get(own)
        if isinstance(found, type) and is_dataclass(found) and name_of(found) == f"{module}.{own}":
            return found
    raise DataError(f"it holds a {name!r}, which this version of ordstat has not.")


@cache
def _functions() -> dict[str, Callable[..., Any]]:
    return {name: _function(name) for name in FUNCTIONS}


def _function(name: str) -> Callable[..., Any]:
    module = max(module for module in (*_modules(), "api") if name.startswith(f"{module}."))
    own = name.removeprefix(f"{module}.").split(".")
    found: Any = import_module(f"{_PACKAGE}.{module}")
    for part in own:
        found = getattr(found, part)
    return cast(Callable[..., Any], found)


def name_of_function(function: Any) -> str | None:
    """The name of a function that a fit may hold; None of any other."""
    return next((name for name, known in _functions().items() if known is function), None)


def function_of(name: Any) -> Callable[..., Any]:
    """The function of a name; DataError where it is none of those."""
    if name not in FUNCTIONS:
        raise DataError(f"it names the function {name!r}, and a file may not.")
    return _functions()[name]


def filled(kind: type, given: dict[str, Any]) -> dict[str, Any]:
    """The fields of a dataclass, those left out by their defaults; DataError where they are not its own."""
    own: dict[str, Field[Any]] = {f.name: f for f in fields(kind)}
    strange = given.keys() - own.keys()
    absent = [name for name, f in own.items() if name not in given and not _has_default(f)]
    if strange or absent:
        what = f"has not {', '.join(absent)}" if absent else f"has {', '.join(sorted(strange))} beside its own"
        raise DataError(f"its {kind.__name__} {what}.")
    return {name: given[name] if name in given else _default(f) for name, f in own.items()}


def _has_default(f: Field[Any]) -> bool:
    return f.default is not MISSING or f.default_factory is not MISSING


def _default(f: Field[Any]) -> Any:
    return f.default if f.default_factory is MISSING else f.default_factory()
