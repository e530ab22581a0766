"""Derivatives by the parameter lambda of a link: central differences of sixth order, good to about 1e-10."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..._typing import FloatArray, IntArray
from .family import Family, RowTerms
from .flexible import FlexibleLink
from .links import Link
from .predictor import Predictor

#: Weights of f(-3h) ... f(3h) in h f' and h^2 f''.
_FIRST = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0
_SECOND = np.array([2.0, -27.0, 270.0, -490.0, 270.0, -27.0, 2.0]) / 180.0
_STEP = 0.02
#: The middle one of the seven points.
_HERE = 3


def _points(flexible: FlexibleLink, lam: float) -> tuple[FloatArray, float]:
    """Seven values of lambda about one, and their distance."""
    h = _STEP * lam if flexible.relative else _STEP
    return lam + h * np.arange(-3.0, 4.0), h


def lambda_inside(flexible: FlexibleLink, lam: float) -> bool:
    """Whether the link has derivatives at lambda: the points about it are inside the range."""
    points, _ = _points(flexible, lam)
    return bool(flexible.lower < points[0] and points[-1] < flexible.upper)


def lambda_slope(flexible: FlexibleLink, lam: float, curve: Callable[[Link], FloatArray]) -> FloatArray:
    """Derivative by lambda of what `curve` makes of a link."""
    points, h = _points(flexible, lam)
    values = np.array([curve(flexible.at(float(point))) for point in points])
    return np.asarray(np.tensordot(_FIRST, values, axes=1) / h)


def lambda_terms(
    family: Family, flexible: FlexibleLink, lam: float, predictor: Predictor, y: IntArray, second: bool = True
) -> RowTerms | None:
    """Terms at a lambda that is estimated, the last of the predictors; None outside the domain."""
    if not lambda_inside(flexible, lam):
        return None
    points, h = _points(flexible, lam)
    families = [family.at(flexible.at(float(point))) for point in points]
    here = families[_HERE].terms(predictor, y, second)
    if here is None:
        return None
    if not second:
        logs = np.array([one.log_p(predictor, y) for one in families])
        with np.errstate(invalid="ignore"):
            score = np.vstack([here.score, _FIRST @ logs / h])
        return RowTerms(log_p=here.log_p, places=here.places, score=score, curvature=None)
    found = [here if one is families[_HERE] else one.terms(predictor, y, second=False) for one in families]
    return _joined(here, [one for one in found if one is not None], h)


def _joined(here: RowTerms, found: Sequence[RowTerms], h: float) -> RowTerms:
    """The middle terms, with those of lambda from all seven; NaN where a probability is 0 at one of them."""
    logs = np.array([one.log_p for one in found])
    with np.errstate(invalid="ignore"):
        slope, bend = _FIRST @ logs / h, _SECOND @ (logs - here.log_p) / h**2
        mixed = sum(weight * one.score for weight, one in zip(_FIRST, found, strict=True)) / h
    score = np.vstack([here.score, slope])
    size = len(score)
    out = np.empty((size, size, here.log_p.size))
    out[:-1, :-1] = here.second()
    out[:-1, -1] = out[-1, :-1] = -np.asarray(mixed)
    out[-1, -1] = -bend
    return RowTerms(log_p=here.log_p, places=here.places, score=score, curvature=out, barrier=here.barrier)
