"""Profile likelihoods, maximised with one parameter held, and confidence limits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import TypeVar

import numpy as np

from .._typing import FloatArray
from ..exceptions import DataError
from ..newton import Objective, Optimum, maximise, positive_factor
from .determined import Determined
from .user_scale import UserScale

#: Newton steps to one maximum, halvings of each, and steps outwards from the estimate.
_STEPS = 30
_HALVINGS = 20
_OUTWARDS = 40
#: Largest score at a maximum, and the Newton decrement where rounding forbids a smaller
#: one.
_TOLERANCE = 1e-3
_ROUGHLY = 1e-8
#: Steps from the estimate beyond which a profile is flat.
_FAR = 1e3
#: Share of the way below which the search for the end of a profile stops.
_NEAR = 0.02
#: Squared length, in standard errors, of a step of a quadratic iteration after which
#: rounding is left.
_SMALL_STEP = 1e-10
#: A fall of the log-likelihood too small to matter for an interval, about the one at
#: its limits, and the most steps back from an infinite estimate to these.
_HARDLY = 1e-3
_FALL = 2.0
_BACK = 200

#: Most maxima looked for on the way to one limit; one that is not found takes as long
#: as several.
_MOST_MAXIMA = 60
_LOST = 5

#: Largest distance of the deviance at a limit from its goal.
EXACT = 1e-4
#: Halvings of the way between two sides of a jump, which leave a millionth of it.
_NARROWED = 20
#: Steps from 0 within which a jump is at 0.
_AT_ZERO = 1e-5
#: Least distance of the deviance beyond a jump from its goal.
_CLEARLY = 0.01

M = TypeVar("M")

SEPARATED = "the estimate is infinite (separation)"
UNDETERMINED = "the data do not determine the estimate (separation)"
NOT_REACHED = (
    "the profile likelihood levels off before it has fallen far enough, or cannot be"
    " followed that far"
)
JUMPS = (
    "the profile likelihood jumps at this value, over the level that defines the limit"
)


def _height(optimum: Optimum) -> float:
    return optimum.at.loglik


def crossing(
    deviance: Callable[[float], float], centre: float, step: float, drop: float
) -> float:
    """The value beyond the estimate at which the deviance equals `drop`, found on its
    nearly linear square root.

    NaN if the profile does not reach `drop`.

    Parameters
    ----------
    deviance : callable
        Deviance of the maximum with the parameter held at a value; NaN if no maximum is
        found.
    centre : float
        The estimate.
    step : float
        About one standard error, with the sign of the direction.
    drop : float > 0
    """
    from scipy.optimize import brentq

    goal = math.sqrt(drop)
    lost: list[float] = []  # lengths without a maximum

    @cache
    def excess(length: float) -> float:
        if length == 0.0:
            return -goal
        rise = math.sqrt(max(deviance(centre + length * step), 0.0)) - goal
        if math.isnan(rise):
            lost.append(length)
        return rise

    near = 0.0
    far = goal
    wall = math.inf
    for _ in range(_OUTWARDS):
        rise = excess(far)
        if rise >= 0.0:
            try:
                return centre + step * float(
                    brentq(excess, near, far, xtol=1e-8, rtol=1e-9)
                )
            except ValueError:  # no maximum on the way
                wall = far = min(lost)
        elif math.isnan(rise):
            wall = far
        else:
            near = far
            growth = 3.0
            if rise > -goal:
                growth = min(max(1.05 * goal / (rise + goal), 1.2), 3.0)
            far = growth * far
        if far >= wall:
            far = 0.5 * (near + wall)
            if wall - near < _NEAR * wall:
                break
        if far > _FAR:
            break
    return math.nan


def outwards(
    values: FloatArray,
    centre: float,
    start: M,
    maximum: Callable[[M, float], M | None],
) -> list[M | None]:
    """The maxima with a parameter held at each value, each started at the previous one
    on its side of the estimate; None after a failure.

    Parameters
    ----------
    values : (n,)
    centre : float
        The estimate.
    start
        The maximum at the estimate.
    maximum : callable
        Function of a nearby maximum and a value; gives the maximum at this value, or
        None.
    """
    maxima = list[M | None]([None] * values.size)
    for side in (np.flatnonzero(values >= centre), np.flatnonzero(values < centre)):
        last: M | None = start
        for i in side[np.argsort(np.abs(values[side] - centre))]:
            last = None if last is None else maximum(last, float(values[i]))
            maxima[i] = last
    return maxima


@dataclass(frozen=True, eq=False)
class ProfileLikelihood:
    """Profiles of a fit.

    Attributes
    ----------
    objective : Objective
        Log-likelihood, score and information in the solver's coordinates.
    user : UserScale
        Parameters of the user as linear functionals of the coordinates.
    x : (P',)
        The maximum.
    total_weight : float
    determined : Determined or None
        What the data determine; None if every estimate is finite.
    concave : bool
        Whether the objective is concave, so that there is one limit on each side.
    other_branches : callable
        From coordinates to other starting points from which the profile may have a
        higher branch: other values of lambda, no effects, equal scales.
    """

    objective: Objective
    user: UserScale
    x: FloatArray
    total_weight: float
    determined: Determined | None
    concave: bool = False
    other_branches: Callable[[FloatArray], list[FloatArray]] = lambda x: []
    #: Maxima at limits that were found, by parameter; none where there is one branch.
    _at_limits: dict[int, list[Optimum]] = field(default_factory=dict, init=False)
    #: Of all maxima that were found.
    _heights: list[float] = field(default_factory=list, init=False)

    @cached_property
    def _direction(self) -> FloatArray | None:
        """(P',) a direction of infinite estimates, of the user's parameters."""
        return None if self.determined is None else self.determined.direction

    @cached_property
    def loglik(self) -> float:
        """The log-likelihood at the maximum.

        Raises
        ------
        DataError
            The likelihood cannot be computed there.
        """
        at = self.objective(self.x)
        if at is None:
            raise DataError(
                "The likelihood must be finite at the estimates for a profile; it is"
                " not."
            )
        return at.loglik

    @property
    def higher(self) -> float:
        """The highest log-likelihood found along the profiles, if it is above that of
        the fit; else NaN.
        """
        highest = max(self._heights, default=-math.inf)
        return highest if highest - self.loglik > EXACT else math.nan

    def end(self, index: int, direction: int, drop: float) -> tuple[float, str]:
        """The confidence limit: the value at which the deviance has increased by
        `drop`.

        Parameters
        ----------
        index : int
            Position of the parameter among the estimated ones.
        direction : {-1, 1}
            Below or above the estimate.
        drop : float > 0
            A quantile of chi-squared on one degree of freedom.

        Returns
        -------
        (value, reason)
            The value is infinite if the estimate is, and NaN if the profile does not
            reach `drop`. If the profile jumps over `drop`, the value is the place of
            the jump, and the reason says so; otherwise the reason is empty.
        """
        if self.determined is not None:
            tends = float(self.determined.limits(np.eye(self.x.size)[[index]])[0])
            if math.isnan(tends):
                return math.nan, UNDETERMINED
            if tends * direction > 0.0:
                return direction * math.inf, SEPARATED
        a = self.user.gradient(index)
        last = self._start
        if (
            self.concave
            and self._direction is None
            and (limit := self._concave_end(a, direction, drop)) is not None
        ):
            return limit, ""
        step = math.sqrt(max(float(a @ last.factor.solve(a)), 0.0))
        if self._direction is not None:
            way = abs(float(a @ (self._clearly_back - self._hardly_back)))
            step = min(step, max(float(np.linalg.norm(a)), 0.25 * way))
        limit, reason, reached = self._branched_end(a, direction * step, drop)
        if reached is not None:
            self._at_limits.setdefault(index, []).append(reached)
        return limit, reason

    def _branched_end(
        self, a: FloatArray, step: float, drop: float
    ) -> tuple[float, str, Optimum | None]:
        """The end by a search for the root of the deviance, on the highest branch that
        is found, and the maximum there.
        """
        centre = float(a @ self._start.x)
        # maxima known on each branch, by the value held
        branches = [{centre: self._start}]
        fallen: dict[float, float] = {}
        left = _MOST_MAXIMA

        def fall(held: Optimum | None) -> float:
            if held is None:
                return math.inf
            return 2.0 * (self.loglik - held.at.loglik)

        def on_branch(known: dict[float, Optimum], value: float) -> float:
            near = min(known, key=lambda other: abs(other - value))
            held = self._maximum(a, known[near], value)
            if (near - value) / step > 0.0 and fall(held) >= drop:
                # beyond a jump is another maximum
                passed = [other for other in known if (value - other) / step >= 0.0]
                last = min(passed, key=lambda other: abs(other - value), default=near)
                further = self._maximum(a, known[last], value)
                held = further if fall(further) < fall(held) else held
            if held is None:
                return math.nan
            known[value] = held
            return fall(held)

        def deviance(value: float) -> float:
            nonlocal left
            left -= len(branches)
            if left < 0:
                return math.nan
            found = [on_branch(known, value) for known in branches]
            left -= _LOST * int(np.isnan(found).sum())
            fallen[value] = float(np.fmin.reduce(found))
            return fallen[value]

        while True:
            fallen.clear()
            limit = crossing(deviance, centre, step, drop)
            if math.isnan(limit) or not abs(deviance(limit) - drop) <= EXACT:
                if left > 0 and any(
                    self._climbed(a, known, step, drop) for known in branches
                ):
                    continue
                return *self._jump(a, branches, fallen, step, drop), None
            reached = max(
                (known[limit] for known in branches if limit in known), key=_height
            )
            other = self._higher_branch(a, reached, limit)
            if other is None:
                return limit, "", reached
            branches.append({limit: other})

    def _climbed(
        self, a: FloatArray, known: dict[float, Optimum], step: float, drop: float
    ) -> bool:
        """Whether maxima with a fall of `drop` or more are higher if they are looked
        for one after another, from the last one before the fall; `known` then has
        these.
        """
        centre = float(a @ self._start.x)
        outwards = sorted(known, key=lambda value: (value - centre) / step)
        falls = [2.0 * (self.loglik - _height(known[value])) for value in outwards]
        inside = [i for i, fall in enumerate(falls) if fall < drop]
        if not inside:
            return False
        last = known[outwards[inside[-1]]]
        climbed = False
        for value in outwards[inside[-1] + 1 :]:
            held = self._maximum(a, last, value)
            if held is None:
                break
            if 2.0 * (_height(held) - _height(known[value])) > EXACT:
                known[value] = held
                climbed = True
            last = held
        return climbed

    def _jump(
        self,
        a: FloatArray,
        branches: list[dict[float, Optimum]],
        fallen: dict[float, float],
        step: float,
        drop: float,
    ) -> tuple[float, str]:
        """The place where the profile jumps over a fall of `drop`, between the last
        value with a smaller fall and the first one beyond it; NaN where it does not.

        With scale effects it may, mostly at 0: where the best spread of some rows
        vanishes together with the effect held, their predictors keep their signs, and
        the other sign needs another spread.

        Parameters
        ----------
        fallen : dict of float to float
            Deviances by the value held; NaN where no maximum was found.
        """
        centre = float(a @ self._start.x)
        less = [centre, *(value for value, fall in fallen.items() if fall < drop)]
        near = max(less, key=lambda value: (value - centre) / step)
        beyond = [value for value in fallen if (value - near) / step > 0.0]
        if not beyond or self.determined is not None:
            return math.nan, NOT_REACHED
        far = min(beyond, key=lambda value: (value - centre) / step)
        last = max((known[near] for known in branches if near in known), key=_height)

        def inside(value: float) -> Optimum | None:
            """A point with a smaller fall, which need not be a maximum: its fall is no
            smaller than that of the profile.
            """
            held = self._maximum(a, last, value, math.inf)
            less = held is not None and 2.0 * (self.loglik - _height(held)) < drop
            return held if less else None

        if inside(far) is not None:  # only the search ended before
            return math.nan, NOT_REACHED
        for _ in range(_NARROWED):
            middle = 0.5 * (near + far)
            held = inside(middle)
            if held is None:
                far = middle
            else:
                near = middle
                last = held
        # maxima beyond may lie at infinity: there the likelihood hardly rises further
        across = self._on_other_branches(a, last, far, _HARDLY)
        highest = max(map(_height, across), default=math.inf)
        over = 2.0 * (self.loglik - highest) >= drop + _CLEARLY
        if not over or 2.0 * (self.loglik - _height(last)) > drop - EXACT:
            return math.nan, NOT_REACHED
        if abs(near) <= _AT_ZERO * abs(step):
            near = 0.0
        return near, JUMPS

    def _higher_branch(
        self, a: FloatArray, reached: Optimum, value: float
    ) -> Optimum | None:
        """The highest maximum with a'x = value from points elsewhere, if it is above
        one that was reached.
        """
        found = self._on_other_branches(a, reached, value)
        best = max(found, key=_height, default=reached)
        return best if 2.0 * (_height(best) - _height(reached)) > EXACT else None

    def _on_other_branches(
        self,
        a: FloatArray,
        reached: Optimum,
        value: float,
        roughly: float = _ROUGHLY,
    ) -> list[Optimum]:
        """Maxima with a'x = value from points elsewhere."""
        found: list[Optimum] = []
        for x in self.other_branches(reached.x):
            try:
                held = self._maximum(a, self._stay(x), value, roughly)
            except DataError:  # outside the domain
                continue
            if held is not None:
                found.append(held)
        return found

    def _concave_end(self, a: FloatArray, direction: int, drop: float) -> float | None:
        """The end, where deviance = drop and the score is along a, by Newton's method
        [Venzon and Moolgavkar 1988].

        Each step J^-1 (score + c a) has the c for which the quadratic model falls to
        the target. None where that fails.
        """
        x = self._start.x
        at = self._start.at
        factor = self._start.factor
        target = at.loglik - 0.5 * drop
        for _ in range(_STEPS):
            ahead = factor.solve(at.score)
            along = factor.solve(a)
            excess = at.loglik + 0.5 * float(at.score @ ahead) - target
            if not excess > 0.0:
                return None
            c = direction * math.sqrt(2.0 * excess / float(a @ along))
            step = ahead + c * along
            x = x + step
            if step @ (at.score + c * a) <= _SMALL_STEP:
                return float(a @ x)
            moved = self.objective(x)
            fresh = None if moved is None else moved.information.factor()
            if moved is None or fresh is None:
                return None
            at = moved
            factor = fresh
        return None

    def curve(self, index: int, values: FloatArray) -> FloatArray:
        """(n,) maximised log-likelihood with the parameter held at each value; NaN if
        there is none.
        """
        return np.array(
            [
                math.nan if each is None else each.at.loglik
                for each in self.held(index, values)
            ]
        )

    def held(self, index: int, values: FloatArray) -> list[Optimum | None]:
        """The maxima with the parameter held at each value, each started at the
        previous one; None after a failure.

        They start at the estimate and go outwards, and again at the limits found by
        `end`, which may lie on a higher branch than small steps reach.
        """
        a = self.user.gradient(index)
        maxima = list[Optimum | None]([None] * values.size)
        for begin in (self._start, *self._at_limits.get(index, [])):
            walk = outwards(
                values, float(a @ begin.x), begin, partial(self._maximum, a)
            )
            maxima = [
                max(filter(None, both), key=_height, default=None)
                for both in zip(maxima, walk, strict=True)
            ]
        return maxima

    def _stay(self, x: FloatArray) -> Optimum:
        """The point itself, as an optimum from which a search may begin."""
        return maximise(
            self.objective,
            x,
            tol=math.inf,
            max_iter=0,
            total_weight=self.total_weight,
        )

    @cached_property
    def _start(self) -> Optimum:
        """The maximum, or back from infinite estimates as far as the likelihood hardly
        falls.
        """
        if self._direction is None:
            return self._stay(self.x)
        return self._stay(self.x - self._hardly_back)

    @cached_property
    def _hardly_back(self) -> FloatArray:
        """(P',) the way back on which the likelihood hardly falls."""
        return self._back(_HARDLY)

    @cached_property
    def _clearly_back(self) -> FloatArray:
        """(P',) the way back on which it falls as far as at a limit."""
        return self._back(_FALL)

    def _back(self, fall: float) -> FloatArray:
        """(P',) about the longest way back along the direction of infinite estimates on
        which the log-likelihood falls by no more than `fall`.

        Steps grow: with a cauchit the likelihood is level for millions of units.
        """
        assert self._direction is not None
        direction = self.user.coordinates(self._direction)
        direction /= np.linalg.norm(direction)
        length = 0.0
        step = 1.0
        for _ in range(_BACK):
            trial = self.objective(self.x - (length + step) * direction)
            if trial is not None and trial.loglik >= self.loglik - fall:
                length += step
                step = 2.0 * step
            elif step > 1.0:
                step = max(0.25 * step, 1.0)
            else:
                break
        return length * direction

    def _maximum(
        self,
        a: FloatArray,
        near: Optimum,
        value: float,
        roughly: float = _ROUGHLY,
    ) -> Optimum | None:
        """The maximum with a'x = value, by Newton's method from a maximum nearby; None
        if it is not reached, up to a decrement of `roughly`.
        """
        x = near.x
        factor = near.factor
        at = near.at
        allowed = 1e-13 * (abs(value) + float(np.abs(a) @ np.abs(self.x)))
        # to the plane a'x = value, as far as the domain allows at a time
        for _ in range(_STEPS):
            gap = value - float(a @ x)
            if abs(gap) <= allowed:
                break
            step = factor.solve(a)
            step *= gap / float(a @ step)
            for _ in range(_HALVINGS):
                trial = self.objective(x + step)
                if trial is not None:
                    break
                step = 0.5 * step
            else:
                return None
            x = x + step
            at = trial
            try:
                factor = positive_factor(at.information)[1]
            except DataError:
                return None
        weight = self.total_weight
        try:
            maximum = maximise(
                self.objective,
                x,
                tol=_TOLERANCE,
                max_iter=_STEPS,
                total_weight=weight,
                at=at,
                held=a,
            )
        except DataError:  # where the information overflows
            return None
        if maximum.converged or maximum.decrements[-1] <= roughly:
            self._heights.append(_height(maximum))
            return maximum
        return None
