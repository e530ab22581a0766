"""Sequential families: the levels are stages that are passed one by one [Tutz 2012;
Laara and Matthews 1985].

Forward, a row at level y has passed the stages 0..y-1 and, below the last level,
stopped at y. Each stage is a binary outcome of the rows that reach it: P(y <= k | y >=
k) = G(eta_k). With G = F this is the stopping ratio, P(y = k | y >= k) = F(eta_k); with
G the mirror image of F the continuation ratio, P(y > k | y >= k) = F(-eta_k). Backwards
the stages are passed from the highest level down, P(y <= k | y <= k + 1) = G(eta_k),
and the two change places: the stopping ratio P(y = k | y <= k) = F(-eta_{k-1}) has the
mirror image.

log p is a sum over the stages that a row reached, with a separate predictor for each,
so A is diagonal. R's VGAM has these as sratio and cratio, with `reverse` for the
direction [Yee 2010].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..report.ratios import Ratio
from .cumulative import Cumulative
from .family import Family, both_tails
from .flexible import mirrored
from .links import Link
from .terms import EtaTerms


@dataclass(frozen=True, eq=False, kw_only=True)
class StageTerms(EtaTerms):
    """The terms of rows at their stages.

    Attributes
    ----------
    bends : (K-1, n)
        Minus the second derivatives of log p with respect to each predictor.
    """

    bends: FloatArray

    @cached_property
    def curvature(self) -> FloatArray:
        count = len(self.bends)
        A = np.zeros((count, *self.bends.shape))
        A[np.arange(count), np.arange(count)] = self.bends
        return A

    @cached_property
    def curvature_sums(self) -> FloatArray:
        return self.bends

    @cached_property
    def curvature_moments(self) -> FloatArray:
        return self.bends * self.eta


@dataclass(frozen=True)
class Sequential(Family):
    """P(y <= k | stage k is reached) = G(eta_k).

    Attributes
    ----------
    backward : bool
        Whether stages are passed from the highest level down.
    stops : bool
        Whether F is the probability of stopping at a stage, rather than of passing it.
    """

    backward: bool = False
    stops: ClassVar[bool]
    banded: ClassVar[bool] = True
    compared: ClassVar[str] = (
        "a higher level among the levels left, averaged over the stages"
    )

    @property
    def stages(self) -> Sequential:
        return self

    @property
    def cut(self) -> Link:
        return self.link if self.stops != self.backward else mirrored(self.link)

    @property
    def leaves_upper(self) -> bool:
        return self.backward

    @property
    def concave(self) -> bool:
        return self.link.log_concave

    def reached(self, y: IntArray, n_thresholds: int) -> BoolArray:
        """(K-1, n) whether rows at y reached each stage."""
        stages = np.arange(n_thresholds)[:, None]
        return stages >= y - 1 if self.backward else stages <= y

    def of_a_stage(self) -> Cumulative:
        """The family of a stage, P(y <= k | the stage is reached)."""
        return Cumulative(self.cut)

    def at_eta(self, eta: FloatArray, y: IntArray) -> EtaTerms | None:
        values = eta.T
        reached = self.reached(y, len(values))
        higher = y > np.arange(len(values))[:, None]
        above, below = (
            each.reshaped(values.shape) for each in both_tails(self.cut, values)
        )
        counts = reached & np.isfinite(values)
        return StageTerms(
            log_p=np.where(
                reached, np.where(higher, above.log_p, below.log_p), 0.0
            ).sum(axis=0),
            places=np.broadcast_to(np.arange(len(values))[:, None], values.shape),
            eta=np.where(np.isfinite(values), values, 0.0),
            slope=np.where(counts, np.where(higher, -above.b, below.a), 0.0),
            bends=np.where(counts, np.where(higher, above.W, below.W), 0.0),
        )

    def log_probabilities(self, eta: FloatArray) -> FloatArray:
        above, below = both_tails(self.cut, eta)
        none = np.zeros((len(eta), 1))
        higher = np.hstack([none, above.log_p.reshape(eta.shape)])
        lower = np.hstack([below.log_p.reshape(eta.shape), none])
        if self.backward:
            return higher + np.cumsum(lower[:, ::-1], axis=1)[:, ::-1]
        return np.cumsum(higher, axis=1) + lower

    def hazards(self, eta: FloatArray) -> FloatArray:
        """(n, K-1) probability of stopping at a stage that is reached."""
        return self.cut.sf(eta) if self.backward else self.cut.cdf(eta)

    def survivals(self, eta: FloatArray) -> FloatArray:
        """(n, K-1) probability of passing a stage that is reached."""
        return self.cut.cdf(eta) if self.backward else self.cut.sf(eta)

    def hazard_slopes(self, eta: FloatArray) -> FloatArray:
        """(n, K-1) derivatives of `hazards` by eta."""
        density = self.cut.pdf(eta)
        return -density if self.backward else density

    def start(self, shares: FloatArray) -> FloatArray:
        up_to = np.cumsum(shares)
        if self.backward:
            return self.cut.ppf(up_to[:-1] / up_to[1:])
        reaching = np.cumsum(shares[::-1])[::-1]
        return self.cut.ppf(shares[:-1] / reaching[:-1])


_ODDS = (
    "Continuation odds ratios: factors on the odds of a higher level among the levels"
    " left, exp(estimate)"
)
_HAZARDS = (
    "Hazard ratios: factors on the hazard of a lower level among the levels left,"
    " exp(-estimate)"
)
_REVERSED = (
    "Reversed hazard ratios: factors on the hazard of a higher level among the levels"
    " left, exp(estimate)"
)
_RATIOS = {
    "logit": Ratio("continuation odds ratio", 1.0, _ODDS),
    "cloglog": Ratio("hazard ratio", -1.0, _HAZARDS),
    "loglog": Ratio("reversed hazard ratio", 1.0, _REVERSED),
}


@dataclass(frozen=True)
class ContinuationRatio(Sequential):
    """P(y > k | y >= k) = F(-eta_k); backwards P(y < k | y <= k) = F(eta_{k-1})."""

    name: ClassVar[str] = "Continuation-ratio model"
    stops: ClassVar[bool] = False
    ratios: ClassVar[dict[str, Ratio]] = _RATIOS


@dataclass(frozen=True)
class StoppingRatio(Sequential):
    """P(y = k | y >= k) = F(eta_k); backwards P(y = k | y <= k) = F(-eta_{k-1})."""

    name: ClassVar[str] = "Stopping-ratio model"
    stops: ClassVar[bool] = True
    ratios: ClassVar[dict[str, Ratio]] = _RATIOS
