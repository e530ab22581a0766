"""Folds of weighted rows: copies of a row are dealt out one by one, unless a model would know them again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..._typing import AnyArray, FloatArray, IntArray
from ...exceptions import OptionError
from ...model.folds import MOST_COPIES, recognised, stratified_folds
from ...model.sample import Sample


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
