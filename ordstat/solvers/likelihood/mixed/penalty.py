"""A penalty that keeps covariances of random effects off their boundary: + log det Lambda for every term.

For one column that is log sd, the gamma density of shape 2 and rate 0 of Chung, Rabe-Hesketh, Dorie, Gelman and Liu
(2013, Psychometrika 78, 685-709); for q correlated ones the Wishart density of q + 2 degrees of freedom and infinite
scale, |Sigma|^(1/2), of Chung, Gelman, Rabe-Hesketh, Liu and Dorie (2015, JEBS 40, 136-157). Other units of columns, or
other sums of correlated ones, add a constant.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...._typing import FloatArray
from .laplace import Evaluation, Objective
from .model import MixedModel


def log_determinant(model: MixedModel, psi: FloatArray) -> float:
    """log det Lambda summed over the terms."""
    with np.errstate(divide="ignore"):
        return float(np.log(np.abs(psi[_places(model)])).sum())


def penalised(model: MixedModel, objective: Objective) -> Objective:
    """An integrated log-likelihood with the penalty; None where a Lambda is singular."""
    places = _places(model)

    def evaluate(psi: FloatArray, start: list[FloatArray]) -> Evaluation | None:
        if not psi[places].all():
            return None
        found = objective(psi, start)
        if found is None:
            return None
        gradient = found.gradient.copy()
        gradient[places] += 1.0 / psi[places]
        return replace(found, loglik=found.loglik + log_determinant(model, psi), gradient=gradient)

    return evaluate


def _places(model: MixedModel) -> np.ndarray:
    """Places in psi of the diagonals."""
    diagonals = [rows == columns for rows, columns in (term.entries for term in model.terms)]
    return np.asarray(model.n_fixed + np.flatnonzero(np.concatenate(diagonals)))
