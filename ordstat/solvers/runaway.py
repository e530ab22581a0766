"""Log-scale effects that run off: their profile likelihood, followed outwards where Newton's method has not converged.

As the scale of a group of rows grows or shrinks without end, thresholds and effects follow along a curved valley in
which Newton's steps become short. With the log-scale effect held, the others are soon found at any distance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .explore import Point, follow
from .newton import Optimum
from .problem import Problem

#: Steps of the log-scale effect, and a gain of the log-likelihood per its size that ends the way.
_STEPS, _GAIN = (0.5, 0.5, 1.0, 1.0, 2.0, 2.0, 4.0, 4.0, 8.0), 1e-10
#: A log-scale effect, per deviation, that moves by less than this at the end of the search does not run off.
_MOVING = 1e-4


@dataclass(frozen=True, eq=False)
class Runaway:
    """A log-scale effect without a finite estimate.

    Attributes
    ----------
    place : int
        Among the log-scale effects that are estimated.
    sign : int
    point : Point
        As far out as the log-likelihood still rises.
    """

    place: int
    sign: int
    point: Point


def runaway(problem: Problem, optimum: Optimum, max_iter: int) -> Runaway | None:
    """The log-scale effect that still moves most where Newton's method stopped, and how far its profile rises."""
    n_scale = int(problem.scale.kept.sum())
    if n_scale == 0 or problem.family is not None or optimum.message.startswith("converged"):
        return None
    first = optimum.rest.size - n_scale
    moves = optimum.step_rest[first:]
    place = int(np.argmax(np.abs(moves)))
    if not abs(moves[place]) > _MOVING:
        return None
    sign = 1 if moves[place] > 0.0 else -1
    found = _outwards(problem, (optimum.alpha, optimum.rest), first + place, sign, optimum.at.loglik, max_iter)
    return None if found is None else Runaway(place, sign, found)


def _outwards(problem: Problem, point: Point, place: int, sign: int, loglik: float, max_iter: int) -> Point | None:
    """The end of the way outwards, where the log-likelihood rises no more; None where it falls at once."""
    first, risen = place - (point[1].size - int(problem.scale.kept.sum())), False
    for step in _STEPS:
        alpha, rest = point
        value = float(rest[place]) + sign * step
        reached = follow(_held(problem, first, value), (alpha, np.delete(rest, place)), max_iter)
        gain = reached.loglik - loglik
        if gain <= 0.0:
            break
        risen, loglik = True, reached.loglik
        point = reached.point[0], np.insert(reached.point[1], place, value)
        if gain <= _GAIN * (1.0 + abs(loglik)):
            break
    return point if risen else None


def _held(problem: Problem, place: int, value: float) -> Problem:
    """The problem with a log-scale effect held at a value, per deviation of its column."""
    rows, kept = problem.sample.rows, np.flatnonzero(problem.scale.kept)
    assert rows.scale is not None
    column = rows.scale[:, place] * (value / problem.scale.deviation[kept[place]])
    others = np.delete(rows.scale, place, axis=1)
    left = problem.scale.kept.copy()
    left[kept[place]] = False
    offset = column if rows.scale_offset is None else rows.scale_offset + column
    rows = replace(rows, scale=others if others.shape[1] else None, scale_offset=offset)
    return replace(problem, sample=replace(problem.sample, rows=rows), scale=replace(problem.scale, kept=left))
