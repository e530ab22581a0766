"""The information matrix of a likelihood model in blocks, and linear algebra that never makes it dense.

J = [[T, C], [C', B]]: T, of the thresholds, is block tridiagonal (one m x m block a threshold, m - 1 nominal columns)
where P(y <= k) depends on threshold k alone, else one block; B, of the other coefficients, is small. With T = L L'
banded and V = T^-1 C the Schur complement S = B - C'V carries everything: O(K q^2 + q^3) time, O(K q) memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dpbtrf, dpbtrs, dpotrf, dpotrs

from .._typing import FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Factor:
    """Cholesky factors of T (banded) and of the Schur complement S, with V = T^-1 C (A, q)."""

    band: FloatArray
    V: FloatArray
    schur: FloatArray

    def solve(self, alpha: FloatArray, rest: FloatArray) -> tuple[FloatArray, FloatArray]:
        """J^-1 (alpha, rest) for vectors (K-1, m) and (q,)."""
        base = dpbtrs(self.band, alpha.reshape(-1), lower=1)[0]
        with np.errstate(
            over="ignore", invalid="ignore"
        ):  # far off the optimum: a step that is not finite is not taken
            step = dpotrs(self.schur, rest - self.V.T @ alpha.reshape(-1), lower=1)[0] if rest.size else rest
            return (base - self.V @ step).reshape(alpha.shape), step

    def schur_inverse(self) -> FloatArray:
        """(q, q) inverse of S: the covariance of the location and log-scale coefficients."""
        q = self.schur.shape[0]
        return np.asarray(dpotrs(self.schur, np.eye(q), lower=1)[0]) if q else np.zeros((0, 0))

    def threshold_inverse(self) -> FloatArray:
        """(A, A) inverse of T."""
        return np.asarray(dpbtrs(self.band, np.eye(self.V.shape[0]), lower=1)[0])

    def inverse_diagonal_blocks(self, m: int) -> FloatArray:
        """(A / m, m, m) diagonal blocks of T^-1, from the last row up [Takahashi, Fagan and Chen 1973].

        `window` is the part of T^-1 that the next row couples to; only squares are added, so nothing cancels.
        """
        bandwidth, size = self.band.shape[0] - 1, self.band.shape[1]
        if bandwidth + 1 >= 2 * size:  # one dense block
            split = self.threshold_inverse().reshape(size // m, m, size // m, m)
            return np.ascontiguousarray(np.einsum("kikj->kij", split))
        blocks = np.empty((size // m, m, m))
        window = np.zeros((bandwidth, bandwidth))
        for j in range(size - 1, -1, -1):
            ratio = self.band[1:, j] / self.band[0, j]
            column = -window @ ratio
            own = 1.0 / self.band[0, j] ** 2 - ratio @ column
            block, place = divmod(j, m)
            inside = column[: m - 1 - place]
            blocks[block, place, place] = own
            blocks[block, place + 1 :, place] = blocks[block, place, place + 1 :] = inside
            window[1:, 1:] = window[:-1, :-1].copy()
            window[0, 0], window[0, 1:], window[1:, 0] = own, column[:-1], column[:-1]
        return blocks


#: Diagonal entries below this share of the largest count as that share when the diagonal is raised.
_VANISHING = 1e-12


def _on_diagonal(matrices: FloatArray) -> FloatArray:
    """(..., m) view of the diagonals of matrices (..., m, m)."""
    return np.asarray(np.einsum("...ii->...i", matrices))


@dataclass(frozen=True, eq=False, kw_only=True)
class Blocks:
    """A symmetric matrix of the shape above.

    Attributes
    ----------
    diagonal : (K-1, m, m)
    below : (K-2, m, m)
        Block (k + 1, k) of T.
    cross : (K-1, m, q)
    rest : (q, q)
    """

    diagonal: FloatArray
    below: FloatArray
    cross: FloatArray
    rest: FloatArray

    def damped(self, factor: float) -> Blocks:
        """This matrix plus `factor` times the absolute value of its diagonal, entries that vanish a little raised."""
        diagonal, rest = self.diagonal.copy(), self.rest.copy()
        with np.errstate(over="ignore"):  # as far as doubles go: what overflows is refused by `factor`
            for part, size in zip((diagonal, rest), self._sizes, strict=True):
                _on_diagonal(part)[:] += factor * size
        return Blocks(diagonal=diagonal, below=self.below, cross=self.cross, rest=rest)

    @cached_property
    def _sizes(self) -> tuple[FloatArray, FloatArray]:
        """(K-1, m) and (q,) absolute values of the diagonal, entries that vanish a little raised."""
        of_alpha, of_rest = np.abs(_on_diagonal(self.diagonal)), np.abs(_on_diagonal(self.rest))
        least = _VANISHING * max(of_alpha.max(), of_rest.max(initial=0.0))
        return np.maximum(of_alpha, least), np.maximum(of_rest, least)

    @property
    def positive(self) -> bool:
        """Whether the diagonal, once raised, may be positive: it has neither vanished nor overflowed."""
        largest = max(np.abs(_on_diagonal(part)).max(initial=0.0) for part in (self.diagonal, self.rest))
        return bool(0.0 < largest < np.inf)

    def banded(self) -> FloatArray:
        """T in LAPACK's lower band storage (2m, (K-1) m)."""
        count, m, _ = self.diagonal.shape
        if m == 1:
            band = np.zeros((2, count), order="F")
            band[0], band[1, :-1] = self.diagonal[:, 0, 0], self.below[:, 0, 0]
            return band
        band = np.zeros((2 * m, count * m), order="F")
        for row in range(m):
            for column in range(m):
                if row >= column:
                    band[row - column, column::m] = self.diagonal[:, row, column]
                band[m + row - column, column : (count - 1) * m : m] = self.below[:, row, column]
        return band

    def factor(self) -> Factor | None:
        """Cholesky factors, or None where the matrix is not numerically positive definite."""
        band, failed = dpbtrf(self.banded(), lower=1, overwrite_ab=1)
        if failed:
            return None
        q = self.rest.shape[0]
        cross = self.cross.reshape(band.shape[1], q)
        if q == 0:
            return Factor(band=band, V=cross, schur=self.rest)
        V = dpbtrs(band, cross, lower=1)[0]
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is not positive definite
            complement = self.rest - cross.T @ V
        if not np.isfinite(complement).all():
            return None
        schur, failed = dpotrf(complement, lower=1)
        return None if failed else Factor(band=band, V=V, schur=schur)

    def congruent(self, alpha: FloatArray, rest: FloatArray) -> FloatArray:
        """(B, B) products b'J b of B vectors, given as alpha (B, K-1, m) and rest (B, q)."""
        alpha = alpha.reshape(-1, *self.diagonal.shape[:2])
        out = np.einsum("kij,bkj->bki", self.diagonal, alpha) + np.einsum("kiq,bq->bki", self.cross, rest)
        out[:, 1:] += np.einsum("kij,bkj->bki", self.below, alpha[:, :-1])
        out[:, :-1] += np.einsum("kij,bki->bkj", self.below, alpha[:, 1:])
        of_rest = np.einsum("kiq,bki->bq", self.cross, alpha) + rest @ self.rest
        products = np.tensordot(alpha, out, axes=([1, 2], [1, 2])) + rest @ of_rest.T
        return np.asarray(0.5 * (products + products.T))

    @classmethod
    def of_dense(cls, matrix: FloatArray, n_alpha: int) -> Blocks:
        """A dense matrix whose first `n_alpha` rows belong to the thresholds, as one block."""
        top = matrix[:n_alpha]
        return cls(
            diagonal=top[None, :, :n_alpha],
            below=np.zeros((0, n_alpha, n_alpha)),
            cross=top[None, :, n_alpha:],
            rest=matrix[n_alpha:, n_alpha:],
        )

    def dense(self) -> FloatArray:
        """(A + q, A + q), thresholds first, threshold by threshold."""
        count, m, _ = self.diagonal.shape
        size, q = count * m, self.rest.shape[0]
        full = np.zeros((size + q, size + q))
        for k in range(count):
            here = slice(k * m, (k + 1) * m)
            full[here, here] = self.diagonal[k]
            if k + 1 < count:
                after = slice((k + 1) * m, (k + 2) * m)
                full[after, here] = self.below[k]
                full[here, after] = self.below[k].T
        full[:size, size:] = self.cross.reshape(size, q)
        full[size:, :size] = full[:size, size:].T
        full[size:, size:] = self.rest
        return full


#: Eigenvalues are computed up to this size; above it the condition number is an estimate in the 1-norm.
_DENSE = 120


def condition_number(blocks: Blocks, factor: Factor) -> float:
    """Largest over smallest eigenvalue; for large matrices the 1-norm condition number by Hager's estimate."""
    from scipy.sparse.linalg import LinearOperator, onenormest

    size = blocks.diagonal.shape[0] * blocks.diagonal.shape[1] + blocks.rest.shape[0]
    if size <= _DENSE:
        values = np.linalg.eigvalsh(blocks.dense())
        return float(values[-1] / values[0]) if values[0] > 0.0 else float("inf")
    shape, n_alpha = blocks.diagonal.shape[:2], size - blocks.rest.shape[0]

    def solve(vector: FloatArray) -> FloatArray:
        x = vector.reshape(-1)
        return np.concatenate([part.reshape(-1) for part in factor.solve(x[:n_alpha].reshape(shape), x[n_alpha:])])

    inverse = LinearOperator((size, size), matvec=solve, rmatvec=solve, dtype=np.float64)
    return float(np.linalg.norm(blocks.dense(), 1) * onenormest(inverse, t=1))
