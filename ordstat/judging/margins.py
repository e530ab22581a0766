"""Margins of rows, and training errors at margin Delta."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .geometry import Geometry


@dataclass(frozen=True, eq=False, kw_only=True)
class Margins:
    """Margins of some rows.

    Attributes
    ----------
    all : (N, K-1)
        rho_k of each row and threshold, in units of the score.
    y : (N,) codes 0..K-1
    norm : float
        `Geometry.total`, the joint norm of coefficients and thresholds; rho / norm is
        the normalised margin. NaN if the score has no norm.
    """

    all: FloatArray
    y: IntArray
    norm: float

    @property
    def left(self) -> FloatArray:
        """(N,) rho_{y-1}, the distance to the lower end of the interval of y; infinite
        for the lowest level.
        """
        return _column(self.all, self.y - 1, np.inf)

    @property
    def right(self) -> FloatArray:
        """(N,) rho_y, the distance to the upper end of the interval of y; infinite for
        the highest level.
        """
        return _column(self.all, self.y, np.inf)

    @property
    def normalised(self) -> FloatArray:
        """(N, K-1) rho_k / norm."""
        return self.all / self.unit

    @property
    def unit(self) -> float:
        """The divisor of normalised margins; 1 if all coefficients and thresholds are
        0.
        """
        return self.norm or 1.0


def margins(gaps: FloatArray, y: IntArray, geometry: Geometry | None = None) -> Margins:
    """Margins of rows with codes y (N,) from their gaps H - theta_k (N, K-1).

    Examples
    --------
    >>> m = margins(np.array([[2.0, 1.0, -1.0]]), np.array([2]))
    >>> m.all, m.left, m.right
    (array([[2., 1., 1.]]), array([1.]), array([1.]))
    """
    above = y[:, None] > np.arange(gaps.shape[1])
    norm = float("nan") if geometry is None else geometry.total
    return Margins(all=np.where(above, gaps, 0.0 - gaps), y=y, norm=norm)


def _column(table: AnyArray, threshold: IntArray, beyond: float) -> AnyArray:
    """(N,) the entry of each row (N, K-1) at one threshold; `beyond` outside."""
    inside = (threshold >= 0) & (threshold < table.shape[1])
    chosen = table[np.arange(table.shape[0]), np.clip(threshold, 0, table.shape[1] - 1)]
    return np.where(inside, chosen, beyond)


def delta_errors(
    rho: FloatArray, y: IntArray, weights: FloatArray, deltas: FloatArray
) -> pd.DataFrame:
    """Errors at margin Delta, for `deltas` (M,) >= 0 and margins rho (N, K-1) in the
    same units.

    Returns
    -------
    pandas.DataFrame
        Index Delta. Columns classification (E_C: share of rows with left or right
        margin <= Delta), boundary (E_B: mean share of the two ends with margin <=
        Delta; E_C / 2 <= E_B <= E_C) and absolute (E_A: mean number of thresholds with
        rho_k <= Delta).

    Notes
    -----
    At Delta = 0 ties H = theta_k are treated as in prediction (lower level). Then
    E_A(0) is the absolute error, and, if the thresholds are in order, E_C(0) is the
    classification error.
    """
    above = y[:, None] > np.arange(rho.shape[1])
    ends = (y == 0) | (y == rho.shape[1])
    errors = []
    for delta in deltas:
        within: BoolArray = (
            (rho <= delta) & (above | (rho < 0)) if delta == 0 else rho <= delta
        )
        left = _column(within, y - 1, False)
        right = _column(within, y, False)
        boundary = (left.astype(np.float64) + right) / np.where(ends, 1.0, 2.0)
        sums = (
            weights @ (left | right),
            weights @ boundary,
            weights @ np.count_nonzero(within, axis=1),
        )
        errors.append(np.array(sums) / weights.sum())
    columns = ["classification", "boundary", "absolute"]
    return pd.DataFrame(
        np.reshape(errors, (-1, 3)),
        index=pd.Index(deltas, name="Delta"),
        columns=columns,
    )
