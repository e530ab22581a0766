"""Starting values of Newton's method: from the cumulative shares, or from a rough fit of an easier problem.

The easier problem is every tenth row where there are many rows, and for the likelihoods that may have several local
maxima a model nearby: the one without scale effects, and for the cauchit the logit and the probit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._typing import FloatArray
from ..model.links import LINKS
from .newton import Evaluation, Optimum, maximise
from .problem import Problem
from .rank import Columns

#: One row in this many makes the small sample.
_STRIDE = 10
#: The small sample is fitted until the next step, taken unseen, is shorter than one standard error (tol / 1000).
_ROUGH = 1e3
#: What the small sample tells of every effect, per row and deviation of its column, is more than this share of 1.
_TOLD = 1e-9
#: Longest step, in the units of `newton.py`, on the information of the small sample.
_LONGEST = 0.2
#: Newton steps towards the maximum of a model nearby, and its score.
_STEPS, _NEAR = 30, 1e-3

Point = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Start:
    """Where Newton's method begins.

    Attributes
    ----------
    alpha : (K-1, m)
    rest : (q,)
    beyond : float or None
        A higher log-likelihood, on a way that came to no end; None where none was seen.
    """

    alpha: FloatArray
    rest: FloatArray
    beyond: float | None = None


def starting_values(problem: Problem, max_iter: int) -> Start:
    """Where to begin, for the scaled columns; no search on the way takes more than `max_iter` steps."""
    if problem.family is None and problem.sample.rows.scale is not None:
        return _through_equal_scales(problem, max_iter)
    return Start(*_one_place(problem, max_iter))


def _one_place(problem: Problem, max_iter: int) -> Point:
    """`starting_values` of a likelihood without scale effects, or with a parameter of its link."""
    if problem.family is not None:
        return _at_fixed_lambda(problem, problem.family.start, max_iter)
    if not problem.many_rows:
        return _through_other_links(problem, max_iter) if problem.link.name == "cauchit" else problem.start()
    return _from_small_sample(problem) if problem.plain and problem.structure is None else problem.start()


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
        return (alpha, rest) if np.all(np.diff(alpha[:, 0]) > 0.0) else (rough.alpha, rough.rest)
    step_alpha, step_rest = rough.factor.solve(at.score_alpha / ratio, at.score_rest / ratio)
    length = float(np.vdot(step_alpha, at.score_alpha) + step_rest @ at.score_rest) / float(problem.counts.sum())
    moved = alpha + step_alpha
    if length > _LONGEST**2 or not np.all(np.diff(moved[:, 0]) > 0.0):
        return alpha, rest
    return moved, rest + step_rest


def _at_fixed_lambda(problem: Problem, lam: float, max_iter: int) -> Point:
    """The fit at one lambda: lambda and thresholds are nearly collinear, and Newton's steps far from it are wild."""
    fixed = replace(problem, family=None)
    start = starting_values(fixed, max_iter)
    alpha, rest = _near(fixed, (start.alpha, start.rest), max_iter).point
    return alpha, np.append(rest, lam)


def _through_other_links(problem: Problem, max_iter: int) -> Point:
    """The best of the local maxima reached from no effects and from the logit and the probit fit.

    The cauchit likelihood of few rows has several; those of the other two links have one.
    """
    others = [replace(problem, link=LINKS[name]) for name in ("logit", "probit")]
    starts = [problem.start(), *(_near(other, other.start(), max_iter).point for other in others)]
    points = [_near(problem, start, max_iter).point for start in starts if _at(problem, *start) is not None]
    return points[int(np.argmax([_loglik(problem, point) for point in points]))]


def _through_equal_scales(problem: Problem, max_iter: int) -> Start:
    """The best of the local maxima reached from the fit without scale effects and, of few rows, from no effects.

    The former makes sure that scale effects never lower the likelihood. Far from zero a scale column multiplies all
    other effects, and its own effect is nearly lost in them. Without an offset the centred column makes the same model,
    with theta - H smaller by exp(mean zeta): it is fitted there, and taken back.
    """
    rows, n_scale = problem.sample.rows, int(problem.scale.kept.sum())
    assert rows.scale is not None
    none = Columns(np.zeros(0), np.ones(0), np.zeros(0, dtype=bool))
    equal = replace(problem, sample=replace(problem.sample, rows=replace(rows, scale=None)), scale=none)
    alpha, rest = _near(equal, _one_place(equal, max_iter), max_iter).point
    start = alpha, np.append(rest, np.zeros(n_scale))
    starts = [start, problem.start()] if not problem.many_rows else [start]
    near = [_near(problem, start, max_iter) for start in starts]
    if rows.offset is None:
        part = problem.scale.part(problem.scale.kept)
        centred = replace(problem, sample=replace(problem.sample, rows=replace(rows, scale=rows.scale - part.mean)))
        found = [_near(centred, start, max_iter) for start in starts]
        mean = part.mean / part.deviation
        near += [replace(one, point=_taken_back(*one.point, mean)) for one in found]
    return _ending(problem, near, start, max_iter)


@dataclass(frozen=True, eq=False)
class _Near:
    """Where some Newton steps lead, and whether they end there."""

    point: Point
    ends: bool


def _ending(problem: Problem, near: list[_Near], start: Point, max_iter: int) -> Start:
    """The best of the points; of those that end, if the best does not with all steps either.

    A likelihood with scale effects can rise without end, to where all scores of some rows are infinite and those of the
    others zero: a maximum on this side of it says more of the data.
    """
    candidates = [*near, _Near(start, False)]
    logliks = np.array([_loglik(problem, one.point) for one in candidates])
    best = int(np.argmax(logliks))
    lowest = logliks[-1] - 1e-9 * (1.0 + abs(logliks[-1]))
    ends = np.array([one.ends for one in candidates]) & (logliks >= lowest)
    if ends[best] or not ends.any():
        return Start(*candidates[best].point)
    further = _near(problem, candidates[best].point, max_iter, max_iter)
    if further.ends:
        return Start(*further.point)
    chosen = int(np.argmax(np.where(ends, logliks, -np.inf)))
    return Start(*candidates[chosen].point, beyond=_loglik(problem, further.point))


def _taken_back(alpha: FloatArray, rest: FloatArray, mean: FloatArray) -> Point:
    """From effects of centred scale columns to those of columns with this mean (in deviations)."""
    effects, zeta = np.split(rest, [rest.size - mean.size])
    with np.errstate(over="ignore", invalid="ignore"):
        factor = np.exp(zeta @ mean)
        return factor * alpha, np.append(factor * effects, zeta)


def _near(problem: Problem, start: Point, max_iter: int, steps: int = _STEPS) -> _Near:
    """Close to the maximum that Newton's method reaches from a point."""
    found = maximise(
        problem.objective().evaluate,
        *start,
        tol=_NEAR,
        max_iter=min(steps, max_iter),
        total_weight=float(problem.counts.sum()),
    )
    return _Near((found.alpha, found.rest), found.message.startswith("converged") and found.damping == 0.0)


def _at(problem: Problem, alpha: FloatArray, rest: FloatArray) -> Evaluation | None:
    """The likelihood at a point, None where it has no finite value."""
    if not (np.isfinite(alpha).all() and np.isfinite(rest).all()):
        return None
    found = problem.objective().evaluate(alpha, rest)
    return found if found is not None and found.finite else None


def _loglik(problem: Problem, point: Point) -> float:
    """The log-likelihood at a point, minus infinity outside the domain."""
    found = _at(problem, *point)
    return -np.inf if found is None else found.loglik
