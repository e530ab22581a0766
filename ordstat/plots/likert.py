"""Diverging stacked bars of ordered answers: a Likert chart [Robbins & Heiberger 2011]."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import FloatArray
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BAR = 0.74  # of a row
_TALLEST_ROW = 0.5  # inches
_GAP = 1.1  # rows between two items with groups
_LINE = 0.21  # inches of a line of the key
_WIDE = 30  # letters of a name on one line
_KEY = 20  # letters of a level beside the chart on one line


def likert(
    shares: FloatArray, levels: Sequence[Any], names: Sequence[str], headings: Sequence[str], ax: Axes | None = None
) -> Axes:
    """A bar a row: lower levels left of the middle, higher ones right, half of a middle level on each side.

    Parameters
    ----------
    shares : (n, K) of the levels in each row; NaN without answers
    levels : sequence of K labels, lowest first
    names : sequence of n names of the rows
    headings : sequence of n headings; a heading is written once, above the rows that have it
    ax : matplotlib axes, optional
    """
    places = _places(headings)
    labels = [textwrap.fill(name, _WIDE) for name in names]
    key = [textwrap.fill(str(level), _KEY) for level in levels]
    ax = style.axes(
        ax, height=max(0.9 + 0.34 * (1.0 - places[-1]), 0.9 + _LINE * _lines(labels), 0.3 + _LINE * _lines(key))
    )
    colours = style.level_colours(len(levels))
    left = _left_ends(shares)
    for k, colour in enumerate(colours):
        ax.barh(places, shares[:, k], _BAR, left[:, k], color=colour, edgecolor="white", linewidth=0.8)
    ax.axvline(0.0, color=style.INK, linewidth=0.8, zorder=0.5)  # behind the bars: it would cross numbers
    reach = 1.04 * float(np.nanmax(np.abs(np.column_stack([left[:, 0], left[:, -1] + shares[:, -1]])), initial=0.01))
    ax.set_xlim(-reach, reach)
    _name_rows(ax, places, labels, headings)
    style.level_key(ax, key, colours)
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * abs(value):.0f}%")
    style.named(ax, _what(len(levels), levels))
    _set_heights(ax, places, bool(headings[0]))
    _write_shares(ax, shares, left, places, colours)
    return ax


def _lines(texts: Sequence[str]) -> int:
    return sum(text.count("\n") + 1 for text in texts)


def _what(K: int, levels: Sequence[Any]) -> str:
    middle = f", half of {textwrap.shorten(str(levels[K // 2]), 24, placeholder='...')!r} on each side" if K % 2 else ""
    return f"share of answers{middle}"


def _places(headings: Sequence[str]) -> FloatArray:
    """(n,) heights of the rows, from 0 down, with a gap where the heading changes."""
    new = np.array([0.0] + [float(one != other) for one, other in pairwise(headings)])
    return -(np.arange(new.size) + _GAP * np.cumsum(new))


def _set_heights(ax: Axes, places: FloatArray, headed: bool) -> None:
    """Room for all rows and the first heading; of few rows more, so that no bar is thick."""
    low, high = places[-1] - 0.6, 1.1 if headed else 0.6
    spare = max(0.0, style.inches(ax)[1] / _TALLEST_ROW - (high - low)) / 2.0
    ax.set_ylim(low - spare, high + spare)


def _left_ends(shares: FloatArray) -> FloatArray:
    """(n, K) where the bars of the levels begin, 0 being the middle of the levels."""
    K = shares.shape[1]
    ends = np.cumsum(shares, axis=1) - shares
    middle = shares[:, : K // 2].sum(axis=1) + (0.5 * shares[:, K // 2] if K % 2 else 0.0)
    return np.asarray(ends - middle[:, None])


def _name_rows(ax: Axes, places: FloatArray, labels: Sequence[str], headings: Sequence[str]) -> None:
    ax.set_yticks(list(places), list(labels))
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    for i, heading in enumerate(headings):
        if heading and (i == 0 or headings[i - 1] != heading):
            ax.text(
                0.0,
                places[i] + 0.5,
                textwrap.shorten(heading, 70, placeholder="..."),
                transform=ax.get_yaxis_transform(),
                va="bottom",
                color=style.INK,
                fontsize=style.SMALL,
                fontweight="bold",
            )


def _write_shares(
    ax: Axes, shares: FloatArray, left: FloatArray, places: FloatArray, colours: Sequence[Sequence[float]]
) -> None:
    """Percentages in the bars that are wide enough for them."""
    low, high = ax.get_xlim()
    room = 2.6 * 0.62 * style.SMALL / 72.0 / style.inches(ax)[0] * (high - low)
    for i, k in np.argwhere(shares >= room):
        ax.text(
            left[i, k] + 0.5 * shares[i, k],
            places[i],
            f"{100 * shares[i, k]:.0f}",
            ha="center",
            va="center",
            fontsize=style.SMALL - 1.0,
            color=style.text_colour(colours[k]),
        )
