"""What a kernel of the margin methods is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from ..._typing import AnyArray, FloatArray, IntArray


class Kernel(ABC):
    """A similarity k(x, x') of rows, positive definite at least on coefficients that sum to zero.

    Every kernel is a frozen dataclass; calling it with X (n, D) and Z (m, D) gives the (n, m) matrix k(x_i, z_j).

    Attributes
    ----------
    name : str
    conditionally_definite : bool
        Whether k is positive definite only on coefficients that sum to zero. Margins then use the form
        k(x, x') - k(x, 0) - k(0, x') + k(0, 0), the same function of the rows up to a constant.
    linear : bool
        Whether k is x'x'. A shift of all rows then changes nothing on coefficients that sum to zero.
    trusted : bool
        Whether (conditional) positive definiteness is a theorem; otherwise each Gram matrix is checked.
    pairwise : bool
        Whether the columns of X are values of the kernel at the training rows, and no coordinates.
    """

    name: ClassVar[str]
    conditionally_definite: ClassVar[bool] = False
    linear: ClassVar[bool] = False
    trusted: ClassVar[bool] = True
    pairwise: ClassVar[bool] = False

    @abstractmethod
    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """(n, m) values k(x_i, z_j) of X (n, D) and Z (m, D)."""

    @abstractmethod
    def diagonal(self, X: FloatArray) -> FloatArray:
        """(N,) k(x, x) of the positive definite form, the squared length of x in feature space."""

    @abstractmethod
    def radius(self, n_columns: int, half_width: float = 1.0) -> float:
        """The largest `diagonal` over the box [-half_width, half_width]^D; infinite where that is not known."""

    def gram(self, X: FloatArray, rows: IntArray) -> FloatArray:
        """(M, M) kernel matrix of the training rows at `rows`, a new array."""
        chosen = X[rows]
        return self(chosen, chosen)

    @property
    def gammas(self) -> tuple[float, ...]:
        """The values of gamma that are left to cross-validation; none where the kernel is settled."""
        return ()

    def at(self, gamma: float | None) -> Kernel:
        """The kernel with one of `gammas` for gamma."""
        return self

    def settled(self, n_columns: int) -> Kernel:
        """The kernel with all its parameters as numbers, for rows of so many columns."""
        return self

    def grams(self, X: FloatArray, rows: IntArray) -> Iterator[tuple[float, FloatArray]]:
        """Each of `gammas` with the `gram` of that kernel."""
        return iter(())

    def factor(self, X: FloatArray) -> FloatArray | None:
        """(N, J) rows z_n with k(x_n, x_m) = z_n'z_m where they are at hand, else None."""
        return None

    def origin(self, X: FloatArray) -> FloatArray:
        """(N,) k(x, 0) where `diagonal` is of the form moved to the origin, else zeros."""
        return np.zeros(X.shape[0])

    def anchors(self, X: FloatArray, support: IntArray) -> AnyArray:
        """What a fitted expansion keeps of the training rows X: the rows at `support`."""
        return X[support]


def squared_length(X: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("nd,nd->n", X, X))
