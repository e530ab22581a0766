"""Errors of a fit, on the rows that it was fitted to and on others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .._typing import IntArray, Progress
from ..assess.errors import ErrorTable, Predictions, bootstrap_table, confusion, error_table
from ..checks import generator
from . import frames
from .evaluation import crossvalidate
from .fitted import FittedRanker


def error_measures(
    fit: FittedRanker,
    newdata: Any = None,
    *,
    weights: Any = None,
    cv: int | None = None,
    bootstrap: int | None = None,
    seed: int | np.random.Generator = 0,
    callback: Progress | None = None,
) -> pd.DataFrame:
    """Every error measure, on the rows of the fit and on rows it has not seen.

    Parameters
    ----------
    newdata : data frame, optional
        With the response: gives a column "new data".
    weights : str or (N,) array, optional
        Case weights of `newdata`; a string names its column. A Series must have its index.
    cv : int, optional
        Number of folds of a cross-validation: gives columns "cv" and "cv se".
    bootstrap : int, optional
        Number of bootstrap samples of rows (of clusters, where the fit has them) behind columns "training se"
        and "new data se".
    seed : int or numpy.random.Generator
        Seed of folds and bootstrap.
    callback : callable(step, total, message), optional
        Called after every fold and bootstrap sample.

    Returns
    -------
    pandas.DataFrame
        One row per measure (`ordstat.assess.errors.error_table`); NaN where a measure has no meaning.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> fit.errors(cv=4).loc[["classification error", "absolute error"]].round(3)
                          training     cv  cv se
    classification error     0.556  0.583  0.036
    absolute error           0.611  0.653  0.057
    """
    rng = generator(seed)
    sample = fit.design.sample

    def table(predictions: Predictions, cluster: IntArray | None) -> ErrorTable:
        if bootstrap is None:
            return error_table(predictions)
        return bootstrap_table(predictions, bootstrap, rng, cluster, callback)

    columns = frames.error_columns("training", table(fit.training, sample.cluster))
    if newdata is not None:
        columns |= frames.error_columns("new data", table(fit.new_predictions(newdata, weights), None))
    if cv is not None:
        fit.check_parts()
        result = crossvalidate(fit.learner, sample, cv, rng, fit.probabilities_of, callback)
        columns |= frames.error_columns("cv", result.table)
    return pd.DataFrame(columns, index=list(fit.training_errors.names))


def confusion_matrix(fit: FittedRanker, newdata: Any = None, *, weights: Any = None) -> pd.DataFrame:
    """Weight of the rows of each observed level (rows) that are given each level (columns).

    Parameters
    ----------
    newdata : data frame, optional
        With the response; the rows of the fit if not given.
    weights : str or (N,) array, optional
        Case weights of `newdata`.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm")
    >>> fit.confusion().loc[3].astype(int).to_dict()
    {1: 0, 2: 5, 3: 16, 4: 5, 5: 0}
    """
    p = fit.training if newdata is None else fit.new_predictions(newdata, weights)
    return frames.confusion_frame(confusion(p.y, p.codes, p.weights, p.n_levels), fit.levels)
