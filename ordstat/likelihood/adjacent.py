"""The adjacent-category family: P(y = k + 1 | y = k or k + 1) = F(H - theta_k), over the scale s [Agresti 2010, ch. 4].

With G the mirror image of F, P(y = k | k or k + 1) = G(eta_k). The log ratios r_j = log((1 - G) / G)(eta_j) of
neighbouring levels add up to scores s_k = sum_{j<k} r_j, and p = softmax(s). With C_j = P(y <= j) and S_j = 1 - C_j:
  by r_j: [y > j] - S_j, that is C_j above and -S_j below;  -d2 / dr_j dr_l: C_min(j,l) S_max(j,l)
  by eta: times r'_j;  -d2 / deta_j deta_l: C_min S_max r'_j r'_l - [j = l] ([y > j] - S_j) r''_j
Levels far from each other never meet in a difference: nothing cancels. R's VGAM has it for the logit, with
theta = -(Intercept) and beta as coefficients [Yee 2010: acat(reverse = FALSE)].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from .._typing import FloatArray, IntArray
from .cumulative import both_tails, log_odds_above
from .family import Family, LocationTerms, RowTerms, chained, curvature_slopes
from .flexible import mirrored
from .links import Link
from .predictor import Predictor


@dataclass(frozen=True)
class Adjacent(Family):
    """P(y = k + 1 | y = k or k + 1) = F(-eta_k)."""

    name: ClassVar[str] = "Adjacent-category model"
    ordered: ClassVar[bool] = False
    local: ClassVar[bool] = False
    ratios: ClassVar[dict[str, tuple[str, float, str]]] = {
        "logit": (
            "adjacent odds ratio",
            1.0,
            "Adjacent odds ratios: factors on the odds of the higher of two neighbouring levels, exp(estimate)",
        ),
    }

    @property
    def _mirror(self) -> Link:
        return mirrored(self.link)

    def _log_p(self, eta: FloatArray) -> FloatArray:
        """(n, K)."""
        steps = log_odds_above(self._mirror, eta)
        scores = np.hstack([np.zeros((len(eta), 1)), np.cumsum(steps, axis=1)])
        return np.asarray(scores - logsumexp(scores, axis=1, keepdims=True))

    def _log_sums(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(n, K-1) log P(y <= k) and log P(y > k)."""
        log_p, add = self._log_p(eta), np.logaddexp.accumulate
        return np.asarray(add(log_p, axis=1)[:, :-1]), np.asarray(add(log_p[:, ::-1], axis=1)[:, -2::-1])

    def _ratio_slopes(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """r' and r'', of the shape of eta."""
        above, below = both_tails(self._mirror, eta)
        return -(above.b + below.a).reshape(eta.shape), (above.h_ll - below.h_uu).reshape(eta.shape)

    def _ratio_bend(self, eta: FloatArray) -> FloatArray:
        """r''', of the shape of eta."""
        flat, infinite = eta.reshape(-1), np.full(eta.size, np.inf)
        above, below = both_tails(self._mirror, eta)
        by_l = curvature_slopes(self._mirror, infinite, flat, infinite, above)[1]
        by_u = curvature_slopes(self._mirror, flat, -infinite, infinite, below)[0]
        return (by_u - by_l).reshape(eta.shape)

    @property
    def concave(self) -> bool:
        return self.link.name == "logit"

    def terms(self, predictor: Predictor, y: IntArray, second: bool = True) -> RowTerms | None:
        eta = predictor.eta()
        log_p = self._log_p(eta)
        below, above = _sums(np.exp(log_p))
        first, curve = (values.T for values in self._ratio_slopes(eta))
        by_ratio = _by_ratio(below, above, y).T
        A = None
        if second:
            low, high, diagonal = _pairs(len(first))
            A = below.T[low] * above.T[high] * first[:, None] * first[None, :]
            A[diagonal] -= by_ratio * curve
        return chained(log_p[np.arange(y.size), y], by_ratio * first, A, predictor, eta.T)

    def by_location(self, predictor: Predictor, y: IntArray) -> LocationTerms | None:
        eta, s = predictor.eta(), predictor.s
        log_p = self._log_p(eta)
        below, above = _sums(np.exp(log_p))
        first, second = self._ratio_slopes(eta)
        by_ratio = _by_ratio(below, above, y)
        bent = np.einsum("nk,nk->n", first, _covariances(below, above, first))
        bent -= np.einsum("nk,nk->n", by_ratio, second)
        score = -s * np.einsum("nk,nk->n", by_ratio, first)
        return LocationTerms(log_p[np.arange(y.size), y], score, s * s * bent)

    def curvature_slopes(self, predictor: Predictor, y: IntArray) -> FloatArray:
        """With P_jl = C_min S_max, u = P r' and w = P r'', the curvature is s^2 (r'u - sum_j ([y > j] - S_j) r''_j).

        By r_m the first part moves by g_m = Cov([y > m], (D - E D)^2), D = sum_{j<y} r'_j, so that by eta_m all moves
        by T_m = 2 u_m r''_m + (g_m + w_m) r'_m - ([y > m] - S_m) r'''_m: by theta_m s^3 T_m, by H minus their sum, by
        tau as s and all eta shrink.
        """
        eta, s = predictor.eta(), predictor.s
        below, above = _sums(np.exp(self._log_p(eta)))
        (first, second), third = self._ratio_slopes(eta), self._ratio_bend(eta)
        by_ratio = _by_ratio(below, above, y)
        u, w = (_covariances(below, above, values) for values in (first, second))
        T = 2.0 * u * second + (_third_moments(below, above, first, u) + w) * first - by_ratio * third
        bent = np.einsum("nk,nk->n", first, u) - np.einsum("nk,nk->n", by_ratio, second)
        by_tau = -s * s * (2.0 * bent + np.einsum("nk,nk->n", T, eta))
        return np.vstack([s**3 * T.T, -(s**3) * T.sum(axis=1), by_tau])

    def probabilities(self, predictor: Predictor) -> FloatArray:
        return np.exp(self._log_p(predictor.eta()))

    def below(self, eta: FloatArray) -> FloatArray:
        return _sums(np.exp(self._log_p(eta)))[0]

    def above(self, eta: FloatArray) -> FloatArray:
        return _sums(np.exp(self._log_p(eta)))[1]

    def below_slope(self, eta: FloatArray) -> FloatArray:
        """dC_k / dr_j = -C_min(j,k) S_max(j,k)."""
        below, above = _sums(np.exp(self._log_p(eta)))
        low, high, _ = _pairs(eta.shape[1])
        return np.asarray(-below[:, low] * above[:, high] * self._ratio_slopes(eta)[0][:, None, :])

    def log_odds_above(self, eta: FloatArray) -> FloatArray:
        below, above = self._log_sums(eta)
        return np.asarray(above - below)

    def log_odds_above_slope(self, eta: FloatArray) -> FloatArray:
        """-dC_k / (C_k S_k): C_min S_max / (C_k S_k) is at most 1 / max(C_k, S_k)."""
        below, above = self._log_sums(eta)
        low, high, _ = _pairs(eta.shape[1])
        share = below[:, low] + above[:, high] - (below + above)[:, :, None]
        return np.asarray(np.exp(share) * self._ratio_slopes(eta)[0][:, None, :])

    def cut(self, eta: FloatArray) -> FloatArray:
        return np.asarray(self._mirror.cdf(eta))

    def cut_slope(self, eta: FloatArray) -> FloatArray:
        return np.asarray(self._mirror.pdf(eta))

    def start(self, shares: FloatArray) -> FloatArray:
        return np.asarray(-self.link.ppf(shares[1:] / (shares[1:] + shares[:-1])))

    def latent_residuals(self, predictor: Predictor, y: IntArray, shares: FloatArray) -> FloatArray:
        """There is no latent variable: P(level < y) + share P(level = y) - 1/2, even on (-1/2, 1/2) under the model."""
        below, above = self.tails(predictor, y)
        return np.asarray(below + shares * (1.0 - below - above) - 0.5)

    def recession(self, n_levels: int) -> tuple[FloatArray, ...]:
        """The ratios below y must not fall and those above not rise; for the logit their sums out from y."""
        own = np.eye(n_levels - 1)
        lines = []
        for y in range(n_levels):
            down, up = -own[:y][::-1], own[y:]
            if self.link.name == "logit":
                down, up = np.cumsum(down, axis=0), np.cumsum(up, axis=0)
            lines.append(np.vstack([down, up]))
        return tuple(lines)


def _sums(p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n, K-1) P(y <= k) and P(y > k), each a sum of its own."""
    return np.cumsum(p, axis=1)[:, :-1], np.cumsum(p[:, ::-1], axis=1)[:, -2::-1]


def _by_ratio(below: FloatArray, above: FloatArray, y: IntArray) -> FloatArray:
    """(n, K-1) [y > j] - S_j."""
    return np.where(y[:, None] > np.arange(below.shape[1]), below, -above)


def _up_to(values: FloatArray) -> FloatArray:
    """Sums over the places up to each."""
    return np.cumsum(values, axis=1)


def _beyond(values: FloatArray) -> FloatArray:
    """Sums over the places after each."""
    return np.asarray(np.cumsum(values[:, ::-1], axis=1)[:, ::-1] - values)


def _covariances(below: FloatArray, above: FloatArray, values: FloatArray) -> FloatArray:
    """(n, K-1) sum_l C_min(j,l) S_max(j,l) values_l: Cov([y > j], sum_{l<y} values_l)."""
    return above * _up_to(below * values) + below * _beyond(above * values)


def _third_moments(below: FloatArray, above: FloatArray, values: FloatArray, u: FloatArray) -> FloatArray:
    """(n, K-1) Cov([y > m], (D - E D)^2), D = sum_{l<y} values_l, from u = `_covariances` of the values.

    With values, C_j falls by u_j and S_j rises by it, so that C_min S_max moves by C_min u_max - u_min S_max.
    """
    moved = u * values
    lower = u * _up_to(below * values) - above * _up_to(moved)
    return lower + below * _beyond(moved) - u * _beyond(above * values)


def _pairs(count: int) -> tuple[IntArray, IntArray, tuple[IntArray, ...]]:
    """(K-1, K-1) the lower and the higher of two places, and the places where they are one."""
    places = np.arange(count)
    return np.minimum.outer(places, places), np.maximum.outer(places, places), (places, places)
