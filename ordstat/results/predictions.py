"""Predictions of a fit, alone or beside the data."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..checks import unknown
from ..exceptions import OptionError
from .fitted import FittedRanker
from .target import Target, copied

#: Everything that some method predicts.
PREDICTION_TYPES = ("class", "prob", "cum_prob", "score", "linear_predictor", "mean", "margin", "votes")


def prediction(fit: FittedRanker, newdata: Any = None, type: str = "class") -> pd.Series | pd.DataFrame:
    """Predict rows of new data, or the rows that were fitted.

    Parameters
    ----------
    newdata : data frame, optional
        With the columns of the formula. None means the rows of the fit.
    type : str
        "class": the predicted level. "score": the potential H, larger for higher levels. "margin": left and right
        margin, raw and normalised; needs the response in `newdata`. Likelihood methods, and any other fitted with
        calibrate=True, also have "prob", P(response = level), and "cum_prob", P(response <= level), one column per
        level; voting methods have "votes" of every level in place of score and margin. Calibration does not
        change the classes: they are the ranker's own, and need not be the most probable level.

    Returns
    -------
    pandas.Series or pandas.DataFrame
        One row per row of `newdata`, on its index; NaN where an input is missing. Classes are an ordered
        categorical of the levels of the response.

    Raises
    ------
    OptionError
        For a type that this method does not predict.
    DataError
        For a missing column or an unseen level in `newdata`.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", data=wine)
    >>> fit.predict(wine.head(2)).tolist()
    [2, 2]
    >>> fit.predict(wine.head(2), type="cum_prob").round(3)
           1      2     3      4    5
    0  0.207  0.777  0.97  0.993  1.0
    1  0.207  0.777  0.97  0.993  1.0
    """
    if type not in fit.prediction_types:
        raise unknown_type(fit, type)
    if type == "margin":
        return fit.margin_frame(newdata)
    return fit.predicted(fit.target(newdata), type)


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
    """Data with columns of predictions beside them.

    Parameters
    ----------
    data : data frame, optional
        Gets the columns added, on its own index; the rows of the fit with their response alone if not given.

    Returns
    -------
    pandas.DataFrame
        `.fitted` level, `.score`, one `.prob_<level>` a level where there are probabilities, and, where the
        response is there, `.left_margin` and `.right_margin`.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", data=wine, method="redsvm")
    >>> fit.augment(wine.head(2)).columns[-4:].tolist()
    ['.fitted', '.score', '.left_margin', '.right_margin']
    """
    target = fit.target(data)
    if data is None:
        frame = fit.design.levels.categorical(fit.design.sample.y, target.index, fit.design.response).to_frame()
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


def _columns(fit: FittedRanker, target: Target, data: Any, type: str) -> pd.DataFrame:
    """The columns of one type of prediction, under the names of `augment`."""
    if type == "margin":
        return fit.margin_frame(data)[["left", "right"]].set_axis([".left_margin", ".right_margin"], axis=1)
    found = fit.predicted(target, type)
    if isinstance(found, pd.DataFrame):
        return found.set_axis([f".{type}_{level}" for level in fit.levels], axis=1)
    return found.to_frame(".fitted" if type == "class" else f".{type}")
