"""Intervals of several methods, one row a method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .._typing import FloatArray
from . import style
from .words import in_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 0.3  # inches
_LINE = 0.12  # inches of a further line of a name
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
    names = [str(name) for name in data.index]
    lines = sum(in_lines(name, 34).count("\n") for name in names)
    ax = style.axes(ax, height=max(1.6, 0.9 + _ROW * len(data) + _LINE * lines))
    heights = -np.arange(len(data), dtype=np.float64)
    for height, label in zip(heights, data.index, strict=True):
        marks = folds[label][np.isfinite(folds[label])]
        if marks.size <= _MOST_MARKS:
            ax.plot(marks, np.full(marks.size, height - 0.24), "|", color=style.MUTED, markersize=4, zorder=2)
    finite = np.isfinite(data["mean"].to_numpy())
    ax.hlines(heights[finite], data["lower"][finite], data["upper"][finite], color=style.RIGHT, linewidth=1.6, zorder=3)
    ax.scatter(data["mean"][finite], heights[finite], color=style.RIGHT, s=28, zorder=4)
    for height, mean in zip(heights[~finite], data["mean"][~finite], strict=True):
        words = "infinite" if np.isinf(mean) else "no value"
        style.note(ax, words, (0.02, height), (0, 0), ax.get_yaxis_transform(), color=style.MUTED)
    if what.startswith("difference"):
        ax.axvline(0.0, color=style.INK, linewidth=0.8, zorder=1)
    ax.grid(axis="x", color=style.FAINT, linewidth=0.6)
    ax.set_ylim(heights.min() - 0.7, 0.7)
    style.row_labels(ax, list(heights), names)
    return style.named(ax, what)
