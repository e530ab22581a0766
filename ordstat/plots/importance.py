"""Importance and Shapley values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..checks import whole
from ..exceptions import DataError, UnavailableError
from . import style
from .style import in_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 0.21  # inches of a bar, and of every line of its name
_LETTERS = 34  # of a line of a name


def importance_frame(results: Any, kind: str | None, newdata: Any, top: int | None, **options: Any) -> pd.DataFrame:
    """Importance of the variables, from `fit.importance`."""
    table = pd.DataFrame(results.importance(kind, newdata, **options))
    table = table.reindex(columns=["importance", "std_error", "lower", "upper"]).reset_index()
    return table if top is None else table.head(whole("top", top, 1))


def draw_importance(data: pd.DataFrame, ax: Axes | None, measure: str, level: float) -> Axes:
    if data.columns[0] == "column":
        return draw_bars(data, ax, "share of what the trees or rounds gain")
    limits = "" if data["lower"].isna().all() else f", with {100 * level:g} % limits"
    return draw_bars(data, ax, f"{measure}: change when permuted{limits}")


def draw_bars(data: pd.DataFrame, ax: Axes | None, label: str) -> Axes:
    """A bar for every row, named by the first column, with limits where there are some."""
    if data.empty:
        raise DataError("the fit has no columns to draw.")
    names = [in_lines(str(name), _LETTERS) for name in data.iloc[:, 0]]
    lines = max(name.count("\n") + 1 for name in names)
    ax = style.axes(ax, height=0.8 + _ROW * max(lines, 1.25) * len(names))
    places = -np.arange(len(names), dtype=np.float64)
    ax.barh(places, data["importance"], height=0.62, color=style.FAINT, edgecolor=style.MUTED, linewidth=0.7)
    if "lower" in data and data["lower"].notna().any():
        ax.hlines(places, data["lower"], data["upper"], colors=[style.INK], linewidth=1.4, zorder=3)
        ax.plot(data["importance"], places, "o", color=style.INK, markersize=3.5, zorder=4)
    ax.axvline(0.0, color=style.MUTED, linewidth=0.8, zorder=2)
    ax.set_ylim(places[-1] - 0.7, 0.7)
    style.row_labels(ax, list(places), names)
    return style.named(ax, label)


def shapley_frame(results: Any, newdata: Any, top: int | None) -> pd.DataFrame:
    """Mean absolute Shapley value of every variable, from `fit.shapley`."""
    if not hasattr(results, "shapley"):
        raise UnavailableError("Shapley values are available for 'ordboost' only.")
    values = pd.DataFrame(results.shapley(newdata)).drop(columns="(base)")
    inside = values.notna().all(axis=1).to_numpy()
    if not inside.any():
        raise DataError("newdata has no row with all inputs present.")
    weights = results.design.sample.case_weights if newdata is None else inside.astype(np.float64)
    mean = weights[inside] @ values[inside].abs().to_numpy() / weights[inside].sum()
    table = pd.DataFrame({"variable": values.columns.astype(str), "importance": mean})
    table = table.sort_values("importance", ascending=False, kind="stable", ignore_index=True)
    return table if top is None else table.head(whole("top", top, 1))
