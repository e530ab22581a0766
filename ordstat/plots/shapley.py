"""Mean size of the Shapley values of every variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..checks import whole
from ..exceptions import DataError
from .drawn import DrawnBoosting
from .importance import bars

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def shapley_data(results: DrawnBoosting, *, newdata: Any = None, top: int | None = None) -> pd.DataFrame:
    """Mean absolute Shapley value of every variable, from `fit.shapley`.

    Returns
    -------
    pandas.DataFrame
        Columns variable and importance (mean of |value|, over the rows of the fit by their case weights), largest
        first.
    """
    found = pd.DataFrame(results.shapley(newdata)).drop(columns="(base)")
    inside = found.notna().all(axis=1).to_numpy()
    if not inside.any():
        raise DataError("newdata has no row with all inputs present.")
    weights = results.design.sample.case_weights if newdata is None else inside.astype(np.float64)
    mean = weights[inside] @ found[inside].abs().to_numpy() / weights[inside].sum()
    table = pd.DataFrame({"variable": found.columns.astype(str), "importance": mean})
    table = table.sort_values("importance", ascending=False, kind="stable", ignore_index=True)
    return table if top is None else table.head(whole("top", top, 1))


def shapley(results: DrawnBoosting, ax: Axes | None = None, *, newdata: Any = None, top: int | None = None) -> Axes:
    """Mean absolute Shapley values of the variables as bars: how far each moves the score, on average.

    Parameters
    ----------
    ax : matplotlib axes, optional
    newdata : data frame, optional
        Rows to take the mean of; those of the fit if not given.
    top : int, optional
        Variables to draw, the most important ones; all if not given.
    """
    data = shapley_data(results, newdata=newdata, top=top)
    return bars(ax, data, "mean |Shapley value|, on the scale of the score")
