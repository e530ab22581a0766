"""Likelihood families: what a family must define, and what follows from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..exceptions import OptionError
from ..report.ratios import Ratio
from .differences import MIDDLE, first_by_seven, five_points, second_by_seven
from .flexible import links_about
from .links import Interval, Link
from .predictor import Predictor, lowest_and_highest
from .terms import EtaTerms, LocationTerms, RowTerms, by_location, by_parameters

if TYPE_CHECKING:
    from .sequential import Sequential

#: Change of a predictor in differences of the curvature.
STEP = 1e-3


class LevelScores(Enum):
    """Scores s of the levels, p = softmax(s), that are linear in the predictors."""

    SUMS = "minus the sum of the predictors below a level"
    OWN = "0 of the lowest level, and the predictors"


@dataclass(frozen=True)
class Family(ABC):
    """A likelihood family at a link: a function of the predictors eta (K-1 of each
    row).

    A new family defines `concave`, `at_eta`, `log_probabilities` and `start`. The rest
    follows from these; a family overrides it if a closed form is more accurate or much
    faster.

    Attributes
    ----------
    link : Link
        The distribution F.
    name : str
        As in "Cumulative link model".
    ordered : bool
        Whether the thresholds of a row must increase.
    local : bool
        Whether P(y <= k) depends on eta_k alone, so that log p depends on eta_y and
        eta_{y-1}.
    banded : bool
        Whether only neighbouring thresholds share second derivatives.
    concave : bool
        Whether the log-likelihood has one maximum, without scale effects.
    leaves_upper : bool
        Whether a threshold of +inf removes the level above it; otherwise a threshold of
        -inf removes the level below.
    rises : float
        Sign of the change of the predictors as H increases.
    compared : str
        The event whose log odds the predictors are under the logit; empty for the
        cumulative family, whose predictors are positions on a latent scale.
    threshold_title, nominal_title : str
        Titles of the tables of thresholds and nominal effects.
    nominal_words : str
        Meaning of the sign of a nominal effect.
    contains : tuple of type
        Other families at the same link that are special cases.
    ratios : dict of str to Ratio
        By the name of `cut`: the ratio that exp(coefficient) is.
    """

    link: Link

    name: ClassVar[str]
    ordered: ClassVar[bool] = False
    local: ClassVar[bool] = False
    banded: ClassVar[bool] = False
    rises: ClassVar[float] = -1.0
    compared: ClassVar[str] = ""
    threshold_title: ClassVar[str] = "Thresholds"
    nominal_title: ClassVar[str] = "Nominal effects, by threshold"
    nominal_words: ClassVar[str] = "positive = lower response"
    contains: ClassVar[tuple[type, ...]] = ()
    ratios: ClassVar[dict[str, Ratio]] = {}

    # What a family states

    @property
    @abstractmethod
    def concave(self) -> bool: ...

    @abstractmethod
    def at_eta(self, eta: FloatArray, y: IntArray) -> EtaTerms | None:
        """The terms of rows observed at y, at predictors (n, K-1); None outside the
        domain.
        """

    @abstractmethod
    def log_probabilities(self, eta: FloatArray) -> FloatArray:
        """(n, K) log P(y = k) with full relative accuracy; -inf for a level removed by
        an infinite predictor.
        """

    @abstractmethod
    def start(self, shares: FloatArray) -> FloatArray:
        """(K-1,) eta at which the levels have these shares (K,), all positive."""

    # What follows

    @property
    def stages(self) -> Sequential | None:
        """The family itself if log p is a sum over binary stages, each with its own
        predictor; None for other families.
        """
        return None

    @property
    def level_scores(self) -> LevelScores | None:
        """The scores of the levels, if they are linear in the predictors."""
        return None

    @classmethod
    def threshold_names(cls, levels: Sequence[Any]) -> list[str]:
        """(K-1,) names of the thresholds between levels (K,)."""
        return [f"{low}|{high}" for low, high in pairwise(levels)]

    def at(self, link: Link) -> Self:
        """The same family at another link."""
        return replace(self, link=link)

    @property
    def cut(self) -> Link:
        """The distribution G of the binary split at threshold k: the lower part has
        probability G(eta_k), whether of all rows, of a pair of levels or of a stage.
        """
        return self.link

    @property
    def leaves_upper(self) -> bool:
        return False

    @property
    def ratio(self) -> Ratio | None:
        """The ratio that exp(coefficient) is; None if not of odds or hazards."""
        return self.ratios.get(self.cut.name)

    @property
    def proportional_odds(self) -> bool:
        """Whether effects are log ratios of the odds of all cumulative splits."""
        return False

    def require_latent(self, what: str) -> None:
        """OptionError if the family has no latent variable with ordered thresholds."""
        if not self.ordered:
            article = "an" if self.name.startswith("A") else "a"
            raise OptionError(
                f"{what} needs a cumulative link model; got {article}"
                f" {self.name.lower()}. Use method='clm'."
            )

    def eta_terms(self, predictor: Predictor, y: IntArray) -> EtaTerms | None:
        """The terms of rows observed at y; None outside the domain."""
        return self.at_eta(predictor.eta(), y)

    def terms(
        self, predictor: Predictor, y: IntArray, second: bool = True
    ) -> RowTerms | None:
        """Derivatives with respect to theta, H and tau, with or without second ones;
        None outside the domain.
        """
        terms = self.eta_terms(predictor, y)
        return None if terms is None else by_parameters(terms, predictor.s, second)

    def by_location(self, predictor: Predictor, y: IntArray) -> LocationTerms | None:
        """Derivatives with respect to H alone; None outside the domain."""
        terms = self.eta_terms(predictor, y)
        return None if terms is None else by_location(terms, predictor.s)

    def curvature_slopes(self, predictor: Predictor, y: IntArray) -> FloatArray:
        """(Q, n) derivatives of -d2 log p / dH2 by theta, H and tau, inside the domain.

        With T_m the derivative of the curvature by eta_m: s^3 T_m by theta_m, minus
        their sum by H; tau shrinks s and all eta.
        """
        eta = predictor.eta()
        s = predictor.s
        T = np.zeros_like(eta)
        for m, unit in enumerate(np.eye(eta.shape[1])):
            T[:, m] = self._curvature_slope(eta, STEP * unit, y) / STEP
        by_tau = -s * s * (2.0 * self._curvature(eta, y) + (T * eta).sum(axis=1))
        return np.vstack([s**3 * T.T, -(s**3) * T.sum(axis=1), by_tau])

    def _curvature_slope(
        self, eta: FloatArray, move: FloatArray, y: IntArray
    ) -> FloatArray:
        """(n,) change of the curvature by a move of eta."""
        (slope,) = five_points(lambda k: (self._curvature(eta + k * move, y),))
        return slope

    def _curvature(self, eta: FloatArray, y: IntArray) -> FloatArray:
        """(n,) curvature by a common move of all predictors."""
        terms = self.at_eta(eta, y)
        assert terms is not None
        return terms.curvature_total

    def probabilities(self, predictor: Predictor) -> FloatArray:
        """(n, K) probabilities with full relative accuracy."""
        return np.exp(self.log_probabilities(predictor.eta()))

    def below(self, eta: FloatArray) -> FloatArray:
        """(n, K-1) P(y <= k)."""
        p = np.exp(self.log_probabilities(eta))
        return np.cumsum(p, axis=1)[:, :-1]

    def above(self, eta: FloatArray) -> FloatArray:
        """(n, K-1) P(y > k), summed from above so that nothing cancels."""
        p = np.exp(self.log_probabilities(eta))
        return np.cumsum(p[:, ::-1], axis=1)[:, -2::-1]

    def log_cumulative(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(n, K-1) log P(y <= k) and log P(y > k)."""
        log_p = self.log_probabilities(eta)
        add = np.logaddexp.accumulate
        below = add(log_p, axis=1)[:, :-1]
        above = add(log_p[:, ::-1], axis=1)[:, -2::-1]
        return below, above

    def below_slope(self, eta: FloatArray) -> FloatArray:
        """Derivatives of `below` by eta: (n, K-1) of a local family, else (n, K-1 of
        below, K-1 of eta).

        dC_k / deta_j is the sum over levels i <= k of P(y = i) d_ij. It is also minus
        the sum over the levels above, and the one taken here has terms of one sign
        only: from below where k <= j, from above where k > j.
        """
        n, count = eta.shape
        p = np.exp(self.log_probabilities(eta))
        by_level = np.empty((n, count + 1, count))
        for level in range(count + 1):
            terms = self.at_eta(eta, np.full(n, level, dtype=np.intp))
            assert terms is not None
            by_level[:, level] = p[:, level, None] * terms.slope.T
        from_below = np.cumsum(by_level, axis=1)[:, :-1]
        from_above = -np.cumsum(by_level[:, ::-1], axis=1)[:, -2::-1]
        k, j = np.indices((count, count))
        return np.where(k <= j, from_below, from_above)

    def log_odds_above(self, eta: FloatArray) -> FloatArray:
        """(n, K-1) log(P(y > k) / P(y <= k))."""
        below, above = self.log_cumulative(eta)
        return above - below

    def log_odds_above_slope(self, eta: FloatArray) -> FloatArray:
        """Derivatives of `log_odds_above` by eta, with the shape of `below_slope`:
        -dC_k / (C_k S_k).
        """
        below, above = self.log_cumulative(eta)
        both = (below + above)[:, :, None]
        with np.errstate(over="ignore", invalid="ignore"):
            slopes = -self.below_slope(eta) * np.exp(-both)
        # Levels without rows move nothing. NaN is left where a probability underflows:
        # 0 would be an error of nothing.
        return np.where(np.isfinite(both), slopes, 0.0)

    def latent_residuals(
        self, predictor: Predictor, y: IntArray, shares: FloatArray
    ) -> FloatArray:
        """(n,) surrogate residuals: they have mean 0 under the model if `shares` are
        uniform on (0, 1).

        Without a latent variable: P(level < y) + share P(level = y) - 1/2, uniform on
        (-1/2, 1/2) under the model.
        """
        below, above = self.tails(predictor, y)
        return below + shares * (1.0 - below - above) - 0.5

    def residual_quantiles(self, p: FloatArray) -> FloatArray:
        """(m,) quantiles of `latent_residuals` under the model, at p (m,)."""
        return p - 0.5

    def recession(self, n_levels: int) -> tuple[FloatArray, ...]:
        """For each level, rows a of a matrix (S, K-1): along d the likelihood of its
        rows never decreases if a'd(eta) >= 0.

        Each predictor must not move against the slope of the log-probability [Albert
        and Anderson 1984].
        """
        levels = np.arange(n_levels)
        eta = np.tile(self.start(np.full(n_levels, 1.0 / n_levels)), (n_levels, 1))
        terms = self.at_eta(eta, levels)
        assert terms is not None
        lines = []
        for level in levels:
            signs = np.zeros((len(terms.places), n_levels - 1))
            signs[np.arange(len(signs)), terms.places[:, level]] = np.sign(
                terms.slope[:, level]
            )
            lines.append(signs[signs.any(axis=1)])
        return tuple(lines)

    def tails(self, predictor: Predictor, y: IntArray) -> tuple[FloatArray, FloatArray]:
        """(n,) P(level < y) and P(level > y)."""
        eta = predictor.eta()
        lowest, highest = lowest_and_highest(y)
        every = np.arange(lowest.size)
        zero = np.zeros((lowest.size, 1))
        return (
            np.hstack([zero, self.below(eta)])[every, lowest],
            np.hstack([self.above(eta), zero])[every, highest],
        )

    def complements(self, eta: FloatArray) -> FloatArray:
        """(n, K) 1 - P(y = k), without cancellation near 0."""
        zeros = np.zeros((len(eta), 1))
        return np.hstack([self.above(eta), zeros]) + np.hstack([zeros, self.below(eta)])

    def estimated_thresholds(self, present: BoolArray) -> BoolArray:
        """(K-1,) thresholds that are estimated if these levels (K,) have rows: one
        between each of them and the next.
        """
        if self.leaves_upper:
            return present[1:] & (np.cumsum(present)[:-1] > 0)
        return present[:-1] & (np.cumsum(present[::-1])[-2::-1] > 0)

    def infinite_thresholds(self, present: BoolArray) -> tuple[BoolArray, BoolArray]:
        """(K-1,) thresholds that are -inf, and those that are +inf, if some levels have
        no rows.

        Thresholds below all rows are -inf and those above +inf. In between an infinite
        one removes the level without rows; ordered thresholds equal the previous one
        instead.
        """
        below = np.cumsum(present)[:-1]  # levels with rows up to each threshold
        bottom = below == 0
        top = below == present.sum()
        if self.leaves_upper:
            top = ~bottom & ~present[1:]
        elif not self.ordered:
            bottom = bottom | (~top & ~present[:-1])
        return bottom, top


def stages_of(family: Family) -> Sequential:
    """The stages of a family that has them."""
    assert family.stages is not None
    return family.stages


def row_terms(
    family: Family,
    predictor: Predictor,
    y: IntArray,
    second: bool,
    by_lambda: bool,
) -> RowTerms | None:
    """Terms of rows observed at y, with `by_lambda` by the parameter of the link too;
    None outside the domain.

    Derivatives by lambda come from the polynomial through seven values; NaN where a
    probability is 0 at one of them.
    """
    if not by_lambda:
        return family.terms(predictor, y, second)
    links, h = links_about(family.link)
    families = [family.at(link) for link in links]
    here = families[MIDDLE].terms(predictor, y, second) if families else None
    if here is None:
        return None
    others = [each.terms(predictor, y, second=False) for each in families]
    terms = [each for each in others if each is not None]
    logs = np.array([each.log_p for each in terms])
    with np.errstate(invalid="ignore"):
        score = np.vstack([here.score, first_by_seven(logs, h)])
        if not second:
            return replace(here, score=score)
        mixed = first_by_seven(np.array([each.score for each in terms]), h)
        bend = second_by_seven(logs - here.log_p, h)
    curvature = np.empty((len(score), *score.shape))
    curvature[:-1, :-1] = here.second()
    curvature[:-1, -1] = curvature[-1, :-1] = -mixed
    curvature[-1, -1] = -bend
    return replace(here, score=score, curvature=curvature)


def both_tails(link: Link, eta: FloatArray) -> tuple[Interval, Interval]:
    """The intervals above and below each eta, flattened."""
    flat = eta.reshape(-1)
    infinite = np.full(flat.size, np.inf)
    return link.interval(infinite, flat, infinite), link.interval(
        flat, -infinite, infinite
    )


def log_odds_above(link: Link, eta: FloatArray) -> FloatArray:
    """log((1 - F) / F), accurate in both tails."""
    if link.name == "logit":
        return -eta
    flat = eta.reshape(-1)
    infinite = np.full(flat.size, np.inf)
    above = link.log_interval(infinite, flat, infinite)
    below = link.log_interval(flat, -infinite, infinite)
    return (above - below).reshape(eta.shape)
