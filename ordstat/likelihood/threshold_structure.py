"""Structures of thresholds: linear maps of fewer parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..checks import brief, numbers_given, one_spelled
from ..exceptions import DataError, OptionError

#: Smallest singular value of a matrix with independent columns, as a share of the
#: largest: beyond it parameters are not determined to the digits that tables show.
_INDEPENDENT = 1e-8
#: Largest difference of c from a solution of jacobian @ c = 1.
_SOLVED = 1e-10

#: The option `threshold`: a name, or the rows of a matrix.
Structure = str | tuple[tuple[float, ...], ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class ThresholdMap:
    """The linear map theta = jacobian @ a.

    Attributes
    ----------
    names : tuple of str
        Names of the parameters a, as in R's ordinal.
    jacobian : (K-1, t)
    """

    names: tuple[str, ...]
    jacobian: FloatArray

    @property
    def intercept(self) -> FloatArray | None:
        """(t,) c with jacobian @ c = 1, so that all thresholds can move together; None
        if they cannot.
        """
        ones = np.ones(self.jacobian.shape[0])
        solved = np.linalg.lstsq(self.jacobian, ones, rcond=None)[0]
        c = np.asarray(solved, dtype=np.float64)
        whole = np.round(c)  # as most maps are
        if np.array_equal(self.jacobian @ whole, ones):
            return whole
        return c if np.abs(self.jacobian @ c - ones).max() < _SOLVED else None

    def near(self, theta: FloatArray, ordered: bool) -> FloatArray:
        """(t,) parameters whose thresholds are near given ones (K-1,), and increase if
        `ordered`.

        Raises
        ------
        DataError
            No thresholds of the structure increase.
        """
        nearest = np.asarray(np.linalg.lstsq(self.jacobian, theta, rcond=None)[0])
        if not ordered or np.all(np.diff(self.jacobian @ nearest) > 0.0):
            return nearest
        rising = self._rising()
        thresholds = self.jacobian @ rising
        rising *= np.ptp(theta) / np.ptp(thresholds)
        c = self.intercept
        if c is not None:
            rising += c * float(np.mean(theta - self.jacobian @ rising))
        return rising

    def _rising(self) -> FloatArray:
        """(t,) parameters in [-1, 1] for which the least distance between neighbouring
        thresholds is largest: a linear programme.
        """
        from scipy.optimize import linprog

        distances = np.diff(self.jacobian, axis=0)
        n, t = distances.shape
        bounds = [(-1.0, 1.0)] * t + [(None, None)]
        found = linprog(
            np.append(np.zeros(t), -1.0),
            A_ub=np.hstack([-distances, np.ones((n, 1))]),
            b_ub=np.zeros(n),
            bounds=bounds,
        )
        if found.x is None or not found.x[-1] > 0.0:
            raise DataError(
                "threshold= must allow thresholds that increase; no combination of the"
                f" {t} columns of its matrix does."
            )
        return found.x[:t]


#: Structures of the thresholds: each free; symmetric about a free middle; symmetric
#: about 0; equally spaced.
THRESHOLDS = ("flexible", "symmetric", "symmetric2", "equidistant")


def checked_structure(name: str, value: Any, of: Any = None) -> Structure:
    """A structure by name, or a matrix as the tuple of its rows.

    Raises
    ------
    OptionError
        An unknown name, or not a matrix of finite numbers with independent columns.
    """
    if isinstance(value, str) or value is None or np.ndim(value) == 0:
        return one_spelled(name, value, THRESHOLDS)
    matrix = numbers_given(value)
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():
        raise OptionError(
            f"{name} must be one of {', '.join(map(repr, THRESHOLDS))}, or a matrix of"
            " finite numbers with a row for each threshold and a column for each"
            f" parameter; got {brief(value)}."
        )
    singular = np.linalg.svd(matrix, compute_uv=False)
    columns = matrix.shape[1]
    if columns > matrix.shape[0] or singular[-1] <= _INDEPENDENT * singular[0]:
        raise OptionError(
            f"{name} must be a matrix with independent columns of about one size; its"
            f" {columns} columns are not. Leave columns out, or rescale them (powers:"
            " orthogonal polynomials)."
        )
    return tuple(tuple(row) for row in matrix.tolist())


def threshold_map(name: Structure, n_thresholds: int) -> ThresholdMap | None:
    """The map of a structure; None for "flexible".

    Raises
    ------
    DataError
        A structure for fewer than two thresholds (levels with rows less one), or a
        matrix for another number of them.

    Examples
    --------
    >>> threshold_map("equidistant", 4).jacobian.astype(int).tolist()
    [[1, 0], [1, 1], [1, 2], [1, 3]]
    """
    if not isinstance(name, str):
        return _given_map(name, n_thresholds)
    if name == "flexible":
        return None
    n = n_thresholds
    half = n_thresholds // 2
    order = np.arange(n_thresholds)
    if n < 2:
        raise DataError(
            f"threshold={name!r} must have a response with rows in at least 3 levels;"
            f" this one has {n + 1}. Use threshold='flexible'."
        )
    if name == "equidistant":
        jacobian = np.column_stack([np.ones(n), order]).astype(np.float64)
        return ThresholdMap(names=("threshold.1", "spacing"), jacobian=jacobian)
    # column j: the j-th threshold above the middle
    above = order[:, None] == order[n - half :]
    spacing = above.astype(np.float64) - above[::-1]
    central = np.ones((n, 1))
    if name == "symmetric2":  # the model has no free location
        return ThresholdMap(
            names=tuple(f"spacing.{j + 1}" for j in range(half)), jacobian=spacing
        )
    names = ["central"]
    # both middle ones are free, and distances from them equal on either side
    if n % 2 == 0:
        spacing = spacing[:, 1:]
        names = ["central.1", "central.2"]
        central = np.column_stack([order < half, order >= half]).astype(np.float64)
    names += [f"spacing.{j + 1}" for j in range(spacing.shape[1])]
    return ThresholdMap(names=tuple(names), jacobian=np.hstack([central, spacing]))


def _given_map(rows: tuple[tuple[float, ...], ...], n_thresholds: int) -> ThresholdMap:
    """The map of a matrix of the user."""
    jacobian = np.array(rows)
    n, t = jacobian.shape
    if n != n_thresholds:
        raise DataError(
            f"threshold= must have a row for each of the {n_thresholds} thresholds"
            f" between levels that have rows; its matrix has {n} rows."
        )
    return ThresholdMap(
        names=tuple(f"gamma.{j + 1}" for j in range(t)), jacobian=jacobian
    )
