"""Intervals of several methods, one row a method."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .._typing import FloatArray
from . import style
from .words import shortened_middle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 0.3  # inches
_LINE = 0.15  # inches of a line of a name
_WIDE = 34  # letters of a name on one line
_MOST_MARKS = 200  # folds that are drawn one by one


def compared(data: pd.DataFrame, folds: Mapping[str, FloatArray], what: str, ax: Axes | None = None) -> Axes:
    """Dots and intervals, the first row on top; folds as faint marks below each.

    Parameters
    ----------
    data : pandas.DataFrame
        Columns mean, lower, upper; the index names the rows.
    folds : mapping of str to (J,) values
    what : str
        Name of the x axis.
    ax : matplotlib axes, optional
    """
    lines = sum(len(textwrap.wrap(str(name), _WIDE)) for name in data.index)
    ax = style.axes(ax, height=max(1.6, 0.9 + _ROW * len(data) + 0.12 * (lines - len(data))))
    places = -np.arange(len(data), dtype=np.float64)
    for place, label in zip(places, data.index, strict=True):
        marks = folds[label][np.isfinite(folds[label])]
        if marks.size <= _MOST_MARKS:
            ax.plot(marks, np.full(marks.size, place - 0.24), "|", color=style.MUTED, markersize=4, zorder=2)
    known = np.isfinite(data["mean"].to_numpy())
    ax.hlines(places[known], data["lower"][known], data["upper"][known], color=style.RIGHT, linewidth=1.6, zorder=3)
    ax.scatter(data["mean"][known], places[known], color=style.RIGHT, s=28, zorder=4)
    _tell_missing(ax, places[~known], data["mean"].to_numpy()[~known])
    if what.startswith("difference"):
        ax.axvline(0.0, color=style.INK, linewidth=0.8, zorder=1)
    ax.grid(axis="x", color=style.FAINT, linewidth=0.6)
    ax.set_ylim(places.min() - 0.7, 0.7)
    style.row_labels(ax, list(places), _names(ax, [str(name) for name in data.index]))
    return style.named(ax, textwrap.fill(what, 70))


def _names(ax: Axes, names: Sequence[str]) -> list[str]:
    """Names in as many lines as there is room for, the middle left out of those that need more."""
    most = max(1, int(style.inches(ax)[1] / (_LINE * (len(names) + 0.4))))
    return ["\n".join(_lines(name, most)) for name in names]


def _lines(name: str, most: int) -> list[str]:
    letters = most * _WIDE
    while len(found := textwrap.wrap(shortened_middle(name, letters), _WIDE)) > most:
        letters -= 1
    return found


def _tell_missing(ax: Axes, places: FloatArray, means: FloatArray) -> None:
    for place, mean in zip(places, means, strict=True):
        told = "infinite" if np.isinf(mean) else "no value"
        style.note(ax, told, (0.02, place), (0, 0), ax.get_yaxis_transform(), color=style.MUTED)
