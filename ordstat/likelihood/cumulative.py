"""The cumulative family: P(y <= k) = F(eta_k) [McCullagh 1980].

log p = log(F(u) - F(lo)) with u = eta_y, lo = eta_{y-1} and d = u - lo. With a, b, c, r_u, r_l, h_ul and W of
`links.Interval` and e = a u - b lo:
  score:      theta_y  s a;  theta_{y-1}  -s b;  H  -s c;  tau  -e
  curvature:  (theta, theta) -s^2 [[h_uu, h_ul], [h_ul, h_ll]];  (theta, H) s^2 (r_u, r_l);  (H, H) s^2 W
              (theta, tau) s (r_u u - h_ul d + a, r_l lo + h_ul d - b);  (H, tau) -s (r_u u + r_l lo + c)
              (tau, tau) -(r_u u^2 + r_l lo^2 - h_ul d^2 + e)
Terms of an infinite end are 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import digamma

from .._typing import FloatArray, IntArray
from ..compiled.terms import interval_terms
from .family import Family, LocationTerms, RowTerms, curvature_slopes
from .flexible import mirrored
from .links import Interval, Link
from .predictor import Predictor

_EULER = 0.5772156649015329
_MEANS = {"logit": 0.0, "probit": 0.0, "cloglog": -_EULER, "loglog": _EULER, "cauchit": 0.0}


@dataclass(frozen=True)
class Cumulative(Family):
    """P(y <= k) = F(eta_k)."""

    name: ClassVar[str] = "Cumulative link model"
    ordered: ClassVar[bool] = True
    local: ClassVar[bool] = True
    ratios: ClassVar[dict[str, tuple[str, float, str]]] = {
        "logit": ("odds ratio", 1.0, "Odds ratios: factors on the odds of a higher level, exp(estimate)"),
        "cloglog": ("hazard ratio", -1.0, "Hazard ratios: factors on -log P(response > k), exp(-estimate)"),
        "loglog": (
            "reversed hazard ratio",
            1.0,
            "Reversed hazard ratios: factors on -log P(response <= k), exp(estimate)",
        ),
    }

    @property
    def concave(self) -> bool:
        return self.link.name != "cauchit"

    def terms(self, predictor: Predictor, y: IntArray, second: bool = True) -> RowTerms | None:
        u, lo, d = predictor.ends(y)
        if not np.all(d > 0.0):
            return None
        q, s, last = self.link.interval(u, lo, d), predictor.s, predictor.n_thresholds - 1
        score, curvature = np.empty((4, y.size)), np.empty((4, 4, y.size)) if second else None
        interval_terms(q.a, q.b, q.c, q.W, q.r_u, q.r_l, q.h_ul, s, u, lo, d, score, curvature)
        with np.errstate(over="ignore", invalid="ignore"):
            return RowTerms(
                log_p=q.log_p,
                places=np.stack([np.minimum(y, last), np.maximum(y - 1, 0)]),
                score=score,
                curvature=curvature,
                barrier=s * s * q.h_ul if second else None,
            )

    def by_location(self, predictor: Predictor, y: IntArray) -> LocationTerms | None:
        u, lo, d = predictor.ends(y)
        if not np.all(d > 0.0):
            return None
        q, s = self.link.interval(u, lo, d), predictor.s
        return LocationTerms(q.log_p, -s * q.c, s * s * q.W)

    def curvature_slopes(self, predictor: Predictor, y: IntArray) -> FloatArray:
        """By theta_y, theta_{y-1} s^3 (dW/du, dW/dlo); by H their negative sum; by tau as s and both ends shrink."""
        u, lo, d = predictor.ends(y)
        q, s = self.link.interval(u, lo, d), predictor.s
        by_u, by_l = curvature_slopes(self.link, u, lo, d, q)
        moved = np.where(np.isinf(u), 0.0, u) * by_u + np.where(np.isinf(lo), 0.0, lo) * by_l
        return np.stack([s**3 * by_u, s**3 * by_l, -(s**3) * (by_u + by_l), -s * s * (2.0 * q.W + moved)])

    def log_p(self, predictor: Predictor, y: IntArray) -> FloatArray:
        return self.link.log_interval(*predictor.ends(y))

    def probabilities(self, predictor: Predictor) -> FloatArray:
        """An interval whose thresholds are out of order (nominal effects far outside the data) has a negative one."""
        eta = predictor.eta()
        out = np.empty((len(eta), predictor.n_thresholds + 1))
        out[:, 0], out[:, -1] = self.link.cdf(eta[:, 0]), self.link.sf(eta[:, -1])
        with np.errstate(invalid="ignore"):  # both ends infinite: a level that no training row had
            widths = predictor.widths()
        for k in range(1, predictor.n_thresholds):
            out[:, k] = _probability(self.link, eta[:, k], eta[:, k - 1], widths[:, k - 1])
        return out

    def below(self, eta: FloatArray) -> FloatArray:
        return np.asarray(self.link.cdf(eta))

    def above(self, eta: FloatArray) -> FloatArray:
        return np.asarray(self.link.sf(eta))

    def below_slope(self, eta: FloatArray) -> FloatArray:
        return np.asarray(self.link.pdf(eta))

    def log_odds_above(self, eta: FloatArray) -> FloatArray:
        return log_odds_above(self.link, eta)

    def log_odds_above_slope(self, eta: FloatArray) -> FloatArray:
        """-f / (F (1 - F)) = -(f / F + f / (1 - F))."""
        above, below = both_tails(self.link, eta)
        return np.asarray(-(above.b + below.a).reshape(eta.shape))

    cut, cut_slope = below, below_slope

    def start(self, shares: FloatArray) -> FloatArray:
        return np.asarray(self.link.ppf(np.cumsum(shares)[:-1]))

    def tails(self, predictor: Predictor, y: IntArray) -> tuple[FloatArray, FloatArray]:
        u, lo, _ = predictor.ends(y)
        return np.asarray(self.link.cdf(lo)), np.asarray(self.link.sf(u))

    def latent_residuals(self, predictor: Predictor, y: IntArray, shares: FloatArray) -> FloatArray:
        """Latent errors drawn from F given that they fall into the observed interval, less the mean of F.

        Liu and Zhang (2018, JASA 113, 845-854): under the true model a sample from F, centred; here divided by the
        scale of the row, where the model has scale effects.
        """
        u, lo, _ = predictor.ends(y)
        return np.asarray(drawn(self.link, u, lo, shares) - latent_mean(self.link))

    def recession(self, n_levels: int) -> tuple[FloatArray, ...]:
        """The upper end must not fall and the lower one not rise [Albert and Anderson 1984; Haberman 1980]."""
        lines = np.vstack([np.zeros(n_levels - 1), np.eye(n_levels - 1)])
        upper = np.vstack([np.eye(n_levels - 1), np.zeros(n_levels - 1)])
        return tuple(np.array([line for line in (upper[k], -lines[k]) if np.any(line)]) for k in range(n_levels))


def _probability(link: Link, u: FloatArray, lo: FloatArray, d: FloatArray) -> FloatArray:
    """F(u) - F(lo): 0 where the ends meet, negative where they are out of order."""
    if np.all(d > 0.0):
        return link.probability(u, lo, d)
    out = np.zeros(u.size)
    for sign, chosen in ((1.0, d > 0.0), (-1.0, d < 0.0)):
        high, low = (u, lo) if sign > 0.0 else (lo, u)
        out[chosen] = sign * link.probability(high[chosen], low[chosen], np.abs(d[chosen]))
    return out


def both_tails(link: Link, eta: FloatArray) -> tuple[Interval, Interval]:
    """The intervals above and below each eta, flattened."""
    flat = eta.reshape(-1)
    infinite = np.full(flat.size, np.inf)
    return link.interval(infinite, flat, infinite), link.interval(flat, -infinite, infinite)


def log_odds_above(link: Link, eta: FloatArray) -> FloatArray:
    """log((1 - F) / F), accurate in both tails."""
    flat = eta.reshape(-1)
    infinite = np.full(flat.size, np.inf)
    above, below = link.log_interval(infinite, flat, infinite), link.log_interval(flat, -infinite, infinite)
    return np.asarray((above - below).reshape(eta.shape))


def latent_mean(link: Link) -> float:
    """Mean of the latent distribution; of cauchit, which has none, the median.

    Aranda-Ordaz: lambda e^t is Lomax of shape 1 / lambda. Log-gamma: a e^(lambda t) is gamma of shape a = lambda^-2.
    """
    lam = link.lam
    if lam is None:
        return _MEANS[link.name]
    if link.name == "aranda-ordaz":
        return float(digamma(1.0) - digamma(1.0 / lam) - np.log(lam))
    if abs(lam) < 1e-3:
        return -0.5 * lam
    return float((digamma(lam**-2.0) + 2.0 * np.log(abs(lam))) / lam)


def drawn(link: Link, upper: FloatArray, lower: FloatArray, shares: FloatArray) -> FloatArray:
    """(N,) points of the intervals that have the share `shares` of their probability below; in the nearer tail."""
    low, high = link.cdf(lower), link.cdf(upper)
    below = link.ppf(low + shares * (high - low))
    over_low, over_high = link.sf(lower), link.sf(upper)
    above = -mirrored(link).ppf(over_low - shares * (over_low - over_high))
    points = np.where(over_low < 0.5, above, below)
    return np.asarray(np.clip(points, lower, upper))
