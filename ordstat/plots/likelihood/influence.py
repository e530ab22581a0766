"""What every row does to the estimates: stems in their order, the largest by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ...checks import one_of, whole
from .. import style
from ..words import shortened_middle
from .forest import term_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COOKS = "cooks"
_LONGEST = 24  # letters of a name
_THIN = 150  # stems from which they are thinner


def influence_frame(results: Any, of: str) -> pd.DataFrame:
    """Influence in the order of the rows of the fit."""
    found = results.influence()
    one_of("of", of, (_COOKS, *map(str, found.dfbetas)))
    values = {_COOKS: found.cooks.to_numpy()} if of == _COOKS else {"dfbetas": found.dfbetas[of].to_numpy()}
    return pd.DataFrame({"row": found.cooks.index.to_numpy(), **values})


def draw_influence(results: Any, data: pd.DataFrame, of: str, ax: Axes | None, top: int) -> Axes:
    whole("top", top, 0)
    values = data.iloc[:, 1].to_numpy(dtype=np.float64)
    places, finite = np.arange(1, len(data) + 1), np.isfinite(values)
    ax = style.axes(ax, height=3.4)
    ax.vlines(places[finite], 0.0, values[finite], color=style.MUTED, linewidth=1.2 if len(data) <= _THIN else 0.6)
    ax.axhline(0.0, color=style.INK, linewidth=0.8)
    ax.set_xlim(0.2, len(data) + 0.8)
    largest = np.argsort(-np.abs(np.nan_to_num(values)), kind="stable")[:top]
    ax.plot(places[largest], values[largest], "o", color=style.WRONG, markersize=4.5, linestyle="none")
    _name_largest(ax, data["row"].to_numpy()[largest], places[largest], values[largest])
    words = "Cook's distance"
    if of != _COOKS:
        kinds = results.tidy().set_index("term")["coef_type"]
        words = f"{term_label(kinds.get(of, ''), of)}: change of the estimate, in standard errors"
    return style.named(ax, "row, in the order of the data", words)


def _name_largest(ax: Axes, names: Any, places: Any, values: Any) -> None:
    """Names beside the ends of their stems, kept apart."""
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.06 * (high - low))
    points = 1.2 * style.SMALL
    gap = points / 72.0 / style.inches(ax)[1] * (high - low)
    middle = np.mean(ax.get_xlim())
    line = {"arrowstyle": "-", "color": style.MUTED, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2}
    for name, place, value, height in zip(names, places, values, style.keep_apart(values, gap), strict=True):
        words = shortened_middle(str(name), _LONGEST).replace("$", r"\$")
        side = 8 if place <= middle else -8
        offset = (side, (height - value) / gap * points)
        style.note(ax, words, (place, value), offset, ha="left" if side > 0 else "right", arrowprops=line)
