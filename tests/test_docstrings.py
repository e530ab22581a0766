"""Public callables document their parameters, errors and an example."""

import ast
import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

import ordstat
from ordstat import OrdinalClassifier, datasets, metrics


def _is_own(value: Any, module: Any) -> bool:
    return inspect.isfunction(value) and value.__module__ == module.__name__


PUBLIC = {
    name: getattr(ordstat, name)
    for name in dir(ordstat)
    if name not in ("datasets", "metrics", "__version__")
}
PUBLIC |= {
    f"{module.__name__}.{name}": value
    for module in (datasets, metrics)
    for name, value in vars(module).items()
    if _is_own(value, module)
}
PUBLIC = {
    name: value
    for name, value in PUBLIC.items()
    if not name.rpartition(".")[2].startswith("_")
}
SHOWN = {
    n: v
    for n, v in PUBLIC.items()
    if not (inspect.isclass(v) and issubclass(v, (Exception, Warning)))
}


def _classes() -> Iterator[type]:
    """Every class of the package."""
    for found in pkgutil.walk_packages(ordstat.__path__, "ordstat."):
        if found.name != "ordstat.__main__":
            for value in vars(importlib.import_module(found.name)).values():
                if inspect.isclass(value) and value.__module__ == found.name:
                    yield value


CLASSES = {kind.__name__: kind for kind in _classes()}


def _returned(functions: Iterable[Any]) -> Iterator[type]:
    """Classes of the package that functions with an example say they return."""
    for value in functions:
        function = getattr(value, "fget", getattr(value, "func", value))
        if inspect.isfunction(function) and ">>> " in (function.__doc__ or ""):
            said = str(function.__annotations__.get("return", ""))
            for name in re.findall(r"\w+", said):
                if name in CLASSES and name != "Path":  # pathlib's
                    yield CLASSES[name]


def _answering() -> set[type]:
    """Fits of all kinds, the classifier, and what their methods and public functions
    return.
    """
    results = CLASSES["OrdinalResults"]
    found = {kind for kind in CLASSES.values() if issubclass(kind, results)}
    found.add(OrdinalClassifier)
    found.update(_returned(filter(inspect.isfunction, SHOWN.values())))
    size = 0
    while size < len(found):
        size = len(found)
        for kind in list(found):
            shown = [v for name, v in vars(kind).items() if not name.startswith("_")]
            found.update(_returned(shown))
    return found


ANSWERING = _answering()


def _methods() -> Iterator[tuple[str, Any]]:
    """Public methods of what answers a user, once each, as (name, function)."""
    seen = {}
    for kind in ANSWERING:
        for base in kind.__mro__:
            for name, value in list(vars(base).items()):
                function = inspect.unwrap(value) if inspect.isfunction(value) else None
                inherits = (
                    function is not None
                    and function.__doc__ is None
                    and inspect.getdoc(getattr(kind, name))
                )
                if (
                    function is not None
                    and not inherits
                    and base.__module__.startswith("ordstat")
                    and not name.startswith("_")
                    and "<locals>" not in function.__qualname__
                ):
                    seen[function.__qualname__] = function
    yield from sorted(seen.items())


CALLED = dict(_methods())


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_are_described(name):
    assert inspect.getdoc(PUBLIC[name])


@pytest.mark.parametrize("name", SHOWN)
def test_public_names_are_shown_in_use(name):
    assert ">>> " in inspect.getdoc(SHOWN[name])


@pytest.mark.parametrize("name", CALLED)
def test_parameters_are_described(name):
    # the first is the object itself
    given = list(inspect.signature(CALLED[name]).parameters.values())[1:]
    assert not [p.name for p in given if p.name not in CALLED[name].__doc__]
    assert len(given) < 2 or "Parameters\n" in CALLED[name].__doc__


def _raised(function: Any) -> set[str]:
    """Names of our own errors that the body itself raises."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    calls = [
        node.exc
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
    ]
    return {ast.unparse(call.func) for call in calls} & {
        "OptionError",
        "DataError",
        "FormulaError",
        "UnavailableError",
    }


@pytest.mark.parametrize(
    "name", [name for name, function in CALLED.items() if _raised(function)]
)
def test_errors_are_described(name):
    assert all(error in CALLED[name].__doc__ for error in _raised(CALLED[name]))


def test_the_error_reader_finds_errors():
    assert _raised(CALLED["OrdinalResults.judged_sample"]) == {"DataError"}
