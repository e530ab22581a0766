"""A threshold rule whose gaps are log odds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ..._typing import FloatArray
from ..rules import ThresholdRule
from ..sample import Rows
from ..scaling import Scaling


@dataclass(frozen=True, eq=False)
class LogisticRule(ThresholdRule):
    """rank(x) = 1 + #{k : H(x) > theta_k}, with P(rank > k) = 1 / (1 + exp(theta_k - H(x))).

    Attributes
    ----------
    potential : Potential
    theta : (K-1,) not falling
    unbiased : bool
        Whether the examples of each question were weighted alike, so that there are probabilities.
    """

    unbiased: bool

    @property
    def probable(self) -> bool:
        """Whether there are probabilities of ranks."""
        return self.unbiased

    def cum_probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(rank <= k)."""
        return np.hstack([expit(-self.gaps(rows, scores)), np.ones((rows.n, 1))])

    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(rank = k)."""
        return np.diff(self.cum_probabilities(rows, scores), axis=1, prepend=0.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class NetworkPotential:
    """H(x) = sum_j v_j tanh(w_j'z + b_j), z the scaled columns of x.

    Attributes
    ----------
    scaling : Scaling
    inner : (J, D)
        w_j.
    bias : (J,)
    outer : (J,)
        v.
    """

    scaling: Scaling
    inner: FloatArray
    bias: FloatArray
    outer: FloatArray

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        return np.tanh(self.scaling(rows.X) @ self.inner.T + self.bias) @ self.outer
