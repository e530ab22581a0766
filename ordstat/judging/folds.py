"""Folds of rows, for every cross-validation of the package.

`stratified_folds` gives every row (or copy of a row) the code of its fold. From these
codes come the case weights that each fold holds out, (F, N): `held_out` to judge a
method, `held_weights` to choose within a fit, where each fold leaves rows of every
level. `split` makes the two samples of a fold from such weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..checks import shown_labels, whole
from ..exceptions import OptionError
from ..formula.sample import Sample
from ..formula.sparse import sparse_part
from .absent_levels import Present

#: Largest number of copies of rows that are dealt out one by one.
MOST_COPIES = 1_000_000
# Below this share of rows that occur once, repeated rows are not a coincidence.
_SINGLE = 0.2


def stratified_folds(
    y: IntArray,
    n_levels: int,
    folds: int,
    rng: np.random.Generator,
    cluster: IntArray | None = None,
) -> IntArray:
    """Assign rows to folds at random, with each level spread as evenly as possible.

    Clusters (or single rows) are assigned in random order, each to the fold with the
    fewest rows of its levels so far, then to the smallest fold.

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
        There are fewer rows or clusters than folds.

    Examples
    --------
    >>> y = np.array([0, 0, 1, 1, 2, 2])
    >>> fold = stratified_folds(y, 3, 2, np.random.default_rng(0))
    >>> [sorted(y[fold == f].tolist()) for f in range(2)]
    [[0, 1, 2], [0, 1, 2]]
    """
    labels = np.arange(y.size)
    if cluster is not None:
        labels = np.unique(cluster, return_inverse=True)[1]
    counts = np.zeros((int(labels.max()) + 1, n_levels))
    np.add.at(counts, (labels, y), 1.0)
    if folds > len(counts):
        what = "rows" if cluster is None else "clusters"
        raise OptionError(
            f"folds must not exceed the number of {what}, {len(counts)}; got {folds}."
        )
    held_out = np.zeros((folds, n_levels))
    chosen = np.empty(len(counts), dtype=np.intp)
    total = counts.sum(axis=0).clip(min=1.0)
    # Large clusters first, so that small ones can balance them; clusters of equal size
    # in random order.
    shuffled = rng.permutation(len(counts))
    for g in shuffled[np.argsort(-counts[shuffled].sum(axis=1), kind="stable")]:
        crowding = held_out @ (counts[g] / total)
        chosen[g] = np.lexsort((held_out.sum(axis=1), crowding))[0]
        held_out[chosen[g]] += counts[g]
    return chosen[labels]


def copies_kept_together(
    X: FloatArray, y: AnyArray, weights: FloatArray
) -> IntArray | None:
    """(N,) codes of identical rows, if copies must stay in one fold; else None.

    Copies in a table of few profiles, each with several levels, are answers of
    different people. So are few copies among rows that mostly occur once (Good 1953).
    But if columns distinguish nearly all rows and nearly all occur several times, a
    flexible model would recognise held-out rows by their copies.
    """
    profile = np.zeros(y.size, dtype=np.intp)
    sparse = sparse_part(X)
    if sparse is not None:
        profile = sparse.row_ranks()
    elif X.shape[1]:
        profile = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    pairs, code = np.unique(np.column_stack([y, profile]), axis=0, return_inverse=True)
    repeated = len(pairs) < y.size or bool((weights > 1.0).any())
    if not repeated or profile.max() + 1 <= 0.5 * len(pairs):
        return None
    code = np.asarray(code.ravel(), dtype=np.intp)
    times = np.bincount(code, weights)
    coincidence = times[times <= 1.0].sum() >= _SINGLE * times.sum()
    return None if coincidence else code


def _copies(weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """(n,) rows to deal out one by one, and the weight of each: w times a row of weight
    w if all weights are whole.
    """
    rows = np.arange(weights.size)
    whole_numbers = np.array_equal(weights, np.rint(weights))
    if not whole_numbers or weights.sum() > MOST_COPIES:
        return rows, weights
    copies = np.repeat(rows, weights.astype(np.intp))
    return copies, np.ones(copies.size)


def _by_fold(
    rows: IntArray, weights: FloatArray, fold: IntArray, n_folds: int, n_rows: int
) -> FloatArray:
    """(F, N) the weights held out, from the fold of each copy of a row."""
    return np.stack(
        [
            np.bincount(rows[fold == f], weights[fold == f], n_rows)
            for f in range(n_folds)
        ]
    )


def held_weights(
    X: FloatArray,
    y: AnyArray,
    weights: FloatArray,
    folds: int,
    rng: np.random.Generator,
    cluster: IntArray | None = None,
) -> FloatArray:
    """(F, N) weight of each row that each fold holds out; F = 0 if nothing can be held
    out.

    If all weights are whole, a row of weight w counts as w rows, unless identical rows
    must stay together (`copies_kept_together`). Clusters stay together. Each level
    keeps a row outside of each fold; with clusters, folds that contain all rows of a
    level are dropped.

    Parameters
    ----------
    X : (N, D)
    y : (N,) codes
    weights : (N,) > 0
    folds : int
        Largest number of folds.
    rng : numpy.random.Generator
    cluster : (N,) codes, optional
        Rows of a cluster stay together.
    """
    if cluster is not None:
        return _whole_clusters(y, weights, folds, rng, cluster)
    together = copies_kept_together(X, y, weights)
    if together is None:
        return _dealt(y, *_copies(weights), folds, rng)
    first = np.unique(together, return_index=True)[1]
    one_each = _dealt(y[first], np.arange(first.size), np.ones(first.size), folds, rng)
    return (one_each > 0.0)[:, together] * weights


def _whole_clusters(
    y: AnyArray,
    weights: FloatArray,
    folds: int,
    rng: np.random.Generator,
    cluster: IntArray,
) -> FloatArray:
    """`held_weights` with the rows of a cluster in one fold."""
    n_levels = int(y.max()) + 1
    folds = min(folds, np.unique(cluster).size)
    if folds < 2:
        return np.zeros((0, y.size))
    fold = stratified_folds(y.astype(np.intp), n_levels, folds, rng, cluster)
    held_out = weights * (fold == np.arange(folds)[:, None])
    inside = np.stack([np.bincount(y, weights - out, n_levels) for out in held_out])
    present = np.bincount(y, weights, n_levels) > 0.0
    return np.asarray(held_out[(inside[:, present] > 0.0).all(axis=1)])


def _dealt(
    y: AnyArray,
    copies: IntArray,
    weights: FloatArray,
    folds: int,
    rng: np.random.Generator,
) -> FloatArray:
    """(F, N) held-out weights of rows with codes y (N,), without the only copy of a
    level.
    """
    several = np.bincount(y[copies])[y[copies]] > 1
    copies = copies[several]
    folds = min(folds, copies.size)
    if folds < 2:
        return np.zeros((0, y.size))
    fold = stratified_folds(y[copies].astype(np.intp), int(y.max()) + 1, folds, rng)
    return _by_fold(copies, weights[several], fold, folds, y.size)


def held_out(
    sample: Sample, n_folds: int, rng: np.random.Generator, stratified: bool = True
) -> FloatArray:
    """(F, N) case weight of each row that each fold holds out; a row of weight w counts
    as w rows.

    Clusters stay together.

    Parameters
    ----------
    sample : Sample
    n_folds : int
        At least 2.
    rng : numpy.random.Generator
    stratified : bool
        Whether levels are spread evenly over the folds; else folds are simple random
        samples.
    """
    whole("the number of folds", n_folds, 2)
    rows, weights = _rows_to_deal(sample)
    y = sample.y[rows] if stratified else np.zeros(rows.size, dtype=np.intp)
    cluster = None if sample.cluster is None else sample.cluster[rows]
    fold = stratified_folds(y, sample.n_levels, n_folds, rng, cluster)
    return _by_fold(rows, weights, fold, n_folds, sample.n)


def _rows_to_deal(sample: Sample) -> tuple[IntArray, FloatArray]:
    """(n,) rows to assign to folds, and their weights.

    A row of weight w is w rows, unless clusters or identical rows stay together.
    """
    weights = sample.case_weights
    undivided = sample.weights is None or sample.cluster is not None
    if undivided or copies_kept_together(sample.X, sample.y, weights) is not None:
        return np.arange(sample.n), weights
    return _copies(weights)


def most_folds(sample: Sample) -> tuple[int, str]:
    """The largest number of folds of `held_out`, and what it is the number of."""
    if sample.cluster is not None:
        return np.unique(sample.cluster).size, "clusters"
    return _rows_to_deal(sample)[0].size, "rows"


def in_one_fold(sample: Sample, held: FloatArray, levels: Sequence[Any]) -> list[str]:
    """A sentence on levels that one of the folds `held` (F, N) holds out entirely;
    `levels` are the K labels.
    """
    left = sample.case_weights - held > 0.0
    lacking = [
        levels[code]
        for code in Present.of(sample).codes
        if not left[:, sample.y == code].any(axis=1).all()
    ]
    if not lacking:
        return []
    return [
        f"All rows of {shown_labels(lacking)} are in one fold: the fit to the other"
        " folds gives the level probability 0, so that log-loss is infinite. Join it"
        " with a neighbour, or use more rows or clusters."
    ]


def with_weights(sample: Sample, weights: FloatArray) -> Sample:
    """The sample with other weights (N,), without rows of weight 0."""
    inside = np.flatnonzero(weights > 0.0)
    part = sample.take(inside)
    if sample.weights is None:
        return part
    return replace(part, weights=weights[inside])


def split(sample: Sample, held: FloatArray) -> tuple[Sample, Sample]:
    """The training rows of a fold, and the rows that it holds out with weights `held`
    (N,).
    """
    return with_weights(sample, sample.case_weights - held), with_weights(sample, held)


def refuse_unused_clusters(method: Any, sample: Sample, instead: str) -> None:
    """Raise OptionError for clusters if the method makes no folds in which to keep them
    together.
    """
    if sample.cluster is not None and not method.own_folds:
        raise OptionError(
            f"{type(method).__name__} uses cluster= only for the folds of its own"
            f" cross-validation, and has none here. Remove cluster=, or {instead}."
        )


def stratified_part(y: AnyArray, most: int, rng: np.random.Generator) -> IntArray:
    """Increasing indices of all rows, or of about `most` rows, stratified by level,
    with ten of each level.

    Parameters
    ----------
    y : (N,) codes 0..K-1 in increasing order; every level is present
    most : int
    rng : numpy.random.Generator
    """
    n = y.size
    if n <= most:
        return np.arange(n)
    # Equidistant rows in a random order within the levels.
    shuffled = rng.permutation(n)
    ordered = shuffled[np.argsort(y[shuffled], kind="stable")]
    kept = np.linspace(0, n - 1, most).astype(np.intp)
    ends = np.searchsorted(y[ordered], np.arange(int(y[-1]) + 1))
    several = np.concatenate([np.arange(end, min(end + 10, n)) for end in ends])
    return np.sort(ordered[np.union1d(kept, several)])


def with_mean_weight_1(sample: Sample) -> Sample:
    """The sample with fractional weights scaled to mean 1, so that their scale does not
    matter.
    """
    weights = sample.weights
    if weights is None or np.array_equal(weights, np.rint(weights)):
        return sample
    return replace(
        sample, weights=weights * (np.count_nonzero(weights) / weights.sum())
    )
