"""Logistic loss of every threshold under a network of one hidden layer, by L-BFGS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy.special import expit

from ..._typing import FloatArray
from ...model.reduction.extended import Extended
from .logistic import log_odds


@dataclass(frozen=True, eq=False, kw_only=True)
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
    """The problem, see `OrdinalNetwork`.

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
        inner, bias, outer, theta = self._parts(found.x)
        return NetworkSolution(
            inner=inner,
            bias=bias,
            outer=outer,
            theta=theta,
            objective=np.array(objective),
            gradient=float(np.abs(found.jac).max()),
        )

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
