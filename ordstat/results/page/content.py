"""What a page says of a fit."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import pandas as pd

from ...model.sample import Sample
from ..fitted import FittedRanker
from ..report.cells import counted
from ..report.render import Line, Report, Table
from ..report.sections import fractional, shortened
from .blocks import Block, Code, Items, Page, Section, Words
from .drawings import drawings
from .readings import readings

# Levels that a sentence names.
_MOST_LEVELS = 12
_PACKAGES = ("ordstat", "numpy", "scipy", "pandas", "formulaic", "scikit-learn", "statsmodels")


def page_of(fit: Any, pictures: bool) -> Page:
    """All of a page about a fit."""
    summary = _without_more(fit.summary().report)
    sections = [
        Section("Question", tuple(_question(fit))),
        Section("Data", tuple(_data(fit))),
        Section("Summary", (summary,)),
        Section("Diagnosis", (Items(tuple(readings(fit))),)),
        Section("Pictures", tuple(drawings(fit)) if pictures else ()),
        Section("How to cite", (Items(tuple(("", text) for text in _references(fit))),)),
        Section("Call and versions", (Code(fit.call), Items(tuple(_versions())))),
    ]
    return Page(fit.title, tuple(section for section in sections if section.blocks))


def _without_more(summary: Report) -> Report:
    """What one screen shows, less its title and the line of what else may be asked."""
    kept = tuple(piece for piece in summary.tables if not (isinstance(piece, Line) and piece.head == "More:"))
    return replace(summary, title="What was learnt, and how well", tables=kept)


def _question(fit: FittedRanker) -> Iterator[Block]:
    design = fit.design
    levels = " < ".join(_ends([str(level) for level in fit.levels]))
    response = design.response if design.response.isidentifier() else f'"{design.response}"'
    yield Words(
        f"How does {response}, in {len(fit.levels)} ordered levels ({levels}), depend on the columns of this formula?"
    )
    yield Code(design.formula)
    recipe = design.recipe
    parts = {"nominal effects": "nominal", "scale effects": "scale", "weights": "weights", "offset": "offset"}
    given = {
        what: getattr(recipe, name, None) for what, name in {**parts, "clusters": "cluster", "rows": "subset"}.items()
    }
    told = [
        f"{what}: {value if isinstance(value, str) else 'given as values'}"
        for what, value in given.items()
        if value is not None
    ]
    if told:
        yield Words(f"With {'; '.join(told)}.")


def _ends(names: list[str]) -> list[str]:
    """All names, or the first and last of very many."""
    half = _MOST_LEVELS // 2
    return names if len(names) <= _MOST_LEVELS else [*names[:half], "...", *names[-half:]]


def _data(fit: FittedRanker) -> Iterator[Block]:
    design, sample = fit.design, fit.design.sample
    used = f"{counted(sample.n, 'row')} of {design.n_given} are used"
    lost = ", ".join(f"{name} ({n})" for name, n in design.dropped.items())
    weighted = "; counts and means are weighted" if sample.weights is not None else ""
    yield Words(f"{used}{f'; left out for missing values or weights of 0: {lost}' if lost else ''}{weighted}.")
    yield _single(_level_table(fit))
    if sample.X.shape[1] == len(design.names) and design.names and not fit.method.pairwise:
        yield _single(_column_table(design.names, sample))


def _level_table(fit: FittedRanker) -> Table:
    sample = fit.design.sample
    counts = np.bincount(sample.y, weights=sample.case_weights, minlength=sample.n_levels)
    frame = pd.DataFrame({"rows": counts, "share": counts / counts.sum()}, index=[str(level) for level in fit.levels])
    frame = frame.rename_axis(str(fit.design.response))
    formats = {"rows": "int", "share": "percent"}
    if fractional(fit):  # weights that are no numbers of rows
        frame = frame[["share"]]
    return shortened(Table(title="Levels of the response", frame=frame, formats=formats), "the data")


def _column_table(names: tuple[str, ...], sample: Sample) -> Table:
    """Means, standard deviations and ends of the columns that a formula made."""
    X, w = sample.X, sample.case_weights
    mean = w @ X / w.sum()
    spread = [np.sqrt(w @ (x - m) ** 2 / w.sum()) for x, m in zip(X.T, mean, strict=True)]
    columns = {"mean": mean, "SD": spread, "min": X.min(axis=0), "max": X.max(axis=0)}
    note = "A column such as f[T.b] is 1 where f is b, else 0: its mean is a share."
    table = Table(
        title="Columns of the model",
        frame=pd.DataFrame(columns, index=list(names)),
        formats=dict.fromkeys(columns, "g"),
        note=note if any("[" in name for name in names) else "",
    )
    return shortened(table, "fit.design")


def _single(table: Table) -> Report:
    return Report(title=table.title, header=(), tables=(replace(table, title=""),))


def _references(fit: FittedRanker) -> list[str]:
    """The papers of the method, and the package."""
    return [*fit.method.papers, f"ordstat: Ordinal regression. Version {_version('ordstat')}."]


def _versions() -> Iterator[tuple[str, str]]:
    yield "Python", f"{platform.python_version()} ({platform.system()})"
    yield from ((name, _version(name)) for name in _PACKAGES)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
