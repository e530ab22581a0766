"""From the answers of K-1 binary classifiers to scores of K ranks [Tutz & Hechenbichler 2003, sec. 3.1]."""

from __future__ import annotations

from math import lcm

import numpy as np

from ..._typing import FloatArray, IntArray

# From this many splits on their common multiple times their number is no exact float any more.
_EXACT = 36


def below(y: IntArray, n_levels: int) -> IntArray:
    """(K-1, N) class of every split r = 1..K-1: 0 where the rank is at most r, else 1.

    Examples
    --------
    >>> below(np.array([0, 1, 2]), 3).tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    return (np.asarray(y) > np.arange(n_levels - 1)[:, None]).astype(np.intp)


def split_scores(above: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """(N, K) s_j = sum_r PV_r yhat_j^(r) of the rule (2): each split shares its vote among the ranks on its side.

    yhat_j^(r) is 1/r for the r ranks j <= r where the answer is "at most r", and 1/(K-r) for those above where it is
    "above r"; 0 for the others.

    Parameters
    ----------
    above : (N, K-1)
        1 where split r answers "above r", else 0.
    weights : (N, K-1), optional
        PV_r; 1 if not given.

    Examples
    --------
    >>> split_scores(np.array([[1.0, 0.0]])).tolist()
    [[0.5, 1.0, 0.5]]
    """
    n_splits = above.shape[1]
    ranks = np.arange(1, n_splits + 1)
    # Whole numbers add up without rounding, so that equal scores stay equal.
    common = float(lcm(*range(1, n_splits + 1))) if weights is None and n_splits < _EXACT else 1.0
    weight = np.ones_like(above) if weights is None else weights
    low, high = (1.0 - above) * weight * (common / ranks), above * weight * (common / (n_splits + 1 - ranks))
    return _spread(low, high) / common


def share_scores(above: FloatArray) -> FloatArray:
    """(N, K) yhat_j = sum_{r >= j} p_r + sum_{r < j} (1 - p_r) of eq. 6, p_r = P(Y <= r).

    Parameters
    ----------
    above : (N, K-1)
        1 - p_r.

    Examples
    --------
    >>> share_scores(np.array([[0.75, 0.25]])).tolist()
    [[1.0, 1.5, 1.0]]
    """
    return _spread(1.0 - above, above)


def _spread(low: FloatArray, high: FloatArray) -> FloatArray:
    """(N, K) sum_{r >= j} low_r + sum_{r < j} high_r."""
    none = np.zeros((len(low), 1))
    from_below = np.concatenate([none, np.cumsum(high, axis=1)], axis=1)
    from_above = np.concatenate([np.cumsum(low[:, ::-1], axis=1)[:, ::-1], none], axis=1)
    return np.asarray(from_below + from_above)
