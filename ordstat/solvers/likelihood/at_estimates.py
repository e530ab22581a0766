"""A problem with its estimates: what sandwiches, score tests and profiles are functions of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..._typing import BoolArray, FloatArray, IntArray
from ...model.likelihood.bias_reduced import BiasReduced
from ...model.sample import Sample
from .estimate import Estimation
from .identified import identified
from .problem import Problem
from .sandwich import score_products, score_totals
from .separation import ends_of
from .start import elsewhere

if TYPE_CHECKING:
    from .flexible_profile import FlexibleProfile
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
    undetermined : (P',) bool or None
        Estimates that separation leaves open.
    lambda_end : int
    error : float
        Standard error of lambda, the last of the estimates where it is estimated.
    keeps_order : bool
        Whether thresholds were to be in order all over the range of the nominal columns.
    """

    estimation: Estimation
    problem: Problem
    threshold: str
    estimates: FloatArray
    separation: FloatArray | None
    lambda_end: int
    error: float
    keeps_order: bool = False
    undetermined: BoolArray | None = None

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
        from .replicates import replicated_estimates

        return replicated_estimates(self.estimation, self.problem, self.estimates, weights, self.keeps_order)

    def bias_reduced(self, cluster: IntArray) -> BiasReduced:
        """Adjusted score sums of the clusters (N,), for their CR2 covariance."""
        from .clusters.bias_reduced import bias_reduced

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

    def ends(self, combinations: FloatArray) -> FloatArray:
        """(h,) where combinations (h, P') of the estimates end: 0 finite, infinite, NaN left open.

        NaN, too, where a scale effect runs off, lambda is estimated or thresholds are held in order.
        """
        scales = int(self.problem.scale.kept.sum())
        run_off = bool(scales) and self.separation is not None and bool(self.separation[-scales:].any())
        if self.keeps_order or self.problem.flexible is not None or run_off:
            return np.full(len(combinations), np.nan)
        alpha, rest = self.problem.from_user(self.estimates)
        return ends_of(self.problem, alpha, rest, combinations)

    def profile(self) -> ProfileLikelihood | FlexibleProfile:
        """The profile likelihood of the estimated parameters, penalised where the fit is."""
        from .flexible_profile import FlexibleProfile

        start = self.problem.from_user(self.estimates)
        if self.problem.flexible is None:
            return self._profile(start)
        return FlexibleProfile(self.problem, start, self._profile(start), self.lambda_end, self.error)

    def _profile(self, start: tuple[FloatArray, FloatArray]) -> ProfileLikelihood:
        from .profile import ProfileLikelihood

        objective = self.estimation.objective(self.problem)
        others = partial(elsewhere, self.problem, self.estimation.max_iter)
        return ProfileLikelihood(
            objective.evaluate, self.problem.user_scale(), start, self.separation, self.undetermined, others
        )
