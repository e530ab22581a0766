"""The end of an ascent: the optimum over the dual variables strictly inside their boxes, by one linear system.

Once the right variables are at their bounds, the others F solve the stationarity conditions

    (G d)_n + b - theta_k = Y_nk - f_n    for (n, k) in F,  d the change of u,

with theta_k = -gamma^2 s_k, or theta free and the change of s given, and sum beta = 0. A variable that would leave its
box is put onto the bound, and the rest is solved anew. The answer is exact where coordinate ascent or an interior
point would need many further steps; whether it is better than the start, its certificate says.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from .._typing import FloatArray, IntArray
from .extended_dual import DualSolution, ExtendedDual, certify

# Free variables beyond which a factorisation takes longer than what it saves.
_MOST_FREE = 4000
# Solves, each with fewer free variables.
_ROUNDS = 6
# Where more than this share of the variables would leave their boxes at once, the free ones are not yet the right ones.
_UNSETTLED = 0.1
# Added to the diagonal, as a share of its largest element: repeated rows make the system singular.
_REGULAR = 1e-10
# Solves of one system, the later ones for what the regularisation left.
_REFINED = 3


@dataclass(frozen=True, eq=False, kw_only=True)
class Polished:
    """A certified point, with the solver's own offset and thresholds (Q,)."""

    solution: DualSolution
    b: float
    theta: FloatArray


class _System:
    """The linear system of the free variables, with the thresholds that are tied by their order as one.

    `B` (F, R) holds the effect of what else is unknown: b, or the free thresholds.
    """

    def __init__(self, problem: ExtendedDual, theta: FloatArray) -> None:
        self.problem = problem
        # At the optimum thresholds that the order keeps apart differ, those that it ties are equal.
        steps = np.diff(theta) > 0 if problem.ordered else np.ones(theta.size - 1)
        self.group = np.concatenate([[0], np.cumsum(steps)]).astype(np.intp)
        self.n_groups = int(self.group[-1]) + 1
        # theta_g = -pull_g s_g minimises the penalty of a group.
        self.pull = np.zeros(self.n_groups) if problem.free else problem.gamma**2 / np.bincount(self.group)

    def totals(self, u: FloatArray) -> FloatArray:
        """(R,) sums of u (N, Q) over the thresholds of a group."""
        sums: FloatArray = np.bincount(self.group, weights=u.sum(axis=0), minlength=self.n_groups).astype(np.float64)
        return sums

    def change(self, u: FloatArray, f: FloatArray, rows: IntArray, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """The change d (F,) of the free variables, and the multipliers: b, or minus theta_g.

        Raises
        ------
        numpy.linalg.LinAlgError
            The system is singular in spite of the regularisation.
        """
        problem, group, s = self.problem, self.group[columns], self.totals(u)
        member = (group[:, None] == np.arange(self.n_groups)).astype(np.float64)
        B = member if problem.free else np.ones((rows.size, 1))
        excess = s if problem.free else s.sum(keepdims=True)
        M = problem.gram.block(rows)
        if not problem.free:
            M += (member * self.pull) @ member.T
        scale = M.diagonal().max()
        # B'd is known, so that its square may be added: it tells the variables of one row apart, which M may not.
        M += scale * B @ B.T
        lifted = M.copy()
        lifted[np.diag_indices_from(M)] += _REGULAR * scale
        factor, failed = dpotrf(lifted.T, lower=1, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError("the system of the free variables is singular")
        right = problem.labels[rows, columns] - f[rows] - (self.pull * s)[group] - scale * B @ excess
        MB = dpotrs(factor, B, lower=1)[0]
        inverse = np.linalg.pinv(B.T @ MB)
        d, multipliers = np.zeros(rows.size), np.zeros(B.shape[1])
        for _ in range(_REFINED):
            part = dpotrs(factor, right - M @ d - B @ multipliers, lower=1)[0]
            step = inverse @ (B.T @ (part + d) + excess)
            d += part - MB @ step
            multipliers += step
        return d, multipliers

    def thresholds(self, u: FloatArray, multipliers: FloatArray) -> FloatArray:
        """(Q,) theta of the solve."""
        grouped = -multipliers if self.problem.free else -self.pull * self.totals(u)
        return np.asarray(grouped[self.group])


def free_variables(problem: ExtendedDual, C: float, point: DualSolution) -> int:
    """How many variables of a point are strictly inside their boxes."""
    size = np.abs(point.u)
    return int(np.count_nonzero((size > 0.0) & (size < C * problem.weights)))


def polished(problem: ExtendedDual, C: float, point: DualSolution) -> Polished | None:
    """The optimum over the free variables of a point.

    None where they are too many or not yet the right ones, or the system is singular.
    """
    caps = C * problem.weights
    low = np.where(problem.labels > 0, 0.0, -caps)
    u, system = point.u.copy(), _System(problem, point.theta)
    beta = u.sum(axis=1)
    f = point.scores
    b, theta = 0.0, point.theta
    for first in (True, *[False] * (_ROUNDS - 1)):
        rows, columns = np.nonzero((u > low) & (u < low + caps))
        if not 0 < rows.size <= _MOST_FREE:
            return None
        try:
            d, multipliers = system.change(u, f, rows, columns)
        except np.linalg.LinAlgError:
            return None
        wanted = u[rows, columns] + d
        bottom = low[rows, columns]
        u[rows, columns] = np.clip(wanted, bottom, bottom + caps[rows, columns])
        leaving = int(np.count_nonzero(wanted != u[rows, columns]))
        if first and leaving > _UNSETTLED * rows.size:
            return None
        beta = u.sum(axis=1)
        theta = system.thresholds(u, multipliers)
        b = 0.0 if problem.free else float(multipliers[0])
        if not leaving:
            break
        f = problem.gram @ beta
    return Polished(solution=certify(problem, C, u, theta), b=b, theta=theta)
