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
#: Height of a line of small text in inches.
_LINE = 0.15


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
    labelled = [name for name in named if ends[name]]
    low, high = ax.get_ylim()
    gap = _LINE * (high - low) / style.inches(ax)[1]
    places = style.keep_apart([ends[name] for name in labelled], gap)
    for name, y in zip(labelled, places, strict=True):
        style.note(ax, name, (last, y), (4, 0), ha="left", color=colours[name])
    ax.axhline(0.0, color=style.MUTED, linewidth=0.8)
    style.named(ax, _AXIS, "coefficient x standard deviation", _title("Path", results))
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
    title = _title("Cross-validation", results)
    style.named(ax, _AXIS, f"cross-validated {score}", title)
    _mark(ax, results)
    return ax


def _mark(ax: Axes, results: Any) -> None:
    """Lambda falling from left to right, and a line at the lambda of the fit."""
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    ax.set_xlim(max(low, high), min(low, high))
    dashes = (0, (4, 3))
    ax.axvline(results.lambda_, color=style.MUTED, linewidth=0.8, linestyle=dashes)


def _title(kind: str, results: Any) -> str:
    """The title of a picture in which the lambda of the fit is marked."""
    words = np.format_float_positional(results.lambda_, 3, fractional=False)
    return f"{kind}; dashed: lambda of this fit, {words}"
