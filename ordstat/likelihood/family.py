"""Likelihood families: the base class, and the cumulative family, P(y <= k) = F(eta_k) [McCullagh 1980].

Cumulative: log p = log(F(u) - F(lo)) with u = eta_y, lo = eta_{y-1} and d = u - lo. With a, b, c, r_u, r_l, h_ul and W
of `links.Interval` and e = a u - b lo:
  score:      theta_y  s a;  theta_{y-1}  -s b;  H  -s c;  tau  -e
  curvature:  (theta, theta) -s^2 [[h_uu, h_ul], [h_ul, h_ll]];  (theta, H) s^2 (r_u, r_l);  (H, H) s^2 W
              (theta, tau) s (r_u u - h_ul d + a, r_l lo + h_ul d - b);  (H, tau) -s (r_u u + r_l lo + c)
              (tau, tau) -(r_u u^2 + r_l lo^2 - h_ul d^2 + e)
Terms of an infinite end are 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from scipy.special import digamma, expit

from .._typing import FloatArray, IntArray
from ..exceptions import OptionError
from .flexible import FIRST, SECOND, links_about, mirrored
from .links import Interval, Link
from .predictor import Predictor


@dataclass(frozen=True, eq=False, kw_only=True)
class RowTerms:
    """The log-probability of the observed level of n rows, and its derivatives.

    By theta at M thresholds, H, tau, and the parameter of the link if that is estimated: Q in all.

    Attributes
    ----------
    log_p : (n,)
    places : (M, n)
    score : (Q, n)
    curvature : (Q, Q, n) or None
        Negative second derivatives; None if not requested.
    barrier : (n,) or None
        Part of the curvature along the difference of the two thresholds that grows without bound as they meet; None
        without such a part.
    """

    log_p: FloatArray
    places: IntArray
    score: FloatArray
    curvature: FloatArray | None
    barrier: FloatArray | None = None

    @property
    def by_location(self) -> FloatArray:
        """(n,) derivative by H."""
        return np.asarray(self.score[len(self.places)])

    def second(self) -> FloatArray:
        """(Q, Q, n) negative second derivatives."""
        assert self.curvature is not None
        return self.curvature

    def smooth(self) -> FloatArray:
        """(Q, Q, n) `curvature` without the barrier."""
        if self.barrier is None:
            return self.second()
        out = self.second().copy()
        for place, other, sign in ((0, 0, 1.0), (1, 1, 1.0), (0, 1, -1.0), (1, 0, -1.0)):
            out[place, other] -= sign * self.barrier
        return out


@dataclass(frozen=True, eq=False)
class LocationTerms:
    """The log-probability of n rows, its derivative by H and its negative second one, all (n,)."""

    log_p: FloatArray
    score: FloatArray
    curvature: FloatArray


@dataclass(frozen=True)
class Family(ABC):
    """A likelihood family at a link.

    Attributes
    ----------
    link : Link
        Its distribution F.
    name : str
        As in "Cumulative link model".
    ordered : bool
        Whether the thresholds of a row must increase.
    local : bool
        Whether P(y <= k) depends on eta_k alone: then log p depends on eta_y and eta_{y-1}.
    concave : bool
        Whether the log-likelihood has one maximum, without scale effects.
    ratios : dict of str
        Link -> what exp(coefficient) is the ratio of, sign of the coefficient in it, title of the table.
    """

    link: Link

    name: ClassVar[str]
    ordered: ClassVar[bool]
    local: ClassVar[bool]
    ratios: ClassVar[dict[str, tuple[str, float, str]]] = {}

    def at(self, link: Link) -> Self:
        """The same family at another link."""
        return replace(self, link=link)

    def require_latent(self, what: str) -> None:
        """OptionError if the family has no latent variable with ordered thresholds."""
        if not self.ordered:
            raise OptionError(f"{what} needs a cumulative link model; got an {self.name.lower()}. Use method='clm'.")

    @property
    @abstractmethod
    def concave(self) -> bool: ...

    @abstractmethod
    def terms(self, predictor: Predictor, y: IntArray, second: bool = True) -> RowTerms | None:
        """The terms of rows observed at y, with or without second derivatives; None outside the domain."""

    @abstractmethod
    def by_location(self, predictor: Predictor, y: IntArray) -> LocationTerms | None:
        """The log-probability with its derivatives by H alone; None outside the domain."""

    @abstractmethod
    def curvature_slopes(self, predictor: Predictor, y: IntArray) -> FloatArray:
        """(Q, n) derivatives of -d2 log p / dH2 by the predictors of `terms`, inside the domain."""

    @abstractmethod
    def probabilities(self, predictor: Predictor) -> FloatArray:
        """(n, K) probabilities with full relative accuracy."""

    @abstractmethod
    def below(self, eta: FloatArray) -> FloatArray:
        """(n, K-1) P(y <= k)."""

    @abstractmethod
    def above(self, eta: FloatArray) -> FloatArray:
        """(n, K-1) P(y > k)."""

    @abstractmethod
    def below_slope(self, eta: FloatArray) -> FloatArray:
        """Derivatives of `below` by eta: (n, K-1) of a local family, else (n, K-1 of below, K-1 of eta)."""

    @abstractmethod
    def log_odds_above(self, eta: FloatArray) -> FloatArray:
        """(n, K-1) log(P(y > k) / P(y <= k))."""

    @abstractmethod
    def log_odds_above_slope(self, eta: FloatArray) -> FloatArray:
        """Derivatives of `log_odds_above` by eta, with the shape of `below_slope`."""

    @property
    @abstractmethod
    def cut(self) -> Link:
        """The distribution F of the probability F(eta_k) that eta_k alone determines."""

    @abstractmethod
    def start(self, shares: FloatArray) -> FloatArray:
        """(K-1,) eta at which the levels have these shares (K,), all positive."""

    @abstractmethod
    def latent_residuals(self, predictor: Predictor, y: IntArray, shares: FloatArray) -> FloatArray:
        """(n,) surrogate residuals: of mean zero under the model where `shares` are drawn evenly from (0, 1)."""

    @abstractmethod
    def recession(self, n_levels: int) -> tuple[FloatArray, ...]:
        """For each level, lines a of (S, K-1): along d the likelihood of its rows never falls if a'd(eta) >= 0."""

    def tails(self, predictor: Predictor, y: IntArray) -> tuple[FloatArray, FloatArray]:
        """(n,) P(level < y) and P(level > y)."""
        eta, every, zero = predictor.eta(), np.arange(y.size), np.zeros((y.size, 1))
        return np.hstack([zero, self.below(eta)])[every, y], np.hstack([self.above(eta), zero])[every, y]

    def complements(self, eta: FloatArray) -> FloatArray:
        """(n, K) 1 - P(y = k), without cancellation near 0."""
        zeros = np.zeros((len(eta), 1))
        return np.asarray(np.hstack([self.above(eta), zeros]) + np.hstack([zeros, self.below(eta)]))


#: Step of the differences of the curvature, and weights of f(-2h), f(-h), f(h), f(2h) in 12 h f'.
STEP, STENCIL = 1e-3, ((-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0))


def curvature_slopes(link: Link, u: FloatArray, lo: FloatArray, d: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n,) dW/du and dW/dlo of intervals; of links other than the logit by differences of fourth order."""
    if link.name == "logit":
        by_u, by_l = (expit(t) * expit(-t) * -np.tanh(0.5 * t) for t in (u, lo))
        return np.asarray(by_u), np.asarray(by_l)
    h = STEP * np.minimum(1.0, 0.25 * d)  # steps stay inside the interval
    by_u, by_l = np.zeros(u.size), np.zeros(u.size)
    for move, weight in STENCIL:
        by_u += weight * link.interval(u + move * h, lo, d + move * h).W
        by_l += weight * link.interval(u, lo + move * h, d - move * h).W
    return np.where(np.isinf(u), 0.0, by_u / (12.0 * h)), np.where(np.isinf(lo), 0.0, by_l / (12.0 * h))


def row_terms(
    family: Family, predictor: Predictor, y: IntArray, second: bool = True, by_lambda: bool = False
) -> RowTerms | None:
    """Terms of rows observed at y, with `by_lambda` by the parameter of the link too; None outside the domain.

    Derivatives by lambda come from the polynomial through seven values; NaN where a probability is 0 at one of them.
    """
    if not by_lambda:
        return family.terms(predictor, y, second)
    links, h = links_about(family.link)
    families = [family.at(link) for link in links]
    here = families[3].terms(predictor, y, second) if families else None
    if here is None:
        return None
    others = [each.terms(predictor, y, second=False) for each in families]
    terms = [each for each in others if each is not None]
    logs = np.array([each.log_p for each in terms])
    with np.errstate(invalid="ignore"):
        score = np.vstack([here.score, FIRST @ logs / h])
        if not second:
            return replace(here, score=score)
        mixed = np.tensordot(FIRST, np.array([each.score for each in terms]), axes=1) / h
        bend = SECOND @ (logs - here.log_p) / h**2
    curvature = np.empty((len(score), *score.shape))
    curvature[:-1, :-1] = here.second()
    curvature[:-1, -1] = curvature[-1, :-1] = -mixed
    curvature[-1, -1] = -bend
    return replace(here, score=score, curvature=curvature)


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
        "cloglog": (
            "hazard ratio",
            -1.0,
            "Hazard ratios: factors on -log P(response > k), exp(-estimate), below 1 = higher response",
        ),
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
        q, s = self.link.interval(u, lo, d), predictor.s
        places = np.stack([np.minimum(y, predictor.n_thresholds - 1), np.maximum(y - 1, 0)])
        with np.errstate(over="ignore", invalid="ignore"):
            u, lo, d = (np.where(np.isinf(end), 0.0, end) for end in (u, lo, d))
            e = q.a * u - q.b * lo
            inner = d > 0.0
            e = np.where(inner, q.c * u + q.b * d, e)  # nothing cancels
            score = np.stack([s * q.a, -s * q.b, -s * q.c, -e])
            if not second:
                return RowTerms(log_p=q.log_p, places=places, score=score, curvature=None)
            ss, up, low, across = s * s, q.r_u * u, q.r_l * lo, q.h_ul * d
            curvature = np.empty((4, 4, y.size))
            curvature[0, :] = -ss * q.h_uu, -ss * q.h_ul, ss * q.r_u, s * (up - across + q.a)
            curvature[1, 1:] = -ss * q.h_ll, ss * q.r_l, s * (low + across - q.b)
            curvature[2, 2:] = ss * q.W, -s * (up + low + q.c)
            curvature[3, 3] = -(up * u + low * lo - across * d + e)
            for row in range(1, 4):
                curvature[row, :row] = curvature[:row, row]
        return RowTerms(log_p=q.log_p, places=places, score=score, curvature=curvature, barrier=ss * q.h_ul)

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
        by_u, by_l = curvature_slopes(self.link, u, lo, d)
        moved = np.where(np.isinf(u), 0.0, u) * by_u + np.where(np.isinf(lo), 0.0, lo) * by_l
        return np.stack([s**3 * by_u, s**3 * by_l, -(s**3) * (by_u + by_l), -s * s * (2.0 * q.W + moved)])

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

    @property
    def cut(self) -> Link:
        return self.link

    def start(self, shares: FloatArray) -> FloatArray:
        return np.asarray(self.link.ppf(np.cumsum(shares)[:-1]))

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
    if link.name == "logit":
        return -eta
    flat = eta.reshape(-1)
    infinite = np.full(flat.size, np.inf)
    above, below = link.log_interval(infinite, flat, infinite), link.log_interval(flat, -infinite, infinite)
    return np.asarray((above - below).reshape(eta.shape))


def latent_mean(link: Link) -> float:
    """Mean of the latent distribution; the median for cauchit.

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
