"""Affine maps of columns, learned on training rows and reused at prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from ..exceptions import DataError
from .sample import has_gaps

# A column whose spread is below this share of its size holds rounding, not information.
_CONSTANT = 1e-14


@dataclass(frozen=True, eq=False)
class Scaling:
    """x -> (x - centre) * factor, column by column; a column that was constant on the training rows becomes 0.

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
        """The mapped columns of X (n, D); X itself where nothing changes."""
        if not self.changes:
            return X
        mapped: FloatArray = X - self.centre
        mapped *= self.factor
        return mapped


def _factor(spread: FloatArray, size: FloatArray) -> FloatArray:
    constant = spread <= _CONSTANT * size
    return np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, spread))


def _identity(X: FloatArray, weights: FloatArray) -> Scaling:
    return Scaling(np.zeros(X.shape[1]), np.ones(X.shape[1]))


def _to_range(X: FloatArray, weights: FloatArray) -> Scaling:
    # Halves first: the difference of two large numbers of opposite sign may overflow.
    low, high = np.fmin.reduce(X, axis=0) / 2.0, np.fmax.reduce(X, axis=0) / 2.0  # of values that are there
    return Scaling(high + low, _factor(high - low, np.maximum(np.abs(low), np.abs(high))))


def _standardised(X: FloatArray, weights: FloatArray) -> Scaling:
    if has_gaps(X):
        return _standardised_gaps(X, weights)
    mean = np.average(X, axis=0, weights=weights)
    deviation = np.sqrt(np.average(np.square(X - mean), axis=0, weights=weights))
    return Scaling(mean, _factor(deviation, np.abs(X).max(axis=0)))


def _standardised_gaps(X: FloatArray, weights: FloatArray) -> Scaling:
    """Column by column, by the rows that have a value; columns that have none stay as they are."""
    found = Scaling(np.zeros(X.shape[1]), np.ones(X.shape[1]))
    for d, column in enumerate(X.T):
        there = ~np.isnan(column)
        if there.any():
            own = _standardised(column[there, None], weights[there])
            found.centre[d], found.factor[d] = own.centre[0], own.factor[0]
    return found


#: How columns may be scaled: to [-1, 1], to mean 0 and standard deviation 1, or not at all.
SCALINGS: dict[str | None, Callable[[FloatArray, FloatArray], Scaling]] = {
    "range": _to_range,
    "standard": _standardised,
    None: _identity,
}

#: What the summary says of them.
SCALED = {"range": "each to [-1, 1]", "standard": "each to mean 0, standard deviation 1", None: "no"}


def require_finite_squares(X: FloatArray) -> None:
    """DataError naming a column of X (N, D), scaled as on earlier rows, whose squares overflow."""
    with np.errstate(over="ignore"):
        squares = np.einsum("nd,nd->d", X, X)
    if not np.isfinite(squares).all():
        raise DataError(
            f"Column {int(np.argmin(np.isfinite(squares)))} of the batch must have finite squares on the scale of the "
            "first rows (up to about 1e150). Rescale it, or leave out its outliers."
        )


def fit_scaling(kind: str | None, X: FloatArray, weights: FloatArray, *, about_mean: bool = False) -> Scaling:
    """Learn the map of the columns of X (N, D).

    Parameters
    ----------
    kind : {"range", "standard", None}
        Each column to [-1, 1] (the papers' setting), to weighted mean 0 and standard deviation 1, or unchanged.
    X : (N, D), N >= 1
    weights : (N,) positive case weights
    about_mean : bool
        Columns that are left alone count from their means: products of rows far from 0 would be all rounding.

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [4.0, 5.0]])
    >>> fit_scaling("range", X, np.ones(2))(X)
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    with np.errstate(over="ignore", divide="ignore"):
        scaling = SCALINGS[kind](X, weights)
    if not np.isfinite(scaling.factor).all():
        column = int(np.argmin(np.isfinite(scaling.factor)))
        raise DataError(f"Column {column} of X must vary by more than about 1e-300 to be scaled. Rescale it.")
    if about_mean and not scaling.changes:
        return Scaling(np.average(X, axis=0, weights=weights), scaling.factor)
    return scaling
