"""The profile likelihood where the parameter lambda of a link is estimated too.

Thresholds, effects and lambda lie along a curved ridge, so Newton's method for all of them goes far only near the
maximum. At a fixed lambda the profile of any other parameter psi is easily followed, and

    max_lambda max_others l(psi, others, lambda) >= target  iff  psi lies in the interval of some lambda:

an upper limit is the largest upper end, at the same log-likelihood, over the lambdas whose own maximum is above it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ..._typing import FloatArray
from ...model.likelihood.flexible import FlexibleLink
from .explore import Point, Reached, maximised, stay
from .lambda_search import carried, held_at
from .problem import Problem
from .profile import RANGE, ROUGH, SEPARATED, ProfileLikelihood

#: Lambdas that an end is sought over before it is refined, and the steps of that.
_GRID, _REFINED = 9, 30
#: An end that still moves by this share of its distance from the estimate, over the last part of the range, has none.
_MOVES = 0.01
#: First step of lambda, in its coordinate, where it has no standard error; four of these are the longest.
_STEP = 0.5
#: Lambdas closer than this, in their coordinate, that have no finite likelihood from each other's estimates have none.
_NEAR_ENOUGH = 1e-3
#: Deviance of the lambdas that a curve is first sought over, and accuracy of the best of them there, as a share of a
#: step of the grid: its log-likelihood is flat there.
_DROP, _CLOSE = 16.0, 3e-3
#: A log-likelihood is below another by more than this.
_LOWER = 1e-9
#: Accuracy of lambda, as a share of its range.
_EXACT = 1e-9


@dataclass(frozen=True, eq=False)
class FlexibleProfile:
    """Profiles of a fit with a lambda.

    Attributes
    ----------
    problem : Problem
    point : Point
        Estimates, lambda last.
    joint : ProfileLikelihood
        Profile of all parameters together; where lambda is held at an end of its range not from a maximum.
    lambda_end : int
    error : float
        Standard error of lambda, NaN where it has none.
    """

    problem: Problem
    point: Point
    joint: ProfileLikelihood
    lambda_end: int
    error: float
    _fits: dict[float, ProfileLikelihood] = field(default_factory=dict)

    @property
    def lam(self) -> float:
        return float(self.point[1][-1])

    @property
    def family(self) -> FlexibleLink:
        """The family of the links."""
        assert self.problem.flexible is not None
        return self.problem.flexible

    def end(self, place: int, direction: int, drop: float) -> tuple[float, str]:
        """Where the deviance has risen by `drop`; see `ProfileLikelihood.end`."""
        if place == self.problem.n_parameters - 1:
            return self._end_of_lambda(direction, drop)
        found = None if self.lambda_end else self.joint.quick_end(place, direction, drop)
        return (found, "") if found is not None else self._end_over_lambda(place, direction, drop)

    def curve(self, place: int, values: FloatArray) -> FloatArray:
        """(n,) maximised log-likelihood with the parameter held at each value; NaN where none is found."""
        if place == self.problem.n_parameters - 1:
            low, high = self.span(place)
            found = np.full(values.size, np.nan)
            inside = (low <= values) & (values <= high)
            found[inside] = [self._at(float(value)).top.at.loglik for value in values[inside]]
            return found
        grid, tables = self._tables(place, values, _DROP)
        lowest = 2.0 * (self._top - float(np.nanmax(tables, axis=0, initial=-math.inf).min()))
        if lowest > _DROP:
            grid, tables = self._tables(place, values, lowest)
        return np.array(
            [self._highest(place, value, grid, table) for value, table in zip(values, tables.T, strict=True)]
        )

    def span(self, place: int) -> tuple[float, float]:
        """The values that `curve` knows."""
        lam = place == self.problem.n_parameters - 1
        return (self.family.grid[0], self.family.grid[-1]) if lam else (-math.inf, math.inf)

    def _tables(self, place: int, values: FloatArray, drop: float) -> tuple[FloatArray, FloatArray]:
        """Lambdas (L,) whose own deviance is up to `drop`, and (L, n) log-likelihoods there, NaN where none is higher.

        At a lambda of larger deviance nothing is higher than what has fallen by `drop` alone.
        """
        grid = self._between(self._range(-1, drop)[0], self._range(1, drop)[0])
        tops = np.array([self._at(lam).top.at.loglik for lam in grid])
        found, best = np.full((grid.size, values.size), np.nan), np.full(values.size, -np.inf)
        for i in np.argsort(-tops):
            higher = best < tops[i]
            found[i, higher] = self._at(float(grid[i])).curve(place, values[higher], ROUGH)
            best = np.fmax(best, found[i])
        return grid, found

    def _highest(self, place: int, value: float, grid: FloatArray, logliks: FloatArray) -> float:
        """The log-likelihood with the parameter at a value, maximised over lambda about the best of a grid."""
        if np.isnan(logliks).all():
            return math.nan
        together = self._together(place, value, grid, logliks)
        if together is not None:
            return together

        def at(lam: float) -> float:
            found = float(self._at(lam).curve(place, np.array([value]))[0])
            return -math.inf if math.isnan(found) else found

        return self._refined(at, grid, np.nan_to_num(logliks, nan=-math.inf), 1, _CLOSE)

    def _together(self, place: int, value: float, grid: FloatArray, logliks: FloatArray) -> float | None:
        """The same by Newton's method for lambda and the others, from the best of the grid; None where it goes astray.

        At an end of the grid the likelihood may go on to rise.
        """
        best = int(np.nanargmax(logliks))
        lam, low, high = (float(grid[min(max(i, 0), grid.size - 1)]) for i in (best, best - 1, best + 1))
        held = self._at(lam).held(place, value)
        if held is None:
            return None
        point = np.append(held.x, lam)
        slope = self.joint.slope(point)
        if slope is not None and (slope[-1] >= 0.0 if best == grid.size - 1 else slope[-1] <= 0.0 and best == 0):
            return held.at.loglik
        found = self.joint.held(place, value, point)
        if found is None or not low <= found.x[-1] <= high or found.at.loglik < logliks[best] - _LOWER:
            return None
        return found.at.loglik

    def _end_of_lambda(self, direction: int, drop: float) -> tuple[float, str]:
        """An end of the interval of lambda itself."""
        if direction == self.lambda_end:
            return direction * math.inf, SEPARATED
        lam, inside = self._range(direction, drop)
        return (lam, "") if inside else ((self.family.lower, self.family.upper)[(direction + 1) // 2], RANGE)

    def _end_over_lambda(self, place: int, direction: int, drop: float) -> tuple[float, str]:
        """The outermost of the ends at all lambdas whose maximum is above the target."""
        (low, _), (high, _) = self._range(-1, drop), self._range(1, drop)
        grid = self._between(low, high)
        at = partial(self._end_at, place=place, direction=direction, drop=drop)
        ends = np.array([at(lam) for lam in grid])
        if np.isinf(ends).any():
            return direction * math.inf, RANGE
        best = int(np.argmax(direction * ends))
        if best in (0, grid.size - 1) and self._still_moves(grid, ends, best, place):
            return direction * math.inf, RANGE
        return self._refined(at, grid, ends, direction), ""

    def _end_at(self, lam: float, place: int, direction: int, drop: float) -> float:
        """The end at one lambda; the estimate there where its maximum is no more than the target."""
        fixed = self._at(lam)
        left = drop - 2.0 * (self._top - fixed.top.at.loglik)
        if left <= 0.0:
            return fixed.estimate(place)
        return fixed.end(place, direction, left)[0]

    def _still_moves(self, grid: FloatArray, ends: FloatArray, best: int, place: int) -> bool:
        """Whether the outermost end is at an end of the range of lambda, and not near a limit there."""
        if self.family.end_of(float(grid[best])) == 0:
            return False
        inner = ends[1] if best == 0 else ends[-2]
        return bool(abs(ends[best] - inner) > _MOVES * abs(ends[best] - self._at(self.lam).estimate(place)))

    def _refined(
        self, at: Callable[[float], float], grid: FloatArray, values: FloatArray, sign: int, close: float = 1e-6
    ) -> float:
        """The value of `at` for which sign * at is largest, about the best of a grid, by Brent's method."""
        from scipy.optimize import minimize_scalar

        best = int(np.argmax(sign * values))
        ends = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
        low, high = (self._coordinate(float(lam)) for lam in ends)
        found = minimize_scalar(
            lambda c: -sign * at(self._lambda(c)),
            bounds=(low, high),
            method="bounded",
            options={"xatol": close * (high - low), "maxiter": _REFINED},
        )
        return max(at(self._lambda(float(found.x))), float(values[best]), key=lambda value: sign * value)

    def _range(self, direction: int, drop: float) -> tuple[float, bool]:
        """How far lambda can go until its own deviance has risen by `drop`; False where its range ends first."""
        from scipy.optimize import brentq

        limit = self.family.grid[-1 if direction > 0 else 0]
        last = self._coordinate(limit)
        inner = self._coordinate(self.lam)
        if (last - inner) * direction <= 0.0:
            return self.lam, False
        step = self._first_step(drop)
        while True:
            outer = inner + direction * step
            if (outer - last) * direction >= 0.0:
                outer = last
            if self._deviance(outer) > drop:
                return self._lambda(brentq(lambda c: self._deviance(c) - drop, inner, outer, xtol=_EXACT)), True
            if outer == last:
                return limit, False
            inner, step = outer, 2.0 * step

    def _first_step(self, drop: float) -> float:
        """A guess of how far lambda goes, in its coordinate."""
        wald = self.error / self.lam if self.family.relative else self.error
        if not math.isfinite(wald):
            return _STEP
        return min(max(1e-3, wald * math.sqrt(min(drop, 4.0))), 4.0 * _STEP)

    def _deviance(self, coordinate: float) -> float:
        return 2.0 * (self._top - self._at(self._lambda(coordinate)).top.at.loglik)

    @property
    def _top(self) -> float:
        return self._at(self.lam).top.at.loglik

    def _coordinate(self, lam: float) -> float:
        """What lambda is even in: its logarithm where the family is."""
        return math.log(lam) if self.family.relative else lam

    def _lambda(self, coordinate: float) -> float:
        return math.exp(coordinate) if self.family.relative else coordinate

    def _between(self, low: float, high: float) -> FloatArray:
        """Lambdas from low to high, that of the estimates among them."""
        ends = self._coordinate(low), self._coordinate(high)
        own = [self._lambda(float(c)) for c in np.linspace(*ends, _GRID)]
        return np.unique([low, *own[1:-1], high, min(max(self.lam, low), high)])

    def _at(self, lam: float) -> ProfileLikelihood:
        """Profiles at one lambda, from the nearest one that is known."""
        if lam not in self._fits:
            self._fits[lam] = self._fitted(lam)
        return self._fits[lam]

    def _fitted(self, lam: float) -> ProfileLikelihood:
        fixed = held_at(self.problem, lam)
        start = self._start(fixed, lam)
        while not math.isfinite(start.loglik) and (between := self._half_way(lam)) is not None:
            self._at(between)
            start = self._start(fixed, lam)
        found = maximised(fixed, start.point, tol=1e-8, max_iter=100)
        return ProfileLikelihood(fixed.objective().evaluate, fixed.user_scale(), (found.alpha, found.rest), None)

    def _start(self, fixed: Problem, lam: float) -> Reached:
        """The better of the estimates at the nearest lambda that is known and of what makes the same probabilities."""
        points = [(self.point[0], self.point[1][:-1])]
        if self._fits:
            near = self._nearest(lam)
            points = [self._fits[near].point]
            points.append(carried(self.problem, points[0], self.family.at(near), fixed.link))
        return max((stay(fixed, point) for point in points), key=lambda one: one.loglik)

    def _nearest(self, lam: float) -> float:
        return min(self._fits, key=lambda other: abs(self._coordinate(other) - self._coordinate(lam)))

    def _half_way(self, lam: float) -> float | None:
        """A lambda between this one and the nearest that is known; None where they are all but the same."""
        if not self._fits:
            return None
        near, own = self._coordinate(self._nearest(lam)), self._coordinate(lam)
        return self._lambda(0.5 * (near + own)) if abs(near - own) > _NEAR_ENOUGH else None
