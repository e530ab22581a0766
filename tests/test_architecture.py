"""Rules across files: imports between folders, start-up imports, banned constructs."""

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

import pytest

import ordstat

PACKAGE = Path(ordstat.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
HEAVY = (
    "scipy.stats",
    "scipy.optimize",
    "scipy.sparse",
    "sklearn",
    "cvxpy",
    "statsmodels",
    "matplotlib",
    "joblib",
    "formulaic",
)

#: Rooms from the bottom up; a room imports rooms of its own level and of those below,
#: families only what FAMILIES says.
LEVELS = (
    {"_typing", "advice", "checks", "compiled", "exceptions", "threads"},
    {
        "fit",
        "formula",
        "judging",
        "kernels",
        "method",
        "newton",
        "persistence",
        "plots",
        "predicting",
        "rankers",
        "report",
        "results",
        "target",
        "updating",
    },
    {
        "blocks",
        "boosting",
        "effects",
        "inference",
        "likelihood",
        "mixed",
        "online",
        "prediction",
        "reduction",
        "svm",
        "trees",
    },
    {
        "__init__",
        "__main__",
        "api",
        "choice",
        "cli",
        "comparison",
        "datasets",
        "estimator",
        "labels",
        "metrics",
        "registry",
        "table_files",
    },
)
#: Families that a family builds on; `likelihood/results.py` also imports the topics
#: that are its methods.
FAMILIES = {
    "blocks": {"likelihood", "online", "reduction", "svm"},
    "boosting": {"reduction"},
    "effects": {"inference", "likelihood", "mixed"},
    "inference": {"likelihood"},
    "mixed": {"inference", "likelihood"},
    "online": {"svm"},
    "prediction": {"boosting", "likelihood", "reduction", "svm"},
    "svm": {"reduction"},
    "trees": {"boosting", "reduction"},
}
#: Imports that break the rule, each of a type or of one function.
KNOWN = {
    "likelihood.regression -> mixed.method",
    "likelihood.regression -> mixed.results",
    "method -> reduction.classifiers",
    "persistence -> likelihood.flexible",
    "persistence -> likelihood.links",
    "reduction.voting -> svm.learner",
    "reduction.voting -> svm.options",
    "reduction.voting -> svm.routes",
    "results -> blocks.sources",
}


def _module(path):
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(
        ".__init__"
    )


MODULES = {_module(path): path for path in SOURCES}


def _parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


_tree = cache(_parsed)


class _Running(ast.NodeTransformer):
    """Leaves out what type checkers alone read."""

    def visit_If(self, node):
        if ast.unparse(node.test) == "TYPE_CHECKING":
            return None
        return self.generic_visit(node)


def _imports(path, types=True):
    """Modules of the package that a file imports, in functions too, and for types."""
    package = ".".join(("ordstat", *path.parent.relative_to(PACKAGE).parts))
    tree = _tree(path) if types else _Running().visit(_parsed(path))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            stem = (
                resolve_name("." * node.level + (node.module or ""), package)
                if node.level
                else node.module
            )
            names = [stem, *(f"{stem}.{alias.name}" for alias in node.names)]
            yield from (
                name.removeprefix("ordstat.")
                for name in names
                if name.removeprefix("ordstat.") in MODULES
            )


GRAPH = {
    name: {other for other in _imports(path) if other != name}
    for name, path in MODULES.items()
}


def _level(module):
    room = module.partition(".")[0]
    return next(level for level, rooms in enumerate(LEVELS) if room in rooms)


def _allowed(module, other):
    room = module.partition(".")[0]
    target = other.partition(".")[0]
    if room == target or module == "likelihood.results":
        return True
    if _level(module) == _level(other) == 2:
        return target in FAMILIES.get(room, ())
    return _level(module) >= _level(other)


def test_imports_go_down():
    broken = {
        f"{a} -> {b}"
        for a, others in GRAPH.items()
        for b in others
        if not _allowed(a, b)
    }
    assert broken == KNOWN


def test_no_file_imports_itself_through_others():
    """When it runs: a function may name the class whose method calls it as a type."""
    graph = {
        name: {other for other in _imports(path, types=False) if other != name}
        for name, path in MODULES.items()
    }
    list(TopologicalSorter(graph).static_order())


def test_the_reader_of_imports_leaves_out_types():
    file = PACKAGE / "judging" / "tables.py"
    assert "results" in set(_imports(file))
    assert "results" not in set(_imports(file, types=False))


def test_folders_are_two_levels_deep():
    assert max(len(path.relative_to(PACKAGE).parts) for path in SOURCES) == 2


FORBIDDEN = {
    "catches everything": lambda node: (
        isinstance(node, ast.ExceptHandler)
        and (
            node.type is None
            or "Exception"
            in {n.id for n in ast.walk(node.type) if isinstance(n, ast.Name)}
        )
    ),
    "NotImplementedError": (
        lambda node: isinstance(node, ast.Name) and node.id == "NotImplementedError"
    ),
    "global variable": lambda node: isinstance(node, ast.Global),
    "prints": (
        lambda node: isinstance(node, ast.Call) and ast.unparse(node.func) == "print"
    ),
    "NumPy's global random state": lambda node: (
        isinstance(node, ast.Attribute)
        and ast.unparse(node.value) == "np.random"
        and node.attr
        not in (
            "Generator",
            "default_rng",
            "SeedSequence",
            "RandomState",
            "BitGenerator",
            "MT19937",
        )
    ),
}


def test_nothing_forbidden_in_library_code():
    nodes = ((path, node) for path in SOURCES for node in ast.walk(_tree(path)))
    assert not [
        f"{path}:{node.lineno} {name}"
        for path, node in nodes
        for name, rule in FORBIDDEN.items()
        if rule(node) and (path.name, name) != ("cli.py", "prints")
    ]


FIRST_SUMMARY = """
from ordstat import datasets, ordfit
str(ordfit("rating ~ temp + contact", data=datasets.load("wine")).summary())
"""


@pytest.mark.parametrize(
    "program", ["import ordstat", FIRST_SUMMARY], ids=["import", "first summary"]
)
def test_start_up_imports_nothing_heavy(program):
    report = f"import sys\n{program}\nprint([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", report],
        capture_output=True,
        text=True,
        check=True,
        cwd=PACKAGE.parent,
    )
    assert done.stdout.strip() == "[]"


def test_every_folder_is_installed():
    listed = (Path(__file__).parents[1] / "setup.cfg").read_text(encoding="utf-8")
    folders = {
        ".".join(("ordstat", *path.parent.relative_to(PACKAGE).parts))
        for path in PACKAGE.rglob("__init__.py")
    }
    assert folders <= {line.strip() for line in listed.splitlines()}


@pytest.mark.parametrize("room", ["formula", "inference", "likelihood"])
def test_the_design_page_lists_every_file(room):
    page = (PACKAGE.parent / "docs" / "design.md").read_text(encoding="utf-8")
    _, _, table = page.partition(f"| file of `{room}/` | holds |\n")
    listed = re.findall(r"`(\w+\.py)`", table.partition("\n\n")[0])
    files = {path.name for path in (PACKAGE / room).glob("*.py")} - {"__init__.py"}
    assert len(listed) == len(set(listed))
    assert set(listed) == files
