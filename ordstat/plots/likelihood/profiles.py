"""Profiles of the likelihood, one panel a parameter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ..._typing import AnyArray, FloatArray
from ...checks import fraction
from ...exceptions import DataError
from .. import style
from ..words import decimals_for
from .forest import term_label

_BEYOND = 0.2  # curves reach to the limits of this share of the chance outside


def profiles_frame(results: Any, parm: Any, level: float, points: int) -> pd.DataFrame:
    """Profiles to a little beyond their limits of that level."""
    fraction("level", level)
    frame = results.profile(parm, level=1.0 - _BEYOND * (1.0 - level), points=points)
    names = frame["parameter"]
    return pd.DataFrame(frame.assign(quadratic=(frame["value"] - names.map(results.params)) / names.map(results.se)))


def draw_profiles(results: Any, data: pd.DataFrame, parm: Any, ax: Any, level: float) -> AnyArray:
    names = list(dict.fromkeys(data["parameter"]))
    if not names:
        raise DataError("all parameters asked for are aliased: they have no profile.")
    limits = results.confint(parm, level, type="profile")
    columns = style.columns_for(len(names))
    panels = style.panels(ax, len(names), columns, height=2.4, width=2.5 * columns + 0.8)
    tidy = results.tidy()
    kinds = dict(zip(tidy["term"], tidy["coef_type"], strict=True))
    for place, (panel, name) in enumerate(zip(panels, names, strict=True)):
        _panel(panel, data[data["parameter"] == name], limits.loc[name].to_numpy(), level)
        low, high = limits.loc[name]
        title = term_label(kinds.get(name, ""), name)
        told = f"{100 * level:g} %: {_shown(low, high - low)} to {_shown(high, high - low)}"
        style.named(panel, told, "" if place % columns else "signed root deviance", title)
    return np.array(panels, dtype=object)


def _shown(end: float, width: float) -> str:
    if not np.isfinite(end):
        return "∞" if end > 0 else "−∞"
    return f"{end:z.{decimals_for(width)}f}" if np.isfinite(width) else f"{end:.2f}"


def _panel(ax: Any, data: pd.DataFrame, limits: FloatArray, level: float) -> None:
    """The curve, its approximation, and where it crosses the quantiles."""
    quantile = float(ndtri(0.5 + level / 2.0))
    data = data[np.isfinite(data["value"]) & np.isfinite(data["z"])]  # a profile may end at infinity
    z = data["z"].to_numpy()
    bottom, top = min(float(z.min()), -1.1 * quantile), max(float(z.max()), 1.1 * quantile)
    ax.axhline(0.0, color=style.FAINT, linewidth=0.8)
    for height in (-quantile, quantile):
        ax.axhline(height, color=style.MUTED, linewidth=0.8, linestyle=(0, (2, 2)))
    ax.plot(data["value"], data["quadratic"], color=style.MUTED, linewidth=1.0, linestyle=(0, (5, 3)))
    ax.plot(data["value"], z, color=style.RIGHT, linewidth=1.8)
    for end, height in zip(limits, (-quantile, quantile), strict=True):
        if np.isfinite(end):
            ax.plot([end, end], [bottom, height], color=style.WRONG, linewidth=1.0)
            ax.plot(end, height, "o", color=style.WRONG, markersize=4)
    ax.set_xlim(data["value"].min(), data["value"].max())
    ax.set_ylim(bottom, top)
    style.few_ticks(ax)
