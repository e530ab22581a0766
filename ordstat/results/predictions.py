"""Predictions of a fit, alone or beside the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..checks import canonical, unknown
from ..exceptions import DataError, OptionError
from ..words import NEW_ROWS, told_arguments
from .fitted import FittedRanker
from .target import Target, copied

#: Everything that some method predicts.
PREDICTION_TYPES = ("class", "prob", "cum_prob", "score", "linear_predictor", "mean", "margin", "votes")


@told_arguments(**NEW_ROWS, **dict.fromkeys(("se", "interval"), "a method with a likelihood, such as 'logit', for it"))
def prediction(fit: FittedRanker, newdata: Any = None, type: str = "class") -> pd.Series | pd.DataFrame:
    """Predict rows of new data, or the rows that were fitted."""
    type = known_type(fit, type)
    if type == "margin":
        return fit.margin_frame(newdata)
    return fit.predicted(fit.target(newdata), type)


def known_type(fit: FittedRanker, type: str) -> str:
    """The type of prediction that a text means; OptionError where the fit has none such."""
    found = canonical(type, fit.prediction_types)
    if found is None:
        raise unknown_type(fit, type)
    return found


def unknown_type(fit: FittedRanker, type: str) -> OptionError:
    """The error of a type that `predict` does not take."""
    if type in PREDICTION_TYPES:
        have = ", ".join(repr(t) for t in fit.prediction_types)
        how = ""
        if type in ("prob", "cum_prob"):
            how = " Fit with calibrate=True for probabilities."
            if fit.calibrated is not None:
                how = " Its calibration was for the ranker as first fitted, and does not hold for this one."
        return OptionError(f"type={type!r} is not available from {fit.method!r}: it predicts {have}.{how}")
    return unknown("type", type, fit.prediction_types)


def augmented(fit: FittedRanker, data: Any = None) -> pd.DataFrame:
    """Data with columns of predictions beside them."""
    target = fit.target(data)
    if data is None:
        response = fit.design.levels.categorical(fit.design.sample.y, target.index, fit.design.response)
        frame = pd.concat([response, _predictors(fit)], axis=1)
    else:
        frame = copied(data, target.index)
    calibrated = () if fit.fit.calibration is None else ("prob",)
    pieces = [
        _columns(fit, target, data, type)
        for type in dict.fromkeys((*fit.augments, *calibrated))
        if type in fit.prediction_types and (type != "margin" or data is None or fit.design.response in frame.columns)
    ]
    added = pd.concat(pieces, axis=1).set_axis(frame.index)
    return pd.concat([frame.drop(columns=added.columns, errors="ignore"), added], axis=1)


def _predictors(fit: FittedRanker) -> pd.DataFrame:
    """The columns of the formula at the rows of the fit; none where these cannot be told."""
    design, names = fit.design, fit.design.spec.columns
    nothing = pd.DataFrame(index=design.index)
    if design.data is None or not names:
        return nothing
    frame = copied(design.data, None)
    if not frame.index.equals(design.index):
        if not (frame.index.is_unique and design.index.isin(frame.index).all()):
            return nothing
        frame = frame.loc[design.index]
    if not np.array_equal(design.spec.rebuild(frame).rows.X, design.sample.X, equal_nan=True):
        raise DataError("The data have changed since the fit: fit again, or pass data= with the data to use.")
    return frame[list(names)]


def _columns(fit: FittedRanker, target: Target, data: Any, type: str) -> pd.DataFrame:
    """The columns of one type of prediction, under the names of `augment`."""
    if type == "margin":
        return fit.margin_frame(data)[["left", "right"]].set_axis([".left_margin", ".right_margin"], axis=1)
    found = fit.predicted(target, type)
    if isinstance(found, pd.DataFrame):
        return found.set_axis([f".{type}_{level}" for level in fit.levels], axis=1)
    return found.to_frame(".fitted" if type == "class" else f".{type}")
