"""Sparse columns, such as counts of words: the nonzero numbers, and the operations that
solvers need.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any, NoReturn, cast

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..checks import available_memory, require_memory
from ..exceptions import DataError

#: Values whose squares neither overflow nor vanish.
_LEAST = 1e-150
_LARGEST = 1e150
#: A column whose deviation is below this share of its mean is constant but for
#: rounding.
_CONSTANT = 1e-11
_MIB = 2.0**20


@dataclass(frozen=True, eq=False, kw_only=True)
class SparseColumns:
    """A matrix (N, p) by rows, without its zeros [scipy.sparse.csr_array].

    It replaces a dense X in methods that support it. Everything else that asks for an
    array raises an error.

    Attributes
    ----------
    data : (M,)
        The nonzero numbers.
    indices : (M,)
        Their columns, which increase within a row.
    indptr : (N + 1,)
        Where the rows begin, and M.
    width : int
        p.

    Raises
    ------
    DataError
        The arrays are not those of such a matrix.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> X = SparseColumns.of(csr_array([[0.0, 2.0], [1.0, 0.0]]))
    >>> X.shape, X @ np.array([1.0, 3.0]), X.transposed(np.array([1.0, 5.0]))
    ((2, 2), array([6., 1.]), array([5., 2.]))
    """

    data: FloatArray
    indices: AnyArray
    indptr: AnyArray
    width: int

    ndim = 2

    def __post_init__(self) -> None:
        ends = self.indptr
        inside = (
            ends.ndim == self.indices.ndim == self.data.ndim == 1
            and ends.size > 0
            and ends[0] == 0
            and ends[-1] == self.data.size == self.indices.size
            and bool((np.diff(ends) >= 0).all())
        )
        if inside and self.indices.size:
            inside = self.indices.min() >= 0 and self.indices.max() < self.width
        if not inside:
            raise DataError("X must be a sparse matrix whose indices are inside it.")

    @classmethod
    def of(cls, X: Any) -> SparseColumns:
        """From a sparse matrix or array of SciPy, which is not changed.

        Raises
        ------
        DataError
            A value that is missing, or whose square overflows or vanishes.
        """
        from scipy.sparse import csr_array

        matrix = csr_array(X, dtype=np.float64)
        if not matrix.has_canonical_format or not matrix.data.all():
            matrix = matrix.copy()
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
        sizes = np.abs(matrix.data)
        inside = (sizes >= _LEAST) & (sizes <= _LARGEST)
        if not inside.all():
            first = int(np.argmin(inside))
            raise DataError(
                f"Column {int(matrix.indices[first])} of the sparse X must have numbers"
                f" of size {_LEAST:g} to {_LARGEST:g}, or 0; got"
                f" {matrix.data[first]:g}. Fill missing values in, and rescale others."
            )
        return cls(
            data=matrix.data,
            indices=matrix.indices,
            indptr=matrix.indptr,
            width=int(matrix.shape[1]),
        )

    @cached_property
    def matrix(self) -> Any:
        """The columns as a scipy.sparse.csr_array, which shares their memory."""
        from scipy.sparse import csr_array

        arrays = self.data, self.indices, self.indptr
        return csr_array(arrays, shape=self.shape, copy=False)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def __len__(self) -> int:
        return int(self.indptr.size) - 1

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), self.width

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.data.dtype

    def __getitem__(self, rows: AnyArray | slice) -> SparseColumns:
        """Some of the rows: integers, a mask or a slice."""
        return self._of(self.matrix[rows])

    def among(self, columns: BoolArray | IntArray) -> SparseColumns:
        """Some of the columns: integers or a mask."""
        if columns.dtype == np.bool_ and columns.all():
            return self
        matrix = self.matrix[:, columns]
        matrix.sort_indices()
        return self._of(matrix)

    def _of(self, matrix: Any) -> SparseColumns:
        return SparseColumns(
            data=matrix.data,
            indices=matrix.indices,
            indptr=matrix.indptr,
            width=int(matrix.shape[1]),
        )

    def __matmul__(self, vector: FloatArray) -> FloatArray:
        """(N, ...) the matrix times a vector or a dense matrix (p, ...)."""
        return np.asarray(self.matrix @ vector)

    def transposed(self, vector: FloatArray) -> FloatArray:
        """(p, ...) the transpose times a vector or a dense matrix (N, ...)."""
        return np.asarray(self.matrix.T @ vector)

    def hstack(self, columns: FloatArray) -> SparseColumns:
        """The columns followed by others (N, q), as by numpy.hstack."""
        from scipy.sparse import csr_array, hstack

        return self._of(hstack([self.matrix, csr_array(columns)], format="csr"))

    def times_rows(self, other: SparseColumns) -> FloatArray:
        """(N, M) scalar products of the rows with those of another matrix (M, p)."""
        require_memory(
            f"The scalar products of {len(self)} x {len(other)} rows",
            2.0 * self.data.itemsize * len(self) * len(other),
            "Take fewer rows, or a penalised model, method='logit' with penalty=1.0.",
        )
        return np.asarray((self.matrix @ other.matrix.T).toarray())

    def scaled(self, factor: FloatArray) -> SparseColumns:
        """The columns times numbers (p,)."""
        return SparseColumns(
            data=self.data * factor[self.indices],
            indices=self.indices,
            indptr=self.indptr,
            width=self.width,
        )

    def ranges(self) -> tuple[FloatArray, FloatArray]:
        """(p,) smallest and largest numbers of the columns, zeros included."""
        low = np.full(self.width, np.inf)
        high = np.full(self.width, -np.inf)
        np.minimum.at(low, self.indices, self.data)
        np.maximum.at(high, self.indices, self.data)
        some = np.bincount(self.indices, minlength=self.width) < len(self)
        low[some] = np.minimum(low[some], 0.0)
        high[some] = np.maximum(high[some], 0.0)
        return low, high

    def squared_lengths(self) -> FloatArray:
        """(N,) sums of squares of the rows."""
        return np.bincount(self.places, self.data**2, len(self)).astype(np.float64)

    @cached_property
    def places(self) -> IntArray:
        """(M,) row of each number."""
        return np.repeat(np.arange(len(self)), np.diff(self.indptr))

    def spreads(self, weights: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """(p,) weighted means and standard deviations of the columns, zeros included; 0
        for a column that is constant up to rounding.
        """
        n, p = self.shape
        each = np.ones(self.data.size)
        total = float(n)
        if weights is not None:
            each = weights[self.places]
            total = float(weights.sum())
        mean = np.bincount(self.indices, each * self.data, p) / total
        apart = self.data - mean[self.indices]
        squares = np.bincount(self.indices, each * apart**2, p)
        zeros = np.maximum(total - np.bincount(self.indices, each, p), 0.0)
        zeros[np.bincount(self.indices, minlength=p) == n] = 0.0  # but for rounding
        deviation = np.sqrt((squares + zeros * mean**2) / total)
        return mean, np.where(deviation > _CONSTANT * np.abs(mean), deviation, 0.0)

    def row_ranks(self) -> IntArray:
        """(N,) places of the rows when sorted by their first column, then by the second
        and so on; the same for equal rows.
        """
        # Bytes are compared from the first on. Where rows differ first, a negative
        # number comes before a row that has 0 there, and a positive one after it: the
        # end of a row stands for its zeros.
        negative = self.data < 0.0
        last = 2 * self.width
        place = np.where(negative, self.indices, last - self.indices.astype(np.int64))
        bits = self.data.view(np.uint64)  # increase with the size of the number
        bits = np.where(negative, ~bits, bits)
        entries = np.column_stack([place.astype(np.uint64), bits]).astype(">u8")
        text = entries.tobytes()
        end = self.width.to_bytes(8, "big")
        size = entries.itemsize * 2
        ends = self.indptr.tolist()
        keys = [text[size * a : size * z] + end for a, z in pairwise(ends)]
        rank_of = {key: rank for rank, key in enumerate(sorted(set(keys)))}
        return np.array([rank_of[key] for key in keys], dtype=np.intp)

    def toarray(self) -> FloatArray:
        """(N, p) dense array; DataError if it does not fit into memory."""
        n, p = self.shape
        require_memory(
            f"A dense matrix of {n} rows and {p} columns",
            8.0 * n * p,
            "Take fewer columns or rows.",
        )
        return np.asarray(self.matrix.toarray())

    def sum(self) -> float:
        """The sum of all numbers."""
        return float(self.data.sum())

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise needs_dense("this", self.shape)

    def __array_ufunc__(
        self, function: np.ufunc, method: str, *inputs: Any, **_: Any
    ) -> FloatArray:
        """A vector (N,) times the matrix; other functions of NumPy are refused."""
        product = function is np.matmul and method == "__call__"
        if product and isinstance(inputs[0], np.ndarray) and inputs[0].ndim == 1:
            return self.transposed(inputs[0])
        raise needs_dense("this", self.shape)


def sparse_part(X: Any) -> SparseColumns | None:
    """The columns, if they are sparse; else None."""
    return X if isinstance(X, SparseColumns) else None


def numbers_per_row(X: FloatArray) -> int:
    """Numbers that a row of X (N, p) holds: p, or the mean number of nonzero ones if X
    is sparse, rounded up.
    """
    sparse = sparse_part(X)
    if sparse is None:
        return int(X.shape[1])
    return -(-sparse.data.size // max(len(sparse), 1))


def as_scipy(X: FloatArray) -> Any:
    """X for a package that takes NumPy arrays and sparse matrices of SciPy: sparse
    columns as a csr_matrix with 32-bit indices, which all of them take.
    """
    sparse = sparse_part(X)
    if sparse is None:
        return X
    from scipy.sparse import csr_matrix

    indices, indptr = sparse.indices, sparse.indptr
    if max(sparse.data.size, sparse.width) <= np.iinfo(np.int32).max:
        indices, indptr = indices.astype(np.int32), indptr.astype(np.int32)
    return csr_matrix((sparse.data, indices, indptr), shape=sparse.shape)


def in_place_of_dense(X: SparseColumns) -> FloatArray:
    """Sparse columns as the X of rows, in methods that take them."""
    return cast(FloatArray, X)


def needs_dense(what: str, shape: tuple[int, ...], instead: str = "") -> DataError:
    """The error of a matrix of this shape where something needs dense columns."""
    size = 8.0 * prod(shape)
    room = available_memory()
    if size > room:
        fit = f"do not fit into the {room / _MIB:,.0f} MiB that are free"
    else:
        fit = f"have to fit into memory ({room / _MIB:,.0f} MiB are free)"
    return DataError(
        f"X is sparse, and {what} needs dense columns. Pass X.toarray(), whose"
        f" {size / _MIB:,.1f} MiB {fit}{instead}."
    )
