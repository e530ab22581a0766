"""Spline bases: bs and ns with R's knots and R's columns, cr and cc as in mgcv and formulaic. SciPy evaluates them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from .._typing import FloatArray
from ..checks import whole
from ..exceptions import DataError, FormulaError

Knots = Sequence[float] | float | None
#: Most knots of a spline, and most columns by df=.
MAX_KNOTS = 500


def _boundary(x: FloatArray, given: Any) -> tuple[float, float]:
    """The range of x, or the bounds given."""
    if given is not None and np.shape(given) != (2,):
        raise FormulaError(f"boundary_knots must be [low, high]; got {given!r}.")
    low, high = (x.min(), x.max()) if given is None else sorted(given)
    if not low < high:
        raise DataError(f"the variable must have values that differ; got {low:g} to {high:g}. Drop the term.")
    return float(low), float(high)


def _inner_knots(x: FloatArray, count: int, given: Knots, bounds: tuple[float, float]) -> tuple[float, ...]:
    """The knots between the bounds: those given, else `count` equally spaced quantiles (R's type 7) of x."""
    if given is None:
        inside = x[(x >= bounds[0]) & (x <= bounds[1])]
        return tuple(np.quantile(inside, np.linspace(0, 1, count + 2)[1:-1]).tolist())
    if np.size(given) > MAX_KNOTS:
        raise FormulaError(f"knots must be at most {MAX_KNOTS} numbers; got {np.size(given):,}.")
    knots = tuple(sorted(float(knot) for knot in np.atleast_1d(given)))
    if not all(bounds[0] < knot < bounds[1] for knot in knots):
        raise FormulaError(f"the knots must lie inside {bounds}; got {knots}.")
    return knots


def _room(df: int | None, least: int, x: FloatArray) -> int:
    """How many inner knots `df` columns of B-splines leave room for beside the `least` number."""
    return 0 if df is None else whole("df", df, least, min(int(np.unique(x).size) + 1, MAX_KNOTS)) - least


def _bsplines(
    x: FloatArray, bounds: tuple[float, float], inner: tuple[float, ...], degree: int, nu: int = 0
) -> FloatArray:
    """(N, degree + 1 + len(inner)) B-splines within the bounds, or their derivative of order `nu`.

    At the upper bound they have their limits from below, wherever the last inner knot lies, and so sum to one.
    """
    from scipy.interpolate import BSpline as Basis

    knots = np.concatenate([np.repeat(bounds[0], degree + 1), inner, np.repeat(bounds[1], degree + 1)])
    basis = Basis(knots, np.eye(knots.size - degree - 1), degree)
    return np.asarray(basis(np.minimum(x, np.nextafter(*bounds[::-1])), nu))


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
        knots: Knots = None,
        degree: int = 3,
        intercept: bool = False,
        boundary_knots: Sequence[float] | None = None,
    ) -> BSpline:
        boundary = _boundary(x, boundary_knots)
        count = _room(df, whole("degree", degree, 1, 9) + int(intercept), x)
        inner = _inner_knots(x, count, knots, boundary)
        return cls(knots=inner, boundary=boundary, degree=degree, intercept=bool(intercept))

    def __call__(self, x: FloatArray) -> FloatArray:
        low, high = self.boundary
        outside = (x < low) | (x > high)
        if outside.any():
            raise DataError(
                f"bs() was fitted on [{low:g}, {high:g}]; {int(outside.sum())} values lie outside, such as "
                f"{x[outside][0]:g}: use ns(), which continues as a straight line, or set boundary_knots=[low, high]."
            )
        basis = _bsplines(x, self.boundary, self.knots, self.degree)
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
        knots: Knots = None,
        intercept: bool = False,
        boundary_knots: Sequence[float] | None = None,
    ) -> NaturalSpline:
        boundary = _boundary(x, boundary_knots)
        inner = _inner_knots(x, _room(df, 1 + int(intercept), x), knots, boundary)
        return cls(knots=inner, boundary=boundary, intercept=bool(intercept))

    def __call__(self, x: FloatArray) -> FloatArray:
        inside = np.clip(x, *self.boundary)
        basis, ends = self._basis(inside), np.array(self.boundary)
        slopes = self._basis(ends, 1)
        basis += np.outer(np.minimum(x - ends[0], 0), slopes[0]) + np.outer(np.maximum(x - ends[1], 0), slopes[1])
        rotation = np.linalg.qr(self._basis(ends, 2).T, mode="complete").Q
        return np.asarray((basis @ rotation)[:, 2:])

    def _basis(self, x: FloatArray, nu: int = 0) -> FloatArray:
        return _bsplines(x, self.boundary, self.knots, 3, nu)[:, 0 if self.intercept else 1 :]


@dataclass(frozen=True, kw_only=True)
class RegressionSpline:
    """Cubic between knots, with columns that are 1 at one knot and 0 at the others [Wood 2017, sec. 5.3.1 and 5.3.2].

    These add up to the constant, which the thresholds hold already: the first column is left out, so that the
    coefficient of a knot is its score less that of the first. Beyond the bounds the curve continues as a straight line.

    Attributes
    ----------
    knots : from the lower bound to the upper one
    """

    cyclic: ClassVar[bool] = False

    knots: tuple[float, ...]

    @classmethod
    def fit(
        cls,
        x: FloatArray,
        df: int | None = None,
        knots: Knots = None,
        lower_bound: float | None = None,
        upper_bound: float | None = None,
    ) -> Self:
        """cr(x, df=None, knots=None, lower_bound=None, upper_bound=None), and cc likewise.

        `df` knots, one more if cyclic, at equally spaced quantiles of the different x; or the inner `knots`.
        """
        if (df is None) == (knots is None):
            raise FormulaError("either df=, the number of columns, or knots=, those between the bounds, must be given.")
        bounds = _boundary(
            x, [x.min() if lower_bound is None else lower_bound, x.max() if upper_bound is None else upper_bound]
        )
        different = np.unique(x[(x >= bounds[0]) & (x <= bounds[1])])
        ends = 2 - int(cls.cyclic)  # columns that need no inner knot
        count = 0 if df is None else whole("df", df, ends + 1, min(different.size + ends - 2, MAX_KNOTS)) - ends
        given = None if knots is None else np.unique(knots).tolist()
        return cls(knots=(bounds[0], *_inner_knots(different, count, given, bounds), bounds[1]))

    def __call__(self, x: FloatArray) -> FloatArray:
        from scipy.interpolate import CubicSpline

        knots = np.array(self.knots)
        unit = np.eye(knots.size - int(self.cyclic))
        if self.cyclic:
            return np.asarray(CubicSpline(knots, [*unit, unit[0]], bc_type="periodic")(x))[:, 1:]
        spline, inside = CubicSpline(knots, unit, bc_type="natural"), np.clip(x, knots[0], knots[-1])
        return np.asarray(spline(inside) + (x - inside)[:, None] * spline(inside, 1))[:, 1:]


class CyclicSpline(RegressionSpline):
    """Meets itself at the bounds with two derivatives, and repeats beyond them: the last knot is the first."""

    cyclic = True
