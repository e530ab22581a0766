"""The adjacent-category family: P(y = k + 1 | y = k or k + 1) = F(H - theta_k), over the scale s [Agresti 2010, ch. 4].

With G the mirror image of F, P(y = k | k or k + 1) = G(eta_k). The log ratios r_j = log((1 - G) / G)(eta_j) of
neighbouring levels add up to scores s_k = sum_{j<k} r_j, and p = softmax(s). With C_j = P(y <= j) and S_j = 1 - C_j:
  by r_j: [y > j] - S_j, that is C_j above and -S_j below;  -d2 / dr_j dr_l: C_min(j,l) S_max(j,l)
  by eta: times r'_j;  -d2 / deta_j deta_l: C_min S_max r'_j r'_l - [j = l] ([y > j] - S_j) r''_j
No term is a difference of probabilities of distant levels, so nothing cancels. R's VGAM has it for the logit, with
theta = -(Intercept) and beta as coefficients [Yee 2010: acat(reverse = FALSE)].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import FloatArray, IntArray
from .family import STENCIL, STEP, Family, LocationTerms, RowTerms, both_tails, log_odds_above
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
    def cut(self) -> Link:
        return mirrored(self.link)

    def _log_p(self, eta: FloatArray) -> FloatArray:
        """(n, K); -inf at a level without rows, which is above a threshold +inf or below -inf."""
        steps = np.where(np.isfinite(eta), log_odds_above(self.cut, eta), 0.0)
        scores = np.hstack([np.zeros((len(eta), 1)), np.cumsum(steps, axis=1)])
        scores[:, 1:][eta == np.inf] = -np.inf
        scores[:, :-1][eta == -np.inf] = -np.inf
        scores -= scores.max(axis=1, keepdims=True)
        return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))

    def _log_sums(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(n, K-1) log P(y <= k) and log P(y > k)."""
        log_p, add = self._log_p(eta), np.logaddexp.accumulate
        return np.asarray(add(log_p, axis=1)[:, :-1]), np.asarray(add(log_p[:, ::-1], axis=1)[:, -2::-1])

    def _ratio_slopes(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """r' and r'', of the shape of eta."""
        if self.link.name == "logit":
            return np.where(np.isfinite(eta), -1.0, 0.0), np.zeros_like(eta)
        above, below = both_tails(self.cut, np.where(np.isfinite(eta), eta, 0.0))
        first = -(above.b + below.a).reshape(eta.shape)
        second = (above.h_ll - below.h_uu).reshape(eta.shape)
        return np.where(np.isfinite(eta), first, 0.0), np.where(np.isfinite(eta), second, 0.0)

    @property
    def concave(self) -> bool:
        return self.link.name == "logit"

    def terms(self, predictor: Predictor, y: IntArray, second: bool = True) -> RowTerms | None:
        eta, s = predictor.eta(), predictor.s
        log_p = self._log_p(eta)
        below, above = _sums(np.exp(log_p))
        first, curve = (values.T for values in self._ratio_slopes(eta))
        by_ratio, count = _by_ratio(below, above, y).T, len(first)
        g = by_ratio * first
        e = np.einsum("kn,nk->n", g, eta)
        places = np.broadcast_to(np.arange(count)[:, None], g.shape)
        score, out = np.concatenate([s * g, [-s * g.sum(axis=0), -e]]), None
        if second:
            low, high, diagonal = _pairs(count)
            A = below.T[low] * above.T[high] * first[:, None] * first[None, :]
            A[diagonal] -= by_ratio * curve
            sums, moved = A.sum(axis=1), np.einsum("kln,nl->kn", A, eta)
            out = np.empty((count + 2, count + 2, y.size))
            out[:count, :count] = s * s * A
            out[:count, -2] = out[-2, :count] = -s * s * sums
            out[-2, -2] = s * s * sums.sum(axis=0)
            out[:count, -1] = out[-1, :count] = s * (g - moved)
            out[-2, -1] = out[-1, -2] = s * (moved.sum(axis=0) - g.sum(axis=0))
            out[-1, -1] = np.einsum("kn,nk->n", moved, eta) - e
        return RowTerms(log_p=log_p[np.arange(y.size), y], places=places, score=score, curvature=out)

    def by_location(self, predictor: Predictor, y: IntArray) -> LocationTerms | None:
        eta, s = predictor.eta(), predictor.s
        log_p = self._log_p(eta)
        by_ratio, first, bent = self._location_curvature(eta, log_p, y)
        return LocationTerms(log_p[np.arange(y.size), y], -s * (by_ratio * first).sum(axis=1), s * s * bent)

    def _location_curvature(
        self, eta: FloatArray, log_p: FloatArray, y: IntArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """[y > j] - S_j and r' (n, K-1), and r'P r' - sum_j ([y > j] - S_j) r''_j (n,) with P_jl = C_min S_max."""
        below, above = _sums(np.exp(log_p))
        first, second = self._ratio_slopes(eta)
        by_ratio = _by_ratio(below, above, y)
        beyond = np.cumsum((above * first)[:, ::-1], axis=1)[:, ::-1] - above * first
        covariances = above * np.cumsum(below * first, axis=1) + below * beyond  # P r'
        return by_ratio, first, (first * covariances - by_ratio * second).sum(axis=1)

    def curvature_slopes(self, predictor: Predictor, y: IntArray) -> FloatArray:
        """By theta_m s^3 T_m, T by differences; by H minus their sum, by tau as s and all eta shrink."""
        eta, s = predictor.eta(), predictor.s
        T = np.zeros_like(eta)
        for m, unit in enumerate(np.eye(eta.shape[1])):
            for move, weight in STENCIL:
                moved = eta + move * STEP * unit
                T[:, m] += weight / (12.0 * STEP) * self._location_curvature(moved, self._log_p(moved), y)[2]
        bent = self._location_curvature(eta, self._log_p(eta), y)[2]
        by_tau = -s * s * (2.0 * bent + (T * eta).sum(axis=1))
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
        both = (below + above)[:, :, None]
        with np.errstate(invalid="ignore"):  # -inf beyond the levels with rows
            share = below[:, low] + above[:, high] - both
        share = np.where(np.isfinite(both), share, -np.inf)
        return np.asarray(np.exp(share) * self._ratio_slopes(eta)[0][:, None, :])

    def start(self, shares: FloatArray) -> FloatArray:
        return np.asarray(-self.link.ppf(shares[1:] / (shares[1:] + shares[:-1])))

    def latent_residuals(self, predictor: Predictor, y: IntArray, shares: FloatArray) -> FloatArray:
        """Without a latent variable: P(level < y) + share P(level = y) - 1/2, even on (-1/2, 1/2) under the model."""
        below, above = self.tails(predictor, y)
        return np.asarray(below + shares * (1.0 - below - above) - 0.5)

    def recession(self, n_levels: int) -> tuple[FloatArray, ...]:
        """The ratios below y must not fall and those above not rise; for the logit their sums out from y."""
        units = np.eye(n_levels - 1)
        lines = []
        for y in range(n_levels):
            down, up = -units[:y][::-1], units[y:]
            if self.link.name == "logit":
                down, up = np.cumsum(down, axis=0), np.cumsum(up, axis=0)
            lines.append(np.vstack([down, up]))
        return tuple(lines)


def _sums(p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n, K-1) P(y <= k) and P(y > k), summed separately so that neither cancels."""
    return np.cumsum(p, axis=1)[:, :-1], np.cumsum(p[:, ::-1], axis=1)[:, -2::-1]


def _by_ratio(below: FloatArray, above: FloatArray, y: IntArray) -> FloatArray:
    """(n, K-1) [y > j] - S_j."""
    return np.where(y[:, None] > np.arange(below.shape[1]), below, -above)


def _pairs(count: int) -> tuple[IntArray, IntArray, tuple[IntArray, ...]]:
    """(K-1, K-1) the lower and the higher of two thresholds, and the index of the diagonal."""
    places = np.arange(count)
    return np.minimum.outer(places, places), np.maximum.outer(places, places), (places, places)
