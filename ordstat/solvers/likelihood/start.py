"""Starting values of Newton's method: from the cumulative shares, from some of the rows, or the best of several starts.

Where there are many rows an easier problem, every tenth of them, is fitted first. The likelihoods that may have several
local maxima are followed from several starts (`explore.py`): models nearby (no scale effects, the logit and the probit
for the cauchit), log-scale effects either way, and where a plain search leads (`plain_search.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._typing import FloatArray
from ...model.likelihood.links import LINKS
from .column_rank import Columns
from .explore import ABOUT, Point, Reached, distinct, evaluated, follow, follow_all, stay, thinned
from .lambda_search import search_lambda
from .newton import Optimum, maximise
from .plain_search import plain_search
from .problem import Problem

#: One row in this many makes the small sample.
_STRIDE = 10
#: The small sample is fitted until the next step, taken unseen, is shorter than one standard error (tol / 1000).
_ROUGH = 1e3
#: What the small sample tells of every effect, per row and deviation of its column, is more than this share of 1.
_TOLD = 1e-9
#: Longest step, in the units of `newton.py`, on the information of the small sample.
_LONGEST = 0.2
#: Log-scale effects per deviation that are tried either way, those of so many columns at most.
_EFFECT, _COLUMNS = 0.6, 4
#: Starts that are enough for scale effects where there are many rows, if all lead to one maximum.
_FEW = 4
#: Links whose maxima are starts for others.
_USUAL = ("logit", "probit")
#: Effects of the logit fit are tried at these multiples for the cauchit, whose latent spread is another.
_STRETCHES = (0.5, 1.0, 2.0)


@dataclass(frozen=True, eq=False)
class Start:
    """Where Newton's method begins.

    Attributes
    ----------
    alpha : (K-1, m)
    rest : (q,)
    beyond : float or None
        A higher log-likelihood, on a way that came to no end; None where none was seen.
    tried, maxima : int
        Starts that were followed, and the different maxima that they led to.
    """

    alpha: FloatArray
    rest: FloatArray
    beyond: float | None = None
    tried: int = 1
    maxima: int = 1


def starting_values(problem: Problem, max_iter: int) -> Start:
    """Where to begin, for the scaled columns; no search on the way takes more than `max_iter` steps."""
    if problem.flexible is not None:
        return _along_lambda(problem, max_iter)
    if problem.sample.rows.scale is not None:
        return _through_scales(problem, max_iter)
    if not problem.family.concave:
        return _chosen(problem, [*_other_links(problem, max_iter), _plain(problem, max_iter).point], max_iter)
    return Start(*(problem.start() if problem.structure is not None else _from_small_sample(problem)))


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
    return next((point for point in points if problem.rows().inside(*point)), problem.start())


def _along_lambda(problem: Problem, max_iter: int) -> Start:
    """The best lambda: it and the thresholds are nearly collinear, and Newton's steps far from it are wild."""
    fixed = starting_values(problem.at_link(problem.link), max_iter)
    point = search_lambda(problem, (fixed.alpha, fixed.rest), max_iter)
    return Start(*_refined(problem, point, max_iter), tried=fixed.tried, maxima=fixed.maxima)


def _refined(problem: Problem, point: Point, max_iter: int) -> Point:
    """From a point near the maximum for some of the rows to one near that for all."""
    part = thinned(problem)
    if part is problem:
        return point
    rough = follow(part, point, max_iter)
    if not rough.ends or rough.optimum is None:
        return point
    return _stepped(problem, rough.optimum, float(problem.counts.sum() / part.counts.sum()))


def _other_links(problem: Problem, max_iter: int) -> list[Point]:
    """No effects, and those of the logit and the probit fit, whose likelihoods have one maximum."""
    others = [other for name in _USUAL if (other := problem.at_link(LINKS[name])).family.concave]
    points = [follow(other, other.start(), max_iter).point for other in others]
    stretched = [(factor * alpha, factor * rest) for alpha, rest in points for factor in _STRETCHES]
    return [problem.start(), *stretched]


def _chosen(problem: Problem, points: list[Point], max_iter: int) -> Start:
    """The best of the maxima that some points lead to."""
    found = follow_all(problem, points, max_iter)
    best = found[0].point if found else problem.start()
    return Start(*best, tried=len(points), maxima=sum(one.ends for one in found))


def _through_scales(problem: Problem, max_iter: int) -> Start:
    """The best of the local maxima reached from the fits without scale effects, from no effects, from log-scale effects
    either way, and by a plain search.

    The first make sure that scale effects never lower the likelihood. Far from zero a scale column multiplies all other
    effects, and its own effect is nearly lost in them. Without an offset the centred column makes the same model, with
    theta - H smaller by exp(mean zeta): it is fitted there too, and taken back.
    """
    part = thinned(problem)
    if problem.family.concave and part is not problem:
        _, points = _scale_starts(part, max_iter)
        few = distinct(follow(part, point, max_iter, near=ABOUT) for point in points[:_FEW])
        if len(few) == 1 and few[0].ends and few[0].optimum is not None:
            start = _stepped(problem, few[0].optimum, float(problem.counts.sum() / part.counts.sum()))
            return Start(*start, tried=min(_FEW, len(points)), maxima=1)
    equal, points = _scale_starts(problem, max_iter)
    plain = _plain(problem, max_iter)
    if not problem.family.concave:
        points += [point for name in _USUAL for point in _scales_of(problem, name, points, max_iter)]
    found = follow_all(problem, [plain.point, *points], max_iter)
    tried = 1 + len(points)
    if problem.sample.rows.offset is None:
        centred, mean = _centred(problem)
        again = follow_all(centred, points, max_iter)
        found = distinct([*found, *(replace(one, point=_taken_back(*one.point, mean)) for one in again)])
        tried += len(points)
    passed = equal[:1] if plain.ends else [equal[0], plain.point]
    least = max((stay(problem, point) for point in passed), key=lambda one: one.loglik)
    return _ending(problem, found, least, max_iter, tried)


def _plain(problem: Problem, max_iter: int) -> Reached:
    """Where a plain search leads on some of the rows, from a fit without scale effects (for the cauchit a probit)."""
    part = thinned(problem)
    equal = _without_scales(part)
    if not equal.family.concave:
        equal = equal.at_link(LINKS["probit"])
    alpha, rest = follow(equal, equal.start(), max_iter).point
    start = alpha, np.append(rest, np.zeros(int(part.scale.kept.sum())))
    return follow(part, plain_search(part, start, max_iter), max_iter)


def _without_scales(problem: Problem) -> Problem:
    """The problem without scale effects."""
    none = Columns(np.zeros(0), np.ones(0), np.zeros(0, dtype=bool))
    rows = replace(problem.sample.rows, scale=None)
    return replace(problem, sample=replace(problem.sample, rows=rows), scale=none)


def _equal_scales(problem: Problem, max_iter: int) -> list[Point]:
    """The maxima without scale effects, the best first, scale effects 0."""
    equal, zeros = _without_scales(problem), np.zeros(int(problem.scale.kept.sum()))
    if not equal.family.concave:
        points = [one.point for one in follow_all(equal, _other_links(equal, max_iter), max_iter)]
    else:
        start = starting_values(equal, max_iter)
        points = [(start.alpha, start.rest)]
    best, *others = points or [equal.start()]
    return [(alpha, np.append(rest, zeros)) for alpha, rest in (follow(equal, best, max_iter).point, *others)]


def _scales_of(problem: Problem, link: str, points: list[Point], max_iter: int) -> list[Point]:
    """The maxima under another link, its scale effects with them."""
    other = problem.at_link(LINKS[link])
    return [one.point for one in follow_all(other, points, max_iter)]


def _scale_starts(problem: Problem, max_iter: int) -> tuple[list[Point], list[Point]]:
    """The maxima without scale effects; these, no effects, and log-scale effects either way."""
    equal = _equal_scales(problem, max_iter)
    return equal, [*equal, problem.start(), *_either_way(problem, equal[0])]


def _either_way(problem: Problem, point: Point) -> list[Point]:
    """A point without scale effects, with one of those that matter most at it, in either direction."""
    at = evaluated(problem, point)
    n_scale = int(problem.scale.kept.sum())
    if at is None:
        return []
    places = np.argsort(-np.abs(at.score_rest[-n_scale:]))[:_COLUMNS] - n_scale
    alpha, rest = point
    moves = [np.eye(rest.size)[place] * effect for place in places for effect in (_EFFECT, -_EFFECT)]
    return [(alpha, rest + move) for move in moves]


def _centred(problem: Problem) -> tuple[Problem, FloatArray]:
    """The problem with centred columns of the log scale, and their means in deviations."""
    rows, part = problem.sample.rows, problem.scale.part(problem.scale.kept)
    assert rows.scale is not None
    sample = replace(problem.sample, rows=replace(rows, scale=rows.scale - part.mean))
    return replace(problem, sample=sample), part.mean / part.deviation


def _taken_back(alpha: FloatArray, rest: FloatArray, mean: FloatArray) -> Point:
    """From effects of centred scale columns to those of columns with this mean (in deviations)."""
    effects, zeta = np.split(rest, [rest.size - mean.size])
    with np.errstate(over="ignore", invalid="ignore"):
        factor = np.exp(zeta @ mean)
        return factor * alpha, np.append(factor * effects, zeta)


def _ending(problem: Problem, found: list[Reached], least: Reached, max_iter: int, tried: int) -> Start:
    """The best of the places; of those that end, if the best does not with all steps either.

    A likelihood with scale effects can rise without end, to where all scores of some rows are infinite and those of the
    others zero: a maximum on this side of it says more of the data, unless a plain search comes further (`least`).
    """
    maxima = sum(one.ends for one in found)
    candidates = [replace(one, loglik=stay(problem, one.point).loglik) for one in found] + [least]
    best = max(candidates, key=lambda one: one.loglik)
    lowest = least.loglik - 1e-9 * (1.0 + abs(least.loglik))
    ends = [one for one in candidates if one.ends and one.loglik >= lowest]
    if best.settled or not ends:
        return Start(*best.point, tried=tried, maxima=maxima)
    further = follow(problem, best.point, max_iter, max_iter)
    if further.settled:
        return Start(*further.point, tried=tried, maxima=maxima + 1)
    chosen = max(ends, key=lambda one: one.loglik)
    beyond = further.loglik if further.loglik > chosen.loglik else None
    return Start(*chosen.point, beyond=beyond, tried=tried, maxima=maxima)
