"""A linear kernel whose coefficients obey linear restrictions A w <= 0.

With w = X' beta - A' lambda, lambda >= 0, the dual is that without restrictions but for 1/2 |w|^2 in the place of
1/2 |X' beta|^2, and the best lambda makes w the projection of X' beta onto the cone {w : A w <= 0}. By Moreau's theorem
beta' X w = |w|^2, so that certificates need nothing new. The map from beta to scores is no longer linear: only cvxpy
solves these problems.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import AnyArray, FloatArray
from ..gram import Gram, LinearGram, MeanRow, MeanScore, cvxpy

# Coefficients below this share of the largest are rounding of the projection.
_NULL = 1e-14


@dataclass(frozen=True, eq=False)
class RestrictedGram(LinearGram):
    """X and the restrictions.

    Attributes
    ----------
    X : (N, D), C-contiguous, D > 0
    A : (R, D)
    """

    A: FloatArray

    def __matmul__(self, v: FloatArray) -> FloatArray:
        scores: FloatArray = self.X @ self.coefficients(v)
        return scores

    def coefficients(self, beta: FloatArray) -> FloatArray:
        return projected(self.A, self.X.T @ beta)

    def allowed(self, w: FloatArray) -> FloatArray:
        return projected(self.A, w)

    def limits(self, w: Any) -> list[Any]:
        return [self.A @ w <= 0]

    def half_square(self, beta: Any) -> tuple[Any, list[Any]]:
        cp = cvxpy()
        w, pull = cp.Variable(self.X.shape[1]), cp.Variable(len(self.A), nonneg=True)
        return 0.5 * cp.sum_squares(w), [w == self.X.T @ beta - self.A.T @ pull]

    def centred(self) -> tuple[Gram, MeanScore]:
        mean = self.X.mean(axis=0)
        gram = RestrictedGram(self.X - mean, self.A)
        return gram, MeanRow(mean, gram)

    def part(self, rows: AnyArray) -> Gram:
        return RestrictedGram(np.ascontiguousarray(self.X[rows]), self.A)

    def across(self, new: AnyArray, rows: AnyArray, beta: FloatArray) -> FloatArray:
        scores: FloatArray = self.X[new] @ projected(self.A, self.X[rows].T @ beta)
        return scores


def projected(A: FloatArray, v: FloatArray) -> FloatArray:
    """(D,) the nearest w to v (D,) with A w <= 0.

    Examples
    --------
    >>> projected(np.array([[-1.0, 0.0]]), np.array([-2.0, 3.0])).tolist()
    [0.0, 3.0]
    """
    from scipy.optimize import nnls

    w: FloatArray = v - A.T @ nnls(A.T, v)[0]
    return np.where(np.abs(w) > _NULL * np.abs(v).max(initial=0.0), w, 0.0)
