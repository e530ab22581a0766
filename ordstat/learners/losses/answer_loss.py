"""AdaBoost's exponential loss of answers to "rank above k?", every threshold with a score of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..._typing import FloatArray
from .exponential import Step

# The lightest side of a step counts at least this share of the heaviest, which keeps it finite.
_FLOOR = 1e-12


@dataclass(eq=False, kw_only=True)
class AnswerLoss:
    """sum_nk |z_nk| exp(-sign(z_nk) g_k(x_n)) at the present g, for boosting to lower [Lin 2008, alg. 4.2].

    Attributes
    ----------
    gains : (N, K-1) z_nk
        c_n[k] - c_n[k+1] times the case weight: positive where the answer is yes.
    total : float
        Sum of the case weights.
    """

    gains: FloatArray
    total: float
    theta: None = None
    scores: FloatArray = field(init=False)
    signed: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.scores = np.zeros(self.gains.shape)
        self.signed = self.gains
        self._yes = np.sign(self.gains)

    @property
    def value(self) -> float:
        """The loss, as a mean over rows."""
        return float(np.abs(self.signed).sum()) / self.total

    def direction(self) -> FloatArray:
        """(N, K-1) z_nk exp(-sign(z_nk) g_k): a positive sum of these over its answers makes a ranker useful."""
        return self.signed

    def step(self, values: FloatArray) -> Step:
        """Add a ranker with answers +1 and -1 (N, K-1) by v = 1/2 log((1 - eps)/eps), the exact minimum."""
        size = float(np.abs(self.signed).sum())
        right = 0.5 * (size + float((self.signed * values).sum()))
        wrong = size - right
        floor = _FLOOR * size
        alpha = 0.5 * float(np.log(max(right, floor) / max(wrong, floor)))
        factor = (right * np.exp(-alpha) + wrong * np.exp(alpha)) / size
        self.scores += alpha * values
        self.signed = self.gains * np.exp(-self._yes * self.scores)
        return Step(alpha=alpha, factor=float(factor))
