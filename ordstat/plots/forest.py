"""Coefficients with their confidence limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..exceptions import DataError
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .drawn import DrawnLikelihood

_EFFECTS = ("nominal", "location", "scale")


def forest_data(results: DrawnLikelihood, *, exponentiate: bool = False, level: float = 0.95) -> pd.DataFrame:
    """Columns term, estimate, conf_low, conf_high, coef_type."""
    table = results.tidy(exponentiate=exponentiate, level=level)
    kept = table["coef_type"].isin(_EFFECTS) & table["estimate"].notna()
    return table.loc[kept, ["term", "estimate", "conf_low", "conf_high", "coef_type"]].reset_index(drop=True)


def forest(
    results: DrawnLikelihood, ax: Axes | None = None, *, exponentiate: bool = False, level: float = 0.95
) -> Axes:
    """Coefficients with their confidence limits.

    Parameters
    ----------
    ax : matplotlib axes, optional
    exponentiate : bool
        Odds ratios (logit), hazard ratios (cloglog) or exponents, on a logarithmic axis.
    level : float in (0, 1)
        Confidence level of the limits.
    """
    data = forest_data(results, exponentiate=exponentiate, level=level)
    n = len(data)
    if n == 0:
        raise DataError("the fit has no effects to draw: a model of thresholds alone.")
    ax = style.axes(ax, height=0.9 + 0.30 * max(n, 2))
    if exponentiate:
        ax.set_xscale("log")
    places = np.arange(n)[::-1]
    ax.axvline(1.0 if exponentiate else 0.0, color=style.MUTED, linewidth=0.8, zorder=1)
    bounded = data["conf_low"].notna() & data["conf_high"].notna()
    ax.hlines(places[bounded], data["conf_low"][bounded], data["conf_high"][bounded], color=style.RIGHT, linewidth=1.6)
    ax.plot(data["estimate"][bounded], places[bounded], "o", color=style.RIGHT, markersize=5.5, linestyle="none")
    ax.set_ylim(-0.6, n - 0.4)
    _without_limits(ax, data, places, bounded)
    style.row_labels(ax, list(places), list(data["term"]))
    for place, text in zip(places, _numbers(data), strict=True):
        style.note(ax, text, (1.0, place), (8, 0), ax.get_yaxis_transform())
    if exponentiate:
        style.plain_log_ticks(ax)
    what = "exp(coefficient)" if exponentiate else "coefficient"
    return style.named(ax, f"{what} with {100 * level:g} % limits")


def _without_limits(ax: Axes, data: pd.DataFrame, places: np.ndarray, bounded: pd.Series) -> None:
    """An infinite estimate: an arrow at the side it runs to."""
    low, high = ax.get_xlim()
    for place, value in zip(places[~bounded], data["estimate"][~bounded], strict=True):
        up = value > (1.0 if ax.get_xscale() == "log" else 0.0)
        ax.plot(high if up else low, place, ">" if up else "<", color=style.WRONG, markersize=7, clip_on=False)
    ax.set_xlim(low, high)


def _numbers(data: pd.DataFrame) -> list[str]:
    limits = zip(data["estimate"], data["conf_low"], data["conf_high"], strict=True)
    return [
        "no finite estimate" if not np.isfinite([low, high]).all() else f"{estimate:.3g}  [{low:.3g}, {high:.3g}]"
        for estimate, low, high in limits
    ]
