"""Ordinal ranking as weighted binary classification: every row asks K-1 questions "rank above k?".

Extended examples (x_n, k) keep the shape (N, K-1); X is never copied [Lin 2008, sec. 4.1].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray, IntArray
from .costs import split_weights


@dataclass(frozen=True, eq=False)
class Extended:
    """Labels and weights of the extended examples.

    Attributes
    ----------
    labels : (N, K-1)
        Y_nk = +1.0 where y_n > k, else -1.0.
    weights : (N, K-1)
        W_nk = w_n |c_n[k+1] - c_n[k]| >= 0.
    """

    labels: FloatArray
    weights: FloatArray


def labels_above(y: IntArray, n_levels: int) -> FloatArray:
    """(N, K-1) answers to "rank above k?": +1.0 or -1.0 for codes y (N,)."""
    return np.where(np.asarray(y)[:, None] > np.arange(n_levels - 1), 1.0, -1.0)


def extend(y: IntArray, costs: FloatArray, case_weights: FloatArray) -> Extended:
    """Reduce a ranking problem to binary examples [Lin 2008, eq. 4.3-4.4, without the common factor K - 1].

    Parameters
    ----------
    y : (N,) codes 0..K-1
    costs : (N, K)
        Price of every prediction for every row.
    case_weights : (N,) >= 0

    Examples
    --------
    >>> from ordstat.model.costs import CostMatrix
    >>> y = np.array([0, 2])
    >>> extend(y, CostMatrix.absolute().rows(y, 3), np.array([1.0, 2.0]))
    Extended(labels=array([[-1., -1.],
           [ 1.,  1.]]), weights=array([[1., 1.],
           [2., 2.]]))
    """
    return Extended(labels_above(y, costs.shape[1]), split_weights(costs) * case_weights[:, None])
