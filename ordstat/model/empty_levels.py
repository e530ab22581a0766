"""Samples in which some levels have no rows: fitted without them, the rule put back among all levels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import numpy as np

from .._typing import FloatArray, IntArray
from .calibration import Calibration, VoteMap
from .fit import Fit
from .rules import GapRule, Rule
from .sample import Rows, Sample


class Learner(Protocol):
    """A method, what it takes, and the same with another cost."""

    @property
    def cost(self) -> Any: ...
    @property
    def needs(self) -> Any: ...
    def with_cost(self, cost: Any) -> Any: ...
    def fit(self, sample: Sample, rng: np.random.Generator) -> Fit: ...


def fit_present(method: Learner, sample: Sample, rng: np.random.Generator) -> Fit:
    """A fit to rows that may lack levels: its rule has all levels, and never answers with one of those."""
    present = Present.of(sample)
    if present.all or method.needs.absent_levels:
        return method.fit(sample, rng)
    if np.ndim(method.cost) == 2:
        method = method.with_cost(np.asarray(method.cost)[np.ix_(present.codes, present.codes)])
    return present.widened(method.fit(present.among(sample), rng))


@dataclass(frozen=True, eq=False)
class Present:
    """The levels that have rows of positive weight, among K.

    Attributes
    ----------
    codes : (K',) codes of these levels, rising
    n_levels : int
        K.
    """

    codes: IntArray
    n_levels: int

    @classmethod
    def of(cls, sample: Sample) -> Present:
        """Those of a sample."""
        return cls(np.unique(sample.y[sample.case_weights > 0]), sample.n_levels)

    @property
    def all(self) -> bool:
        """Whether no level lacks rows."""
        return self.codes.size == self.n_levels

    def among(self, sample: Sample) -> Sample:
        """The rows of these levels, recoded 0..K'-1, with their costs of predicting these levels."""
        inside = np.isin(sample.y, self.codes)
        some = sample if inside.all() else sample.take(np.flatnonzero(inside))
        costs = None if some.costs is None else some.costs[:, self.codes]
        y = np.searchsorted(self.codes, some.y).astype(np.intp)
        return replace(some, y=y, n_levels=int(self.codes.size), costs=costs)

    def widened(self, fit: Fit) -> Fit:
        """A fit to these levels as one to all of them."""
        scores = fit.scores if fit.scores.ndim == 1 else self.spread_votes(fit.scores)
        calibration = None if fit.calibration is None else self.widened_calibration(fit.calibration)
        return replace(fit, rule=WideRule(fit.rule, self), scores=scores, calibration=calibration)

    def widened_calibration(self, calibration: Calibration) -> Calibration:
        """Probabilities of these levels as probabilities of all; those of the others are 0."""
        found = calibration.map
        scores = calibration.scores
        if isinstance(found, VoteMap):
            intercept = np.full(self.n_levels, -np.inf)
            intercept[self.codes] = found.intercept
            scores = self.spread_votes(scores)
        else:
            intercept = self.spread_thresholds(found.intercept)
        return replace(calibration, map=replace(found, intercept=intercept), scores=scores)

    def spread_votes(self, votes: FloatArray) -> FloatArray:
        """(N, K) votes (N, K'), the others having one less than the least voted level of the row."""
        out = np.repeat(votes.min(axis=1, keepdims=True) - 1.0, self.n_levels, axis=1)
        out[:, self.codes] = votes
        return out

    def spread_thresholds(self, theta: FloatArray) -> FloatArray:
        """(..., K-1) thresholds (..., K'-1): an absent level lies between two that are equal, or beyond infinity.

        Examples
        --------
        >>> Present(np.array([1, 3]), 5).spread_thresholds(np.array([0.5]))
        array([-inf,  0.5,  0.5,  inf])
        """
        infinite = np.full((*theta.shape[:-1], 1), np.inf)
        ends = np.concatenate([-infinite, theta, infinite], axis=-1)
        # The threshold above level k is the lower end of the first level present above k.
        return ends[..., np.searchsorted(self.codes, np.arange(1, self.n_levels))]


@dataclass(frozen=True, eq=False)
class WideRule:
    """A rule for some of the levels as one for all.

    Attributes
    ----------
    rule : Rule
        A rule of K' levels.
    present : Present
    """

    rule: Rule
    present: Present

    @property
    def n_levels(self) -> int:
        return self.present.n_levels

    @property
    def theta(self) -> FloatArray:
        """(K-1,) thresholds, of a rule that has any."""
        return self.present.spread_thresholds(np.asarray(cast(Any, self.rule).theta))

    @property
    def probable(self) -> bool:
        """Whether the rule knows probabilities."""
        return bool(getattr(self.rule, "probable", False))

    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) probabilities, of a rule that knows them; those of the other levels are 0."""
        found, known = np.zeros((rows.n, self.n_levels)), cast(Any, self.rule).probabilities
        found[:, self.present.codes] = known(rows) if scores is None else known(rows, scores)
        return found

    def scores(self, rows: Rows) -> FloatArray:
        scores = self.rule.scores(rows)
        return scores if scores.ndim == 1 else self.present.spread_votes(scores)

    def gaps(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K-1) H - theta_k, of a rule that has thresholds."""
        return -self.present.spread_thresholds(-cast(GapRule, self.rule).gaps(rows, scores))

    def codes(self, rows: Rows, scores: FloatArray | None = None) -> IntArray:
        narrow = scores if scores is None or scores.ndim == 1 else scores[:, self.present.codes]
        return self.present.codes[self.rule.codes(rows, narrow)]
