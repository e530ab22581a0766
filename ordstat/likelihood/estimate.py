"""From a problem to its estimates: where to begin, what to maximise, and what is known of the maximum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray
from ..exceptions import DataError, OptionError
from .family import Family
from .newton import Optimum, maximise
from .penalty import Penalty
from .problem import Problem
from .separation import separation
from .start import Point, starting_values
from .user_scale import CovarianceMatrix, InverseInformation, restricted_covariance

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
        optimum = maximise(
            self.objective(problem).evaluate,
            *self._begin(problem),
            tol=self.tol,
            max_iter=self.max_iter,
            total_weight=float(problem.counts.sum()),
            slope=problem.slope() if self.penalty is None else None,
        )
        return Estimate(self, problem, optimum)

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

    def objective(self, problem: Problem) -> Any:
        """What is maximised: the log-likelihood, penalised where asked."""
        return problem.objective() if self.penalty is None else self.penalty.on(problem)

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


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimates and what is known of them.

    Attributes
    ----------
    by : Estimation
    problem : Problem
    optimum : Optimum
    """

    by: Estimation
    problem: Problem
    optimum: Optimum

    @property
    def family(self) -> Family:
        """The family, at the estimate of lambda."""
        family, flexible = self.problem.family, self.problem.flexible
        return family if flexible is None else family.at(flexible.at(float(self.optimum.rest[-1])))

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
        return None if self.by.penalty is not None else separation(self.problem, self.optimum)

    @cached_property
    def endless(self) -> BoolArray:
        """(P',) parameters without a maximum: log-scale effects along which the likelihood rises without end.

        All parameters if the search ended at a point that is no maximum.
        """
        optimum, r = self.optimum, int(self.problem.scale.kept.sum())
        endless = np.zeros(self.problem.n_parameters, dtype=bool)
        if self.by.penalty is not None:
            return endless
        if r:
            first = optimum.rest.size - r - int(self.problem.flexible is not None)
            scales = slice(first, first + r)
            moving = np.abs(optimum.step_rest[scales]) > (np.inf if optimum.converged else _MOVING)
            variances = optimum.unit * np.diag(optimum.factor.schur_inverse())[scales]
            endless[optimum.alpha.size :][scales] = moving | (variances > _ENDLESS**2)
        if optimum.indefinite and self.separation is None and not endless.any():
            endless[:] = True
        return endless

    @property
    def residual(self) -> float:
        """Largest score; NaN where the likelihood has no maximum."""
        return float("nan") if self.endless.any() else self.optimum.at.largest_score

    def information(self) -> InverseInformation | CovarianceMatrix:
        """Covariance of the estimates on the user's scale."""
        optimum, user = self.optimum, self.problem.user_scale()
        shape, factor = (user.c.size, user.G.shape[0]), optimum.factor
        unknown = CovarianceMatrix(np.full((self.problem.n_parameters,) * 2, np.nan))
        if self.by.penalty is not None:
            penalised = self.by.penalty.factor(self.problem, optimum)
            return unknown if penalised is None else InverseInformation(shape=shape, factor=penalised, user=user)
        infinite = self.endless if self.separation is None else self.endless | (self.separation != 0.0)
        if not infinite.any():
            return InverseInformation(shape=shape, factor=factor, user=user)
        if self.endless.any() and not optimum.converged:
            return unknown
        return restricted_covariance(optimum.at.information, shape, user, infinite)
