"""Are there directions along which the likelihood never falls? A linear programme, run only on suspicion.

A direction (t, b) of (alpha, beta) leaves no finite maximum iff every row has w't_y - x'b >= 0 (y < K) and
w't_{y-1} - x'b <= 0 (y > 1), with strict inequality somewhere [Albert and Anderson 1984; for thresholds Haberman 1980].
The programme maximises the total slack over the box |t|, |b| <= 1; a positive maximum is a proof.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._typing import FloatArray, IntArray
from .newton import Optimum
from .problem import Problem
from .user_scale import in_order

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Slack of one row, of columns with unit deviation, that counts as strict inequality.
_STRICT = 1e-5
#: Violations and components up to this are rounding of the linear programme.
_ROUNDING = 1e-7


def separating_direction(
    X: FloatArray, nominal: FloatArray, y: IntArray, n_levels: int
) -> tuple[FloatArray, FloatArray] | None:
    """A direction of infinite estimates, largest component 1, or None.

    Parameters
    ----------
    X : (N, p), nominal : (N, m)
        Centred and scaled; the first column of `nominal` is 1.
    y : (N,) codes 0..n_levels-1

    Returns
    -------
    (alpha (K-1, m), beta (p,)) or None
    """
    from scipy.optimize import linprog

    slack = _slack_matrix(X, nominal, y, n_levels)
    total = np.asarray(slack.sum(axis=0), dtype=np.float64).reshape(-1)
    found = linprog(  # type: ignore[call-overload]  # the stubs know no sparse arrays
        -total, A_ub=-slack, b_ub=np.zeros(slack.shape[0]), bounds=(-1.0, 1.0), method="highs"
    )
    if found.x is None:
        return None
    direction = np.where(np.abs(found.x) < _ROUNDING, 0.0, found.x)
    slacks = slack @ direction
    if slacks.max() <= _STRICT or slacks.min() < -_ROUNDING:
        return None
    size = (n_levels - 1) * nominal.shape[1]
    return direction[:size].reshape(n_levels - 1, -1), direction[size:]


def _slack_matrix(X: FloatArray, nominal: FloatArray, y: IntArray, n_levels: int) -> csr_array:
    """One line an end that is not infinite: how fast it moves outwards along (alpha, beta)."""
    from scipy.sparse import coo_array, csr_array, hstack, vstack

    m = nominal.shape[1]

    def side(chosen: IntArray, threshold: IntArray, sign: float) -> csr_array:
        rows = np.repeat(np.arange(chosen.size), m)
        columns = (threshold[:, None] * m + np.arange(m)).reshape(-1)
        shape = (chosen.size, (n_levels - 1) * m)
        ends = coo_array((sign * nominal[chosen].reshape(-1), (rows, columns)), shape=shape)
        return csr_array(hstack([ends, csr_array(-sign * X[chosen])]))

    below, above = np.flatnonzero(y < n_levels - 1), np.flatnonzero(y > 0)
    return csr_array(vstack([side(below, y[below], 1.0), side(above, y[above] - 1, -1.0)]))


#: Coefficients or standard errors this large, for a column of unit deviation, are worth a linear programme.
_LARGE_EFFECT, _LARGE_ERROR = 10.0, 5.0


def _suspicious(optimum: Optimum) -> bool:
    """Slow or failed convergence, a huge effect or a huge standard error; on ordinary data none of them occurs."""
    errors = np.sqrt(np.diag(optimum.factor.schur_inverse()))
    return (
        optimum.slow
        or optimum.message != "converged"
        or optimum.damping > 0.0
        or bool(np.any(np.abs(optimum.rest) > _LARGE_EFFECT))
        or bool(np.any(errors > _LARGE_ERROR))
    )


def infinite_direction(problem: Problem, optimum: Optimum) -> FloatArray | None:
    """(P',) direction of infinite estimates on the user's scale, largest component 1; None where all are finite.

    With scale effects the likelihood can also rise for ever along zeta alone, which no linear programme sees: the last
    Newton step is tried as a direction then.
    """
    if not _suspicious(optimum):
        return None
    X, w, z = problem.scaled()
    found = separating_direction(X, w, problem.sample.y, problem.sample.n_levels)
    if found is not None:
        return _on_user_scale(problem, found[0], np.concatenate([found[1], np.zeros(z.shape[1])]))
    if z.shape[1] and _rises_for_ever(problem, optimum):
        rest = np.where(np.arange(optimum.rest.size) < X.shape[1], 0.0, optimum.step_rest)
        return _on_user_scale(problem, np.zeros_like(optimum.alpha), rest)
    return None


def _on_user_scale(problem: Problem, alpha: FloatArray, rest: FloatArray) -> FloatArray:
    """The direction for the user's columns; components that are rounding are 0."""
    user = problem.user_scale()
    direction = in_order(*user.coefficients(alpha, rest))
    size = in_order(*user.rounding(alpha, rest)) * 2.0**53
    direction = np.where(np.abs(direction) <= _ROUNDING * size, 0.0, direction)
    return np.asarray(direction / np.abs(direction).max())


def _rises_for_ever(problem: Problem, optimum: Optimum) -> bool:
    """Whether the log-likelihood does not fall far along the log-scale part of the last step."""
    p = problem.scaled()[0].shape[1]
    step = optimum.step_rest.copy()
    step[:p] = 0.0
    if not np.any(step):
        return False
    objective, previous = problem.objective(), optimum.at.loglik
    for length in (1.0, 3.0, 9.0):
        point = objective.evaluate(optimum.alpha, optimum.rest + length * step / np.abs(step).max())
        if point is None or point.loglik < previous - 1e-9 * (1.0 + abs(previous)):
            return False
        previous = point.loglik
    return True
