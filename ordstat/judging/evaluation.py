"""Samples in which some levels have no rows: fitted without them, the rule put back among all levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..exceptions import ConvergenceWarning, DataWarning, warn
from ..fit import CostRule, Fit, GapRule, Geometry, Rule
from ..formula.sample import Rows, Sample
from ..likelihood.fit import LikelihoodFit
from ..prediction.probabilities import Calibration, VoteMap
from .costs import CostMatrix, sample_costs
from .errors import Predictions
from .folds import CrossValidation, cross_validate
from .margins import MarginBounds


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


#: Fits a method, by name or as a value, to a design, by (design, method, options, vcov, calibrate=); warns as
#: `ordfit` does.
Fitter = Callable[..., Any]


class RankingMethod(Learner, Protocol):
    """A method as results see it."""

    @property
    def cost_matrix(self) -> CostMatrix:
        """What its predictions minimise, as a value."""

    @property
    def pairwise(self) -> bool:
        """Whether X is a matrix of similarities to the training rows."""

    @property
    def selects(self) -> bool:
        """Whether it chooses by cross-validation among clusters of rows."""

    @property
    def own_folds(self) -> bool:
        """Whether anything is chosen by folds of its own."""

    @property
    def keeps_clusters(self) -> bool:
        """Whether these folds keep the rows of a cluster together."""

    @property
    def likelihood(self) -> bool:
        """Whether a fit maximises a likelihood."""

    @property
    def papers(self) -> tuple[str, ...]:
        """What to cite for it."""

    def geometry(self, sample: Sample, fit: Fit) -> Geometry | None:
        """Norms of the fitted potential."""

    def extra_bounds(self, sample: Sample, fit: Fit, geometry: Geometry, delta: float) -> MarginBounds:
        """Bounds of the method alone."""


class CalibratedMethod(RankingMethod, Protocol):
    """A method whose fits have a calibration."""

    @property
    def folds(self) -> int:
        """Number of folds of the cross-fitting."""


class LikelihoodMethod(RankingMethod, Protocol):
    """A likelihood method as results see it."""

    @property
    def penalty(self) -> Any:
        """What the likelihood is penalised by, None where it is not."""

    @property
    def refuses_crossing(self) -> bool:
        """Whether rows with thresholds out of order are an error."""

    def fit(self, sample: Sample, rng: np.random.Generator) -> LikelihoodFit:
        """Fit to other rows."""


class ProbabilityRule(Rule, Protocol):
    """A rule with a probability of every rank."""

    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) probabilities."""

    def cum_probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(rank <= k)."""


#: (N, K) probabilities by a fit, or None where it has none.
Probabilities = Callable[[Fit, Rows, FloatArray], FloatArray | None]


def evaluate(
    fit: Fit, sample: Sample, cost: Any, probabilities: Probabilities, scores: FloatArray | None = None
) -> Predictions:
    """What a fit says of a sample, beside what is true; `scores` of the rule saves computing them again."""
    scores = fit.rule.scores(sample.rows) if scores is None else scores
    known = probabilities(fit, sample.rows, scores)
    if isinstance(fit.rule, CostRule) and fit.calibration is None:
        codes = fit.rule.codes(sample.rows, scores, known)
    else:
        codes = fit.rule.codes(sample.rows, scores)
    if scores.ndim > 1:  # votes have no order among rows: the predicted ranks give it
        order = codes.astype(np.float64)
    elif known is None or sample.rows.one_scale:
        order = scores
    else:  # scores under other thresholds, or on another scale, do not compare: expected ranks do
        order = known @ np.arange(sample.n_levels, dtype=np.float64)
    truth: dict[str, Any] = {"y": sample.y, "n_levels": sample.n_levels, "weights": sample.case_weights}
    return Predictions(**truth, codes=codes, scores=order, paid=_paid(cost, sample, codes), probabilities=known)


def _paid(cost: Any, sample: Sample, codes: Any) -> FloatArray:
    """(N,) price of every prediction."""
    price = CostMatrix.parse(cost)
    if sample.costs is None:
        return np.asarray(price.matrix(sample.n_levels)[sample.y, codes])
    return np.asarray(sample_costs(price, sample)[np.arange(sample.n), codes])


def crossvalidate(
    method: Learner,
    sample: Sample,
    folds: int,
    rng: np.random.Generator,
    probabilities: Probabilities,
    progress: Progress | None = None,
    stratified: bool = True,
) -> CrossValidation:
    """Refit the method on all folds but one, in turn; warns where a refit did not reach its tolerance."""
    missed, crossed = [], []

    def fit_predict(train: Sample, test: Sample) -> Predictions:
        fit = method.fit(train, rng)
        missed.append(not fit.certificate.reached)
        found = evaluate(fit, test, method.cost, probabilities)
        if found.probabilities is not None:
            crossed.append(int((found.probabilities < 0.0).any(axis=1).sum()))
        return found

    result = cross_validate(sample, folds, rng, fit_predict, progress, stratified)
    if any(missed):
        warn(
            f"{sum(missed)} of the {folds} refits of the cross-validation did not reach the solver's tolerance; "
            "its errors may be off.",
            ConvergenceWarning,
        )
    if any(crossed):
        warn(
            f"nominal effects put the thresholds of {sum(crossed)} of {sample.n} held-out rows out of order, so that "
            "some of their probabilities are negative: errors of probabilities may be NaN, and mean little.",
            DataWarning,
        )
    return result
