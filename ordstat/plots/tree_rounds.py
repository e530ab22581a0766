"""Errors of an ensemble of trees by round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from ..checks import one_of
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .drawn import DrawnTrees

_ERRORS = ("absolute", "classification", "squared")
_COLOURS = {"rows of the fit": style.MUTED, "out of bag": style.RIGHT, "new data": style.WRONG}


def rounds_data(results: DrawnTrees, *, newdata: Any = None, error: str = "absolute", every: int = 1) -> pd.DataFrame:
    """One row a round and kind of rows.

    Returns
    -------
    pandas.DataFrame
        Columns round, rows ("rows of the fit", "out of bag", "new data"), value.
    """
    one_of("error", error, _ERRORS)
    staged = results.staged_errors(newdata, every=every)
    curves = {"rows of the fit": staged[error]}
    if results.fit.out_of_bag is not None:
        curves["out of bag"] = results.out_of_bag_errors().loc[staged.index, error]
    if newdata is not None:
        curves["new data"] = staged[f"new {error}"]
    parts = [pd.DataFrame({"round": c.index, "rows": name, "value": c.to_numpy()}) for name, c in curves.items()]
    return pd.concat(parts, ignore_index=True)


def rounds(
    results: DrawnTrees, ax: Axes | None = None, *, newdata: Any = None, error: str = "absolute", every: int = 1
) -> Axes:
    """Error after every round, on the rows of the fit, out of bag where rows are drawn, and on new data.

    Parameters
    ----------
    ax : matplotlib axes, optional
    newdata : data frame, optional
        With the response.
    error : {"absolute", "classification", "squared"}
    every : int
        Only every so many rounds, and the last.
    """
    data = rounds_data(results, newdata=newdata, error=error, every=every)
    ax = style.axes(ax, height=3.6)
    curves = {str(name): curve for name, curve in data.groupby("rows", sort=False)}
    for name, curve in curves.items():
        ax.plot(curve["round"], curve["value"], color=_COLOURS[name], linewidth=1.5)
    ax.set_ylim(bottom=0.0)
    ends = [float(curve["value"].iloc[-1]) for curve in curves.values()]
    style.end_labels(ax, ends, list(curves), [_rgb(_COLOURS[name]) for name in curves])
    return style.named(ax, "round", f"mean {error} error")


def _rgb(colour: str) -> tuple[float, float, float]:
    """A colour as numbers."""
    from matplotlib.colors import to_rgb

    return to_rgb(colour)
