"""Calibration intercepts and slopes of the cumulative probabilities, by threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import logit, ndtri

from .._typing import BoolArray, FloatArray
from ..checks import fraction
from ..report.frames import NotedFrame
from .tables import dependent_rows, probabilities_with_truth, require_probabilities

if TYPE_CHECKING:
    from ..results import OrdinalResults

#: Probabilities nearer to 0 or 1 count as this: a certain prediction has no logit.
_LEAST = 1e-6
#: Of the iterations of statsmodels.
_SEARCH: dict[str, Any] = {"tol": 1e-12, "maxiter": 200}
_OWN_ROWS = (
    "These are the rows that the model was fitted to, where slopes are near 1 even if"
    " the model overfits. Give newdata= to judge it."
)
_NO_ESTIMATE = (
    "No intercept or slope where every row, or none, is at or below the threshold; no"
    " slope where one cut of the predictions separates these rows from the others."
)
_NO_LIMITS = "No intervals: rows of a cluster or survey design depend on each other."


class Recalibration(NamedTuple):
    """The logistic model of one event, given its predicted probability.

    Attributes
    ----------
    intercept, intercept_error : float
        Intercept with the slope fixed at 1, and its standard error.
    slope, slope_error : float
        Slope of the predicted logit, with a free intercept, and its standard error.
    """

    intercept: float
    intercept_error: float
    slope: float
    slope_error: float


def recalibration(
    probabilities: FloatArray, happened: BoolArray, weights: FloatArray
) -> Recalibration:
    """Calibration intercept and slope of one event; NaN where the likelihood has no
    maximum.

    Parameters
    ----------
    probabilities : (N,) of the event
    happened : (N,)
    weights : (N,) case weights, > 0

    Examples
    --------
    >>> p = np.array([0.1, 0.1, 0.1, 0.1, 0.9, 0.9, 0.9, 0.9])
    >>> event = np.array([1, 0, 0, 0, 1, 1, 1, 0]) > 0
    >>> [round(float(value), 3) for value in recalibration(p, event, np.ones(8))]
    [0.0, 1.179, 0.5, 0.372]
    """
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_linear_model import GLM

    if happened.all() or not happened.any():
        return Recalibration(np.nan, np.nan, np.nan, np.nan)
    predicted = logit(np.clip(probabilities, _LEAST, 1.0 - _LEAST))
    given: dict[str, Any] = {"family": Binomial(), "freq_weights": weights}
    ones = np.ones((predicted.size, 1))
    event = happened.astype(np.float64)
    with np.errstate(over="ignore"):  # in steps that are too long
        shift = GLM(event, ones, offset=predicted, **given).fit(**_SEARCH)
    intercept = float(shift.params[0])
    intercept_error = float(shift.bse[0])
    if _separated(predicted, happened):
        return Recalibration(intercept, intercept_error, np.nan, np.nan)
    line = np.column_stack([ones, predicted])
    with np.errstate(over="ignore"):
        free = GLM(event, line, **given).fit(**_SEARCH)
    return Recalibration(
        intercept, intercept_error, float(free.params[1]), float(free.bse[1])
    )


def _separated(predicted: FloatArray, happened: BoolArray) -> bool:
    """Whether a cut of the predictions leaves the rows of the event on one side, or all
    predictions are equal.
    """
    inside = predicted[happened]
    outside = predicted[~happened]
    return bool(inside.min() >= outside.max() or inside.max() <= outside.min())


def calibration_slopes(
    fit: OrdinalResults, newdata: Any, level: float, weights: Any
) -> NotedFrame:
    """Intercept and slope of each threshold, with confidence limits."""
    require_probabilities(fit, "calibration_slopes()")
    fraction("level", level)
    probabilities, y, case_weights = probabilities_with_truth(fit, newdata, weights)
    below = np.cumsum(probabilities, axis=1)[:, :-1]
    z = float(ndtri(0.5 + 0.5 * level))
    dependent = newdata is None and dependent_rows(fit)
    rows = []
    for k, predicted in enumerate(below.T):
        happened = y <= k
        found = recalibration(predicted, happened, case_weights)
        reach = np.nan if dependent else z
        rows.append(
            {
                "predicted": np.average(predicted, weights=case_weights),
                "observed": np.average(happened, weights=case_weights),
                "intercept": found.intercept,
                "intercept_lower": found.intercept - reach * found.intercept_error,
                "intercept_upper": found.intercept + reach * found.intercept_error,
                "slope": found.slope,
                "slope_lower": found.slope - reach * found.slope_error,
                "slope_upper": found.slope + reach * found.slope_error,
            }
        )
    frame = pd.DataFrame(rows, index=pd.Index(fit.threshold_names, name="split"))
    notes = _notes(fit, newdata, frame, dependent)
    return NotedFrame.of(frame, notes, "Calibration intercepts and slopes")


def _notes(
    fit: OrdinalResults, newdata: Any, frame: pd.DataFrame, dependent: bool
) -> list[str]:
    notes = []
    if newdata is None and fit.fit.calibration is None:
        notes.append(_OWN_ROWS)
    if frame["slope"].isna().any():
        notes.append(_NO_ESTIMATE)
    if dependent:
        notes.append(_NO_LIMITS)
    return notes
