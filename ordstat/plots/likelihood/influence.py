"""What every row, or every group, does to the estimates: stems in their order, the largest by name."""

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
_NAMED = 40  # groups up to which each has its name
_THIN = 150  # stems from which they are thinner


def influence_frame(results: Any, of: str, group: str | None, refit: bool | None) -> pd.DataFrame:
    """Influence in the order of the rows of the fit, or of the groups of a fit with random effects."""
    found = results.influence(group, refit)
    one_of("of", of, (_COOKS, *map(str, found.dfbetas)))
    values = found.cooks if of == _COOKS else found.dfbetas[of]
    name = _COOKS if of == _COOKS else "dfbetas"
    return pd.DataFrame({"row": found.cooks.index.to_numpy(), name: values.to_numpy()})


def draw_influence(results: Any, data: pd.DataFrame, of: str, ax: Axes | None, top: int) -> Axes:
    whole("top", top, 0)
    words = _axis(results, of)
    if results.fit.marginal is not None and len(data) <= _NAMED:
        return _groups(style.axes(ax, height=0.9 + 0.2 * len(data)), data, words)
    values = data.iloc[:, 1].to_numpy(dtype=np.float64)
    places, known = np.arange(1, len(data) + 1), np.isfinite(values)
    order = np.argsort(-np.abs(np.nan_to_num(values)), kind="stable")[:top]
    ax = style.axes(ax, height=3.4)
    ax.vlines(places[known], 0.0, values[known], color=style.MUTED, linewidth=1.2 if len(data) <= _THIN else 0.6)
    ax.axhline(0.0, color=style.INK, linewidth=0.8)
    ax.plot(places[order], values[order], "o", color=style.WRONG, markersize=4.5, linestyle="none")
    ax.set_xlim(0.2, len(data) + 0.8)
    _name_largest(ax, data["row"].to_numpy()[order], places[order], values[order])
    mixed = results.fit.marginal is not None
    return style.named(ax, "group, in their order" if mixed else "row, in the order of the data", words)


def _groups(ax: Axes, data: pd.DataFrame, words: str) -> Axes:
    """Few groups, all by name, one below the other."""
    values, places = data.iloc[:, 1].to_numpy(dtype=np.float64), -np.arange(len(data), dtype=np.float64)
    ax.hlines(places, 0.0, values, color=style.MUTED, linewidth=1.2)
    ax.plot(values, places, "o", color=style.WRONG, markersize=4.5, linestyle="none")
    ax.axvline(0.0, color=style.INK, linewidth=0.8)
    ax.set_ylim(places[-1] - 0.6, 0.6)
    style.row_labels(ax, list(places), [str(name) for name in data["row"]])
    style.few_ticks(ax)
    return style.named(ax, words)


def _axis(results: Any, of: str) -> str:
    if of == _COOKS:
        return "Cook's distance"
    tidy = results.tidy()
    kinds = dict(zip(tidy["term"], tidy["coef_type"], strict=True))
    return f"{term_label(kinds.get(of, ''), of)}: change of the estimate, in standard errors"


def _name_largest(ax: Axes, names: Any, places: Any, values: Any) -> None:
    """Names beside the ends of their stems, kept apart."""
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.06 * (high - low))
    gap = 1.2 * style.SMALL / 72.0 / style.inches(ax)[1] * (high - low)
    apart = style.keep_apart(values, gap)
    for name, place, value, height in zip(names, places, values, apart, strict=True):
        right = place <= np.mean(ax.get_xlim())
        words = shortened_middle(str(name), _LONGEST).replace("$", r"\$")
        ax.annotate(
            words,
            (place, value),
            (8 if right else -8, (height - value) / gap * 1.2 * style.SMALL),
            textcoords="offset points",
            ha="left" if right else "right",
            va="center",
            color=style.INK,
            fontsize=style.SMALL,
            arrowprops={"arrowstyle": "-", "color": style.MUTED, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2},
        )
