"""Cross-validation: refit on all folds but one, predict that one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..checks import whole
from ..exceptions import DataError
from ..model.folds import MOST_COPIES, recognised, stratified_folds
from ..model.sample import Rows, Sample
from .errors import ErrorTable, Predictions, error_deviations, error_table

#: Fits to the first sample and predicts the second.
FitPredict = Callable[[Sample, Sample], Predictions]


@dataclass(frozen=True, eq=False, kw_only=True)
class CrossValidation:
    """Out-of-fold predictions and what they got wrong.

    Attributes
    ----------
    held : (F, N)
        Case weight of every row that each fold holds out.
    predictions : tuple of Predictions
        One per fold, its rows in the order of the sample.
    tables : tuple of ErrorTable
        One per fold.
    """

    held: FloatArray
    predictions: tuple[Predictions, ...]
    tables: tuple[ErrorTable, ...]

    @property
    def folds(self) -> IntArray:
        """(N,) fold 0..F-1 of every row, of a row of several copies the one that holds most of them."""
        return np.asarray(self.held.argmax(axis=0))

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
            errors = error_deviations(values) / np.sqrt(np.isfinite(values).sum(axis=0))
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
    predictions, parts = [], held_out(sample, n_folds, rng, stratified)
    for fold, held in enumerate(parts):
        train, test = (with_weights(sample, weights) for weights in (sample.case_weights - held, held))
        predictions.append(fit_predict(train, test))
        if progress is not None:
            progress(fold + 1, n_folds, "cross-validation")
    tables = tuple(error_table(p) for p in predictions)
    return CrossValidation(held=parts, predictions=tuple(predictions), tables=tables)


def held_out(
    sample: Sample, n_folds: int, rng: np.random.Generator, stratified: bool = True, cluster: IntArray | None = None
) -> FloatArray:
    """(F, N) the case weight of every row that each fold holds out; a row of weight w is dealt out as w rows.

    Parameters
    ----------
    sample, n_folds, rng, stratified
        As in `cross_validate`.
    cluster : (N,) codes, optional
        Rows that stay together; the clusters of the sample if not given.
    """
    cluster = sample.cluster if cluster is None else cluster
    copies, each = dealt_rows(sample, cluster)
    units = Sample(
        rows=Rows(X=np.empty((copies.size, 0))),
        y=sample.y[copies],
        n_levels=sample.n_levels,
        cluster=None if cluster is None else cluster[copies],
    )
    folds = draw_folds(units, n_folds, rng, stratified)
    return np.stack([np.bincount(copies[folds == f], each[folds == f], sample.n) for f in range(n_folds)])


def dealt_rows(sample: Sample, cluster: IntArray | None) -> tuple[IntArray, FloatArray]:
    """(n,) rows that are dealt out to folds, and their weights: a row of weight w as w rows.

    Unless it stays with its cluster, or a flexible model would know its twins in another fold.
    """
    w, rows = sample.case_weights, np.arange(sample.n)
    counts = np.array_equal(w, np.rint(w)) and w.sum() <= MOST_COPIES
    if sample.weights is None or cluster is not None or not counts or recognised(sample.X, sample.y, w) is not None:
        return rows, w
    return np.repeat(rows, w.astype(np.intp)), np.ones(int(w.sum()))


def with_weights(sample: Sample, weights: FloatArray) -> Sample:
    """The rows whose weight (N,) is positive, with it."""
    part = sample.take(np.flatnonzero(weights > 0.0))
    return part if sample.weights is None else replace(part, weights=weights[weights > 0.0])


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
