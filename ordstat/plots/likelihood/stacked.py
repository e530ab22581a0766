"""Probabilities of the levels over a variable, on top of each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import style
from ..drawn import not_taken
from ..variables import factor_axis, numeric
from .effects import effects_data, probability_words

if TYPE_CHECKING:
    from ..drawn import Axes, DrawnLikelihood


def stacked_data(
    results: DrawnLikelihood,
    variable: str,
    *,
    values: Sequence[Any] | None = None,
    at: Mapping[str, Any] | None = None,
    data: Any = None,
    re: str | None = None,
) -> pd.DataFrame:
    """Estimates of `effects_data` and their running sums.

    Returns
    -------
    pandas.DataFrame
        Columns of the variable, level, estimate, cumulative (P(response <= level)).
    """
    not_taken([variable], ("cumulative",))
    frame = effects_data(results, variable, values=values, at=at, data=data, re=re)[[variable, "level", "estimate"]]
    K = len(results.levels)
    return frame.assign(cumulative=np.cumsum(frame["estimate"].to_numpy().reshape(-1, K), axis=1).ravel())


def stacked(
    results: DrawnLikelihood,
    variable: str,
    ax: Axes | None = None,
    *,
    values: Sequence[Any] | None = None,
    at: Mapping[str, Any] | None = None,
    data: Any = None,
    re: str | None = None,
) -> Axes:
    """Probabilities of the levels over a variable on top of each other, the lowest level at the bottom.

    Parameters as in `effects`.
    """
    table = stacked_data(results, variable, values=values, at=at, data=data, re=re)
    ax = style.axes(ax, height=4.0)
    K = len(results.levels)
    colours = style.level_colours(K)
    shares = table["estimate"].to_numpy().reshape(-1, K).T
    tops = table["cumulative"].to_numpy().reshape(-1, K).T
    places = table[variable].iloc[::K]
    if numeric(results, variable, table):
        ax.stackplot(places.to_numpy(dtype=np.float64), shares, colors=colours, edgecolor="white", linewidth=_edge(K))
        ax.set_xlim(places.min(), places.max())
    else:
        _bars(ax, shares, tops, colours)
        factor_axis(ax, places)
    ax.set_ylim(0.0, 1.0)
    style.named(ax, variable, probability_words(results, re))
    middles = list(tops[:, -1] - shares[:, -1] / 2.0)
    style.end_labels(ax, middles, [str(level) for level in results.levels], colours)
    return ax


def _edge(levels: int) -> float:
    """Width of the white lines between levels, thinner where they would drown the colours."""
    return min(0.6, 6.0 / levels)


def _bars(ax: Axes, shares: Any, tops: Any, colours: Sequence[Any]) -> None:
    places = np.arange(shares.shape[1])
    for share, top, colour in zip(shares, tops, colours, strict=True):
        ax.bar(places, share, 0.8, bottom=top - share, color=colour, edgecolor="white", linewidth=_edge(len(colours)))
        for place in np.flatnonzero(share >= 0.06):
            looks = {"color": style.text_colour(colour), "fontsize": style.SMALL - 0.5}
            style.text(ax, float(place), top[place] - share[place] / 2.0, f"{share[place]:.2f}", **looks)
