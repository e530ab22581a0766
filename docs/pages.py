"""Pages as Markdown: writing, tables and executed cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent

#: What MyST-NB wants at the head of a page that is executed.
HEAD = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---
"""


def write(path: str, text: str) -> None:
    """Write a page of the site, unless it says that already: Sphinx reads again what
    changed.
    """
    page = HERE / path
    page.parent.mkdir(parents=True, exist_ok=True)
    if not page.is_file() or page.read_text() != text:
        page.write_text(text)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def executed(code: str) -> str:
    """A cell that the build executes."""
    return f"```{{code-cell}} ipython3\n{code}\n```"
