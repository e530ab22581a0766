"""The likelihood of a fit with random effects, for what asks `LikelihoodFit.likelihood`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from ....exceptions import UnavailableError
from ....model.likelihood.marginal import Marginal
from .profile import MixedProfile


@dataclass(frozen=True, eq=False)
class MarginalAtEstimates:
    """Refuses in words what asks for the scores of independent rows [LikelihoodAtEstimates].

    Attributes
    ----------
    marginal : Marginal
        The random effects; its `likelihood` is what new questions build upon.
    """

    marginal: Marginal

    def score_products(self, cluster: Any) -> NoReturn:
        self._refuse("A sandwich covariance")

    def score_totals(self, codes: Any, n_groups: int) -> NoReturn:
        self._refuse("A sandwich covariance")

    def replicated(self, weights: Any) -> NoReturn:
        self._refuse("A replicate covariance")

    def bias_reduced(self, cluster: Any) -> NoReturn:
        self._refuse("A CR2 covariance")

    def cluster_scores(self, cluster: Any, values: Any) -> NoReturn:
        self._refuse("A score bootstrap")

    def score_statistic(self, sample: Any, estimates: Any) -> NoReturn:
        self._refuse("A score test")

    def profile(self) -> MixedProfile:
        """The profile likelihood of fixed parameters and standard deviations."""
        return MixedProfile(self.marginal.likelihood)

    def _refuse(self, what: str) -> NoReturn:
        raise UnavailableError(f"{what} is not available of a fit with random effects.")
