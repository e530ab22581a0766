"""The curves of smooth terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..formula.smooths import SmoothBlock, SmoothTerm
from . import style
from .style import Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HEIGHT = 2.9
_WIDTH = 3.3
#: Most rows in a rug; of more, the values at evenly spaced ranks are drawn.
_RUG = 500
#: The names of more groups are left out.
_MOST_GROUP_NAMES = 15


def draw_smooths(sheet: Sheet, data: pd.DataFrame, results: Any) -> list[Axes]:
    """A panel for each smooth: the curve, its band, and the observed values; for an
    ordered predictor or random effects a point with its confidence interval at each
    level.
    """
    names = list(dict.fromkeys(data["smooth"]))
    columns = style.columns_for(len(names))
    width = max(_WIDTH * columns, 4.2)
    panels = sheet.panels(len(names), columns, height=_HEIGHT, width=width)
    blocks = results.design.sample.smooths
    smooths = results.design.smooths
    edf = results.fit.smooths.edf
    low = float(data["lower"].min())
    high = float(data["upper"].max())
    for k, (panel, smooth, block) in enumerate(
        zip(panels, smooths, blocks, strict=True)
    ):
        curve = data[data["smooth"] == smooth.label]
        if smooth.levels:
            _levels(panel, curve, smooth)
        else:
            _curve(panel, curve)
            _rug(panel, _values_at_rows(results, smooth, block))
        panel.axhline(0.0, color=style.MUTED, linewidth=0.8, zorder=1)
        panel.set_ylim(low - 0.08 * (high - low), high + 0.04 * (high - low))
        y = "effect on the latent score" if k % columns == 0 else ""
        title = f"{sheet.name(smooth.label)}, edf\N{NO-BREAK SPACE}{edf[k]:.2f}"
        style.named(panel, sheet.name(smooth.variable), y, title)
    return panels


def _curve(ax: Axes, curve: pd.DataFrame) -> None:
    """A line and its band."""
    # objects, where another smooth has levels that are texts
    x = curve["x"].to_numpy(dtype=np.float64)
    lower = curve["lower"]
    upper = curve["upper"]
    ax.fill_between(x, lower, upper, color=style.RIGHT, alpha=0.2, linewidth=0.0)
    ax.plot(x, curve["estimate"], color=style.RIGHT)


def _levels(ax: Axes, effects: pd.DataFrame, smooth: SmoothTerm) -> None:
    """A point and its limits for each level, groups of random effects by their
    effects.
    """
    if smooth.random:
        effects = effects.sort_values("estimate")
    places = np.arange(len(effects))
    width = 0.0 if smooth.random else 0.8
    ax.vlines(places, effects["lower"], effects["upper"], colors=[style.RIGHT])
    ax.plot(places, effects["estimate"], color=style.RIGHT, marker="o", linewidth=width)
    if smooth.random and len(effects) > _MOST_GROUP_NAMES:
        ax.set_xticks([])
    else:
        style.column_labels(ax, [style.value_words(level) for level in effects["x"]])
    ax.set_xlim(-0.5, len(effects) - 0.5)


def _rug(ax: Axes, values: Any) -> None:
    """Short lines at the values of the rows."""
    if values is None:
        return
    if values.size > _RUG:
        shares = np.linspace(0.0, 1.0, _RUG)
        values = np.quantile(values, shares, method="nearest")
    values = np.unique(values)
    bottom = ax.get_xaxis_transform()
    ax.vlines(values, 0.0, 0.03, transform=bottom, colors=[style.MUTED], linewidth=0.4)


def _values_at_rows(
    r: Any, smooth: SmoothTerm, block: SmoothBlock
) -> FloatArray | None:
    """(n,) values of the variable of a smooth in the rows that it holds for; None where
    they are not at hand.
    """
    if r.design.data is None or not smooth.variable.isidentifier():
        return None
    values = np.asarray(r.design.column(smooth.variable, "a smooth").value)
    inside = r.design.sample.X[:, block.columns].any(axis=1)
    return np.asarray(values[inside], dtype=np.float64)
