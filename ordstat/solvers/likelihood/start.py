"""Starting values of Newton's method: from the cumulative shares, from some of the rows, or the better of two starts.

Where there are many rows an easier problem, every tenth of them, is fitted first. Likelihoods that are not concave
(cauchit, scale effects) are followed from two starts: the fit without scale effects, that of the logit, or no effects.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...model.likelihood.links import LINKS
from .column_rank import Columns
from .explore import Point, evaluated, follow, thinned
from .lambda_search import search_lambda
from .newton import Optimum, maximise
from .problem import Problem

#: One row in this many makes the small sample.
_STRIDE = 10
#: The small sample is fitted until the next step, taken unseen, is shorter than one standard error (tol / 1000).
_ROUGH = 1e3
#: What the small sample tells of every effect, per row and deviation of its column, is more than this share of 1.
_TOLD = 1e-9
#: Longest step, in the units of `newton.py`, on the information of the small sample.
_LONGEST = 0.2
#: Log-likelihoods closer than this are of one maximum.
_SAME = 1e-3


def starting_values(problem: Problem, max_iter: int) -> Point:
    """Where to begin, for the scaled columns; no search on the way takes more than `max_iter` steps."""
    if problem.flexible is not None:
        return _along_lambda(problem, max_iter)
    logit = problem.at_link(LINKS["logit"])
    if problem.sample.rows.scale is not None:
        other = problem.start() if problem.family.concave else _equal_scales(logit, max_iter)
        return _better(problem, [_equal_scales(problem, max_iter), other], max_iter)
    if not problem.family.concave:
        return _better(problem, [starting_values(logit, max_iter), problem.start()], max_iter)
    return problem.start() if problem.structure is not None else _from_small_sample(problem)


def _from_small_sample(problem: Problem) -> Point:
    """A rough fit of the small sample is within a few standard errors and saves passes over all rows.

    It is used only where every level occurs in it, every effect shows in it (the indicator of a rare event may not),
    and Newton's method went straight through.
    """
    start = problem.start()
    if not problem.many_rows:
        return start
    small = problem.sample.take(np.arange(0, problem.sample.n, _STRIDE))
    counts = np.bincount(small.y, weights=small.weights, minlength=problem.counts.size).astype(np.float64)
    if not np.all(counts > 0.0):
        return start
    part = replace(problem, sample=small, counts=counts)
    rough = maximise(
        part.objective().evaluate,
        *_from_small_sample(part),
        tol=_ROUGH,
        max_iter=10,
        total_weight=float(counts.sum()),
    )
    told = np.diag(rough.factor.schur) ** 2
    if rough.message != "converged" or rough.damping > 0.0 or np.any(told <= _TOLD * counts.sum()):
        return start
    return _stepped(problem, rough, float(problem.counts.sum() / counts.sum()))


def _stepped(problem: Problem, rough: Optimum, ratio: float) -> Point:
    """The last step of a fit to some of the rows, then one on the score of all and `ratio` times its information.

    The latter is as good as a Newton step: the information of the part is as near that of all rows as the point is.
    """
    alpha, rest = rough.alpha + rough.step_alpha, rough.rest + rough.step_rest
    slope = problem.slope()
    at = None if slope is None else slope(alpha, rest, rough.information)
    if at is None:
        return _inside(problem, (alpha, rest), (rough.alpha, rough.rest))
    step_alpha, step_rest = rough.factor.solve(at.score_alpha / ratio, at.score_rest / ratio)
    length = float(np.vdot(step_alpha, at.score_alpha) + step_rest @ at.score_rest) / float(problem.counts.sum())
    moved = alpha + step_alpha, rest + step_rest
    return (alpha, rest) if length > _LONGEST**2 else _inside(problem, moved, (alpha, rest))


def _inside(problem: Problem, *points: Point) -> Point:
    """The first of the points inside the domain, or no effects."""
    return next((point for point in points if problem.inside(*point)), problem.start())


def _along_lambda(problem: Problem, max_iter: int) -> Point:
    """The best lambda: it and the thresholds are nearly collinear, and Newton's steps far from it are wild."""
    fixed = starting_values(problem.at_link(problem.link), max_iter)
    return _refined(problem, search_lambda(problem, fixed, max_iter), max_iter)


def _refined(problem: Problem, point: Point, max_iter: int) -> Point:
    """From a point near the maximum for some of the rows to one near that for all."""
    part = thinned(problem)
    if part is problem:
        return point
    rough = follow(part, point, max_iter)
    if not rough.ends or rough.optimum is None:
        return point
    return _stepped(problem, rough.optimum, float(problem.counts.sum() / part.counts.sum()))


def _better(problem: Problem, points: list[Point], max_iter: int) -> Point:
    """The higher of the maxima that some points lead to; one that a search comes to an end in, if there is one.

    With scale effects the likelihood may rise without end elsewhere: a maximum on this side of it says more.
    """
    part = thinned(problem)
    reached = [follow(part, point, max_iter) for point in points]
    if part is not problem and not np.ptp([each.loglik for each in reached]) < _SAME:
        part, reached = problem, [follow(problem, each.point, max_iter) for each in reached]
    best = max(reached, key=lambda each: (each.ends, each.loglik))
    if part is not problem and best.ends and best.optimum is not None:
        point = _stepped(problem, best.optimum, float(problem.counts.sum() / part.counts.sum()))
    else:
        point = best.point
    return next((each for each in (point, *points) if evaluated(problem, each) is not None), problem.start())


def _equal_scales(problem: Problem, max_iter: int) -> Point:
    """The maximum without scale effects, scale effects 0."""
    none = Columns(np.zeros(0), np.ones(0), np.zeros(0, dtype=bool))
    rows = replace(problem.sample.rows, scale=None)
    equal = replace(problem, sample=replace(problem.sample, rows=rows), scale=none)
    alpha, rest = follow(equal, starting_values(equal, max_iter), max_iter).point
    return alpha, np.append(rest, np.zeros(int(problem.scale.kept.sum())))
