"""Baseline-category families, which compare every level with the lowest: P(y = k) / P(y
= 0).

The scores s_k = log(P(y = k) / P(y = 0)), s_0 = 0, are the predictors, and
p = softmax(s):
  by s_k: [y = k] - p_k
  -d2 / ds_k ds_l: [k = l] p_k - p_k p_l
The multinomial logit has s_k = eta_k, with an effect of every column on every level.
R's VGAM has it as multinomial(refLevel = 1), nnet as multinom [Agresti 2010, sec. 4.1].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..report.ratios import Ratio
from .adjacent import Adjacent
from .family import Family, LevelScores
from .terms import EtaTerms


@dataclass(frozen=True, eq=False, kw_only=True)
class BaselineTerms(EtaTerms):
    """The terms of rows.

    Attributes
    ----------
    p : (K, n)
        Probabilities of the levels.
    """

    p: FloatArray

    @cached_property
    def curvature(self) -> FloatArray:
        above = self.p[1:]
        A = -above[:, None] * above[None, :]
        diagonal = np.arange(len(above))
        # p (1 - p) from the other levels, so that nothing cancels
        A[diagonal, diagonal] = above * (self.p.sum(axis=0) - above)
        return A

    @cached_property
    def curvature_sums(self) -> FloatArray:
        return np.asarray(self.p[1:] * self.p[0])


@dataclass(frozen=True)
class Baseline(Family):
    """log(P(y = k + 1) / P(y = 0)) = eta_k."""

    rises: ClassVar[float] = 1.0
    compared: ClassVar[str] = "a level against the lowest one, averaged over the levels"

    @property
    def leaves_upper(self) -> bool:
        return True

    @property
    def concave(self) -> bool:
        return True

    @property
    def level_scores(self) -> LevelScores | None:
        return LevelScores.OWN

    def log_probabilities(self, eta: FloatArray) -> FloatArray:
        # the lowest levels have no rows, and the one after them takes their place
        lowest = np.logical_and.accumulate(eta == np.inf, axis=1)
        ratios = np.where(lowest, 0.0, eta)
        scores = np.hstack([np.zeros((len(eta), 1)), ratios])
        scores[:, :-1][lowest] = -np.inf
        scores -= scores.max(axis=1, keepdims=True)
        return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))

    def at_eta(self, eta: FloatArray, y: IntArray) -> EtaTerms | None:
        log_p = self.log_probabilities(eta)
        p = np.exp(log_p).T
        levels = np.arange(1, len(p))[:, None]
        by_score = np.where(y == levels, p.sum(axis=0) - p[1:], -p[1:])
        return BaselineTerms(
            log_p=log_p[np.arange(y.size), y],
            places=np.broadcast_to(levels - 1, by_score.shape),
            eta=np.where(np.isfinite(eta), eta, 0.0).T,
            slope=by_score,
            p=p,
        )

    def start(self, shares: FloatArray) -> FloatArray:
        return np.asarray(np.log(shares[1:] / shares[0]))

    def infinite_thresholds(self, present: BoolArray) -> tuple[BoolArray, BoolArray]:
        bottom, top = super().infinite_thresholds(present)
        return top, bottom

    def recession(self, n_levels: int) -> tuple[FloatArray, ...]:
        """The score of y must not decrease relative to the score of any other level."""
        scores = np.vstack([np.zeros(n_levels - 1), np.eye(n_levels - 1)])
        others = [np.delete(scores, y, axis=0) for y in range(n_levels)]
        return tuple(scores[y] - others[y] for y in range(n_levels))

    @classmethod
    def threshold_names(cls, levels: Sequence[Any]) -> list[str]:
        return [f"{level}/{levels[0]}" for level in levels[1:]]


@dataclass(frozen=True)
class Stereotype(Baseline):
    """P(y = k + 1) / P(y = 0) = exp(eta_k); effects on different levels are
    proportional (`stereotype.py`).
    """

    name: ClassVar[str] = "Stereotype model"
    threshold_title: ClassVar[str] = "Intercepts"
    contains: ClassVar[tuple[type, ...]] = (Adjacent,)
    ratios: ClassVar[dict[str, Ratio]] = {
        "logit": Ratio(
            "odds ratio, highest against lowest level",
            1.0,
            (
                "Odds ratios: factors on the odds of the highest level against the"
                " lowest one, exp(estimate)"
            ),
        )
    }

    @property
    def concave(self) -> bool:
        return False


@dataclass(frozen=True)
class Multinomial(Baseline):
    """P(y = k + 1) / P(y = 0) = exp(eta_k)."""

    name: ClassVar[str] = "Multinomial logit model"
    threshold_title: ClassVar[str] = "Intercepts"
    nominal_title: ClassVar[str] = "Effects on the log odds against the lowest level"
    nominal_words: ClassVar[str] = "positive = more likely"
    contains: ClassVar[tuple[type, ...]] = (Adjacent, Stereotype)
    ratios: ClassVar[dict[str, Ratio]] = {
        "logit": Ratio(
            "relative risk ratio",
            1.0,
            (
                "Relative risk ratios: factors on the odds of a level against the"
                " lowest one, exp(estimate)"
            ),
            1.0,
        )
    }
