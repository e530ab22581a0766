"""Levels without rows: a fit to the levels that have rows, extended to all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..exceptions import DataError
from ..fit import Fit, GapRule, Rule
from ..formula.sample import Rows, Sample
from .costs import CostMatrix, named_costs
from .decisions import decided


def fit_levels_present(
    method: Any,
    sample: Sample,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Any:
    """Fit to rows that may lack levels. The rule knows all levels, but predicts only
    levels with rows.

    Raises
    ------
    DataError
        All rows of positive weight are in one level, as in a part of the rows.
    """
    told = () if progress is None else (progress,)
    present = Present.of(sample)
    if present.codes.size < 2:
        raise DataError(
            "The response must have rows in at least two levels; all"
            f" {np.count_nonzero(sample.case_weights)} rows of positive weight are in"
            " one. Give it rows of another level, or fewer folds."
        )
    if method.supports.absent_levels or present.all:
        fit = method.fit(sample, rng, *told)
    else:
        narrow = present.method(method).fit(present.among(sample), rng, *told)
        fit = present.widened(narrow, CostMatrix.parse(method.cost), sample.rows)
    return decided(fit, method.cost, sample)


@dataclass(frozen=True, eq=False)
class Present:
    """The levels, among K, that have rows of positive weight.

    Attributes
    ----------
    codes : (K',) increasing codes of these levels
    n_levels : int
        K.
    """

    codes: IntArray
    n_levels: int

    @classmethod
    def of(cls, sample: Sample) -> Present:
        """The levels of a sample that have rows."""
        totals = np.bincount(sample.y, sample.weights, sample.n_levels)
        return cls(np.flatnonzero(totals), sample.n_levels)

    @property
    def all(self) -> bool:
        """Whether all levels have rows."""
        return self.codes.size == self.n_levels

    def method(self, method: Any) -> Any:
        """The method with the costs restricted to these levels."""
        given = CostMatrix.parse(method.cost)
        if given.decides:  # decided afterwards, for all levels
            return method.with_cost("classification")
        every = given.matrix(self.n_levels)
        cost: Any = every[np.ix_(self.codes, self.codes)]
        if isinstance(method.cost, str):
            named = named_costs(method.cost, self.codes.size)
            if np.array_equal(cost, named):  # methods may be faster for a name
                cost = method.cost
        return method.with_cost(cost)

    def among(self, sample: Sample) -> Sample:
        """The rows recoded to levels 0..K'-1, with costs restricted to these levels."""
        inside = np.isin(sample.y, self.codes)
        some = sample if inside.all() else sample.take(np.flatnonzero(inside))
        costs = None if some.costs is None else some.costs[:, self.codes]
        y = np.searchsorted(self.codes, some.y).astype(np.intp)
        return replace(some, y=y, n_levels=int(self.codes.size), costs=costs)

    def widened(self, fit: Fit, cost: CostMatrix, rows: Rows) -> Fit:
        """Extend a fit to these levels to all K levels, with their costs; `rows` are
        those of the fit.
        """
        calibration = fit.calibration
        if calibration is not None:
            calibration = calibration.over_levels(self)
        over_levels = getattr(fit.rule, "over_levels", None)
        rule: Any = WideRule(fit.rule, self)
        if over_levels is not None:
            rule = over_levels(self, cost)
        by_median = getattr(rule, "by_median", False)  # a score that counts levels
        scores = rule.scores(rows) if by_median or fit.scores.ndim == 2 else fit.scores
        return replace(fit, rule=rule, scores=scores, calibration=calibration)

    def spread_votes(self, votes: FloatArray) -> FloatArray:
        """(N, K) votes from (N, K'); the other levels have one vote less than the
        lowest.
        """
        out = np.repeat(votes.min(axis=1, keepdims=True) - 1.0, self.n_levels, axis=1)
        out[:, self.codes] = votes
        return out

    def spread_probabilities(self, probabilities: FloatArray) -> FloatArray:
        """(N, K) probabilities from (N, K'); 0 for the other levels."""
        wide = np.zeros((len(probabilities), self.n_levels))
        wide[:, self.codes] = probabilities
        return wide

    def spread_thresholds(
        self, theta: FloatArray, lowest: float = -np.inf, highest: float = np.inf
    ) -> FloatArray:
        """(..., K-1) thresholds from (..., K'-1); a level without rows lies between two
        equal or infinite thresholds.

        `lowest` and `highest` replace the infinite ones.

        Examples
        --------
        >>> Present(np.array([1, 3]), 5).spread_thresholds(np.array([0.5]))
        array([-inf,  0.5,  0.5,  inf])
        """
        one = np.ones((*theta.shape[:-1], 1))
        ends = np.concatenate([lowest * one, theta, highest * one], axis=-1)
        # The threshold above level k is the lower end of the next level with rows.
        return ends[..., np.searchsorted(self.codes, np.arange(1, self.n_levels))]


@dataclass(frozen=True, eq=False)
class WideRule:
    """A rule for K' of K levels, extended to all.

    Attributes
    ----------
    rule : Rule
        The rule for K' levels.
    present : Present
    """

    rule: Rule
    present: Present

    @property
    def n_levels(self) -> int:
        return self.present.n_levels

    @property
    def theta(self) -> FloatArray:
        """(K-1,) thresholds, if the rule has them."""
        return self.present.spread_thresholds(np.asarray(cast(Any, self.rule).theta))

    @property
    def probable(self) -> bool:
        """Whether the rule has probabilities."""
        return bool(getattr(self.rule, "probable", True))

    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) probabilities, if the rule has them; 0 for the other levels."""
        return self.present.spread_probabilities(
            cast(Any, self.rule).probabilities(rows, scores)
        )

    def scores(self, rows: Rows) -> FloatArray:
        scores = self.rule.scores(rows)
        return scores if scores.ndim == 1 else self.present.spread_votes(scores)

    def gaps(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K-1) H - theta_k, if the rule has thresholds."""
        return -self.present.spread_thresholds(
            -cast(GapRule, self.rule).gaps(rows, scores)
        )

    def codes(self, rows: Rows, scores: FloatArray | None = None) -> IntArray:
        narrow = scores
        if scores is not None and scores.ndim > 1:
            narrow = scores[:, self.present.codes]
        return self.present.codes[self.rule.codes(rows, narrow)]
