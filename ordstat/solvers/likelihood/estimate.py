"""From a problem to its estimates: where to begin, what to maximise, and what is known of the maximum found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..._typing import BoolArray, FloatArray
from ...exceptions import OptionError
from ...model.fit import Information
from ...model.likelihood.family import Family
from ...model.likelihood.flexible import FlexibleLink
from .explore import Point
from .lambda_search import carried, held_at
from .newton import Optimum, maximise
from .penalty import Likelihood, Penalty
from .problem import Problem
from .separation import separation
from .start import starting_values
from .user_scale import Held, InverseInformation, RestrictedInformation, Unknown

#: A standard error of lambda, as a share of it where that is what matters, beyond which a maximum is doubted.
_UNKNOWN = 10.0
#: A gain of the log-likelihood that counts as none.
_CLOSE = 2e-7
#: Log-scale effects, per deviation, that still move by this, or have this standard error, have no finite estimate.
_MOVING, _ENDLESS = 1e-2, 50.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimation:
    """How the parameters of a problem are estimated.

    Attributes
    ----------
    penalty : Penalty or None
    start : tuple of float or None
        On the user's scale, in the order of the estimated parameters.
    tol : float
    max_iter : int
    """

    penalty: Penalty | None
    start: tuple[float, ...] | None
    tol: float
    max_iter: int

    def of(self, problem: Problem) -> Estimate:
        """The estimates.

        Raises
        ------
        OptionError
            Starting values outside the domain, or a penalty that has no maximum with nominal effects.
        """
        found = self._within(problem)
        flexible = problem.flexible
        if flexible is None or not flexible.further or flexible.end_of(float(found.rest[-1])) == 0:
            return found
        return self._beyond(problem, flexible.wider()) or found

    def _beyond(self, problem: Problem, wider: FlexibleLink) -> Estimate | None:
        """The maximum with lambda beyond its usual range; None where the likelihood has none there."""
        found = self._within(replace(problem, flexible=wider))
        inside = found.lam is None and found.problem.flexible is not None
        return found if inside and found.optimum.message.startswith("converged") else None

    def _within(self, problem: Problem) -> Estimate:
        """The estimates with lambda inside its usual range, or at an end of it."""
        start = self._begin(problem)
        if self._ends(problem, start):
            found = self._held(problem, start)
            if found is not None:
                return found
        optimum = self._maximise(problem, start)
        if self._ends(problem, start, optimum):
            held = self._held(problem, starting_values(problem, self.max_iter))
            if held is not None:
                return held
        if self.penalty is not None:
            return Estimate(self, problem, optimum)
        return self._level(problem, optimum) or Estimate(self, problem, optimum)

    def null_loglik(self, problem: Problem) -> float:
        """Log-likelihood, without the penalty, of thresholds and offsets alone."""
        rows = problem.sample.rows
        if rows.offset is None and rows.scale_offset is None and problem.structure is None:
            return float(problem.counts @ np.log(problem.counts / problem.counts.sum()))
        null = problem.without_effects()
        return replace(self, penalty=None, start=None).of(null).optimum.at.loglik

    def _begin(self, problem: Problem) -> Point:
        """Where Newton's method begins, for the scaled columns."""
        if self.start is None:
            return starting_values(problem, self.max_iter) if self.penalty is None else problem.start()
        point = problem.from_user(np.array(self.start))
        at = problem.objective().evaluate(*point)
        if at is None or not at.finite:
            raise OptionError(
                "start must give a finite likelihood with finite derivatives: thresholds increasing at every row, "
                "lambda inside its range, scores within reach of the thresholds. Start nearer to the estimates, or "
                "leave it out."
            )
        return point

    def objective(self, problem: Problem) -> Likelihood:
        """What is maximised: the log-likelihood, penalised where asked."""
        return problem.objective() if self.penalty is None else self.penalty.on(problem)

    def _maximise(self, problem: Problem, start: Point) -> Optimum:
        return maximise(
            self.objective(problem).evaluate,
            *start,
            tol=self.tol,
            max_iter=self.max_iter,
            total_weight=float(problem.counts.sum()),
            slope=problem.slope() if self.penalty is None else None,
        )

    def _ends(self, problem: Problem, start: Point, optimum: Optimum | None = None) -> bool:
        """Whether lambda starts, or the search stopped without converging, at or beyond an end of its range."""
        if problem.flexible is None or self.penalty is not None:
            return False
        if optimum is None:
            return problem.flexible.end_of(float(start[1][-1])) != 0
        return not optimum.message.startswith("converged") and problem.flexible.end_of(float(optimum.rest[-1])) != 0

    def _held(self, problem: Problem, start: Point) -> Estimate | None:
        """The fit with lambda held at the end of its range where it starts; None where the likelihood falls there.

        A derivative within the tolerance is no fall: the likelihood is flat in lambda.
        """
        assert problem.flexible is not None
        lam = float(start[1][-1])
        end = problem.flexible.end_of(lam)
        fixed = problem.at_link(problem.flexible.at(lam))
        optimum = self._maximise(fixed, (start[0], start[1][:-1]))
        at = problem.objective().evaluate(optimum.alpha, np.append(optimum.rest, lam))
        if at is None or end * at.score_rest[-1] < -self.tol:
            return None
        return Estimate(self, fixed, optimum, lambda_end=end, lam=lam, asked=problem)

    def _level(self, problem: Problem, optimum: Optimum) -> Estimate | None:
        """The fit with lambda at an end of its range, where the likelihood is no lower than at the maximum found."""
        if problem.flexible is None or not optimum.message.startswith("converged"):
            return None
        family, lam = problem.flexible, float(optimum.rest[-1])
        error = np.sqrt(optimum.unit * optimum.factor.schur_inverse()[-1, -1]) / (abs(lam) if family.relative else 1.0)
        if not error > _UNKNOWN:
            return None
        for end in (family.grid[-1], family.grid[0]):
            fixed = held_at(problem, end)
            alpha, rest = carried(problem, (optimum.alpha, optimum.rest[:-1]), family.at(lam), fixed.link)
            if fixed.objective().evaluate(alpha, rest) is None:
                continue
            found = self._maximise(fixed, (alpha, rest))
            if found.at.loglik >= optimum.at.loglik - _CLOSE:
                end_of = family.end_of(end)
                return Estimate(self, fixed, found, lambda_end=end_of, lam=end, asked=problem)
        return None


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimates and what is known of them.

    Attributes
    ----------
    by : Estimation
    problem : Problem
        That of `optimum`: without lambda where it is held at an end of its range.
    optimum : Optimum
    lambda_end : int
        -1 or 1 where lambda is held at the lower or upper end of its range.
    lam : float or None
        Where it is held.
    asked : Problem or None
        The problem with lambda, where it is held.
    """

    by: Estimation
    problem: Problem
    optimum: Optimum
    lambda_end: int = 0
    lam: float | None = None
    asked: Problem | None = None

    @property
    def rest(self) -> FloatArray:
        """(q,) effects and lambda."""
        return self.optimum.rest if self.lam is None else np.append(self.optimum.rest, self.lam)

    @property
    def step_rest(self) -> FloatArray:
        """(q,) of the Newton step not taken any more."""
        return self.optimum.step_rest if self.lam is None else np.append(self.optimum.step_rest, 0.0)

    @property
    def family(self) -> Family:
        """The family, at the estimate of lambda."""
        family, flexible = self.problem.family, self.problem.flexible
        return family if flexible is None else family.at(flexible.at(float(self.optimum.rest[-1])))

    @property
    def whole(self) -> Problem:
        """The problem with lambda, also where it is held."""
        return self.problem if self.asked is None else self.asked

    def loglik(self) -> float:
        """The log-likelihood, without the penalty."""
        if self.by.penalty is None:
            return self.optimum.at.loglik
        at = self.problem.objective().evaluate(self.optimum.alpha, self.optimum.rest)
        assert at is not None
        return at.loglik

    @cached_property
    def separation(self) -> FloatArray | None:
        """(P',) a direction of infinite estimates on the user's scale; None where all are finite, or penalised."""
        if self.by.penalty is not None:
            return None
        direction = separation(self.problem, self.optimum)
        if self.lam is None:
            return direction
        if direction is None:
            return np.append(np.zeros(self.optimum.alpha.size + self.optimum.rest.size), float(self.lambda_end))
        return np.append(direction, 0.0)

    @cached_property
    def endless(self) -> BoolArray:
        """(P' of `problem`,) parameters without a maximum: log-scale effects on which the likelihood rises for ever.

        All parameters where the search ended at a point that is no maximum.
        """
        optimum, r = self.optimum, int(self.problem.scale.kept.sum())
        endless = np.zeros(optimum.alpha.size + optimum.rest.size, dtype=bool)
        if self.by.penalty is not None:
            return endless
        if r:
            effects = endless.size - r - int(self.problem.flexible is not None)
            scales = slice(effects - optimum.alpha.size, effects - optimum.alpha.size + r)
            moving = np.abs(optimum.step_rest[scales]) > (
                np.inf if optimum.message.startswith("converged") else _MOVING
            )
            variances = optimum.unit * np.diag(optimum.factor.schur_inverse())[scales]
            endless[effects : effects + r] = moving | (variances > _ENDLESS**2)
        if optimum.indefinite and self.separation is None and not endless.any():
            endless[:] = True
        return endless

    @property
    def residual(self) -> float:
        """Largest score; NaN where the likelihood has no maximum."""
        return float("nan") if self.endless.any() else self.optimum.at.largest_score

    def information(self) -> Information:
        """Information about the estimates on the user's scale; lambda that is held has no variance."""
        return self._information() if self.lam is None else Held(self._information())

    def _information(self) -> Information:
        optimum, user = self.optimum, self.problem.user_scale()
        size, shape = optimum.alpha.size + optimum.rest.size, (user.c.size, user.G.shape[0])
        if self.by.penalty is not None:
            factor = self.by.penalty.factor(self.problem, optimum)
            return Unknown(size) if factor is None else InverseInformation(shape=shape, factor=factor, user=user)
        infinite = self.endless if self.separation is None else self.endless | (self.separation[:size] != 0.0)
        if not infinite.any():
            return InverseInformation(shape=shape, factor=optimum.factor, user=user)
        if self.endless.any() and not optimum.message.startswith("converged"):
            return Unknown(size)
        return RestrictedInformation(blocks=optimum.at.information, shape=shape, user=user, infinite=infinite)
