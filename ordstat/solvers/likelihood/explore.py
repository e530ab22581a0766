"""Several starts of Newton's method: where each of them leads, and which of the local maxima is the highest.

A likelihood that is not concave (cauchit, scale effects, the parameter of a link) may have several maxima. The starts
are first followed on a sample of the rows, where there are many; only those that end in different maxima go on to all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..._typing import FloatArray
from ...exceptions import DataError
from .newton import Evaluation, Optimum, maximise
from .problem import Problem

Point = tuple[FloatArray, FloatArray]

#: Newton steps towards a maximum.
_STEPS = 30
#: Score that is near enough to know a maximum, and one whose log-likelihood is all but that of the maximum.
NEAR, ABOUT = 1e-3, 10.0
#: Rows that the starts are followed on, a parameter and at least.
_ROWS_EACH, _ROWS = 40, 1000
#: Log-likelihoods closer than this are of one maximum.
_SAME = 1e-3


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
    settled : bool
        Whether the likelihood rises no more: there, or at its limit on the way to infinite estimates, where rounding
        makes the information positive definite or not.
    optimum : Optimum or None
        Where a search ended there.
    """

    point: Point
    loglik: float = -np.inf
    ends: bool = False
    settled: bool = False
    optimum: Optimum | None = None


def evaluated(problem: Problem, point: Point) -> Evaluation | None:
    """The likelihood at a point, None where it has no finite value."""
    if not all(np.isfinite(part).all() for part in point):
        return None
    found = problem.objective().evaluate(*point)
    return found if found is not None and found.finite else None


def stay(problem: Problem, point: Point) -> Reached:
    """A point as it is."""
    found = evaluated(problem, point)
    return Reached(point) if found is None else Reached(point, found.loglik)


def maximised(problem: Problem, point: Point, tol: float, max_iter: int, at: Evaluation | None = None) -> Optimum:
    """The maximum that Newton's method reaches from a point, where the likelihood is `at`, without a penalty."""
    evaluate, total_weight = problem.objective().evaluate, float(problem.counts.sum())
    return maximise(evaluate, *point, tol=tol, max_iter=max_iter, total_weight=total_weight, at=at)


def follow(problem: Problem, point: Point, max_iter: int, steps: int = _STEPS, near: float = NEAR) -> Reached:
    """Close to the maximum that Newton's method reaches from a point; `near` is its `tol`."""
    at = evaluated(problem, point)
    if at is None:
        return Reached(point)
    try:
        found = maximised(problem, point, near, min(steps, max_iter), at)
    except DataError:  # it leads to where the information overflows
        return Reached(point)
    converged = found.message.startswith("converged")
    ends, settled = converged and found.damping == 0.0, converged and not found.indefinite
    return Reached((found.alpha, found.rest), found.at.loglik, ends, settled, found)


def follow_all(problem: Problem, points: Sequence[Point], max_iter: int) -> list[Reached]:
    """The different places that the points lead to, the highest first; on all rows where there are several."""
    part = thinned(problem)
    found = distinct(follow(part, point, max_iter) for point in points)
    if part is problem:
        return found
    if len(found) > 1:
        return distinct(follow(problem, one.point, max_iter) for one in found)
    return [replace(one, loglik=stay(problem, one.point).loglik) for one in found]


def distinct(found: Iterable[Reached]) -> list[Reached]:
    """Without those outside the domain, and with one for each maximum, the highest first."""
    inside = sorted((one for one in found if np.isfinite(one.loglik)), key=lambda one: -one.loglik)
    kept: list[Reached] = []
    for one in inside:
        # By their log-likelihoods: a maximum may be a curve in the parameters.
        if not any(one.ends == other.ends and abs(one.loglik - other.loglik) <= _SAME for other in kept):
            kept.append(one)
    return kept


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
