"""Logistic loss of every threshold at once: Newton's method with ordered thresholds.

Minimises  alpha/2 |w|^2 + sum_nk W_nk log(1 + exp(-Y_nk (x_n'w + o_n - theta_k)))  over w and theta_1 <= ... <=
theta_{K-1}. Convex; thresholds that would be out of order are tied, and untied where the multipliers of their order
have the wrong sign.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from ..._typing import FloatArray, IntArray
from ...model.reduction.extended import Extended

_MOST_STEPS = 200
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class ThresholdSolution:
    """The optimum.

    Attributes
    ----------
    coef : (D,)
    theta : (K-1,) not falling
    objective : (T,) after every step
    gradient : float
        Largest gradient of free parameters, as a share of the total weight.
    """

    coef: FloatArray
    theta: FloatArray
    objective: FloatArray
    gradient: float


@dataclass(frozen=True, eq=False)
class _Value:
    objective: float
    gradient: FloatArray
    signal: FloatArray  # (N, K-1) W Y expit(-Y m)
    curvature: FloatArray  # (N, K-1)


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

    def solve(self) -> ThresholdSolution:
        """The optimum by active sets of ties."""
        questions, d = self.extended.labels.shape[1], self.X.shape[1]
        group = np.arange(questions)
        v = np.concatenate([np.zeros(d), self._start()])
        objective: list[float] = []
        while True:
            v, value = self._newton(v, group, objective)
            theta = v[d:]
            if (np.diff(theta[group]) < 0).any():
                pooled = _pooled(theta[group], group)
                v = np.concatenate([v[:d], _means(theta[group], pooled)])
                group = pooled
                continue
            split = _released(value.signal.sum(axis=0), group, _TOLERANCE * self.total)
            if split is None or len(objective) > _MOST_STEPS:
                break
            v = np.concatenate([v[:d], _means(theta[group], split)])
            group = split
        return ThresholdSolution(
            coef=v[:d],
            theta=v[d:][group],
            objective=np.array(objective),
            gradient=float(np.abs(value.gradient).max(initial=0.0) / self.total),
        )

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.extended.weights.sum())

    def _start(self) -> FloatArray:
        """Thresholds at the log odds of the labels, w being 0."""
        w = self.extended.weights
        yes = (w * (self.extended.labels > 0)).sum(axis=0)
        centre = float(np.average(self.offset, weights=w.sum(axis=1)))
        return np.maximum.accumulate(np.log((w.sum(axis=0) - yes) / yes)) + centre

    def _newton(self, v: FloatArray, group: IntArray, objective: list[float]) -> tuple[FloatArray, _Value]:
        """Steps until the gradient vanishes, thresholds of one group being one parameter."""
        value = self._at(v, group)
        objective.append(value.objective)
        for _ in range(_MOST_STEPS):
            if np.abs(value.gradient).max(initial=0.0) <= _TOLERANCE * self.total:
                break
            step = self._step(value, group)
            slope, size = float(value.gradient @ step), 1.0
            ahead = self._at(v + step, group)
            while ahead.objective > value.objective + 1e-4 * size * slope and size > 1e-12:
                size /= 2.0
                ahead = self._at(v + size * step, group)
            if not ahead.objective <= value.objective:
                break
            v, value = v + size * step, ahead
            objective.append(value.objective)
        return v, value

    def _at(self, v: FloatArray, group: IntArray) -> _Value:
        d = self.X.shape[1]
        w, theta = v[:d], v[d:][group]
        z, weights = self.extended.labels, self.extended.weights
        m = z * ((self.X @ w + self.offset)[:, None] - theta)
        wrong = expit(-m)
        signal = weights * z * wrong
        gradient = np.concatenate([self.alpha * w - self.X.T @ signal.sum(axis=1), _sums(signal.sum(axis=0), group)])
        objective = float((weights * np.logaddexp(0.0, -m)).sum() + 0.5 * self.alpha * (w @ w))
        return _Value(objective, gradient, signal, weights * wrong * expit(m))

    def _step(self, value: _Value, group: IntArray) -> FloatArray:
        d, s = self.X.shape[1], value.curvature
        ties = (group[:, None] == np.arange(group[-1] + 1)).astype(np.float64)
        cross = -(self.X.T @ s) @ ties
        hessian = np.block(
            [
                [(self.X * s.sum(axis=1)[:, None]).T @ self.X + self.alpha * np.eye(d), cross],
                [cross.T, np.diag(s.sum(axis=0) @ ties)],
            ]
        )
        # A ridge of rounding keeps the factor where curvature has died out.
        hessian[np.diag_indices_from(hessian)] += (
            1e-12 * max(float(np.trace(hessian)), 0.01 * self.total) / len(hessian)
        )
        step: FloatArray = -cho_solve(cho_factor(hessian), value.gradient)
        return step


def _sums(values: FloatArray, group: IntArray) -> FloatArray:
    return np.bincount(group, weights=values).astype(np.float64)


def _means(values: FloatArray, group: IntArray) -> FloatArray:
    means: FloatArray = np.bincount(group, weights=values) / np.bincount(group)
    return means


def _pooled(theta: FloatArray, group: IntArray) -> IntArray:
    """Groups joined where the next threshold lies below."""
    apart = (np.diff(group) > 0) & (np.diff(theta) >= 0)
    joined: IntArray = np.concatenate([[0], np.cumsum(apart)]).astype(np.intp)
    return joined


def _released(gradient: FloatArray, group: IntArray, slack: float) -> IntArray | None:
    """Groups with the tie cut whose multiplier is most negative; None where none is.

    gradient (K-1,) is that of every threshold. The multiplier of theta_k <= theta_{k+1} is minus the sum of the
    gradients of its group up to k.
    """
    sums = np.cumsum(gradient)
    starts = np.searchsorted(group, group)
    before = np.concatenate([[0.0], sums])[starts]
    tied = np.flatnonzero(np.diff(group) == 0)
    multipliers = -(sums - before)[tied]
    if not tied.size or multipliers.min() >= -slack:
        return None
    cut = tied[int(np.argmin(multipliers))]
    released: IntArray = group + (np.arange(group.size) > cut)
    return released
