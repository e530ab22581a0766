"""Are there directions along which the likelihood never falls? A linear programme, run only on suspicion.

Along a direction of the parameters the predictors of a row move by d(eta), and the likelihood of a level never falls if
a'd(eta) >= 0 for some lines a that its family knows (`Family.recession`): no finite maximum is left iff that holds at
every row, with strict inequality somewhere [Albert and Anderson 1984; for thresholds Haberman 1980]. The programme
maximises the total slack over the box |t|, |b| <= 1; a positive maximum is a proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..._typing import FloatArray, IntArray
from .newton import Optimum
from .problem import Problem
from .user_scale import in_order, joined

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Slack of one row, of columns with unit deviation, that counts as strict inequality.
_STRICT = 1e-5
#: Rows added at a time, for each component of a direction.
_ROWS = 3
#: Violations and components up to this are rounding of the linear programme.
_ROUNDING = 1e-7


def separating_direction(
    X: FloatArray,
    nominal: FloatArray,
    y: IntArray,
    lines: Sequence[FloatArray],
    basis: FloatArray | None = None,
    guess: FloatArray | None = None,
    held: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray] | None:
    """A direction of infinite estimates, largest component 1, or None.

    Parameters
    ----------
    X : (N, p), nominal : (N, m)
        Centred and scaled; the first column of `nominal` is 1.
    y : (N,) codes 0..K-1
    lines : K arrays (S, K-1)
        The lines a of each level.
    basis : ((K-1) m + p, B) or None
        Directions that a threshold structure allows, as columns; the last p of them move beta.
    guess : (B,), optional
        A direction that may be one.
    held : (h, B), optional
        Rows that must not fall along the direction either, such as those of an order of thresholds.

    Returns
    -------
    (alpha (K-1, m), beta (p,)) or None; with a basis (its first coefficients (1, B - p), beta (p,))
    """
    from scipy.sparse import csr_array

    slack = _slack_matrix(X, nominal, y, lines)
    if basis is not None:
        slack = csr_array(slack @ basis)
    held = np.zeros((0, slack.shape[1])) if held is None else held
    found = _largest_slack(slack, np.zeros(slack.shape[1]) if guess is None else guess, held)
    if found is None:
        return None
    direction = np.where(np.abs(found) < _ROUNDING, 0.0, found)
    slacks = slack @ direction
    if slacks.max() <= _STRICT or slacks.min() < -_ROUNDING:
        return None
    size = slack.shape[1] - X.shape[1]
    return direction[:size].reshape(len(lines) - 1 if basis is None else 1, -1), direction[size:]


def _largest_slack(slack: csr_array, guess: FloatArray, held: FloatArray) -> FloatArray | None:
    """The direction of largest total slack, by rows that are broken added to a few; None where no programme ends.

    Along `held` (h, B) it does not fall either.

    Few rows hold the optimum; those of least slack along a guess are likely among them.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, vstack

    also = csr_array(held)
    total = np.asarray(slack.sum(axis=0), dtype=np.float64).reshape(-1)
    more = _ROWS * slack.shape[1]
    chosen = np.argsort(slack @ guess, kind="stable")[:more]
    while True:
        found = linprog(  # type: ignore[call-overload]  # the stubs know no sparse arrays
            -total,
            A_ub=-vstack([slack[chosen], also]),
            b_ub=np.zeros(chosen.size + len(held)),
            bounds=(-1.0, 1.0),
            method="highs",
        )
        if found.x is None:
            return None
        direction = np.asarray(found.x)
        slacks = slack @ direction
        slacks[chosen] = 0.0
        broken = np.flatnonzero(slacks < -_ROUNDING)
        if broken.size == 0:
            return direction
        chosen = np.concatenate([chosen, broken[np.argsort(slacks[broken], kind="stable")[:more]]])


def _slack_matrix(X: FloatArray, nominal: FloatArray, y: IntArray, lines: Sequence[FloatArray]) -> csr_array:
    """One line of each row's level: how fast a'eta rises along (alpha, beta)."""
    from scipy.sparse import coo_array, csr_array, hstack, vstack

    m, size = nominal.shape[1], (len(lines) - 1) * nominal.shape[1]

    def moved(rows: IntArray, a: FloatArray) -> csr_array:
        places = np.flatnonzero(a)
        values = (nominal[rows][:, None, :] * a[places][:, None]).reshape(-1)
        columns = np.tile((places[:, None] * m + np.arange(m)).reshape(-1), rows.size)
        of_alpha = coo_array((values, (np.repeat(np.arange(rows.size), places.size * m), columns)), (rows.size, size))
        return csr_array(hstack([of_alpha, csr_array(-a.sum() * X[rows])]))

    at = [np.flatnonzero(y == level) for level in range(len(lines))]
    return csr_array(vstack([moved(at[level], a) for level, own in enumerate(lines) for a in own]))


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


def infinite_direction(problem: Problem, optimum: Optimum, held: FloatArray | None = None) -> FloatArray | None:
    """(P',) direction of infinite estimates on the user's scale, largest component 1; None where all are finite.

    Along `held` (h, P'), rows of inequalities that the estimates obey, it does not fall.

    With scale effects the likelihood can also rise for ever along zeta alone, which no linear programme sees: the last
    Newton step is tried as a direction then.
    """
    if not _suspicious(optimum):
        return None
    X, w, z = problem.scaled()
    p, r = X.shape[1], z.shape[1]
    lines = problem.family.recession(problem.sample.n_levels)
    guess = joined(optimum.alpha, optimum.rest[:p])
    own = None if held is None else held[:, : held.shape[1] - (optimum.rest.size - p)]
    found = separating_direction(X, w, problem.sample.y, lines, _basis(problem, p), guess, own)
    if found is not None:
        return _on_user_scale(problem, found[0], np.concatenate([found[1], np.zeros(optimum.rest.size - p)]))
    step = np.zeros_like(optimum.rest)
    step[p : p + r] = optimum.step_rest[p : p + r]
    if np.any(step) and _rises_for_ever(problem, optimum, step):
        return _on_user_scale(problem, np.zeros_like(optimum.alpha), step)
    return None


def _basis(problem: Problem, p: int) -> FloatArray | None:
    """What a threshold structure allows of (alpha, beta), log-scale effects and lambda left out."""
    if problem.structure is None:
        return None
    alpha, rest = problem.structured(problem.rows().evaluate).basis()
    chosen = np.arange(alpha.shape[0]) < alpha.shape[0] - rest.shape[1] + p
    return np.asarray(np.hstack([alpha.reshape(alpha.shape[0], -1), rest[:, :p]])[chosen].T)


def _on_user_scale(problem: Problem, alpha: FloatArray, rest: FloatArray) -> FloatArray:
    """The direction for the user's columns; components that are rounding are 0."""
    user = problem.user_scale()
    direction = in_order(*user.coefficients(alpha, rest))
    size = in_order(*user.rounding(alpha, rest)) * 2.0**53
    direction = np.where(np.abs(direction) <= _ROUNDING * size, 0.0, direction)
    return np.asarray(direction / np.abs(direction).max())


def _rises_for_ever(problem: Problem, optimum: Optimum, step: FloatArray) -> bool:
    """Whether the log-likelihood does not fall far along a step of the log-scale effects."""
    objective, previous = problem.objective(), optimum.at.loglik
    for length in (1.0, 3.0, 9.0):
        point = objective.evaluate(optimum.alpha, optimum.rest + length * step / np.abs(step).max())
        if point is None or point.loglik < previous - 1e-9 * (1.0 + abs(previous)):
            return False
        previous = point.loglik
    return True
