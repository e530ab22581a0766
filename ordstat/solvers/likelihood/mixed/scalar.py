"""The compiled pass for one random term of one column under a cumulative family: value and gradient in one walk.

Where it is not made for the values (far tails), the general route gives the answer.
"""

from __future__ import annotations

from functools import cache
from math import isfinite

import numpy as np

from ...._typing import FloatArray
from ....compiled.mixed import integrate_scalar
from ....model.likelihood.predictor import Predictor
from .blocks import Effects
from .laplace import Evaluation
from .model import MixedModel
from .modes import hardly_a_mode

#: Thresholds further out have no tables.
_FAR = 300.0


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
    """The integrated log-likelihood at psi; None outside the domain, or where the pass is not for these values."""
    fixed, sigma = psi[: model.n_fixed], float(psi[-1])
    predictor = model.predictor(fixed)
    if predictor is None:
        return None
    tables = _tables(model, predictor)
    ends: tuple[FloatArray | None, ...] = (None, None, None)
    if tables is None:
        u, lo, d = predictor.ends(model.y)
        if not np.all(d > 0.0):
            return None
        ends = u, lo, d
    z, v = model.first_column, start[0][:, 0].copy()
    H, kappa, by_theta = np.empty_like(v), np.empty((4, z.size)), np.zeros(model.n_thresholds)
    own = model.link, model.common, model.starts, *ends, sigma * z, z, predictor.s, model.weights
    into = (v, H, kappa) if tables is None else (v, H, kappa, predictor.H, model.y, tables, by_theta)
    loglik, by_sigma, decrement = integrate_scalar(*own, points, logs, adaptive, *into)
    if not isfinite(loglik + by_sigma) or (not model.family.concave and hardly_a_mode(1.0 / H[:, None, None])):
        return None
    if tables is None:
        by_fixed = model.jacobian(model.places).total(kappa)
    else:
        by_fixed = model.reduced(np.concatenate([by_theta, kappa[2] @ model.rows.x]))
    gradient = np.empty(psi.size)
    gradient[:-1], gradient[-1] = by_fixed, by_sigma
    if not isfinite(loglik + np.add.reduce(gradient)):
        return None
    return Evaluation(
        model=model, psi=psi, loglik=loglik, gradient=gradient, v=[v[:, None]], decrement=decrement, curvature=H
    )


def _tables(model: MixedModel, predictor: Predictor) -> FloatArray | None:
    """(3, K) exp(-theta_y), exp(-theta_{y-1}) and 1 - exp(-d) by level; None where rows do not share their thresholds.

    None, too, where the thresholds are out of order or far out.
    """
    theta = predictor.alpha[:, 0]
    if not model.shared or theta[0] < -_FAR or theta[-1] > _FAR:
        return None
    shares = np.expm1(theta[:-1] - theta[1:])
    if not (shares < 0.0).all():
        return None
    out = np.empty((3, theta.size + 1))
    out[0, :-1] = out[1, 1:] = np.exp(-theta)
    out[2, 1:-1] = -shares
    out[0, -1], out[1, 0], out[2, 0], out[2, -1] = 0.0, np.inf, 1.0, 1.0
    return out
