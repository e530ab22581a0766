"""Ordinal ranking as weighted binary classification: every row asks K-1 questions "rank above k?".

Extended examples (x_n, k) keep the shape (N, K-1); X is never copied [Lin 2008, sec. 4.1].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray, IntArray
from ...exceptions import DataError
from ..costs import is_convex, split_weights
from ..distinct import DistinctRows
from ..ensembles.rankers import answers
from ..fit import CostBound, MarginFit
from ..rules import count_above
from .answers import out_of_order

# Steps of costs that differ by less than this share are alike.
_ALIKE = 1e-12


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
    return Extended(answers(y, costs.shape[1]), split_weights(costs) * case_weights[:, None])


@dataclass(frozen=True, eq=False, kw_only=True)
class ReductionFit(MarginFit):
    """Answers of a binary classifier to "rank above k?".

    Attributes
    ----------
    bound : CostBound, None where the theorem is silent
    crossed : float
        Weight of the training rows whose answers contradict each other, or whose probabilities of answers do.
    """

    bound: CostBound | None = None
    crossed: float = 0.0


def reverse_reduce(extended: Extended) -> tuple[IntArray, FloatArray]:
    """Ranks and costs that stand for weighted answers: the inverse of `extend` [Lin 2008, eq. 4.5].

    A ranker of cost c on them answers "rank above k?" with a weighted error of c.

    Parameters
    ----------
    extended : Extended
        Labels that do not grow in k, +1 up to the rank and -1 from it on.

    Returns
    -------
    y : (N,) codes
    costs : (N, K), V-shaped, 0 at y

    Raises
    ------
    DataError
        Labels that contradict each other.

    Examples
    --------
    >>> y, costs = reverse_reduce(Extended(np.array([[1.0, -1.0]]), np.array([[2.0, 3.0]])))
    >>> y.tolist(), costs.tolist()
    ([1], [[2.0, 0.0, 3.0]])
    """
    above = extended.labels > 0
    broken = np.flatnonzero((above[:, 1:] & ~above[:, :-1]).any(axis=1))
    if broken.size:
        raise DataError(
            f"the answers of row {broken[0]} contradict each other: a label +1 (above k) follows a -1; reverse "
            "reduction takes answers that a rank could give."
        )
    y = np.count_nonzero(above, axis=1).astype(np.intp)
    # c[k+1] - c[k] is -w below the rank and +w from it on.
    path = np.cumsum(np.where(above, -1.0, 1.0) * extended.weights, axis=1)
    costs = np.concatenate([np.zeros((len(y), 1)), path], axis=1)
    costs -= np.take_along_axis(costs, y[:, None], axis=1)
    # Sums of rounding must not make the true rank dearer than its neighbours.
    return y, np.maximum(costs, 0.0)


def alike(steps: FloatArray) -> bool:
    """Whether the weights of every question, the columns of (N, K-1), are the same for all rows."""
    return bool((np.ptp(steps, axis=0) <= _ALIKE * steps.max()).all())


def binary_cost(gaps: FloatArray, extended: Extended) -> float:
    """Weight of the wrong answers among g(x_n, k) (N, K-1); an answer of 0 is no."""
    return float(extended.weights[np.where(gaps > 0, 1.0, -1.0) != extended.labels].sum())


def training_bound(train: DistinctRows, gaps: FloatArray, extended: Extended) -> CostBound | None:
    """Cost of the training rows by the weight of wrong answers [th. 4.1]; None where the theorem is silent."""
    if not is_convex(train.costs) and out_of_order(np.sign(gaps)).any():
        return None
    codes = count_above(gaps)
    above = train.costs[np.arange(train.n), codes] - train.costs[np.arange(train.n), train.y]
    total = float(train.weights.sum())
    return CostBound(
        value=float(train.weights @ above) / total,
        limit=binary_cost(gaps, extended) / total,
        source="Lin 2008, th. 4.1",
    )
