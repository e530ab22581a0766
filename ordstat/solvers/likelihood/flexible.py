"""The likelihood of a link with a parameter lambda, which becomes the last component of `rest`.

Derivatives by lambda are central differences of sixth order over lambda, of the exact log-likelihood and score: good to
about 1e-10 of the log-likelihood's size, for any link of a family.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray
from ...model.likelihood.flexible import FlexibleLink
from ...model.likelihood.links import Link
from .blocks import Blocks
from .newton import Evaluation, Objective

#: Weights of f(-3h) ... f(3h) in h f' and h^2 f''.
_FIRST = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0
_SECOND = np.array([2.0, -27.0, 270.0, -490.0, 270.0, -27.0, 2.0]) / 180.0
_STEP = 0.02


@dataclass(frozen=True, eq=False, kw_only=True)
class FlexibleObjective:
    """An objective in (alpha, (rest, lambda)).

    Attributes
    ----------
    at : callable
        Link -> objective in (alpha, rest).
    family : FlexibleLink
    """

    at: Callable[[Link], Objective]
    family: FlexibleLink

    def evaluate(self, alpha: FloatArray, rest: FloatArray) -> Evaluation | None:
        points, h = _points(self.family, float(rest[-1]))
        if not self.family.lower < points[0] or not points[-1] < self.family.upper:
            return None
        found: list[Evaluation] = []
        for point in points:
            one = self.at(self.family.at(float(point)))(alpha, rest[:-1])
            if one is None:
                return None
            found.append(one)
        return _joined(found, h)


def _points(family: FlexibleLink, lam: float) -> tuple[FloatArray, float]:
    """Seven values of lambda about one, and their distance."""
    h = _STEP * lam if family.relative else _STEP
    return lam + h * np.arange(-3.0, 4.0), h


def lambda_slope(family: FlexibleLink, lam: float, curve: Callable[[Link], FloatArray]) -> FloatArray:
    """Derivative by lambda of what `curve` makes of a link."""
    points, h = _points(family, lam)
    values = np.array([curve(family.at(float(point))) for point in points])
    return np.asarray(np.tensordot(_FIRST, values, axes=1) / h)


def _joined(found: list[Evaluation], h: float) -> Evaluation:
    """The middle evaluation, with score and information of lambda from all seven."""
    here = found[3]
    logs = np.array([one.loglik - here.loglik for one in found])
    d_alpha = sum(w * one.score_alpha for w, one in zip(_FIRST, found, strict=True)) / h
    d_rest = sum(w * one.score_rest for w, one in zip(_FIRST, found, strict=True)) / h
    info, q = here.information, here.score_rest.size
    rest = np.empty((q + 1, q + 1))
    rest[:q, :q] = info.rest
    rest[:q, q] = rest[q, :q] = -d_rest
    rest[q, q] = -(_SECOND @ logs) / h**2
    return Evaluation(
        loglik=here.loglik,
        score_alpha=here.score_alpha,
        score_rest=np.append(here.score_rest, _FIRST @ logs / h),
        information=Blocks(
            diagonal=info.diagonal,
            below=info.below,
            cross=np.concatenate([info.cross, -np.asarray(d_alpha)[:, :, None]], axis=2),
            rest=rest,
        ),
    )
