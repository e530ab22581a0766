"""Logistic loss of every threshold at once: of a linear score by Newton's method, of a network by L-BFGS.

The first minimises  alpha/2 |w|^2 + sum_nk W_nk log(1 + exp(-Y_nk (x_n'w + o_n - theta_k)))  over w and
theta_1 <= ... <= theta_{K-1}.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy.special import expit

from ..._typing import FloatArray
from ...model.reduction.extended import Extended
from ..ordered_newton import Evaluation, Minimum, minimum, summed

_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class ThresholdLogistic:
    """The loss of a linear score, with ordered thresholds.

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


@dataclass(frozen=True, eq=False)
class NetworkSolution:
    """A local minimum.

    Attributes
    ----------
    inner : (J, D)
    bias : (J,)
    outer : (J,)
    theta : (K-1,)
    objective : (T,) after every step
    gradient : float
        Largest entry, as a share of the total weight.
    """

    inner: FloatArray
    bias: FloatArray
    outer: FloatArray
    theta: FloatArray
    objective: FloatArray
    gradient: float


@dataclass(frozen=True, eq=False, kw_only=True)
class ThresholdNetwork:
    """The loss under a network of one hidden layer, see `OrdinalNetwork`; by L-BFGS.

    Attributes
    ----------
    X : (N, D)
    extended : Extended
        Both labels under every threshold.
    penalty : float
    hidden : int
    """

    X: FloatArray
    extended: Extended
    penalty: float
    hidden: int

    def solve(self, rng: np.random.Generator, max_iter: int, tolerance: float) -> NetworkSolution:
        """From a random start until the largest gradient is `tolerance` of the total weight."""
        from scipy.optimize import minimize

        total = float(self.extended.weights.sum())
        objective: list[float] = []

        def scaled(v: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = self.evaluate(v)
            return value / total, gradient / total

        def note(intermediate_result: Any) -> None:
            objective.append(float(intermediate_result.fun) * total)

        start = self._start(rng)
        objective.append(self.evaluate(start)[0])
        options = {"maxiter": max_iter, "maxfun": 4 * max_iter, "gtol": 0.1 * tolerance, "ftol": 0.0, "maxcor": 30}
        found = cast(Any, minimize)(scaled, start, jac=True, method="L-BFGS-B", callback=note, options=options)
        return NetworkSolution(*self._parts(found.x), np.array(objective), float(np.abs(found.jac).max()))

    def evaluate(self, v: FloatArray) -> tuple[float, FloatArray]:
        """Objective and gradient at all parameters v: inner, bias, outer, theta."""
        inner, bias, outer, theta = self._parts(v)
        hidden = np.tanh(self.X @ inner.T + bias)
        z, w = self.extended.labels, self.extended.weights
        m = z * ((hidden @ outer)[:, None] - theta)
        signal = w * z * expit(-m)
        above = signal.sum(axis=1)
        back = -above[:, None] * outer * (1.0 - np.square(hidden))
        value = float((w * np.logaddexp(0.0, -m)).sum())
        value += 0.5 * self.penalty * float(np.square(inner).sum() + np.square(outer).sum())
        parts = (
            (back.T @ self.X + self.penalty * inner).ravel(),
            back.sum(axis=0),
            self.penalty * outer - above @ hidden,
            signal.sum(axis=0),
        )
        return value, np.concatenate(parts)

    def _parts(self, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        d, j = self.X.shape[1], self.hidden
        inner, bias, outer, theta = np.split(v, [j * d, j * d + j, j * d + 2 * j])
        return inner.reshape(j, d), bias, outer, theta

    def _start(self, rng: np.random.Generator) -> FloatArray:
        """Random hidden units that the score does not use yet; thresholds at the log odds of the labels.

        From outer weights of 0 the mirrored ranks go the mirrored way.
        """
        d, j = self.X.shape[1], self.hidden
        return np.concatenate([rng.standard_normal(j * d + j), np.zeros(j), log_odds(self.extended)])
