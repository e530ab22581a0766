"""Public callables document their parameters, errors and an example."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest
from seams import METHODS

import ordstat
from ordstat import datasets, metrics
from ordstat.effects.emmeans import Emmeans
from ordstat.inference.agreement import Agreement
from ordstat.inference.bootstrap import Bootstrap
from ordstat.inference.certificate import Convergence
from ordstat.inference.describe import OrdinalDescription
from ordstat.inference.draws import Draws
from ordstat.inference.goodness import GoodnessOfFit
from ordstat.inference.polychoric import Polychoric
from ordstat.inference.pooling import PooledResults
from ordstat.judging.compared import Comparison
from ordstat.judging.conformal import ConformalIntervals
from ordstat.mixed.results import MixedResults


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

ANSWERING = {entry.method.results_class for entry in METHODS.values()}
ANSWERING |= {
    Agreement,
    Bootstrap,
    Comparison,
    ConformalIntervals,
    Convergence,
    Draws,
    Emmeans,
    GoodnessOfFit,
    MixedResults,
    OrdinalDescription,
    Polychoric,
    PooledResults,
}
ANSWERING |= {ordstat.OrdinalClassifier}


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
