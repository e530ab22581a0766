"""What results ask of a method, and from a rule and rows of known rank to predictions that can be judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from .._typing import FloatArray, Progress
from ..assess.bounds import MarginBounds
from ..assess.crossval import CrossValidation, cross_validate
from ..assess.errors import Predictions
from ..exceptions import ConvergenceWarning, DataWarning, warn
from ..model.costs import CostMatrix, sample_costs
from ..model.empty_levels import Learner
from ..model.fit import Fit, Geometry
from ..model.likelihood_fit import LikelihoodFit
from ..model.probable import CostRule
from ..model.rules import Rule
from ..model.sample import Rows, Sample

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
