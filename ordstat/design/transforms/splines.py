"""B-spline and natural cubic spline bases with R's knots and R's columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import FloatArray
from ...exceptions import DataError, FormulaError


def bspline(x: FloatArray, knots: FloatArray, order: int, derivative: int = 0) -> FloatArray:
    """(N, len(knots) - order) B-splines, or a derivative, at x within the inner knots (Cox-de Boor).

    The last interval is closed on the right, so the basis sums to one on the whole range.
    """
    if derivative:
        lower = bspline(x, knots, order - 1, derivative - 1)
        steps = knots[order - 1 :] - knots[: 1 - order]
        scaled = np.divide(order - 1, steps, out=np.zeros_like(steps), where=steps > 0) * lower
        return np.asarray(scaled[:, :-1] - scaled[:, 1:])
    if order == 1:
        last = int(np.flatnonzero(np.diff(knots) > 0)[-1])
        interval = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, last)
        return np.eye(knots.size - 1)[interval]
    lower = bspline(x, knots, order - 1)
    steps = knots[order - 1 :] - knots[: 1 - order]
    inverse = np.divide(1.0, steps, out=np.zeros_like(steps), where=steps > 0)
    rising = (x[:, None] - knots[: 1 - order]) * inverse * lower
    falling = (knots[order - 1 :] - x[:, None]) * inverse * lower
    return np.asarray(rising[:, :-1] + falling[:, 1:])


def interior_knots(x: FloatArray, boundary: tuple[float, float], count: int) -> tuple[float, ...]:
    """`count` knots at equally spaced quantiles (R's type 7) of the x within the boundary."""
    inside = x[(x >= boundary[0]) & (x <= boundary[1])]
    return tuple(np.quantile(inside, np.linspace(0, 1, count + 2)[1:-1]).tolist())


def _boundary(x: FloatArray, given: Any, name: str) -> tuple[float, float]:
    """The range of x, or the boundary knots given."""
    if given is not None and np.shape(given) != (2,):
        raise FormulaError(f"{name}() takes boundary_knots=[low, high], not {given!r}.")
    low, high = (float(v) for v in ((x.min(), x.max()) if given is None else sorted(given)))
    if not low < high:
        raise DataError(f"{name}() needs values that differ; all are {low:g}. Drop the term.")
    return low, high


def _knots(
    x: FloatArray, df: Any, given: Any, least: int, boundary: tuple[float, float], name: str
) -> tuple[float, ...]:
    """Inner knots: those given, else as many quantiles as `df` columns leave room for beside the `least` number."""
    if given is not None:
        knots = tuple(sorted(float(knot) for knot in np.atleast_1d(given)))
        if not all(boundary[0] < knot < boundary[1] for knot in knots):
            raise FormulaError(f"The knots of {name}() have to lie inside {boundary}; they are {knots}.")
        return knots
    most = int(np.unique(x).size) + 1
    if df is not None and not (isinstance(df, int) and least <= df <= most):
        raise FormulaError(f"{name}() takes a whole number df from {least} to {most} here, not {df!r}.")
    return interior_knots(x, boundary, 0 if df is None else df - least)


@dataclass(frozen=True, kw_only=True)
class BSpline:
    """bs(x, df=None, knots=None, degree=3, intercept=False, boundary_knots=None) of R's splines.

    Knots sit at quantiles of x; `df` counts the columns. Values outside the boundary knots are refused: a
    polynomial tail means little there.
    """

    knots: tuple[float, ...]
    boundary: tuple[float, float]
    degree: int
    intercept: bool

    @classmethod
    def fit(
        cls,
        x: FloatArray,
        df: int | None = None,
        knots: Sequence[float] | float | None = None,
        degree: int = 3,
        intercept: bool = False,
        boundary_knots: Sequence[float] | None = None,
    ) -> BSpline:
        boundary = _boundary(x, boundary_knots, "bs")
        if not (isinstance(degree, int) and 1 <= degree <= 9):
            raise FormulaError(f"bs() takes a degree from 1 to 9, not {degree!r}.")
        inner = _knots(x, df, knots, degree + int(intercept), boundary, "bs")
        return cls(knots=inner, boundary=boundary, degree=degree, intercept=bool(intercept))

    def __call__(self, x: FloatArray) -> FloatArray:
        low, high = self.boundary
        outside = (x < low) | (x > high)
        if outside.any():
            raise DataError(
                f"bs() was fitted on [{low:g}, {high:g}]; {int(outside.sum())} values lie outside, such as "
                f"{x[outside][0]:g}: use ns(), which continues as a straight line, or set boundary_knots=[low, high]."
            )
        order = self.degree + 1
        full = np.concatenate([np.repeat(low, order), self.knots, np.repeat(high, order)])
        basis = bspline(x, full, order)
        return basis if self.intercept else basis[:, 1:]


@dataclass(frozen=True, kw_only=True)
class NaturalSpline:
    """ns(x, df=None, knots=None, intercept=False, boundary_knots=None) of R's splines.

    Cubic between the boundary knots, a straight line outside them. The columns are R's: cubic B-splines
    projected on the complement of the second derivatives at the boundary.
    """

    knots: tuple[float, ...]
    boundary: tuple[float, float]
    intercept: bool

    @classmethod
    def fit(
        cls,
        x: FloatArray,
        df: int | None = None,
        knots: Sequence[float] | float | None = None,
        intercept: bool = False,
        boundary_knots: Sequence[float] | None = None,
    ) -> NaturalSpline:
        boundary = _boundary(x, boundary_knots, "ns")
        inner = _knots(x, df, knots, 1 + int(intercept), boundary, "ns")
        return cls(knots=inner, boundary=boundary, intercept=bool(intercept))

    def __call__(self, x: FloatArray) -> FloatArray:
        low, high = self.boundary
        ends = np.array(self.boundary)
        full = np.concatenate([np.repeat(low, 4), self.knots, np.repeat(high, 4)])
        inner = np.clip(x, low, high)
        slopes = bspline(ends, full, 4, derivative=1)
        basis = bspline(inner, full, 4) + np.outer(np.minimum(x - low, 0), slopes[0])
        basis += np.outer(np.maximum(x - high, 0), slopes[1])
        curvature = bspline(ends, full, 4, derivative=2)
        first = 0 if self.intercept else 1
        rotation = np.linalg.qr(curvature[:, first:].T, mode="complete").Q
        return np.asarray((basis[:, first:] @ rotation)[:, 2:])
