"""How large the package is: `python -m benchmarks.size [FOLDER]` prints code lines by layer, and what is too long.

Code lines are those that hold code: no docstrings, no comments, no blanks. CONTRIBUTING.md has the limits.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import ordstat

#: Code lines of a file.
LEAST, MOST = 40, 300

Documented = ast.Module | ast.ClassDef | ast.FunctionDef


@dataclass(frozen=True)
class Size:
    """Code lines of a file, and those of each of its functions."""

    path: Path
    lines: int
    functions: dict[str, int]

    @classmethod
    def of(cls, path: Path) -> Size:
        """What is in a file."""
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        code = set(_written(text)) - set(_docstrings(tree))
        functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
        spans = {f"{node.name}:{node.lineno}": range(node.lineno, (node.end_lineno or 0) + 1) for node in functions}
        return cls(path, len(code), {name: len(code.intersection(span)) for name, span in spans.items()})


def _written(text: str) -> Iterator[int]:
    """Numbers of the lines that are neither blank nor a comment."""
    lines = enumerate(text.splitlines(), 1)
    return (number for number, line in lines if line.strip() and not line.strip().startswith("#"))


def _docstrings(tree: ast.AST) -> Iterator[int]:
    """Numbers of the lines of docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, Documented) and ast.get_docstring(node, clean=False) is not None:
            yield from range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)


def sizes(folder: Path) -> list[Size]:
    """Of all files of Python below a folder."""
    return [Size.of(path) for path in sorted(folder.rglob("*.py"))]


def by_layer(found: list[Size], folder: Path) -> pd.DataFrame:
    """Files, code lines and lengths of functions by layer, and of all."""
    layers: dict[str, list[Size]] = {}
    for size in found:
        layers.setdefault(size.path.relative_to(folder).parts[0], []).append(size)
    return pd.DataFrame({name: _figures(some) for name, some in [*layers.items(), ("all", found)]}).T


def _figures(found: list[Size]) -> dict[str, int]:
    lengths = [length for size in found for length in size.functions.values()]
    median, most = np.quantile(lengths or [0], (0.5, 0.9), method="higher")
    counts = {"files": len(found), "code lines": sum(size.lines for size in found), "functions": len(lengths)}
    return counts | {"median": int(median), "90 %": int(most), "longest": max(lengths, default=0)}


def main(folder: Path) -> None:
    """Print the table, then the files that are too long or too short."""
    found = sizes(folder)
    print(by_layer(found, folder).to_string())
    for size in sorted(found, key=lambda one: -one.lines):
        if size.lines > MOST or (size.lines < LEAST and size.path.name != "__init__.py"):
            print(f"{size.lines:4d} code lines: {size.path.relative_to(folder)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(ordstat.__file__).parent)
