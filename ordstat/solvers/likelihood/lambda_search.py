"""The parameter lambda of a link: its profile likelihood on a grid, from which Newton's method starts.

At one lambda the other parameters are soon found: from one lambda to the next, thresholds and effects keep the shares
that they stand for when they move and stretch as the median and the quartiles of the link do. The grid is widened while
the likelihood rises towards an end of it; at the last values it has no maximum worth the name.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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


@dataclass(frozen=True, eq=False)
class _Profile:
    """Fits at values of lambda in increasing order."""

    lams: list[float]
    found: list[Reached]

    @property
    def best(self) -> int:
        return int(np.argmax([one.loglik for one in self.found]))

    @property
    def maxima(self) -> int:
        logliks = np.array([-np.inf, *(one.loglik for one in self.found), -np.inf])
        return int(np.count_nonzero((logliks[1:-1] > logliks[:-2]) & (logliks[1:-1] >= logliks[2:])))


def search_lambda(problem: Problem, start: Point, max_iter: int) -> LambdaSearch:
    """The best lambda on a grid, from the estimates `start` at the first lambda of the family."""
    assert problem.flexible is not None
    family, part = problem.flexible, thinned(problem)
    first = follow(held_at(part, family.start), start, max_iter, _STEPS)
    profile = _Profile([family.start], [first])
    for side in (-1, 1):
        _walk(part, profile, [lam for lam in family.grid if (lam - family.start) * side > 0.0], side, max_iter)
    best = profile.best
    alpha, rest = profile.found[best].point
    return LambdaSearch((alpha, np.append(rest, profile.lams[best])), profile.maxima, len(profile.lams))


def _walk(problem: Problem, profile: _Profile, lams: list[float], side: int, max_iter: int) -> None:
    """Add the lambdas on one side, the nearest first; those far from the usual ones while the likelihood rises."""
    assert problem.flexible is not None
    end, inner = (-1, -2) if side > 0 else (0, 1)
    for lam in sorted(lams, key=lambda lam: side * lam):
        if not problem.flexible.usual(lam) and profile.found[end].loglik <= profile.found[inner].loglik:
            return
        near, fixed = profile.found[end], held_at(problem, lam)
        moved = carried(problem, near.point, problem.flexible.at(profile.lams[end]), fixed.link)
        start = max((stay(fixed, point) for point in (moved, near.point)), key=lambda one: one.loglik)
        found = follow(fixed, start.point, max_iter, _STEPS)
        if not np.isfinite(found.loglik):
            return
        where = len(profile.lams) if side > 0 else 0
        profile.lams.insert(where, lam)
        profile.found.insert(where, found)


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
