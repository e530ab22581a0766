"""Logistic loss of every threshold at once: Newton's method with ordered thresholds.

Minimises  alpha/2 |w|^2 + sum_nk W_nk log(1 + exp(-Y_nk (x_n'w + o_n - theta_k)))  over w and theta_1 <= ... <=
theta_{K-1}.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from ..._typing import FloatArray
from ...model.reduction.extended import Extended
from ..ordered_newton import Evaluation, Minimum, minimum, summed

_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class ThresholdLogistic:
    """The problem.

    Attributes
    ----------
    X : (N, D)
    extended : Extended
        Both labels under every threshold.
    alpha : float >= 0
    offset : (N,)
    """

    X: FloatArray
    extended: Extended
    alpha: float
    offset: FloatArray

    def solve(self) -> Minimum:
        """The optimum; its gradient as a share of the total weight."""
        weights = self.extended.weights
        total = float(weights.sum())
        centre = float(np.average(self.offset, weights=weights.sum(axis=1)))
        theta = np.maximum.accumulate(log_odds(self.extended)) + centre
        least = _TOLERANCE * total
        start = np.concatenate([np.zeros(self.X.shape[1]), theta])
        found = minimum(self._at, start, theta.size, ordered=True, slack=least, flat=least)
        return replace(found, gradient=found.gradient / total)

    def _at(self, v: FloatArray) -> Evaluation:
        found = summed(_cells, self.X, self.extended.labels, self.extended.weights, self.offset, v)
        d = self.X.shape[1]
        found.gradient[:d] += self.alpha * v[:d]
        found.hessian[:d, :d] += self.alpha * np.eye(d)
        return replace(found, value=found.value + 0.5 * self.alpha * float(v[:d] @ v[:d]))


def log_odds(extended: Extended) -> FloatArray:
    """(K-1,) those of the labels -1, the best thresholds without a score."""
    weights = extended.weights
    yes = (weights * (extended.labels > 0)).sum(axis=0)
    return np.asarray(np.log((weights.sum(axis=0) - yes) / yes))


def _cells(margins: FloatArray, weights: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    signal = weights * expit(-margins)
    return float(np.vdot(weights, np.logaddexp(0.0, -margins))), signal, signal * expit(margins)
