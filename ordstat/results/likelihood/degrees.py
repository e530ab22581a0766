"""Degrees of freedom of t-tests and limits of what depends on all parameters."""

from __future__ import annotations

import numpy as np

from ..._typing import FloatArray
from .fitted import FittedLikelihood
from .standard_errors import places


def by_estimated(r: FittedLikelihood, jacobian: FloatArray) -> FloatArray:
    """(..., P') derivatives by the estimated parameters, from those by all of the rule (..., F)."""
    moved = places(r.fit, r.rule)
    return np.asarray(jacobian[..., : len(moved)] @ moved)


def degrees_of_freedom(r: FittedLikelihood, jacobian: FloatArray) -> FloatArray:
    """(...) those of numbers with derivatives (..., F): Satterthwaite's under CR2, of a survey design its own.

    Infinite where tests are by the normal distribution, and of numbers that depend on no parameter.
    """
    if r.bias_reduced is None:
        return np.full(jacobian.shape[:-1], r.design_df)
    rows = by_estimated(r, jacobian).reshape(-1, int(np.count_nonzero(~r.fit.aliased)))
    found = r.bias_reduced.t_df_of(r.fit.information.covariance(), rows)
    return np.asarray(found.reshape(jacobian.shape[:-1]))
