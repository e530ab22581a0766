"""The effect of a column within subgroups, with numbers beside the picture."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..report.cells import count, p_in_words
from . import style
from .style import Sheet, with_limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Inches of a row, and around all rows.
_ROW = 0.26
_AROUND = 1.0
#: Rows between subgroups.
_GAP = 0.4
#: Least inches of a picture with numbers.
_ROOMY = 5.0
_NUMBERS = ["estimate", "lower", "upper"]


def draw_subgroups(sheet: Sheet, data: pd.DataFrame, quantity: str) -> Axes:
    """A row for all data, a head for each subgroup with the p-value of the interaction,
    and a row for each level.
    """
    places, heads = _places(data)
    lowest = max(places)
    ax = sheet.axes(height=_AROUND + _ROW * (lowest + 1.0), width=7.2)
    ax.set_xscale("log")
    ax.axvline(1.0, color=style.MUTED, linewidth=0.8, zorder=1)
    numbers = data[_NUMBERS].to_numpy(dtype=np.float64, copy=True)
    with np.errstate(divide="ignore"):
        drawn = np.isfinite(np.log(numbers)).all(axis=1)
    numbers[~drawn & ~np.isnan(numbers[:, 0])] = [np.inf, np.nan, np.nan]
    heights = -np.array(places)
    estimate, lower, upper = numbers[drawn].T
    style.intervals(ax, heights[drawn], estimate, (lower, upper))
    ax.set_ylim(-lowest - 0.7, 0.7)
    texts = {
        place: _row_text(sheet, row)
        for place, row in zip(places, data.itertuples(), strict=True)
    }
    right = ax.get_yaxis_transform()
    roomy = style.place_width(ax) >= _ROOMY
    if roomy:
        for y, words in zip(heights, with_limits(numbers), strict=True):
            style.note(ax, words, (1.0, y), (8, 0), right)
    for place, row in heads.items():
        texts[place] = sheet.name(data["subgroup"].iloc[row])
        p_value = data["interaction_p_value"].iloc[row]
        if roomy and np.isfinite(p_value):
            words = f"interaction {p_in_words(p_value)}"
            style.note(ax, words, (1.0, -place), (8, 0), right, fontstyle="italic")
    in_order = sorted(texts)
    names = [texts[place] for place in in_order]
    style.row_labels(ax, [-place for place in in_order], names)
    for label, place in zip(ax.get_yticklabels(), in_order, strict=False):
        if place in heads:
            label.set_fontweight("bold")
    style.plain_log_ticks(ax)
    return style.named(ax, quantity)


def _places(data: pd.DataFrame) -> tuple[list[float], dict[float, int]]:
    """The places of the rows from the top, and those of the heads of the subgroups with
    the first row of each.
    """
    places = [0.0]
    heads: dict[float, int] = {}
    for row, (before, name) in enumerate(pairwise(data["subgroup"]), start=1):
        if name != before:
            heads[places[-1] + 1.0 + _GAP] = row
            places.append(places[-1] + 2.0 + _GAP)
        else:
            places.append(places[-1] + 1.0)
    return places, heads


def _row_text(sheet: Sheet, row: Any) -> str:
    """The name of a level with the number of its rows."""
    name = sheet.name(row.level) if row.level != "" else sheet.name(row.subgroup)
    return f"{name} (n = {count(row.n)})"
