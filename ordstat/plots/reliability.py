"""Observed shares against predicted probabilities, in one frame or a panel for each threshold or level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import AnyArray
from ..exceptions import OptionError
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEW = 3  # curves that can be told apart in one frame
_MOST_PANELS = 24


def draw_reliability(
    results: Any, data: pd.DataFrame, ax: Any, by: str, facets: bool | None, own_rows: bool
) -> Axes | AnyArray:
    names = list(data[by].cat.categories)
    curves = [data[data[by] == name] for name in names]
    cross_fitted = own_rows and results.fit.calibration is not None
    what = "at or below each threshold" if by == "split" else "of each level"
    title = f"{results.design.response}: {what}{', cross-fitted' if cross_fitted else ''}"
    apart = ax is None and _FEW < len(names) <= _MOST_PANELS if facets is None else facets
    if apart:
        return _in_panels(ax, names, curves, title)
    drawn = _in_one(style.axes(ax, height=4.6, width=6.4), names, curves, title)
    if ax is None:
        drawn.set_aspect("equal", adjustable="box")
    return drawn


def _in_one(ax: Axes, names: Sequence[Any], curves: Sequence[pd.DataFrame], title: str) -> Axes:
    colours = style.level_colours(len(names))
    for curve, colour in zip(curves, colours, strict=True):
        _draw(ax, curve, colour)
    style.level_key(ax, names, colours)
    return style.named(ax, "predicted probability", "observed share", title)


def _in_panels(ax: Any, names: Sequence[Any], curves: Sequence[pd.DataFrame], title: str) -> AnyArray:
    n = len(names)
    if n > _MOST_PANELS:
        raise OptionError(f"facets must be False for more than {_MOST_PANELS} curves; there are {n}.")
    columns = style.columns_for(n)
    panels = style.panels(ax, n, columns, height=2.5, width=2.4 * columns + 0.4)
    for place, (panel, name, curve) in enumerate(zip(panels, names, curves, strict=True)):
        _draw(panel, curve, style.RIGHT)
        panel.set_aspect("equal", adjustable="box")
        below = place + columns >= n
        style.named(panel, "predicted" if below else "", "" if place % columns else "observed", str(name))
    if ax is None:
        style.headed(panels[0], title)
    return np.array(panels, dtype=object)


def _draw(ax: Axes, curve: pd.DataFrame, colour: Any) -> None:
    """One curve with its limits, and the diagonal."""
    x, y = curve["predicted"].to_numpy(), curve["observed"].to_numpy()
    ends = np.vstack([y - curve["lower"].to_numpy(), curve["upper"].to_numpy() - y])
    ax.plot([0.0, 1.0], [0.0, 1.0], color=style.MUTED, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
    ax.errorbar(x, y, yerr=np.maximum(ends, 0.0), fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.45, zorder=2)
    ax.plot(x, y, color=colour, linewidth=1.3, marker="o", markersize=4.0, zorder=3)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
