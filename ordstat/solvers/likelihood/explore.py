"""Where Newton's method leads from several starts, each followed on some of the rows if there are many."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._typing import FloatArray
from ...exceptions import DataError
from .newton import Evaluation, Optimum, maximise
from .problem import Problem

Point = tuple[FloatArray, FloatArray]

#: Newton steps towards a maximum.
_STEPS = 30
#: Score that is near enough to know a maximum.
_NEAR = 1e-3
#: Rows that the starts are followed on, for each parameter and at least.
_ROWS_EACH, _ROWS = 40, 1000


@dataclass(frozen=True, eq=False)
class Reached:
    """Where some Newton steps lead.

    Attributes
    ----------
    point : (alpha, rest)
    loglik : float
        Minus infinity outside the domain.
    ends : bool
        Whether they end there, in a maximum.
    optimum : Optimum or None
        Where a search ended there.
    """

    point: Point
    loglik: float = -np.inf
    ends: bool = False
    optimum: Optimum | None = None


def evaluated(problem: Problem, point: Point) -> Evaluation | None:
    """The likelihood at a point, None where it has no finite value."""
    if not all(np.isfinite(part).all() for part in point):
        return None
    at = problem.objective().evaluate(*point)
    return at if at is not None and at.finite else None


def stay(problem: Problem, point: Point) -> Reached:
    """A point as it is."""
    at = evaluated(problem, point)
    return Reached(point) if at is None else Reached(point, at.loglik)


def maximised(problem: Problem, point: Point, tol: float, max_iter: int, at: Evaluation | None = None) -> Optimum:
    """The maximum that Newton's method reaches from a point, where the likelihood is `at`, without a penalty."""
    evaluate, total_weight = problem.objective().evaluate, float(problem.counts.sum())
    return maximise(evaluate, *point, tol=tol, max_iter=max_iter, total_weight=total_weight, at=at)


def follow(problem: Problem, point: Point, max_iter: int, steps: int = _STEPS) -> Reached:
    """Close to the maximum that Newton's method reaches from a point."""
    at = evaluated(problem, point)
    if at is None:
        return Reached(point)
    try:
        optimum = maximised(problem, point, _NEAR, min(steps, max_iter), at)
    except DataError:  # it leads to where the information overflows
        return Reached(point)
    ends = optimum.converged and optimum.damping == 0.0
    return Reached((optimum.alpha, optimum.rest), optimum.at.loglik, ends, optimum)


def thinned(problem: Problem) -> Problem:
    """Every so many rows, as many as show the maxima; the problem itself where it has no more or some level is lost."""
    sample = problem.sample
    stride = sample.n // max(_ROWS, _ROWS_EACH * problem.n_parameters)
    if stride < 2:
        return problem
    codes = sample.y.astype(np.min_scalar_type(sample.n_levels))  # small integers are sorted in linear time
    order = np.argsort(codes, kind="stable")  # every level keeps its share
    small = sample.take(np.sort(order[::stride]))
    counts = np.bincount(small.y, weights=small.weights, minlength=problem.counts.size).astype(np.float64)
    return replace(problem, sample=small, counts=counts) if np.all(counts > 0.0) else problem
