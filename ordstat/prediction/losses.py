"""A rule by P(y > k | x) for every k, of whatever makes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from scipy.linalg import LinAlgError, solveh_banded

from .._typing import AnyArray, FloatArray, IntArray
from ..compiled.boost import logit_slopes, logit_thresholds
from ..fit import CostRule, Potential, count_above
from ..formula.sample import Rows
from ..judging.costs import CostMatrix
from ..likelihood.family import Cumulative
from ..likelihood.links import LINKS, Interval
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


_NONE = np.empty(0)
#: Least curvature of a row where a likelihood is not concave.
_FLAT = 1e-6
#: What keeps the system of a threshold that no row is near from being singular.
_REGULAR = 1e-6


@dataclass(frozen=True, eq=False)
class Curvature:
    """First and second derivatives of a weighted loss by the thresholds.

    Attributes
    ----------
    gradient, diagonal : (K-1,)
    beside : (K-1,)
        By theta_{k-1} and theta_k; the first is 0.
    """

    gradient: FloatArray
    diagonal: FloatArray
    beside: FloatArray

    def newton(self) -> FloatArray:
        """(K-1,) Newton's step, to be subtracted; along the diagonal where the system is not positive definite."""
        diagonal = np.maximum(self.diagonal, 0.0) + _REGULAR
        if diagonal.size == 1:
            return self.gradient / diagonal
        try:
            return np.asarray(solveh_banded(np.stack([self.beside, diagonal]), self.gradient))
        except LinAlgError:
            return self.gradient / diagonal


@dataclass(frozen=True)
class CumulativeLoss(ABC):
    """-log P(y) of a potential and thresholds."""

    #: Compiled trees make the slopes themselves (`compiled/boost.pyx`).
    compiled: ClassVar[bool] = False

    def rule(self, trees: Potential, theta: FloatArray, cost: CostMatrix) -> LatentRule:
        """The rank of least expected cost by a sum of trees and thresholds."""
        return LatentRule(trees, theta, self.family, cost)

    @property
    @abstractmethod
    def family(self) -> Cumulative:
        """From the potential and the thresholds to probabilities."""

    @abstractmethod
    def slopes(
        self, y: AnyArray, w: FloatArray, H: FloatArray, theta: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """The weighted loss of rows, and slope and curvature (N,) of each at weight 1.

        Parameters
        ----------
        y : (N,) uint16
            Codes 0..K-1.
        w : (N,)
            Weights, or none where all are 1.
        H : (N,)
        theta : (K-1,) rising
        """

    def value(self, y: AnyArray, w: FloatArray, H: FloatArray, theta: FloatArray) -> float:
        """The weighted loss alone."""
        return self.slopes(y, w, H, theta)[0]

    @abstractmethod
    def by_thresholds(self, y: AnyArray, w: FloatArray, H: FloatArray, theta: FloatArray) -> Curvature:
        """Derivatives of the weighted loss by the thresholds."""

    def stepped(self, y: AnyArray, w: FloatArray, H: FloatArray, theta: FloatArray) -> tuple[FloatArray, float]:
        """The thresholds after one damped Newton step, in order, and the largest slope before it."""
        found = self.by_thresholds(y, w, H, theta)
        return damped(theta, found.newton()), float(np.abs(found.gradient).max())


def damped(theta: FloatArray, step: FloatArray) -> FloatArray:
    """theta - step, made shorter so that no threshold moves by more than 1 and no gap loses more than half.

    Examples
    --------
    >>> damped(np.array([0.0, 1.0]), np.array([-1.0, 1.0])).tolist()
    [0.25, 0.75]
    """
    share = 1.0 / max(float(np.abs(step).max()), 1.0)
    gaps, closing = np.diff(theta), np.diff(step)
    narrows = closing > 0.0
    if narrows.any():
        share = min(share, float((0.5 * gaps[narrows] / closing[narrows]).min()))
    return theta - share * step


@dataclass(frozen=True)
class LogitLikelihood(CumulativeLoss):
    """The likelihood loss of the logit link, in compiled passes."""

    compiled: ClassVar[bool] = True

    @property
    def family(self) -> Cumulative:
        return Cumulative(LINKS["logit"])

    def slopes(
        self, y: AnyArray, w: FloatArray, H: FloatArray, theta: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        g, h = np.empty(H.size), np.empty(H.size)
        return logit_slopes(y, H, theta, w, g, h), g, h

    def value(self, y: AnyArray, w: FloatArray, H: FloatArray, theta: FloatArray) -> float:
        return float(logit_slopes(y, H, theta, w, _NONE, _NONE))

    def by_thresholds(self, y: AnyArray, w: FloatArray, H: FloatArray, theta: FloatArray) -> Curvature:
        parts = [np.empty(theta.size) for _ in range(3)]
        logit_thresholds(y, H, theta, w, *parts)
        return Curvature(*parts)


@dataclass(frozen=True)
class Likelihood(CumulativeLoss):
    """The likelihood loss of any link without a parameter."""

    link: str

    @property
    def family(self) -> Cumulative:
        return Cumulative(LINKS[self.link])

    def _interval(self, y: AnyArray, H: FloatArray, theta: FloatArray) -> Interval:
        ends = np.concatenate([[-np.inf], theta, [np.inf]])
        return LINKS[self.link].interval(ends[y + 1] - H, ends[y] - H, np.diff(ends)[y])

    def slopes(
        self, y: AnyArray, w: FloatArray, H: FloatArray, theta: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        p = self._interval(y, H, theta)
        return -float((w * p.log_p).sum() if w.size else p.log_p.sum()), p.c, np.maximum(p.W, _FLAT)

    def by_thresholds(self, y: AnyArray, w: FloatArray, H: FloatArray, theta: FloatArray) -> Curvature:
        p, K = self._interval(y, H, theta), theta.size + 1

        def sums(values: FloatArray) -> FloatArray:
            return np.bincount(y, w * values if w.size else values, K).astype(np.float64)

        first = sums(-p.h_ul)
        first[0] = 0.0
        return Curvature(
            gradient=(sums(p.b)[1:] - sums(p.a)[:-1]),
            diagonal=sums(p.h_ul - p.r_u)[:-1] + sums(p.h_ul - p.r_l)[1:],
            beside=first[:-1],
        )


def loss_of(link: str) -> CumulativeLoss:
    """The likelihood loss of a link."""
    return LogitLikelihood() if link == "logit" else Likelihood(link)
