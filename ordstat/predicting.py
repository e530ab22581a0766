"""Predictions of a fit: their types, and data with predictions added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .checks import canonical, unknown
from .exceptions import DataError, OptionError
from .formula.extrapolation import tell_far
from .judging.fitted_data import check_unchanged, matched_rows
from .judging.response_numbers import OF_DISTRIBUTIONS, Asked
from .target import copied

if TYPE_CHECKING:
    from .results import OrdinalResults

#: Everything that some method predicts.
PREDICTION_TYPES = (
    "class",
    "prob",
    "cum_prob",
    "score",
    "linear_predictor",
    "hazard",
    *OF_DISTRIBUTIONS,
    "margin",
    "votes",
)


def prediction(
    fit: OrdinalResults,
    newdata: Any,
    type: str,
    at: Any,
    interpolate: bool,
) -> pd.Series | pd.DataFrame:
    """Predict rows of new data, or the rows that were fitted."""
    type = known_type(fit, type)
    asked = Asked.of(fit.design.levels, type, at, interpolate)
    if type != "margin":
        target = fit.target(newdata)
        if asked is not None:
            return fit.asked_of(target, asked)
        return fit.predicted(target, type)
    if newdata is not None:
        tell_far(fit.design.spec.rebuild(newdata).far)
    return fit.margin_frame(newdata)


def known_type(fit: OrdinalResults, type: str) -> str:
    """The type of prediction that a text means. Raise OptionError if the fit does not
    have it.
    """
    name = canonical(type, fit.prediction_types)
    if name is None:
        raise unknown_type(fit, type)
    return name


def unknown_type(fit: OrdinalResults, type: str) -> OptionError:
    """The error for a type that `predict` does not support."""
    if not isinstance(type, str) or type not in PREDICTION_TYPES:
        return unknown("type", type, fit.prediction_types)
    if type == "margin" and fit.no_margins is not None:
        return OptionError(f"type='margin' is not available: {fit.no_margins}")
    how = (
        " Fit with calibrate=True for probabilities."
        if type in ("prob", "cum_prob")
        else ""
    )
    if how and fit.calibrated is not None:
        how = (
            " Its calibration was for the ranker as first fitted, and does not hold for"
            " this one."
        )
    have = ", ".join(map(repr, fit.prediction_types))
    return OptionError(
        f"type={type!r} is not available from {fit.method}: it predicts {have}.{how}"
    )


#: Levels with a column of probabilities each in augment().
_MOST_AUGMENTED = 1_000


def augmented(fit: OrdinalResults, data: Any) -> pd.DataFrame:
    """Data with columns of predictions added."""
    calibrated = () if fit.fit.calibration is None else ("prob",)
    types = tuple(dict.fromkeys((*fit.augments, *calibrated)))
    if "prob" in types and len(fit.levels) > _MOST_AUGMENTED:
        raise DataError(
            f"augment() has a column for each of {len(fit.levels):,} levels, and takes"
            f" at most {_MOST_AUGMENTED:,}. Add those that you need, as in"
            " data.assign(fitted=fit.predict(data, type='mean'))."
        )
    target = fit.target(data)
    if data is None:
        sample = fit.design.sample
        response = fit.design.levels.categorical(
            np.where(sample.exact, sample.y, -1), target.index, fit.design.response
        )
        frame = pd.concat([response, _predictors(fit)], axis=1)
    else:
        frame = copied(data, target.index)
    pieces = []
    for type in types:
        if (
            type == "margin"
            and "margin" in fit.prediction_types
            and (data is None or fit.design.response in frame)
        ):
            margins = fit.margin_frame(data)[["left", "right"]]
            pieces.append(margins.set_axis([".left_margin", ".right_margin"], axis=1))
        elif type != "margin" and type in fit.prediction_types:
            values = fit.predicted(target, type)
            if isinstance(values, pd.DataFrame):
                pieces.append(
                    values.set_axis(
                        [f".{type}_{level}" for level in fit.levels], axis=1
                    )
                )
            else:
                pieces.append(
                    values.to_frame(".fitted" if type == "class" else f".{type}")
                )
    added = pd.concat(pieces, axis=1).set_axis(frame.index)
    return pd.concat(
        [frame.drop(columns=added.columns, errors="ignore"), added], axis=1
    )


def _predictors(fit: OrdinalResults) -> pd.DataFrame:
    """The columns of the formula at the rows of the fit; no columns if these rows
    cannot be identified.
    """
    design = fit.design
    names = design.spec.columns
    none = pd.DataFrame(index=design.index)
    if design.data is None or not names:
        return none
    frame, identified = matched_rows(design, design.data)
    if not identified and not frame.index.equals(design.index):
        return none
    check_unchanged(design, frame)
    return frame[list(names)]
