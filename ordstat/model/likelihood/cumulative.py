"""The fitted cumulative link model as a rule: probabilities of every rank and the rank of least expected cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray, IntArray
from ..costs import CostMatrix
from ..sample import Rows
from .links import Link

#: Expected costs closer than this share of the largest one are a tie, and the lower rank is taken.
_TIE = 1e-12
#: Probabilities held at once while ranks are chosen.
_BUFFER = 1 << 22


@dataclass(frozen=True, eq=False, kw_only=True)
class CumulativeRule:
    """P(y <= k | x) = F(s(x) (theta_k(x) - H(x))) with H = x'beta + offset.

    theta_k(x) = alpha_k0 + w'alpha_k for nominal columns w; s(x) = exp(-(z'zeta + scale offset)) for scale columns z.

    Attributes
    ----------
    link : Link
    alpha : (K-1, 1 + q) thresholds, then the effects of the nominal columns on each
    beta : (D,)
    zeta : (r,)
    cost : CostMatrix
        What `codes` minimise in expectation.
    """

    link: Link
    alpha: FloatArray
    beta: FloatArray
    zeta: FloatArray
    cost: CostMatrix

    @property
    def n_levels(self) -> int:
        return int(self.alpha.shape[0]) + 1

    def scores(self, rows: Rows) -> FloatArray:
        H = rows.X @ self.beta
        return H if rows.offset is None else H + rows.offset

    def thresholds(self, rows: Rows) -> FloatArray:
        """(N, K-1) thresholds of each row; (1, K-1) where they are the same for all."""
        if self.alpha.shape[1] == 1:
            return self.alpha[:, 0][None, :]
        assert rows.nominal is not None
        return self.alpha[:, 0] + rows.nominal @ self.alpha[:, 1:].T

    def gaps(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        return (self.scores(rows) if scores is None else scores)[:, None] - self.thresholds(rows)

    def inverse_scale(self, rows: Rows) -> FloatArray:
        """(N, 1) factor s of each row."""
        log_scale = np.zeros(rows.n) if rows.scale is None else rows.scale @ self.zeta
        if rows.scale_offset is not None:
            log_scale = log_scale + rows.scale_offset
        return np.exp(-log_scale)[:, None]

    def cum_probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(y <= k); the last column is 1.

        Thresholds out of order (nominal effects far outside the data) give probabilities that fall with k.
        """
        t = -self.inverse_scale(rows) * self.gaps(rows, scores)
        return np.hstack([self.link.cdf(t), np.ones((rows.n, 1))])

    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(y = k), each from its own interval, so that small ones keep their relative accuracy.

        An interval whose thresholds are out of order (nominal effects far outside the data) has a negative probability.
        """
        s = self.inverse_scale(rows)
        thresholds = np.broadcast_to(self.thresholds(rows), (rows.n, self.n_levels - 1))
        t = -s * self.gaps(rows, scores)
        out = np.empty((rows.n, self.n_levels))
        out[:, 0] = self.link.cdf(t[:, 0])
        out[:, -1] = self.link.sf(t[:, -1])
        with np.errstate(invalid="ignore"):  # both ends infinite: a level that no training row had
            widths = s * np.diff(thresholds, axis=1)
        for k in range(1, self.n_levels - 1):
            out[:, k] = self._interval(t[:, k], t[:, k - 1], widths[:, k - 1])
        return out

    def _interval(self, u: FloatArray, lo: FloatArray, d: FloatArray) -> FloatArray:
        """F(u) - F(lo): 0 where the ends meet, negative where they are out of order."""
        if np.all(d > 0.0):
            return self.link.probability(u, lo, d)
        out = np.zeros(u.size)
        for sign, chosen in ((1.0, d > 0.0), (-1.0, d < 0.0)):
            high, low = (u, lo) if sign > 0.0 else (lo, u)
            out[chosen] = sign * self.link.probability(high[chosen], low[chosen], np.abs(d[chosen]))
        return out

    def codes(self, rows: Rows, scores: FloatArray | None = None) -> IntArray:
        """(N,) rank of least expected cost; ties go to the lower rank."""
        codes = np.empty(rows.n, dtype=np.intp)
        step = max(1, _BUFFER // self.n_levels)
        for start in range(0, rows.n, step):
            some = slice(start, start + step)
            part = rows.take(some), None if scores is None else scores[some]
            expected = np.ascontiguousarray(self._expected_cost(self.probabilities(*part)).T)  # (K, n)
            largest = np.abs(expected).max(axis=0)
            codes[some] = np.argmax(expected <= expected.min(axis=0) + _TIE * largest, axis=0)
        return codes

    def _expected_cost(self, probabilities: FloatArray) -> FloatArray:
        """(n, K) expected cost of predicting each rank; the classification cost needs no K x K matrix."""
        if self.cost == CostMatrix.classification():
            return 1.0 - probabilities
        return np.asarray(probabilities @ self.cost.matrix(self.n_levels))
