"""Parts of a sample for cross-validation."""

from __future__ import annotations

import numpy as np

from .._typing import IntArray
from ..exceptions import OptionError


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
