"""The parameter lambda of a link: its profile likelihood on a grid, from which Newton's method starts.

At one lambda the other parameters are soon found: from one lambda to the next, thresholds and effects keep the shares
that they stand for when they move and stretch as the median and the quartiles of the link do. The grid is widened while
the likelihood rises towards an end of it. A maximum beyond the last values is looked for by another search, on a wider
grid (`estimate.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model.likelihood.flexible import FlexibleLink
from ...model.likelihood.links import Link
from .explore import Point, Reached, follow, stay, thinned
from .problem import Problem

#: Steps at each lambda.
_STEPS = 20


@dataclass(frozen=True, eq=False)
class LambdaSearch:
    """What the profile of lambda shows.

    Attributes
    ----------
    point : Point
        At the best lambda of the grid, which is the last component of `rest`.
    maxima : int
        Number of maxima of the profile on the grid.
    tried : int
        Values of the grid.
    """

    point: Point
    maxima: int
    tried: int


def search_lambda(problem: Problem, start: Point, max_iter: int) -> LambdaSearch:
    """The best lambda on a grid, from the estimates `start` at the first lambda of the family."""
    assert problem.flexible is not None
    family, part = problem.flexible, thinned(problem)
    first = family.start, follow(held_at(part, family.start), start, max_iter, _STEPS)
    below, above = (_walk(part, family, first, side, max_iter) for side in (-1, 1))
    profile = [*reversed(below), first, *above]
    logliks = np.array([-np.inf, *(found.loglik for _, found in profile), -np.inf])
    best = int(np.argmax(logliks[1:-1]))
    lam, found = max([profile[best], *_beside(part, profile, best, max_iter)], key=lambda one: one[1].loglik)
    maxima = (logliks[1:-1] > logliks[:-2]) & (logliks[1:-1] >= logliks[2:])
    alpha, rest = found.point
    return LambdaSearch((alpha, np.append(rest, lam)), int(np.count_nonzero(maxima)), len(profile))


def _beside(
    problem: Problem, profile: list[tuple[float, Reached]], best: int, max_iter: int
) -> list[tuple[float, Reached]]:
    """Half way from the best lambda to those on both sides: between values far apart the profile may be higher."""
    assert problem.flexible is not None
    lam, near = profile[best]
    found = []
    for place in (best - 1, best + 1):
        if 0 <= place < len(profile):
            between = problem.flexible.between(lam, profile[place][0])
            fixed = held_at(problem, between)
            begin = stay(fixed, carried(problem, near.point, problem.flexible.at(lam), fixed.link))
            found.append((between, follow(fixed, begin.point, max_iter, _STEPS)))
    return [one for one in found if np.isfinite(one[1].loglik)]


def _walk(
    problem: Problem, family: FlexibleLink, first: tuple[float, Reached], side: int, max_iter: int
) -> list[tuple[float, Reached]]:
    """The lambdas on one side, the nearest first; those far from the usual ones while the likelihood rises."""
    path = [first]
    lams = [lam for lam in family.grid if (lam - family.start) * side > 0.0]
    for lam in sorted(lams, key=lambda lam: side * lam):
        last, near = path[-1]
        if not family.usual(lam) and near.loglik <= path[-2][1].loglik:
            break
        fixed = held_at(problem, lam)
        moved = carried(problem, near.point, family.at(last), fixed.link)
        begin = max((stay(fixed, point) for point in (moved, near.point)), key=lambda one: one.loglik)
        found = follow(fixed, begin.point, max_iter, _STEPS)
        if not np.isfinite(found.loglik):
            break
        path.append((lam, found))
    return path[1:]


def held_at(problem: Problem, lam: float) -> Problem:
    """The problem at one lambda."""
    assert problem.flexible is not None
    return problem.at_link(problem.flexible.at(lam))


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
