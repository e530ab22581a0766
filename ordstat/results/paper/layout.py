"""How a table of models is shown, and its cells as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from ..._typing import FloatArray
from ..report.cells import MISSING, column_cells, decimals_of, short_p_value
from ..report.export.html import html
from ..report.grid import Grid, grid_text
from ..report.noted import NotedFrame
from .column import VALUES
from .labels import FIGURES

#: P-values below which an estimate has one, two and three stars.
STARS = (0.05, 0.01, 0.001)
#: Part of the rows that are figures of whole fits.
FIT = "fit"
_WIDTH = 80
#: That a threshold is 0 is no hypothesis of interest, and that a standard deviation is has another test.
_UNTESTED = ("threshold", "sd", "cor")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How a table of models is shown.

    Attributes
    ----------
    heads : tuple of tuple of str
        Lines of the head, a text for every model.
    labels : mapping of (part, term) to str
    headings : mapping of part to str
        What stands above the rows of a part.
    models : mapping of (part, term) to set of int
        The models that have a parameter.
    ratios : mapping of part to set of int
        The models whose estimates are exponents there.
    with_errors : set of int
        The models that have standard errors.
    below : str or None
        What stands below an estimate.
    stars : bool
    digits : int or None
    """

    heads: tuple[tuple[str, ...], ...]
    labels: Mapping[tuple[str, str], str]
    headings: Mapping[str, str]
    models: Mapping[tuple[str, str], frozenset[int]]
    ratios: Mapping[str, frozenset[int]]
    with_errors: frozenset[int]
    below: str | None
    stars: bool
    digits: int | None


class ModelTable(NotedFrame):
    """Models side by side: numbers by part, term and value, a column for every model; printed as papers have them.

    With other rows or columns than it was made with, it prints as any table of numbers does.
    """

    _metadata: ClassVar[list[str]] = ["layout"]  # of pandas: an attribute that pickles
    layout: Layout

    def grids(self, digits: int | None = None) -> Sequence[Grid]:
        """The table as text.

        Parameters
        ----------
        digits : int, optional
        """
        if not self._as_made():
            return super().grids(digits)
        layout = self.layout
        rows: list[tuple[str, ...]] = []
        rules: set[int] = set()
        for heading, lines in groupby(_lines(pd.DataFrame(self), layout, digits), key=lambda line: line[0]):
            rules |= {len(rows)} if rows else set()
            rows += [(heading, *[""] * self.shape[1])] if heading not in ("", FIT) else []
            rows += [cells for _, cells in lines]
        heads = tuple(("", *head) for head in layout.heads)
        told = {"title": self.attrs["title"], "notes": tuple(self.attrs["notes"]), "rules": frozenset(rules)}
        return [Grid(heads=heads, rows=tuple(rows), align="l" + "c" * self.shape[1], n_labels=1, **told)]

    def __repr__(self) -> str:
        return grid_text(self.grids()[0], _WIDTH) if self._as_made() else super().__repr__()

    def _repr_html_(self) -> str:
        return html(self.grids()[0]) if self._as_made() else super()._repr_html_()

    def _as_made(self) -> bool:
        """Whether rows and columns are still those that the layout tells of."""
        rows = [
            (part, term, value)
            for part, term in self.layout.labels
            for value in (("value",) if part == FIT else VALUES)
        ]
        return [*self.columns] == [*self.layout.heads[-1]] and [*self.index] == rows


def _lines(frame: pd.DataFrame, layout: Layout, digits: int | None) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Lines of cells, each after the heading it stands under."""
    index = list(frame.index)
    for (part, term), places in groupby(range(len(index)), key=lambda i: index[i][:2]):
        values = frame.iloc[list(places)]
        values.index = values.index.get_level_values("value")
        label = layout.labels[part, term]
        if part == FIT:
            yield FIT, (label, *_figure(term, values.iloc[0]))
            continue
        estimates, below = _parameter((part, term), values, layout, layout.digits if digits is None else digits)
        heading = layout.headings[part]
        yield heading, (label, *estimates)
        if any(below):
            yield heading, ("", *below)


def _figure(name: str, values: pd.Series) -> list[str]:
    whole = bool((values.dropna() % 1 == 0).all())
    spec = FIGURES[name][1] if name in FIGURES else "int" if whole else "g"
    return ["" if text == MISSING else text for text in column_cells(values, spec)]


def _parameter(
    row: tuple[str, str], values: pd.DataFrame, layout: Layout, digits: int | None
) -> tuple[list[str], list[str]]:
    """Estimates of one parameter by the models, and what stands below them."""
    numbers = values.to_numpy(dtype=np.float64)
    there, ratios = layout.models[row], layout.ratios.get(row[0], frozenset())
    estimates, below = [""] * numbers.shape[1], [""] * numbers.shape[1]
    for alike in (there - ratios, there & ratios):
        places = sorted(alike)
        spec = _spec(numbers[:, places], bool(alike & ratios), digits)
        for j in places:
            found = dict(zip(values.index, numbers[:, j], strict=True))
            estimates[j] = _shown(found["estimate"], spec) + _stars(row[0], found["p_value"], layout)
            below[j] = _below(row[0], found, spec, layout)
    return estimates, below


def _spec(numbers: FloatArray, ratios: bool, digits: int | None) -> str:
    """The format of the numbers of a row, whose decimals show their standard errors where one model has some."""
    if digits is not None:
        return f".{digits}f"
    estimates, errors = numbers[:2]
    return decimals_of(estimates if np.isnan(errors).all() else errors, 2 if ratios else 3)


def _shown(number: float, spec: str) -> str:
    return column_cells(pd.Series([number]), spec)[0].replace("inf", "∞")


def _stars(part: str, p: float, layout: Layout) -> str:
    """Stars of an effect."""
    return "*" * sum(p < level for level in STARS) if layout.stars and part not in _UNTESTED else ""


def _below(part: str, found: Mapping[Any, float], spec: str, layout: Layout) -> str:
    if np.isnan(found["std_error"]):
        return ""
    if layout.below == "std_error":
        return f"({_shown(found['std_error'], spec)})"
    if layout.below == "interval":
        return f"[{_shown(found['lower'], spec)}, {_shown(found['upper'], spec)}]"
    return "" if layout.below is None or part in _UNTESTED else f"({short_p_value(found['p_value'])})"
