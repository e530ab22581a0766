"""Probabilities of levels over time, as stacked areas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import style
from .style import Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Most panels in a row.
_ACROSS = 3
_HEIGHT = 3.2
_WIDTH = 3.1
#: Inches of the names of the levels beside the last panel.
_KEY = 1.3


def draw_occupancy(sheet: Sheet, occupancy: Any) -> list[Axes]:
    """A panel for each group, the lowest level at the bottom."""
    groups = occupancy.groups
    across = min(len(groups), _ACROSS)
    width = max(_WIDTH * across, 4.2) + _KEY
    axes = sheet.panels(len(groups), across, _HEIGHT, width)
    colours = style.area_colours(len(occupancy.levels))
    edge: dict[str, Any] = {"edgecolor": tuple(style.paper()), "linewidth": 0.5}
    times = occupancy.times
    for place, (ax, name) in enumerate(zip(axes, groups, strict=True)):
        shares = occupancy.estimates[place].T
        if times.size > 1:
            ax.stackplot(times, shares, colors=colours, **edge)
            ax.set_xlim(times[0], times[-1])
        else:
            tops = np.cumsum(shares[:, 0])
            ax.bar(
                np.repeat(times, len(shares)),
                shares[:, 0],
                bottom=tops - shares[:, 0],
                color=colours,
                **edge,
            )
        ax.set_ylim(0.0, 1.0)
        y = "probability" if place % across == 0 else ""
        style.named(ax, sheet.name(occupancy.time), y, sheet.name(name))
    levels = [sheet.name(level) for level in occupancy.levels]
    style.panel_key(axes, levels, colours, sheet.given)
    return axes
