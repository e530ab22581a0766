"""Cross-validation: refit on all folds but one, predict that one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._typing import IntArray, Progress
from ..checks import whole
from ..exceptions import DataError
from ..model.folds import stratified_folds
from ..model.sample import Sample
from .errors import ErrorTable, Predictions, deviations, error_table

#: Fits to the first sample and predicts the second.
FitPredict = Callable[[Sample, Sample], Predictions]


@dataclass(frozen=True, eq=False, kw_only=True)
class CrossValidation:
    """Out-of-fold predictions and what they got wrong.

    Attributes
    ----------
    folds : (N,) fold 0..F-1 of every row
    predictions : tuple of Predictions
        One per fold, its rows in the order of the sample.
    tables : tuple of ErrorTable
        One per fold.
    """

    folds: IntArray
    predictions: tuple[Predictions, ...]
    tables: tuple[ErrorTable, ...]

    @property
    def table(self) -> ErrorTable:
        """Means over folds, a fold counting by its weight, with their standard errors (deviation / sqrt(F)).

        A measure that has no meaning in a fold is averaged over the others. Folds are averaged, not pooled: scores
        of different fits need not be on one scale. The folds share training rows, so the standard errors are
        approximate.
        """
        values = np.array([table.values for table in self.tables])
        weights = np.array([p.weights.sum() for p in self.predictions])[:, None] * ~np.isnan(values)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.where(weights > 0, values, 0.0).T[:, None, :] @ weights.T[:, :, None]
            means = means.ravel() / weights.sum(axis=0)
            errors = deviations(values) / np.sqrt(np.isfinite(values).sum(axis=0))
        return ErrorTable(names=self.tables[0].names, values=means, standard_errors=errors)


def cross_validate(
    sample: Sample,
    n_folds: int,
    rng: np.random.Generator,
    fit_predict: FitPredict,
    progress: Progress | None = None,
    stratified: bool = True,
) -> CrossValidation:
    """Predict every row by a fit that has not seen it.

    Parameters
    ----------
    sample : Sample
    n_folds : int
        At least 2.
    rng : numpy.random.Generator
        Source of the folds.
    fit_predict : callable(training sample, test sample) -> Predictions
    progress : callable(step, total, message), optional
        Called after every fold.
    stratified : bool
        Whether the ranks are spread evenly over the folds; else every fold is a plain draw.

    Raises
    ------
    OptionError
        `n_folds` below 2, or above the number of rows or clusters.
    DataError
        A rank that some training part would not have.
    """
    folds = draw_folds(sample, n_folds, rng, stratified)
    predictions = []
    for fold in range(n_folds):
        test = folds == fold
        predictions.append(fit_predict(sample.take(~test), sample.take(test)))
        if progress is not None:
            progress(fold + 1, n_folds, "cross-validation")
    return CrossValidation(
        folds=folds, predictions=tuple(predictions), tables=tuple(error_table(p) for p in predictions)
    )


def draw_folds(sample: Sample, n_folds: int, rng: np.random.Generator, stratified: bool = True) -> IntArray:
    """(N,) random folds with the ranks spread evenly, if asked for; a cluster stays in one fold."""
    whole("the number of folds", n_folds, 2)
    y = sample.y if stratified else np.zeros_like(sample.y)
    folds = stratified_folds(y, sample.n_levels, n_folds, rng, sample.cluster)
    _check_training_ranks(sample, folds, n_folds)
    return folds


def _check_training_ranks(sample: Sample, folds: IntArray, n_folds: int) -> None:
    inside = np.zeros((n_folds, sample.n_levels))
    np.add.at(inside, (folds, sample.y), 1.0)
    rows = inside.sum(axis=0)
    lacking = np.argwhere((inside == rows) & (rows > 0))
    if lacking.size:
        rank = int(lacking[0, 1])
        raise DataError(
            f"cross-validation needs every level in every training part, and all rows of level {rank + 1} of "
            f"{sample.n_levels}, counted from the lowest, are in one fold: join the level with a neighbour, or use "
            "more of its rows or clusters."
        )
