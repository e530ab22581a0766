"""Reliability curves of a fit, as a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray
from ..assess.calibration import reliability
from ..checks import fraction, one_of, whole
from ..exceptions import DataError, OptionError

if TYPE_CHECKING:
    from .base import OrdinalResults


def reliability_frame(
    results: OrdinalResults, newdata: Any, by: str, bins: int, level: float, weights: Any
) -> pd.DataFrame:
    """`OrdinalResults.reliability`."""
    _check(results, newdata, by, bins, level, weights)
    probabilities, y, case_weights = _judged(results, newdata, weights)
    if by == "split":
        events = np.cumsum(probabilities, axis=1)[:, :-1], y[:, None] <= np.arange(probabilities.shape[1] - 1)
        names: list[Any] = results.threshold_names
    else:
        events = probabilities, y[:, None] == np.arange(probabilities.shape[1])
        names = list(results.levels)
    pieces = []
    for name, p, happened in zip(names, events[0].T, events[1].T, strict=True):
        curve = reliability(p, happened, case_weights, bins, level)
        columns = ("predicted", "observed", "lower", "upper", "weight")
        piece = pd.DataFrame({column: getattr(curve, column) for column in columns})
        piece.insert(0, by, pd.Series([name] * len(piece), dtype=object))
        piece.insert(1, "bin", np.arange(1, len(piece) + 1))
        pieces.append(piece)
    frame = pd.concat(pieces, ignore_index=True)
    frame[by] = pd.Categorical(frame[by], categories=names, ordered=True)
    return frame


def _check(results: OrdinalResults, newdata: Any, by: str, bins: int, level: float, weights: Any) -> None:
    if "prob" not in results.prediction_types:
        raise OptionError(f"{results.method!r} has no probabilities: fit with calibrate=True.")
    one_of("by", by, ("split", "level"))
    whole("bins", bins, 1)
    fraction("level", level)
    if newdata is None and weights is not None:
        raise OptionError("weights goes with newdata: the rows of the fit have their own.")


def _judged(results: OrdinalResults, newdata: Any, weights: Any) -> tuple[FloatArray, IntArray, FloatArray]:
    """(N, K) probabilities, (N,) true codes and (N,) weights of the rows of positive weight."""
    sample, fit = results.design.sample, results.fit
    if newdata is None and fit.calibration is not None:
        out_of_fold = fit.calibration
        return out_of_fold.cross_fitted, sample.y[out_of_fold.rows], out_of_fold.weights
    if newdata is None:
        found = results.training.probabilities
    else:
        target, sample = results._new_sample(newdata, weights)
        if sample.n == 0:
            raise DataError("newdata has no row with the response and all inputs present.")
        found = results.probabilities_of(fit, sample.rows, target.scores)
    assert found is not None
    used = sample.case_weights > 0
    return found[used], sample.y[used], sample.case_weights[used]
