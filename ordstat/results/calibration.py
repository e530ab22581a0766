"""Reliability curves of a fit, as a frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray
from ..assess.intervals import reliability
from ..checks import fraction, one_of, whole
from ..exceptions import OptionError
from .fitted import FittedRanker


def reliability_curves(
    fit: FittedRanker,
    newdata: Any = None,
    *,
    by: str = "split",
    bins: int = 10,
    level: float = 0.95,
    weights: Any = None,
) -> pd.DataFrame:
    """Reliability curves: predicted probabilities beside what happened, in bins of about equal weight.

    Parameters
    ----------
    newdata : data frame, optional
        With the response. Without it: the rows of the fit, for a calibrated fit by their cross-fitted scores, so
        that no row is judged by a ranker that has seen it.
    by : {"split", "level"}
        Curves of P(response <= low) for every threshold "low|high", or of P(response = level).
    bins : int
        At most; rows of equal predictions stay together.
    level : float in (0, 1)
        Confidence level of the limits.
    weights : str or (N,) array, optional
        Case weights of `newdata`.

    Returns
    -------
    pandas.DataFrame
        Columns split (or level), bin, predicted (mean probability), observed (share), lower and upper (its Wilson
        limits) and weight, one row per curve and bin.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> curves = fit.reliability()
    >>> curves.loc[curves["split"] == "2|3", ["predicted", "observed"]].round(3).to_numpy().tolist()
    [[0.058, 0.056], [0.222, 0.278], [0.431, 0.444], [0.777, 0.722]]
    """
    _check(fit, newdata, by, bins, level, weights)
    probabilities, y, case_weights = _judged(fit, newdata, weights)
    if by == "split":
        events = np.cumsum(probabilities, axis=1)[:, :-1], y[:, None] <= np.arange(probabilities.shape[1] - 1)
        names: list[Any] = fit.threshold_names
    else:
        events = probabilities, y[:, None] == np.arange(probabilities.shape[1])
        names = list(fit.levels)
    pieces = []
    for name, p, happened in zip(names, events[0].T, events[1].T, strict=True):
        piece = pd.DataFrame(vars(reliability(p, happened, case_weights, bins, level)))
        piece.insert(0, by, pd.Series([name] * len(piece), dtype=object))
        piece.insert(1, "bin", np.arange(1, len(piece) + 1))
        pieces.append(piece)
    frame = pd.concat(pieces, ignore_index=True)
    frame[by] = pd.Categorical(frame[by], categories=names, ordered=True)
    return frame


def _check(fit: FittedRanker, newdata: Any, by: str, bins: int, level: float, weights: Any) -> None:
    if "prob" not in fit.prediction_types:
        raise OptionError(f"{fit.method!r} has no probabilities: fit with calibrate=True.")
    one_of("by", by, ("split", "level"))
    whole("bins", bins, 1)
    fraction("level", level)
    if newdata is None and weights is not None:
        raise OptionError("weights goes with newdata: the rows of the fit have their own.")


def _judged(fit: FittedRanker, newdata: Any, weights: Any) -> tuple[FloatArray, IntArray, FloatArray]:
    """(N, K) probabilities, (N,) true codes and (N,) weights of the rows of positive weight."""
    sample, out_of_fold = fit.design.sample, fit.fit.calibration
    if newdata is None and out_of_fold is not None:
        return out_of_fold.cross_fitted, sample.y[out_of_fold.rows], out_of_fold.weights
    if newdata is None:
        found = fit.training.probabilities
    else:
        target, sample = fit.judged_sample(newdata, weights)
        found = fit.probabilities_of(fit.fit, sample.rows, target.scores)
    assert found is not None
    used = sample.case_weights > 0
    return found[used], sample.y[used], sample.case_weights[used]
