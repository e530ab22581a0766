"""The search that a plain Newton method makes, step by step as R's ordinal::clm does it.

It is one of the starts where a likelihood may have several maxima, and tells which of them a user of R would see: where
the information is not positive definite the identity of the user's columns is added to it, |smallest eigenvalue| + 1
times, which leads elsewhere than raising its diagonal [Christensen, ordinal, clm.fit.NR].
"""

from __future__ import annotations

import numpy as np

from ..._typing import FloatArray
from .explore import Point, evaluated
from .newton import Evaluation, Objective
from .problem import Problem

#: Halvings of a step, steps in a row that need an identity, and parameters, at most.
_HALVINGS, _RAISED, _PARAMETERS = 15, 5, 100
#: Largest score, on the user's scale, that ends the search.
_FLAT = 1e-6


def plain_search(problem: Problem, point: Point, max_iter: int) -> Point:
    """Where it leads from a point; the point itself with too many parameters for dense algebra."""
    at = evaluated(problem, point)
    if at is None or problem.n_parameters > _PARAMETERS:
        return point
    evaluate, inverse = problem.objective().evaluate, np.linalg.inv(_user_columns(problem, point))
    length, raised = 1.0, 0
    for _ in range(max_iter):
        with np.errstate(over="ignore", invalid="ignore"):
            own = inverse.T @ np.concatenate([at.score_alpha.reshape(-1), at.score_rest])
            curved = inverse.T @ at.information.dense() @ inverse
        if not np.isfinite(curved).all():
            break
        smallest = float(np.linalg.eigvalsh(curved)[0])
        raised = raised + 1 if smallest <= 0.0 else 0
        if np.abs(own).max() < _FLAT or raised == _RAISED:
            break
        if smallest <= 0.0:
            curved[np.diag_indices_from(curved)] += 1.0 - smallest
        try:
            step = np.asarray(inverse @ np.linalg.solve(curved, own), dtype=np.float64)
        except np.linalg.LinAlgError:
            break
        found = _halved(evaluate, point, at, step, length)
        if found is None:
            break
        point, at, length = found
        length = min(1.0, 2.0 * length)
    return point


def _halved(
    evaluate: Objective, point: Point, at: Evaluation, step: FloatArray, length: float
) -> tuple[Point, Evaluation, float] | None:
    """The longest of the steps from `length` downwards that does not lower the log-likelihood, and its length."""
    alpha, rest = point
    d_alpha, d_rest = step[: alpha.size].reshape(alpha.shape), step[alpha.size :]
    for _ in range(_HALVINGS + 1):
        moved = alpha + length * d_alpha, rest + length * d_rest
        trial = evaluate(*moved)
        if trial is not None and trial.finite and trial.loglik >= at.loglik:
            return moved, trial, length
        length *= 0.5
    return None


def _user_columns(problem: Problem, point: Point) -> FloatArray:
    """(P, P) map from the parameters of scaled columns to those of the user's."""
    user, (alpha, rest) = problem.user_scale(), point
    units = np.eye(alpha.size + rest.size)
    moved = (user.coefficients(one[: alpha.size].reshape(alpha.shape), one[alpha.size :]) for one in units)
    return np.array([np.concatenate([a.reshape(-1), b]) for a, b in moved]).T
