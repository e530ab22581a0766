"""The adjacent-category family: P(y = k + 1 | y = k or k + 1) = F(H - theta_k), over
the scale s [Agresti 2010, ch. 4].

With G the mirror image of F, P(y = k | k or k + 1) = G(eta_k). The log ratios r_j =
log((1 - G) / G)(eta_j) of neighbouring levels add up to scores s_k = sum_{j<k} r_j, and
p = softmax(s). With C_j = P(y <= j) and S_j = 1 - C_j:
  by r_j: [y > j] - S_j, that is C_j above and -S_j below
  -d2 / dr_j dr_l: C_min(j,l) S_max(j,l)
  by eta_j: times r'_j
  -d2 / deta_j deta_l: C_min S_max r'_j r'_l - [j = l] ([y > j] - S_j) r''_j
No term is a difference of probabilities of distant levels, so nothing cancels. R's VGAM
has it for the logit, with theta = -(Intercept) and beta as coefficients [Yee 2010:
acat(reverse = FALSE)].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from .._typing import FloatArray, IntArray
from ..report.ratios import Ratio
from .family import Family, LevelScores, both_tails, log_odds_above
from .flexible import mirrored
from .links import Link
from .terms import EtaTerms


@dataclass(frozen=True, eq=False, kw_only=True)
class AdjacentTerms(EtaTerms):
    """The terms of rows, all (K-1, n), in log ratios r.

    Attributes
    ----------
    below, above
        C and S.
    by_ratio
        [y > j] - S_j.
    first, second
        r' and r''.
    """

    below: FloatArray
    above: FloatArray
    by_ratio: FloatArray
    first: FloatArray
    second: FloatArray

    @cached_property
    def curvature(self) -> FloatArray:
        low, high = _lower_and_higher(len(self.first))
        A = (
            self.below[low]
            * self.above[high]
            * self.first[:, None]
            * self.first[None, :]
        )
        diagonal = np.arange(len(A))
        A[diagonal, diagonal] -= self.by_ratio * self.second
        return A

    @cached_property
    def curvature_sums(self) -> FloatArray:
        """With P_jl = C_min S_max, r'_j (P r')_j by cumulative sums."""
        beyond = (
            np.cumsum((self.above * self.first)[::-1], axis=0)[::-1]
            - self.above * self.first
        )
        covariances = (
            self.above * np.cumsum(self.below * self.first, axis=0)
            + self.below * beyond
        )
        return self.first * covariances - self.by_ratio * self.second


@dataclass(frozen=True)
class Adjacent(Family):
    """P(y = k + 1 | y = k or k + 1) = F(-eta_k)."""

    name: ClassVar[str] = "Adjacent-category model"
    compared: ClassVar[str] = (
        "the higher of two neighbouring levels, averaged over the pairs"
    )
    ratios: ClassVar[dict[str, Ratio]] = {
        "logit": Ratio(
            "adjacent odds ratio",
            1.0,
            (
                "Adjacent odds ratios: factors on the odds of the higher of two"
                " neighbouring levels, exp(estimate)"
            ),
        )
    }

    @property
    def cut(self) -> Link:
        return mirrored(self.link)

    @property
    def leaves_upper(self) -> bool:
        return True

    @property
    def concave(self) -> bool:
        return self._additive

    @property
    def level_scores(self) -> LevelScores | None:
        return LevelScores.SUMS if self._additive else None

    @property
    def _additive(self) -> bool:
        """Whether the log ratios are the predictors themselves."""
        return self.link.name == "logit"

    def log_probabilities(self, eta: FloatArray) -> FloatArray:
        steps = np.where(np.isfinite(eta), log_odds_above(self.cut, eta), 0.0)
        scores = np.hstack([np.zeros((len(eta), 1)), np.cumsum(steps, axis=1)])
        scores[:, 1:][eta == np.inf] = -np.inf
        scores[:, :-1][eta == -np.inf] = -np.inf
        scores -= scores.max(axis=1, keepdims=True)
        return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))

    def at_eta(self, eta: FloatArray, y: IntArray) -> EtaTerms | None:
        log_p = self.log_probabilities(eta)
        p = np.exp(log_p).T
        below = np.cumsum(p, axis=0)[:-1]
        above = np.cumsum(p[::-1], axis=0)[-2::-1]
        thresholds = np.arange(eta.shape[1])[:, None]
        by_ratio = np.where(y > thresholds, below, -above)
        first, second = self._ratio_slopes(eta.T)
        return AdjacentTerms(
            log_p=log_p[np.arange(y.size), y],
            places=np.broadcast_to(thresholds, below.shape),
            eta=np.where(np.isfinite(eta), eta, 0.0).T,
            slope=by_ratio * first,
            below=below,
            above=above,
            by_ratio=by_ratio,
            first=first,
            second=second,
        )

    def _ratio_slopes(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """r' and r'', of the shape of eta."""
        finite = np.isfinite(eta)
        if self._additive:
            return np.where(finite, -1.0, 0.0), np.zeros_like(eta)
        above, below = both_tails(self.cut, np.where(finite, eta, 0.0))
        first = -(above.b + below.a).reshape(eta.shape)
        second = (above.h_ll - below.h_uu).reshape(eta.shape)
        return np.where(finite, first, 0.0), np.where(finite, second, 0.0)

    def log_odds_above_slope(self, eta: FloatArray) -> FloatArray:
        """-dC_k / (C_k S_k): C_min S_max / (C_k S_k) is at most 1 / max(C_k, S_k)."""
        below, above = self.log_cumulative(eta)
        low, high = _lower_and_higher(eta.shape[1])
        both = (below + above)[:, :, None]
        with np.errstate(invalid="ignore"):  # -inf beyond the levels with rows
            share = below[:, low] + above[:, high] - both
        share = np.where(np.isfinite(both), share, -np.inf)
        return np.exp(share) * self._ratio_slopes(eta)[0][:, None, :]

    def start(self, shares: FloatArray) -> FloatArray:
        return -self.link.ppf(shares[1:] / (shares[1:] + shares[:-1]))

    def recession(self, n_levels: int) -> tuple[FloatArray, ...]:
        """The ratios below y must not fall and those above not rise; for the logit
        their sums out from y.
        """
        if not self._additive:
            return super().recession(n_levels)
        units = np.eye(n_levels - 1)
        lines = []
        for y in range(n_levels):
            down = np.cumsum(-units[:y][::-1], axis=0)
            up = np.cumsum(units[y:], axis=0)
            lines.append(np.vstack([down, up]))
        return tuple(lines)


def _lower_and_higher(count: int) -> tuple[IntArray, IntArray]:
    """(K-1, K-1) the lower and the higher of two thresholds."""
    places = np.arange(count)
    return np.minimum.outer(places, places), np.maximum.outer(places, places)
