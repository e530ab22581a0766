"""From centred and scaled columns back to the user's: coefficients, their covariance, their digits.

With x~ = (x - mx)/dx, w~ = (w - mw)/dw, z~ = z/dz:  beta = beta~/dx,  zeta = zeta~/dz,  gamma_k = gamma~_k/dw and
theta_k = theta~_k - mw'gamma_k + mx'beta: linear maps, so the covariance follows exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from .schur import Factor


@dataclass(frozen=True, eq=False, kw_only=True)
class UserScale:
    """The maps alpha_k = G alpha~_k + A rest~ and rest = rest~ / scale.

    Attributes
    ----------
    G : (m, m)
    A : (m, q)
    scale : (q,)
    """

    G: FloatArray
    A: FloatArray
    scale: FloatArray

    @classmethod
    def of(
        cls,
        location: tuple[FloatArray, FloatArray],
        nominal: tuple[FloatArray, FloatArray],
        scale: FloatArray,
    ) -> UserScale:
        """From (mean, deviation) of the location and nominal columns and the deviation of the scale columns."""
        (mx, dx), (mw, dw) = location, nominal
        m, p, r = 1 + mw.size, mx.size, scale.size
        G = np.diag(np.concatenate([[1.0], 1.0 / dw]))
        G[0, 1:] = -mw / dw
        A = np.zeros((m, p + r))
        A[0, :p] = mx / dx
        return cls(G=G, A=A, scale=np.concatenate([dx, scale]))

    def coefficients(self, alpha: FloatArray, rest: FloatArray) -> tuple[FloatArray, FloatArray]:
        """User's (K-1, m) and (q,) from those of the scaled columns."""
        return alpha @ self.G.T + self.A @ rest, rest / self.scale

    def rounding(self, alpha: FloatArray, rest: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Rounding error of `coefficients`, from the size of the terms they are sums of."""
        eps = 2.0**-53
        return eps * (np.abs(alpha) @ np.abs(self.G).T + np.abs(self.A) @ np.abs(rest)), eps * np.abs(rest / self.scale)


def in_order(alpha: FloatArray, rest: FloatArray) -> FloatArray:
    """(K-1, m) and (q,) as one vector: intercepts of the thresholds, then column by column, then the rest."""
    return np.concatenate([alpha.T.reshape(-1), rest])


@dataclass(frozen=True, eq=False, kw_only=True)
class InverseInformation:
    """Covariance of the estimates on the user's scale, from the factors of the information; computed when asked.

    Attributes
    ----------
    shape : tuple of int
        (K-1, m), of the thresholds.
    factor : Factor
    user : UserScale
    """

    shape: tuple[int, int]
    factor: Factor
    user: UserScale

    def _coupling(self) -> FloatArray:
        """(K-1, m, q): minus the regression of alpha on rest, alpha on the user's scale."""
        count, m = self.shape
        V = self.factor.V.reshape(count, m, self.user.scale.size)
        return np.asarray(np.einsum("ij,kjq->kiq", self.user.G, V) - self.user.A)

    def variances(self) -> FloatArray:
        """(P',) without ever forming the covariance of the thresholds."""
        G, coupling, schur = self.user.G, self._coupling(), self.factor.schur_inverse()
        own = np.einsum("ij,kjl,il->ki", G, self.factor.inverse_diagonal_blocks(), G)
        alpha = own + ((coupling @ schur) * coupling).sum(axis=2)
        return in_order(alpha, np.diag(schur) / self.user.scale**2)

    def covariance(self) -> FloatArray:
        """(P', P')."""
        count, m = self.shape
        schur, q = self.factor.schur_inverse(), self.user.scale.size
        order = np.arange(count * m).reshape(count, m).T.reshape(-1)
        coupling = self._coupling().reshape(count * m, q)[order]
        spread = np.kron(np.eye(count), self.user.G)[order]
        full = np.empty((count * m + q, count * m + q))
        mixed = -coupling @ schur / self.user.scale
        full[: count * m, : count * m] = (
            spread @ self.factor.threshold_inverse() @ spread.T + coupling @ schur @ coupling.T
        )
        full[: count * m, count * m :] = mixed
        full[count * m :, : count * m] = mixed.T
        full[count * m :, count * m :] = schur / np.outer(self.user.scale, self.user.scale)
        return 0.5 * (full + full.T)


@dataclass(frozen=True, eq=False)
class Unknown:
    """No covariance: the information is not positive definite where the iteration stopped; everything is NaN."""

    size: int

    def variances(self) -> FloatArray:
        return np.full(self.size, np.nan)

    def covariance(self) -> FloatArray:
        return np.full((self.size, self.size), np.nan)
