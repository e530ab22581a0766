"""The best offset and the best thresholds for given scores: weighted quantiles, pooled where an order is asked for.

The hinge losses are convex and piecewise linear in b and in each theta_k, their slopes growing by W_nk at the knots
Y_nk - f_n + theta_k of b and f_n - Y_nk of theta_k. Minimisers that are an interval are told by their midpoint.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import BoolArray, FloatArray

# Sums of weights that differ by less than this share are equal.
_TIE = 1e-12


@dataclass(frozen=True, eq=False)
class _Loss:
    """A convex, piecewise linear function: its slope starts at -target and grows by `weights` at `knots`."""

    knots: FloatArray
    weights: FloatArray
    target: float

    def __add__(self, other: _Loss) -> _Loss:
        knots, weights = np.append(self.knots, other.knots), np.append(self.weights, other.weights)
        return _Loss(knots, weights, self.target + other.target)

    def minimisers(self) -> tuple[float, float]:
        """Both ends of the interval of minimisers; the finite end twice where the interval is unbounded."""
        order = np.argsort(self.knots)
        reached = np.cumsum(self.weights[order])
        slack = _TIE * reached[-1]
        first = min(int(np.searchsorted(reached, self.target - slack)), len(order) - 1)
        last = min(int(np.searchsorted(reached, self.target + slack, side="right")), len(order) - 1)
        if self.target <= slack:
            last = first
        return float(self.knots[order[first]]), float(self.knots[order[last]])


def best_offset(labels: FloatArray, weights: FloatArray, scores: FloatArray, theta: FloatArray) -> float:
    """The b that minimises sum_nk W_nk [1 - Y_nk (f_n + b - theta_k)]_+; 0 where nothing has weight.

    Parameters
    ----------
    labels, weights : (N, Q)
    scores : (N,)
    theta : (Q,)
    """
    loss = _loss(labels - scores[:, None] + theta, weights, labels > 0)
    return 0.0 if loss is None else 0.5 * sum(loss.minimisers())


def best_thresholds(labels: FloatArray, weights: FloatArray, scores: FloatArray, *, ordered: bool) -> FloatArray:
    """(Q,) the theta that minimises sum_nk W_nk [1 - Y_nk (f_n - theta_k)]_+.

    Parameters
    ----------
    labels, weights : (N, Q)
    scores : (N,)
    ordered : bool
        Among theta_1 <= ... <= theta_Q.

    Notes
    -----
    A threshold whose rows all lie on one side takes the nearest place without loss; one without any row that of the
    threshold before it (after it at the lower end); all are 0 where nothing has weight.
    """
    columns = [_loss(scores - Y, W, Y < 0) for Y, W in zip(labels.T, weights.T, strict=True)]
    losses = [loss for loss in columns if loss is not None]
    if not losses:
        return np.zeros(len(columns))
    if ordered:
        # Both are in order and optimal, and so is their mean.
        found = 0.5 * (_pooled(losses, 0) + _pooled(losses, 1))
    else:
        found = np.array([0.5 * sum(loss.minimisers()) for loss in losses])
    place = np.cumsum([loss is not None for loss in columns]) - 1
    return np.asarray(found[np.maximum(place, 0)])


def _loss(knots: FloatArray, weights: FloatArray, falling: BoolArray) -> _Loss | None:
    """The loss of the cells with weight, those of `falling` beginning with a slope; None where there are none."""
    used = weights > 0
    return _Loss(knots[used], weights[used], float(weights[used & falling].sum())) if used.any() else None


def _pooled(losses: list[_Loss], end: int) -> FloatArray:
    """Minimisers in order, by pooling adjacent violators; `end` says which end of an interval is taken."""
    blocks: list[tuple[_Loss, float, int]] = []
    for loss in losses:
        value, size = loss.minimisers()[end], 1
        while blocks and blocks[-1][1] > value:
            before, _, count = blocks.pop()
            loss, size = before + loss, size + count
            value = loss.minimisers()[end]
        blocks.append((loss, value, size))
    return np.repeat([value for _, value, _ in blocks], [size for _, _, size in blocks])
