"""Likert chart: diverging stacked bars of answers [Robbins & Heiberger 2011]."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import FloatArray
from . import style
from .style import Sheet, in_lines, shortened_middle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BAR = 0.74  # share of a row
_TALLEST_ROW = 0.5  # inches
_GAP = 1.1  # rows between two items with groups
_LINE = 0.21  # inches of a line of words


def likert(
    sheet: Sheet,
    shares: FloatArray,
    n: FloatArray,
    levels: Sequence[Any],
    names: Sequence[str],
    headings: Sequence[str],
) -> Axes:
    """A bar for each row: lower levels left of the middle, higher levels right, half of
    a middle level on each side.

    Parameters
    ----------
    shares : (n, K) shares of the levels in each row; NaN without answers
    n : (n,) answers in each row
    levels : sequence of K labels, lowest first
    names : sequence of n names of the rows
    headings : sequence of n headings, each written once, above its rows
    """
    K = len(levels)
    new = np.array(
        [False] + [heading != next_ for heading, next_ in pairwise(headings)]
    )
    heights = -(np.arange(new.size) + _GAP * np.cumsum(new))
    labels = [
        in_lines(f"{sheet.name(name)} (n = {size:.6g})", 30)
        for name, size in zip(names, n, strict=True)
    ]
    key = [in_lines(sheet.name(level), 20) for level in levels]
    rows, entries = (
        sum(text.count("\n") + 1 for text in texts) for texts in (labels, key)
    )
    ax = sheet.axes(
        height=max(1.24 - 0.34 * heights[-1], 0.9 + _LINE * rows, 0.3 + _LINE * entries)
    )
    colours = style.level_colours(K)
    middle = shares[:, : K // 2].sum(axis=1) + (
        0.5 * shares[:, K // 2] if K % 2 else 0.0
    )
    left = np.cumsum(shares, axis=1) - shares - middle[:, None]
    for k, colour in enumerate(colours):
        ax.barh(
            heights,
            shares[:, k],
            _BAR,
            left[:, k],
            color=colour,
            edgecolor=tuple(style.paper()),
            linewidth=0.8,
        )
    # behind the bars: it would cross numbers
    ax.axvline(0.0, color=style.ink(), linewidth=0.8, zorder=0.5)
    reach = 1.04 * float(
        np.nanmax(
            np.abs(np.column_stack([left[:, 0], left[:, -1] + shares[:, -1]])),
            initial=0.01,
        )
    )
    ax.set_xlim(-reach, reach)
    ax.set_yticks(list(heights), labels)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    for i, heading in enumerate(headings):
        if heading and (i == 0 or new[i]):
            looks: dict[str, Any] = {"va": "bottom", "fontweight": "bold"}
            words = shortened_middle(sheet.name(heading), 70)
            style.note(
                ax,
                words,
                (0.0, heights[i] + 0.5),
                (0, 0),
                ax.get_yaxis_transform(),
                **looks,
            )
    style.level_key(ax, key, colours)
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * abs(value):.0f}%")
    halves = (
        f", half of {shortened_middle(sheet.name(levels[K // 2]), 24)!r} on each side"
        if K % 2
        else ""
    )
    style.named(ax, f"share of answers{halves}")
    low = heights[-1] - 0.6
    high = 1.1 if headings[0] else 0.6
    # keeps the bars of few rows thin
    spare = max(0.0, style.inches(ax)[1] / _TALLEST_ROW - (high - low)) / 2.0
    ax.set_ylim(low - spare, high + spare)
    room = 2.6 * 0.62 * style.SMALL / 72.0 / style.inches(ax)[0] * 2.0 * reach
    for i, k in np.argwhere(shares >= room):
        looks = {"fontsize": style.SMALL - 1.0, "color": style.text_colour(colours[k])}
        style.text(
            ax,
            left[i, k] + 0.5 * shares[i, k],
            heights[i],
            f"{100 * shares[i, k]:.0f}",
            **looks,
        )
    return ax
