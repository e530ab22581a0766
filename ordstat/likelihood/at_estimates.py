"""A problem with its estimates: what sandwiches, score tests and profiles are functions of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._typing import FloatArray, IntArray
from ..formula.sample import Sample
from .covariance import score_products, score_totals
from .estimate import Estimation
from .fit import BiasReduced
from .problem import Problem
from .separation import identified

if TYPE_CHECKING:
    from .profile import ProfileLikelihood


@dataclass(frozen=True, eq=False, kw_only=True)
class LikelihoodAtEstimates:
    """The likelihood of a fit, at its estimates.

    Attributes
    ----------
    estimation : Estimation
    problem : Problem
    threshold : str
    estimates : (P',) on the user's scale, in the order of `LikelihoodFit.coefficients` without the aliased
    separation : (P',) or None
        Direction of infinite estimates.
    """

    estimation: Estimation
    problem: Problem
    threshold: str
    estimates: FloatArray
    separation: FloatArray | None

    def score_products(self, cluster: IntArray | None) -> FloatArray:
        """(P', P') sum of outer products of score rows, the filling of a sandwich.

        Parameters
        ----------
        cluster : (N,) codes or None
            For all rows of the fit. Scores are summed within clusters first; None takes each row (each of its copies,
            by its weight) alone.
        """
        return score_products(self.problem, self.estimates, cluster)

    def score_totals(self, codes: IntArray, n_groups: int) -> FloatArray:
        """(G, P') weighted scores summed over the rows of each code 0..G-1.

        Parameters
        ----------
        codes : (N,)
            For all rows of the fit.
        n_groups : int
        """
        return score_totals(self.problem, self.estimates, codes, n_groups)

    def replicated(self, weights: FloatArray) -> FloatArray:
        """(R, P') estimates with other weights.

        Parameters
        ----------
        weights : (N, R)
            One column a replicate, for all rows of the fit.
        """
        from .covariance import replicated_estimates

        return replicated_estimates(self.estimation, self.problem, self.estimates, weights)

    def bias_reduced(self, cluster: IntArray) -> BiasReduced:
        """Adjusted score sums of the clusters (N,), for their CR2 covariance."""
        from .covariance import bias_reduced

        return bias_reduced(self.problem, self.estimates, cluster)

    def score_statistic(self, sample: Sample, estimates: FloatArray) -> float:
        """Rao's statistic U' J^-1 U of a wider model; NaN where its observed information J is not positive definite.

        Parameters
        ----------
        sample : Sample
            The sample of the wider model, no column aliased.
        estimates : (P',) of the model of the fit, in the parameters of the wider one
        """
        wider = identified(Problem.of(sample, self.problem.family, self.problem.flexible, self.threshold))
        at = wider.objective().evaluate(*wider.from_user(estimates))
        factor = None if at is None else at.information.factor()
        if at is None or factor is None:
            return float("nan")
        step_alpha, step_rest = factor.solve(at.score_alpha, at.score_rest)
        return float(np.vdot(step_alpha, at.score_alpha) + step_rest @ at.score_rest)

    def profile(self) -> ProfileLikelihood:
        """The profile likelihood of the estimated parameters, penalised where the fit is."""
        from .profile import ProfileLikelihood

        evaluate = self.estimation.objective(self.problem).evaluate
        point = self.problem.from_user(self.estimates)
        return ProfileLikelihood(evaluate, self.problem.user_scale(), point, self.separation)
