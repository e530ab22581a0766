"""The rule of probabilities P(y > k), wherever they come from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol
from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np

from .._typing import FloatArray, IntArray
from ..fit import CostRule, count_above
from ..formula.sample import Rows
from ..judging.costs import CostMatrix
from ..judging.decisions import Decision
from .encoding import position


class Exceedances(Protocol):
    """Probabilities P(y > k), which do not increase with k."""

    @property
    def n_levels(self) -> int:
        """K."""

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1) P(y > k)."""


@dataclass(frozen=True, eq=False)
class WideExceedances:
    """P(y > k) over all K levels, from those over the K' levels that have rows.

    Attributes
    ----------
    narrow : Exceedances
        Over K' levels.
    present : Present
    """

    narrow: Exceedances
    present: Any

    @property
    def n_levels(self) -> int:
        """K."""
        return int(self.present.n_levels)

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1) P(y > k)."""
        return np.asarray(
            self.present.spread_thresholds(self.narrow(rows), lowest=1.0, highest=0.0)
        )


#: P(y > k) of the rows that were evaluated last, as long as these are in use. Scores,
#: probabilities and levels of the same rows are asked for one after another, and a
#: blend of some hundred trees and two kernels is not evaluated for each.
_LATEST: WeakKeyDictionary[Rows, tuple[ReferenceType[Exceedances], FloatArray]] = (
    WeakKeyDictionary()
)


@dataclass(frozen=True, eq=False)
class CumulativeRule(CostRule):
    """The level with the smallest expected cost, from P(y > k | x).

    The score is the interpolated median of y, with thresholds 1, ..., K-1; gaps are P(y
    > k) - 1/2.

    Attributes
    ----------
    above : Exceedances
    cost : CostMatrix or Decision
    """

    above: Exceedances
    cost: CostMatrix | Decision

    by_median: ClassVar[bool] = True

    @property
    def n_levels(self) -> int:
        return self.above.n_levels

    @property
    def theta(self) -> FloatArray:
        """(K-1,) thresholds on the score."""
        return np.arange(1.0, self.n_levels)

    def over_levels(self, present: Any, cost: CostMatrix) -> CumulativeRule:
        """The rule over all levels, of which some have no rows; `present` is a
        `Present`.
        """
        return replace(self, above=WideExceedances(self.above, present), cost=cost)

    def exceedances(self, rows: Rows) -> FloatArray:
        """(N, K-1) P(y > k), read-only; computed once for the same rows."""
        of, latest = _LATEST.get(rows, (None, None))
        if of is not None and latest is not None and of() is self.above:
            return latest
        above = self.above(rows).view()
        above.flags.writeable = False
        _LATEST.clear()
        _LATEST[rows] = (ref(self.above), above)
        return above

    def scores(self, rows: Rows) -> FloatArray:
        return self.scores_of(self.exceedances(rows))

    @staticmethod
    def scores_of(above: FloatArray) -> FloatArray:
        """(N,) scores of rows with these P(y > k)."""
        return position(above - 0.5)

    def gaps(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K-1) P(y > k) - 1/2."""
        return self.exceedances(rows) - 0.5

    def codes(
        self,
        rows: Rows,
        scores: FloatArray | None = None,
        known: FloatArray | None = None,
    ) -> IntArray:
        """(N,) level with the smallest expected cost; under the absolute cost the
        median.
        """
        if self.cost != CostMatrix.absolute():
            known = self.probabilities(rows) if known is None else known
            return super().codes(rows, None, known)
        return count_above(
            (self.scores(rows) if scores is None else scores)[:, None] - self.theta
        )

    def cum_probabilities(
        self, rows: Rows, scores: FloatArray | None = None
    ) -> FloatArray:
        """(N, K) P(y <= k)."""
        return np.hstack([1.0 - self.exceedances(rows), np.ones((rows.n, 1))])

    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(y = k)."""
        above = self.exceedances(rows)
        out = np.empty((len(above), self.n_levels))
        out[:, 0] = 1.0 - above[:, 0]
        np.subtract(above[:, :-1], above[:, 1:], out=out[:, 1:-1])
        out[:, -1] = above[:, -1]
        out += 0.0  # no negative zeros
        return out

    def log_odds_above(
        self, rows: Rows, scores: FloatArray | None = None
    ) -> FloatArray:
        """(N, K-1) log(P(y > k) / P(y <= k))."""
        above = self.exceedances(rows)
        with np.errstate(divide="ignore"):
            return np.log(above) - np.log1p(-above)


def ranked_score(above: FloatArray, y: IntArray, weights: FloatArray) -> float:
    """Mean ranked probability score: the sum over k of (P(y > k) - [y > k])^2."""
    misses = np.square(above - (y[:, None] > np.arange(above.shape[1]))).sum(axis=1)
    return float(weights @ misses / weights.sum())


def score_gain(
    above: FloatArray, other: FloatArray, y: IntArray, w: FloatArray
) -> tuple[float, float]:
    """Gain in ranked probability score of P(y > k) (N, K-1) over others, and this gain
    in standard errors. A row of weight w counts as w rows.

    Examples
    --------
    >>> above, other = np.array([[0.1], [0.9], [0.5]]), np.full((3, 1), 0.5)
    >>> gain, errors = score_gain(above, other, np.array([0, 1, 1]), np.ones(3))
    >>> round(gain, 2), round(errors, 2)
    (0.16, 2.45)
    """
    happened = y[:, None] > np.arange(above.shape[1])
    gains = np.square(other - happened).sum(axis=1)
    gains -= np.square(above - happened).sum(axis=1)
    mean = float(gains @ w / w.sum())
    spread = float(w @ np.square(gains - mean))
    error = np.sqrt(spread) / w.sum()
    return mean, float(mean / max(error, np.finfo(np.float64).tiny))
