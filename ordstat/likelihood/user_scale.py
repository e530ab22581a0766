"""The map from the solver's coordinates to the user's parameters, and the covariance of
the user's estimates.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..checks import require_memory
from ..formula.row_blocks import row_blocks
from ..newton import CholeskyFactor

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Arrays of parameters by parameters that are held together while a covariance matrix
#: is formed.
_SQUARES = 5


@dataclass(frozen=True, eq=False)
class UserScale:
    """Map from coordinates x = (alpha~ threshold by threshold, rest~), on centred and
    scaled columns, to the user's parameters.

    alpha_k = G alpha~_k + c_k A rest~ and rest = rest~ / scale, k over the t threshold
    parameters. The user's parameters are the intercepts of the thresholds, then their
    nominal effects column by column, then the rest.

    Attributes
    ----------
    G : (m, m)
    A : (m, q)
    scale : (q,)
    c : (t,)
        Change of the threshold parameters when all thresholds move by 1: ones without a
        structure.
    """

    G: FloatArray
    A: FloatArray
    scale: FloatArray
    c: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """(t, m)."""
        return self.c.size, self.G.shape[0]

    @property
    def n_alpha(self) -> int:
        """Number of coefficients of the thresholds."""
        return int(self.c.size * self.G.shape[0])

    def alpha_shift(self, rest: FloatArray) -> FloatArray:
        """(t, m, n) contribution of rest~ (q, n) to alpha."""
        return self.c[:, None, None] * (self.A @ rest)

    def alpha_shift_transposed(self, by_column: FloatArray) -> FloatArray:
        """(q, n) the transpose of `alpha_shift`, of (m, t, n)."""
        return self.A.T @ (self.c @ by_column)

    def absolute(self) -> UserScale:
        """The same map of absolute values."""
        return UserScale(
            np.abs(self.G), np.abs(self.A), np.abs(self.scale), np.abs(self.c)
        )

    def split(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """alpha~ (t, m, ...) and rest~ (q, ...)."""
        alpha = x[: self.n_alpha].reshape(*self.shape, *x.shape[1:])
        return alpha, x[self.n_alpha :]

    def coefficients(self, x: FloatArray) -> FloatArray:
        """The user's parameters at coordinates x (P,), or at each column of x
        (P, n).
        """
        alpha, rest = self.split(x[:, None] if x.ndim == 1 else x)
        alpha = self.G @ alpha + self.alpha_shift(rest)
        parts = [
            alpha.swapaxes(0, 1).reshape(len(x) - len(rest), rest.shape[1]),
            rest / self.scale[:, None],
        ]
        return np.concatenate(parts).reshape(x.shape)

    def slopes(self, values: FloatArray) -> FloatArray:
        """(P,) derivatives with respect to the coordinates, from derivatives `values`
        (P,) with respect to the user's parameters, or for each column of values (P, n).
        """
        t, m = self.shape
        columns = values[:, None] if values.ndim == 1 else values
        by_column = columns[: self.n_alpha].reshape(m, t, -1)
        rest = columns[self.n_alpha :] / self.scale[:, None]
        rest = rest + self.alpha_shift_transposed(by_column)
        alpha = (self.G.T @ by_column.reshape(m, -1)).reshape(m, t, -1).swapaxes(0, 1)
        parts = [alpha.reshape(self.n_alpha, columns.shape[1]), rest]
        return np.concatenate(parts).reshape(values.shape)

    def coordinates(self, values: FloatArray) -> FloatArray:
        """The inverse of `coefficients`; 0 for constant columns, whose scale is
        infinite.
        """
        t, m = self.shape
        scale = np.where(np.isfinite(self.scale), self.scale, 0.0)
        rest = values[self.n_alpha :] * scale
        by_column = values[: self.n_alpha].reshape(m, t)
        alpha = by_column - self.alpha_shift(rest[:, None])[:, :, 0].T
        return np.concatenate([np.linalg.solve(self.G, alpha).T.reshape(-1), rest])

    def rounding(self, x: FloatArray) -> FloatArray:
        """Rounding errors of `coefficients`, from the sizes of their terms."""
        return 2.0**-53 * self.absolute().coefficients(np.abs(x))

    def gradient(self, index: int) -> FloatArray:
        """(P,) derivatives of the user's parameter `index` with respect to the
        coordinates.
        """
        unit = np.zeros(self.n_alpha + self.scale.size)
        unit[index] = 1.0
        return self.slopes(unit)


class CovarianceOperator(Protocol):
    """A covariance (P, P) as products with vectors; the matrix need not be formed."""

    @property
    def size(self) -> int:
        """P."""

    @property
    def variances(self) -> FloatArray:
        """(P,) the diagonal."""

    def times(self, vector: FloatArray) -> FloatArray:
        """(P,) the covariance times a vector, or (P, n) times each column of a
        matrix.
        """

    def quadratic(self, L: FloatArray) -> FloatArray:
        """(h, h) L V L', the covariance of the combinations L (h, P)."""

    def variances_of(self, L: FloatArray) -> FloatArray:
        """(...) variances of the combinations L (..., P)."""

    def dense(self) -> FloatArray:
        """(P, P).

        Raises
        ------
        DataError
            The matrix does not fit into memory.
        """


def unit_rows(places: IntArray, size: int) -> FloatArray:
    """(h, size) the rows of the unit matrix at some places."""
    rows = np.zeros((places.size, size))
    rows[np.arange(places.size), places] = 1.0
    return rows


@dataclass(frozen=True, eq=False)
class InverseInformation:
    """The covariance of the user's estimates: the inverse of the information, computed
    on request from its factors.
    """

    factor: CholeskyFactor
    user: UserScale

    @property
    def size(self) -> int:
        """P'."""
        return self.user.n_alpha + self.user.scale.size

    def _by_rest(self) -> tuple[FloatArray, FloatArray]:
        """(P', q) derivatives of the user's parameters by rest~, and (q, q) the
        covariance of rest~.
        """
        moves = self.user.coefficients(
            np.vstack([-self.factor.V, np.eye(self.user.scale.size)])
        )
        return moves, self.factor.schur_inverse

    @cached_property
    def variances(self) -> FloatArray:
        """(P',) variances, without forming the covariance of the thresholds."""
        G = self.user.G
        moves, schur = self._by_rest()
        alpha = np.einsum(
            "ij,kjl,il->ik", G, self.factor.inverse_diagonal_blocks(len(G)), G
        ).reshape(-1)
        total = ((moves @ schur) * moves).sum(axis=1)
        total[: alpha.size] += alpha
        return np.asarray(total)

    def times(self, vector: FloatArray) -> FloatArray:
        return self.user.coefficients(self.factor.solve(self.user.slopes(vector)))

    def _whitened(self, L: FloatArray) -> FloatArray:
        """(P', h) whose products are the covariances of the combinations L (h, P')."""
        return self.factor.whitened(self.user.slopes(L.T))

    def quadratic(self, L: FloatArray) -> FloatArray:
        white = self._whitened(L)
        return white.T @ white

    def variances_of(self, L: FloatArray) -> FloatArray:
        white = self._whitened(L.reshape(-1, self.size))
        squares = np.einsum("ij,ij->j", white, white)
        return np.asarray(squares.reshape(L.shape[:-1]))

    def dense(self) -> FloatArray:
        moves, schur = self._by_rest()
        require_memory(
            f"The covariance matrix of {len(moves)} parameters",
            _SQUARES * moves.itemsize * len(moves) ** 2,
            "Questions on effects, means and predictions do without it where errors"
            " are by the model, as in .se, anova(), test() and emmeans(scale='mean');"
            " or join levels.",
        )
        alpha = self.user.coefficients(np.eye(len(moves))[:, : len(self.factor.V)])
        of_alpha = alpha @ self.factor.threshold_inverse() @ alpha.T
        full = of_alpha + moves @ schur @ moves.T
        return 0.5 * (full + full.T)


@dataclass(frozen=True, eq=False)
class CovarianceMatrix:
    """A covariance (P', P') of the functions that the data determine; NaN for unknown
    entries.

    Attributes
    ----------
    matrix : (P', P')
    unknown : (P',) bool or None
        Parameters that the data do not determine.
    """

    matrix: FloatArray
    unknown: BoolArray | None = None

    @property
    def size(self) -> int:
        return len(self.matrix)

    @property
    def variances(self) -> FloatArray:
        variances = np.array(np.diag(self.matrix))
        if self.unknown is not None:
            variances[self.unknown] = np.nan
        return variances

    def times(self, vector: FloatArray) -> FloatArray:
        return self.matrix @ vector

    def quadratic(self, L: FloatArray) -> FloatArray:
        """(h, h) L V L'; rows of V that L does not use may be NaN."""
        used = np.any(L != 0.0, axis=0)
        return np.asarray(L[:, used] @ self.matrix[np.ix_(used, used)] @ L[:, used].T)

    def variances_of(self, L: FloatArray) -> FloatArray:
        return np.asarray(((L @ self.matrix) * L).sum(axis=-1))

    def dense(self) -> FloatArray:
        return self.matrix.copy()


@dataclass(frozen=True)
class UnknownCovariance:
    """The unknown covariance of estimates that do not maximise the likelihood: NaN.

    Attributes
    ----------
    size : int
        P'.
    """

    size: int

    @property
    def variances(self) -> FloatArray:
        return np.full(self.size, np.nan)

    def times(self, vector: FloatArray) -> FloatArray:
        return np.full(vector.shape, np.nan)

    def quadratic(self, L: FloatArray) -> FloatArray:
        return np.full((len(L), len(L)), np.nan)

    def variances_of(self, L: FloatArray) -> FloatArray:
        return np.full(L.shape[:-1], np.nan)

    def dense(self) -> FloatArray:
        return np.full((self.size, self.size), np.nan)


@dataclass(frozen=True, eq=False)
class MappedCovariance:
    """The covariance of linear functions of estimates, M V M'.

    Attributes
    ----------
    of_estimates : CovarianceOperator
        V (P', P').
    mapping : (F, P') sparse
    """

    of_estimates: CovarianceOperator
    mapping: csr_array

    @property
    def size(self) -> int:
        return int(self.mapping.shape[0])

    @cached_property
    def variances(self) -> FloatArray:
        parts = [
            self.of_estimates.variances_of(self.mapping[rows].toarray())
            for rows in row_blocks(self.size, self.of_estimates.size)
        ]
        return np.concatenate(parts)

    def times(self, vector: FloatArray) -> FloatArray:
        return self.mapping @ self.of_estimates.times(self.mapping.T @ vector)

    def _by_estimates(self, L: FloatArray) -> FloatArray:
        """(h, P') the combinations L (h, F) as combinations of the estimates."""
        return L @ self.mapping

    def quadratic(self, L: FloatArray) -> FloatArray:
        return self.of_estimates.quadratic(self._by_estimates(L))

    def variances_of(self, L: FloatArray) -> FloatArray:
        flat = self._by_estimates(L.reshape(-1, self.size))
        return self.of_estimates.variances_of(flat).reshape(L.shape[:-1])

    def dense(self) -> FloatArray:
        inner = self.of_estimates.dense()
        return np.asarray(self.mapping @ (self.mapping @ inner).T)
