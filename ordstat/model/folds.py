"""Parts of a sample for cross-validation."""

from __future__ import annotations

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..exceptions import OptionError

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
