"""Importance of the variables, by permutations or by the gain of trees and rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..checks import whole
from ..exceptions import DataError
from . import style
from .drawn import DrawnRanker
from .words import in_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 0.21  # inches of a bar, and of every line of its name
_LETTERS = 34  # of a line of a name


def importance_data(
    results: DrawnRanker,
    *,
    kind: str | None = None,
    newdata: Any = None,
    top: int | None = None,
    measure: str = "absolute error",
    repeats: int = 10,
    seed: int | np.random.Generator = 0,
    weights: Any = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Importance of the variables, from `fit.importance`.

    Returns
    -------
    pandas.DataFrame
        Columns variable (kind="gain": column), importance, std_error, lower, upper (NaN of kind="gain"), most important
        first.
    """
    options: dict[str, Any] = {"measure": measure, "repeats": repeats, "seed": seed, "weights": weights, "level": level}
    found = results.importance(kind, newdata, **options)
    table = pd.DataFrame(found).reindex(columns=["importance", "std_error", "lower", "upper"]).reset_index()
    return table if top is None else table.head(whole("top", top, 1))


def importance(
    results: DrawnRanker,
    ax: Axes | None = None,
    *,
    kind: str | None = None,
    newdata: Any = None,
    top: int | None = None,
    measure: str = "absolute error",
    repeats: int = 10,
    seed: int | np.random.Generator = 0,
    weights: Any = None,
    level: float = 0.95,
) -> Axes:
    """Importance of the variables as bars, with limits over the permutations.

    Parameters
    ----------
    ax : matplotlib axes, optional
    kind : {"permutation", "gain", "conditional"}, optional
        As in `fit.importance`: "gain", of columns, where a method adds up trees or rounds, else "permutation".
    newdata : data frame, optional
        Rows to judge by, with the response.
    top : int, optional
        Variables to draw, the most important ones; all if not given.
    measure, repeats, seed, weights, level
        As in `fit.importance`.
    """
    options: dict[str, Any] = {"measure": measure, "repeats": repeats, "seed": seed, "weights": weights, "level": level}
    data = importance_data(results, kind=kind, newdata=newdata, top=top, **options)
    return bars(ax, data, _axis(data, measure, level))


def bars(ax: Axes | None, data: pd.DataFrame, label: str) -> Axes:
    """A bar for every row, named by the first column, with limits where there are some.

    Parameters
    ----------
    ax : matplotlib axes, optional
    data : pandas.DataFrame
        A column of names, importance and, where there are limits, lower and upper.
    label : str
        What the bars measure.
    """
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


def _axis(data: pd.DataFrame, measure: str, level: float) -> str:
    """What the bars measure."""
    if data.columns[0] == "column":
        return "share of what the trees or rounds gain"
    told = f"{measure}: change when permuted"
    return told if data["lower"].isna().all() else f"{told}, with {100 * level:g} % limits"
