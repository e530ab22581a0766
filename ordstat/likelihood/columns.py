"""Means, standard deviations and rank of the columns of a model matrix; aliased columns
as in R.

One cheap pass gives means, deviations and the Gram matrix. Only if its Cholesky pivots
look suspicious are the columns themselves orthogonalised, in column order. A column is
aliased if its part outside the span of the intercept and the columns kept before it is
below 1e-7 of its deviation. With a ridge every column that varies is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf

from .._typing import BoolArray, FloatArray, IntArray
from ..compiled.sums import spreads
from ..exceptions import DataError
from ..formula.sparse import SparseColumns, sparse_part

#: Largest relative length of the residual of an aliased column [R's lm and clm].
TOLERANCE = 1e-7
#: A column whose deviation is below this share of its largest value is constant but for
#: rounding.
CONSTANT = 1e-11
#: Pivots of the correlation matrix above this are certainly not 0 (the sweep decides at
#: 1e-14).
_SAFE_PIVOT = 1e-9
#: One row in _STRIDE of _TALL matrices usually shows that no column is aliased.
_STRIDE = 16
_TALL = 8192
#: Columns of length 1 that are this near each other are equal.
_EQUAL = 1e-7
#: Random vectors whose products tell sparse columns apart.
_VECTORS = 4


@dataclass(frozen=True, eq=False)
class ColumnScales:
    """Means and standard deviations of p columns.

    Attributes
    ----------
    mean : (p,)
        Weighted means.
    deviation : (p,)
        Standard deviations; 1 for constant columns, infinite if these are sparse.
    kept : (p,) bool
        Columns that are not aliased.
    """

    mean: FloatArray
    deviation: FloatArray
    kept: BoolArray

    def part(self, index: slice | BoolArray | IntArray) -> ColumnScales:
        """Some of the columns."""
        return ColumnScales(self.mean[index], self.deviation[index], self.kept[index])


NO_COLUMNS = ColumnScales(np.zeros(0), np.ones(0), np.zeros(0, dtype=bool))


def column_scales(
    X: FloatArray, weights: FloatArray | None, ridge: bool = False
) -> ColumnScales:
    """Means, deviations and aliased columns of X (N, p) in a model with intercept.

    With `ridge` only constant columns are aliased: the penalty determines the others.

    Raises
    ------
    DataError
        A column has values that are not finite, or squares that overflow or vanish.
    """
    n, p = X.shape
    if p == 0:
        return NO_COLUMNS
    sparse = sparse_part(X)
    if sparse is not None:
        return _sparse_scales(sparse, weights)
    shift = X[:: max(1, n // 512)].mean(axis=0)
    sums = np.zeros(p)
    squares = np.zeros(p)
    spreads(X, weights, shift, sums, squares)
    _check_size(X, squares)
    total = float(n) if weights is None else float(weights.sum())
    offset = sums / total
    mean = shift + offset
    deviation = np.sqrt(np.maximum(squares / total - offset**2, 0.0))
    constant = deviation <= CONSTANT * (np.abs(mean) + np.abs(shift))
    deviation = np.where(constant, 1.0, deviation)
    if ridge:
        return ColumnScales(mean, deviation, ~constant)
    kept = ~_repeated(X, shift, sums, squares)
    some = X if kept.all() else np.ascontiguousarray(X[:, kept])
    checked = some, weights, shift[kept], (deviation * np.sqrt(total))[kept]
    certain = not constant[kept].any() and (
        (n >= _TALL and _independent(*checked, _STRIDE)) or _independent(*checked, 1)
    )
    if not certain:
        root = np.ones(n) if weights is None else np.sqrt(weights)
        kept[kept] = sweep(
            some if weights is None else root[:, None] * some, root, mean[kept]
        )
    return ColumnScales(mean, deviation, kept)


def _sparse_scales(X: SparseColumns, weights: FloatArray | None) -> ColumnScales:
    """Centre and spread of sparse columns, all kept, as their fits have a penalty.

    A constant column has an infinite deviation: divided by it, it is 0, and so is its
    effect.
    """
    mean, deviation = X.spreads(weights)
    deviation = np.where(deviation > 0.0, deviation, np.inf)
    return ColumnScales(mean, deviation, np.ones(mean.size, dtype=bool))


def _repeated(X: FloatArray, *sums: FloatArray) -> BoolArray:
    """(p,) columns equal to an earlier one; only columns of equal sums (p,) are
    compared.
    """
    first: dict[tuple[float, ...], int] = {}
    repeated = np.zeros(X.shape[1], dtype=bool)
    for column, key in enumerate(zip(*[each.tolist() for each in sums], strict=True)):
        before = first.setdefault(key, column)
        repeated[column] = before != column and np.array_equal(
            X[:, before], X[:, column]
        )
    return repeated


def _check_size(X: FloatArray, squares: FloatArray) -> None:
    """DataError if sums of squares (p,) are not finite, or vanish for a column that is
    not constant.
    """
    suspects = np.flatnonzero(~np.isfinite(squares) | (squares == 0.0))
    for column in suspects:
        if squares[column] != 0.0 or np.any(X[:, column] != X[0, column]):
            raise DataError(
                f"Column {column} of the model matrix must hold finite numbers whose"
                " squares neither overflow nor vanish (about 1e-150 to 1e150 in size):"
                " rescale it."
            )


def _independent(
    X: FloatArray,
    weights: FloatArray | None,
    shift: FloatArray,
    scale: FloatArray,
    stride: int,
) -> bool:
    """Whether the correlation matrix of all rows has no pivot near zero, judged by one
    row in `stride`.

    The pivot is the squared length of what a column adds to earlier ones; more rows
    only add to it.
    """
    part = (X[::stride] - shift) / scale
    weighted = part
    total = float(len(part))
    if weights is not None:
        weighted = part * weights[::stride, None]
        total = float(weights[::stride].sum())
    sums = weighted.sum(axis=0)
    gram = part.T @ weighted - np.outer(sums, sums / total)
    root, failed = dpotrf(gram, lower=1)
    return not failed and bool(root.diagonal().min() ** 2 > _SAFE_PIVOT)


def triangle_of(blocks: Iterable[FloatArray], width: int) -> FloatArray:
    """(r, width) R of the QR decomposition of rows (n, width) that come in blocks."""
    triangle = np.zeros((0, width))
    for rows in blocks:
        triangle = np.asarray(np.linalg.qr(np.vstack([triangle, rows]), mode="r"))
    return triangle


def sweep(X: FloatArray, root: FloatArray, mean: FloatArray) -> BoolArray:
    """(p,) columns to keep, by Gram-Schmidt in column order, twice for safety, on the
    centred columns.

    X (N, p) and the intercept `root` (N,) are multiplied by the root of the weights, or
    by any orthogonal matrix.
    """
    intercept = root / np.linalg.norm(root)
    basis = [intercept]
    kept = np.zeros(X.shape[1], dtype=bool)
    for j in range(X.shape[1]):
        column = X[:, j] - mean[j] * root
        column -= intercept * (intercept @ column)
        length = float(np.linalg.norm(column))
        if length <= CONSTANT * float(np.linalg.norm(X[:, j])):
            continue
        done = np.column_stack(basis)
        for _ in range(2):
            column -= done @ (done.T @ column)
        left = float(np.linalg.norm(column))
        if left > TOLERANCE * length:
            kept[j] = True
            basis.append(column / left)
    return kept


def equal_columns(X: FloatArray) -> list[IntArray]:
    """Places of columns of X (N, p) that are equal up to shift, scale and sign, an
    array for each set of them.

    Equal columns have equal products with any vector: an irregular one sorts them, so
    that only neighbours are compared.
    """
    sparse = sparse_part(X)
    if sparse is not None:
        return _equal_sparse_columns(sparse)
    mean = X.mean(axis=0)
    squares = np.zeros(mean.size)
    spreads(X, None, mean, np.zeros(mean.size), squares)
    lengths = np.sqrt(squares)
    sizes = np.maximum(X.max(axis=0, initial=0.0), -X.min(axis=0, initial=0.0))
    varying = np.flatnonzero(lengths > CONSTANT * sizes * np.sqrt(len(X)))
    vector = np.cos(np.arange(1.0, len(X) + 1.0) ** 2)
    vector -= vector.mean()
    marks = (vector @ X)[varying] / lengths[varying]
    order = np.argsort(np.abs(marks), kind="stable")
    signed = np.where(marks < 0.0, -1.0, 1.0) / lengths[varying]
    # columns at most _EQUAL apart have products at most so far apart, but for rounding
    apart = np.diff(np.abs(marks[order])) > 2.0 * _EQUAL * np.linalg.norm(vector)
    for i in np.flatnonzero(~apart):
        pair = order[i : i + 2]
        unit = (X[:, varying[pair]] - mean[varying[pair]]) * signed[pair]
        apart[i] = np.linalg.norm(unit[:, 0] - unit[:, 1]) > _EQUAL
    if apart.all():
        return []
    sets = np.split(varying[order], np.flatnonzero(apart) + 1)
    return [np.sort(places) for places in sets if places.size > 1]


def _equal_sparse_columns(X: SparseColumns) -> list[IntArray]:
    """`equal_columns` by products with several vectors, as columns are not centred in
    memory.
    """
    scales = _sparse_scales(X, None)
    n = len(X)
    varying = np.flatnonzero(np.isfinite(scales.deviation))
    vectors = np.random.default_rng(0).standard_normal((n, _VECTORS))
    products = X.transposed(vectors - vectors.mean(axis=0))[varying]
    marks = products / (scales.deviation[varying, None] * np.sqrt(n))
    marks *= np.where(marks[:, :1] < 0.0, -1.0, 1.0)
    order = np.argsort(marks[:, 0], kind="stable")
    apart = np.abs(np.diff(marks[order], axis=0)).max(axis=1) > _EQUAL
    sets = np.split(varying[order], np.flatnonzero(apart) + 1)
    return [np.sort(places) for places in sets if places.size > 1]
