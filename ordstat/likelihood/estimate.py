"""From a problem to its estimates: objective, maximum, and diagnostics."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlogy

from .._typing import BoolArray, FloatArray
from ..exceptions import DataError, OptionError
from ..formula.sample import Sample
from ..newton import Ended, Objective, Optimum, maximise
from .determined import (
    Determined,
    limiting_covariance,
    settled,
    what_data_determine,
)
from .divergence import divergence_of_spreads, diverging_spreads
from .family import Family
from .many_levels import check_columns_alone
from .penalty import Penalty
from .problem import Problem
from .separation import Recession, recession
from .start import Start, equal_scales, starting_values
from .user_scale import (
    CovarianceMatrix,
    InverseInformation,
    UnknownCovariance,
)

if TYPE_CHECKING:
    from .spreads import SpreadLimit


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimation:
    """How the parameters of a problem are estimated.

    Attributes
    ----------
    penalty : Penalty or None
    start : tuple of float or None
        Starting values on the user's scale, in the order of the estimated parameters.
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
            Starting values outside the domain, or a penalty that has no maximum with
            nominal effects.
        SeparatedError
            Columns separate the levels of a response with very many levels.
        """
        if self.penalty is None:
            check_columns_alone(problem)
        start = self._begin(problem)
        optimum = maximise(
            self.objective(problem),
            start.x,
            tol=self.tol,
            max_iter=self.max_iter,
            total_weight=float(problem.counts.sum()),
            shared_steps=self.penalty is None
            and problem.structure is None
            and problem.many_rows,
            at=start.at,
        )
        plain = Estimate(self, problem, optimum, start)
        return plain if self.penalty is not None else plain.in_the_limit()

    def _begin_penalised(self, problem: Problem) -> Start:
        """Shares of the levels and no effects, or where the penalty has no value there
        the maximum without it, with equal scales or not.

        Jeffreys' prior is 0 where some parameter has no information: scale effects of
        two equally frequent levels have none at a threshold of 0 and no effects.
        """
        objective = self.objective(problem)
        x = problem.start()
        at = objective(x)
        if at is not None or problem.sample.rows.scale is None:
            return Start(x, at)
        for x in (
            equal_scales(problem, self.max_iter),
            starting_values(problem, self.max_iter).x,
        ):
            at = objective(x)
            if at is not None:
                return Start(x, at)
        raise DataError(
            "The data must have information about every parameter for"
            " penalty='jeffreys'; there is none about some, or the likelihood has no"
            " finite value, where the search starts. Drop a scale effect, or use a"
            " ridge, such as penalty=1.0."
        )

    def null_loglik(self, problem: Problem) -> float:
        """Log-likelihood, without the penalty, with thresholds and offsets only."""
        rows = problem.sample.rows
        free = rows.offset is None and rows.scale_offset is None
        if free and problem.structure is None:
            if problem.sample.highest is None:
                counts = problem.counts
                return float(counts @ np.log(counts / counts.sum()))
            known = loglik_of_censored(problem.sample)
            if known is not None and not problem.in_blocks:
                return known
        try:
            return (
                replace(self, penalty=None, start=None)
                .of(problem.without_effects())
                .optimum.at.loglik
            )
        except DataError:  # lambda has no estimate
            return math.nan

    def objective(self, problem: Problem) -> Objective:
        """The function to maximise: the log-likelihood, penalised on request."""
        return problem.evaluate if self.penalty is None else self.penalty.on(problem)

    def _begin(self, problem: Problem) -> Start:
        if self.start is None and self.penalty is None:
            return starting_values(problem, self.max_iter)
        if self.start is None:
            return self._begin_penalised(problem)
        x = problem.from_user(np.array(self.start))
        at = self.objective(problem)(x)
        if at is None:
            raise OptionError(
                "start must give a finite likelihood with finite derivatives:"
                " thresholds increasing at every row, lambda inside its range, scores"
                " within reach of the thresholds. Start nearer to the estimates, or"
                " leave it out."
            )
        return Start(x, at)


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimates and diagnostics.

    Attributes
    ----------
    estimation : Estimation
    problem : Problem
    optimum : Optimum
    start : Start
    recession : Recession or None
        Directions of infinite estimates.
    divergence : (P', f) or None
        Directions along which log-scale effects diverge; None if every estimate is
        finite.
    outward : int
        The first `outward` of these have the sign in which the estimates go.
    searched : (P',) or None
        Where the search ended, before moving ends were taken so far out that their rows
        have probability 1.
    covariance : (P', P') or None
        Covariance, on the user's scale, of the parameters that do not diverge with
        spreads, if it differs from the inverse information at the estimates.
    """

    estimation: Estimation
    problem: Problem
    optimum: Optimum
    start: Start
    recession: Recession | None = None
    divergence: FloatArray | None = None
    outward: int = 0
    searched: FloatArray | None = None
    covariance: FloatArray | None = None

    @cached_property
    def coefficients(self) -> FloatArray:
        """(P',) on the user's scale."""
        return self.problem.user.coefficients(self.optimum.x)

    @property
    def family(self) -> Family:
        """The family, at the estimate of lambda."""
        return self.problem.family_at(float(self.optimum.x[-1]))

    def loglik(self) -> float:
        """The log-likelihood, without the penalty."""
        at = (
            self.optimum.at
            if self.estimation.penalty is None
            else self.problem.evaluate(self.optimum.x)
        )
        assert at is not None
        return at.loglik

    def in_the_limit(self) -> Estimate:
        """The estimates of the limiting model; self if all are finite."""
        problem = self.problem
        optimum = self.optimum
        if not problem.linear:
            return self
        moves = recession(problem, optimum)
        limit = None
        if moves is None and problem.sample.rows.scale is not None:
            from .spreads import spread_limit

            limit = spread_limit(problem, optimum)
        if limit is not None:
            return self._at(limit)
        divergence, outward = divergence_of_spreads(
            problem, optimum, moves, diverging_spreads(problem, optimum)
        )
        if moves is None and not divergence.size and not optimum.indefinite:
            divergence = self._flat_directions()
        if moves is None and not divergence.size:
            return self
        if not problem.in_blocks:
            optimum = settled(problem, optimum, moves, divergence)
        return replace(
            self,
            optimum=optimum,
            recession=moves,
            divergence=divergence,
            outward=outward,
            searched=self.optimum.x,
        )

    def _flat_directions(self) -> FloatArray:
        """(P', f) directions along which the likelihood has no curvature but rounding:
        what moves along them has no standard error.
        """
        if self.optimum.definite:
            return np.zeros((self.problem.n_parameters, 0))
        return self.optimum.at.information.flat_directions()

    def _at(self, limit: SpreadLimit) -> Estimate:
        """The estimates where the ratios of spreads are infinite."""
        optimum = self.optimum
        ended = Ended.IN_THE_LIMIT if limit.converged else Ended.NO_PROGRESS
        return replace(
            self,
            optimum=replace(
                optimum,
                x=limit.x,
                at=limit.at,
                step=np.zeros_like(limit.x),
                ended=ended,
            ),
            divergence=limit.divergence,
            outward=limit.outward,
            searched=optimum.x,
            covariance=limit.covariance,
        )

    @cached_property
    def determined(self) -> Determined | None:
        """What the data determine; None if every estimate is finite."""
        if self.divergence is None:
            return None
        return what_data_determine(
            self.problem,
            self.optimum,
            self.recession,
            self.divergence,
            self.outward,
            self.covariance,
        )

    @property
    def searched_spreads(self) -> FloatArray | None:
        """(P',) `searched`, if spreads diverge and no rows are separated; else None."""
        if (
            self.recession is not None
            or self.divergence is None
            or not self.divergence.size
        ):
            return None
        return self.searched

    @property
    def infinite(self) -> BoolArray:
        """(P',) which estimates are infinite or undefined because of separation."""
        if self.determined is None:
            return np.zeros(self.problem.n_parameters, dtype=bool)
        return np.asarray(
            self.determined.limits(np.eye(self.problem.n_parameters)) != 0.0
        )

    @cached_property
    def diverging(self) -> BoolArray:
        """(P',) which parameters diverge together with a log-scale effect that has no
        estimate.

        All parameters if the search did not end in a maximum.
        """
        diverging = np.zeros(self.problem.n_parameters, dtype=bool)
        if self.estimation.penalty is not None:
            return diverging
        if self.determined is not None:
            diverging = self.determined.diverge(np.eye(self.problem.n_parameters))
        lost = (
            not self.optimum.definite and self.recession is None and not diverging.any()
        )
        lost = lost or self.problem.runs_away(self.optimum)
        return diverging | lost

    @property
    def residual(self) -> float:
        """Largest absolute gradient; NaN if the likelihood has no maximum."""
        return (
            math.nan
            if self.diverging.any()
            else float(np.abs(self.optimum.at.score).max())
        )

    def model_covariance(
        self,
    ) -> InverseInformation | CovarianceMatrix | UnknownCovariance:
        """The model-based covariance of the estimates, on the user's scale."""
        optimum = self.optimum
        problem = self.problem
        unknown = UnknownCovariance(problem.n_parameters)
        if self.estimation.penalty is not None:
            factor = self.estimation.penalty.factor(problem, optimum)
            return (
                unknown if factor is None else InverseInformation(factor, problem.user)
            )
        unfinished = self.diverging | self.infinite
        if not unfinished.any():
            return InverseInformation(optimum.factor, problem.user)
        if self.diverging.any() and not optimum.converged:
            return unknown
        if self.covariance is not None:
            return CovarianceMatrix(self.covariance, unfinished)
        held = [] if self.recession is None else [self.recession.moves]
        if self.divergence is not None:
            held.append(self.divergence)
        if not held:
            return unknown
        return CovarianceMatrix(
            limiting_covariance(problem, optimum, np.hstack(held)), unfinished
        )


def loglik_of_censored(sample: Sample) -> float | None:
    """The largest log-likelihood without predictors; None unless censored answers are
    all above a level (right-censored) or all below one.

    With n_k cases at risk at level k (known to be at k or higher), of which d_k are at
    k, the hazards are d_k / n_k [Kaplan & Meier 1958].
    """
    assert sample.highest is not None
    counts = sample.exact_counts()
    exact = sample.exact
    last = sample.n_levels - 1
    lowest = sample.y[~exact]
    highest = sample.highest[~exact]
    if (highest == last).all():
        at_level = lowest
    elif (lowest == 0).all():
        counts = counts[::-1]
        at_level = last - highest
    else:
        return None
    # a case known to be at level a or higher survives the levels below a
    weights = sample.case_weights[~exact]
    surviving = np.bincount(at_level, weights, sample.n_levels)
    reached = np.cumsum((counts + surviving)[::-1])[::-1]
    died = counts[:-1]
    beyond = reached[1:]
    at_risk = died + beyond
    of_level = xlogy(died, died / at_risk) + xlogy(beyond, beyond / at_risk)
    return float(of_level.sum())
