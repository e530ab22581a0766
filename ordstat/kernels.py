"""Kernel functions, their names, and distances."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ._typing import AnyArray, FloatArray, IntArray
from .advice import with_option_hints
from .checks import canonical, number, require_memory, unknown, whole
from .exceptions import DataError, OptionError
from .formula.row_blocks import CACHED, row_blocks
from .formula.sparse import sparse_part

# |x|^2 + |z|^2 - 2 x'z loses digits if it is a small share of |x|^2 + |z|^2; below this
# share, x - z is used instead.
_CLOSE = 1e-6

#: Bytes of an entry of a kernel matrix and of the solvers' copy of it.
GRAM_BYTES = 16.0


def squared_euclidean(X: FloatArray, Z: FloatArray) -> FloatArray:
    """(n, m) squared distances |x_i - z_j|^2 of X (n, D) and Z (m, D); exactly 0 for
    equal rows.

    Examples
    --------
    >>> squared_euclidean(np.array([[1e8, 0.0]]), np.array([[1e8, 1e-3]]))
    array([[1.e-06]])
    """
    centre = Z.mean(axis=0) if len(Z) else 0.0
    # The product of a matrix with its own transpose is symmetric to the last bit.
    Zc = Z - centre
    Xc = Zc if X is Z else X - centre
    x = np.einsum("nd,nd->n", Xc, Xc)
    z = np.einsum("nd,nd->n", Zc, Zc)
    distance: FloatArray = Xc @ Zc.T
    for some in row_blocks(len(X), len(Z), CACHED):
        rows = distance[some]
        total = x[some, None] + z
        rows *= -2.0
        rows += total
        total *= _CLOSE
        i, j = np.divmod(np.flatnonzero(rows <= total), max(len(Z), 1))
        for pairs in row_blocks(len(i), X.shape[1]):
            difference = X[some][i[pairs]] - Z[j[pairs]]
            rows[i[pairs], j[pairs]] = np.einsum("nd,nd->n", difference, difference)
    return distance


def manhattan(X: FloatArray, Z: FloatArray) -> FloatArray:
    """(n, m) distances sum_d |x_id - z_jd| of X (n, D) and Z (m, D)."""
    if X.shape[1] == 0:
        return np.zeros((len(X), len(Z)))
    from scipy.spatial.distance import cdist

    return cdist(X, Z, "cityblock")


#: gamma="cv": 2^-15, 2^-13, ..., 2^3 [Hsu, Chang & Lin 2003]. With 55 fits each to
#: choose C, these are the 550 problems of a Gaussian kernel in Lin [2008, sec. 5.3].
GAMMAS: tuple[float, ...] = tuple(2.0**exponent for exponent in range(-15, 4, 2))


class Kernel(ABC):
    """A kernel function k(x, x') of rows, positive definite at least on coefficients
    that sum to zero.

    Every kernel is a frozen dataclass; calling it with X (n, D) and Z (m, D) gives the
    (n, m) matrix k(x_i, z_j).

    Attributes
    ----------
    name : str
    conditionally_definite : bool
        Whether k is positive definite only on coefficients that sum to zero. Margins
        then use the form k(x, x') - k(x, 0) - k(0, x') + k(0, 0), the same function of
        the rows up to a constant.
    linear : bool
        Whether k is the scalar product <x, x'>. A shift of all rows then changes
        nothing on coefficients that sum to zero.
    trusted : bool
        Whether (conditional) positive definiteness is a theorem; otherwise each Gram
        matrix is checked.
    pairwise : bool
        Whether the columns of X are values of the kernel at the training rows instead
        of coordinates.
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
        """(N,) k(x, x) of the positive definite form, the squared length of x in
        feature space.
        """

    def radius(self, n_columns: int, half_width: float = 1.0) -> float:
        """The largest value of `diagonal` over the box [-half_width, half_width]^D;
        infinite if unknown.
        """
        return np.inf

    def gram(self, X: FloatArray, rows: IntArray) -> FloatArray:
        """(M, M) kernel matrix of the training rows at `rows`, a new array."""
        if sparse_part(X) is None:  # whose products have an advice of their own
            require_room(rows.size)
        chosen = X[rows]
        return self(chosen, chosen)

    @property
    def gammas(self) -> tuple[float, ...]:
        """The values of gamma for cross-validation; empty if gamma is fixed."""
        return ()

    def at(self, gamma: float | None) -> Kernel:
        """The kernel with this gamma."""
        return self

    def settled(self, n_columns: int) -> Kernel:
        """The kernel with all parameters as numbers, for rows with this number of
        columns.
        """
        return self

    def grams(
        self, X: FloatArray, rows: IntArray
    ) -> Iterator[tuple[float, FloatArray]]:
        """Yield each of `gammas` with the `gram` of its kernel."""
        return iter(())

    def origin(self, X: FloatArray) -> FloatArray:
        """(N,) k(x, 0) if `diagonal` belongs to the kernel moved to the origin;
        otherwise zeros.
        """
        return np.zeros(X.shape[0])

    def anchors(self, X: FloatArray, support: IntArray) -> AnyArray:
        """The part of the training rows X that a fitted expansion keeps: the rows at
        `support`.
        """
        return X[support]


def require_room(n: int) -> None:
    """Raise DataError if the kernel matrix of n rows and the solver's copy do not fit
    into memory.
    """
    instead = (
        "Take fewer rows, or set landmarks=2000 with redsvm, svor-imc, svor-exc or"
        " kernel-clm."
    )
    require_memory(f"The kernel matrix of {n} x {n} rows", GRAM_BYTES * n**2, instead)


def squared_length(X: FloatArray) -> FloatArray:
    """(N,) |x_n|^2."""
    return np.asarray(np.einsum("nd,nd->n", X, X))


@dataclass(frozen=True)
class Distance(Kernel):
    """Minus the distance of two rows; the origin of the columns is the origin of
    feature space.
    """

    conditionally_definite = True
    #: 1 for the sum of absolute differences of the columns, 2 for the Euclidean
    #: distance.
    order: ClassVar[int]

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        distance = manhattan(X, Z) if self.order == 1 else squared_euclidean(X, Z)
        if self.order == 2:
            np.sqrt(distance, out=distance)
        return np.negative(distance, out=distance)

    def diagonal(self, X: FloatArray) -> FloatArray:
        return -2.0 * self.origin(X)

    def origin(self, X: FloatArray) -> FloatArray:
        return -(
            np.abs(X).sum(axis=1) if self.order == 1 else np.sqrt(squared_length(X))
        )

    def radius(self, n_columns: int, half_width: float = 1.0) -> float:
        return 2.0 * half_width * float(n_columns ** (1.0 / self.order))


@with_option_hints
@dataclass(frozen=True)
class Perceptron(Distance):
    """Perceptron kernel -|x - x'|_2, an ensemble of infinitely many perceptrons [Lin
    2008, sec. 5.1]; it has no scale parameter.

    Examples
    --------
    >>> Perceptron()(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[-5.]])
    """

    name = "perceptron"
    order = 2


@with_option_hints
@dataclass(frozen=True)
class Stump(Distance):
    """Stump kernel -|x - x'|_1, an ensemble of infinitely many decision stumps [Lin
    2008, sec. 5.1]; it has no scale parameter.

    Examples
    --------
    >>> Stump()(np.array([[1.0, 2.0]]), np.array([[1.0, 1.0]]))
    array([[-1.]])
    """

    name = "stump"
    order = 1


@dataclass(frozen=True)
class Scaled(Kernel):
    """A function of gamma times a distance or product of two rows.

    gamma=None means 1 / D. With gamma="cv" or a sequence of values, the method chooses
    gamma by cross-validation.
    """

    gamma: float | str | Sequence[float] | None = None

    def __post_init__(self) -> None:
        if self.gamma is None or (isinstance(self.gamma, str) and self.gamma == "cv"):
            return
        several = isinstance(self.gamma, (tuple, list, np.ndarray))
        values: Any = self.gamma if several else (self.gamma,)
        if not len(values):
            raise OptionError(
                f"gamma of the {self.name} kernel must have at least one value; got"
                f" {values!r}."
            )
        checked = {
            number("gamma", value, above=0.0, of=f"the {self.name} kernel")
            for value in values
        }
        if several:
            object.__setattr__(self, "gamma", tuple(sorted(checked)))

    @property
    def gammas(self) -> tuple[float, ...]:
        if isinstance(self.gamma, str):
            return GAMMAS
        return self.gamma if isinstance(self.gamma, tuple) else ()

    def gamma_for(self, n_columns: int) -> float:
        """gamma, or 1 / D.

        Raises
        ------
        OptionError
            gamma has several values.
        """
        if self.gammas:
            raise OptionError(
                f"gamma={self.gamma!r} of the {self.name} kernel needs a method with"
                " C='cv'; give one positive number here."
            )
        return 1.0 / max(n_columns, 1) if self.gamma is None else float(self.gamma)  # type: ignore[arg-type]

    @abstractmethod
    def measure(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """(n, m) the distance or product that gamma multiplies, a new array."""

    def of(self, scaled: FloatArray) -> FloatArray:
        """The kernel from gamma times `measure`, in place."""
        return np.exp(np.negative(scaled, out=scaled), out=scaled)

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        scaled = self.measure(X, Z)
        scaled *= self.gamma_for(X.shape[1])
        return self.of(scaled)

    def at(self, gamma: float | None) -> Kernel:
        return replace(self, gamma=gamma)

    def settled(self, n_columns: int) -> Kernel:
        return replace(self, gamma=self.gamma_for(n_columns))

    def grams(
        self, X: FloatArray, rows: IntArray
    ) -> Iterator[tuple[float, FloatArray]]:
        require_room(rows.size)
        chosen = X[rows]
        measure = self.measure(chosen, chosen)
        for gamma in self.gammas:
            yield gamma, self.of(gamma * measure)

    def diagonal(self, X: FloatArray) -> FloatArray:
        return np.ones(X.shape[0])

    def radius(self, n_columns: int, half_width: float = 1.0) -> float:
        return 1.0


@with_option_hints
@dataclass(frozen=True)
class Gaussian(Scaled):
    """Gaussian (RBF) kernel exp(-gamma |x - x'|_2^2).

    Parameters
    ----------
    gamma : float, sequence of float, "cv" or None
        Scale, above 0. None means 1 / D for D columns. From several values, or with
        "cv" from 2^-15, 2^-13, ..., 2^3, cross-validation chooses one.

    Examples
    --------
    >>> Gaussian(gamma=0.5)(np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]])).round(4)
    array([[0.3679]])
    >>> len(Gaussian(gamma="cv").gammas)
    10
    """

    name = "gaussian"

    def measure(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        return squared_euclidean(X, Z)


@with_option_hints
@dataclass(frozen=True)
class Laplacian(Scaled):
    """Laplacian kernel exp(-gamma |x - x'|_1).

    Parameters
    ----------
    gamma : float, sequence of float, "cv" or None
        Scale, above 0. None means 1 / D for D columns. From several values, or with
        "cv" from 2^-15, 2^-13, ..., 2^3, cross-validation chooses one.

    Examples
    --------
    >>> Laplacian(gamma=0.5)(np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]])).round(4)
    array([[0.3679]])
    """

    name = "laplacian"

    def measure(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        return manhattan(X, Z)


@with_option_hints
@dataclass(frozen=True)
class Polynomial(Scaled):
    """Polynomial kernel (gamma <x, x'> + coef0)^degree.

    Parameters
    ----------
    gamma : float, sequence of float, "cv" or None
        Scale, above 0. None means 1 / D for D columns. From several values, or with
        "cv" from 2^-15, 2^-13, ..., 2^3, cross-validation chooses one.
    degree : int
        Degree, at least 1.
    coef0 : float
        Constant, 0 or more.

    Examples
    --------
    >>> Polynomial(gamma=1.0, degree=2)(np.array([[1.0, 2.0]]), np.array([[1.0, 1.0]]))
    array([[16.]])
    """

    name = "polynomial"
    degree: int = 3
    coef0: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("degree", self.degree, 1, of="the polynomial kernel")
        number("coef0", self.coef0, least=0.0, of="the polynomial kernel")

    def measure(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        return X @ Z.T

    def of(self, scaled: FloatArray) -> FloatArray:
        scaled += self.coef0
        return np.power(scaled, self.degree, out=scaled)

    def diagonal(self, X: FloatArray) -> FloatArray:
        return self.of(self.gamma_for(X.shape[1]) * squared_length(X))

    def radius(self, n_columns: int, half_width: float = 1.0) -> float:
        return float(
            (self.gamma_for(n_columns) * n_columns * half_width**2 + self.coef0)
            ** self.degree
        )


@with_option_hints
@dataclass(frozen=True)
class Linear(Kernel):
    """Linear kernel <x, x'>, the scalar product.

    Examples
    --------
    >>> Linear()(np.array([[1.0, 2.0]]), np.array([[1.0, 1.0]]))
    array([[3.]])
    """

    name = "linear"
    linear = True

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        sparse = sparse_part(X)
        other = sparse_part(Z)
        if sparse is not None and other is not None:
            return sparse.times_rows(other)
        return X @ Z.T

    def diagonal(self, X: FloatArray) -> FloatArray:
        sparse = sparse_part(X)
        if sparse is not None:
            return sparse.squared_lengths()
        return squared_length(X)

    def radius(self, n_columns: int, half_width: float = 1.0) -> float:
        return n_columns * half_width**2


@dataclass(frozen=True)
class Custom(Kernel):
    """A user's kernel, function(X (n, D), Z (m, D)) -> (n, m): symmetric and
    (conditionally) positive definite.

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
        try:
            values = np.array(self.function(X, Z), dtype=np.float64)
        except (
            TypeError,
            ValueError,
            LookupError,
            ArithmeticError,
            AttributeError,
        ) as error:
            raise OptionError(
                "kernel must be a function of X (n, D) and Z (m, D); it failed:"
                f" {error}."
            ) from error
        if values.shape != (X.shape[0], Z.shape[0]):
            raise OptionError(
                "kernel must be a function of X (n, D) and Z (m, D) that returns an"
                f" (n, m) array; for n = {X.shape[0]} and m = {Z.shape[0]} it returned"
                f" shape {values.shape}."
            )
        return values

    def diagonal(self, X: FloatArray) -> FloatArray:
        zero = np.zeros((1, X.shape[1]))
        lengths = np.array([self(row[None], row[None])[0, 0] for row in X])
        return np.asarray(lengths - 2.0 * self(X, zero)[:, 0] + self(zero, zero)[0, 0])

    def origin(self, X: FloatArray) -> FloatArray:
        return self(X, np.zeros((1, X.shape[1])))[:, 0]


@with_option_hints
@dataclass(frozen=True)
class Precomputed(Kernel):
    """A precomputed kernel matrix as X: N x N for the fit, n x N (new rows by training
    rows) for predictions.

    The columns are the training rows in their order. The first training row is the
    origin of feature space.

    Examples
    --------
    >>> from ordstat import OrdinalClassifier
    >>> K = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> model = OrdinalClassifier("redsvm", kernel=Precomputed(), scaling=None)
    >>> model = model.fit(K, [1, 2])
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
                "kernel='precomputed' takes the square kernel matrix of the training"
                " rows in place of X, one row and one column for each; got shape"
                f" {X.shape}. If rows are left out (weight 0 or missing values), remove"
                " their columns too."
            )
        require_room(rows.size)
        return X[np.ix_(rows, rows)]

    def diagonal(self, X: FloatArray) -> FloatArray:
        return np.asarray(np.diagonal(X) - 2.0 * self.origin(X) + X[0, 0])

    def origin(self, X: FloatArray) -> FloatArray:
        return X[:, 0].copy()

    def anchors(self, X: FloatArray, support: IntArray) -> AnyArray:
        return support


#: Kernels by name; each value makes the kernel with its default settings.
KERNELS: dict[str, Callable[[], Kernel]] = {
    kernel.name: kernel
    for kernel in (
        Perceptron,
        Stump,
        Gaussian,
        Laplacian,
        Polynomial,
        Linear,
        Precomputed,
    )
}


def parse_kernel(kernel: Any) -> Kernel:
    """The kernel for a name, a Kernel value, or a function of (X, Z).

    Raises
    ------
    OptionError
        `kernel` is anything else; the message lists the names.

    Examples
    --------
    >>> parse_kernel("gaussian")
    Gaussian(gamma=None)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if (name := canonical(kernel, KERNELS)) is not None:
        return KERNELS[name]()
    if callable(kernel) and not isinstance(kernel, type):
        return Custom(kernel)
    raise unknown(
        "kernel",
        kernel,
        KERNELS,
        also=", a Kernel such as Gaussian(gamma=0.5), or a function",
    )


# Asymmetry beyond this share of the largest entry is not rounding: a matrix computed in
# single precision still passes.
_ASYMMETRY = 1e-6
#: An eigenvalue below minus this share of the trace is not rounding.
NEGATIVE = 1e-7
# Larger kernel values overflow when a solver multiplies them.
_LARGEST = 1e100


def require_finite(gram: FloatArray) -> None:
    """Raise DataError if a kernel matrix (N, N) or its diagonal (N,) holds NaN or
    values too large for a solver.
    """
    sized = (gram >= -_LARGEST) & (gram <= _LARGEST)
    if not sized.all():
        position = np.argwhere(~sized)[0]
        i = position[0]
        j = position[-1]
        raise DataError(
            f"kernel values must be finite and at most {_LARGEST:g} in size; got"
            f" {gram[tuple(position)]:g} for training rows {i} and {j}. Scale the"
            " columns, or check these rows."
        )


def require_symmetric(gram: FloatArray) -> FloatArray:
    """The matrix (N, N), averaged with its transpose.

    Raises
    ------
    DataError
        The matrix differs from its transpose.
    """
    difference = np.abs(gram - gram.T)
    if difference.max(initial=0.0) > _ASYMMETRY * np.abs(gram).max(initial=0.0):
        i, j = np.unravel_index(int(difference.argmax()), gram.shape)
        raise DataError(
            f"the kernel is not symmetric: k(row {i}, row {j}) = {gram[i, j]:g}, but"
            f" k(row {j}, row {i}) = {gram[j, i]:g}."
        )
    return 0.5 * (gram + gram.T)


def require_definite(gram: FloatArray) -> None:
    """Raise DataError if a centred kernel matrix (N, N) has an eigenvalue that is
    negative beyond rounding.
    """
    from scipy.linalg import cholesky

    trace = float(np.trace(gram))
    lifted = gram + np.diag(
        np.full(len(gram), NEGATIVE * abs(trace) + np.finfo(float).tiny)
    )
    try:
        cholesky(lifted, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        smallest = float(np.linalg.eigvalsh(gram)[0])
        raise DataError(
            "the kernel is not positive definite on coefficients that sum to zero: the"
            " centred kernel matrix of the training rows has the eigenvalue"
            f" {smallest:g} (its trace is {trace:g}). Use another kernel, or remove the"
            " negative eigenvalues of a precomputed matrix."
        ) from None


def checked_gram(kernel: Kernel, X: FloatArray, rows: IntArray) -> FloatArray:
    """Kernel matrix (M, M) of `rows` (M,) of X (N, D), a new array that is finite and
    symmetric.

    Raises
    ------
    DataError
        The matrix overflows, or is not symmetric.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        gram = kernel.gram(X, rows)
    require_finite(gram)
    return gram if kernel.trusted else require_symmetric(gram)
