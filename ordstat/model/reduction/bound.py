"""The cost of wrong answers of binary classifiers, and the cost of ranks that it bounds."""

from __future__ import annotations

import numpy as np

from ..._typing import FloatArray
from ..costs import is_convex
from ..distinct import DistinctRows
from ..fit import CostBound
from ..rules import count_above
from .answers import out_of_order
from .extended import Extended

# Steps of costs that differ by less than this share are alike.
_ALIKE = 1e-12


def alike(steps: FloatArray) -> bool:
    """Whether the weights of every question, the columns of (N, K-1), are the same for all rows."""
    return bool((np.ptp(steps, axis=0) <= _ALIKE * steps.max()).all())


def binary_cost(gaps: FloatArray, extended: Extended) -> float:
    """Weight of the wrong answers among g(x_n, k) (N, K-1); an answer of 0 is no."""
    answers = np.where(gaps > 0, 1.0, -1.0)
    return float(extended.weights[answers != extended.labels].sum())


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
