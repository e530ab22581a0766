"""Predictions as pandas, and the same data again with something changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from .checks import canonical, did_you_mean, unknown
from .exceptions import DataError, OptionError
from .fitted import FittedRanker, Target, copied

if TYPE_CHECKING:
    from .formula.design import Design

#: Everything that some method predicts.
PREDICTION_TYPES = ("class", "prob", "cum_prob", "score", "linear_predictor", "mean", "margin", "votes")


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


#: Arguments of `ordfit` that make a design.
DESIGN_ARGUMENTS = (
    *("weights", "offset", "cluster", "design", "levels", "subset", "contrasts", "constraints", "na_action", "safe"),
    *("context", "interactions"),
)
#: Arguments of `ordfit` that are of the fit, whatever the design and the method.
FIT_ARGUMENTS = ("vcov", "calibrate")


def updated(
    fit: FittedRanker,
    formula: str | None = None,
    *,
    nominal: str | None = None,
    scale: str | None = None,
    method: Any = None,
    data: Any = None,
    **changes: Any,
) -> Any:
    """Fit again with something changed, as R's update()."""
    design = {"formula": formula, "nominal": nominal, "scale": scale}
    if fit.fitter is None:
        raise OptionError("These results were made by hand: fit with ordfit() to use update().")
    if data is None:
        fit.check_rows()
    given = {name: value for name, value in design.items() if value is not None}
    given |= {name: changes[name] for name in DESIGN_ARGUMENTS if name in changes}
    options = {name: value for name, value in changes.items() if name not in (*DESIGN_ARGUMENTS, *FIT_ARGUMENTS)}
    kept = {"calibrate": False if fit.calibrated is None else fit.calibrated.folds}
    kept |= {"calibrate": changes["calibrate"]} if "calibrate" in changes else {}
    new = fit.design if data is None and not given else fit.design.updated(data, **given)
    vcov = {"vcov": changes["vcov"]} if "vcov" in changes else {"kept_vcov": kept_covariance(fit, new, data)}
    if method is not None:
        return fit.fitter(new, method, options, **vcov, **kept)
    return fit.fitter(new, _changed(_of_design(fit, new), options), {}, **vcov, **kept)


def _of_design(fit: FittedRanker, new: Design) -> Any:
    """The method of the fit; the options of random effects go with these."""
    if fit.design.sample.rows.random is None or new.sample.rows.random is not None:
        return fit.method
    return cast(Any, fit.method).without_random_effects()


def kept_covariance(fit: FittedRanker, design: Design, data: Any) -> Any:
    """The covariance asked for at the fit, for the rows of a new design.

    Raises
    ------
    DataError
        Clusters that were given as values, and rows that the fit had not.
    """
    chosen = getattr(fit, "robust", None)
    if chosen is None or chosen.survey is not None or design.survey is not None:
        return None
    if chosen.cluster is None:
        return chosen.name
    if chosen.cluster is fit.design.sample.cluster:
        return chosen.name if design.sample.cluster is not None else None
    kind = "CR2" if chosen.name == "CR2" else "CR1"
    return {"cluster": _kept_clusters(fit, chosen, design, data), "type": kind}


def _kept_clusters(fit: FittedRanker, chosen: Any, design: Design, data: Any) -> Any:
    """The column of the clusters, or their values at the rows of the new design."""
    old = fit.design.index
    if isinstance(chosen.given, str) and (data is not None or not design.index.equals(old)):
        return chosen.given
    if design.index.equals(old):
        return chosen.cluster
    if not (old.is_unique and design.index.isin(old).all()):
        raise DataError(
            "vcov has the clusters of the rows of the fit as values, and update has other rows: give "
            "vcov={'cluster': ...} for these, or vcov='model'."
        )
    return chosen.cluster[old.get_indexer(design.index)]


def _changed(method: Any, options: Mapping[str, Any]) -> Any:
    """The method with other hyper-parameters."""
    valid = [field.name for field in fields(method)]
    for name in options:
        if name not in valid:
            known = ("formula", "nominal", "scale", "method", "data", *FIT_ARGUMENTS, *DESIGN_ARGUMENTS)
            meant = did_you_mean(name, (*known, *valid))
            raise OptionError(
                f"update has no argument {name!r}.{meant} It takes {', '.join(known)}, and options of the method: "
                f"{', '.join(valid)}."
            )
    return replace(method, **options)
