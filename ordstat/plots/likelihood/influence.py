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
    from ..drawn import Axes, DrawnLikelihood

_COOKS = "cooks"
_LONGEST = 24  # letters of a name
_THIN = 150  # stems from which they are thinner


def influence_data(results: DrawnLikelihood, of: str = _COOKS) -> pd.DataFrame:
    """Influence in the order of the rows of the fit.

    Returns
    -------
    pandas.DataFrame
        Columns row (its label in the data) and cooks (Cook's distance), or dfbetas (what it moves the estimate by, in
        standard errors).
    """
    found = results.influence()
    one_of("of", of, (_COOKS, *map(str, found.dfbetas)))
    values = found.cooks if of == _COOKS else found.dfbetas[of]
    name = _COOKS if of == _COOKS else "dfbetas"
    return pd.DataFrame({"row": found.cooks.index.to_numpy(), name: values.to_numpy()})


def influence(results: DrawnLikelihood, of: str = _COOKS, ax: Axes | None = None, *, top: int = 5) -> Axes:
    """Cook's distance of every row, or what the row moves one estimate by.

    Parameters
    ----------
    of : str
        "cooks", or the name of a parameter: its dfbetas.
    ax : matplotlib axes, optional
    top : int
        How many of the largest have their names written.
    """
    whole("top", top, 0)
    data = influence_data(results, of)
    values = data.iloc[:, 1].to_numpy(dtype=np.float64)
    places, known = np.arange(1, len(data) + 1), np.isfinite(values)
    order = np.argsort(-np.abs(np.nan_to_num(values)), kind="stable")[:top]
    ax = style.axes(ax, height=3.4)
    ax.vlines(places[known], 0.0, values[known], color=style.MUTED, linewidth=1.2 if len(data) <= _THIN else 0.6)
    ax.axhline(0.0, color=style.INK, linewidth=0.8)
    ax.plot(places[order], values[order], "o", color=style.WRONG, markersize=4.5, linestyle="none")
    ax.set_xlim(0.2, len(data) + 0.8)
    _name_largest(ax, data["row"].to_numpy()[order], places[order], values[order])
    return style.named(ax, "row, in the order of the data", _axis(results, of))


def _axis(results: DrawnLikelihood, of: str) -> str:
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
