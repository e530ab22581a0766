"""Cubic regression splines, given by their values at the knots: cr and cc of mgcv and formulaic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..._typing import FloatArray
from ...exceptions import DataError, FormulaError


@dataclass(frozen=True, kw_only=True)
class RegressionSpline:
    """Cubic between knots, with columns that are 1 at one knot and 0 at the others [Wood 2017, sec. 5.3.1 and 5.3.2].

    These add up to the constant, which the thresholds hold already: the first column is left out, so that the
    coefficient of a knot is its score less that of the first; or, under constraints="center", the columns are
    combined to sum to zero over the rows of the fit.

    Attributes
    ----------
    knots : from the lower bound to the upper one
    cyclic : bool
        The curve meets itself at the bounds with two derivatives, and repeats beyond them; otherwise it goes on as a
        straight line.
    means : of the columns over the rows of the fit, where they are centred
    """

    knots: tuple[float, ...]
    cyclic: bool
    means: tuple[float, ...] | None

    @classmethod
    def natural(
        cls,
        x: FloatArray,
        df: int | None = None,
        knots: Sequence[float] | float | None = None,
        lower_bound: float | None = None,
        upper_bound: float | None = None,
        constraints: str | None = None,
    ) -> Self:
        """cr(x, df=None, knots=None, lower_bound=None, upper_bound=None, constraints=None).

        `df` knots, one more under constraints="center", at equally spaced quantiles of the different x; or the inner
        `knots`.
        """
        return cls._fit("cr", x, df, knots, (lower_bound, upper_bound), constraints)

    @classmethod
    def periodic(
        cls,
        x: FloatArray,
        df: int | None = None,
        knots: Sequence[float] | float | None = None,
        lower_bound: float | None = None,
        upper_bound: float | None = None,
        constraints: str | None = None,
    ) -> Self:
        """cc(x, df=None, knots=None, lower_bound=None, upper_bound=None, constraints=None): one more knot than cr."""
        return cls._fit("cc", x, df, knots, (lower_bound, upper_bound), constraints)

    @classmethod
    def _fit(cls, name: str, x: FloatArray, df: Any, knots: Any, bounds: tuple[Any, Any], constraints: Any) -> Self:
        if constraints not in (None, "center"):
            raise FormulaError(f"{name}() takes constraints='center' or none, not {constraints!r}.")
        cyclic, centred = name == "cc", constraints == "center"
        low = float(x.min() if bounds[0] is None else bounds[0])
        high = float(x.max() if bounds[1] is None else bounds[1])
        if not low < high:
            raise DataError(f"{name}() needs values that differ; they span {low:g} to {high:g}. Drop the term.")
        inner = _inner_knots(name, x, df, knots, (low, high), int(cyclic) + int(centred))
        spline = cls(knots=(low, *inner, high), cyclic=cyclic, means=None)
        return (
            cls(knots=spline.knots, cyclic=cyclic, means=tuple(spline._values(x).mean(axis=0))) if centred else spline
        )

    def __call__(self, x: FloatArray) -> FloatArray:
        values = self._values(x)
        if self.means is None:
            return values[:, 1:]
        rotation = np.linalg.qr(np.array([self.means]).T, mode="complete").Q
        return np.asarray(values @ rotation[:, 1:])

    def _values(self, x: FloatArray) -> FloatArray:
        """(N, J) one column a knot, the last one being the first if cyclic."""
        knots = np.array(self.knots)
        width = np.diff(knots)
        if self.cyclic:
            x = knots[0] + (x - knots[0]) % (knots[-1] - knots[0])
        j = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, width.size - 1)
        left, right, h = x - knots[j], knots[j + 1] - x, width[j]
        unit = np.eye(knots.size)
        bend = np.zeros_like(unit)
        if self.cyclic:
            unit = np.vstack([unit[:-1, :-1], unit[:1, :-1]])
            bend = _curvature_of_a_cycle(width)
        elif knots.size > 2:
            bend[1:-1] = _curvature(width)
        # Beyond the end knots the curve has no curvature there, and the other cubic term is left out.
        falling = (np.maximum(right, 0.0) ** 3 / h - h * right) / 6.0
        rising = (np.maximum(left, 0.0) ** 3 / h - h * left) / 6.0
        parts = ((right / h, unit[j]), (left / h, unit[j + 1]), (falling, bend[j]), (rising, bend[j + 1]))
        return np.asarray(sum(share[:, None] * at for share, at in parts))


def _inner_knots(
    name: str, x: FloatArray, df: Any, given: Any, bounds: tuple[float, float], extra: int
) -> tuple[float, ...]:
    """The knots between the bounds: those given, or enough quantiles of the different x for `df` columns."""
    if (df is None) == (given is None):
        raise FormulaError(
            f"{name}() takes df=, the number of columns, or knots=, those between the bounds: one of them."
        )
    if given is not None:
        knots = tuple(sorted({float(knot) for knot in np.atleast_1d(given)}))
        if not all(bounds[0] < knot < bounds[1] for knot in knots):
            raise FormulaError(f"The knots of {name}() have to lie inside {bounds}; they are {knots}.")
        return knots
    distinct = np.unique(x[(x >= bounds[0]) & (x <= bounds[1])])
    least, most = 3 - extra, int(distinct.size) - extra
    if isinstance(df, bool) or not (isinstance(df, int) and max(least, 1) <= df <= most):
        raise FormulaError(f"{name}() takes a whole number df from {max(least, 1)} to {most} here, not {df!r}.")
    return tuple(np.quantile(distinct, np.linspace(0, 1, df + extra)[1:-1]).tolist())


def _curvature(width: FloatArray) -> FloatArray:
    """(J-2, J) second derivatives at the inner knots of the natural spline of each knot [Wood 2017, table 5.1]."""
    inner = width.size - 1
    B = np.diag((width[:-1] + width[1:]) / 3.0) + np.diag(width[1:-1] / 6.0, 1) + np.diag(width[1:-1] / 6.0, -1)
    D = np.zeros((inner, inner + 2))
    i = np.arange(inner)
    D[i, i], D[i, i + 2] = 1.0 / width[:-1], 1.0 / width[1:]
    D[i, i + 1] = -D[i, i] - D[i, i + 2]
    return np.asarray(np.linalg.solve(B, D))


def _curvature_of_a_cycle(width: FloatArray) -> FloatArray:
    """(J, J-1) second derivatives at the knots, the last one being the first."""
    before, size = np.roll(width, 1), width.size
    B, D, i = np.zeros((size, size)), np.zeros((size, size)), np.arange(size)
    for matrix, to_last, own, to_next in (
        (B, before / 6.0, (before + width) / 3.0, width / 6.0),
        (D, 1.0 / before, -1.0 / before - 1.0 / width, 1.0 / width),
    ):
        np.add.at(matrix, (i, i - 1), to_last)
        np.add.at(matrix, (i, i), own)
        np.add.at(matrix, (i, (i + 1) % size), to_next)
    bend = np.linalg.solve(B, D)
    return np.vstack([bend, bend[:1]])
