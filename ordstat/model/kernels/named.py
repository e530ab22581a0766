"""Kernels of the margin methods, as values.

A kernel only ever acts on coefficients that sum to zero (the offset b is free), so a conditionally positive
definite one, such as -|x - x'|, serves as well as a positive definite one [Lin 2008, sec. 5.1].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..._typing import AnyArray, FloatArray, IntArray
from ...checks import unknown
from ...exceptions import DataError, OptionError
from .base import Kernel, squared_length
from .distances import manhattan, squared_euclidean
from .scaled import Gaussian, Laplacian, Polynomial

__all__ = [
    "KERNELS",
    "Custom",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Perceptron",
    "Polynomial",
    "Precomputed",
    "Stump",
    "parse_kernel",
]


@dataclass(frozen=True)
class Distance(Kernel):
    """Minus a distance of two rows, which counts from the origin of the columns."""

    conditionally_definite = True
    #: 1 for the sum of the differences of the columns, 2 for their Euclidean length.
    order: ClassVar[int]

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        distance = manhattan(X, Z) if self.order == 1 else squared_euclidean(X, Z)
        if self.order == 2:
            np.sqrt(distance, out=distance)
        return np.negative(distance, out=distance)

    def diagonal(self, X: FloatArray) -> FloatArray:
        return -2.0 * self.origin(X)

    def origin(self, X: FloatArray) -> FloatArray:
        return np.asarray(-(np.abs(X).sum(axis=1) if self.order == 1 else np.sqrt(squared_length(X))))

    def radius(self, n_columns: int, half_width: float = 1.0) -> float:
        return 2.0 * half_width * float(n_columns ** (1.0 / self.order))


@dataclass(frozen=True)
class Perceptron(Distance):
    """-|x - x'|_2, an ensemble of infinitely many perceptrons [Lin 2008, sec. 5.1]; it has no scale to choose.

    Examples
    --------
    >>> Perceptron()(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[-5.]])
    """

    name = "perceptron"
    order = 2


@dataclass(frozen=True)
class Stump(Distance):
    """-|x - x'|_1, an ensemble of infinitely many decision stumps [Lin 2008, sec. 5.1].

    Examples
    --------
    >>> Stump()(np.array([[1.0, 2.0]]), np.array([[1.0, 1.0]]))
    array([[-1.]])
    """

    name = "stump"
    order = 1


@dataclass(frozen=True)
class Linear(Kernel):
    """x'x', the scalar product.

    Examples
    --------
    >>> Linear()(np.array([[1.0, 2.0]]), np.array([[1.0, 1.0]]))
    array([[3.]])
    """

    name = "linear"
    linear = True

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        return X @ Z.T

    def diagonal(self, X: FloatArray) -> FloatArray:
        return squared_length(X)

    def radius(self, n_columns: int, half_width: float = 1.0) -> float:
        return n_columns * half_width**2

    def factor(self, X: FloatArray) -> FloatArray:
        return X


@dataclass(frozen=True)
class Custom(Kernel):
    """A caller's function: function(X (n, D), Z (m, D)) -> (n, m), symmetric and (conditionally) positive definite.

    Attributes
    ----------
    function : callable
        Must be defined at module level for a fit to be pickled.
    """

    function: Callable[[FloatArray, FloatArray], Any]

    name = "custom"
    conditionally_definite = True
    trusted = False

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        values = np.array(self.function(X, Z), dtype=np.float64)
        if values.shape != (X.shape[0], Z.shape[0]):
            raise OptionError(
                f"kernel must be a function of X (n, D) and Z (m, D) that returns an (n, m) array; "
                f"for n = {X.shape[0]} and m = {Z.shape[0]} it returned shape {values.shape}."
            )
        return values

    def diagonal(self, X: FloatArray) -> FloatArray:
        zero = np.zeros((1, X.shape[1]))
        own = np.array([self(row[None], row[None])[0, 0] for row in X])
        return np.asarray(own - 2.0 * self(X, zero)[:, 0] + self(zero, zero)[0, 0])

    def origin(self, X: FloatArray) -> FloatArray:
        return self(X, np.zeros((1, X.shape[1])))[:, 0]

    def radius(self, n_columns: int, half_width: float = 1.0) -> float:
        return np.inf


@dataclass(frozen=True)
class Precomputed(Kernel):
    """A kernel matrix in place of X: the N x N Gram matrix when fitting, (n, N) against the training rows after.

    The columns are the training rows in their order. The first training row serves as the origin of feature space.

    Examples
    --------
    >>> from ordstat import OrdinalClassifier
    >>> K = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> model = OrdinalClassifier("redsvm", kernel=Precomputed(), scaling=None).fit(K, [1, 2])
    >>> model.predict(K).tolist()
    [1, 2]
    """

    name = "precomputed"
    conditionally_definite = True
    trusted = False
    pairwise = True

    def __call__(self, X: FloatArray, Z: AnyArray) -> FloatArray:
        """X (n, N) at the columns Z (m,), positions of training rows."""
        return X[:, Z]

    def gram(self, X: FloatArray, rows: IntArray) -> FloatArray:
        if X.shape[0] != X.shape[1]:
            raise DataError(
                "kernel='precomputed' takes the square kernel matrix of the training rows in place of X, one row and "
                f"one column for each; got shape {X.shape}. Rows that are left out (of weight 0, with missing values) "
                "have to be left out of the columns too."
            )
        return X[np.ix_(rows, rows)]

    def diagonal(self, X: FloatArray) -> FloatArray:
        return np.asarray(np.diagonal(X) - 2.0 * self.origin(X) + X[0, 0])

    def origin(self, X: FloatArray) -> FloatArray:
        return X[:, 0].copy()

    def radius(self, n_columns: int, half_width: float = 1.0) -> float:
        return np.inf

    def anchors(self, X: FloatArray, support: IntArray) -> AnyArray:
        return support


#: Kernels by name; each value makes one with its default settings.
KERNELS: dict[str, Callable[[], Kernel]] = {
    kernel.name: kernel for kernel in (Perceptron, Stump, Gaussian, Laplacian, Polynomial, Linear, Precomputed)
}


def parse_kernel(kernel: Any) -> Kernel:
    """The kernel meant by a name, a Kernel value, or a function of (X, Z).

    Raises
    ------
    OptionError
        Anything else, listing the names.

    Examples
    --------
    >>> parse_kernel("gaussian")
    Gaussian(gamma=None)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in KERNELS:
        return KERNELS[kernel]()
    if callable(kernel) and not isinstance(kernel, type):
        return Custom(kernel)
    raise unknown("kernel", kernel, KERNELS, also=", a Kernel such as Gaussian(gamma=0.5), or a function")
