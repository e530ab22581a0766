"""From the coordinates of the solver, on centred and scaled columns, to the parameters of the user."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray
from .blocks import Blocks, Factor
from .newton import Evaluation, Objective


def correct_digits(estimates: FloatArray, errors: FloatArray, information: Any) -> FloatArray:
    """(P',) correct significant digits of each estimate, at most 15, from what it may be off by.

    An estimate smaller than its standard error is measured against that.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        size = np.fmax(np.abs(estimates), np.sqrt(information.variances()))
        digits = np.floor(-np.log10(np.maximum(errors / size, 1e-16)))
    return np.asarray(np.fmin(np.fmax(digits, 0.0), 15.0))  # 0 of NaN


#: Means and deviations of columns.
Moments = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False, kw_only=True)
class UserScale:
    """The maps alpha_k = G alpha~_k + c_k A rest~ and rest = rest~ / scale, k over the t threshold parameters.

    Attributes
    ----------
    G : (m, m)
    A : (m, q)
    scale : (q,)
    c : (t,)
        How a common move of all thresholds moves their parameters: ones without a structure.
    """

    G: FloatArray
    A: FloatArray
    scale: FloatArray
    c: FloatArray

    @classmethod
    def of(cls, location: Moments, nominal: Moments, scale: FloatArray, c: FloatArray) -> UserScale:
        """From (mean, deviation) of the location and nominal columns, the deviation of the scale columns, and c."""
        (mx, dx), (mw, dw) = location, nominal
        m, p, r = 1 + mw.size, mx.size, scale.size
        G = np.diag(np.concatenate([[1.0], 1.0 / dw]))
        G[0, 1:] = -mw / dw
        A = np.zeros((m, p + r))
        A[0, :p] = mx / dx
        return cls(G=G, A=A, scale=np.concatenate([dx, scale]), c=c)

    def coefficients(self, alpha: FloatArray, rest: FloatArray) -> tuple[FloatArray, FloatArray]:
        """User's (t, m) and (q,) from those of the scaled columns."""
        m = self.G.shape[0]
        return alpha.reshape(-1, m) @ self.G.T + np.outer(self.c, self.A @ rest), rest / self.scale

    def scaled(self, alpha: FloatArray, rest: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The inverse of `coefficients`."""
        own = rest * self.scale
        return np.asarray(np.linalg.solve(self.G, (alpha - np.outer(self.c, self.A @ own)).T).T, dtype=np.float64), own

    def rounding(self, alpha: FloatArray, rest: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Rounding error of `coefficients`, from the size of the terms they are sums of."""
        eps, alpha = 2.0**-53, np.abs(alpha).reshape(-1, self.G.shape[0])
        moved = np.outer(np.abs(self.c), np.abs(self.A) @ np.abs(rest))
        return eps * (alpha @ np.abs(self.G).T + moved), eps * np.abs(rest / self.scale)


def in_order(alpha: FloatArray, rest: FloatArray) -> FloatArray:
    """(t, m) and (q,) as one vector: intercepts of the thresholds, then column by column, then the rest."""
    return np.concatenate([alpha.T.reshape(-1), rest])


def joined(alpha: FloatArray, rest: FloatArray) -> FloatArray:
    """(P',) solver's coordinates alpha, row by row, and rest as one vector."""
    return np.concatenate([alpha.reshape(-1), rest])


def parted(point: FloatArray, shape: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """The inverse of `joined`, from the shape of alpha."""
    size = math.prod(shape)
    return point[:size].reshape(shape), point[size:]


@dataclass(frozen=True, eq=False, kw_only=True)
class InverseInformation:
    """Covariance of the estimates on the user's scale, from the factors of the information; computed when asked.

    Attributes
    ----------
    shape : tuple of int
        (t, m), of the threshold parameters.
    factor : Factor
    user : UserScale
    """

    shape: tuple[int, int]
    factor: Factor
    user: UserScale

    def _coupling(self) -> FloatArray:
        """(t, m, q): minus the regression of alpha on rest, alpha on the user's scale."""
        count, m = self.shape
        V = self.factor.V.reshape(count, m, self.user.scale.size)
        return np.asarray(np.einsum("ij,kjq->kiq", self.user.G, V) - np.multiply.outer(self.user.c, self.user.A))

    def variances(self) -> FloatArray:
        """(P',) without ever forming the covariance of the thresholds."""
        return self._variances

    @cached_property
    def _variances(self) -> FloatArray:
        G, coupling, schur = self.user.G, self._coupling(), self.factor.schur_inverse()
        own = np.einsum("ij,kjl,il->ki", G, self.factor.inverse_diagonal_blocks(self.shape[1]), G)
        alpha = own + ((coupling @ schur) * coupling).sum(axis=2)
        return in_order(alpha, np.diag(schur) / self.user.scale**2)

    def covariance(self) -> FloatArray:
        """(P', P')."""
        count, m = self.shape
        schur, q = self.factor.schur_inverse(), self.user.scale.size
        order = np.arange(count * m).reshape(count, m).T.reshape(-1)
        coupling = self._coupling().reshape(count * m, q)[order]
        spread = np.kron(np.eye(count), self.user.G)[order]
        own = spread @ self.factor.threshold_inverse() @ spread.T + coupling @ schur @ coupling.T
        mixed = -coupling @ schur / self.user.scale
        full = np.block([[own, mixed], [mixed.T, schur / np.outer(self.user.scale, self.user.scale)]])
        return np.asarray(0.5 * (full + full.T))


@dataclass(frozen=True, eq=False)
class CovarianceMatrix:
    """A covariance (P', P') at hand; NaN where it is not known."""

    matrix: FloatArray

    def variances(self) -> FloatArray:
        return np.array(np.diag(self.matrix))

    def covariance(self) -> FloatArray:
        return self.matrix.copy()


#: Curvature along a direction, as a share of the largest, below which the likelihood is flat there.
_FLAT = 1e-6
#: Part of a parameter along flat directions, above which the likelihood does not determine it.
_LEFT = 1e-4


def restricted_covariance(
    blocks: Blocks, shape: tuple[int, int], user: UserScale, infinite: BoolArray
) -> CovarianceMatrix:
    """Covariance where some estimates (P',) are infinite: that of the finite ones, NaN for the others.

    In the limit the separated rows say nothing more and the information is singular along the directions to infinity;
    its pseudo-inverse gives the finite estimates the covariance that they have in the problem that is left.
    """
    values, vectors = np.linalg.eigh(blocks.dense())
    steep = values > _FLAT * values[-1]
    rows = np.array([in_order(*user.coefficients(*parted(row, shape))) for row in vectors.T])
    full = (rows[steep].T / values[steep]) @ rows[steep]
    unknown = infinite | (np.linalg.norm(rows[~steep], axis=0) > _LEFT * np.linalg.norm(rows, axis=0))
    full[unknown], full[:, unknown] = np.nan, np.nan
    return CovarianceMatrix(full)


@dataclass(frozen=True, eq=False, kw_only=True)
class Structured:
    """An objective in the parameters (a (1, t m), rest) of a threshold structure instead of (alpha (K-1, m), rest).

    On centred and scaled columns alpha~_k = sum_t J_kt a_t + A_0 rest: the second term undoes the centring of the
    location columns where the structure cannot absorb it (symmetric2, whose thresholds cannot move together), else it
    is 0.

    Attributes
    ----------
    objective : callable
        In alpha and rest.
    jacobian : (K-1, t)
    shift : (m, q)
        A_0.
    """

    objective: Objective
    jacobian: FloatArray
    shift: FloatArray

    @classmethod
    def free(cls, objective: Objective, n_thresholds: int, shape: tuple[int, ...]) -> Structured:
        """Without a structure, m and q being the shape: the parameters are all thresholds."""
        return cls(objective=objective, jacobian=np.eye(n_thresholds), shift=np.zeros(shape))

    def expand(self, a: FloatArray, rest: FloatArray) -> FloatArray:
        """(K-1, m) alpha~."""
        m = self.shift.shape[0]
        return np.asarray(self.jacobian @ a.reshape(-1, m) + self.shift @ rest)

    def start(self, alpha: FloatArray) -> FloatArray:
        """(1, t m) parameters nearest to the thresholds alpha (K-1, m), all effects 0."""
        return np.asarray(np.linalg.lstsq(self.jacobian, alpha, rcond=None)[0].reshape(1, -1))

    def basis(self) -> tuple[FloatArray, FloatArray]:
        """Columns of the map: (P', K-1, m) changes of alpha~ and (P', q) changes of rest."""
        (n, t), (m, q) = self.jacobian.shape, self.shift.shape
        alpha = np.zeros((t * m + q, n, m))
        rest = np.zeros((t * m + q, q))
        for i in range(m):
            alpha[i : t * m : m, :, i] = self.jacobian.T
        alpha[t * m :] = self.shift.T[:, None, :]
        rest[t * m :] = np.eye(q)
        return alpha, rest

    def evaluate(self, a: FloatArray, rest: FloatArray) -> Evaluation | None:
        found = self.objective(self.expand(a, rest), rest)
        return None if found is None else self.reduced(found)

    def reduced(self, found: Evaluation) -> Evaluation:
        """Score and information of (a, rest) from those of (alpha~, rest); the information is one dense block."""
        score_alpha = self.jacobian.T @ found.score_alpha
        score_rest = found.score_rest + np.einsum("ki,iq->q", found.score_alpha, self.shift)
        dense = found.information.congruent(*self.basis())
        return Evaluation(
            loglik=found.loglik,
            score_alpha=score_alpha.reshape(1, -1),
            score_rest=score_rest,
            information=Blocks.of_dense(dense, score_alpha.size),
        )
