"""The compiled pass for one random term of one column under a cumulative family: value and gradient in one walk.

Where it is not made for the values (far tails), the general route gives the answer.
"""

from __future__ import annotations

from functools import cache
from math import isfinite

import numpy as np

from ...._typing import FloatArray
from ....compiled.mixed import integrate_scalar, integrate_shared
from .blocks import Effects
from .laplace import Evaluation
from .model import MixedModel
from .modes import hardly_a_mode


def compiled(model: MixedModel) -> bool:
    """Whether the model has one random effect a group, and a link of the compiled pass."""
    return model.link is not None and len(model.terms) == 1 and model.terms[0].q == 1


@cache
def nodes_of(quadrature: int) -> tuple[FloatArray, FloatArray]:
    """Nodes, and the logarithms of what h is weighted by at them."""
    points, weights = np.polynomial.hermite.hermgauss(abs(quadrature))
    return points, np.log(weights) + points**2


def evaluate_compiled(
    model: MixedModel, points: FloatArray, logs: FloatArray, adaptive: bool, psi: FloatArray, start: Effects
) -> Evaluation | None:
    """The integrated log-likelihood at psi; None outside the domain, or where the passes are not for these values."""
    rule = points, logs, adaptive
    if model.shared:
        return _by_shared_thresholds(model, *rule, psi, start[0][:, 0].copy())
    return _by_rows(model, *rule, psi, start[0][:, 0].copy())


def _by_shared_thresholds(
    model: MixedModel, points: FloatArray, logs: FloatArray, adaptive: bool, psi: FloatArray, v: FloatArray
) -> Evaluation | None:
    """Where all rows have the same thresholds and scale."""
    full = psi[:-1] if model.expand is None else model.expand @ psi[:-1]
    x, count = model.rows.x, model.n_thresholds
    score = x @ full[count:]
    if model.moved:
        score += model.rows.offset
    H, by_score, by_full = np.empty(v.size), np.empty(score.size), np.empty(full.size)
    own = (
        model.common,
        model.starts,
        full[:count],
        score,
        model.y,
        psi[-1],
        model.first_column,
        model.ones,
        model.weights,
    )
    loglik, by_sigma, decrement = integrate_shared(*own, points, logs, adaptive, v, H, by_score, by_full[:count])
    by_full[count:] = by_score @ x
    return _evaluation(model, psi, loglik, model.reduced(by_full), by_sigma, v, H, decrement)


def _by_rows(
    model: MixedModel, points: FloatArray, logs: FloatArray, adaptive: bool, psi: FloatArray, v: FloatArray
) -> Evaluation | None:
    """Where every row has thresholds and a scale of its own."""
    predictor = model.predictor(psi[:-1])
    if predictor is None:
        return None
    u, lo, d = predictor.ends(model.y)
    if not np.all(d > 0.0):
        return None
    z = model.first_column
    H, kappa = np.empty(v.size), np.empty((4, z.size))
    own = model.link, model.common, model.starts, u, lo, d, psi[-1] * z, z, predictor.s, model.weights
    loglik, by_sigma, decrement = integrate_scalar(*own, points, logs, adaptive, v, H, kappa)
    if not isfinite(loglik) or (not model.family.concave and hardly_a_mode(1.0 / H[:, None, None])):
        return None
    by_fixed = model.jacobian(model.places).total(kappa)
    return _evaluation(model, psi, loglik, by_fixed, by_sigma, v, H, decrement)


def _evaluation(
    model: MixedModel,
    psi: FloatArray,
    loglik: float,
    by_fixed: FloatArray,
    by_sigma: float,
    v: FloatArray,
    H: FloatArray,
    decrement: float,
) -> Evaluation | None:
    """What was found; None where it is not finite."""
    if not isfinite(loglik + by_sigma + np.add.reduce(by_fixed)):
        return None
    gradient = np.empty(psi.size)
    gradient[:-1], gradient[-1] = by_fixed, by_sigma
    return Evaluation(
        model=model, psi=psi, loglik=loglik, gradient=gradient, v=[v[:, None]], decrement=decrement, curvature=H
    )
