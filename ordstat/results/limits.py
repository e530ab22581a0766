"""Upper limits of the expected errors of a fit from rows that it has not seen: new ones, or those of a fold."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..assess.bounds import DRAWN, Bound, dependence
from ..assess.errors import Predictions
from ..assess.intervals import averaged, holdout_limits
from ..checks import generator
from ..exceptions import OptionError
from .evaluation import crossvalidate
from .fitted import FittedRanker


def new_limits(fit: FittedRanker, newdata: Any, weights: Any, delta: float) -> tuple[Bound, ...]:
    """Limits of the errors of the fit.

    Parameters
    ----------
    fit : FittedRanker
    newdata : data frame
        With the response.
    weights : str or (N,) array, optional
        Whole-number case weights of the new rows.
    delta : float in (0, 1)

    Raises
    ------
    OptionError
        Weights that are not whole numbers.
    """
    p = fit.new_predictions(newdata, weights)
    if not np.array_equal(p.weights, np.rint(p.weights)):
        raise OptionError("weights of newdata must be whole numbers of rows for a limit to hold.")
    return _limits(fit, p, delta)


def fold_limits(fit: FittedRanker, folds: int, delta: float, seed: int | np.random.Generator) -> tuple[Bound, ...]:
    """Limits of the mean error of the fits to all rows but a fold, each by its own fold at delta / folds.

    The folds are plain draws: rows dealt out by their level would not be independent of those fitted to.

    Parameters
    ----------
    fit : FittedRanker
    folds : int
        At least 2.
    delta : float in (0, 1)
    seed : int or numpy.random.Generator
        Seed of the folds.

    Raises
    ------
    OptionError
        Clusters, a survey design or case weights: the rows are not independent one by one.
    """
    fit.check_parts()
    sample = fit.divisible
    if reason := DRAWN if fit.design.survey is not None else dependence(sample):
        raise OptionError(reason.replace("No margin bounds: they need", "bounds(cv=) needs"))
    if np.any(sample.case_weights != 1.0):
        raise OptionError(
            "bounds(cv=) needs every row by itself, and these have case weights: fit to "
            "data.loc[data.index.repeat(data['weights'])] without weights=."
        )
    result = crossvalidate(fit.learner, sample, folds, generator(seed), fit.probabilities_of, stratified=False)
    return averaged([_limits(fit, p, delta / folds) for p in result.predictions], delta)


def _limits(fit: FittedRanker, p: Predictions, delta: float) -> tuple[Bound, ...]:
    """Limits from predictions of unseen rows; the cost's where its largest value is known before they are."""
    distance = np.abs(p.y - p.codes).astype(np.float64)
    known = fit.own_cost and fit.design.sample.costs is None
    dearest = float(fit.method.cost_matrix.matrix(p.n_levels).max()) if known else 0.0
    return holdout_limits(distance, p.weights, p.n_levels, delta, p.paid if known else None, dearest)
