"""Functions a formula may call: elementwise ones, and those that remember the data they were fitted on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from ..._typing import FloatArray
from ...checks import whole
from ...exceptions import DataError
from .splines import BSpline, CyclicSpline, NaturalSpline, RegressionSpline

#: A fitted transform, the same function of new values as of the old: (N,) to (N,) or (N, m); pickles, prints, compares.
Transform = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, kw_only=True)
class Affine:
    """(x - center) / scale."""

    center: float
    scale: float

    def __call__(self, x: FloatArray) -> FloatArray:
        return (x - self.center) / self.scale


def fit_scale(x: FloatArray, center: bool = True, scale: bool = True) -> Affine:
    """scale(x, center=True, scale=True): less the mean, over the standard deviation of divisor n - 1, as R.

    Without centring the divisor is the root mean square.
    """
    middle = float(x.mean()) if center else 0.0
    spread = float(np.sqrt(np.sum((x - middle) ** 2) / max(x.size - 1, 1))) if scale else 1.0
    if not spread > 0:
        raise DataError(f"the variable must have values that differ; got {x[0]:g} throughout. Drop the term.")
    return Affine(center=middle, scale=spread)


def fit_center(x: FloatArray) -> Affine:
    """center(x): less the mean."""
    return Affine(center=float(x.mean()), scale=1.0)


@dataclass(frozen=True)
class Polynomial:
    """poly(x, degree) of R: polynomials orthonormal over the rows of the fit, by their recurrence."""

    degree: int
    recurrence: dict[str, Any]

    def __call__(self, x: FloatArray) -> FloatArray:
        from formulaic.transforms.poly import poly

        return np.asarray(poly(x, self.degree, _state=self.recurrence))


@dataclass(frozen=True)
class Powers:
    """poly(x, degree, raw=True): x, x^2, ..., x^degree."""

    degree: int

    def __call__(self, x: FloatArray) -> FloatArray:
        return np.asarray(x[:, None] ** np.arange(1, self.degree + 1))


def fit_poly(x: FloatArray, degree: int = 1, raw: bool = False) -> Polynomial | Powers:
    """poly(x, degree=1, raw=False); the degree is less than the number of distinct values."""
    whole("degree", degree, 1, min(int(np.unique(x).size) - 1, 50))
    if raw:
        return Powers(degree)
    polynomial = Polynomial(degree, {})
    polynomial(x)  # writes the recurrence down
    return polynomial


def _logarithm(x: FloatArray, base: float | None = None) -> FloatArray:
    """log(x, base=e)."""
    return np.log(x) if base is None else np.log(x) / np.log(base)


def _largest(x: FloatArray, *others: FloatArray) -> FloatArray:
    """pmax(x, ...): the largest of the values in every row."""
    return reduce(np.maximum, others, x)


def _smallest(x: FloatArray, *others: FloatArray) -> FloatArray:
    """pmin(x, ...): the smallest of the values in every row."""
    return reduce(np.minimum, others, x)


#: Elementwise functions.
ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "log": _logarithm,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "exp": np.exp,
    "expm1": np.expm1,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "arctan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "pmax": _largest,
    "pmin": _smallest,
}

#: Functions fitted to a column of numbers: name to a fitting function of (x, options) -> Transform.
FITTED: dict[str, Callable[..., Transform]] = {
    "scale": fit_scale,
    "center": fit_center,
    "poly": fit_poly,
    "bs": BSpline.fit,
    "ns": NaturalSpline.fit,
    "cr": RegressionSpline.fit,
    "cs": RegressionSpline.fit,
    "cc": CyclicSpline.fit,
}
