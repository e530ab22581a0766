"""Profile likelihoods."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from .._typing import BoolArray, FloatArray
from ..exceptions import DataError
from .blocks import Factor
from .newton import Evaluation, Objective, positive_factor
from .user_scale import UserScale, joined, parted

#: Newton steps to one maximum, halvings of each, and steps outwards from the estimate.
_STEPS, _HALVINGS, _OUTWARDS = 30, 20, 40
#: Newton decrement at a maximum, and where rounding forbids a smaller one.
_EXACT, _ROUGHLY = 1e-12, 1e-8
#: Indefinite information is handled by its eigenvalues up to this many parameters.
_DENSE = 400
#: Steps from the estimate beyond which a profile is flat.
_FAR = 1e3
#: A part of the way that is not worth another attempt to follow the profile there.
_NEAR = 0.02
#: A fall of the log-likelihood that matters to no interval.
_HARDLY = 1e-3

SEPARATED = "the estimate itself is infinite (separation)"
UNDETERMINED = "the estimate is left open by separation"
NOT_REACHED = "the profile likelihood levels off before it has fallen far enough, or cannot be followed that far"


def crossing(deviance: Callable[[float], float], centre: float, step: float, drop: float) -> float:
    """Where the root of the deviance, which is nearly a line, reaches the root of `drop` outwards from the estimate.

    NaN where the profile does not get there.

    Parameters
    ----------
    deviance : callable
        From a value at which the parameter is held to the deviance of the maximum there; NaN where none is found.
    centre : float
        The estimate.
    step : float
        About one standard error, with the sign of the direction.
    drop : float > 0
    """
    from scipy.optimize import brentq

    goal = math.sqrt(drop)

    @cache
    def excess(length: float) -> float:
        return (math.sqrt(max(deviance(centre + length * step), 0.0)) if length else 0.0) - goal

    near, far, wall = 0.0, goal, math.inf
    for _ in range(_OUTWARDS):
        rise = excess(far)
        if rise >= 0.0:
            try:
                return centre + step * float(brentq(excess, near, far, xtol=1e-8, rtol=1e-9))
            except ValueError:  # no maximum on the way
                return math.nan
        if math.isnan(rise):
            wall = far
        else:
            near, far = far, far * min(max(1.05 * goal / (rise + goal), 1.2), 3.0) if rise > -goal else 3.0 * far
        if far >= wall:
            far = 0.5 * (near + wall)
            if wall - near < _NEAR * wall:
                break
        if far > _FAR:
            break
    return math.nan


@dataclass(frozen=True, eq=False)
class Point:
    """Coordinates with the likelihood there, and its information factored where it is positive definite."""

    x: FloatArray
    at: Evaluation
    definite: Factor | None

    @cached_property
    def factor(self) -> Factor:
        """Factor of the information, its diagonal raised until it is positive definite."""
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
        """The same where J is indefinite: within the plane of constant psi, negative eigenvalues change their sign."""
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
    """

    objective: Objective
    user: UserScale
    point: tuple[FloatArray, FloatArray]
    separation: FloatArray | None
    undetermined: BoolArray | None = None

    @cached_property
    def top(self) -> Point:
        """The maximum.

        Raises
        ------
        DataError
            The likelihood cannot be computed there.
        """
        top = self._at(joined(*self.point))
        if top is None:
            raise DataError("The likelihood must be finite at the estimates for a profile; it is not.")
        return top

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
            The value is infinite where the estimate itself is, or is left open, and NaN where the profile does not get
            there; the reason is empty otherwise.
        """
        if self.undetermined is not None and self.undetermined[place]:
            return direction * math.inf, UNDETERMINED
        if self.separation is not None and self.separation[place] * direction > 0.0:
            return direction * math.inf, SEPARATED
        a, last = self._functional(place), self._start
        step = math.sqrt(max(float(a @ last.solve(a)), 0.0))
        if self.separation is not None:
            step = min(step, float(np.linalg.norm(a)))

        def deviance(value: float) -> float:
            nonlocal last
            held = self._maximum(a, last, value)
            if held is None:
                return math.nan
            last = held
            return 2.0 * (self.top.at.loglik - held.at.loglik)

        limit = crossing(deviance, float(a @ last.x), direction * step, drop)
        return limit, NOT_REACHED if math.isnan(limit) else ""

    def curve(self, place: int, values: FloatArray) -> FloatArray:
        """(n,) maximised log-likelihood with the parameter held at each value; NaN where none is found."""
        points = self.held(place, values)
        return np.array([math.nan if point is None else point.at.loglik for point in points])

    def held(self, place: int, values: FloatArray) -> list[Point | None]:
        """The maxima with the parameter held at each value, each sought from the one before it; None where lost."""
        a, maxima = self._functional(place), list[Point | None]([None] * values.size)
        centre = float(a @ self._start.x)
        for side in (np.flatnonzero(values >= centre), np.flatnonzero(values < centre)):
            last: Point | None = self._start
            for i in side[np.argsort(np.abs(values[side] - centre))]:
                last = None if last is None else self._maximum(a, last, float(values[i]))
                maxima[i] = last
        return maxima

    def user_values(self, point: Point) -> FloatArray:
        """(P',) parameters of the user at a point."""
        return np.array([self._functional(place) @ point.x for place in range(point.x.size)])

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
        """The maximum, or back from infinite estimates as far as the likelihood hardly falls."""
        if self.separation is None:
            return self.top
        t, m = self.user.c.size, self.user.G.shape[0]
        direction = joined(*self.user.scaled(self.separation[: t * m].reshape(m, t).T, self.separation[t * m :]))
        direction /= np.linalg.norm(direction)
        start, length = self.top, 1.0
        for _ in range(_STEPS):
            trial = self._at(self.top.x - length * direction)
            if trial is None or trial.at.loglik < self.top.at.loglik - _HARDLY:
                break
            start, length = trial, 1.25 * length
        return start

    def _maximum(self, a: FloatArray, point: Point, value: float) -> Point | None:
        """The maximum with psi = value, by Newton's method from a point nearby; None where it is not reached."""
        allowed = 1e-13 * (abs(value) + float(np.abs(a) @ np.abs(self.top.x)))
        for _ in range(_STEPS):
            gap = value - float(a @ point.x)
            step = point.step_along(a, gap)
            reached, decrement = abs(gap) <= allowed, float(step @ point.score)
            if reached and decrement <= _EXACT:
                return point
            least = point.at.loglik - 1e-12 * (1.0 + abs(point.at.loglik)) if reached else -math.inf
            trial = self._shortened(point, step, least)
            if trial is None or (reached and trial.at.loglik <= point.at.loglik):
                return point if reached and decrement <= _ROUGHLY else None
            point = trial
        return None

    def _shortened(self, point: Point, step: FloatArray, least: float) -> Point | None:
        """The longest of the steps 1, 1/2, ... inside the domain that ends with a log-likelihood of `least` or more."""
        for _ in range(_HALVINGS):
            trial = self._at(point.x + step)
            if trial is not None and trial.at.loglik >= least:
                return trial
            step = 0.5 * step
        return None
