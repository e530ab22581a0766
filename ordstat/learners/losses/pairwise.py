"""RankBoost's exponential loss of pairs of different rank, without a loop over pairs [Lin 2008, sec. 3.2.1].

    Z(H) = sum over pairs with y_m > y_n of w_m w_n exp(H_n - H_m)

Sums over the rows of every rank give it, and its signed weights, in O(N + K).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..._typing import FloatArray, IntArray
from .exponential import Step, log_ratio

# A mean nearer to 1 or -1 counts as this near, which keeps the step finite.
_FLOOR = 1e-12


@dataclass(eq=False, kw_only=True)
class PairLoss:
    """The loss at the present H, for boosting to lower.

    Attributes
    ----------
    y : (N,) codes, not falling
    weights : (N,) case weights > 0
    scores : (N,) H
    tight : bool
        The step of the 2006 paper, by the shares of pairs put right and wrong; False is that of 2008, eq. 3.11, by
        their difference alone.
    theta : None
        Pairs know no thresholds.
    """

    y: IntArray
    weights: FloatArray
    scores: FloatArray
    tight: bool
    theta: None = None
    up: FloatArray = field(init=False)
    down: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.pairs = pair_weight(self.y, self.weights)
        self.starts = np.flatnonzero(np.diff(self.y, prepend=-1) > 0)
        self.level = np.cumsum(np.diff(self.y, prepend=self.y[:1]) > 0)
        self._weigh()

    @property
    def value(self) -> float:
        """Z, as a mean over pairs; 0 where there are none."""
        return float(self.up.sum()) / self.pairs if self.pairs else 0.0

    def direction(self) -> FloatArray:
        """(N,) signed weights u: a hypothesis with sum u_n h_n > 0 lowers the loss."""
        return self.up - self.down

    def step(self, values: FloatArray) -> Step:
        """Move along a hypothesis with values (N,) in [-1, 1] by the best step of the bound chosen."""
        total = float(self.up.sum())
        alpha, factor = (self._by_shares if self.tight else self._by_difference)(values, total)
        self.scores += alpha * values
        self._weigh()
        return Step(alpha=alpha, factor=factor)

    def _by_difference(self, values: FloatArray, total: float) -> tuple[float, float]:
        """1/4 log((1 + r)/(1 - r)), r the mean of (h_m - h_n)/2 over pairs; Z falls by sqrt(1 - r^2) at least."""
        r = float(self.direction() @ values) / (2.0 * total)
        r = min(max(r, -1.0 + _FLOOR), 1.0 - _FLOOR)
        return 0.25 * float(np.log1p(r) - np.log1p(-r)), float(np.sqrt(1.0 - r * r))

    def _by_shares(self, values: FloatArray, total: float) -> tuple[float, float]:
        """1/4 log(right / wrong), of the shares of Z whose difference h_m - h_n is above and below 0.

        For h = +-1 the differences are 2, 0 and -2, and the step is the exact minimum. For other hypotheses
        exp(-a d) <= 1 - |d|/2 + |d|/2 exp(-2 a sign d) weighs a pair by |d|/2.
        """
        right, wrong = self._shares(values)
        alpha = 0.25 * log_ratio(right, wrong)
        after = right * np.exp(-2.0 * alpha) + wrong * np.exp(2.0 * alpha)
        return alpha, float((total - right - wrong + after) / total)

    def _shares(self, values: FloatArray) -> tuple[float, float]:
        """Sums over pairs of Z's terms times the positive, and the negative, part of (h_m - h_n)/2."""
        right = self._right_of_signs(values) if (np.abs(values) == 1.0).all() else self._right(values)
        net = 0.5 * float(self.direction() @ values)
        return right, max(right - net, 0.0)

    def _right_of_signs(self, values: FloatArray) -> float:
        """The positive sum of h = +-1: pairs of a higher +1 and a lower -1, by sums over ranks."""
        plus = values > 0.0
        smallest, largest = self._shifts()
        size = largest.size
        falling = self.weights * np.exp(smallest[self.level] - self.scores)
        rising = self.weights * np.exp(self.scores - largest[self.level])
        high = np.bincount(self.level[plus], weights=falling[plus], minlength=size)
        low = np.bincount(self.level[~plus], weights=rising[~plus], minlength=size)
        pairs = np.tril(np.ones((size, size)), -1) > 0
        terms = np.exp(np.where(pairs, largest - smallest[:, None], -np.inf))
        return float(high @ terms @ low)

    def _right(self, values: FloatArray) -> float:
        """The positive sum of any h: rank by rank, prefix sums of weight and weight times h over the lower rows."""
        shift_up, shift_down = self._shifts()
        right = 0.0
        order = np.argsort(values, kind="stable")
        level, h = self.level[order], values[order]
        high = self.weights[order] * np.exp(shift_up[level] - self.scores[order])
        low = self.weights[order] * np.exp(self.scores[order] - shift_down[level])
        for k in range(1, shift_up.size):
            below, own = level < k, level == k
            scale = np.exp(shift_down[level[below]] - shift_up[k])
            mass = np.concatenate([[0.0], np.cumsum(low[below] * scale)])
            moment = np.concatenate([[0.0], np.cumsum(low[below] * scale * h[below])])
            place = np.searchsorted(h[below], h[own], side="left")
            right += 0.5 * float(high[own] @ (h[own] * mass[place] - moment[place]))
        return right

    def _shifts(self) -> tuple[FloatArray, FloatArray]:
        """(K',) smallest and largest score of every rank."""
        return np.minimum.reduceat(self.scores, self.starts), np.maximum.reduceat(self.scores, self.starts)

    def _weigh(self) -> None:
        """up_n: the terms of Z in which row n is the higher one; down_n: in which it is the lower one."""
        smallest, largest = self._shifts()
        falling = self.weights * np.exp(smallest[self.level] - self.scores)
        rising = self.weights * np.exp(self.scores - largest[self.level])
        log_falling = np.log(np.bincount(self.level, weights=falling)) - smallest
        log_rising = np.log(np.bincount(self.level, weights=rising)) + largest
        # Logarithms of sum exp(H) over lower ranks, and of sum exp(-H) over higher ranks.
        lower = np.concatenate([[-np.inf], np.logaddexp.accumulate(log_rising)[:-1]])
        higher = np.concatenate([np.logaddexp.accumulate(log_falling[::-1])[-2::-1], [-np.inf]])
        self.up = falling * np.exp(lower - smallest)[self.level]
        self.down = rising * np.exp(higher + largest)[self.level]


def pair_weight(y: IntArray, weights: FloatArray) -> float:
    """Total weight of the pairs of different rank."""
    sizes = np.bincount(y, weights=weights)
    return float((sizes.sum() ** 2 - (sizes**2).sum()) / 2.0)


def misordered(y: IntArray, weights: FloatArray, scores: FloatArray) -> float:
    """Weighted share of the pairs of different rank whose higher row has no higher score."""
    order = np.argsort(scores, kind="stable")
    level, ordered, w = y[order], scores[order], weights[order]
    wrong = 0.0
    for k in np.unique(level)[1:]:
        lower, own = level < k, level == k
        mass = np.concatenate([[0.0], np.cumsum(w[lower])])
        below = mass[np.searchsorted(ordered[lower], ordered[own], side="left")]
        wrong += float(w[own] @ (mass[-1] - below))
    total = pair_weight(y, weights)
    return wrong / total if total else 0.0
