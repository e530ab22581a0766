"""Rows that exchange their values: permutations, for rows of unequal weight too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray, IntArray

#: Rows of whole weights are dealt out one by one while there are not more of them.
_MOST_ROWS = 10_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Exchange:
    """Which row has the values of which other.

    Attributes
    ----------
    rows, donors : (M,) places 0..N-1
        The row, and the row whose values it has.
    weights : (M,) > 0
        Those of a row sum to its weight, and so do those of a donor.
    """

    rows: IntArray
    donors: IntArray
    weights: FloatArray


def exchange(weights: FloatArray, rng: np.random.Generator) -> Exchange:
    """A random permutation of rows, in which a row of weight w is w rows.

    Rows and donors are laid out on a line, each as long as its weight, in random orders; a row has the values of the
    donors that it lies over. Equal weights make it a plain permutation. The line of the donors is turned by a random
    length, so that a row is expected to have any donor's values in proportion to the donor's weight.

    Parameters
    ----------
    weights : (N,) > 0
    rng : numpy.random.Generator

    Examples
    --------
    >>> import numpy as np
    >>> found = exchange(np.array([2.0, 0.5, 1.5]), np.random.default_rng(1))
    >>> np.bincount(found.rows, found.weights), np.bincount(found.donors, found.weights)
    (array([2. , 0.5, 1.5]), array([2. , 0.5, 1.5]))
    """
    n = np.arange(weights.size)
    whole = bool((weights == np.rint(weights)).all())
    if np.ptp(weights) == 0.0:
        return Exchange(rows=n, donors=rng.permutation(n.size), weights=weights)
    if whole and weights.sum() <= _MOST_ROWS:
        rows = np.repeat(n, weights.astype(np.intp))
        return Exchange(rows=rows, donors=rng.permutation(rows), weights=np.ones(rows.size))
    return _laid_over(weights, rng)


def _laid_over(weights: FloatArray, rng: np.random.Generator) -> Exchange:
    """`exchange` of unequal weights."""
    rows, donors = rng.permutation(weights.size), rng.permutation(weights.size)
    ends, other = np.cumsum(weights[rows]), np.cumsum(weights[donors])
    total = ends[-1]
    turn = rng.uniform(0.0, total)
    cuts = np.unique(np.concatenate(([0.0, total], ends[:-1], (other[:-1] + turn) % total, [turn])))
    lengths = np.diff(cuts)
    middles = cuts[:-1] + 0.5 * lengths
    over = np.searchsorted(ends[:-1], middles)
    under = np.searchsorted(other[:-1], (middles - turn) % total)
    order = np.argsort(rows[over], kind="stable")
    return Exchange(rows=rows[over][order], donors=donors[under][order], weights=lengths[order])
