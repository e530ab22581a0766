"""The likelihood of a fit with random effects, for what asks `LikelihoodFit.likelihood`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...._typing import FloatArray, IntArray
from ....model.likelihood.marginal import Marginal
from .profile import MixedProfile


@dataclass(frozen=True, eq=False)
class MarginalAtEstimates:
    """Scores of clusters of whole groups, and profiles; other questions are refused in `results/` before they get here.

    Attributes
    ----------
    marginal : Marginal
        The random effects; its `likelihood` is what new questions build upon.
    """

    marginal: Marginal

    def score_products(self, cluster: IntArray) -> FloatArray:
        """(P' + m', P' + m') sum of outer products of the scores of clusters of whole groups."""
        codes = np.unique(cluster, return_inverse=True)[1]
        scores = self.score_totals(codes, int(codes.max()) + 1)
        return scores.T @ scores

    def score_totals(self, codes: IntArray, n_groups: int) -> FloatArray:
        """(G, P' + m') scores of clusters of whole groups, by the parameters of the user."""
        here = self.marginal.likelihood
        return np.asarray(here.scores(codes, n_groups) @ here.from_user())

    def profile(self) -> MixedProfile:
        """The profile likelihood of fixed parameters and standard deviations."""
        return MixedProfile(self.marginal.likelihood)
