"""The house rules that a reader cannot see in one file: layers, start-up imports, sizes, what is kept out."""

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

import pytest

import ordstat

PACKAGE = Path(ordstat.__file__).parent
TESTS = Path(__file__).parent

#: What each layer may import, beside BOTTOM.
BELOW = {
    "_typing": set(),
    "exceptions": set(),
    "words": set(),
    "widths": set(),
    "checks": set(),
    "compiled": set(),
    "model": {"compiled"},
    "solvers": {"model", "compiled"},
    "learners": {"solvers", "model", "compiled"},
    "assess": {"model"},
    "design": {"model"},
    "plots": {"model"},
    "files": {"model"},
    "results": {"assess", "files", "model", "plots", "progress"},
    "methods": {"results", "assess", "learners", "solvers", "model"},
    "registry": {"methods"},
    "progress": set(),
    "datasets": set(),
    "api": {"design", "marginaleffects", "methods", "registry", "results", "progress"},
    "labels": {"methods"},
    "grouped": {"design"},
    "estimator": {"api", "design", "grouped", "labels", "methods", "model", "registry", "results"},
    "features": {"labels", "model"},
    "planning": {"methods", "model", "progress"},
    "imputation": {"api", "results"},
    "contestants": {"design", "methods", "model", "registry", "results"},
    "costs": {"assess", "design", "model", "results"},
    "comparison": {"api", "assess", "contestants", "design", "methods", "model", "progress", "results"},
    "describe": {"assess", "design", "plots", "results"},
    "marginaleffects": {"model", "results"},
    "__init__": {"api", "costs", "datasets", "design", "estimator", "files", "methods", "model", "results"},
    "commands": {"comparison", "api", "datasets", "files", "methods", "registry", "results"},
    "__main__": {"commands"},
}
#: Open to all.
BOTTOM = {"_typing", "exceptions", "words", "widths", "checks"}
FRAME_FREE = ("compiled", "model", "solvers", "learners", "methods", "assess")
FRAME_LIBRARIES = {"pandas", "polars", "narwhals", "pyarrow", "formulaic"}
HEAVY = ("scipy.stats", "scipy.optimize", "sklearn", "cvxpy", "statsmodels", "matplotlib", "joblib")
MAX_LINES = 500
MAX_STATEMENT_LINES = 80  # of one function, docstring apart: only a solver's iteration loop comes near

SOURCES = sorted(PACKAGE.rglob("*.py"))


def _label(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def _layer(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def _typing_only(node: ast.AST) -> bool:
    if not isinstance(node, ast.If):
        return False
    return any("TYPE_CHECKING" in (getattr(part, "id", ""), getattr(part, "attr", "")) for part in ast.walk(node.test))


def _run_time_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes except those under `if TYPE_CHECKING:`."""
    left = [node]
    while left:
        found = left.pop()
        yield found
        left += found.orelse if _typing_only(found) else ast.iter_child_nodes(found)


@cache
def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _absolute(path: Path, node: ast.ImportFrom) -> str:
    """The module that `from X import ...` names, written from the top."""
    package = ".".join(("ordstat", *path.relative_to(PACKAGE).parent.parts))
    return resolve_name("." * node.level + (node.module or ""), package).rstrip(".")


def _bound_later(node: ast.AST) -> ast.ImportFrom | None:
    """The import that `name = _later(".topic", "function")` makes when the method is first asked for."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
        return None
    if getattr(node.value.func, "id", "") != "_later":
        return None
    module, function = (ast.literal_eval(argument) for argument in node.value.args)
    alias = ast.alias(function, ast.unparse(node.targets[0]))
    return ast.ImportFrom(module.lstrip("."), [alias], len(module) - len(module.lstrip(".")))


@cache
def _imports(path: Path, types: bool = False) -> tuple[str, ...]:
    """Dotted names of everything a file imports at run time, inside functions too; `types` adds those for types."""
    return tuple(_each_import(path, types))


def _each_import(path: Path, types: bool) -> Iterator[str]:
    tree = _parse(path)
    for node in ast.walk(tree) if types else _run_time_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node := _bound_later(node) or node, ast.ImportFrom):
            module = _absolute(path, node)
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _own_layer(dotted: str) -> str | None:
    parts = dotted.split(".")
    if parts[0] != "ordstat" or len(parts) < 2:
        return None
    return parts[1]


def test_every_module_has_a_layer():
    assert {_layer(path) for path in SOURCES} <= set(BELOW)


def test_imports_point_down():
    up = {}
    for path in SOURCES:
        layer = _layer(path)
        reached = {name for dotted in _imports(path) if (name := _own_layer(dotted)) in BELOW}
        up[_label(path)] = reached - (BELOW[layer] | {layer} | BOTTOM)
    assert not {name: layers for name, layers in up.items() if layers}


def test_the_import_reader_sees_what_it_should(tmp_path, monkeypatch):
    """The rule above rests on this reader: relative forms, function bodies and TYPE_CHECKING."""
    source = """
from typing import TYPE_CHECKING
from ..exceptions import DataError
from . import fit
if TYPE_CHECKING:
    from ..results.base import OrdinalResults
else:
    drawn = _later("..plots.latent", "latent")
def solve():
    from ..api import ordfit
"""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "x.py").write_text(source)
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    assert {name for d in _imports(folder / "x.py") if (name := _own_layer(d))} == {
        "exceptions",
        "model",
        "plots",
        "api",
    }


def _module(path: Path) -> str:
    parts = ("ordstat", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported_files(types: bool = False) -> dict[str, set[str]]:
    """What every file of the package imports of the package, at run time or within a function, or for types too."""
    paths = {_module(path): path for path in PACKAGE.rglob("*.py")}
    return {
        module: {
            name for dotted in _imports(path, types) for name in (dotted, dotted.rpartition(".")[0]) if name in paths
        }
        - {module, "ordstat"}
        for module, path in paths.items()
    }


def test_no_file_imports_itself_through_others():
    TopologicalSorter(_imported_files()).prepare()


def test_no_file_needs_itself_for_its_types():
    TopologicalSorter(_imported_files(types=True)).prepare()


def test_the_type_reader_sees_a_cycle(tmp_path, monkeypatch):
    (tmp_path / "one.py").write_text("from .two import a")
    (tmp_path / "two.py").write_text("if TYPE_CHECKING:\n    from .one import b")
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    test_no_file_imports_itself_through_others()
    with pytest.raises(CycleError):
        test_no_file_needs_itself_for_its_types()


def test_the_cycle_reader_sees_a_cycle(tmp_path, monkeypatch):
    (tmp_path / "one.py").write_text("from .two import a")
    (tmp_path / "two.py").write_text("def f():\n    from . import one")
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    with pytest.raises(CycleError):
        test_no_file_imports_itself_through_others()


def _names(path: Path, nodes: Iterable[ast.AST]) -> set[tuple[str, str, str]]:
    """(module, function, name here) of imports."""
    imports = (node for node in nodes if isinstance(node, ast.ImportFrom))
    return {(_absolute(path, node), a.name, a.asname or a.name) for node in imports for a in node.names}


def test_methods_imported_later_are_those_of_the_types():
    """Beside them classes alone are imported for types, which begin with a capital."""
    places = [path for path in SOURCES if "= partial(Later, __package__)" in path.read_text(encoding="utf-8")]
    assert len(places) == 2
    for path in places:
        branches = [node for node in _parse(path).body if _typing_only(node)]
        typed = _names(path, (node for branch in branches for node in branch.body))
        bound = _names(path, (_bound_later(node) for branch in branches for node in branch.orelse))
        assert bound and bound == {entry for entry in typed if entry[1].islower()}, _label(path)


def test_no_method_file_imports_another():
    for path in (PACKAGE / "methods").glob("*.py"):
        siblings = {d.split(".")[2] for d in _imports(path) if d.startswith("ordstat.methods.")}
        assert path.name == "__init__.py" or siblings <= {"base", "shared"}, path.name


def test_no_frame_below_design_and_results():
    for path in (path for path in SOURCES if _layer(path) in FRAME_FREE):
        assert not {dotted.split(".")[0] for dotted in _imports(path)} & FRAME_LIBRARIES, _label(path)
        for node in ast.walk(_parse(path)):
            if isinstance(node, ast.arg) and node.annotation is not None:
                assert "DataFrame" not in ast.unparse(node.annotation), f"{_label(path)}:{node.lineno}"


def test_files_stay_short():
    paths = [*SOURCES, *PACKAGE.rglob("*.pyx"), *TESTS.rglob("*.py")]
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    assert not {path: count for path, count in lines.items() if count > MAX_LINES}


def _functions(path: Path) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(_parse(path)) if isinstance(node, ast.FunctionDef))


def _body_lines(node: ast.FunctionDef) -> int:
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def test_functions_stay_short():
    lines = {f"{_label(path)}:{node.name}": _body_lines(node) for path in SOURCES for node in _functions(path)}
    assert not {name: count for name, count in lines.items() if count > MAX_STATEMENT_LINES}


def _catches_everything(node: ast.AST) -> bool:
    if not isinstance(node, ast.ExceptHandler):
        return False
    names = {n.id for n in ast.walk(node.type) if isinstance(n, ast.Name)} if node.type else {"Exception"}
    return bool(names & {"Exception", "BaseException"})


def _global_random_state(node: ast.AST) -> bool:
    if not isinstance(node, ast.Attribute) or ast.unparse(node.value) not in ("np.random", "numpy.random"):
        return False
    return node.attr.islower() and node.attr != "default_rng"


FORBIDDEN = {
    "catches everything": _catches_everything,
    "NotImplementedError": lambda node: isinstance(node, ast.Name) and node.id == "NotImplementedError",
    "global variable": lambda node: isinstance(node, ast.Global),
    "prints": lambda node: isinstance(node, ast.Call) and ast.unparse(node.func) == "print",
    "NumPy's global random state": _global_random_state,
}


def test_nothing_forbidden_in_library_code():
    nodes = ((path, node) for path in SOURCES for node in ast.walk(_parse(path)))
    assert not [
        f"{_label(path)}:{node.lineno} {name}" for path, node in nodes for name, rule in FORBIDDEN.items() if rule(node)
    ]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("catches everything", "try:\n    f()\nexcept (OSError, Exception):\n    pass"),
        ("NotImplementedError", "raise NotImplementedError('later')"),
        ("global variable", "def f():\n    global x"),
        ("prints", "print(1)"),
        ("NumPy's global random state", "np.random.shuffle(x)"),
    ],
)
def test_the_rules_find_what_they_forbid(name, source):
    assert any(FORBIDDEN[name](node) for node in ast.walk(ast.parse(source)))


FIRST_SUMMARY = """
from ordstat import datasets, ordfit
str(ordfit("rating ~ temp + contact", data=datasets.load("wine")).summary())
"""


@pytest.mark.parametrize("program", ["import ordstat", FIRST_SUMMARY], ids=["import", "first summary"])
def test_start_up_imports_nothing_heavy(program):
    report = f"import sys\n{program}\nprint([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True, cwd=TESTS)
    assert done.stdout.strip() == "[]"


#: Rooms of a family: each imports the shared files of any layer, and its own family. Kernels, reductions, ensembles and
#: losses are shared; `results/rankers` shows the fits of every family but the likelihood models.
FAMILIES = {"boosted", "likelihood", "svm", "pairs", "online", "thresholds", "trees"}


def _family(dotted: str) -> str | None:
    parts = dotted.split(".")
    return parts[2] if len(parts) > 3 and parts[2] in FAMILIES and parts[1] != "compiled" else None


def test_families_do_not_import_each_other():
    offenders = []
    for path in SOURCES:
        own = _family(f"{_module(path)}.name")
        rankers = "rankers" in path.parts
        for dotted in _imports(path):
            other = _family(dotted)
            if other is not None and ((own is not None and other != own) or (rankers and other == "likelihood")):
                offenders.append(f"{_label(path)} imports {dotted}")
    assert not offenders, "\n".join(offenders)


def test_no_folder_is_a_crowd():
    """`methods/` is the index of methods and may be long."""
    folders = {path.parent for path in SOURCES} - {PACKAGE / "methods"}
    crowds = {folder.name: count for folder in folders if (count := len(list(folder.glob("*.py")))) > 25}
    assert not crowds


#: Classes on a line from the first to the last.
DEEPEST = 3


def _bases(paths: Iterable[Path]) -> dict[str, list[str]]:
    """The bases of every class, by name."""
    classes = (node for path in paths for node in ast.walk(_parse(path)) if isinstance(node, ast.ClassDef))
    return {node.name: [ast.unparse(base).partition("[")[0] for base in node.bases] for node in classes}


def _depth(name: str, bases: dict[str, list[str]]) -> int:
    return 1 + max((_depth(base, bases) for base in bases[name]), default=0) if name in bases else 0


def test_lines_of_classes_are_short():
    bases = _bases(SOURCES)
    assert not {name: d for name in bases if (d := _depth(name, bases)) > DEEPEST}


def test_the_depth_reader_counts_classes(tmp_path):
    (tmp_path / "x.py").write_text("class A: ...\nclass B(A, dict): ...\nclass C(B[int]): ...")
    assert _depth("C", _bases([tmp_path / "x.py"])) == 3


def test_a_method_says_whose_it_is():
    """`self: Any` would keep mypy from looking into a method."""
    for path in SOURCES:
        for function in _functions(path):
            for argument in function.args.args[:1]:
                assert argument.arg != "self" or argument.annotation is None, f"{_label(path)}:{function.lineno}"


def test_every_folder_is_installed():
    listed = (PACKAGE.parent / "setup.cfg").read_text(encoding="utf-8")
    folders = {".".join(("ordstat", *path.parent.relative_to(PACKAGE).parts)) for path in PACKAGE.rglob("__init__.py")}
    assert folders <= {line.strip() for line in listed.splitlines()}
