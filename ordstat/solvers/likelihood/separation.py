"""Are there directions along which the likelihood never falls? A linear programme, run only on suspicion.

No finite maximum is left iff the slacks of all rows never fall along a direction, and some rise [Albert and Anderson
1984; for thresholds Haberman 1980]. The programme maximises the total slack over the box |t|, |b| <= 1; a positive
maximum is a proof. Further ones tell the estimates that are infinite from those that are left open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..._typing import BoolArray, FloatArray
from .column_rank import Columns
from .far.recession import ROUNDING, RecessionCone, reach, slack_matrix, slack_rows
from .newton import Optimum
from .problem import Problem
from .user_scale import in_order, joined, parted

#: Slack of one row, of columns with unit deviation, that counts as strict inequality.
_STRICT = 1e-5
#: Log-scale effects, per deviation, below this share of the largest do not move.
_STILL = 1e-6
#: Means of this many deviations are far from 0.
_FAR = 1e3
#: A sum is rounding, up to this share of its terms.
_CANCELLED = 1e-10
#: Decimals of the largest coefficient by which combinations differ; how many different ones are looked at.
_PLACES, _MOST = 11, 200


def _separating(cone: RecessionCone) -> FloatArray | None:
    """(B,) the direction of the estimates if all slacks rise, or that of the largest total; None if none rises."""
    if (inside := cone.inside(_STRICT)) is not None:
        return inside
    found = cone.farthest(cone.total)
    if found is None:
        return None
    direction = np.where(np.abs(found) < ROUNDING, 0.0, found)
    slacks = cone.slack @ direction
    return None if slacks.max() <= _STRICT or slacks.min() < -ROUNDING else np.asarray(direction)


#: Coefficients or standard errors this large, for a column of unit deviation, are worth a linear programme.
_LARGE_EFFECT, _LARGE_ERROR = 10.0, 5.0


def _suspicious(optimum: Optimum) -> bool:
    """Slow or failed convergence, a huge effect or a huge standard error; on ordinary data none of them occurs."""
    errors = np.sqrt(np.diag(optimum.factor.schur_inverse()))
    return (
        optimum.slow
        or optimum.message != "converged"
        or optimum.damping > 0.0
        or bool(np.any(np.abs(optimum.rest) > _LARGE_EFFECT))
        or bool(np.any(errors > _LARGE_ERROR))
        or bool(1.0 / optimum.factor.band[0].min() > _LARGE_ERROR)  # of a threshold, those after it held
    )


#: Rows of inequalities that a direction breaks, beside those of the likelihood.
Broken = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Separation:
    """Estimates without a finite value, on the user's scale.

    Attributes
    ----------
    direction : (P',)
        One along which the likelihood never falls, largest component 1; 0 for the finite estimates.
    undetermined : (P',) bool
        Estimates that rise along some such directions and fall along others: the supremum of the likelihood is
        approached with any value of theirs. The others that move go to infinity on every way to it.
    """

    direction: FloatArray
    undetermined: BoolArray

    @property
    def infinite(self) -> BoolArray:
        """(P',) estimates without a finite value."""
        return np.asarray((self.direction != 0.0) | self.undetermined)


@dataclass(frozen=True, eq=False)
class _Rise:
    """A direction along which the likelihood never falls.

    Attributes
    ----------
    direction : (P',)
        In the solver's coordinates.
    cone : RecessionCone or None
        That it was found in; None of a direction of log-scale effects alone.
    back : (P', B)
        From the coordinates of the cone to the solver's.
    """

    direction: FloatArray
    cone: RecessionCone | None
    back: FloatArray


def infinite_direction(problem: Problem, optimum: Optimum) -> FloatArray | None:
    """(P',) a direction of infinite estimates on the user's scale, largest component 1; None where all are finite."""
    rise = _rise(problem, optimum, None)
    return None if rise is None else _on_user_scale(problem, *parted(rise.direction, optimum.alpha.shape))


def separation(problem: Problem, optimum: Optimum, broken_by: Broken | None = None) -> Separation | None:
    """Which estimates are infinite, and which are left open; None where all are finite.

    Parameters
    ----------
    problem : Problem
    optimum : Optimum
    broken_by : callable, optional
        (c, P') rows of what the estimates obey and a direction (P',) breaks, both in the solver's coordinates.
    """
    rise = _rise(problem, optimum, broken_by)
    if rise is None:
        return None
    user, shape = problem.user_scale(), optimum.alpha.shape
    if rise.cone is None:
        direction = _on_user_scale(problem, *parted(rise.direction, shape))
        return Separation(direction, np.zeros(direction.size, dtype=bool))
    functionals = np.array([in_order(*user.coefficients(*parted(one, shape))) for one in rise.back.T]).T
    rises, falls, direction = reach(rise.cone, functionals)
    moved = np.where(rises | falls, functionals @ direction, 0.0)
    return Separation(moved / np.abs(moved).max(), rises & falls)


def beside_scales(problem: Problem, optimum: Optimum, move: FloatArray) -> Separation:
    """What is infinite or left open where log-scale effects run off along `move` (r,), per deviation.

    Rows whose scale they change may have a probability of 1 in the limit for any of the estimates that would separate
    them: these are left open then, and so are the log-scale effects themselves where such estimates do without them.
    Estimates that separate other rows are infinite on every way.
    """
    part = problem.scale.part(problem.scale.kept)
    zeta = move / part.deviation
    cone, back = _cone(problem, optimum.alpha, optimum.rest, None)
    scale = problem.sample.rows.scale
    assert scale is not None
    moved = np.abs(scale @ zeta)[slack_rows(problem.sample.y, problem.family.recession(problem.sample.n_levels))]
    changed = moved > _STILL * moved.max()
    user, shape = problem.user_scale(), optimum.alpha.shape
    functionals = np.array([in_order(*user.coefficients(*parted(one, shape))) for one in back.T]).T
    rises, falls, direction = reach(cone, functionals)
    found = np.where(rises | falls, functionals @ direction, 0.0)
    further = cone.farthest(np.asarray(cone.slack[np.flatnonzero(changed)].sum(axis=0), dtype=np.float64).reshape(-1))
    direction = direction if further is None else direction + further
    alone = not (cone.slack[np.flatnonzero(~changed)] @ direction > _STRICT).any()
    undetermined = (rises | falls) if alone else (rises & falls)
    without = bool((cone.slack[np.flatnonzero(changed)] @ direction > _STRICT).all())
    effects, largest = found.size - zeta.size, max(np.abs(found).max(initial=0.0), 1.0)
    return Separation(
        np.append(found[:effects] / largest, zeta / np.abs(zeta).max()),
        np.append(undetermined[:effects], (zeta != 0.0) & without),
    )


def _rise(problem: Problem, optimum: Optimum, broken_by: Broken | None) -> _Rise | None:
    """The direction of largest slack of location effects and thresholds.

    With scale effects the likelihood can also rise for ever along zeta alone, which no linear programme sees: the last
    Newton step is tried as a direction then.
    """
    if not _suspicious(optimum):
        return None
    cone, back = _cone(problem, optimum.alpha, optimum.rest, broken_by)
    found = _separating(cone)
    if found is not None:
        return _Rise(back @ found, cone, back)
    p, r = int(problem.location.kept.sum()), int(problem.scale.kept.sum())
    step = np.zeros_like(optimum.rest)
    step[p : p + r] = optimum.step_rest[p : p + r]
    if np.any(step) and _rises_for_ever(problem, optimum, step):
        step[np.abs(step) <= _STILL * np.abs(step).max()] = 0.0
        return _Rise(joined(np.zeros_like(optimum.alpha), step), None, back)
    return None


def ends_of(problem: Problem, alpha: FloatArray, rest: FloatArray, combinations: FloatArray) -> FloatArray:
    """(h,) where combinations of the parameters go on all ways to the supremum: 0 finite, infinite, NaN left open.

    Parameters
    ----------
    problem : Problem
        Without scale effects and lambda.
    alpha, rest : arrays
        The estimates, in the solver's coordinates.
    combinations : (h, P')
        Of the parameters on the user's scale; of very many different ones those beyond `_MOST` are NaN.
    """
    cone, back = _cone(problem, alpha, rest, None)
    sizes = np.abs(combinations).max(axis=1, keepdims=True)
    shapes = np.round(combinations / np.where(sizes > 0.0, sizes, 1.0), _PLACES) + 0.0  # no -0.0
    distinct, same = np.unique(shapes, axis=0, return_inverse=True)
    distinct, left_out = distinct[:_MOST], np.full(max(len(distinct) - _MOST, 0), np.nan)
    user = problem.user_scale()
    moved = np.array([in_order(*user.coefficients(*parted(one, alpha.shape))) for one in back.T]).T
    functionals, sizes = distinct @ moved, np.abs(distinct) @ np.abs(moved)
    functionals = np.where(np.abs(functionals) <= _CANCELLED * sizes, 0.0, functionals)
    rises, falls, _ = reach(cone, functionals)
    ends = np.where(rises & falls, np.nan, np.where(rises, np.inf, np.where(falls, -np.inf, 0.0)))
    return np.append(ends, left_out)[same.reshape(-1)]


def _cone(
    problem: Problem, alpha: FloatArray, rest: FloatArray, broken_by: Broken | None
) -> tuple[RecessionCone, FloatArray]:
    """Of thresholds and location effects, in coordinates that leave zeros of columns 0, and the way back from these."""
    X, w, _ = problem.scaled()
    lines = problem.family.recession(problem.sample.n_levels)
    every = alpha.size + rest.size
    if (basis := _basis(problem, X.shape[1])) is not None:
        slack = slack_matrix(X, w, problem.sample.y, lines)
        slack, back = type(slack)(slack @ basis), np.eye(every, basis.shape[1])
    else:
        location, nominal = (_shift(c.part(c.kept)) for c in (problem.location, problem.nominal))
        slack = slack_matrix(_moved(X, location), _moved(w, np.append(0.0, nominal)), problem.sample.y, lines)
        back = np.eye(every, slack.shape[1])
        intercepts = np.arange(len(lines) - 1) * w.shape[1]
        for j, shift in enumerate(nominal, 1):
            back[intercepts, intercepts + j] = shift
        back[intercepts, alpha.size : slack.shape[1]] = -location
    guess = np.asarray(np.linalg.lstsq(back, joined(alpha, rest), rcond=None)[0], dtype=np.float64)
    broken = None if broken_by is None else lambda x: broken_by(back @ x) @ back
    return RecessionCone.of(slack, guess, broken), back


def _shift(columns: Columns) -> FloatArray:
    """Means per deviation, of columns that are not too far from 0 to be told from a constant there."""
    shift = columns.mean / columns.deviation
    return np.where(np.abs(shift) < _FAR, shift, 0.0)


def _moved(columns: FloatArray, shift: FloatArray) -> FloatArray:
    """Scaled columns not centred any more; what was 0 is 0 again."""
    moved = columns + shift
    return np.where(np.abs(moved) > 1e-12, moved, 0.0)


def _basis(problem: Problem, p: int) -> FloatArray | None:
    """What a threshold structure allows of (alpha, beta), log-scale effects and lambda left out."""
    if problem.structure is None:
        return None
    alpha, rest = problem.structured(problem.rows().evaluate).basis()
    chosen = np.arange(alpha.shape[0]) < alpha.shape[0] - rest.shape[1] + p
    return np.asarray(np.hstack([alpha.reshape(alpha.shape[0], -1), rest[:, :p]])[chosen].T)


def _on_user_scale(problem: Problem, alpha: FloatArray, rest: FloatArray) -> FloatArray:
    """The direction for the user's columns; components that are rounding are 0."""
    user = problem.user_scale()
    direction = in_order(*user.coefficients(alpha, rest))
    size = in_order(*user.rounding(alpha, rest)) * 2.0**53
    direction = np.where(np.abs(direction) <= ROUNDING * size, 0.0, direction)
    return np.asarray(direction / np.abs(direction).max())


def _rises_for_ever(problem: Problem, optimum: Optimum, step: FloatArray) -> bool:
    """Whether the log-likelihood does not fall far along a step of the log-scale effects."""
    objective, previous = problem.objective(), optimum.at.loglik
    for length in (1.0, 3.0, 9.0):
        point = objective.evaluate(optimum.alpha, optimum.rest + length * step / np.abs(step).max())
        if point is None or point.loglik < previous - 1e-9 * (1.0 + abs(previous)):
            return False
        previous = point.loglik
    return True
