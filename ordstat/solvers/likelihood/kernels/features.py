"""Columns F of the training rows with F F' = the kernel: a function of the kernel's space is H = F b with |H|^2 = b'b.

Up to constants, which the thresholds take up: a kernel that is positive definite on coefficients of sum zero is enough.

exact      eigenvectors of the kernel matrix less its row and column means: Gc = V diag(w) V', F = V diag(w)^1/2.
Nystrom    landmarks L: F = k(., L) R^-1 with k(L, L) = R'R. Landmarks are drawn one block after another, each row with
           a probability in proportion to what the landmarks so far leave of k(x, x): the randomly pivoted Cholesky
           factor of Chen, Epperly, Tropp & Webber (2025). Its first m columns are those of the first m landmarks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, solve_triangular
from scipy.linalg.lapack import dpstrf

from ...._typing import AnyArray, FloatArray, IntArray
from ....model.kernels.checks import checked_gram, require_definite, require_finite, require_finite_lengths
from ....model.kernels.named import Kernel
from ...gram import centred

# Eigenvalues, or what is left of k(x, x), below this share of the largest one are rounding.
_NULL = 1e-12
_NOTHING_LEFT = 1e-10
# Landmarks drawn at a time.
_BLOCK = 50


@dataclass(frozen=True, eq=False, kw_only=True)
class Features:
    """Columns of the training rows, and the way from their coefficients to the kernel.

    Attributes
    ----------
    values : (N, p) F, of mean zero
    anchors : array of S rows, as the kernel keeps them
    coef : (S, p)
        H(x) = k(x, anchors) @ coef @ b + constants @ b.
    constants : (p,)
    landmarks : (m,) positions among the N rows, in the order they were drawn; None of the exact route
    """

    values: FloatArray
    anchors: AnyArray
    coef: FloatArray
    constants: FloatArray
    landmarks: IntArray | None = None

    def variance(self, weights: FloatArray) -> float:
        """Over rows of these weights (N,), about their mean: the variance of H(x) under b ~ N(0, I)."""
        apart = self.values - np.average(self.values, axis=0, weights=weights)
        return float(np.average(np.square(apart).sum(axis=1), weights=weights))


def exact_features(kernel: Kernel, X: FloatArray, rows: IntArray) -> Features:
    """Those of all training rows.

    Parameters
    ----------
    kernel : Kernel
    X : (M, D)
        Scaled columns, or the kernel matrix itself.
    rows : (N,)
        Of X, the training rows.

    Raises
    ------
    DataError
        A kernel matrix that is not finite, symmetric and (conditionally) positive definite.
    """
    gram = checked_gram(kernel, X, rows)
    size = float(np.abs(gram).max(initial=0.0))
    gram, means = centred(gram)
    if not kernel.trusted:
        require_definite(gram)
    w, V = eigh(gram, overwrite_a=True, check_finite=False)
    kept = np.flatnonzero(w > _NULL * max(w[-1], size))[::-1]
    root = np.sqrt(w[kept])
    # Eigenvectors of small eigenvalues have a trace of the constant, which the raw kernel would take up.
    coef = (V[:, kept] - V[:, kept].mean(axis=0)) / root
    return Features(
        values=np.ascontiguousarray(V[:, kept] * root),
        anchors=kernel.anchors(X, rows),
        coef=coef,
        constants=-means @ coef,
    )


def linear_features(factor: FloatArray, rows: IntArray) -> Features:
    """Those of a kernel z'z: the columns z (M, D) themselves, less their means."""
    values = factor[rows]
    with np.errstate(over="ignore"):
        require_finite_lengths(np.einsum("nd,nd->n", values, values))
    means = values.mean(axis=0)
    return Features(values=values - means, anchors=np.eye(len(means)), coef=np.eye(len(means)), constants=-means)


@dataclass(frozen=True, eq=False)
class _Definite:
    """The kernel in its positive definite form: where it is conditional, k(x,z) - k(x,o) - k(o,z) + k(o,o).

    The origin o is that of the scaled columns, or the first row of a kernel matrix.
    """

    kernel: Kernel
    X: FloatArray
    rows: IntArray

    @property
    def origin(self) -> AnyArray:
        """o as an anchor."""
        return self.kernel.anchors(self.X, np.zeros(1, dtype=np.intp)) if self.kernel.pairwise else self._zero

    @property
    def _zero(self) -> FloatArray:
        return self.X[:1] if self.kernel.pairwise else np.zeros((1, self.X.shape[1]))

    def from_origin(self) -> tuple[FloatArray, float]:
        """(N,) k(x, o), and k(o, o); zeros where the kernel needs no origin."""
        if not self.kernel.conditionally_definite:
            return np.zeros(self.rows.size), 0.0
        own = float(self.kernel(self._zero, self.origin)[0, 0])
        return self.kernel(self.X[self.rows], self.origin)[:, 0], own

    def lengths(self) -> FloatArray:
        """(N,) of k(x, x)."""
        with np.errstate(over="ignore"):
            found = self.kernel.diagonal(self.X)[self.rows]
        require_finite_lengths(found)
        return found


def landmark_features(
    kernel: Kernel, X: FloatArray, rows: IntArray, weights: FloatArray, most: int, rng: np.random.Generator
) -> Features:
    """Those of landmarks, as many as `most` unless fewer leave nothing of the kernel.

    Parameters
    ----------
    kernel, X, rows
        As in `exact_features`.
    weights : (N,) case weights
    most : int
    rng : numpy.random.Generator
    """
    form = _Definite(kernel, X, rows)
    to_origin, own = form.from_origin()
    left = form.lengths()
    least = _NOTHING_LEFT * float(left.max(initial=0.0))
    Z, drawn = np.zeros((rows.size, min(most, rows.size))), np.zeros(0, dtype=np.intp)
    while drawn.size < Z.shape[1] and (left > least).any():
        chance = np.where(left > least, weights * left, 0.0)
        size = min(_BLOCK, Z.shape[1] - drawn.size, int(np.count_nonzero(chance)))
        some = rng.choice(rows.size, size=size, replace=False, p=chance / chance.sum())
        K = kernel(X[rows], kernel.anchors(X, rows[some])) - to_origin[:, None] - to_origin[some] + own
        require_finite(K)
        K -= Z[:, : drawn.size] @ Z[some, : drawn.size].T
        L, order, rank, _ = dpstrf(K[some], lower=1, tol=least)
        order = order[:rank] - 1
        part = solve_triangular(L[:rank, :rank], K[:, order].T, lower=True, check_finite=False).T
        Z[:, drawn.size : drawn.size + rank] = part
        left -= np.square(part).sum(axis=1)
        left[some] = 0.0
        drawn = np.append(drawn, some[order])
    Z = Z[:, : drawn.size]
    return _of_landmarks(form, Z, drawn, to_origin, own)


def _of_landmarks(form: _Definite, Z: FloatArray, drawn: IntArray, to_origin: FloatArray, own: float) -> Features:
    """With the origin as one more anchor, where the kernel needs one."""
    kernel, X, rows = form.kernel, form.X, form.rows
    coef = solve_triangular(Z[drawn], np.eye(drawn.size), lower=True, trans="T", check_finite=False)
    means = Z.mean(axis=0)
    anchors, constants = kernel.anchors(X, rows[drawn]), -means
    if kernel.conditionally_definite:
        constants = constants + (own - to_origin[drawn]) @ coef
        anchors = np.concatenate([anchors, form.origin])
        coef = np.vstack([coef, -coef.sum(axis=0)])
    return Features(values=Z - means, anchors=anchors, coef=coef, constants=constants, landmarks=drawn)
