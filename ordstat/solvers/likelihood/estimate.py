"""From a problem to its estimates: where to begin, what to maximise, and what is known of the maximum found."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._typing import BoolArray
from ...exceptions import DataError, OptionError
from ...model.fit import Information
from ...model.likelihood.family import Family
from .explore import Point, stay
from .far.runaway import Runaway, flat, moving, runaway
from .newton import Optimum, maximise
from .penalty import Likelihood, Penalty
from .problem import Problem
from .separation import Separation, beside_scales, infinite_direction, separation
from .start import Start, starting_values
from .user_scale import InverseInformation, RestrictedInformation, Unknown, in_order

#: How many times its own length an estimate on the way to infinity is moved on.
_FAR = tuple(10.0 ** (0.5 * k) for k in range(1, 13))
#: How often the ways are tried one after the other.
_ROUNDS = 10
#: A gain of the log-likelihood that is not worth the digits that finite estimates lose further out.
_CLOSE = 2e-7


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
        start = self._begin(problem)
        optimum = self._maximise(problem, start)
        if self.penalty is not None:
            return Estimate(self, problem, start, optimum)
        gone = runaway(problem, optimum, self.max_iter)
        if gone is not None:
            optimum = self._maximise(problem, replace(start, alpha=gone.point[0], rest=gone.point[1]))
            gone = None if optimum.message.startswith("converged") else gone
        problem, optimum, gone = self._outwards(problem, start, optimum, gone)
        gone = flat(problem, optimum, self.max_iter) if gone is None else gone
        return Estimate(self, problem, start, optimum, gone=gone)

    def null_loglik(self, problem: Problem) -> float:
        """Log-likelihood, without the penalty, of thresholds and offsets alone."""
        rows = problem.sample.rows
        if rows.offset is None and rows.scale_offset is None and problem.structure is None:
            return float(problem.counts @ np.log(problem.counts / problem.counts.sum()))
        null = problem.without_effects()
        try:
            return replace(self, penalty=None, start=None).of(null).optimum.at.loglik
        except DataError:  # lambda has no estimate
            return float("nan")

    def _begin(self, problem: Problem) -> Start:
        """Where Newton's method begins, for the scaled columns."""
        if self.start is None:
            return starting_values(problem, self.max_iter) if self.penalty is None else Start(*problem.start())
        start = Start(*problem.from_user(np.array(self.start)))
        at = problem.objective().evaluate(start.alpha, start.rest)
        if at is None or not at.finite:
            raise OptionError(
                "start must give a finite likelihood with finite derivatives: thresholds increasing at every row, "
                "lambda inside its range, scores within reach of the thresholds. Start nearer to the estimates, or "
                "leave it out."
            )
        return start

    def objective(self, problem: Problem) -> Likelihood:
        """What is maximised: the log-likelihood, penalised where asked."""
        return problem.objective() if self.penalty is None else self.penalty.on(problem)

    def _maximise(self, problem: Problem, start: Start) -> Optimum:
        return maximise(
            self.objective(problem).evaluate,
            start.alpha,
            start.rest,
            tol=self.tol,
            max_iter=self.max_iter,
            total_weight=float(problem.counts.sum()),
            slope=problem.slope() if self.penalty is None else None,
        )

    def _outwards(
        self, problem: Problem, start: Start, optimum: Optimum, gone: Runaway | None
    ) -> tuple[Problem, Optimum, Runaway | None]:
        """From a point on the way to infinite estimates as far out as the likelihood rises, by curves and by lines."""
        for _ in range(_ROUNDS):
            before = optimum.at.loglik
            if optimum.lost and problem.sample.rows.scale is not None:
                problem, optimum, further = self._climbed(problem, start, optimum)
                gone = further if gone is None else gone
            if gone is None and not problem.family.concave:
                optimum = self._further(problem, start, optimum)
            if optimum.at.loglik <= before + _CLOSE:
                break
        return problem, optimum, gone

    def _further(self, problem: Problem, start: Start, optimum: Optimum) -> Optimum:
        """From a point on the way to infinite estimates to one so far that the likelihood is all but its limit.

        The tails of the Cauchy distribution are so heavy that Newton's method stops at a visible distance from that.
        """
        direction = infinite_direction(problem, optimum)
        if direction is None:
            return optimum
        move_alpha, move_rest = problem.from_user(direction)
        size = max(np.abs(optimum.alpha).max(), np.abs(optimum.rest).max(initial=0.0))
        point, loglik = (optimum.alpha, optimum.rest), optimum.at.loglik
        for far in _FAR:
            moved = stay(problem, (optimum.alpha + far * size * move_alpha, optimum.rest + far * size * move_rest))
            if moved.loglik <= loglik + _CLOSE:
                break
            point, loglik = moved.point, moved.loglik
        return optimum if loglik == optimum.at.loglik else self._moved(problem, start, optimum, point)

    def _climbed(self, problem: Problem, start: Start, optimum: Optimum) -> tuple[Problem, Optimum, Runaway | None]:
        """From a point on the way to infinite estimates to one further out, and the log-scale effects that moved.

        The columns are not centred any more: thresholds would take part in the infinite effects and lose their digits.
        """
        from .far.climb import climb

        user, own = problem.user_scale(), problem.far_out()
        estimates = in_order(*user.coefficients(optimum.alpha, optimum.rest))
        point = climb(own, own.from_user(estimates), optimum.at.loglik)
        if point is None:
            return problem, optimum, None
        there = self._moved(own, start, optimum, point)
        further = self._maximise(own, replace(start, alpha=point[0], rest=point[1]))
        if further.at.loglik > there.at.loglik + _CLOSE:  # with the digits that these columns leave
            there = self._moved(own, start, further, (further.alpha, further.rest))
        gone = moving(own, there.rest - optimum.rest, point)
        return own, there, None if gone is None or infinite_direction(own, there) is not None else gone

    def _moved(self, problem: Problem, start: Start, optimum: Optimum, point: Point) -> Optimum:
        """The optimum taken to another point."""
        there = replace(self, max_iter=0)._maximise(problem, replace(start, alpha=point[0], rest=point[1]))
        return replace(there, logliks=np.append(optimum.logliks, there.at.loglik), message=optimum.message)


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimates and what is known of them.

    Attributes
    ----------
    by : Estimation
    problem : Problem
        That of `optimum`: its columns are not centred where estimates are infinite along a curve.
    start : Start
    optimum : Optimum
    gone : Runaway or None
        A log-scale effect without a finite estimate.
    """

    by: Estimation
    problem: Problem
    start: Start
    optimum: Optimum
    gone: Runaway | None = None

    @property
    def residual(self) -> float:
        """What is left of the first order conditions."""
        return self.optimum.at.largest_score

    @property
    def family(self) -> Family:
        """The family, at the estimate of lambda."""
        family, flexible = self.problem.family, self.problem.flexible
        return family if flexible is None else family.at(flexible.at(float(self.optimum.rest[-1])))

    @property
    def message(self) -> str:
        """How the search ended, and how many maxima it saw."""
        start = self.start
        if start.tried == 1:
            return self.optimum.message
        seen = "1 maximum" if start.maxima <= 1 else f"{start.maxima} local maxima, of which this is the highest,"
        return f"{self.optimum.message}; {seen} seen from {start.tried} starts"

    def loglik(self) -> float:
        """The log-likelihood, without the penalty."""
        if self.by.penalty is None:
            return self.optimum.at.loglik
        at = self.problem.objective().evaluate(self.optimum.alpha, self.optimum.rest)
        assert at is not None
        return at.loglik

    @property
    def separated(self) -> bool:
        """Whether estimates are infinite."""
        return self.gone is not None or infinite_direction(self.problem, self.optimum) is not None

    def separation(self) -> Separation | None:
        """Estimates that are infinite or left open, on the user's scale; None where all are finite."""
        if self.gone is not None:
            return beside_scales(self.problem, self.optimum, self.gone.direction)
        return separation(self.problem, self.optimum)

    def information(self, infinite: BoolArray | None) -> Information:
        """Information about the estimates on the user's scale."""
        optimum, user = self.optimum, self.problem.user_scale()
        still_moving = self.problem.far and not optimum.message.startswith("converged")
        unsettled = optimum.lost and (still_moving or optimum.at.largest_score > optimum.tolerance)
        if (unsettled and infinite is not None) or (self.gone is not None and (optimum.lost or self.gone.blurred)):
            return Unknown(optimum.alpha.size + optimum.rest.size)
        shape = user.c.size, user.G.shape[0]
        if infinite is not None:
            return RestrictedInformation(blocks=optimum.at.information, shape=shape, user=user, infinite=infinite)
        if self.by.penalty is None:
            factor = None if optimum.indefinite else optimum.factor
        else:
            factor = self.by.penalty.factor(self.problem, optimum)
        if factor is None:
            return Unknown(optimum.alpha.size + optimum.rest.size)
        return InverseInformation(shape=shape, factor=factor, user=user)
