"""Coefficients of an elastic net along lambda, and the scores of its
cross-validation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from . import style
from .style import Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Most names of coefficients at the end of their lines.
_NAMED = 8
_AXIS = "lambda, log scale"


def path_frame(results: Any) -> pd.DataFrame:
    """Standardised coefficients by lambda: lambda, name, value."""
    wide = results.path_coef[list(results.coef.dropna().index)]
    deviations = results.column_deviations[wide.columns]
    long = (wide * deviations).reset_index()
    frame: pd.DataFrame = long.melt("lambda", var_name="name", value_name="value")
    return frame


def draw_path(sheet: Sheet, data: pd.DataFrame, results: Any) -> Axes:
    ax = sheet.axes(height=3.6)
    lines = {str(name): line for name, line in data.groupby("name", sort=False)}
    ends = {name: float(line["value"].iloc[-1]) for name, line in lines.items()}
    named = sorted(ends, key=lambda name: -abs(ends[name]))[:_NAMED]
    colours = dict(zip(named, style.level_colours(max(len(named), 2)), strict=False))
    last = float(data["lambda"].min())
    for name, line in lines.items():
        colour = colours.get(name, style.MUTED)
        ax.plot(line["lambda"], line["value"], color=colour, linewidth=1.2)
        if name in named and ends[name]:
            place = (last, ends[name])
            style.note(ax, name, place, (4, 0), ha="left", va="center", color=colour)
    ax.axhline(0.0, color=style.MUTED, linewidth=0.8)
    style.named(ax, _AXIS, "coefficient x standard deviation", "Path")
    _mark(ax, results)
    return ax


def cv_frame(results: Any) -> pd.DataFrame:
    """Cross-validated scores by lambda: lambda, mean, lower and upper (one standard
    error to either side), nonzero.
    """
    results.cv_scores  # noqa: B018  refused without cross-validation
    path = results.path
    mean = path["cv_mean"]
    return pd.DataFrame(
        {
            "lambda": path["lambda"],
            "mean": mean,
            "lower": mean - path["cv_error"],
            "upper": mean + path["cv_error"],
            "nonzero": path["nonzero"],
        }
    )


def draw_cv(sheet: Sheet, data: pd.DataFrame, results: Any, score: str) -> Axes:
    ax = sheet.axes(height=3.4)
    x = data["lambda"]
    ax.vlines(x, data["lower"], data["upper"], color=style.MUTED, linewidth=0.8)
    ax.plot(x, data["mean"], color=style.RIGHT, marker="o", markersize=2.5, linewidth=0)
    style.named(ax, _AXIS, f"cross-validated {score}", "Cross-validation")
    _mark(ax, results)
    return ax


def _mark(ax: Axes, results: Any) -> None:
    """Lambda falling from left to right, and the lambda of the fit."""
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    ax.set_xlim(max(low, high), min(low, high))
    dashes = (0, (4, 3))
    ax.axvline(results.lambda_, color=style.MUTED, linewidth=0.8, linestyle=dashes)
    words = f"{np.format_float_positional(results.lambda_, 3, fractional=False)}"
    style.note(
        ax,
        f"this fit: {words}",
        (results.lambda_, 1.0),
        (-4, -2),
        ax.get_xaxis_transform(),
        ha="right",
        va="top",
    )
