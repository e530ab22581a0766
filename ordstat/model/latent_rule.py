"""Any potential under thresholds as a probability model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from .costs import CostMatrix
from .likelihood.cumulative import Cumulative
from .likelihood.predictor import Predictor
from .probable import CostRule
from .rules import Potential
from .sample import Rows


@dataclass(frozen=True, eq=False)
class LatentRule(CostRule):
    """P(y <= k | x) = F(theta_k - H(x)) of any potential H.

    Attributes
    ----------
    potential : Potential
    theta : (K-1,) rising
    family : Cumulative
    cost : CostMatrix
    """

    potential: Potential
    theta: FloatArray
    family: Cumulative
    cost: CostMatrix

    @property
    def n_levels(self) -> int:
        return int(self.theta.size) + 1

    def scores(self, rows: Rows) -> FloatArray:
        return self.potential(rows)

    def gaps(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K-1) H(x) - theta_k."""
        return np.asarray((self.scores(rows) if scores is None else scores)[:, None] - self.theta)

    def cum_probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(y <= k)."""
        return np.hstack([self.family.below(-self.gaps(rows, scores)), np.ones((rows.n, 1))])

    def log_odds_above(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K-1) log(P(y > k) / P(y <= k))."""
        return self.family.log_odds_above(-self.gaps(rows, scores))

    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(y = k), so that small ones keep their relative accuracy."""
        H = self.scores(rows) if scores is None else scores
        w, alpha = np.ones((rows.n, 1)), self.theta[:, None]
        return self.family.probabilities(Predictor(w=w, alpha=alpha, H=H, tau=np.zeros(rows.n)))
