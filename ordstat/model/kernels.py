"""Kernels of the margin methods, as values.

A kernel only ever acts on coefficients that sum to zero (the offset b is free), so a conditionally positive
definite one, such as -|x - x'|, serves as well as a positive definite one [Lin 2008, sec. 5.1].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..exceptions import DataError, OptionError
from .distances import manhattan, squared_euclidean


class Kernel(ABC):
    """A similarity k(x, x') of rows, positive definite at least on coefficients that sum to zero.

    Every kernel is a frozen dataclass; calling it with X (n, D) and Z (m, D) gives the (n, m) matrix k(x_i, z_j).

    Attributes
    ----------
    name : str
    conditionally_definite : bool
        Whether k is positive definite only on coefficients that sum to zero. Margins then use the form
        k(x, x') - k(x, 0) - k(0, x') + k(0, 0), the same function of the rows up to a constant.
    trusted : bool
        Whether (conditional) positive definiteness is a theorem; otherwise each Gram matrix is checked.
    scalable : bool
        Whether the columns of X are coordinates that may be scaled.
    """

    name: ClassVar[str]
    conditionally_definite: ClassVar[bool] = False
    trusted: ClassVar[bool] = True
    scalable: ClassVar[bool] = True

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

    def factor(self, X: FloatArray) -> FloatArray | None:
        """(N, J) rows z_n with k(x_n, x_m) = z_n'z_m where they are at hand, else None."""
        return None

    def origin(self, X: FloatArray) -> FloatArray:
        """(N,) k(x, 0) where `diagonal` is of the form moved to the origin, else zeros."""
        return np.zeros(X.shape[0])

    def anchors(self, X: FloatArray, support: IntArray) -> AnyArray:
        """What a fitted expansion keeps of the training rows X: the rows at `support`."""
        return X[support]


def _positive(kernel: str, name: str, value: Any, *, zero: bool = False) -> None:
    ok = isinstance(value, (int, float, np.number)) and np.isfinite(value) and (value >= 0 if zero else value > 0)
    if isinstance(value, bool) or not ok:
        bound = "zero or more" if zero else "positive"
        raise OptionError(f"{name} of the {kernel} kernel must be a {bound}, finite number; got {value!r}.")


def _squared_length(X: FloatArray) -> FloatArray:
    lengths: FloatArray = np.einsum("nd,nd->n", X, X)
    return lengths


@dataclass(frozen=True)
class Perceptron(Kernel):
    """-|x - x'|_2, an ensemble of infinitely many perceptrons [Lin 2008, sec. 5.1]; it has no scale to choose.

    Examples
    --------
    >>> Perceptron()(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[-5.]])
    """

    name = "perceptron"
    conditionally_definite = True

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        distance = squared_euclidean(X, Z)
        np.sqrt(distance, out=distance)
        return np.negative(distance, out=distance)

    def diagonal(self, X: FloatArray) -> FloatArray:
        return -2.0 * self.origin(X)

    def origin(self, X: FloatArray) -> FloatArray:
        length: FloatArray = np.sqrt(_squared_length(X))
        return -length

    def radius(self, n_columns: int, half_width: float = 1.0) -> float:
        return 2.0 * half_width * float(np.sqrt(n_columns))


@dataclass(frozen=True)
class Stump(Kernel):
    """-|x - x'|_1, an ensemble of infinitely many decision stumps [Lin 2008, sec. 5.1]."""

    name = "stump"
    conditionally_definite = True

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        distance = manhattan(X, Z)
        return np.negative(distance, out=distance)

    def diagonal(self, X: FloatArray) -> FloatArray:
        return -2.0 * self.origin(X)

    def origin(self, X: FloatArray) -> FloatArray:
        length: FloatArray = np.abs(X).sum(axis=1)
        return -length

    def radius(self, n_columns: int, half_width: float = 1.0) -> float:
        return 2.0 * half_width * n_columns


@dataclass(frozen=True)
class _Scaled(Kernel):
    """A kernel with a width: gamma None stands for 1 / D."""

    gamma: float | None = None

    def __post_init__(self) -> None:
        if self.gamma is not None:
            _positive(self.name, "gamma", self.gamma)

    def width(self, n_columns: int) -> float:
        """gamma, or 1 / D."""
        return 1.0 / max(n_columns, 1) if self.gamma is None else float(self.gamma)

    def diagonal(self, X: FloatArray) -> FloatArray:
        return np.ones(X.shape[0])

    def radius(self, n_columns: int, half_width: float = 1.0) -> float:
        return 1.0


@dataclass(frozen=True)
class Gaussian(_Scaled):
    """exp(-gamma |x - x'|_2^2); gamma None is 1 / D."""

    name = "gaussian"

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        exponent = squared_euclidean(X, Z)
        exponent *= -self.width(X.shape[1])
        return np.exp(exponent, out=exponent)


@dataclass(frozen=True)
class Laplacian(_Scaled):
    """exp(-gamma |x - x'|_1); gamma None is 1 / D."""

    name = "laplacian"

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        exponent = manhattan(X, Z)
        exponent *= -self.width(X.shape[1])
        return np.exp(exponent, out=exponent)


@dataclass(frozen=True)
class Polynomial(_Scaled):
    """(gamma x'x' + coef0)^degree; gamma None is 1 / D."""

    name = "polynomial"
    degree: int = 3
    coef0: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.degree, bool) or not isinstance(self.degree, (int, np.integer)) or self.degree < 1:
            raise OptionError(f"degree of the polynomial kernel must be an integer of 1 or more; got {self.degree!r}.")
        _positive(self.name, "coef0", self.coef0, zero=True)

    def _power(self, product: FloatArray, n_columns: int) -> FloatArray:
        product *= self.width(n_columns)
        product += self.coef0
        return np.power(product, self.degree, out=product)

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        return self._power(X @ Z.T, X.shape[1])

    def diagonal(self, X: FloatArray) -> FloatArray:
        return self._power(_squared_length(X), X.shape[1])

    def radius(self, n_columns: int, half_width: float = 1.0) -> float:
        return float((self.width(n_columns) * n_columns * half_width**2 + self.coef0) ** self.degree)


@dataclass(frozen=True)
class Linear(Kernel):
    """x'x', the scalar product."""

    name = "linear"

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        product: FloatArray = X @ Z.T
        return product

    def diagonal(self, X: FloatArray) -> FloatArray:
        return _squared_length(X)

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
        lengths: FloatArray = own - 2.0 * self(X, zero)[:, 0] + self(zero, zero)[0, 0]
        return lengths

    def origin(self, X: FloatArray) -> FloatArray:
        return self(X, np.zeros((1, X.shape[1])))[:, 0]

    def radius(self, n_columns: int, half_width: float = 1.0) -> float:
        return np.inf


@dataclass(frozen=True)
class Precomputed(Kernel):
    """A kernel matrix in place of X: the N x N Gram matrix when fitting, (n, N) against the training rows after.

    The columns are the training rows in their order. The first training row serves as the origin of feature space.
    """

    name = "precomputed"
    conditionally_definite = True
    trusted = False
    scalable = False

    def __call__(self, X: FloatArray, Z: AnyArray) -> FloatArray:
        """X (n, N) at the columns Z (m,), positions of training rows."""
        return X[:, Z]

    def gram(self, X: FloatArray, rows: IntArray) -> FloatArray:
        if X.shape[0] != X.shape[1]:
            raise DataError(
                "kernel='precomputed' takes the square kernel matrix of the training rows in place of X, one row and "
                f"one column for each; got shape {X.shape}."
            )
        return X[np.ix_(rows, rows)]

    def diagonal(self, X: FloatArray) -> FloatArray:
        lengths: FloatArray = np.diagonal(X) - 2.0 * self.origin(X) + X[0, 0]
        return lengths

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
    if callable(kernel):
        return Custom(kernel)
    names = ", ".join(repr(name) for name in KERNELS)
    raise OptionError(
        f"kernel must be one of {names}, a Kernel such as Gaussian(gamma=0.5), or a function; got {kernel!r}."
    )
