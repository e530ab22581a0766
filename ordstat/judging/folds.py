"""Folds and cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray, Progress
from ..checks import whole
from ..exceptions import DataError, OptionError
from ..formula.sample import Rows, Sample
from .errors import ErrorTable, Predictions, deviations, error_table

#: Copies of rows dealt out one by one at most.
MOST_COPIES = 1_000_000
# Share of rows that come once below which copies are no matter of chance.
_SINGLE = 0.2


def stratified_folds(
    y: IntArray, n_levels: int, folds: int, rng: np.random.Generator, cluster: IntArray | None = None
) -> IntArray:
    """Deal rows out to folds at random, every level spread as evenly as it can be.

    Clusters (single rows where there are none) come in random order, and each goes to the fold that
    holds the fewest rows of its levels so far, then to the smallest fold.

    Parameters
    ----------
    y : (N,) codes 0..K-1
    n_levels : int
    folds : int, at least 2
    rng : numpy.random.Generator
    cluster : (N,) codes, optional
        Rows of one cluster stay together.

    Returns
    -------
    (N,) fold of each row, 0..folds-1; no fold is empty

    Raises
    ------
    OptionError
        There are fewer rows, or fewer clusters, than folds.

    Examples
    --------
    >>> y = np.array([0, 0, 1, 1, 2, 2])
    >>> fold = stratified_folds(y, 3, 2, np.random.default_rng(0))
    >>> [sorted(y[fold == f].tolist()) for f in range(2)]
    [[0, 1, 2], [0, 1, 2]]
    """
    labels = np.arange(y.size) if cluster is None else np.unique(cluster, return_inverse=True)[1]
    counts = np.zeros((int(labels.max()) + 1, n_levels))
    np.add.at(counts, (labels, y), 1.0)
    if folds > len(counts):
        what = "rows" if cluster is None else "clusters"
        raise OptionError(f"folds must not exceed the number of {what}, {len(counts)}; got {folds}.")
    held = np.zeros((folds, n_levels))
    chosen = np.empty(len(counts), dtype=np.intp)
    total = counts.sum(axis=0).clip(min=1.0)
    # Large clusters first, or there would be nothing left to balance them with; the shuffle orders equal ones.
    shuffled = rng.permutation(len(counts))
    for g in shuffled[np.argsort(-counts[shuffled].sum(axis=1), kind="stable")]:
        crowding = held @ (counts[g] / total)
        chosen[g] = np.lexsort((held.sum(axis=1), crowding))[0]
        held[chosen[g]] += counts[g]
    return chosen[labels]


def recognised(X: FloatArray, y: AnyArray, weights: FloatArray) -> IntArray | None:
    """(N,) codes of rows alike that a flexible model would know again in another fold; None where it would not.

    Copies in a table of few profiles, each with several levels, are answers of different people. So are a few among
    rows that mostly come once: new rows will have such twins as often (Good 1953). Where columns tell nearly all rows
    apart and nearly all come several times, copies held out would be judged by their own twins.
    """
    profile = np.unique(X, axis=0, return_inverse=True)[1].ravel() if X.shape[1] else np.zeros(y.size, dtype=np.intp)
    pairs, code = np.unique(np.column_stack([y, profile]), axis=0, return_inverse=True)
    repeated = len(pairs) < y.size or bool((weights > 1.0).any())
    if not repeated or profile.max() + 1 <= 0.5 * len(pairs):
        return None
    code = np.asarray(code.ravel(), dtype=np.intp)
    times = np.bincount(code, weights)
    return code if times[times <= 1.0].sum() < _SINGLE * times.sum() else None


def held_weights(
    X: FloatArray,
    y: AnyArray,
    weights: FloatArray,
    folds: int,
    rng: np.random.Generator,
    cluster: IntArray | None = None,
) -> FloatArray:
    """(F, N) the weight of every row that each fold holds out; F = 0 where nothing can be held out.

    A row of weight w is dealt out as w rows where all weights are whole, or together with all rows that are alike,
    where these would be known again (`recognised`). Every level keeps a row outside of every fold. Clusters are dealt
    out whole, and a fold without which a level would have no row is left out.

    Parameters
    ----------
    X : (N, D)
    y : (N,) codes
    weights : (N,) > 0
    folds : int
        As many at most.
    rng : numpy.random.Generator
    cluster : (N,) codes, optional
        Rows that stay together.
    """
    if cluster is not None:
        return _whole_clusters(y, weights, folds, rng, cluster)
    alike = recognised(X, y, weights)
    if alike is not None:
        first = np.unique(alike, return_index=True)[1]
        one_each = _dealt(y[first], np.arange(first.size), np.ones(first.size), folds, rng, first.size)
        return np.asarray((one_each > 0.0)[:, alike] * weights)
    whole = bool((weights == np.rint(weights)).all()) and weights.sum() <= MOST_COPIES
    copies = np.repeat(np.arange(y.size), weights.astype(np.intp)) if whole else np.arange(y.size)
    each = np.ones(copies.size) if whole else weights
    return _dealt(y, copies, each, folds, rng, y.size)


def _whole_clusters(
    y: AnyArray, weights: FloatArray, folds: int, rng: np.random.Generator, cluster: IntArray
) -> FloatArray:
    n_levels, folds = int(y.max()) + 1, min(folds, np.unique(cluster).size)
    if folds < 2:
        return np.zeros((0, y.size))
    fold = stratified_folds(y.astype(np.intp), n_levels, folds, rng, cluster)
    held = weights * (fold == np.arange(folds)[:, None])
    inside = np.stack([np.bincount(y, weights - out, n_levels) for out in held])
    known = np.bincount(y, weights, n_levels) > 0.0
    return np.asarray(held[(inside[:, known] > 0.0).all(axis=1)])


def _dealt(
    y: AnyArray, copies: IntArray, each: FloatArray, folds: int, rng: np.random.Generator, size: int
) -> FloatArray:
    """(F, size) weights held out, of copies of rows with a weight each."""
    several = np.bincount(y[copies])[y[copies]] > 1
    copies, each = copies[several], each[several]
    folds = min(folds, copies.size)
    if folds < 2:
        return np.zeros((0, size))
    fold = stratified_folds(y[copies].astype(np.intp), int(y.max()) + 1, folds, rng)
    return np.stack([np.bincount(copies[fold == f], each[fold == f], size) for f in range(folds)])


def require_folds(method: Any, sample: Sample, instead: str) -> None:
    """OptionError where there are clusters, and no folds that could keep them together."""
    if sample.cluster is not None and not method.own_folds:
        raise OptionError(
            f"{type(method).__name__} uses cluster= only to keep the rows of a cluster in one fold of its own; remove "
            f"it, or {instead}."
        )


def part_of_rows(y: AnyArray, most: int, rng: np.random.Generator) -> IntArray:
    """Growing places of all rows, or of about `most` of them in which every level keeps its share, and ten rows.

    Parameters
    ----------
    y : (N,) codes 0..K-1, not falling, of which each is there
    most : int
    rng : numpy.random.Generator
    """
    n = y.size
    if n <= most:
        return np.arange(n)
    # Every so many rows of a random order within the levels.
    shuffled = rng.permutation(n)
    ordered = shuffled[np.argsort(y[shuffled], kind="stable")]
    kept = np.linspace(0, n - 1, most).astype(np.intp)
    ends = np.searchsorted(y[ordered], np.arange(int(y[-1]) + 1))
    several = np.concatenate([np.arange(end, min(end + 10, n)) for end in ends])
    return np.asarray(np.sort(ordered[np.union1d(kept, several)]))


def as_rows(sample: Sample) -> Sample:
    """The sample with weights of mean 1 where they are no numbers of rows, so that their scale has no meaning."""
    weights = sample.weights
    if weights is None or np.array_equal(weights, np.rint(weights)):
        return sample
    return replace(sample, weights=weights * (np.count_nonzero(weights) / weights.sum()))


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
            errors = np.where(np.isinf(values).any(axis=0), np.nan, deviations(values))
            errors = errors / np.sqrt(np.isfinite(values).sum(axis=0))
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
