"""Likert chart: diverging stacked bars of answers [Robbins & Heiberger 2011]."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import AnyArray, FloatArray
from . import style
from .style import Sheet, in_lines, shortened_middle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BAR = 0.74  # share of a row
_TALLEST_ROW = 0.5  # inches
_GAP = 1.1  # rows between two items with groups
_LINE = 0.21  # inches of a line of words
_TWO_DIGITS = 0.095  # least share whose percentage has two digits
_LEAST_SHARE = 0.03  # least share with a number


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
    new = [heading != before for before, heading in pairwise(headings)]
    first = np.array([False, *new])
    heights = -(np.arange(first.size) + _GAP * np.cumsum(first))
    labels = []
    for name, size in zip(names, n, strict=True):
        labels.append(in_lines(f"{sheet.name(name)} (n = {size:.6g})", 30))
    key = [in_lines(sheet.name(level), 20) for level in levels]
    needed = [1.24 - 0.34 * heights[-1], 0.9 + _LINE * _lines(labels)]
    ax = sheet.axes(height=max(*needed, 0.3 + _LINE * _lines(key)))
    middle = shares[:, : K // 2].sum(axis=1)
    if K % 2:
        middle = middle + 0.5 * shares[:, K // 2]
    left = np.cumsum(shares, axis=1) - shares - middle[:, None]
    colours = style.diverging_colours(K)
    edge: dict[str, Any] = {"edgecolor": tuple(style.paper()), "linewidth": 0.8}
    for k, colour in enumerate(colours):
        ax.barh(heights, shares[:, k], _BAR, left[:, k], color=colour, **edge)
    # behind the bars: it would cross numbers
    ax.axvline(0.0, color=style.ink(), linewidth=0.8, zorder=0.5)
    ends = np.column_stack([left[:, 0], left[:, -1] + shares[:, -1]])
    reach = 1.04 * float(np.nanmax(np.abs(ends), initial=0.01))
    ax.set_xlim(-reach, reach)
    ax.set_yticks(list(heights), labels)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    first[0] = True
    _write_headings(ax, sheet, np.array(headings)[first], heights[first])
    style.level_key(ax, key, colours)
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * abs(value):.0f}%")
    words = "share of answers"
    if K % 2:
        name = shortened_middle(sheet.name(levels[K // 2]), 30)
        words += f", half of {name!r} on each side"
    style.named(ax, words)
    low = heights[-1] - 0.6
    high = 1.1 if headings[0] else 0.6
    # keeps the bars of few rows thin
    spare = max(0.0, style.inches(ax)[1] / _TALLEST_ROW - (high - low)) / 2.0
    ax.set_ylim(low - spare, high + spare)
    _write_percentages(ax, shares, left, heights, colours)
    return ax


def _write_headings(
    ax: Axes, sheet: Sheet, headings: AnyArray, heights: FloatArray
) -> None:
    """Headings above the rows at these heights; none where one is empty."""
    looks: dict[str, Any] = {"va": "bottom", "fontweight": "bold"}
    for heading, height in zip(headings, heights, strict=True):
        if heading:
            words = shortened_middle(sheet.name(heading), 70)
            place = (0.0, height + 0.5)
            style.note(ax, words, place, (0, 0), ax.get_yaxis_transform(), **looks)


def _write_percentages(
    ax: Axes,
    shares: FloatArray,
    left: FloatArray,
    heights: FloatArray,
    colours: Sequence[Any],
) -> None:
    """Percentages in the middle of the bars (n, K) that are wide enough for them."""
    low, high = ax.get_xlim()
    digit = 0.62 * style.SMALL / 72.0 / style.inches(ax)[0] * (high - low)
    digits = np.where(shares >= _TWO_DIGITS, 2.0, 1.0)
    fits = shares >= np.maximum((digits + 0.2) * digit, _LEAST_SHARE)
    for i, k in np.argwhere(fits):
        looks = {"fontsize": style.SMALL - 1.0, "color": style.text_colour(colours[k])}
        x = left[i, k] + 0.5 * shares[i, k]
        style.text(ax, x, heights[i], f"{100 * shares[i, k]:.0f}", **looks)


def _lines(texts: Sequence[str]) -> int:
    return sum(text.count("\n") + 1 for text in texts)
