"""What a likelihood family is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from scipy.special import expit

from .._typing import FloatArray, IntArray
from ..exceptions import OptionError
from .links import Interval, Link
from .predictor import Predictor


@dataclass(frozen=True, eq=False, kw_only=True)
class RowTerms:
    """The log-probability of the observed level of n rows, and its derivatives.

    By theta at M places, then H, tau, and the parameter of the link where that is estimated: Q in all.

    Attributes
    ----------
    log_p : (n,)
    places : (M, n)
    score : (Q, n)
    curvature : (Q, Q, n) or None
        Negative second derivatives; None where they were not asked for.
    barrier : (n,) or None
        What of the curvature, along the first place against the second, grows without bound as their thresholds meet;
        None where nothing does.
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
        """OptionError where no latent variable is cut by thresholds in order."""
        if not self.ordered:
            raise OptionError(f"{what} must be asked of a cumulative link model; got an {self.name.lower()}.")

    @property
    @abstractmethod
    def concave(self) -> bool: ...

    @abstractmethod
    def terms(self, predictor: Predictor, y: IntArray, second: bool = True) -> RowTerms | None:
        """The terms of rows observed at y, with or without second derivatives; None outside the domain."""

    def log_p(self, predictor: Predictor, y: IntArray) -> FloatArray:
        """(n,) log-probabilities of rows observed at y, inside the domain."""
        terms = self.terms(predictor, y, second=False)
        assert terms is not None
        return terms.log_p

    def by_location(self, predictor: Predictor, y: IntArray) -> LocationTerms | None:
        """The log-probability with its derivatives by H alone; None outside the domain."""
        terms = self.terms(predictor, y)
        if terms is None:
            return None
        place = len(terms.places)
        return LocationTerms(terms.log_p, terms.score[place], terms.second()[place, place])

    def curvature_slopes(self, predictor: Predictor, y: IntArray) -> FloatArray:
        """(Q, n) derivatives of -d2 log p / dH2 by the predictors of `terms`, inside the domain."""
        raise OptionError(
            f"Random effects must go with a cumulative or an adjacent-category model; got a model of another family, "
            f"{self.name}. Use method='clm'."
        )

    @abstractmethod
    def probabilities(self, predictor: Predictor) -> FloatArray:
        """(n, K), each to its own relative accuracy."""

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
        """Its derivatives by eta, of the shape of `below_slope`."""

    @abstractmethod
    def cut(self, eta: FloatArray) -> FloatArray:
        """The probability that eta_k stands for, which rises with eta_k alone."""

    @abstractmethod
    def cut_slope(self, eta: FloatArray) -> FloatArray:
        """Its derivative by eta."""

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


def chained(log_p: FloatArray, g: FloatArray, A: FloatArray | None, predictor: Predictor, eta: FloatArray) -> RowTerms:
    """Terms of a family that depends on all eta, from g (K-1, n) and A (K-1, K-1, n); eta (K-1, n)."""
    s, count = predictor.s, len(g)
    e = np.einsum("kn,kn->n", g, eta)
    places = np.broadcast_to(np.arange(count)[:, None], g.shape)
    score = np.concatenate([s * g, [-s * g.sum(axis=0), -e]])
    if A is None:
        return RowTerms(log_p=log_p, places=places, score=score, curvature=None)
    sums, moved = A.sum(axis=1), np.einsum("kln,ln->kn", A, eta)
    out = np.empty((count + 2, count + 2, log_p.size))
    out[:count, :count] = s * s * A
    out[:count, -2] = out[-2, :count] = -s * s * sums
    out[-2, -2] = s * s * sums.sum(axis=0)
    out[:count, -1] = out[-1, :count] = s * (g - moved)
    out[-2, -1] = out[-1, -2] = s * (moved.sum(axis=0) - g.sum(axis=0))
    out[-1, -1] = np.einsum("kn,kn->n", moved, eta) - e
    return RowTerms(log_p=log_p, places=places, score=score, curvature=out)


#: S and S' of a density, and gap = S(lo) - S(u) from (u, lo, d).
Scores = tuple[
    Callable[[FloatArray], FloatArray],
    Callable[[FloatArray], FloatArray],
    Callable[[FloatArray, FloatArray, FloatArray], FloatArray],
]
#: Step of the differences of other links, and weights of f(-2h), f(-h), f(h), f(2h) in 12 h f'.
_STEP, _WEIGHTS = 1e-3, ((-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0))


def curvature_slopes(
    link: Link, u: FloatArray, lo: FloatArray, d: FloatArray, at: Interval
) -> tuple[FloatArray, FloatArray]:
    """(n,) dW/du and dW/dlo of intervals whose derivatives are `at`."""
    if link.name == "logit":
        return _logistic(u), _logistic(lo)
    if link.name == "loglog":
        lower, upper = _direct(_SCORES["cloglog"], -lo, -u, d, at.mirrored())
        return -upper, -lower
    if link.name in _SCORES:
        return _direct(_SCORES[link.name], u, lo, d, at)
    return _differences(link, u, lo, d)


def _logistic(t: FloatArray) -> FloatArray:
    return np.asarray(expit(t) * expit(-t) * -np.tanh(0.5 * t))


def _direct(
    scores: Scores, u: FloatArray, lo: FloatArray, d: FloatArray, at: Interval
) -> tuple[FloatArray, FloatArray]:
    S, slope, gap = scores
    with np.errstate(over="ignore", invalid="ignore"):
        top, bottom = at.a != 0.0, at.b != 0.0
        between = np.where(top & bottom, at.h_ul * gap(u, lo, d), 0.0)
        by_u = at.r_u * (2.0 * at.c - S(u)) - at.a * slope(u)
        by_l = at.r_l * (2.0 * at.c - S(lo)) + at.b * slope(lo)
        return np.where(top, by_u, 0.0) - between, np.where(bottom, by_l, 0.0) + between


def _differences(link: Link, u: FloatArray, lo: FloatArray, d: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of fourth order, good to about 1e-10; steps stay inside the interval."""
    h = _STEP * np.minimum(1.0, 0.25 * d)
    by_u, by_l = np.zeros(u.size), np.zeros(u.size)
    for move, weight in _WEIGHTS:
        by_u += weight * link.interval(u + move * h, lo, d + move * h).W
        by_l += weight * link.interval(u, lo + move * h, d - move * h).W
    return np.where(np.isinf(u), 0.0, by_u / (12.0 * h)), np.where(np.isinf(lo), 0.0, by_l / (12.0 * h))


def _cauchy_gap(u: FloatArray, lo: FloatArray, d: FloatArray) -> FloatArray:
    return 2.0 * d * ((1.0 - u * lo) / (1.0 + u * u)) / (1.0 + lo * lo)


_SCORES: dict[str, Scores] = {
    "probit": (np.negative, lambda t: np.full(t.size, -1.0), lambda u, lo, d: d),
    "cloglog": (lambda t: 1.0 - np.exp(t), lambda t: -np.exp(t), lambda u, lo, d: np.exp(u) * -np.expm1(-d)),
    "cauchit": (
        lambda t: -2.0 * t / (1.0 + t * t),
        lambda t: -2.0 * (1.0 - t * t) / (1.0 + t * t) ** 2,
        _cauchy_gap,
    ),
}
