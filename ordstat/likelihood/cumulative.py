"""The cumulative family, P(y <= k) = F(eta_k) [McCullagh 1980].

log p = log(F(u) - F(lo)) with the ends u = eta_y and lo = eta_{y-1}, and d = u - lo.
With a, b, c, r_u, r_l, h_ul and W of `links.Interval`, d log p = (a, -b) and A = -[[r_u
- h_ul, h_ul], [h_ul, r_l - h_ul]] by (u, lo). The sums of `EtaTerms` are taken from c,
r_u, r_l and W, as those of a narrow interval lose all digits otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import digamma

from .._typing import FloatArray, IntArray
from ..report.ratios import Ratio
from .differences import FIVE
from .family import STEP, Family, both_tails, log_odds_above
from .flexible import mirrored
from .links import Interval, Link
from .predictor import Predictor, lowest_and_highest
from .terms import EtaTerms


@dataclass(frozen=True, eq=False, kw_only=True)
class IntervalTerms(EtaTerms):
    """The terms of intervals: the first predictor is the upper end, the second one the
    lower end.

    Attributes
    ----------
    interval : Interval
    width : (n,)
        d; 0 where an end is infinite.
    """

    interval: Interval
    width: FloatArray

    @classmethod
    def of(
        cls, link: Link, y: IntArray, n_thresholds: int, ends: tuple[FloatArray, ...]
    ) -> IntervalTerms | None:
        """The terms of rows at y with upper and lower ends and their difference; None
        unless all rows are intervals.
        """
        u, lo, d = ends
        if not np.all(d > 0.0):
            return None
        interval = link.interval(u, lo, d)
        upper, lower, width = (np.where(np.isinf(end), 0.0, end) for end in (u, lo, d))
        lowest, highest = lowest_and_highest(y)
        return cls(
            log_p=interval.log_p,
            places=np.stack(
                [np.minimum(highest, n_thresholds - 1), np.maximum(lowest - 1, 0)]
            ),
            eta=np.stack([upper, lower]),
            slope=np.stack([interval.a, -interval.b]),
            interval=interval,
            width=width,
        )

    @cached_property
    def curvature(self) -> FloatArray:
        q = self.interval
        hessian = np.array([[q.h_uu, q.h_ul], [q.h_ul, q.h_ll]])
        return -hessian

    @cached_property
    def slope_sum(self) -> FloatArray:
        return self.interval.c

    @cached_property
    def slope_moment(self) -> FloatArray:
        """a u - b lo, as c u + b d where both ends are finite."""
        q = self.interval
        u, lo = self.eta
        inner = self.width > 0.0
        return np.asarray(
            np.where(inner, q.c * u + q.b * self.width, q.a * u - q.b * lo)
        )

    @cached_property
    def curvature_sums(self) -> FloatArray:
        return -np.stack([self.interval.r_u, self.interval.r_l])

    @cached_property
    def curvature_total(self) -> FloatArray:
        return self.interval.W

    @cached_property
    def _moved(self) -> FloatArray:
        """(2, n) r_u u and r_l lo."""
        return -self.curvature_sums * self.eta

    @cached_property
    def _across(self) -> FloatArray:
        return self.interval.h_ul * self.width

    @cached_property
    def curvature_moments(self) -> FloatArray:
        up, low = self._moved
        return np.stack([self._across - up, -self._across - low])

    @cached_property
    def moment_total(self) -> FloatArray:
        return np.asarray(-self._moved.sum(axis=0))

    @cached_property
    def curvature_quadratic(self) -> FloatArray:
        moved = (self._moved * self.eta).sum(axis=0)
        return np.asarray(self._across * self.width - moved)

    @cached_property
    def barrier(self) -> FloatArray:
        return self.interval.h_ul


@dataclass(frozen=True)
class Cumulative(Family):
    """P(y <= k) = F(eta_k)."""

    name: ClassVar[str] = "Cumulative link model"
    ordered: ClassVar[bool] = True
    local: ClassVar[bool] = True
    banded: ClassVar[bool] = True
    ratios: ClassVar[dict[str, Ratio]] = {
        "logit": Ratio(
            "odds ratio",
            1.0,
            "Odds ratios: factors on the odds of a higher level, exp(estimate)",
        ),
        "cloglog": Ratio(
            "hazard ratio",
            -1.0,
            (
                "Hazard ratios: factors on -log P(response > k), exp(-estimate), below"
                " 1 = higher response"
            ),
        ),
        "loglog": Ratio(
            "reversed hazard ratio",
            1.0,
            "Reversed hazard ratios: factors on -log P(response <= k), exp(estimate)",
        ),
    }

    @property
    def concave(self) -> bool:
        return self.link.log_concave

    @property
    def proportional_odds(self) -> bool:
        return self.link.name == "logit"

    def eta_terms(self, predictor: Predictor, y: IntArray) -> EtaTerms | None:
        return IntervalTerms.of(self.link, y, predictor.n_thresholds, predictor.ends(y))

    def at_eta(self, eta: FloatArray, y: IntArray) -> EtaTerms | None:
        n, count = eta.shape
        infinite = np.full((n, 1), np.inf)
        padded = np.hstack([-infinite, eta, infinite])
        every = np.arange(n)
        lowest, highest = lowest_and_highest(y)
        u = padded[every, highest + 1]
        lo = padded[every, lowest]
        return IntervalTerms.of(self.link, y, count, (u, lo, u - lo))

    def curvature_slopes(self, predictor: Predictor, y: IntArray) -> FloatArray:
        """By theta_y, theta_{y-1} s^3 (dW/du, dW/dlo); by H their negative sum; by tau
        as s and both ends shrink.
        """
        u, lo, d = predictor.ends(y)
        s = predictor.s
        if self.link.name == "logit":  # W = f(u) + f(lo)
            (f_u, by_u), (f_l, by_l) = _logistic(u), _logistic(lo)
            W = f_u + f_l
        else:
            by_u, by_l = curvature_slopes(self.link, u, lo, d)
            W = self.link.interval(u, lo, d).W
        moved = (
            np.where(np.isinf(u), 0.0, u) * by_u
            + np.where(np.isinf(lo), 0.0, lo) * by_l
        )
        return np.stack(
            [
                s**3 * by_u,
                s**3 * by_l,
                -(s**3) * (by_u + by_l),
                -s * s * (2.0 * W + moved),
            ]
        )

    def log_probabilities(self, eta: FloatArray) -> FloatArray:
        n, count = eta.shape
        levels = (np.full(n, level, dtype=np.intp) for level in range(count + 1))
        terms = [self.at_eta(eta, y) for y in levels]
        return np.stack(
            [np.full(n, np.nan) if each is None else each.log_p for each in terms],
            axis=1,
        )

    def probabilities(self, predictor: Predictor) -> FloatArray:
        """An interval whose thresholds cross (nominal effects far outside the data) has
        a negative probability.
        """
        eta = predictor.eta()
        out = np.empty((len(eta), predictor.n_thresholds + 1))
        out[:, 0], out[:, -1] = self.link.cdf(eta[:, 0]), self.link.sf(eta[:, -1])
        # both ends infinite: a level that no training row had
        with np.errstate(invalid="ignore"):
            widths = predictor.widths()
        for k in range(1, predictor.n_thresholds):
            out[:, k] = _probability(
                self.link, eta[:, k], eta[:, k - 1], widths[:, k - 1]
            )
        return out

    def below(self, eta: FloatArray) -> FloatArray:
        return self.link.cdf(eta)

    def above(self, eta: FloatArray) -> FloatArray:
        return self.link.sf(eta)

    def below_slope(self, eta: FloatArray) -> FloatArray:
        return self.link.pdf(eta)

    def log_odds_above(self, eta: FloatArray) -> FloatArray:
        return log_odds_above(self.link, eta)

    def log_odds_above_slope(self, eta: FloatArray) -> FloatArray:
        """-f / (F (1 - F)) = -(f / F + f / (1 - F))."""
        above, below = both_tails(self.link, eta)
        return -(above.b + below.a).reshape(eta.shape)

    def start(self, shares: FloatArray) -> FloatArray:
        return self.link.ppf(np.cumsum(shares)[:-1])

    def latent_residuals(
        self, predictor: Predictor, y: IntArray, shares: FloatArray
    ) -> FloatArray:
        """Latent errors drawn from F given that they fall into the observed interval,
        minus the mean of F.

        Liu and Zhang (2018, JASA 113, 845-854): under the true model a sample from F,
        centred; here divided by the scale of the row, where the model has scale
        effects.
        """
        u, lo, _ = predictor.ends(y)
        return drawn(self.link, u, lo, shares) - latent_mean(self.link)

    def residual_quantiles(self, p: FloatArray) -> FloatArray:
        return self.link.ppf(p) - latent_mean(self.link)


def curvature_slopes(
    link: Link, u: FloatArray, lo: FloatArray, d: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(n,) dW/du and dW/dlo of intervals; of links other than the logit by differences
    of fourth order.
    """
    if link.name == "logit":
        return _logistic(u)[1], _logistic(lo)[1]
    h = STEP * np.minimum(1.0, 0.25 * d)  # steps stay inside the interval
    by_u = np.zeros(u.size)
    by_l = np.zeros(u.size)
    for move, weight in FIVE:
        by_u += weight * link.interval(u + move * h, lo, d + move * h).W
        by_l += weight * link.interval(u, lo + move * h, d - move * h).W
    by_u = np.where(np.isinf(u), 0.0, by_u / (12.0 * h))
    by_l = np.where(np.isinf(lo), 0.0, by_l / (12.0 * h))
    return by_u, by_l


def _logistic(t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n,) density of the logistic distribution and its derivative."""
    z = np.exp(-np.abs(t))
    f = z / (1.0 + z) ** 2
    return f, f * np.copysign((1.0 - z) / (1.0 + z), -t)


def _probability(
    link: Link, u: FloatArray, lo: FloatArray, d: FloatArray
) -> FloatArray:
    """F(u) - F(lo): 0 where the ends meet, negative where they are out of order."""
    if np.all(d > 0.0):
        return link.probability(u, lo, d)
    out = np.zeros(u.size)
    for sign, chosen in ((1.0, d > 0.0), (-1.0, d < 0.0)):
        high, low = (u, lo) if sign > 0.0 else (lo, u)
        out[chosen] = sign * link.probability(
            high[chosen], low[chosen], np.abs(d[chosen])
        )
    return out


_EULER = 0.5772156649015329
_MEANS = {
    "logit": 0.0,
    "probit": 0.0,
    "cloglog": -_EULER,
    "loglog": _EULER,
    "cauchit": 0.0,
}


def latent_mean(link: Link) -> float:
    """Mean of the latent distribution; the median for cauchit.

    Aranda-Ordaz: lambda e^t is Lomax of shape 1 / lambda. Log-gamma: a e^(lambda t) is
    gamma of shape a = lambda^-2.
    """
    lam = link.lam
    if lam is None:
        return _MEANS[link.name]
    if link.name == "aranda-ordaz":
        return float(digamma(1.0) - digamma(1.0 / lam) - np.log(lam))
    if abs(lam) < 1e-3:
        return -0.5 * lam
    return float((digamma(lam**-2.0) + 2.0 * np.log(abs(lam))) / lam)


def drawn(
    link: Link, upper: FloatArray, lower: FloatArray, shares: FloatArray
) -> FloatArray:
    """(N,) points of the intervals that have the share `shares` of their probability
    below; in the nearer tail.
    """
    low = link.cdf(lower)
    high = link.cdf(upper)
    below = link.ppf(low + shares * (high - low))
    over_low = link.sf(lower)
    over_high = link.sf(upper)
    above = -mirrored(link).ppf(over_low - shares * (over_low - over_high))
    points = np.where(over_low < 0.5, above, below)
    return np.clip(points, lower, upper)
