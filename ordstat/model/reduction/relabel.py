"""Random labels in place of costs: rejection sampling of rows, then a label by its weight [Lin 2008, alg. 2.2]."""

from __future__ import annotations

import numpy as np

from ..._typing import FloatArray
from ...exceptions import DataError
from .decomposition import label_weights

# A sum of weights this close to a whole number is one.
_ROUNDING = 1e-9
# Rows that can be drawn at once.
_MOST = 1e18


def drawn_labels(X: FloatArray, costs: FloatArray, case_weights: FloatArray, rng: np.random.Generator) -> FloatArray:
    """(N, K) number of times that each row was accepted with each label.

    A row is accepted with a probability proportional to sum_l q[l], q = `label_weights`, the largest being 1, and then
    gets label l with probability q[l] / sum q. A case weight w stands for w rows, each drawn on its own; what a weight
    has beyond a whole number is one more row with that probability. The draws depend on which rows there are, not on
    their order, and a weighted row is drawn like repeated ones (all counted at the first of them).

    Parameters
    ----------
    X : (N, D)
    costs : (N, K)
    case_weights : (N,) >= 0
    rng : numpy.random.Generator

    Raises
    ------
    DataError
        The weights stand for more rows than can be drawn, or for so few that none was.
    """
    counts = np.zeros(costs.shape)
    used = np.flatnonzero(case_weights > 0)
    q = label_weights(costs[used])
    largest = float(q.sum(axis=1).max(initial=0.0))
    if largest == 0.0:
        return counts
    # Adding 0 makes -0 and 0 one value.
    _, first, group = np.unique(
        np.column_stack([X[used], costs[used]]) + 0.0, axis=0, return_index=True, return_inverse=True
    )
    total = np.bincount(group.ravel(), weights=case_weights[used])
    if total.sum() > _MOST:
        raise DataError(
            f"the weights add up to {total.sum():g} rows, and labels can be drawn for {_MOST:g}: divide the weights by "
            "what they have in common."
        )
    whole = np.floor(total + _ROUNDING)
    copies = whole + (rng.random(total.size) < total - whole)
    chances = np.column_stack([q[first] / largest, np.zeros(total.size)])
    chances[:, -1] = np.maximum(1.0 - chances.sum(axis=1), 0.0)
    chances /= chances.sum(axis=1, keepdims=True)
    counts[used[first]] = rng.multinomial(copies.astype(np.int64), chances)[:, :-1]
    if not counts.any():
        raise DataError(
            f"the weights add up to {total.sum():g} rows, and none of them was drawn: multiply the weights, so that "
            "they count rows."
        )
    return counts
