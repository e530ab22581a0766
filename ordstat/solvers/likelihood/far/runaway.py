"""Log-scale effects that run off: their profile likelihood, followed outwards where Newton's method has not converged.

As the scale of a group of rows grows or shrinks without end, thresholds and effects follow along a curved valley in
which Newton's steps become short. With the log-scale effects held, the others are soon found at any distance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...._typing import FloatArray
from ..explore import Point, Reached, follow
from ..newton import Optimum
from ..problem import Problem

#: Steps of the log-scale effects, and a gain of the log-likelihood per its size that ends the way.
_STEPS, _GAIN = (0.5, 0.5, 1.0, 1.0, 2.0, 2.0, 4.0, 4.0, 8.0), 1e-10
#: Log-scale effects, per deviation, that move by less than this at the end of the search do not run off, nor do those
#: that move by less than this share of the largest move.
_MOVING, _PART = 1e-4, 1e-2
#: Nor do those that move by less than this on a long way outwards.
_VISIBLE = 0.1
#: Standard errors of log-scale effects, per deviation, beyond which a maximum is doubted, and the moves that prove it.
_UNKNOWN, _FURTHER = 10.0, (4.0, 8.0)


@dataclass(frozen=True, eq=False)
class Runaway:
    """Log-scale effects without finite estimates.

    Attributes
    ----------
    direction : (r,)
        Direction of the log-scale effects that are estimated, per standard deviation of their columns; 0 for those that
        do not run off.
    point : Point
        As far out as the log-likelihood still rises.
    blurred : bool
        Whether other parameters go along, or rounding hides what lies further out.
    """

    direction: FloatArray
    point: Point
    blurred: bool = False


def runaway(problem: Problem, optimum: Optimum, max_iter: int) -> Runaway | None:
    """The log-scale effects that still move where Newton's method stopped, and how far their profile rises."""
    n_scale = int(problem.scale.kept.sum())
    if n_scale == 0 or problem.flexible is not None or optimum.message.startswith("converged"):
        return None
    direction = _direction(optimum.step_rest[-n_scale:], _MOVING)
    if direction is None:
        return None
    found = _outwards(problem, (optimum.alpha, optimum.rest), direction, optimum.at.loglik, max_iter)
    return None if found is None else Runaway(direction, found)


def flat(problem: Problem, optimum: Optimum, max_iter: int) -> Runaway | None:
    """The log-scale effects that a search has left where the likelihood is at its limit for all larger ones.

    It may converge there; their standard errors tell then that they are not known, or the information is singular to
    rounding, which leaves no likelihood further out either.
    """
    n_scale = int(problem.scale.kept.sum())
    if n_scale == 0 or problem.flexible is not None or not optimum.message.startswith("converged"):
        return None
    loglik, point = optimum.at.loglik, (optimum.alpha, optimum.rest)
    least = loglik - 10.0 * _GAIN * (optimum.unit + abs(loglik))
    for direction in _doubtful(optimum, n_scale):
        reached = [_moved(problem, point, step * direction, max_iter) for step in _FURTHER]
        ends = np.array([one.loglik for one in reached])
        hidden = optimum.damping > 0.0 and bool(np.all(ends == -np.inf))
        if hidden or np.all(ends >= least):
            return Runaway(direction, point, hidden or _follows(point, reached[-1].point))
    return None


def _follows(point: Point, end: Point) -> bool:
    """Whether thresholds or effects go along with log-scale effects, to a point without these."""
    before, after = (np.append(alpha.reshape(-1), rest) for alpha, rest in ((point[0], point[1][: end[1].size]), end))
    return bool(np.any(np.abs(after - before) > _PART * (1.0 + np.abs(before))))


def _doubtful(optimum: Optimum, n_scale: int) -> Iterator[FloatArray]:
    """Directions of log-scale effects that are not known: their own, from 0, and both of that of largest variance."""
    covariance = optimum.unit * optimum.factor.schur_inverse()[-n_scale:, -n_scale:]
    with np.errstate(invalid="ignore"):
        errors = np.sqrt(np.diagonal(covariance))
    zeta, singular = optimum.rest[-n_scale:], optimum.damping > 0.0
    own = _direction(np.where((errors > _UNKNOWN) | singular, zeta, 0.0), _VISIBLE)
    if own is not None:
        yield own
    if np.isfinite(covariance).all() and errors.max() > _UNKNOWN:
        widest = _direction(np.linalg.eigh(covariance)[1][:, -1], 0.0)
        if widest is not None and n_scale > 1:
            yield from (widest, -widest)


def moving(problem: Problem, move: FloatArray, point: Point) -> Runaway | None:
    """The log-scale effects that have moved visibly on the way to a point, where `move` is that of all effects."""
    n_scale = int(problem.scale.kept.sum())
    direction = _direction(move[-n_scale:], _VISIBLE) if n_scale else None
    return None if direction is None else Runaway(direction, point)


def _direction(moves: FloatArray, least: float) -> FloatArray | None:
    """The larger moves of log-scale effects, the largest of them 1; None where none is larger than `least`."""
    largest = float(np.abs(moves).max())
    return np.where(np.abs(moves) > _PART * largest, moves / largest, 0.0) if largest > least else None


def _outwards(problem: Problem, point: Point, direction: FloatArray, loglik: float, max_iter: int) -> Point | None:
    """The end of the way outwards, where the log-likelihood rises no more; None where it falls at once."""
    effects, risen = point[1].size - direction.size, False
    for step in _STEPS:
        reached = _moved(problem, point, step * direction, max_iter)
        gain = reached.loglik - loglik
        if gain <= 0.0:
            break
        risen, loglik = True, reached.loglik
        point = reached.point[0], np.append(reached.point[1], point[1][effects:] + step * direction)
        if gain <= _GAIN * (1.0 + abs(loglik)):
            break
    return point if risen else None


def _moved(problem: Problem, point: Point, move: FloatArray, max_iter: int) -> Reached:
    """Where the other parameters go as the log-scale effects move."""
    effects = point[1].size - move.size
    return follow(_held(problem, point[1][effects:] + move), (point[0], point[1][:effects]), max_iter)


def _held(problem: Problem, zeta: FloatArray) -> Problem:
    """The problem with the log-scale effects held at values, per standard deviation of their columns."""
    rows, part = problem.sample.rows, problem.scale.part(problem.scale.kept)
    assert rows.scale is not None
    own = rows.scale @ (zeta / part.deviation)
    offset = own if rows.scale_offset is None else rows.scale_offset + own
    none = replace(problem.scale, kept=np.zeros_like(problem.scale.kept))
    rows = replace(rows, scale=None, scale_offset=offset)
    return replace(problem, sample=replace(problem.sample, rows=rows), scale=none)
