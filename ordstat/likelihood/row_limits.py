"""What the data determine of rows: each predictor is finite, infinite, or without a
value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..formula.row_blocks import row_blocks
from ..formula.sample import Rows
from ..judging.response_numbers import at_places
from .derivatives import QUANTITIES, QuantityOfRows, score_slopes
from .family import Family, stages_of
from .fit import LikelihoodFit
from .rule import LikelihoodRule
from .standard_errors import rule_by_estimates

#: Types of predictions that are unbounded, and infinite where a predictor is.
UNBOUNDED = ("score", "linear_predictor")
#: Differences of scale columns below this share of the columns are rounding.
_ROUNDING = 1e-12
#: Types of predictions that depend on the probabilities of all levels.
OF_ALL_LEVELS = ("class", "mean", "mean_class", "quantile")


@dataclass(frozen=True, eq=False)
class RowLimits:
    """What the predictors of n rows tend to where the likelihood has no maximum.

    Attributes
    ----------
    eta : (n, K-1)
        0 for predictors that are finite, infinite ones, and NaN where the data
        determine none.
    pairs : (n, K, K), or None
        The same for log P(y = j) - log P(y = k), of adjacent-category models.
    score : (n,)
        The same for the scores.
    family : Family
    """

    eta: FloatArray
    pairs: FloatArray | None
    score: FloatArray
    family: Family

    @classmethod
    def of(
        cls, fit: LikelihoodFit, rule: LikelihoodRule, rows: Rows
    ) -> RowLimits | None:
        """The limits of rows; None if every estimate is finite."""
        if fit.determined is None:
            return None
        count = rule.alpha.shape[0]
        eta = np.zeros((rows.n, count))
        score = np.zeros(rows.n)
        apart = rule.family.local or rule.family.stages is not None
        pairs = None if apart else np.zeros((rows.n, count + 1, count + 1))
        to_rule = rule_by_estimates(fit, rule)
        predictors = QUANTITIES["linear_predictor"]
        for some in row_blocks(rows.n, count * count * rule.n_parameters):
            part = rows.take(some)
            _, slopes = QuantityOfRows(predictors, rule, part).rows()
            functions = np.nan_to_num(slopes[..., : len(to_rule)]) @ to_rule
            eta[some] = _limits(fit, functions)
            of_score = score_slopes(rule, part)[:, : len(to_rule)] @ to_rule
            score[some] = _limits(fit, of_score)
            if pairs is None:
                continue
            if rule.link.name == "logit":  # log ratios are the predictors themselves
                pairs[some] = _pair_limits(fit, functions)
            else:
                pairs[some] = _pairs_of(eta[some])
        return cls(eta, pairs, score, rule.family)

    def unknown(self, type: str, places: IntArray | None = None) -> BoolArray:
        """(n, M) which predictions of a type have no value, in the order of its
        columns; "class" for the rank. "exceed" has values at places, 0..K.
        """
        if places is not None:
            return at_places(self.unknown(type), places)
        eta = np.isnan(self.eta)
        none = np.zeros((len(eta), 1), dtype=bool)
        if type == "score":
            return np.asarray(np.isnan(self.score)[:, None])
        if type in ("linear_predictor", "hazard"):
            return eta
        if type in OF_ALL_LEVELS:
            return np.asarray(self.unknown("prob").any(axis=1, keepdims=True))
        if self.family.stages is not None:
            return self._by_stages(type)[0]
        by_level = self._unknown_by_pairs()
        if by_level is None:
            by_level = np.hstack([eta, none]) | np.hstack([none, eta])
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
        """(n, M) which predictions have no standard error, as they depend on no finite
        predictor.
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
        """(n, K-1) log odds above each threshold that are infinite, or
        without a value.
        """
        if self.family.local:
            return np.asarray(self.eta != 0.0)
        if self.family.stages is not None:
            unknown, certain = self._by_stages("exc_prob")
            return np.asarray(unknown | certain)
        some = (self.eta != 0.0).any(axis=1, keepdims=True)
        return np.repeat(some, self.eta.shape[1], axis=1)

    def along(self, further: RowLimits) -> RowLimits:
        """The same for derivatives on the way to other rows, with one row for each of
        these.

        They have no value where a predictor that is finite here diverges.
        """
        pairs = self.pairs
        if pairs is not None and further.pairs is not None:
            pairs = _unless_moving(pairs, further.pairs)
        return replace(self, eta=_unless_moving(self.eta, further.eta), pairs=pairs)

    def added(self, type: str) -> FloatArray:
        """(n, M) what is added to unbounded predictions, so that they have their
        limits.
        """
        return self.score[:, None] if type == "score" else self.eta


def gap_limits(
    fit: LikelihoodFit, rule: LikelihoodRule, rows: Rows
) -> FloatArray | None:
    """(n, K-1) what the distances of the scores to the thresholds tend to: 0 if they
    are finite, infinite, or NaN; None if every estimate is finite.
    """
    if fit.determined is None:
        return None
    to_rule = rule_by_estimates(fit, rule)
    predictors = QUANTITIES["linear_predictor"]
    limits = np.zeros((rows.n, rule.alpha.shape[0]))
    for some in row_blocks(rows.n, limits.shape[1] * rule.n_parameters):
        part = rows.take(some)
        _, slopes = QuantityOfRows(predictors, rule, part).rows()
        # scale effects change a predictor, and not the distance
        slopes[..., rule.alpha.size + rule.beta.size :] = 0.0
        functions = np.nan_to_num(slopes[..., : len(to_rule)]) @ to_rule
        limits[some] = -_limits(fit, functions)
    return limits


def spread_limits(
    fit: LikelihoodFit, rule: LikelihoodRule, rows: Rows, other: Rows
) -> FloatArray | None:
    """(n,) what the log ratios of the spreads of rows to those of other rows tend to: 0
    if they are finite, infinite, or NaN; None if every estimate is finite.
    """
    if fit.determined is None or rows.scale is None or other.scale is None:
        return None
    apart = rows.scale - other.scale
    largest = np.abs(rows.scale).max(axis=0, initial=0.0)
    apart = np.where(np.abs(apart) <= _ROUNDING * largest, 0.0, apart)
    distinct, codes = np.unique(apart, axis=0, return_inverse=True)
    functions = np.zeros((len(distinct), rule.n_parameters))
    functions[:, rule.layout.of_scale] = distinct
    limits = _limits(fit, functions @ rule_by_estimates(fit, rule))
    return np.asarray(limits[codes.reshape(-1)])


def _unless_moving(limits: FloatArray, further: FloatArray) -> FloatArray:
    """Limits, NaN where they are finite and those further on are not."""
    return np.where((limits == 0.0) & (further != 0.0), np.nan, limits)


def _limits(fit: LikelihoodFit, functions: FloatArray) -> FloatArray:
    """(...) limits of functions (..., P'); NaN for those that move with a spread
    without an estimate.
    """
    flat = functions.reshape(-1, functions.shape[-1])
    assert fit.determined is not None
    limits = np.where(fit.determined.diverge(flat), np.nan, fit.determined.limits(flat))
    return np.asarray(limits.reshape(functions.shape[:-1]))


def _pair_limits(fit: LikelihoodFit, functions: FloatArray) -> FloatArray:
    """(n, K, K) limits of log P(y = j) - log P(y = k), the sums of the predictors (n,
    K-1, P') between the levels.
    """
    n, _, size = functions.shape
    before = np.concatenate(
        [np.zeros((n, 1, size)), np.cumsum(functions, axis=1)], axis=1
    )
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
