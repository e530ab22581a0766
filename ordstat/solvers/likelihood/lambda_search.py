"""The parameter lambda of a link: one bounded search of the profile likelihood, from which Newton's method starts.

At one lambda the other parameters are soon found: from one lambda to the next, thresholds and effects keep the shares
that they stand for when they move and stretch as the median and the quartiles of the link do.
"""

from __future__ import annotations

import math

import numpy as np

from ...exceptions import DataError
from ...model.likelihood.links import Link
from .explore import Point, follow, stay, thinned
from .problem import Problem

#: Newton steps at each lambda, and accuracy of the search in lambda or its logarithm.
_STEPS, _ACCURACY = 20, 0.05


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
        points = carried(problem, last.point, family.at(last_lam), fixed.link), last.point
        begin = max((stay(fixed, point) for point in points), key=lambda one: one.loglik)
        maximum = follow(fixed, begin.point, max_iter, _STEPS)
        if math.isfinite(maximum.loglik):
            last, last_lam = maximum, lam
            best = max(best, (maximum, lam), key=lambda pair: pair[0].loglik)
        return -maximum.loglik

    low, high = (math.log(bound) if family.relative else bound for bound in family.bounds)
    minimize_scalar(fall, bounds=(low, high), method="bounded", options={"xatol": _ACCURACY})
    (alpha, rest), lam = best[0].point, best[1]
    return alpha, np.append(rest, lam)


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
