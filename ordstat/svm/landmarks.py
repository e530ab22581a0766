"""Features of a kernel from some of the rows, the landmarks [Williams & Seeger 2001;
Chen et al. 2025].

With landmarks Z, K the kernel of all rows at Z and L L' = K_ZZ, the rows of K L'^-1 are
coordinates of the rows in the span of the landmarks: a linear model of these features
is a kernel model that needs no N x N matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from .._typing import AnyArray, FloatArray, IntArray
from ..checks import require_memory
from ..exceptions import DataError
from ..kernels import NEGATIVE, Kernel, require_finite, require_symmetric

# Residuals of k(x, x) below this share of the largest are rounding.
_NOTHING_LEFT = 1e-10
# Landmarks drawn at a time.
_BLOCK = 50


@dataclass(frozen=True, eq=False, kw_only=True)
class Features:
    """Features of the training rows, and the map from their coefficients to the kernel.

    Attributes
    ----------
    values : (N, p) F, of mean zero
    anchors : S rows in the form that the kernel takes
    coef : (S, p)
        H(x) = k(x, anchors) @ coef @ b + constants @ b.
    constants : (p,)
    landmarks : (m,)
        Positions of the landmarks among the N rows, in the order of drawing; None if
        all rows are used.
    share : float
        Share of the kernel's trace, sum_n k(x_n, x_n), that the landmarks keep.
    """

    values: FloatArray
    anchors: AnyArray
    coef: FloatArray
    constants: FloatArray
    landmarks: IntArray | None = None
    share: float = 1.0

    def variance(self, weights: FloatArray) -> float:
        """Variance of H(x) over rows with weights (N,), under b ~ N(0, I)."""
        apart = self.values - np.average(self.values, axis=0, weights=weights)
        return float(np.average(np.square(apart).sum(axis=1), weights=weights))


@dataclass(frozen=True, eq=False)
class _Definite:
    """A kernel in positive definite form; k(x,z) - k(x,o) - k(o,z) + k(o,o) if it is
    only conditionally definite.

    The origin o is 0 on the scaled columns.
    """

    kernel: Kernel
    X: FloatArray
    rows: IntArray

    @property
    def origin(self) -> FloatArray:
        """o (1, D)."""
        return np.zeros((1, self.X.shape[1]))

    def from_origin(self) -> tuple[FloatArray, float]:
        """(N,) k(x, o), and k(o, o); zeros if the kernel is definite."""
        if not self.kernel.conditionally_definite:
            return np.zeros(self.rows.size), 0.0
        at_origin = float(self.kernel(self.origin, self.origin)[0, 0])
        return self.kernel(self.X[self.rows], self.origin)[:, 0], at_origin

    def lengths(self) -> FloatArray:
        """(N,) k(x, x)."""
        with np.errstate(over="ignore"):
            lengths = self.kernel.diagonal(self.X)[self.rows]
        require_finite(lengths)
        return lengths


def landmark_features(
    kernel: Kernel,
    X: FloatArray,
    rows: IntArray,
    weights: FloatArray,
    most: int,
    rng: np.random.Generator,
) -> Features:
    """Features from at most `most` landmarks; fewer if these represent the kernel
    exactly.

    A row becomes a landmark with a probability proportional to its weight and to the
    part of k(x, x) that the landmarks before it do not represent.

    Parameters
    ----------
    kernel : Kernel
    X : (M, D)
        Scaled columns.
    rows : (N,)
        Positions of the training rows in X.
    weights : (N,) case weights
    most : int
    rng : numpy.random.Generator

    Raises
    ------
    DataError
        The features do not fit into memory, or the kernel is not finite, symmetric and
        (conditionally) positive definite at the landmarks.
    """
    size = 16.0 * rows.size * min(most, rows.size)
    require_memory(
        f"The kernel of {rows.size} rows at {most} landmarks",
        size,
        "Take fewer landmarks.",
    )
    form = _Definite(kernel, X, rows)
    to_origin, at_origin = form.from_origin()
    left = form.lengths()
    total = float(left.sum())
    _require_definite(left, total)
    least = _NOTHING_LEFT * float(left.max(initial=0.0))
    Z = np.zeros((rows.size, min(most, rows.size)))
    drawn = np.zeros(0, dtype=np.intp)
    while drawn.size < Z.shape[1] and (left > least).any():
        chance = np.where(left > least, weights * left, 0.0)
        size = min(_BLOCK, Z.shape[1] - drawn.size, int(np.count_nonzero(chance)))
        batch = rng.choice(rows.size, size=size, replace=False, p=chance / chance.sum())
        K = (
            kernel(X[rows], kernel.anchors(X, rows[batch]))
            - to_origin[:, None]
            - to_origin[batch]
            + at_origin
        )
        require_finite(K)
        K -= Z[:, : drawn.size] @ Z[batch, : drawn.size].T
        L, order, rank, _ = dpstrf(K[batch], lower=1, tol=least)
        order = order[:rank] - 1
        part = solve_triangular(
            L[:rank, :rank], K[:, order].T, lower=True, check_finite=False
        ).T
        Z[:, drawn.size : drawn.size + rank] = part
        left -= np.square(part).sum(axis=1)
        if not kernel.trusted:
            require_symmetric(kernel(X[rows[batch]], X[rows[batch]]))
            _require_definite(left, total)
        left[batch] = 0.0
        drawn = np.append(drawn, batch[order])
    features = _of_landmarks(form, Z[:, : drawn.size], drawn, to_origin, at_origin)
    return replace(
        features,
        share=1.0 - float(np.maximum(left, 0.0).sum()) / total if total else 1.0,
    )


def _require_definite(left: FloatArray, total: float) -> None:
    """Raise DataError if a row less its projection on the landmarks has a negative
    squared length.
    """
    if left.min() < -NEGATIVE * abs(total):
        raise DataError(
            f"the kernel is not positive definite: row {int(left.argmin())} less its"
            f" projection on the landmarks has the squared length {left.min():g}. Use"
            " another kernel."
        )


def _of_landmarks(
    form: _Definite,
    Z: FloatArray,
    drawn: IntArray,
    to_origin: FloatArray,
    at_origin: float,
) -> Features:
    """Features of drawn landmarks, centred in place, with the origin as an additional
    anchor if the kernel needs it.
    """
    kernel = form.kernel
    X = form.X
    rows = form.rows
    coef = solve_triangular(
        Z[drawn], np.eye(drawn.size), lower=True, trans="T", check_finite=False
    )
    means = Z.mean(axis=0)
    anchors = kernel.anchors(X, rows[drawn])
    constants = -means
    if kernel.conditionally_definite:
        constants = constants + (at_origin - to_origin[drawn]) @ coef
        anchors = np.concatenate([anchors, form.origin])
        coef = np.vstack([coef, -coef.sum(axis=0)])
    Z -= means
    return Features(
        values=np.ascontiguousarray(Z),
        anchors=anchors,
        coef=coef,
        constants=constants,
        landmarks=drawn,
    )
