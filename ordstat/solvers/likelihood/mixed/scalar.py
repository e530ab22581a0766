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
    H, by_score, gradient = np.empty(v.size), np.empty(score.size), np.empty(psi.size)
    by_full = gradient[:-1] if model.expand is None else np.empty(full.size)
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
    loglik, gradient[-1], decrement = integrate_shared(*own, points, logs, adaptive, v, H, by_score, by_full[:count])
    by_full[count:] = by_score @ x
    if model.expand is not None:
        gradient[:-1] = by_full @ model.expand
    return _evaluation(model, psi, loglik, gradient, v, H, decrement)


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
    gradient = np.append(model.jacobian(model.places).total(kappa), by_sigma)
    return _evaluation(model, psi, loglik, gradient, v, H, decrement)


def _evaluation(
    model: MixedModel,
    psi: FloatArray,
    loglik: float,
    gradient: FloatArray,
    v: FloatArray,
    H: FloatArray,
    decrement: float,
) -> Evaluation | None:
    """What was found; None where it is not finite."""
    if not isfinite(loglik + np.add.reduce(gradient)):
        return None
    return Evaluation(
        model=model, psi=psi, loglik=loglik, gradient=gradient, v=[v[:, None]], decrement=decrement, curvature=H
    )
