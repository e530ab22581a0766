"""Bias-reduced cluster-robust covariance (CR2), and the degrees of freedom of tests by it, for few clusters.

Scores of G clusters, adjusted so that their outer products have, where the model is true, the expectation of those of
the true residuals [Bell and McCaffrey 2002; Pustejovsky and Tipton 2018, sec. 2.2].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray
from ..row_blocks import row_blocks

#: Fewer clusters than these make cluster-robust standard errors too small.
FEW_CLUSTERS = 20
#: What to use where there is no CR2.
WITHOUT_CR2 = (
    f"With {FEW_CLUSTERS} clusters or more use {{'cluster': ...}} without a type; with fewer, a random effect, (1 | g)."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class BiasReduced:
    """Clusters g = 1..G, in coordinates in which the expected information of the P' estimates is 1.

    With Q_g the rows of the orthonormal basis of a cluster, V_g the covariance of its responses and e_g their
    residuals, B_g = V_g (1 - Q_g Q_g') V_g and A_g = B_g^(-1/2):

    Attributes
    ----------
    root : (P', P')
        R of the QR decomposition: expected information = R'R.
    scores : (G, P')
        Q_g' A_g V_g^(1/2) e_g, the adjusted scores.
    spread : (G, P', P')
        Q_g' A_g V_g^2 A_g Q_g, their covariance but for the estimation.
    pull : (G, P', P')
        Q_g' A_g V_g Q_g, how they move with the estimates.
    """

    root: FloatArray
    scores: FloatArray
    spread: FloatArray
    pull: FloatArray

    def covariance(self, bread: FloatArray) -> FloatArray:
        """(P', P') the sandwich, of the inverse of the observed information."""
        half = self.scores @ self.root @ bread
        return np.asarray(half.T @ half)

    def t_df(self, bread: FloatArray, L: FloatArray) -> FloatArray:
        """(n,) Satterthwaite's degrees of freedom 2 E(v)^2 / Var(v) of the variances v of combinations (n, P') of the
        estimates; infinite of those that are 0."""
        directions, (G, _, P) = L @ bread @ self.root.T, self.spread.shape
        blocks = row_blocks(len(L), P * (G + P))
        return np.concatenate([self._single_df(directions[some]) for some in blocks] or [np.empty(0)])

    def _single_df(self, directions: FloatArray) -> FloatArray:
        """E^2 / sum_gh C_gh^2 of each direction (n, P'), E the sum of C_gg, where C_gh = Cov(z_g, z_h) of the scores z
        in that direction is spread_g [g = h] - pull_g pull_h' [Pustejovsky and Tipton 2018, sec. 3.2]."""
        own = np.einsum("np,gpq,nq->ng", directions, self.spread, directions, optimize=True)
        moved = np.einsum("np,gpq->ngq", directions, self.pull, optimize=True)
        squares = np.einsum("ngq,ngq->ng", moved, moved)
        crossed = np.einsum("ngp,ngq->npq", moved, moved, optimize=True)
        total = (own**2 - 2.0 * own * squares).sum(axis=1) + (crossed**2).sum(axis=(1, 2))
        mean = (own - squares).sum(axis=1)
        return np.asarray(np.where(total > 0.0, mean**2 / np.where(total > 0.0, total, 1.0), np.inf))
