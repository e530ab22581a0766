"""The compiled pass for one random term of one column under a cumulative family: value and gradient in one walk.

Where it is not made for the values (far tails), the general route gives the answer.
"""

from __future__ import annotations

import numpy as np

from ...._typing import FloatArray
from ....compiled.mixed import integrate_scalar
from .blocks import Effects
from .laplace import Evaluation
from .model import MixedModel


def compiled(model: MixedModel) -> bool:
    """Whether the model has one random effect a group, and a link of the compiled pass."""
    return model.link is not None and len(model.terms) == 1 and model.terms[0].q == 1


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
    u, lo, d = predictor.ends(model.y)
    if not np.all(d > 0.0):
        return None
    z, v = model.terms[0].z[:, 0], start[0][:, 0].copy()
    H, kappa = np.empty_like(v), np.empty((4, model.y.size))
    ends = np.ascontiguousarray(u), np.ascontiguousarray(lo), np.ascontiguousarray(d)
    loglik, by_sigma, decrement = integrate_scalar(
        model.link,
        model.common,
        model.starts,
        *ends,
        sigma * z,
        z,
        predictor.s,
        model.weights,
        points,
        logs,
        adaptive,
        v,
        H,
        kappa,
    )
    gradient = np.append(model.jacobian(model.places).total(kappa), by_sigma)
    if not (np.isfinite(loglik) and np.isfinite(gradient).all()):
        return None
    return Evaluation(model=model, psi=psi, loglik=loglik, gradient=gradient, v=[v[:, None]], decrement=decrement)
