"""Newton's method for convex functions of v = (w, theta), with theta_1 <= ... <= theta_Q where that is asked for.

Thresholds that would be out of order are tied, and untied where the multipliers of their order have the wrong sign. The
usual function is a loss of a linear score under every threshold, sum_nk W_nk loss(Y_nk (x_n'w + o_n - theta_k)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ._typing import FloatArray, IntArray
from .formula.sample import CACHED, row_blocks

_MOST_STEPS, _MOST_HALVINGS = 200, 40
# A step is taken once it brings this share of what the slope promises.
_ARMIJO = 1e-4
# Keeps the system regular where a threshold has no violating row, as a share of its largest diagonal element.
_REGULAR = 1e-12


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A function at a point with its gradient and Hessian."""

    value: float
    gradient: FloatArray
    hessian: FloatArray


Objective = Callable[[FloatArray], Evaluation]


#: From margins (n, Q), which may be overwritten, and weights (n, Q) to the loss, minus its derivative by each margin
#: (n, Q), and its curvature (n, Q).
Cells = Callable[[FloatArray, FloatArray], tuple[float, FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Minimum:
    """Where the method stopped.

    Attributes
    ----------
    coef : (D,)
    theta : (Q,)
    objective : (T,) at the start and after every step
    gradient : float
        Largest component of the gradient, tied thresholds being one parameter.
    """

    coef: FloatArray
    theta: FloatArray
    objective: FloatArray
    gradient: float


def summed(
    cells: Cells, X: FloatArray, labels: FloatArray, weights: FloatArray, offset: FloatArray, v: FloatArray
) -> Evaluation:
    """The loss of all rows and thresholds at v, without penalties."""
    D = X.shape[1]
    value, gradient, H = 0.0, np.zeros_like(v), np.zeros((v.size, v.size))
    for rows in row_blocks(len(labels), labels.shape[1], CACHED):
        x, Y = X[rows], labels[rows]
        margins = (x @ v[:D] + offset[rows])[:, None] - v[D:]
        margins *= Y
        loss, signal, curvature = cells(margins, weights[rows])
        value += loss
        signal *= Y
        gradient[:D] -= x.T @ signal.sum(axis=1)
        gradient[D:] += signal.sum(axis=0)
        H[:D, :D] += (x * curvature.sum(axis=1)[:, None]).T @ x
        H[:D, D:] -= x.T @ curvature
        H[D:, D:] += np.diag(curvature.sum(axis=0))
    H[D:, :D] = H[:D, D:].T
    return Evaluation(value, gradient, H)


def minimum(
    evaluate: Objective,
    v: FloatArray,
    n_thresholds: int = 0,
    *,
    ordered: bool = False,
    slack: float = 0.0,
    flat: float = 0.0,
    rounding: float = 0.0,
) -> Minimum:
    """The minimum of a convex function from a start v.

    Parameters
    ----------
    evaluate : callable
    v : (D + Q,)
    n_thresholds : int
        Q.
    ordered : bool
    slack : float
        A multiplier of the order must be this far below zero for its tie to be cut.
    flat : float
        Largest component of the gradient where the iteration ends.
    rounding : float
        Newton's decrement, as a share of the value, where it ends.
    """
    D = v.size - n_thresholds
    group, path = np.arange(n_thresholds), list[float]()
    while True:
        n_groups = int(group.max(initial=-1)) + 1
        tie = np.eye(v.size)[:, : D + n_groups]
        tie[D:, D:] = group[:, None] == np.arange(n_groups)
        v, here = _descended(evaluate, v, tie, flat, rounding, path)
        regrouped = _regrouped(v[D:], here.gradient[D:], group, slack) if ordered else None
        if regrouped is None or len(path) > _MOST_STEPS:
            break
        group = regrouped
        v = np.concatenate([v[:D], (np.bincount(group, v[D:]) / np.bincount(group))[group]])
    largest = float(np.abs(tie.T @ here.gradient).max(initial=0.0))
    return Minimum(coef=v[:D], theta=v[D:], objective=np.array(path), gradient=largest)


def _descended(
    evaluate: Objective, v: FloatArray, tie: FloatArray, flat: float, rounding: float, path: list[float]
) -> tuple[FloatArray, Evaluation]:
    """The minimum over the parameters that `tie` (D + Q, P) maps to v; values on the way are added to the path."""
    here = evaluate(v)
    path.append(here.value)
    for _ in range(_MOST_STEPS):
        gradient, H = tie.T @ here.gradient, tie.T @ here.hessian @ tie
        if np.abs(gradient).max(initial=0.0) <= flat:
            break
        H[np.diag_indices_from(H)] += _REGULAR * np.diagonal(H).max()
        direction = tie @ -cho_solve(cho_factor(H, overwrite_a=True), gradient)
        slope = float(here.gradient @ direction)
        if -slope <= rounding * abs(here.value):
            break
        moved = _step(evaluate, v, here.value, direction, slope)
        if moved is None:
            break
        v, here = moved
        path.append(here.value)
    return v, here


def _step(
    evaluate: Objective, v: FloatArray, value: float, direction: FloatArray, slope: float
) -> tuple[FloatArray, Evaluation] | None:
    """The point and what is there after a step that is halved until the value falls; None where it no longer does."""
    for halving in range(_MOST_HALVINGS):
        t = 0.5**halving
        moved = v + t * direction
        there = evaluate(moved)
        if there.value <= value + _ARMIJO * t * slope:
            return moved, there
    return None


def _regrouped(theta: FloatArray, gradient: FloatArray, group: IntArray, slack: float) -> IntArray | None:
    """Groups joined where the next threshold lies below, or that with the worst multiplier cut; None where neither is.

    The multiplier of theta_k <= theta_{k+1} is minus the sum of the gradients (Q,) of its group up to k.
    """
    if (np.diff(theta) < 0.0).any():
        apart = (np.diff(group) > 0) & (np.diff(theta) >= 0.0)
        return np.concatenate([[0], np.cumsum(apart)]).astype(np.intp)
    tied = np.flatnonzero(np.diff(group) == 0)
    sums = np.cumsum(gradient)
    before = np.concatenate([[0.0], sums])[np.searchsorted(group, group)]
    multipliers = (before - sums)[tied]
    if not tied.size or multipliers.min() >= -slack:
        return None
    cut = tied[int(np.argmin(multipliers))]
    return np.asarray(group + (np.arange(group.size) > cut))
