"""Margins of a threshold ranker and its errors at a margin [Lin & Li 2006, definition 1; Lin 2008, section 3.1].

rho_k = H - theta_k for rows above rank k, theta_k - H for the others, so a margin <= 0 is a wrong answer to "rank
above k?". Codes are 0..K-1: threshold k (0-based) lies between codes k and k + 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..model.fit import Geometry


@dataclass(frozen=True, eq=False, kw_only=True)
class Margins:
    """Margins of some rows.

    Attributes
    ----------
    all : (N, K-1)
        rho_k of every row to every threshold, in units of the potential.
    y : (N,) codes 0..K-1
    norm : float
        `Geometry.total`, the size of the potential's coefficients and the thresholds together; rho / norm is the
        normalised margin. NaN where the potential has no norm.
    """

    all: FloatArray
    y: IntArray
    norm: float

    @property
    def left(self) -> FloatArray:
        """(N,) rho_{y-1}, the distance to the lower end of the row's own interval; infinite for the lowest rank."""
        return _column(self.all, self.y - 1, np.inf)

    @property
    def right(self) -> FloatArray:
        """(N,) rho_y, the distance to the upper end of the row's own interval; infinite for the highest rank."""
        return _column(self.all, self.y, np.inf)

    @property
    def normalised(self) -> FloatArray:
        """(N, K-1) rho_k / norm."""
        return self.all / self.unit

    @property
    def unit(self) -> float:
        """What a normalised margin is divided by; coefficients and thresholds that are all 0 leave margins of 0."""
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
    """(N,) the entry of each row (N, K-1) at one threshold; what stands beyond the ends."""
    inside = (threshold >= 0) & (threshold < table.shape[1])
    chosen = table[np.arange(table.shape[0]), np.clip(threshold, 0, table.shape[1] - 1)]
    return np.where(inside, chosen, beyond)


@dataclass(frozen=True, eq=False)
class DeltaErrors:
    """Errors at margin Delta, as shares of the rows (classification, boundary) and mean counts (absolute).

    Attributes
    ----------
    deltas : (M,) in the units of the margins they were counted with
    classification : (M,)
        E_C: share of rows whose left or right margin is <= Delta.
    boundary : (M,)
        E_B: mean of the two; of the only one at the end ranks. E_C / 2 <= E_B <= E_C.
    absolute : (M,)
        E_A: mean number of thresholds k with rho_k <= Delta.
    """

    deltas: FloatArray
    classification: FloatArray
    boundary: FloatArray
    absolute: FloatArray


def delta_errors(rho: FloatArray, y: IntArray, weights: FloatArray, deltas: FloatArray) -> DeltaErrors:
    """E_C, E_B and E_A at each of `deltas` (M,) >= 0, of margins rho (N, K-1) in the same units.

    At Delta = 0 a tie H = theta_k is judged as the rule judges it (the lower rank), so that E_A(0) is the absolute
    error of the threshold rule exactly, and E_C(0) its classification error where the thresholds are in order.
    """
    counts = np.array([_at(rho, y, weights, float(delta)) for delta in deltas]).reshape(-1, 3)
    return DeltaErrors(np.asarray(deltas, dtype=np.float64), *counts.T)


def _at(rho: FloatArray, y: IntArray, weights: FloatArray, delta: float) -> FloatArray:
    within = _within(rho, y, delta)
    left, right = _column(within, y - 1, False), _column(within, y, False)
    ends = (y == 0) | (y == rho.shape[1])
    boundary = (left.astype(np.float64) + right) / np.where(ends, 1.0, 2.0)
    sums = (weights @ (left | right), weights @ boundary, weights @ np.count_nonzero(within, axis=1))
    return np.asarray(np.array(sums) / weights.sum())


def _within(rho: FloatArray, y: IntArray, delta: float) -> BoolArray:
    """(N, K-1) rho_k <= Delta; at Delta = 0 a tie is right for the rows not above the threshold."""
    within: BoolArray = rho <= delta
    if delta == 0:
        above = y[:, None] > np.arange(rho.shape[1])
        within &= above | (rho < 0)
    return within
