"""Scaling of columns to a range or a standard deviation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from ..exceptions import DataError
from .sample import has_gaps
from .sparse import SparseColumns, in_place_of_dense, sparse_part

# A column with spread below this share of its size is rounding.
_CONSTANT = 1e-14


@dataclass(frozen=True, eq=False)
class Scaling:
    """x -> (x - centre) * factor by column; columns that are constant on the training
    rows become 0.

    Attributes
    ----------
    centre, factor : (D,)
    """

    centre: FloatArray
    factor: FloatArray

    @property
    def changes(self) -> bool:
        """Whether any column is changed."""
        return bool(self.centre.any() or (self.factor != 1.0).any())

    def __call__(self, X: FloatArray) -> FloatArray:
        """The mapped columns of X (n, D); X itself if nothing changes."""
        if not self.changes:
            return X
        sparse = sparse_part(X)
        if sparse is not None:
            return in_place_of_dense(sparse.scaled(self.factor))
        mapped: FloatArray = X - self.centre
        mapped *= self.factor
        return mapped


def _factor(spread: FloatArray, size: FloatArray) -> FloatArray:
    constant = spread <= _CONSTANT * size
    return np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, spread))


def scaling_with(
    earlier: Scaling,
    n_earlier: float,
    kind: str | None,
    X: FloatArray,
    weights: FloatArray,
) -> Scaling:
    """Extend an earlier scaling to columns that were constant in earlier rows and vary
    now.

    These columns are scaled by all rows so far; the others keep their scaling.

    Parameters
    ----------
    earlier : Scaling
        Scaling of the earlier rows.
    n_earlier : float
        Number of the earlier rows.
    kind : {"range", "standard", None}
    X : (N, D)
    weights : (N,) positive case weights
    """
    waiting = np.flatnonzero(earlier.factor == 0.0)
    if not waiting.size:
        return earlier
    constants = earlier.centre[waiting]
    varies = np.abs(X[:, waiting] - constants) > _CONSTANT * np.abs(constants)
    moved = waiting[varies.any(axis=0)]
    if not moved.size:
        return earlier
    fitted = fit_scaling(
        kind, np.vstack([earlier.centre, X]), np.append(n_earlier, weights)
    )
    centre = earlier.centre.copy()
    factor = earlier.factor.copy()
    centre[moved] = fitted.centre[moved]
    factor[moved] = fitted.factor[moved]
    return Scaling(centre, factor)


def _identity(X: FloatArray, weights: FloatArray) -> Scaling:
    return Scaling(np.zeros(X.shape[1]), np.ones(X.shape[1]))


def _to_range(X: FloatArray, weights: FloatArray) -> Scaling:
    # fmin and fmax leave out missing values; halves, as the difference of two large
    # numbers of opposite sign may overflow
    low = np.fmin.reduce(X, axis=0) / 2.0
    high = np.fmax.reduce(X, axis=0) / 2.0
    return Scaling(
        high + low, _factor(high - low, np.maximum(np.abs(low), np.abs(high)))
    )


def _standardised(X: FloatArray, weights: FloatArray) -> Scaling:
    # column by column, over rows with a value; columns without values do not change
    if has_gaps(X):
        columns = [
            (column[~np.isnan(column), None], weights[~np.isnan(column)])
            for column in X.T
        ]
        fitted = [
            _standardised(*column) if column[1].size else _identity(*column)
            for column in columns
        ]
        return Scaling(
            np.hstack([one.centre for one in fitted]),
            np.hstack([one.factor for one in fitted]),
        )
    mean = np.average(X, axis=0, weights=weights)
    deviation = np.sqrt(np.average(np.square(X - mean), axis=0, weights=weights))
    return Scaling(mean, _factor(deviation, np.abs(X).max(axis=0)))


#: Scalings of columns: to [-1, 1], to mean 0 and standard deviation 1, or none.
SCALINGS: dict[str | None, Callable[[FloatArray, FloatArray], Scaling]] = {
    "range": _to_range,
    "standard": _standardised,
    None: _identity,
}


def _of_sparse(kind: str | None, X: SparseColumns, weights: FloatArray) -> Scaling:
    """The scaling of sparse columns, whose zeros stay: their centre is 0."""
    factor = np.ones(X.width)
    if kind == "range":
        low, high = X.ranges()
        half = high / 2.0 - low / 2.0
        factor = _factor(half, np.maximum(np.abs(low), np.abs(high)) / 2.0)
    elif kind == "standard":
        deviation = X.spreads(weights)[1]
        factor = _factor(deviation, np.zeros(X.width))
    return Scaling(np.zeros(X.width), factor)


#: Descriptions of scalings in the summary.
SCALED = {
    "range": "each to [-1, 1]",
    "standard": "each to mean 0, standard deviation 1",
    None: "no",
}


def require_finite_squares(X: FloatArray) -> None:
    """DataError if squares of a column of X (N, D) overflow when scaled as before."""
    with np.errstate(over="ignore"):
        squares = np.einsum("nd,nd->d", X, X)
    if not np.isfinite(squares).all():
        column = int(np.argmin(np.isfinite(squares)))
        raise DataError(
            f"Column {column} of the batch must have finite squares, scaled as the"
            " first rows. Rescale it."
        )


def fit_scaling(
    kind: str | None, X: FloatArray, weights: FloatArray, *, about_mean: bool = False
) -> Scaling:
    """Learn the map of the columns of X (N, D).

    Parameters
    ----------
    kind : {"range", "standard", None}
        Each column to [-1, 1] (the papers' setting), to weighted mean 0 and standard
        deviation 1, or unchanged.
    X : (N, D), N >= 1
    weights : (N,) positive case weights
    about_mean : bool
        Whether unscaled columns are centred, as products of rows far from 0 lose all
        digits. Sparse columns are never centred, as they would become dense.

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [4.0, 5.0]])
    >>> fit_scaling("range", X, np.ones(2))(X)
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    sparse = sparse_part(X)
    if sparse is not None:
        return _of_sparse(kind, sparse, weights)
    with np.errstate(over="ignore", divide="ignore"):
        scaling = SCALINGS[kind](X, weights)
    if np.isinf(scaling.factor).any():  # NaN for a column without values
        column = int(np.argmax(np.isinf(scaling.factor)))
        raise DataError(
            f"Column {column} of X must vary by more than about 1e-300 to be scaled."
            " Rescale it."
        )
    if about_mean and not scaling.changes:
        return Scaling(np.average(X, axis=0, weights=weights), scaling.factor)
    return scaling
