"""Starting values of Newton's method: from the cumulative shares, or from every twentieth row where there are many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._typing import FloatArray
from .newton import maximise
from .problem import Problem

#: One row in this many makes the small sample; with fewer rows than _ENOUGH a parameter it is not worth it.
_STRIDE, _ENOUGH = 20, 40
#: The small sample is fitted until the score, a sum over its rows, is below this.
_ROUGH = 1.0


def starting_values(problem: Problem) -> tuple[FloatArray, FloatArray]:
    """(alpha, rest) for the scaled columns.

    A rough fit of the small sample is within a few standard errors and saves two passes over all rows. It is used only
    where every level occurs in it and Newton's method went straight through.
    """
    if problem.family is not None:
        return _at_fixed_lambda(problem, problem.family.start)
    start = problem.start()
    n_parameters = start[0].size + start[1].size
    if not problem.plain or problem.structure is not None or problem.sample.n < _STRIDE * _ENOUGH * n_parameters:
        return start
    small = problem.sample.take(np.arange(0, problem.sample.n, _STRIDE))
    counts = np.bincount(small.y, weights=small.weights, minlength=problem.counts.size).astype(np.float64)
    if not np.all(counts > 0.0):
        return start
    rough = maximise(
        replace(problem, sample=small, counts=counts).objective().evaluate,
        *start,
        tol=_ROUGH,
        max_iter=10,
        total_weight=float(counts.sum()),
    )
    return (rough.alpha, rough.rest) if rough.message == "converged" and rough.damping == 0.0 else start


def _at_fixed_lambda(problem: Problem, lam: float) -> tuple[FloatArray, FloatArray]:
    """The fit at one lambda: lambda and the thresholds are nearly collinear, and far from it Newton's steps are wild."""
    fixed = replace(problem, family=None)
    found = maximise(
        fixed.objective().evaluate,
        *starting_values(fixed),
        tol=1e-3,
        max_iter=20,
        total_weight=float(problem.counts.sum()),
    )
    return found.alpha, np.append(found.rest, lam)
