"""Starting values of Newton's method, and the search for the parameter of a link."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from .._typing import FloatArray
from ..exceptions import DataError
from ..newton import Ended, Evaluation, Optimum, maximise
from .links import LINKS, Link
from .problem import Problem

#: Newton steps towards a maximum, and the largest score that counts as one.
_STEPS = 30
_NEAR = 1e-3
#: Rows on which starts are compared: per parameter, and at least.
_ROWS_EACH = 40
_ROWS = 1000
#: Values of lambda tried first, Newton steps at each, and accuracy of the search in
#: lambda or its logarithm.
_COARSE = 9
_LAMBDA_STEPS = 20
_ACCURACY = 0.05
#: A log-likelihood that changes by less with lambda is level.
_LEVEL_IN_LAMBDA = 1e-6
#: Values of lambda from which other branches of a profile are sought.
_BRANCHES = 5
#: Further starts of models with scale effects: standard deviations of the log scales of
#: the rows, against the direction where negative. An axis has no sign of its own.
_ALONG_SCORE = (1.0, 2.0, -1.0)
_ALONG_AXIS = (1.0, -1.0, 2.0, -2.0)
#: Where the standard deviation of the log scales of the rows, plus twice its largest
#: standard error, is below this, no second maximum was found in random models.
_SPREAD_APART = 0.6
#: Scale columns that vary by less, as a share of the largest, hardly differ.
_RANK = 1e-10
#: One row in this many makes the small sample.
_STRIDE = 10
#: The small sample is fitted until the next step, which is taken unchecked, is below
#: one standard error (tol / 1000).
_ROUGH = 1e3
#: Smallest information of the small sample about each effect, per row and deviation of
#: its column.
_LEAST_INFORMATION = 1e-9
#: Longest step, in the units of `newton.py`, on the information of the small sample.
_LONGEST = 0.2
#: Log-likelihoods that differ by less belong to the same maximum; by more than the
#: second, one is clearly higher.
_SAME = 1e-3
_CLEARLY = 1e-2


@dataclass(frozen=True, eq=False)
class Reached:
    """The end of some Newton steps: the point, and the optimum unless no step was
    possible.
    """

    x: FloatArray
    optimum: Optimum | None = None

    @property
    def loglik(self) -> float:
        """Log-likelihood at the end; minus infinity outside the domain."""
        return -math.inf if self.optimum is None else self.optimum.at.loglik

    @property
    def at_maximum(self) -> bool:
        """Whether the steps ended in a maximum."""
        return (
            self.optimum is not None
            and self.optimum.converged
            and self.optimum.damping == 0.0
        )


class Start(NamedTuple):
    """A starting point, the likelihood there (None outside the domain), and a path to
    higher likelihoods.

    On a path through `higher` without a maximum, the log-likelihood is at least
    `higher_by` above the maximum reached from the point.
    """

    x: FloatArray
    at: Evaluation | None
    higher_by: float = 0.0
    higher: Optimum | None = None


def follow(
    problem: Problem, x: FloatArray, max_iter: int, steps: int = _STEPS
) -> Reached:
    """A few Newton steps from a point, close to the maximum that they lead to."""
    at = problem.evaluate(x) if np.isfinite(x).all() else None
    if at is None:
        return Reached(x)
    weight = float(problem.counts.sum())
    try:
        optimum = maximise(
            problem.evaluate,
            x,
            tol=_NEAR,
            max_iter=min(steps, max_iter),
            total_weight=weight,
            at=at,
        )
    except DataError:  # it leads to where the information overflows
        return Reached(x)
    return Reached(optimum.x, optimum)


def thinned(problem: Problem) -> Problem:
    """The problem for enough rows to show the maxima; the problem itself if it has no
    more rows, or would lose a level.
    """
    sample = problem.sample
    stride = sample.n // max(_ROWS, _ROWS_EACH * problem.n_parameters)
    if stride < 2:
        return problem
    order = np.argsort(sample.y, kind="stable")  # every level keeps its share
    return problem.of_rows(np.sort(order[::stride])) or problem


def starting_values(problem: Problem, max_iter: int) -> Start:
    """A start for Newton's method; each search for it takes at most
    `max_iter` steps.
    """
    family = problem.family
    scaled = problem.sample.rows.scale is not None
    if problem.part_in_memory is not None:
        return _from_small_sample(problem, problem.part_in_memory, max_iter)
    if not problem.linear:
        return _first_inside(problem)
    # lambda and the thresholds are nearly collinear, and steps far off are wild
    if problem.flexible is not None:
        x = starting_values(problem.at_link(family.link), max_iter).x
        return _first_inside(problem, search_lambda(problem, x, max_iter))
    if scaled or not family.concave:
        logit = problem.at_link(LINKS["logit"])
        if not scaled:
            # R's clm starts from the probit, whose adjacent categories are not concave
            probit = problem.at_link(LINKS["probit"])
            points = [
                follow(thinned(other), starting_values(other, max_iter).x, max_iter).x
                for other in (logit, probit)
                if other.family.concave
            ]
            points.append(problem.start())
        else:
            points = [equal_scales(problem, max_iter)]
            if family.concave:
                points += [problem.start()]
            else:
                points += [equal_scales(logit, max_iter), logit.start()]
        return _best(problem, points, max_iter)
    if problem.many_rows and problem.structure is None:
        return _from_small_sample(
            problem, problem.of_rows(np.arange(0, problem.sample.n, _STRIDE)), max_iter
        )
    return _first_inside(problem)


def _first_inside(problem: Problem, *points: FloatArray) -> Start:
    """The first of the points inside the domain, or no effects."""
    for x in points:
        at = problem.evaluate(x) if np.isfinite(x).all() else None
        if at is not None:
            return Start(x, at)
    x = problem.start()
    return Start(x, problem.evaluate(x))


def _from_small_sample(problem: Problem, small: Problem | None, max_iter: int) -> Start:
    """Start from a rough fit of a small sample, which saves passes over all rows.

    It is used only if every level occurs in it, every effect shows in it (the indicator
    of a rare event may not), Newton's method needed no damping, and the start is none
    from which it diverges.
    """
    if small is None:
        return _first_inside(problem)
    weight = float(small.counts.sum())
    start = starting_values(small, max_iter)
    rough = maximise(
        small.evaluate,
        start.x,
        tol=_ROUGH,
        max_iter=10,
        total_weight=weight,
        at=start.at,
    )
    little = np.diag(rough.factor.schur) ** 2 <= _LEAST_INFORMATION * weight
    if rough.ended is not Ended.CONVERGED or rough.damping > 0.0 or little.any():
        return _first_inside(problem)
    ratio = float(problem.counts.sum() / weight)
    stepped = _stepped(problem, rough, ratio)
    if stepped.at is None or _overshoots(stepped.at):
        return _first_inside(problem)
    return stepped._replace(higher_by=ratio * start.higher_by, higher=start.higher)


def _overshoots(at: Evaluation) -> bool:
    """Whether Newton's method promises a larger rise than there is up to 0.

    So it is where rows of a rare level count as certain, as few of them were in the
    small sample: their likelihood has a slope there, and no curvature.
    """
    factor = at.information.factor()
    return factor is None or 0.5 * float(factor.solve(at.score) @ at.score) > -at.loglik


def _stepped(problem: Problem, rough: Optimum, ratio: float) -> Start:
    """The last step of a fit to some of the rows, then one on the score of all and
    `ratio` times its information.

    The second step is as good as a Newton step: the information of the part is close to
    that of all rows.
    """
    x = rough.x + rough.step
    at = problem.evaluate(x, rough.information)
    if at is None:
        return _first_inside(problem, x, rough.x)
    step = rough.factor.solve(at.score / ratio)
    short = float(step @ at.score) <= _LONGEST**2 * float(problem.counts.sum())
    return _first_inside(problem, *([x + step] if short else []), x)


def _best(problem: Problem, points: list[FloatArray], max_iter: int) -> Start:
    """The highest maximum that Newton's method reaches from some points, first in a
    thinned sample.

    With scale effects estimates may diverge elsewhere: a maximum is preferred, and the
    start keeps how much higher the likelihood was. Where another maximum is likely, the
    search begins at further points too, which have scales apart.
    """
    part = thinned(problem)
    reached = [follow(part, x, max_iter) for x in points]
    further: list[Reached] = []
    if problem.sample.rows.scale is not None and _another_likely(part, reached):
        apart = _scales_apart(problem, points[0], max_iter)
        further = [follow(part, x, max_iter) for x in apart]
    same = np.ptp([each.loglik for each in reached + further]) < _SAME
    if part is not problem and not same:
        part = problem
        reached = [follow(problem, each.x, max_iter) for each in reached]
        further = [follow(problem, each.x, max_iter) for each in further]
    best = _preferred(reached, further)
    higher = max(reached + further, key=attrgetter("loglik"))
    if best.at_maximum and higher.loglik > best.loglik + _CLEARLY:
        higher = follow(part, higher.x, max_iter, max_iter)  # it may end further on
        best = higher if higher.at_maximum else best
    ratio = float(problem.counts.sum() / part.counts.sum())
    if part is not problem and best.at_maximum and best.optimum is not None:
        start = _stepped(problem, best.optimum, ratio)
    else:
        start = _first_inside(problem, best.x, *points)
    if best.at_maximum and higher.loglik > best.loglik + _CLEARLY:
        higher_by = ratio * (higher.loglik - best.loglik)
        return start._replace(higher_by=higher_by, higher=higher.optimum)
    return start


def _preferred(reached: list[Reached], further: list[Reached]) -> Reached:
    """The highest of several ends, maxima before others.

    Ends from further points have to be clearly higher, as there may be small maxima
    below a path without a maximum.
    """
    # Of maxima that are equal but for rounding, the first, so that the way does not
    # depend on the processor.
    best = max(reached, key=lambda each: (each.at_maximum, round(each.loglik, 8)))
    for each in further:
        least = best.loglik + (_SAME if each.at_maximum else _CLEARLY)
        if each.loglik > least and (each.at_maximum or not best.at_maximum):
            best = each
    return best


def _another_likely(part: Problem, reached: list[Reached]) -> bool:
    """Whether a model with scale effects may well have another maximum than those
    reached: the link is not concave, the searches end apart or not at all, or log
    scales may differ much between rows.
    """
    logliks = [each.loglik for each in reached]
    if not part.family.concave or not all(each.at_maximum for each in reached):
        return True
    if np.ptp(logliks) >= _SAME:
        return True
    optimum = reached[0].optimum
    assert optimum is not None
    Z, weights = _scale_columns(part)
    width = Z.shape[1]
    variances = optimum.unit * optimum.factor.schur_inverse[-width:, -width:]
    root = np.linalg.qr(Z * np.sqrt(weights / weights.sum())[:, None])[1]
    largest = np.linalg.eigvalsh(root @ variances @ root.T)[-1]
    error = math.sqrt(max(float(largest), 0.0))
    deviation = float(np.linalg.norm(root @ optimum.x[-width:]))
    return deviation + 2.0 * error > _SPREAD_APART


def _scale_columns(part: Problem) -> tuple[FloatArray, FloatArray]:
    """(N, Z) scale columns in the units of the search, and the weights of the rows."""
    columns = part.rows.scale
    rows = part.sample.rows
    assert rows.scale is not None
    Z = (rows.scale - columns.mean) / columns.deviation
    return np.asarray(Z), part.sample.case_weights


def equal_scales(problem: Problem, max_iter: int) -> FloatArray:
    """The maximum without scale effects, scale effects 0."""
    equal = problem.without_scale()
    x = follow(equal, starting_values(equal, max_iter).x, max_iter).x
    return np.append(x, np.zeros(problem.n_parameters - x.size))


def _scales_apart(
    problem: Problem, equal: FloatArray, max_iter: int
) -> list[FloatArray]:
    """Maxima by all other parameters with log-scale effects held.

    From the maximum with equal scales the effects go along their score, and along the
    axis of least curvature, so far that the log scales of the rows have a standard
    deviation of _ALONG_SCORE and _ALONG_AXIS. Both are measured by the rows, with
    G = Z'VZ: the score as G^-1 Z'u, the axis by the eigenvector of the information
    against G. Another coding of factors gives the same rows.
    """
    part = thinned(problem)
    at = part.evaluate(equal) if np.isfinite(equal).all() else None
    if at is None:
        return []
    Z, weights = _scale_columns(part)
    others = equal.size - Z.shape[1]
    sizes, axes = np.linalg.eigh((Z.T * weights) @ Z / weights.sum())
    kept = sizes > _RANK * sizes[-1]
    metric = axes[:, kept] / np.sqrt(sizes[kept])  # log scales of standard deviation 1
    information = at.information.dense()
    cross = information[:others, others:]
    explained = np.linalg.lstsq(information[:others, :others], cross, rcond=None)[0]
    curvature = information[others:, others:] - cross.T @ explained
    softest = metric @ np.linalg.eigh(metric.T @ curvature @ metric)[1][:, 0]
    score = metric.T @ at.score[others:]
    length = float(np.linalg.norm(score))
    starts = [size * softest for size in _ALONG_AXIS]
    if length > 0.0:
        steepest = metric @ (score / length)
        starts = [*(size * steepest for size in _ALONG_SCORE), *starts]
    return [_with_scales(part, equal[:others], each, Z, max_iter) for each in starts]


def _with_scales(
    part: Problem, x: FloatArray, effects: FloatArray, Z: FloatArray, max_iter: int
) -> FloatArray:
    """The maximum by the other parameters, from x, with log-scale effects held."""
    rows = part.sample.rows
    offset = Z @ effects
    if rows.scale_offset is not None:
        offset = offset + rows.scale_offset
    held = part.without_scale()
    offset_rows = replace(held.sample.rows, scale_offset=offset)
    held = replace(held, sample=replace(held.sample, rows=offset_rows))
    return np.append(follow(held, x, max_iter).x, effects)


def search_lambda(problem: Problem, x: FloatArray, max_iter: int) -> FloatArray:
    """The maximum over all parameters, lambda last, from the best lambda of one bounded
    search.

    Raises
    ------
    DataError
        Newton's method finds no maximum.
    """
    # use all rows only if a part of them has no maximum
    for part in (thinned(problem), problem):
        best = _best_lambda(part, x, max_iter)
        reached = follow(part, best, max_iter)
        if reached.at_maximum and not _level_in_lambda(reached):
            return reached.x
    assert problem.flexible is not None
    name = problem.flexible.name
    lam = float(best[-1])
    if name == "aranda-ordaz" and lam < 1.0:
        raise DataError(
            "lambda has no estimate: the likelihood increases as lambda falls to 0."
            " Use link='cloglog'."
        )
    raise DataError(
        f"lambda has no estimate: the likelihood has no maximum from lambda = {lam:.3g}"
        f" on. Fix it, as in link=({name!r}, {lam:.3g}), or choose another link."
    )


def _level_in_lambda(reached: Reached) -> bool:
    """Whether a maximum is one by rounding alone: moving lambda, the last parameter, by
    its own size or by 1, with the others at their best, changes the log-likelihood by
    next to nothing.
    """
    optimum = reached.optimum
    assert optimum is not None
    step = max(1.0, abs(float(reached.x[-1])))
    variance = optimum.unit * optimum.factor.schur_inverse[-1, -1]
    return bool(0.5 * step**2 / variance < _LEVEL_IN_LAMBDA)


def _best_lambda(problem: Problem, x: FloatArray, max_iter: int) -> FloatArray:
    """The best point with lambda inside its bounds, from every local maximum of the
    profile on a grid.
    """
    from scipy.optimize import minimize_scalar

    flexible = problem.flexible
    assert flexible is not None
    link = flexible.at(flexible.start)
    last = best = follow(problem.at_link(link), x, max_iter, _LAMBDA_STEPS)
    best_lam = flexible.start

    def fall(coordinate: float) -> float:
        nonlocal last, link, best, best_lam
        lam = math.exp(coordinate) if flexible.relative else coordinate
        fixed = problem.at_link(flexible.at(lam))
        points = at_other_link(fixed, last.x, link, fixed.family.link), last.x
        maximum = max(
            (follow(fixed, point, max_iter, _LAMBDA_STEPS) for point in points),
            key=attrgetter("loglik"),
        )
        if math.isfinite(maximum.loglik):
            last = maximum
            link = fixed.family.link
            if maximum.loglik > best.loglik:
                best = maximum
                best_lam = lam
        return -maximum.loglik

    low, high = (
        math.log(bound) if flexible.relative else bound for bound in flexible.bounds
    )
    grid = np.linspace(low, high, _COARSE)
    falls = np.array([fall(coordinate) for coordinate in grid])
    beside = np.pad(falls, 1, constant_values=np.inf)
    for lowest in map(
        int, np.flatnonzero((falls < beside[:-2]) & (falls < beside[2:]))
    ):
        bounds = grid[max(lowest - 1, 0)], grid[min(lowest + 1, _COARSE - 1)]
        with np.errstate(invalid="ignore"):  # SciPy subtracts infinite values
            minimize_scalar(
                fall, bounds=bounds, method="bounded", options={"xatol": _ACCURACY}
            )
    return np.append(best.x, best_lam)


def at_other_lambdas(problem: Problem, x: FloatArray) -> list[FloatArray]:
    """Coordinates with lambda at each value of a coarse grid; empty if lambda is not
    estimated.
    """
    flexible = problem.flexible
    if flexible is None:
        return []
    old = flexible.at(float(x[-1]))
    low, high = (
        math.log(bound) if flexible.relative else bound for bound in flexible.bounds
    )
    points = []
    for coordinate in np.linspace(low, high, _BRANCHES):
        lam = math.exp(coordinate) if flexible.relative else float(coordinate)
        fixed = problem.at_link(flexible.at(lam))
        points.append(
            np.append(at_other_link(fixed, x[:-1], old, fixed.family.link), lam)
        )
    return points


def other_branches(problem: Problem, x: FloatArray) -> list[FloatArray]:
    """Points from which a profile that is not concave may have a higher branch: other
    values of lambda, no effects at all, and equal scales.
    """
    if problem.flexible is not None:
        return at_other_lambdas(problem, x)
    scaled = problem.sample.rows.scale is not None
    if problem.family.concave and not scaled:
        return []
    points = [problem.start()]
    if scaled:
        equal = x.copy()
        equal[problem.solver_layout.of_scale] = 0.0
        points.append(equal)
    return points


def at_other_link(problem: Problem, x: FloatArray, old: Link, new: Link) -> FloatArray:
    """Coordinates without lambda, shifted and scaled as the median and the quartiles of
    the link change.
    """
    low, median, high = old.ppf(np.array([0.25, 0.5, 0.75]))
    new_low, new_median, new_high = new.ppf(np.array([0.25, 0.5, 0.75]))
    ratio = (new_high - new_low) / (high - low)
    moved, (t, m) = ratio * x, problem.user.shape
    moved[: t * m : m] += problem.user.c * (new_median - ratio * median)
    n_scale = problem.rows.scale.mean.size
    moved[x.size - n_scale :] = x[x.size - n_scale :]
    return np.asarray(moved)
