"""Limits of predictors of rows: finite, infinite, or undefined by the data."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..formula.row_blocks import row_blocks
from ..formula.sample import Rows
from ..judging.response_numbers import Asked, at_places
from .derivatives import (
    ABOVE,
    QUANTITIES,
    Quantity,
    QuantityOfRows,
    quantity_of,
    score_slopes,
)
from .determined import Determined
from .family import Family, LevelScores, stages_of
from .fit import LikelihoodFit
from .rule import LikelihoodRule
from .standard_errors import rule_by_estimates, slopes_by_estimates

#: Types of predictions that are unbounded, and infinite where a predictor is.
UNBOUNDED = ("score", "linear_predictor")
#: Differences of scale columns below this share of the columns are rounding.
_ROUNDING = 1e-12
#: Where spreads diverge: a predictor this large, or one that leaves this probability
#: beyond it, is infinite if it grows; one as small as the last is 0 if it shrinks.
_INFINITE = 100.0
_IMPOSSIBLE = 1e-12
_NOTHING = 1e-2
#: Relative growth of a predictor, as the log scale of the widest rows grows by 1: more
#: than the first is no error of estimates, less than the second is none. What lies
#: between must be that of its own spread to the third as a share.
_FAST = 0.5
_STILL = 1e-3
_SAME_RATE = 1e-2
#: A predictor that changes by less then has arrived.
_ARRIVED = 1e-4
#: Types of predictions that depend on the probabilities of all levels.
OF_ALL_LEVELS = ("class", "mean", "mean_class", "quantile")


@dataclass(frozen=True, eq=False)
class RowLimits:
    """Limits of the predictors of n rows if the likelihood has no maximum.

    Attributes
    ----------
    eta : (n, K-1)
        0 for finite predictors, infinite, or NaN for undefined ones.
    pairs : (n, K, K), or None
        The same for log P(y = j) - log P(y = k), in adjacent-category models.
    score : (n,)
        The same for the scores.
    zero : (n, K-1)
        Finite predictors that tend to 0, as their scale becomes infinite.
    empty : (n, K)
        Levels whose probability tends to 0, as their neighbouring predictors meet.
    family : Family
    """

    eta: FloatArray
    pairs: FloatArray | None
    score: FloatArray
    zero: BoolArray
    empty: BoolArray
    family: Family

    @classmethod
    def of(
        cls, fit: LikelihoodFit, rule: LikelihoodRule, rows: Rows
    ) -> RowLimits | None:
        """The limits of rows; None if every estimate is finite."""
        if not fit.without_maximum:
            return None
        count = rule.alpha.shape[0]
        eta = np.zeros((rows.n, count))
        zero = np.zeros(eta.shape, dtype=bool)
        empty = np.zeros((rows.n, count + 1), dtype=bool)
        score = np.zeros(rows.n)
        apart = rule.family.local or rule.family.stages is not None
        pairs = None if apart else np.zeros((rows.n, count + 1, count + 1))
        to_rule = rule_by_estimates(fit, rule)
        predictors = QUANTITIES["linear_predictor"]
        for some in row_blocks(rows.n, count * count * rule.n_parameters):
            part = rows.take(some)
            _, slopes = QuantityOfRows(predictors, rule, part).rows()
            functions = slopes_by_estimates(np.nan_to_num(slopes), to_rule)
            eta[some] = _limits(fit, functions)
            if fit.determined is not None and fit.determined.divergence.size:
                diverging = _DivergingSpreads.of(fit, rule, part, functions)
                eta[some], zero[some] = diverging.limits(eta[some])
                if rule.family.local:
                    empty[some] = diverging.empty()
            of_score = slopes_by_estimates(score_slopes(rule, part), to_rule)
            score[some] = _limits(fit, of_score)
            if pairs is None:
                continue
            if rule.link.name == "logit":  # log ratios are the predictors themselves
                pairs[some] = _pair_limits(fit, rule.family, functions)
            else:
                pairs[some] = _pairs_of(eta[some])
        return cls(eta, pairs, score, zero, empty, rule.family)

    def unknown(self, type: str, places: IntArray | None = None) -> BoolArray:
        """(n, M) which predictions of a type are undefined, in the order of its
        columns; "class" for the rank. "exceed" has values at places, 0..K.
        """
        if places is not None:
            return at_places(self.unknown(type), places)
        eta = np.isnan(self.eta)
        none = np.zeros((len(eta), 1), dtype=bool)
        if type == "score":
            return np.isnan(self.score)[:, None]
        if type in ("linear_predictor", "hazard"):
            return eta
        if type in OF_ALL_LEVELS:
            return np.asarray(self.unknown("prob").any(axis=1, keepdims=True))
        if self.family.stages is not None:
            return self._by_stages(type)[0]
        by_level = self._unknown_by_pairs()
        if by_level is None:
            by_level = np.hstack([eta, none]) | np.hstack([none, eta])
            by_level = by_level & ~self.empty
            below = eta
        else:
            below = np.repeat(by_level.any(axis=1, keepdims=True), eta.shape[1], axis=1)
        if type == "prob":
            return by_level
        return np.hstack([below, none]) if type == "cum_prob" else below

    def _unknown_by_pairs(self) -> BoolArray | None:
        """(n, K) levels whose probability has no value; it is 0 if another level is
        infinitely more probable.
        """
        if self.pairs is None:
            return None
        impossible = (self.pairs == -np.inf).any(axis=2)
        return np.asarray(np.isnan(self.pairs).any(axis=2) & ~impossible)

    def certain(self, type: str, places: IntArray | None = None) -> BoolArray:
        """(n, M) which predictions have no standard error because they depend on no
        finite predictor.
        """
        if places is not None:
            return at_places(self.certain(type), places)
        moved = np.asarray(self.eta != 0.0)
        if type == "score":
            return np.asarray(self.score != 0.0)[:, None]
        if type in ("linear_predictor", "hazard"):
            return moved
        if type in OF_ALL_LEVELS:
            return np.asarray(self.certain("prob").all(axis=1, keepdims=True))
        if self.family.stages is not None:
            return self._by_stages(type)[1]
        every = np.asarray(moved.all(axis=1, keepdims=True))
        count = moved.shape[1]
        edge = np.ones((len(moved), 1), dtype=bool)
        if self.pairs is not None:
            moved = np.repeat(every, count, axis=1)
        if type == "prob":
            by_level = np.hstack([moved, edge]) & np.hstack([edge, moved])
            return (
                by_level if self.pairs is None else np.repeat(every, count + 1, axis=1)
            )
        return np.hstack([moved, ~edge]) if type == "cum_prob" else moved

    def fixed(self, type: str, places: IntArray | None = None) -> BoolArray:
        """(n, M) which predictions do not depend on the finite estimates, as all their
        predictors are infinite, or 0, in the limit.
        """
        without = replace(self, eta=np.where(self.zero, np.nan, self.eta))
        fixed = without.certain(type, places)
        return fixed | self.empty if type == "prob" else fixed

    def _by_stages(self, type: str) -> tuple[BoolArray, BoolArray]:
        """(n, M) probabilities without a value, and those that depend on no finite
        predictor.

        The probability of a level is the product over the stages that it reaches, so an
        impossible stage makes it 0. That of the levels from one on, in the direction of
        the stages, is a product of the same kind.
        """
        count = self.eta.shape[1]
        levels = np.arange(count + 1)
        reached = stages_of(self.family).reached(levels, count)
        passed = levels[None, :] > np.arange(count)[:, None]
        if type != "prob":  # of the levels beyond each stage
            reached = np.triu(np.ones((count, count), dtype=bool))
            reached = reached.T if self.family.leaves_upper else reached
            passed = np.full((count, count), not self.family.leaves_upper)
        impossible = np.where(passed, np.inf, -np.inf)
        is_zero = (reached & (self.eta[:, :, None] == impossible)).any(axis=1)
        unknown = (reached & np.isnan(self.eta)[:, :, None]).any(axis=1) & ~is_zero
        moves = (reached & (self.eta == 0.0)[:, :, None]).any(axis=1)
        certain = is_zero | ~moves
        if type == "cum_prob":
            last = np.zeros((len(self.eta), 1), dtype=bool)
            return np.hstack([unknown, last]), np.hstack([certain, last])
        return unknown, certain

    def infinite_log_odds(self) -> BoolArray:
        """(n, K-1) log odds above each threshold that are infinite or undefined."""
        if self.family.local:
            return np.asarray(self.eta != 0.0)
        if self.family.stages is not None:
            unknown, certain = self._by_stages("exc_prob")
            return unknown | certain
        some = (self.eta != 0.0).any(axis=1, keepdims=True)
        return np.repeat(some, self.eta.shape[1], axis=1)

    def settled(
        self,
        type: str,
        values: FloatArray,
        rule: LikelihoodRule,
        rows: Rows,
        asked: Asked | None = None,
    ) -> FloatArray:
        """(n, M) bounded predictions of rows, with `fixed` ones at their limits."""
        fixed = self.fixed(type, None if asked is None else asked.places)
        moved = np.flatnonzero(fixed.any(axis=1))
        if not moved.size:
            return values
        eta = rule.eta(rows.take(moved))
        if type == "hazard":
            exact = stages_of(self.family).hazards(self._at_limits(eta, moved))
        else:
            exact = self._probabilities(eta, moved)
            if type == "quantile":
                assert asked is not None
                (exact,) = asked.quantiles(np.cumsum(exact, axis=1)[:, :-1])
            elif type != "prob":
                exact = _of_probabilities(quantity_of(type, asked), exact)
        out = values.copy()
        known = fixed[moved] & np.isfinite(exact)
        out[moved] = np.where(known, exact, values[moved])
        return out

    def _at_limits(self, eta: FloatArray, places: IntArray) -> FloatArray:
        """Predictors (m, K-1) of some rows at their limits, where these are known."""
        known = np.where(np.isnan(self.eta[places]), 0.0, self.eta[places])
        return np.where(self.zero[places], 0.0, eta + known)

    def _probabilities(self, eta: FloatArray, places: IntArray) -> FloatArray:
        """(m, K) probabilities of some rows with predictors (m, K-1), at their limits;
        NaN where pairs of levels do not tell them.
        """
        if self.pairs is not None:
            impossible = (self.pairs[places] == -np.inf).any(axis=2)
            alone = impossible.sum(axis=1, keepdims=True) == eta.shape[1]
            return np.where(impossible, 0.0, np.where(alone, 1.0, np.nan))
        limits = self._at_limits(eta, places)
        if self.family.stages is not None:
            return np.exp(self.family.log_probabilities(limits))
        below = np.diff(self.family.below(limits), axis=1, prepend=0.0, append=1.0)
        return np.where(self.empty[places], 0.0, below)

    def along(self, further: RowLimits) -> RowLimits:
        """The limits of derivatives between each row and a further one.

        They are undefined if a predictor is finite here and diverges there.
        """
        pairs = self.pairs
        if pairs is not None and further.pairs is not None:
            pairs = _unless_moving(pairs, further.pairs)
        return replace(self, eta=_unless_moving(self.eta, further.eta), pairs=pairs)

    def added(self, type: str, values: FloatArray) -> FloatArray:
        """(n, M) unbounded predictions at their limits."""
        if type == "score":
            return values + self.score[:, None]
        return np.where(self.zero, 0.0, values + self.eta)


def _of_probabilities(quantity: Quantity, P: FloatArray) -> FloatArray:
    """(n, M) a quantity of cumulative probabilities, from the probabilities (n, K)."""
    if quantity.curve is ABOVE:
        curve = np.cumsum(P[:, ::-1], axis=1)[:, -2::-1]
    else:
        curve = np.cumsum(P, axis=1)[:, :-1]
    return quantity.combine(curve.T, 1.0).T


@dataclass(frozen=True, eq=False)
class _DivergingSpreads:
    """Predictors of n rows on the way along which spreads diverge.

    eta = (theta - H) / exp(tau) becomes infinite where the spread vanishes and theta -
    H keeps a limit other than 0, and 0 where the spread becomes infinite and theta - H
    does not.

    Attributes
    ----------
    determined : Determined
    eta : (n, K-1)
        Where the search ended.
    functions : (n, K-1, P')
        Their derivatives by the estimated parameters.
    far : (n, K-1) bool
        Predictors so far from 0 that their sign is no rounding.
    rates : (n, c)
        How the log scale grows along each known way of divergence.
    """

    determined: Determined
    eta: FloatArray
    functions: FloatArray
    far: BoolArray
    rates: FloatArray

    @classmethod
    def of(
        cls,
        fit: LikelihoodFit,
        rule: LikelihoodRule,
        rows: Rows,
        functions: FloatArray,
    ) -> _DivergingSpreads:
        """The predictors of rows, whose slopes are `functions` (n, K-1, P')."""
        assert fit.determined is not None
        to_rule = rule_by_estimates(fit, rule)
        of_scale = rule.layout.of_scale
        ways = to_rule @ fit.determined.divergence[:, : fit.determined.outward]
        rates = np.zeros((rows.n, ways.shape[1]))
        if rows.scale is not None:
            rates = rows.scale @ ways[of_scale]
        eta = rule.eta(rows)
        cut = rule.family.cut
        tails = np.minimum(cut.cdf(eta), cut.sf(eta))
        far = (np.abs(eta) >= _INFINITE) | (tails <= _IMPOSSIBLE)
        return cls(fit.determined, eta, functions, far, rates)

    def limits(self, known: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Limits (n, K-1) of the predictors, from those that take every diverging one
        to have none, and whether a finite one is 0.
        """
        flat = self.functions.reshape(-1, self.functions.shape[-1])
        separated = self.determined.limits(flat).reshape(known.shape)
        # where theta - H is infinite no spread matters
        out = np.where(np.isnan(known) & np.isinf(separated), separated, known)
        grow, shrink = self._course(self.functions, self.eta)
        grown = np.isnan(out) & grow & self.far
        out = np.where(grown, np.copysign(np.inf, self.eta), out)
        zero = ~np.isinf(out) & shrink & (np.abs(self.eta) <= _NOTHING)
        arrived = np.isnan(out) & self._still(self.functions)
        return np.where(zero | arrived, 0.0, out), zero

    def empty(self) -> BoolArray:
        """(n, K) levels beside which two predictors meet."""
        steps = np.diff(self.eta, axis=1)
        _, shrink = self._course(np.diff(self.functions, axis=1), steps)
        meet = shrink & (np.abs(steps) <= _NOTHING)
        return np.pad(meet, ((0, 0), (1, 1)))

    def _still(self, functions: FloatArray) -> BoolArray:
        """(n, M) which predictors change so little along the ways that they have
        arrived.
        """
        flat = functions.reshape(-1, functions.shape[-1])
        ways = self.determined.divergence
        known = self.determined.outward
        lost = self.determined.diverge_along(flat)[:, known:].any(axis=1)
        change = np.abs(flat @ ways[:, :known]).max(axis=1, initial=0.0)
        return np.asarray(~lost & (change <= _ARRIVED)).reshape(functions.shape[:-1])

    def _course(
        self, functions: FloatArray, values: FloatArray
    ) -> tuple[BoolArray, BoolArray]:
        """(n, M) which functions (n, M, P') with these values (n, M) grow, or shrink,
        exponentially along every way on which they move.
        """
        known = self.determined.outward
        flat = functions.reshape(-1, functions.shape[-1])
        lost = self.determined.diverge_along(flat)[:, known:].any(axis=1)
        change = flat @ self.determined.divergence[:, :known]
        finite = np.isfinite(values).reshape(-1) & (values != 0.0).reshape(-1)
        size = np.where(finite, values.reshape(-1), 1.0)[:, None]
        growth = change / size
        rates = np.repeat(self.rates, functions.shape[1], axis=0)
        own = np.abs(growth + rates) <= _SAME_RATE * np.abs(rates)
        clear = own | (np.abs(growth) >= _FAST)
        still = np.abs(growth) <= _STILL
        usable = finite & ~lost & ~still.all(axis=1)
        grow = usable & (still | (clear & (growth > 0.0))).all(axis=1)
        shrink = usable & (still | (clear & (growth < 0.0))).all(axis=1)
        return grow.reshape(values.shape), shrink.reshape(values.shape)


def gap_limits(
    fit: LikelihoodFit, rule: LikelihoodRule, rows: Rows
) -> FloatArray | None:
    """(n, K-1) limits of the distances of the scores to the thresholds: 0 if finite,
    infinite, or NaN; None if every estimate is finite.
    """
    if not fit.without_maximum:
        return None
    to_rule = rule_by_estimates(fit, rule)
    predictors = QUANTITIES["linear_predictor"]
    limits = np.zeros((rows.n, rule.alpha.shape[0]))
    for some in row_blocks(rows.n, limits.shape[1] * rule.n_parameters):
        part = rows.take(some)
        _, slopes = QuantityOfRows(predictors, rule, part).rows()
        # scale effects change a predictor, and not the distance
        slopes[..., rule.alpha.size + rule.beta.size :] = 0.0
        functions = slopes_by_estimates(np.nan_to_num(slopes), to_rule)
        limits[some] = -_limits(fit, functions)
    return limits


def spread_limits(
    fit: LikelihoodFit, rule: LikelihoodRule, rows: Rows, other: Rows
) -> FloatArray | None:
    """(n,) limits of the log ratios of the scales of rows to those of other rows: 0 if
    finite, infinite, or NaN; None if every estimate is finite.
    """
    if not fit.without_maximum or rows.scale is None or other.scale is None:
        return None
    apart = rows.scale - other.scale
    largest = np.abs(rows.scale).max(axis=0, initial=0.0)
    apart = np.where(np.abs(apart) <= _ROUNDING * largest, 0.0, apart)
    distinct, codes = np.unique(apart, axis=0, return_inverse=True)
    functions = np.zeros((len(distinct), rule.n_parameters))
    functions[:, rule.layout.of_scale] = distinct
    limits = _limits(fit, functions @ rule_by_estimates(fit, rule))
    return limits[codes.reshape(-1)]


def _unless_moving(limits: FloatArray, further: FloatArray) -> FloatArray:
    """Limits, NaN where they are finite and those further on are not."""
    return np.where((limits == 0.0) & (further != 0.0), np.nan, limits)


def _limits(fit: LikelihoodFit, functions: FloatArray) -> FloatArray:
    """(...) limits of functions (..., P'); NaN for those that move with a spread
    without an estimate, or with any estimate of a search that found no maximum.
    """
    if fit.determined is None:
        return np.where(functions.any(axis=-1), np.nan, 0.0)
    flat = functions.reshape(-1, functions.shape[-1])
    limits = np.where(fit.determined.diverge(flat), np.nan, fit.determined.limits(flat))
    return limits.reshape(functions.shape[:-1])


def _pair_limits(
    fit: LikelihoodFit, family: Family, functions: FloatArray
) -> FloatArray:
    """(n, K, K) limits of log P(y = j) - log P(y = k), from the predictors (n, K-1,
    P'): those of neighbouring levels add up, scores of levels differ.
    """
    n, _, size = functions.shape
    if family.level_scores is LevelScores.OWN:
        before = -functions
    else:
        before = np.cumsum(functions, axis=1)
    before = np.concatenate([np.zeros((n, 1, size)), before], axis=1)
    return _limits(fit, before[:, None, :, :] - before[:, :, None, :])


def _pairs_of(eta: FloatArray) -> FloatArray:
    """(n, K, K) the same where the predictors (n, K-1) do not add up, but rise
    together.
    """
    n, count = eta.shape
    out = np.zeros((n, count + 1, count + 1))
    for low in range(count):
        for high in range(low + 1, count + 1):
            between = eta[:, low:high]
            # infinite ones of both signs have no sum
            with np.errstate(invalid="ignore"):
                total = between.sum(axis=1)
            out[:, low, high] = total
            out[:, high, low] = -total
    return out
