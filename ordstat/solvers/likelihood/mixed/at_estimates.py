"""The likelihood of a fit with random effects, for what asks `LikelihoodFit.likelihood`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from ...._typing import FloatArray, IntArray
from ....exceptions import UnavailableError
from ....model.likelihood.marginal import Marginal
from ....model.likelihood.rule import LikelihoodRule
from ....model.sample import Sample
from .estimate import MarginalLikelihood
from .given import Fixed, likelihood_with
from .profile import MixedProfile


@dataclass(frozen=True, eq=False)
class MarginalAtEstimates:
    """Scores of clusters and profiles; refuses in words what asks for independent rows [LikelihoodAtEstimates].

    Attributes
    ----------
    marginal : Marginal
        The random effects; its `likelihood` is what new questions build upon.
    """

    marginal: Marginal

    def score_products(self, cluster: IntArray | None) -> FloatArray:
        """(P' + m', P' + m') sum of outer products of the scores of clusters of whole groups.

        Raises
        ------
        UnavailableError
            No clusters.
        """
        if cluster is None:
            self._refuse("A sandwich covariance of independent rows")
        codes = np.unique(cluster, return_inverse=True)[1]
        scores = self.score_totals(codes, int(codes.max()) + 1)
        return scores.T @ scores

    def score_totals(self, codes: IntArray, n_groups: int) -> FloatArray:
        """(G, P' + m') scores of clusters of whole groups, by the parameters of the user."""
        here = self.marginal.likelihood
        return np.asarray(here.scores(codes, n_groups) @ here.from_user())

    def replicated(self, weights: Any) -> NoReturn:
        self._refuse("A replicate covariance")

    def bias_reduced(self, cluster: Any) -> NoReturn:
        self._refuse("A CR2 covariance")

    def score_statistic(self, sample: Any, estimates: Any) -> NoReturn:
        self._refuse("A score test")

    def with_rows(
        self, rule: LikelihoodRule, expand: FloatArray, estimates: FloatArray, sample: Sample, further: Sample
    ) -> MarginalLikelihood | None:
        """The integrated likelihood with modes that know further rows (`given.py`); None where there are no such."""
        fixed = Fixed(family=rule.family, n_thresholds=len(rule.alpha), estimates=estimates, expand=expand)
        return likelihood_with(self.marginal, fixed, sample, further)

    def profile(self) -> MixedProfile:
        """The profile likelihood of fixed parameters and standard deviations."""
        return MixedProfile(self.marginal.likelihood)

    def ends(self, combinations: FloatArray) -> FloatArray:
        """NaN: where infinite estimates go against each other, variances decide."""
        return np.full(len(combinations), np.nan)

    def _refuse(self, what: str) -> NoReturn:
        raise UnavailableError(f"{what} is not available of a fit with random effects.")
