"""Bias-reduced cluster-robust covariance (CR2), and the degrees of freedom of tests by it, for few clusters.

Scores of G clusters, adjusted so that their outer products have, where the model is true, the expectation of those of
the true residuals [Bell and McCaffrey 2002; Pustejovsky and Tipton 2018, sec. 2.2].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray
from ..row_blocks import row_blocks


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

    def t_df(self, bread: FloatArray) -> FloatArray:
        """(P',) Satterthwaite's degrees of freedom 2 E(v)^2 / Var(v) of the variance v of each estimate."""
        return np.array([self.wald_df(row[None]) for row in self._directions(bread)])

    def t_df_of(self, bread: FloatArray, L: FloatArray) -> FloatArray:
        """(n,) the same for combinations (n, P') of the estimates; infinite of those that are 0."""
        directions, (G, _, P) = L @ self._directions(bread), self.spread.shape
        blocks = row_blocks(len(L), P * (G + P))
        return np.concatenate([self._single_df(directions[some]) for some in blocks] or [np.empty(0)])

    def _single_df(self, directions: FloatArray) -> FloatArray:
        """E^2 / sum_gh C_gh^2 of each direction (n, P'), with C_gh as in `wald_df` and E the sum of C_gg."""
        own = np.einsum("np,gpq,nq->ng", directions, self.spread, directions, optimize=True)
        moved = np.einsum("np,gpq->ngq", directions, self.pull, optimize=True)
        squares = np.einsum("ngq,ngq->ng", moved, moved)
        crossed = np.einsum("ngp,ngq->npq", moved, moved, optimize=True)
        total = (own**2 - 2.0 * own * squares).sum(axis=1) + (crossed**2).sum(axis=(1, 2))
        mean = (own - squares).sum(axis=1)
        return np.asarray(np.where(total > 0.0, mean**2 / np.where(total > 0.0, total, 1.0), np.inf))

    def f_df(self, bread: FloatArray, L: FloatArray) -> float:
        """Degrees of freedom eta of the covariance of L b, (h, P') hypotheses, as a Wishart matrix."""
        return self.wald_df(L @ self._directions(bread))

    def _directions(self, bread: FloatArray) -> FloatArray:
        """(P', P') every estimate as a combination of the adjusted scores."""
        return np.asarray(bread @ self.root.T)

    def wald_df(self, directions: FloatArray) -> float:
        """eta = h (h + 1) / sum_st Var(D_st) of the normalised covariance D of some directions (h, P').

        Cov(z_g, z_h) = spread_g [g = h] - pull_g pull_h' in these directions; Var(D_st) is the sum over g and h of
        C_gh[s,s] C_gh[t,t] + C_gh[s,t] C_gh[t,s] [Pustejovsky and Tipton 2018, sec. 3.2].
        """
        own, moved = self._parts(directions)
        values, vectors = np.linalg.eigh(own.sum(axis=0) - np.einsum("gsp,gtp->st", moved, moved))
        own, moved = self._parts((vectors / np.sqrt(values)).T @ directions)
        h = range(len(directions))
        pairs = [(s, t) for s in h for t in h]
        total = sum(_products(own, moved, (s, s), (t, t)) + _products(own, moved, (s, t), (t, s)) for s, t in pairs)
        return len(h) * (len(h) + 1) / total

    def _parts(self, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(G, h, h) and (G, h, P'): what C_gh is made of."""
        own = np.einsum("sp,gpq,tq->gst", directions, self.spread, directions, optimize=True)
        return own, np.einsum("sp,gpq->gsq", directions, self.pull)


def _products(own: FloatArray, moved: FloatArray, one: tuple[int, int], other: tuple[int, int]) -> float:
    """Sum over g and h of C_gh[a, b] C_gh[c, d], where C_gh = own_g [g = h] - moved_g moved_h'."""
    (a, b), (c, d) = one, other
    inner_one = np.einsum("gp,gp->g", moved[:, a], moved[:, b])
    inner_other = np.einsum("gp,gp->g", moved[:, c], moved[:, d])
    crossed = (moved[:, a].T @ moved[:, c]) * (moved[:, b].T @ moved[:, d])
    squares = own[:, a, b] * own[:, c, d] - own[:, a, b] * inner_other - own[:, c, d] * inner_one
    return float(squares.sum() + crossed.sum())
