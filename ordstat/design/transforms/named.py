"""Functions a formula may call: elementwise ones, and those that remember the data they were fitted on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..._typing import FloatArray
from ...exceptions import DataError, FormulaError
from .regression_splines import RegressionSpline
from .splines import BSpline, NaturalSpline


class Transform(Protocol):
    """A fitted transform: the same function of new values as of the old; pickles, prints, compares."""

    def __call__(self, x: FloatArray) -> FloatArray:
        """(N,) values to (N,) or (N, m)."""


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
        raise DataError(f"scale() needs values that differ; all are {x[0]:g}. Drop the term.")
    return Affine(center=middle, scale=spread)


def fit_center(x: FloatArray) -> Affine:
    """center(x): less the mean."""
    return Affine(center=float(x.mean()), scale=1.0)


@dataclass(frozen=True, kw_only=True)
class Polynomial:
    """poly(x, degree) of R: polynomials orthonormal over the rows of the fit, by their recurrence.

    p_0 = 1, p_{d+1} = (x - alpha_d) p_d - (norm_d / norm_{d-1}) p_{d-1}, column d is p_d / sqrt(norm_d).
    """

    alpha: tuple[float, ...]
    norms: tuple[float, ...]

    def __call__(self, x: FloatArray) -> FloatArray:
        before, current, previous = np.zeros_like(x), np.ones_like(x), 1.0
        columns = []
        for alpha, norm, following in zip(self.alpha, self.norms, self.norms[1:], strict=False):
            before, current = current, (x - alpha) * current - (norm / previous) * before
            previous = norm
            columns.append(current / np.sqrt(following))
        return np.column_stack(columns)


@dataclass(frozen=True)
class Powers:
    """poly(x, degree, raw=True): x, x^2, ..., x^degree."""

    degree: int

    def __call__(self, x: FloatArray) -> FloatArray:
        return np.asarray(x[:, None] ** np.arange(1, self.degree + 1))


def fit_poly(x: FloatArray, degree: int = 1, raw: bool = False) -> Polynomial | Powers:
    """poly(x, degree=1, raw=False)."""
    distinct = np.unique(x).size
    if not (isinstance(degree, int) and 1 <= degree < distinct):
        raise FormulaError(
            f"poly() takes a degree from 1 to {distinct - 1} (distinct values less one), not {degree!r}."
        )
    if raw:
        return Powers(degree)
    before, current, norms, alphas = np.zeros_like(x), np.ones_like(x), [float(x.size)], []
    for d in range(degree):
        alphas.append(float(np.sum(x * current**2) / norms[d]))
        ratio = norms[d] / norms[d - 1] if d else 1.0
        before, current = current, (x - alphas[d]) * current - ratio * before
        norms.append(float(np.sum(current**2)))
    return Polynomial(alpha=tuple(alphas), norms=tuple(norms))


def _logarithm(x: FloatArray, base: float | None = None) -> FloatArray:
    """log(x, base=e)."""
    return np.log(x) if base is None else np.log(x) / np.log(base)


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
}

#: Functions fitted to a column of numbers: name to a fitting function of (x, options) -> Transform.
FITTED: dict[str, Callable[..., Transform]] = {
    "scale": fit_scale,
    "center": fit_center,
    "poly": fit_poly,
    "bs": BSpline.fit,
    "ns": NaturalSpline.fit,
    "cr": RegressionSpline.natural,
    "cs": RegressionSpline.natural,
    "cc": RegressionSpline.periodic,
}
