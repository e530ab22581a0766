"""Writes the pages of the site that come from the code, the tests, the benchmarks and the analyses."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent


def write(path: str, text: str) -> None:
    """Write a page of the site, unless it says that already: Sphinx reads again what changed."""
    page = HERE / path
    page.parent.mkdir(parents=True, exist_ok=True)
    if not page.is_file() or page.read_text() != text:
        page.write_text(text)


def write_analyses() -> None:
    """Copies of the analyses, and the page that lists them."""
    names = []
    for page in sorted((ROOT / "vignettes").glob("*.md")):
        if "{code-cell}" in (text := page.read_text()):
            write(f"analyses/{page.name}", text)
            names.append(page.stem)
    write("analyses/index.md", "\n".join(["# Worked analyses", "", "```{toctree}", *names, "```", ""]))


def write_pages() -> None:
    """All of them."""
    write_analyses()
