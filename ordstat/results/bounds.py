"""Upper bounds of the expected errors of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..assess.intervals import holdout_limits
from ..exceptions import OptionError
from . import frames
from .fitted import FittedRanker


def error_bounds(fit: FittedRanker, delta: float = 0.05, newdata: Any = None, *, weights: Any = None) -> pd.DataFrame:
    """Upper bounds of expected errors that hold with probability >= 1 - delta each.

    Margin bounds from the training rows (`ordstat.assess.bounds`), of the threshold rule 1 + #{k : H > theta_k};
    and, with `newdata`, limits from rows that the fit has not seen (`ordstat.assess.intervals`): those are
    tighter by far, and of what `predict` gives.

    Parameters
    ----------
    delta : float in (0, 1)
    newdata : data frame, optional
        Independent rows not used in the fit, with the response.
    weights : str or (N,) array, optional
        Whole-number case weights of `newdata`.

    Returns
    -------
    pandas.DataFrame
        Columns value, trivial (the largest value possible), vacuous (value not below trivial), observed (the
        training error at that margin, or the error of the new data), margin (Delta), confidence, source.
        `attrs["notes"]` says why a bound is missing.

    Raises
    ------
    OptionError
        `delta` outside (0, 1), or weights that are not whole numbers.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm")
    >>> bounds = fit.bounds()
    >>> bounds.loc["absolute error", ["value", "trivial"]].astype(float).round(1).tolist()
    [8.3, 4.0]
    """
    if isinstance(delta, bool) or not isinstance(delta, (int, float, np.number)) or not 0.0 < delta < 1.0:
        raise OptionError(f"delta must lie strictly between 0 and 1; got {delta!r}.")
    found = fit.margin_bounds if delta == 0.05 else fit.margin_bounds_at(delta)
    if newdata is None:
        return frames.bound_frame(found, ())
    p = fit.new_predictions(newdata, weights)
    if not np.array_equal(p.weights, np.rint(p.weights)):
        raise OptionError("weights of newdata must be whole numbers of rows for a limit to hold.")
    distance = np.abs(p.y - p.codes).astype(np.float64)
    return frames.bound_frame(found, holdout_limits(distance, p.weights, p.n_levels, delta))
