"""What a kernel matrix must be before a solver may rely on it."""

from __future__ import annotations

import numpy as np

from ..._typing import FloatArray, IntArray
from ...exceptions import DataError
from .named import Kernel

# Asymmetry beyond this share of the largest entry, or an eigenvalue below minus this share of the trace, is no
# rounding: a matrix computed in single precision still passes.
_ASYMMETRY = 1e-6
_NEGATIVE = 1e-7
# Kernel values beyond this overflow where a solver multiplies them.
_LARGEST = 1e100


def require_finite(gram: FloatArray) -> None:
    """Raise DataError, naming the rows, where a kernel matrix (N, N) overflows, there or in a solver, or holds NaN."""
    sized = (gram >= -_LARGEST) & (gram <= _LARGEST)
    if not sized.all():
        i, j = np.argwhere(~sized)[0]
        raise DataError(
            f"the kernel of training rows {i} and {j} is {gram[i, j]:g}, and kernel values must be finite, up to "
            f"{_LARGEST:g}: scale the columns, or look at these rows."
        )


def require_finite_lengths(lengths: FloatArray) -> None:
    """Raise DataError, naming the row, where a k(x_n, x_n) (N,) overflows."""
    sized = lengths <= _LARGEST
    if not sized.all():
        n = int(np.argmin(sized))
        raise DataError(
            f"the kernel of training rows {n} and {n} is {lengths[n]:g}, and kernel values must be finite, up to "
            f"{_LARGEST:g}: scale the columns, or look at this row."
        )


def require_symmetric(gram: FloatArray) -> FloatArray:
    """The matrix (N, N), averaged with its transpose.

    Raises
    ------
    DataError
        It differs from its transpose, and where.
    """
    difference = np.abs(gram - gram.T)
    if difference.max(initial=0.0) > _ASYMMETRY * np.abs(gram).max(initial=0.0):
        i, j = np.unravel_index(int(difference.argmax()), gram.shape)
        raise DataError(
            f"the kernel is not symmetric: k(row {i}, row {j}) = {gram[i, j]:g}, but k(row {j}, row {i}) = "
            f"{gram[j, i]:g}."
        )
    return 0.5 * (gram + gram.T)


def require_definite(gram: FloatArray) -> None:
    """Raise DataError where a centred kernel matrix (N, N) has an eigenvalue that is negative beyond rounding."""
    from scipy.linalg import cholesky

    trace = float(np.trace(gram))
    lifted = gram + np.diag(np.full(len(gram), _NEGATIVE * abs(trace) + np.finfo(float).tiny))
    try:
        cholesky(lifted, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        smallest = float(np.linalg.eigvalsh(gram)[0])
        raise DataError(
            "the kernel is not positive definite on coefficients that sum to zero: the centred kernel matrix of the "
            f"training rows has the eigenvalue {smallest:g} (its trace is {trace:g}). Use another kernel, or remove "
            "the negative eigenvalues of a precomputed matrix."
        ) from None


def checked_gram(kernel: Kernel, X: FloatArray, rows: IntArray) -> FloatArray:
    """Kernel matrix (M, M) of `rows` (M,) of X (N, D), a new array that is finite and symmetric.

    Raises
    ------
    DataError
        It overflows, or is not symmetric.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        gram = kernel.gram(X, rows)
    require_finite(gram)
    return gram if kernel.trusted else require_symmetric(gram)
