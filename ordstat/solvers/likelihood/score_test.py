"""Rao's score statistic of a cumulative link model at estimates of a smaller one."""

from __future__ import annotations

import numpy as np

from ..._typing import FloatArray
from .problem import Problem


def score_statistic(problem: Problem, estimates: FloatArray) -> float:
    """U' J^-1 U with score U and observed information J at the estimates; NaN where J is not positive definite.

    Parameters
    ----------
    problem : Problem
        The larger model, no column aliased.
    estimates : (P',) on the user's scale, in the order of `LikelihoodFit.coefficients`
    """
    at = problem.objective().evaluate(*problem.from_user(estimates))
    factor = None if at is None else at.information.factor()
    if at is None or factor is None:
        return float("nan")
    step_alpha, step_rest = factor.solve(at.score_alpha, at.score_rest)
    return float(np.vdot(step_alpha, at.score_alpha) + step_rest @ at.score_rest)
