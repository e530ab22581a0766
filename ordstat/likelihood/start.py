"""Starting values of Newton's method."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from .._typing import FloatArray
from ..exceptions import DataError
from .columns import Columns
from .links import LINKS, Link
from .newton import Evaluation, Optimum, maximise
from .problem import Problem

Point = tuple[FloatArray, FloatArray]

#: Newton steps towards a maximum.
_STEPS_EXPLORE = 30
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
    optimum : Optimum or None
        None where no step was possible.
    """

    point: Point
    loglik: float = -np.inf
    optimum: Optimum | None = None

    @property
    def ends(self) -> bool:
        """Whether the steps end there, in a maximum."""
        return self.optimum is not None and self.optimum.converged and self.optimum.damping == 0.0


def evaluated(problem: Problem, point: Point) -> Evaluation | None:
    """The likelihood at a point, None where it has no finite value."""
    if not all(np.isfinite(part).all() for part in point):
        return None
    at = problem.objective().evaluate(*point)
    return at if at is not None and at.finite else None


def maximised(problem: Problem, point: Point, tol: float, max_iter: int, at: Evaluation | None = None) -> Optimum:
    """The maximum that Newton's method reaches from a point, where the likelihood is `at`, without a penalty."""
    evaluate, total_weight = problem.objective().evaluate, float(problem.counts.sum())
    return maximise(evaluate, *point, tol=tol, max_iter=max_iter, total_weight=total_weight, at=at)


def follow(problem: Problem, point: Point, max_iter: int, steps: int = _STEPS_EXPLORE) -> Reached:
    """Close to the maximum that Newton's method reaches from a point."""
    at = evaluated(problem, point)
    if at is None:
        return Reached(point)
    try:
        optimum = maximised(problem, point, _NEAR, min(steps, max_iter), at)
    except DataError:  # it leads to where the information overflows
        return Reached(point)
    return Reached((optimum.alpha, optimum.rest), optimum.at.loglik, optimum)


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


#: Newton steps at each lambda, values tried first, and accuracy of the search in lambda or its logarithm.
_STEPS, _COARSE, _ACCURACY = 20, 9, 0.05


def search_lambda(problem: Problem, start: Point, max_iter: int) -> Point:
    """Where Newton's method for all parameters, lambda the last of `rest`, comes to a maximum from the best lambda.

    Raises
    ------
    DataError
        It comes to none.
    """
    for part in (thinned(problem), problem):  # all rows only where some of them have no maximum
        point = _searched(part, start, max_iter)
        reached = follow(part, point, max_iter)
        if reached.ends:
            return reached.point
    assert problem.flexible is not None
    name, lam = problem.flexible.name, float(point[1][-1])
    if name == "aranda-ordaz" and lam < 1.0:
        raise DataError("lambda has no estimate: the likelihood rises as it falls to 0. Use link='cloglog'.")
    raise DataError(
        f"lambda has no estimate: the likelihood has no maximum from lambda = {lam:.3g} on. Fix it, as in "
        f"link=({name!r}, {lam:.3g}), or choose another link."
    )


def _searched(problem: Problem, start: Point, max_iter: int) -> Point:
    """The highest point found with lambda inside its bounds."""
    from scipy.optimize import minimize_scalar

    assert problem.flexible is not None
    family = problem.flexible
    last, last_lam = follow(problem.at_link(family.at(family.start)), start, max_iter, _STEPS), family.start
    best = last, last_lam

    def fall(coordinate: float) -> float:
        nonlocal best, last, last_lam
        lam = math.exp(coordinate) if family.relative else coordinate
        fixed = problem.at_link(family.at(lam))
        carried_on = carried(problem, last.point, family.at(last_lam), fixed.link)
        maximum = max((follow(fixed, point, max_iter, _STEPS) for point in (carried_on, last.point)), key=_height)
        if math.isfinite(maximum.loglik):
            last, last_lam = maximum, lam
            best = max(best, (maximum, lam), key=lambda pair: pair[0].loglik)
        return -maximum.loglik

    low, high = (math.log(bound) if family.relative else bound for bound in family.bounds)
    grid = np.linspace(low, high, _COARSE)
    lowest = int(np.argmin([fall(coordinate) for coordinate in grid]))  # the profile may have several maxima
    bounds = grid[max(lowest - 1, 0)], grid[min(lowest + 1, _COARSE - 1)]
    minimize_scalar(fall, bounds=bounds, method="bounded", options={"xatol": _ACCURACY})
    (alpha, rest), lam = best[0].point, best[1]
    return alpha, np.append(rest, lam)


def _height(reached: Reached) -> float:
    return reached.loglik


def carried(problem: Problem, point: Point, old: Link, new: Link) -> Point:
    """(alpha, rest), without lambda, moved and stretched as the median and the quartiles of the link are."""
    (median, width), (new_median, new_width) = _centre(old), _centre(new)
    ratio, user = new_width / width, problem.user_scale()
    alpha, rest = point
    moved = ratio * alpha.reshape(-1, user.G.shape[0])
    moved[:, 0] += user.c * (new_median - ratio * median)
    n_scale = int(problem.scale.kept.sum())
    effects = rest.size - n_scale
    return moved.reshape(alpha.shape), np.concatenate([ratio * rest[:effects], rest[effects:]])


def _centre(link: Link) -> tuple[float, float]:
    """The median and the distance of the quartiles."""
    low, median, high = (float(value) for value in link.ppf(np.array([0.25, 0.5, 0.75])))
    return median, high - low


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
        others = [problem.start()] if problem.family.concave else [_equal_scales(logit, max_iter), logit.start()]
        return _better(problem, [_equal_scales(problem, max_iter), *others], max_iter)
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
    return search_lambda(problem, fixed, max_iter)


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
