"""Reliability curves: shares that were observed against probabilities that were predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from .drawn import DrawnRanker


def reliability_data(
    results: DrawnRanker, *, newdata: Any = None, by: str = "split", bins: int = 10, level: float = 0.95
) -> pd.DataFrame:
    """Columns split (or level), bin, predicted, observed, lower, upper, weight."""
    return results.reliability(newdata, by=by, bins=bins, level=level)


def reliability(
    results: DrawnRanker,
    ax: Axes | None = None,
    *,
    newdata: Any = None,
    by: str = "split",
    bins: int = 10,
    level: float = 0.95,
) -> Axes:
    """Observed shares against predicted probabilities, with Wilson limits: on the diagonal where these are right.

    Parameters
    ----------
    ax : matplotlib axes, optional
    newdata : data frame, optional
        With the response; the rows of the fit (cross-fitted, if it is calibrated) if not given.
    by : {"split", "level"}
        A curve a threshold, of P(response <= low), or a level, of P(response = level).
    bins : int
        Most bins, of about equal weight.
    level : float in (0, 1)
        Confidence level of the limits.

    Raises
    ------
    OptionError
        The fit has no probabilities.
    """
    data = reliability_data(results, newdata=newdata, by=by, bins=bins, level=level)
    curves = list(data[by].cat.categories)
    longest = max(len(str(name)) for name in curves)
    ax = style.axes(ax, height=4.6, width=4.9 + 0.075 * min(longest, 60))
    ax.plot([0.0, 1.0], [0.0, 1.0], color=style.MUTED, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
    colours = style.level_colours(len(curves))
    for name, colour in zip(curves, colours, strict=True):
        curve = data[data[by] == name]
        x, y = curve["predicted"].to_numpy(), curve["observed"].to_numpy()
        ends = np.vstack([y - curve["lower"].to_numpy(), curve["upper"].to_numpy() - y])
        ax.errorbar(x, y, yerr=np.maximum(ends, 0.0), fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.45, zorder=2)
        ax.plot(x, y, color=colour, linewidth=1.3, marker="o", markersize=4.0, zorder=3)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal", adjustable="box")
    style.level_key(ax, curves, colours)
    what = "at or below each threshold" if by == "split" else "of each level"
    cross_fitted = newdata is None and results.fit.calibration is not None
    title = f"{results.design.response}: {what}{', cross-fitted' if cross_fitted else ''}"
    return style.named(ax, "predicted probability", "observed share", title)
