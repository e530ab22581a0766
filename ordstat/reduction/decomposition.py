"""Cost-sensitive classification into K levels as weighted binary problems [Lin 2008, chapter 2].

Costs are (N, K), the price of predicting k for row n, of any shape: nothing here uses the order of the levels. Random
labels may stand for them: rejection sampling of rows, then a label by its weight [alg. 2.2].
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from .._typing import FloatArray, IntArray
from ..exceptions import DataError
from .learners import Binary

# A sum of weights this close to a whole number is one.
_ROUNDING = 1e-9
# Rows that can be drawn at once.
_MOST = 1e18


def label_weights(costs: FloatArray) -> FloatArray:
    """(N, K) weights q[l] = c_max - c[l] of the labels that a cost vector stands for [eq. 2.2].

    Up to a constant of the row, sum_l q[l] [k != l] is the cost c[k] of every prediction k, and of the weights
    q >= 0 for which that holds these spread least.

    Examples
    --------
    >>> label_weights(np.array([[0.0, 1.0, 1.0, 334.0]]))
    array([[334., 333., 333.,   0.]])
    """
    return np.asarray(costs.max(axis=1, keepdims=True) - costs)


def support_weights(costs: FloatArray, y: IntArray) -> FloatArray:
    """(N, K) weight of row n in the problem "is it level l?" [eq. 2.5].

    With q = `label_weights`: q[l] where y = l, and q_max - q[l] = c[l] - c_min elsewhere.

    Examples
    --------
    >>> support_weights(np.array([[0.0, 1.0, 4.0]]), np.array([0]))
    array([[4., 1., 4.]])
    """
    own = np.arange(costs.shape[1]) == np.asarray(y)[:, None]
    return np.where(own, label_weights(costs), costs - costs.min(axis=1, keepdims=True))


def all_pairs_potential(costs: FloatArray) -> FloatArray:
    """(N, K) integrals from the least cost to c[l] of 1 / |{k : c[k] <= t}| dt [eq. 2.7].

    Their differences are the weights of weighted all-pairs (Beygelzimer et al. 2005).

    Examples
    --------
    >>> all_pairs_potential(np.array([[0.0, 1.0, 4.0]]))
    array([[0. , 1. , 2.5]])
    """
    order = np.argsort(costs, axis=1, kind="stable")
    steps = np.diff(np.take_along_axis(costs, order, axis=1), axis=1)
    # Between the j-th and the next cost j levels cost no more.
    steps /= np.arange(1, costs.shape[1])
    rising = np.concatenate([np.zeros((len(costs), 1)), np.cumsum(steps, axis=1)], axis=1)
    potential = np.empty_like(rising)
    np.put_along_axis(potential, order, rising, axis=1)
    return potential


def level_pairs(n_levels: int) -> list[tuple[int, int]]:
    """The K (K - 1) / 2 pairs i < j of codes, in the order in which their problems come."""
    return list(combinations(range(n_levels), 2))


def against_the_rest(costs: FloatArray, y: IntArray, case_weights: FloatArray) -> tuple[Binary, ...]:
    """K problems "is it level l?" under the weights of eq. 2.5; plain one-versus-all for the classification cost."""
    weights = support_weights(costs, y) * case_weights[:, None]
    rows = np.arange(len(costs))
    return tuple(Binary.of(rows, np.where(y == k, 1.0, -1.0), w) for k, w in enumerate(weights.T))


def against_each_other(potential: FloatArray, case_weights: FloatArray) -> tuple[Binary, ...]:
    """K (K - 1) / 2 problems "j rather than i?", the level of smaller potential being right, by the difference.

    The potential is the cost itself [eq. 2.6] or `all_pairs_potential` [eq. 2.7], (N, K).
    """
    rows = np.arange(len(potential))
    gain = ((i, j, potential[:, i] - potential[:, j]) for i, j in level_pairs(potential.shape[1]))
    return tuple(Binary.of(rows, np.where(g > 0, 1.0, -1.0), np.abs(g) * case_weights) for _, _, g in gain)


def labelled_pairs(weights: FloatArray) -> tuple[Binary, ...]:
    """K (K - 1) / 2 problems "j rather than i?" among examples that carry several weighted labels (N, K) each."""
    rows = np.arange(len(weights))
    twice, sides = np.concatenate([rows, rows]), np.repeat([-1.0, 1.0], len(rows))
    pairs = level_pairs(weights.shape[1])
    return tuple(Binary.of(twice, sides, np.concatenate([weights[:, i], weights[:, j]])) for i, j in pairs)


def pair_votes(scores: FloatArray, n_levels: int) -> FloatArray:
    """(N, K) number of pairs that each level wins, from scores (N, K (K - 1) / 2); a score of 0 is for the lower.

    Examples
    --------
    >>> pair_votes(np.array([[1.0, -1.0, 0.0]]), 3)
    array([[1., 2., 0.]])
    """
    votes = np.zeros((len(scores), n_levels))
    for (i, j), score in zip(level_pairs(n_levels), scores.T, strict=True):
        votes[:, j] += score > 0
        votes[:, i] += score <= 0
    return votes


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
