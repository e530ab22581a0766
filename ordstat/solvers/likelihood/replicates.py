"""Estimates with replicate weights: Newton's method once more for every replicate, from the estimates of the fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._typing import FloatArray
from ...exceptions import DataError
from .column_rank import survey
from .estimate import Estimation
from .identified import confounded
from .problem import Problem
from .user_scale import in_order


def replicated_estimates(
    estimation: Estimation, problem: Problem, estimates: FloatArray, weights: FloatArray
) -> FloatArray:
    """(R, P') estimates on the user's scale, one row a replicate.

    Parameters
    ----------
    estimation : Estimation
    problem : Problem
    estimates : (P',)
        Of the fit, on the user's scale; where the search begins.
    weights : (N, R), >= 0
        For all rows of the fit, those of weight 0 among them.

    Raises
    ------
    DataError
        A replicate gives no weight to a level or to what a parameter needs, so that it has no estimates.
    """
    used = weights if problem.used is None else weights[problem.used]
    began = replace(estimation, start=tuple(estimates.tolist()))
    found = [_estimate(began, problem, column, place) for place, column in enumerate(used.T, 1)]
    return np.array(found)


def _estimate(estimation: Estimation, problem: Problem, weights: FloatArray, place: int) -> FloatArray:
    reweighted = _reweighted(problem, weights, place)
    if estimation.penalty is None or not estimation.penalty.determines:
        _check_determined(reweighted, place)
    found = estimation.of(reweighted)
    if found.separation is not None or found.endless.any() or not found.optimum.converged:
        raise DataError(
            f"replicate {place} has no finite estimates: its weights leave too few rows for the model. Take out a "
            "column, merge levels, or fit with penalty=."
        )
    return in_order(*reweighted.user_scale().coefficients(found.optimum.alpha, found.optimum.rest))


def _reweighted(problem: Problem, weights: FloatArray, place: int) -> Problem:
    """The same columns and levels with other weights of the same total, which a penalty is measured by.

    Rows of weight 0 are left out.
    """
    positive = weights > 0.0
    factor = problem.counts.sum() / weights[positive].sum()
    sample = replace(problem.sample.take(positive), weights=weights[positive] * factor)
    counts = np.bincount(sample.y, weights=sample.weights, minlength=sample.n_levels)
    if not counts.all():
        raise DataError(
            f"replicate {place} gives no weight to level {int(np.argmin(counts)) + 1} of {sample.n_levels}, so that "
            "its thresholds have no estimate: merge levels of the response."
        )
    return replace(problem, sample=sample, counts=counts.astype(np.float64), used=None)


def _check_determined(problem: Problem, place: int) -> None:
    """DataError where the rows of a replicate do not determine all effects of the fit."""
    rows, weights = problem.sample.rows, problem.sample.weights
    effects = rows.X if rows.nominal is None else np.hstack([rows.nominal, rows.X])
    parts = [effects] if rows.scale is None else [effects, rows.scale]
    if any(not survey(np.ascontiguousarray(part), weights).kept.all() for part in parts) or confounded(problem):
        raise DataError(
            f"replicate {place} gives no weight to rows that tell the effects of the model apart (those of a level of "
            "a factor, as it may be), so that they have no estimates: take out a column, or merge levels of a factor."
        )
