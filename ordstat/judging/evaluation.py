"""Predictions with the true levels, for a fit and for cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray, Progress
from ..exceptions import ConvergenceWarning, DataWarning, warn
from ..fit import CostRule, Fit, least_expected
from ..formula.sample import Rows, Sample
from ..threads import in_processes
from .absent_levels import fit_levels_present
from .costs import CostMatrix, sample_costs
from .decisions import Decision
from .errors import Predictions, deviations, error_table

#: Function that gives the (N, K) probabilities of a fit, or None if it has none.
Probabilities = Callable[[Fit, Rows, FloatArray], FloatArray | None]


def evaluate(
    fit: Fit,
    sample: Sample,
    cost: Any,
    probabilities: Probabilities,
    scores: FloatArray | None = None,
    each: Mapping[str, CostMatrix | Decision] | None = None,
) -> Predictions:
    """Predictions of a sample with its true levels, without censored answers; `scores`
    are those of the rule, if computed.

    `each` has, for some measures, the cost that predictions minimise instead of the
    cost of the rule.
    """
    if scores is None:
        scores = fit.rule.scores(sample.rows)
    if sample.highest is not None:
        exact = sample.exact
        sample = replace(sample.take(exact), highest=None)
        scores = scores[exact]
    p = probabilities(fit, sample.rows, scores)
    if isinstance(fit.rule, CostRule) and fit.calibration is None:
        codes = fit.rule.codes(sample.rows, scores, p)
    else:
        codes = fit.rule.codes(sample.rows, scores)
    if scores.ndim > 1:  # votes do not order rows; predicted levels do
        order = codes.astype(np.float64)
    elif p is None or sample.rows.one_scale:
        order = scores
    else:  # scores with different thresholds or scales are not comparable
        order = p @ np.arange(sample.n_levels, dtype=np.float64)
    price = CostMatrix.parse(cost)
    paid = None
    if sample.costs is None and price.decides:
        pass  # a measure of all rows has no cost of single ones
    elif sample.costs is None:
        paid = price.matrix(sample.n_levels)[sample.y, codes]
    else:
        paid = sample_costs(price, sample)[np.arange(sample.n), codes]
    return Predictions(
        y=sample.y,
        n_levels=sample.n_levels,
        weights=sample.case_weights,
        codes=codes,
        scores=order,
        paid=paid,
        probabilities=p,
        decided=_decided(p, each),
    )


def _decided(
    p: FloatArray | None, each: Mapping[str, CostMatrix | Decision] | None
) -> dict[str, IntArray]:
    """(N,) codes by measure, of least expected cost."""
    if p is None or each is None:
        return {}
    return {measure: least_expected(p, cost) for measure, cost in each.items()}


def crossvalidate(
    method: Any,
    sample: Sample,
    folds: int,
    rng: np.random.Generator,
    probabilities: Probabilities,
    progress: Progress | None = None,
    stratified: bool = True,
    levels: Sequence[Any] | None = None,
) -> list[Predictions]:
    """Predictions of each fold by a fit to the other folds.

    `levels` are the labels of the levels, for warnings.

    Raises
    ------
    OptionError
        `folds` is below 2, or exceeds the number of rows or clusters.

    Warns
    -----
    ConvergenceWarning
        A fit did not reach its tolerance.
    DataWarning
        All rows of a level are in one fold, or thresholds cross.
    """
    from .folds import held_out, in_one_fold, split

    predictions = []
    missed = 0
    crossed = 0
    held = held_out(sample, folds, rng, stratified)
    labels = range(1, sample.n_levels + 1) if levels is None else levels
    for note in in_one_fold(sample, held, labels):
        warn(note, DataWarning)

    def judged(
        test_weights: FloatArray, own: np.random.Generator
    ) -> tuple[Predictions, bool]:
        train, test = split(sample, test_weights)
        fit = fit_levels_present(method, train, own)
        return evaluate(fit, test, method.cost, probabilities), fit.certificate.reached

    tasks = zip(held, rng.spawn(len(held)), strict=True)
    for done, (predicted, reached) in enumerate(in_processes(judged, tasks), start=1):
        predictions.append(predicted)
        missed += not reached
        p = predicted.probabilities
        if p is not None:
            crossed += int((p < 0.0).any(axis=1).sum())
        if progress is not None:
            progress(done, folds, "cross-validation")
    if missed:
        warn(
            f"{missed} of the {folds} refits of the cross-validation did not reach the"
            " solver's tolerance; its errors may be inaccurate.",
            ConvergenceWarning,
        )
    if crossed:
        warn(
            f"nominal effects put the thresholds of {crossed} of {sample.n} held-out"
            " rows out of order. Some of their probabilities are negative, so errors"
            " of probabilities may be NaN and are unreliable.",
            DataWarning,
        )
    return predictions


def mean_table(folds: Sequence[Predictions]) -> pd.DataFrame:
    """Weighted means over folds, "cv", and standard errors, "cv se" (standard deviation
    / sqrt(F)).

    A measure that is undefined in a fold is averaged over the others. Folds are not
    pooled, as scores of different fits may have different scales. Folds share training
    rows, so standard errors are approximate.
    """
    tables = [error_table(p) for p in folds]
    values = np.array(tables)
    weights = np.array([p.weights.sum() for p in folds])[:, None] * ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        sums = np.where(weights > 0, values * weights, 0.0).sum(axis=0)
        means = sums / weights.sum(axis=0)
        errors = deviations(values) / np.sqrt(np.isfinite(values).sum(axis=0))
    errors[np.isinf(values).any(axis=0)] = np.nan  # the mean is infinite too
    return pd.DataFrame({"cv": means, "cv se": errors}, index=tables[0].index)
