"""The kernel matrix G of a problem as the solvers use it: an N x N matrix, or X X' that
is never computed.

Both classes give products, the array for coordinate ascent, linear solves for the
interior point, and a form for cvxpy. G is symmetric and positive semi-definite.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.linalg.blas import dsymv
from scipy.linalg.lapack import dpotrf, dpotrs

from .._typing import BoolArray, FloatArray, IntArray
from ..threads import FILTERS

# Tolerance for Clarabel; the certificate shows what it reached.
_TOLERANCE = 1e-10
# Eigenvalues below this share of the largest are rounding.
_NULL = 1e-12


def cvxpy() -> Any:
    """Return the module cvxpy; importing it takes most of a second, so that it is
    imported only when used.
    """
    import cvxpy as module

    return module


def solve_with_clarabel(model: Any, tol: float) -> int:
    """Solve a cvxpy problem in place, and return the number of iterations.

    If Clarabel ends without an iterate, as for a huge C, the variables are set to 0,
    and the caller's certificate shows that the optimum was missed.
    """
    cp = cvxpy()
    tol = min(tol, _TOLERANCE)
    failed = False
    try:
        with FILTERS, warnings.catch_warnings():
            # "Solution may be inaccurate": the certificate says by how much.
            warnings.filterwarnings("ignore", "Solution may be inaccurate", UserWarning)
            model.solve(solver=cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol)
    except cp.SolverError:
        failed = True
    for variable in model.variables():
        if failed or variable.value is None:
            variable.value = np.zeros(variable.shape)
    return 0 if failed else int(model.solver_stats.num_iters)


def _cholesky(matrix: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return the function v -> matrix^-1 v; the matrix is overwritten.

    Calls LAPACK directly: SciPy's checks take longer than factoring a small matrix.
    """
    if not matrix.size:
        return lambda v: v
    factor, failed = dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("The matrix is not positive definite.")
    return lambda v: np.asarray(dpotrs(factor, v, lower=1)[0])


@dataclass(frozen=True, eq=False)
class DenseGram:
    """The whole kernel matrix.

    Attributes
    ----------
    matrix : (N, N), C-contiguous
    """

    matrix: FloatArray

    factored: ClassVar[bool] = False

    @cached_property
    def diagonal(self) -> FloatArray:
        """(N,) G_nn."""
        return np.ascontiguousarray(np.diagonal(self.matrix))

    @property
    def rank_limit(self) -> int:
        """Size of the matrix that `resolvent` factors."""
        return len(self.matrix)

    def __matmul__(self, v: FloatArray) -> FloatArray:
        """(N,) or (N, J) product G v."""
        return np.asarray(
            self.matrix @ v if v.ndim > 1 else dsymv(1.0, self.matrix.T, v, lower=1)
        )

    def block(self, rows: IntArray) -> FloatArray:
        """(R, R) G at some rows, a new array."""
        return self.matrix[np.ix_(rows, rows)]

    def state(self, beta: FloatArray) -> FloatArray:
        """What coordinate ascent updates: G beta, or X' beta if X is stored."""
        return self @ beta

    @property
    def array(self) -> FloatArray:
        """The array that compiled epochs read: the matrix, or the factor X."""
        return self.matrix

    def resolvent(self, L: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """v -> (I + L G L)^-1 v for a diagonal L (N,).

        Raises
        ------
        numpy.linalg.LinAlgError
            Rounding has made the matrix indefinite.
        """
        S = self.matrix * L
        S *= L[:, None]
        S[np.diag_indices_from(S)] += 1.0
        return _cholesky(S.T)

    def half_square(self, beta: Any) -> tuple[Any, list[Any]]:
        """1/2 beta' G beta of a cvxpy variable, and the constraints that it needs."""
        cp = cvxpy()
        value, vectors = np.linalg.eigh(self.matrix)
        kept = value > _NULL * value[-1]
        if not kept.any():
            return 0.0 * cp.sum(beta), []
        if 2 * np.count_nonzero(kept) > len(self.matrix):
            return 0.5 * cp.quad_form(beta, cp.psd_wrap(self.matrix)), []
        # A low rank, as of a polynomial of few columns: the solver does better without
        # rounding in other directions.
        return LinearGram(
            np.ascontiguousarray(vectors[:, kept] * np.sqrt(value[kept]))
        ).half_square(beta)

    def scored(self, beta: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """(N,) G beta, and (D,) w with G beta = X w, or None if the columns are
        unknown.
        """
        return self @ beta, None

    def centred(self) -> tuple[Gram, FloatArray]:
        """The matrix without row and column means, and these means m; may reuse the
        memory.

        If the columns are stored, m has their means and m @ w is the mean of G beta;
        otherwise m @ beta is the mean.
        """
        matrix, means = centred(self.matrix)
        return DenseGram(matrix), means

    def part(self, rows: BoolArray | IntArray) -> DenseGram:
        """The kernel matrix of some rows, a copy."""
        return DenseGram(self.matrix[np.ix_(rows, rows)])


@dataclass(frozen=True, eq=False)
class LinearGram:
    """X X', stored as its factor X.

    Attributes
    ----------
    X : (N, D), C-contiguous, D > 0
    """

    X: FloatArray

    factored: ClassVar[bool] = True

    @cached_property
    def diagonal(self) -> FloatArray:
        return np.asarray(np.einsum("nd,nd->n", self.X, self.X))

    @property
    def rank_limit(self) -> int:
        return int(self.X.shape[1])

    def __matmul__(self, v: FloatArray) -> FloatArray:
        return self.X @ self.state(v)

    def block(self, rows: IntArray) -> FloatArray:
        return self.X[rows] @ self.X[rows].T

    def state(self, beta: FloatArray) -> FloatArray:
        return self.X.T @ beta

    @property
    def array(self) -> FloatArray:
        return self.X

    def resolvent(self, L: FloatArray) -> Callable[[FloatArray], FloatArray]:
        # Woodbury: (I + LXX'L)^-1 = I - LX (I + X'LLX)^-1 X'L.
        scaled = L[:, None] * self.X
        inner = scaled.T @ scaled
        inner[np.diag_indices_from(inner)] += 1.0
        solve = _cholesky(inner)
        return lambda v: v - scaled @ solve(scaled.T @ v)

    def half_square(self, beta: Any) -> tuple[Any, list[Any]]:
        cp = cvxpy()
        w = cp.Variable(self.X.shape[1])
        return 0.5 * cp.sum_squares(w), [w == self.X.T @ beta]

    def scored(self, beta: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        w = self.state(beta)
        return np.asarray(self.X @ w), w

    def centred(self) -> tuple[Gram, FloatArray]:
        mean = self.X.mean(axis=0)
        return LinearGram(self.X - mean), mean

    def part(self, rows: BoolArray | IntArray) -> LinearGram:
        return LinearGram(np.ascontiguousarray(self.X[rows]))


Gram = DenseGram | LinearGram


def centred(gram: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Remove row and column means from a symmetric matrix, in place.

    A kernel that is positive definite only on coefficients summing to zero becomes
    positive semi-definite; the objective is unchanged on such coefficients.

    Returns
    -------
    gram : (N, N), the same array
    means : (N,) the subtracted means; b of the raw kernel is b - means'beta
    """
    means = gram.mean(axis=0)
    gram -= means
    gram -= (means - means.mean())[:, None]
    return gram, means
