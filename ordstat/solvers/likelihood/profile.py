"""The profile likelihood of any parameter: ends of intervals by one joint Newton iteration, curves point by point.

A parameter of the user's scale is a linear functional psi = a'x of the solver's coordinates x. With score g and
information J at x, u = J^-1 g and v = J^-1 a, the point where the quadratic model of the log-likelihood l has fallen to
`target` and is largest for its psi is x + u - lam v, lam^2 = 2 (l - target + g'u / 2) / a'v: Newton's method for
{g = lam a, l = target} at once [Venzon and Moolgavkar 1988]. From the optimum its first step is the Wald limit, and
about two passes over the rows give the end to 1e-8 standard errors. Where it fails (no end, far from quadratic) the
maximum at given psi is traced outwards by x + u - v (a'u - (psi - a'x)) / a'v and the end found between two points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..._typing import BoolArray, FloatArray, IntArray
from ...exceptions import DataError
from .blocks import Factor
from .newton import Evaluation, Objective, positive_factor
from .user_scale import UserScale, joined, parted

#: Squared length of a joint step, in standard errors, after which the next one would be rounding.
_SHORT = 1e-9
_JOINT_STEPS, _MAX_STEPS, _MAX_DOUBLINGS, _HALVINGS, _FAILURES = 15, 100, 60, 40, 4
#: Indefinite information is handled by its eigenvalues up to this many parameters.
_DENSE = 400
#: Where rounding forbids a smaller Newton decrement, a maximum at given psi is found below this one.
_ROUGHLY = 1e-8
#: Accuracy of the root of the deviance, and of an end as a share of its bracket.
_ROOT = 1e-10
#: The log-likelihood is flat where this many doublings of the distance lower it by less than _FLAT, _FAR times as far
#: from the estimate as that is from 0.
_FLAT, _FLAT_DOUBLINGS, _FAR = 1e-6, 4, 100.0
#: Share of a fall that slopes and steps explain at least, where it is one of the likelihood.
_LEVEL = 1e-2
#: A fall of the log-likelihood that matters to no interval.
_HARDLY = 1e-3
#: A limit is sought further out so often, where another maximum is higher there by more than this.
_BRANCHES, _HIGHER = 5, 1e-6

SEPARATED = "the estimate itself is infinite (separation)"
UNDETERMINED = "the estimate is left open by separation"
FLAT = "the likelihood levels off before it has fallen far enough"
EDGE = "the profile could not be followed to where the likelihood has fallen far enough"
RANGE = "the likelihood has not fallen far enough at the end of the parameter's range"


class Care(NamedTuple):
    """How a maximum at given psi is sought: to a Newton decrement below `near`, in so many steps and halvings.

    A step towards psi is halved where it lowers the log-likelihood by more than `fall`, the next by more than twice
    that, and so on: it may leave the branch.
    """

    near: float
    steps: int
    halvings: int
    fall: float = math.inf


#: To rounding; from as far as a start of the search is; and for a table of many.
EXACT, SHORT, ROUGH = Care(1e-12, _MAX_STEPS, _HALVINGS, fall=0.5), Care(1e-12, 30, _HALVINGS), Care(1e-6, 15, 10)


@dataclass(frozen=True, eq=False)
class Point:
    """Coordinates with the likelihood there, and its information factored where it is positive definite."""

    x: FloatArray
    at: Evaluation
    definite: Factor | None

    @cached_property
    def factor(self) -> Factor:
        """Of the information, its diagonal raised until it is positive definite."""
        return positive_factor(self.at.information)[1] if self.definite is None else self.definite

    @property
    def score(self) -> FloatArray:
        return joined(self.at.score_alpha, self.at.score_rest)

    def solve(self, vector: FloatArray) -> FloatArray:
        """J^-1 vector."""
        return joined(*self.factor.solve(*parted(vector, self.at.score_alpha.shape)))

    def step_along(self, a: FloatArray, gap: float) -> FloatArray:
        """The Newton step to the maximum among the points with psi larger by `gap`."""
        if self.definite is None and self.x.size <= _DENSE:
            return self._step_within(a, gap)
        u, v = self.solve(self.score), self.solve(a)
        return u - v * ((float(a @ u) - gap) / float(a @ v))

    def _step_within(self, a: FloatArray, gap: float) -> FloatArray:
        """The same where J is indefinite: there it need not be, and eigenvalues that are negative turn round."""
        J = self.at.information.dense()
        plane = np.linalg.qr(np.column_stack([a, np.eye(a.size)]))[0][:, 1:]
        start = a * (gap / float(a @ a))
        values, vectors = np.linalg.eigh(plane.T @ J @ plane)
        size = np.abs(values)
        size = np.maximum(size, 1e-8 * size.max(initial=1.0))
        ascent = vectors.T @ (plane.T @ (self.score - J @ start))
        return np.asarray(start + plane @ (vectors @ (ascent / size)))


@dataclass(frozen=True, eq=False)
class ProfileLikelihood:
    """Profiles of a fit.

    Attributes
    ----------
    objective : callable
        Log-likelihood, score and information in the solver's coordinates.
    user : UserScale
        Parameters of the user as linear functionals of the coordinates.
    point : (alpha, rest)
        The maximum.
    separation : (P',) or None
        Direction of infinite estimates, of the user's parameters.
    undetermined : (P',) bool or None
        Parameters that separation leaves open: the maximised likelihood is the same at all of their values.
    others : callable
        Points from which other maxima may be reached with a parameter held; none where the likelihood is concave.
    """

    objective: Objective
    user: UserScale
    point: tuple[FloatArray, FloatArray]
    separation: FloatArray | None
    undetermined: BoolArray | None = None
    others: Callable[[], Sequence[tuple[FloatArray, FloatArray]]] = tuple

    @cached_property
    def top(self) -> Point:
        """The maximum.

        Raises
        ------
        DataError
            The likelihood cannot be computed there.
        """
        found = self._at(joined(*self.point))
        if found is None:
            raise DataError("The likelihood must be finite at the estimates for a profile; it is not.")
        return found

    def end(self, place: int, direction: int, drop: float) -> tuple[float, str]:
        """Where the deviance has risen by `drop`.

        Parameters
        ----------
        place : int
            Among the estimated parameters.
        direction : {-1, 1}
            Below or above the estimate.
        drop : float > 0
            A quantile of chi-squared on one degree of freedom.

        Returns
        -------
        (value, reason)
            The value is -inf or inf where the likelihood never falls that far, and NaN where it could not be followed
            (scale models with several maxima); the reason is empty otherwise.
        """
        if self.undetermined is not None and self.undetermined[place]:
            return direction * math.inf, UNDETERMINED
        moving = 0.0 if self.separation is None else float(self.separation[place])
        if moving * direction > 0.0:
            return direction * math.inf, SEPARATED
        a = self._functional(place)
        quick = self.quick_end(place, direction, drop)
        value, reason = self._traced(a, direction, drop, self._start) if quick is None else (quick, "")
        for _ in range(_BRANCHES if math.isfinite(value) else 0):
            higher = self._elsewhere(a, value, self.top.at.loglik - 0.5 * drop + _HIGHER)
            if higher is None:
                break
            value, reason = self._traced(a, direction, drop, higher)
        return math.nan if reason == EDGE else value, reason

    @cached_property
    def _others(self) -> list[Point]:
        found = (self._at(joined(*point)) for point in self.others())
        return [point for point in found if point is not None]

    def _elsewhere(self, a: FloatArray, value: float, least: float) -> Point | None:
        """The highest of the other maxima with psi = value, if it is above `least` and not above the estimates."""
        held = (self._held(a, point, value, SHORT) for point in self._others)
        found = [point for point in held if point is not None and least < point.at.loglik <= self.top.at.loglik]
        return max(found, key=lambda point: point.at.loglik, default=None)

    def quick_end(self, place: int, direction: int, drop: float) -> float | None:
        """The end by the joint iteration; None where that does not settle."""
        if self.separation is not None:
            return None
        a, target, point = self._functional(place), self.top.at.loglik - 0.5 * drop, self.top
        for _ in range(_JOINT_STEPS):
            if point.definite is None:
                return None
            u, v = point.solve(point.score), point.solve(a)
            room = 2.0 * (point.at.loglik - target) + float(point.score @ u)
            if room <= 0.0:
                return None
            lam = -direction * math.sqrt(room / float(a @ v))
            step = u - lam * v
            squared = float(step @ point.score) - lam * float(step @ a)
            if squared <= _SHORT:
                value = float(a @ (point.x + step))
                return value if (value - float(a @ self.top.x)) * direction > 0.0 else None
            following = self._shortened(point, step, target - 2.0 * drop)
            if following is None:
                return None
            point = following
        return None

    def estimate(self, place: int) -> float:
        """The parameter of the user at the maximum."""
        return float(self._functional(place) @ self.top.x)

    def curve(self, place: int, values: FloatArray, care: Care = EXACT) -> FloatArray:
        """(n,) maximised log-likelihood with the parameter held at each value; NaN where none is found."""
        a = self._functional(place)
        found = np.full(values.size, np.nan)
        centre = float(a @ self.top.x)
        for side in (np.flatnonzero(values >= centre), np.flatnonzero(values < centre)):
            outwards = side[np.argsort(np.abs(values[side] - centre))]
            self._follow(a, self.top, values, outwards, found, care)
            if outwards.size:
                last = outwards[-1]
                higher = self._elsewhere(a, float(values[last]), np.nan_to_num(found[last], nan=-np.inf) + _HIGHER)
                self._follow(a, higher, values, outwards[::-1], found, care)
        return found

    def span(self, place: int) -> tuple[float, float]:
        """The values that `curve` knows."""
        return -math.inf, math.inf

    def held(self, place: int, value: float, x: FloatArray | None = None) -> Point | None:
        """The maximum with the parameter at a value, from coordinates or the maximum; None where it is not reached."""
        point = self.top if x is None else self._at(x)
        return None if point is None else self._held(self._functional(place), point, value)

    def slope(self, x: FloatArray) -> FloatArray | None:
        """The score at coordinates; None outside the domain."""
        point = self._at(x)
        return None if point is None else point.score

    def _follow(
        self, a: FloatArray, point: Point | None, values: FloatArray, order: IntArray, found: FloatArray, care: Care
    ) -> None:
        """Fill in the maxima of one branch, from one value to the next, as long as they are the highest found."""
        for i in order:
            point = None if point is None else self._held(a, point, float(values[i]), care)
            if point is None or point.at.loglik <= found[i]:
                return
            found[i] = point.at.loglik

    def _functional(self, place: int) -> FloatArray:
        """The parameter of the user at a place as a functional of the coordinates."""
        user = self.user
        t, m, q = user.c.size, user.G.shape[0], user.scale.size
        alpha, rest = np.zeros((t, m)), np.zeros(q)
        if place < t * m:
            column, k = divmod(place, t)
            alpha[k], rest = user.G[column], user.c[k] * user.A[column]
        else:
            rest[place - t * m] = 1.0 / user.scale[place - t * m]
        return joined(alpha, rest)

    def _at(self, x: FloatArray) -> Point | None:
        at = self.objective(*parted(x, self.point[0].shape))
        if at is None or not at.information.positive:  # no place to go on from
            return None
        return Point(x, at, at.information.factor())

    @cached_property
    def _start(self) -> Point:
        """Where tracing begins: the maximum, or back from infinite estimates as far as the likelihood hardly falls."""
        if self.separation is None:
            return self.top
        t, m = self.user.c.size, self.user.G.shape[0]
        alpha, rest = self.user.scaled(self.separation[: t * m].reshape(m, t).T, self.separation[t * m :])
        direction = joined(alpha, rest)
        direction /= np.linalg.norm(direction)
        found, length = self.top, 1.0
        for _ in range(_MAX_DOUBLINGS):
            trial = self._at(self.top.x - length * direction)
            if trial is None or trial.at.loglik < self.top.at.loglik - _HARDLY:
                break
            found, length = trial, 1.25 * length
        return found

    def _shortened(self, point: Point, step: FloatArray, least: float, halvings: int = _HALVINGS) -> Point | None:
        """The longest of the steps 1, 1/2, ... inside the domain that ends with a log-likelihood of `least` or more."""
        for _ in range(halvings):
            trial = self._at(point.x + step)
            if trial is not None and trial.at.loglik >= least:
                return trial
            step = 0.5 * step
        return None

    def _held(self, a: FloatArray, point: Point, value: float, care: Care = EXACT) -> Point | None:
        """The maximum with psi = value, from a point nearby; None where it cannot be reached in so many steps."""
        allowed = 1e-13 * (abs(value) + float(np.abs(a) @ np.abs(point.x)))
        for i in range(care.steps):
            gap = value - float(a @ point.x)
            step = point.step_along(a, gap)
            reached = abs(gap) <= allowed
            if reached and float(step @ point.score) <= care.near:
                return point
            slack = 1e-12 * (1.0 + abs(point.at.loglik)) if reached else care.fall * 2.0**i
            trial = self._shortened(point, step, point.at.loglik - slack, care.halvings)
            if trial is None or (reached and trial.at.loglik <= point.at.loglik):
                break
            point = trial
        return point if reached and float(step @ point.score) <= _ROUGHLY else None

    def _traced(self, a: FloatArray, direction: int, drop: float, inner: Point) -> tuple[float, str]:
        """The end by following the profile outwards, from some point of it, until it has fallen far enough."""
        target = self.top.at.loglik - 0.5 * drop
        flat, failures, level = 0, 0, False
        centre, before = float(a @ self.top.x), inner
        wald = math.sqrt(drop * max(float(a @ inner.solve(a)), 0.0))
        known = self.separation is None and inner.definite is not None
        width = 0.5 * (wald if known else min(wald, float(np.linalg.norm(a))))
        for _ in range(_MAX_DOUBLINGS):
            value = float(a @ inner.x) + direction * width
            outer = self._held(a, inner, value)
            if outer is None:
                failures += 1
                if failures > _FAILURES:
                    return direction * math.inf, FLAT if flat else EDGE
                width *= 0.25
                continue
            # What falls after that are digits, however short the steps; where estimates are infinite it begins level.
            level = (level and self.separation is None) or self._level(a, before, inner, target)
            if outer.at.loglik <= target and level:
                return direction * math.inf, FLAT
            if outer.at.loglik <= target:
                found = self._between(a, inner, outer, target)
                return (direction * math.inf, EDGE) if found is None else (found, "")
            flat = flat + 1 if inner.at.loglik - outer.at.loglik < _FLAT else 0
            if flat >= _FLAT_DOUBLINGS and abs(value - centre) > _FAR * (abs(centre) + float(np.linalg.norm(a))):
                return direction * math.inf, FLAT
            before, inner, width = inner, outer, 2.0 * width
        return direction * math.inf, FLAT

    def _level(self, a: FloatArray, before: Point, point: Point, target: float) -> bool:
        """Whether the profile has levelled off at a point: what falls beyond it are the digits, not the likelihood.

        Neither the last step to it nor its slope, over all the way from the estimate, explain any part of the fall.
        """
        gap, fallen = point.at.loglik - target, before.at.loglik - point.at.loglik
        slope = abs(float(a @ point.score)) / float(a @ a) * abs(float(a @ (point.x - self.top.x)))
        return before is not point and max(slope, fallen) < _LEVEL * gap

    def _between(self, a: FloatArray, inner: Point, outer: Point, target: float) -> float | None:
        """The root between two points of the profile, by the secant rule on the root of the deviance [Illinois].

        Every maximum is sought from the inner end, so that the branch of the estimate is kept where a scale model has
        several; None where the branch cannot be followed to the root.
        """
        goal = math.sqrt(self.top.at.loglik - target)

        def excess(point: Point) -> float:
            return math.sqrt(max(self.top.at.loglik - point.at.loglik, 0.0)) - goal

        low, high = float(a @ inner.x), float(a @ outer.x)
        start, size = excess(inner), excess(outer)
        width, side = abs(high - low), 0
        for _ in range(_MAX_STEPS):
            middle = high - size * (high - low) / (size - start)
            held = self._held(a, inner, middle)
            if held is None:
                return None
            found = excess(held)
            if abs(found) <= _ROOT or abs(high - low) <= _ROOT * width:
                return middle
            if found > 0.0:
                high, size, start = middle, found, 0.5 * start if side > 0 else start
                side = 1
            else:
                inner, low, start, size = held, middle, found, 0.5 * size if side < 0 else size
                side = -1
        return middle
