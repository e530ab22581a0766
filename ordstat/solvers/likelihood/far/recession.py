"""Directions along which the likelihood never falls: a cone, asked by linear programmes how far it reaches.

Along a direction of the parameters the predictors of a row move by d(eta), and the likelihood of a level never falls if
a'd(eta) >= 0 for some lines a that its family knows (`Family.recession`): the slacks of the row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...._typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Rows added at a time, for each component of a direction.
_ROWS = 3
#: Violations and components up to this are rounding of the linear programme.
ROUNDING = 1e-7
#: A functional, of norm 1, that moves by less does not move.
_STILL = 1e-6
#: What a linear programme may miss by.
_EXACT = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}


@dataclass(eq=False)
class RecessionCone:
    """The directions x of the box |x| <= 1 along which no slack falls.

    Few rows hold the optimum of a programme; those that one has needed are likely to serve the next.

    Attributes
    ----------
    slack : sparse (R, B)
        How fast the slacks rise along each component.
    rows : (r,)
        The rows of `slack` that programmes have needed so far.
    held : (h, B)
        What else must not fall, as far as it has been broken.
    broken_by : callable or None
        (c, B) rows of what else must not fall, such as the order of thresholds, and does along a direction (B,).
    """

    slack: Any
    rows: IntArray
    held: FloatArray
    broken_by: Callable[[FloatArray], FloatArray] | None = None

    @classmethod
    def of(
        cls,
        slack: csr_array,
        guess: FloatArray | None = None,
        broken_by: Callable[[FloatArray], FloatArray] | None = None,
    ) -> RecessionCone:
        """The cone; rows of least slack along a guess (B,) are looked at first."""
        size = slack.shape[1]
        first = np.argsort(slack @ (np.zeros(size) if guess is None else guess), kind="stable")[: _ROWS * size]
        return cls(slack, first, np.zeros((0, size)), broken_by)

    def farthest(self, f: FloatArray) -> FloatArray | None:
        """(B,) where f'x is largest; None where no programme ends."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_array, vstack

        while True:
            found = linprog(  # type: ignore[call-overload]  # the stubs know no sparse arrays
                -f,
                A_ub=-vstack([self.slack[self.rows], csr_array(self.held)]),
                b_ub=np.zeros(self.rows.size + len(self.held)),
                bounds=(-1.0, 1.0),
                method="highs",
                options=_EXACT,
            )
            if found.x is None:
                return None
            x = np.asarray(found.x, dtype=np.float64)
            if not self._narrowed(x):
                return x

    def _narrowed(self, x: FloatArray) -> bool:
        """Whether a direction breaks rows that the programme did not have, which are added."""
        slacks, before = self.slack @ x, self.rows.size + len(self.held)
        slacks[self.rows] = 0.0
        broken = np.flatnonzero(slacks < -ROUNDING)
        worst = broken[np.argsort(slacks[broken], kind="stable")[: _ROWS * self.slack.shape[1]]]
        self.rows = np.concatenate([self.rows, worst])
        if self.broken_by is not None:
            self.held = np.unique(np.vstack([self.held, self.broken_by(x)]), axis=0)
        return self.rows.size + len(self.held) > before

    @property
    def total(self) -> FloatArray:
        """(B,) how fast the sum of all slacks rises."""
        return np.asarray(self.slack.sum(axis=0), dtype=np.float64).reshape(-1)


def slack_matrix(X: FloatArray, nominal: FloatArray, y: IntArray, lines: Sequence[FloatArray]) -> csr_array:
    """One line of each row's level: how fast a'eta rises along (alpha, beta).

    Parameters
    ----------
    X : (N, p)
    nominal : (N, m)
    y : (N,) codes 0..K-1
    lines : K arrays (S, K-1)
    """
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


def reach(cone: RecessionCone, functionals: FloatArray) -> tuple[BoolArray, BoolArray, FloatArray]:
    """Whether linear functionals of the parameters rise, and whether they fall, along some direction of the cone.

    A functional that rises along one and falls along none goes to infinity on every way to the supremum of the
    likelihood, being a sum of slacks (Farkas) that do; one that does neither is the same on all ways; one that does
    both may end anywhere.

    Parameters
    ----------
    cone : RecessionCone
    functionals : (P', B)

    Returns
    -------
    rises, falls : (P',) bool
    direction : (B,)
        Of the cone, along which all functionals move in the one direction that they have.

    Notes
    -----
    Whether none of many functionals moves needs two programmes: a sum of them with random weights does not move either.
    """
    sizes = np.abs(functionals).sum(axis=1)
    F = functionals / np.where(sizes > 0.0, sizes, 1.0)[:, None]
    weights, direction = np.random.default_rng(0), np.zeros(F.shape[1])
    rises, falls = np.zeros((2, len(F)), dtype=bool)

    def look(f: FloatArray) -> None:
        nonlocal direction, rises, falls
        found = cone.farthest(f)
        if found is not None:
            direction, rises, falls = direction + found, rises | (F @ found > _STILL), falls | (F @ found < -_STILL)

    look(cone.total)
    while not np.all(moving := rises | falls):
        together = weights.standard_normal(np.count_nonzero(~moving)) @ F[~moving]
        look(together)
        look(-together)
        if np.array_equal(moving, rises | falls):
            break
    for j in np.flatnonzero(rises | falls):
        if rises[j] != falls[j]:
            look(-F[j] if rises[j] else F[j])
    return rises, falls, direction
