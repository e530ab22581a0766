"""From a fitted rule and rows of known rank to predictions that can be judged, here and by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import FloatArray, Progress
from ..assess.crossval import CrossValidation, cross_validate
from ..assess.errors import Predictions
from ..exceptions import ConvergenceWarning
from ..model.costs import CostMatrix, sample_costs
from ..model.fit import Fit
from ..model.sample import Rows, Sample
from .protocols import RankingMethod

#: (N, K) probabilities by a fit, or None where it has none.
Probabilities = Callable[[Fit, Rows, FloatArray], FloatArray | None]


def evaluate(
    fit: Fit, sample: Sample, cost: Any, probabilities: Probabilities, scores: FloatArray | None = None
) -> Predictions:
    """What a fit says of a sample, beside what is true; `scores` of the rule saves computing them again."""
    scores = fit.rule.scores(sample.rows) if scores is None else scores
    codes = fit.rule.codes(sample.rows, scores)
    return Predictions(
        y=sample.y,
        codes=codes,
        # Votes have no order among rows: the predicted ranks give it.
        scores=scores if scores.ndim == 1 else codes.astype(np.float64),
        n_levels=sample.n_levels,
        weights=sample.case_weights,
        paid=_paid(cost, sample, codes),
        probabilities=probabilities(fit, sample.rows, scores),
    )


def _paid(cost: Any, sample: Sample, codes: Any) -> FloatArray:
    """(N,) price of every prediction."""
    if sample.costs is None:
        paid: FloatArray = CostMatrix.parse(cost).matrix(sample.n_levels)[sample.y, codes]
        return paid
    own: FloatArray = sample_costs(CostMatrix.parse(cost), sample)[np.arange(sample.n), codes]
    return own


def crossvalidate(
    method: RankingMethod,
    sample: Sample,
    folds: int,
    rng: np.random.Generator,
    probabilities: Probabilities,
    progress: Progress | None = None,
    stratified: bool = True,
) -> CrossValidation:
    """Refit the method on all folds but one, in turn; warns where a refit did not reach its tolerance."""
    missed = []

    def fit_predict(train: Sample, test: Sample) -> Predictions:
        fit = method.fit(train, rng)
        missed.append(not fit.certificate.reached)
        return evaluate(fit, test, method.cost, probabilities)

    result = cross_validate(sample, folds, rng, fit_predict, progress, stratified)
    if any(missed):
        warnings.warn(
            f"{sum(missed)} of the {folds} refits of the cross-validation did not reach the solver's tolerance; "
            "its errors may be off.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return result


def without_paid(predictions: Predictions) -> Predictions:
    """Predictions of new rows whose own costs are not known."""
    return replace(predictions, paid=None)
