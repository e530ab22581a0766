"""Rules by P(y > k | x) for every k, and by a potential with thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from .._typing import FloatArray, IntArray
from ..fit import CostRule, Potential, count_above
from ..formula.sample import Rows
from ..judging.costs import CostMatrix
from ..likelihood.cumulative import Cumulative
from ..likelihood.predictor import Predictor
from ..reduction.encoding import position


class Exceedances(Protocol):
    """Probabilities of exceeding each level, which do not grow with the level."""

    @property
    def n_levels(self) -> int:
        """K."""

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1) P(y > k)."""


@dataclass(frozen=True, eq=False)
class CumulativeRule(CostRule):
    """The rank of least expected cost by P(y > k | x).

    Its score is the interpolated median of y, on which the thresholds are 1, ..., K-1; its gaps are P(y > k) - 1/2.

    Attributes
    ----------
    above : Exceedances
    cost : CostMatrix
    """

    above: Exceedances
    cost: CostMatrix

    by_median: ClassVar[bool] = True

    @property
    def n_levels(self) -> int:
        return self.above.n_levels

    @property
    def theta(self) -> FloatArray:
        """(K-1,) thresholds on the score."""
        return np.arange(1.0, self.n_levels)

    def scores(self, rows: Rows) -> FloatArray:
        return self.scores_of(self.above(rows))

    @staticmethod
    def scores_of(above: FloatArray) -> FloatArray:
        """(N,) scores of rows with these P(y > k)."""
        return position(above - 0.5)

    def gaps(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K-1) P(y > k) - 1/2."""
        return self.above(rows) - 0.5

    def codes(self, rows: Rows, scores: FloatArray | None = None, known: FloatArray | None = None) -> IntArray:
        """(N,) rank of least expected cost; under the absolute cost the median, by the scores alone."""
        if self.cost != CostMatrix.absolute():
            return super().codes(rows, None, known)
        return count_above((self.scores(rows) if scores is None else scores)[:, None] - self.theta)

    def cum_probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(y <= k)."""
        return np.hstack([1.0 - self.above(rows), np.ones((rows.n, 1))])

    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(y = k)."""
        ends = np.ones((rows.n, 1)), np.zeros((rows.n, 1))
        return -np.diff(np.hstack([ends[0], self.above(rows), ends[1]]), axis=1) + 0.0  # no negative zeros

    def log_odds_above(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K-1) log(P(y > k) / P(y <= k))."""
        above = self.above(rows)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(above) - np.log1p(-above))


def ranked_score(above: FloatArray, y: IntArray, weights: FloatArray) -> float:
    """Mean ranked probability score: the sum over k of (P(y > k) - [y > k])^2."""
    misses = np.square(above - (y[:, None] > np.arange(above.shape[1]))).sum(axis=1)
    return float(weights @ misses / weights.sum())


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
