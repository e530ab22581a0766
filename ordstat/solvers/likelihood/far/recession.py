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
#: One that moves by more is seen to move without a programme.
_SEEN = 1e-4
#: Slacks and moves of columns of unit deviation, up to this, are rounding of products.
_LEVEL = 1e-9
#: Rows moved at a time.
_BLOCK = 20_000
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
    guess : (B,)
        The estimates, which lie well inside the cone where they tell all levels apart.
    rows : (r,)
        The rows of `slack` that programmes have needed so far.
    held : (h, B)
        What else must not fall, as far as it has been broken.
    broken_by : callable or None
        (c, B) rows of what else must not fall, such as the order of thresholds, and does along a direction (B,).
    """

    slack: Any
    guess: FloatArray
    rows: IntArray
    held: FloatArray
    broken_by: Callable[[FloatArray], FloatArray] | None = None

    @classmethod
    def of(
        cls,
        slack: csr_array,
        guess: FloatArray,
        broken_by: Callable[[FloatArray], FloatArray] | None = None,
    ) -> RecessionCone:
        """The cone; rows of least slack along a guess (B,) are looked at first."""
        first = np.argsort(slack @ guess, kind="stable")[: _ROWS * guess.size]
        return cls(slack, guess, first, np.zeros((0, guess.size)), broken_by)

    def inside(self, strict: float) -> FloatArray | None:
        """(B,) the guess within the box, or None where some slack along it is not above a bound."""
        if self.broken_by is not None:
            return None
        x = self.guess / max(np.abs(self.guess).max(initial=0.0), np.finfo(np.float64).tiny)
        return x if (self.slack @ x).min() > strict else None

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

    def around(self, x: FloatArray, F: FloatArray) -> tuple[BoolArray, BoolArray]:
        """Which of the functionals (P', B) rise, and which fall, by a step from a direction of the cone to another.

        Each step follows its functional as far as slacks that are 0 stay so. What it does not show may still be so.
        """
        none = np.zeros(len(F), dtype=bool)
        if self.broken_by is not None or not x.any():
            return none, none
        x = x / np.abs(x).max()
        slacks = self.slack @ x
        steps = F @ _still(self.slack[np.flatnonzero(slacks <= ROUNDING)])
        room = 1.0 / np.maximum(np.abs(steps).max(axis=1), _LEVEL)
        forwards, backwards = room.copy(), room
        for first in range(0, slacks.size, _BLOCK):
            block = slice(first, first + _BLOCK)
            left, moves = np.maximum(slacks[block], 0.0)[:, None], self.slack[block] @ steps.T
            with np.errstate(divide="ignore", invalid="ignore"):
                forwards = np.minimum(forwards, np.where(moves < -_LEVEL, -left / moves, np.inf).min(axis=0))
                backwards = np.minimum(backwards, np.where(moves > _LEVEL, left / moves, np.inf).min(axis=0))
        at, gained = F @ x, np.einsum("ij,ij->i", F, steps)
        return at + forwards * gained > _SEEN, at - backwards * gained < -_SEEN

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


def _still(tight: csr_array) -> FloatArray:
    """(B, B) the projection on the directions along which some slacks stay 0."""
    values, vectors = np.linalg.eigh((tight.T @ tight).toarray())
    kept = vectors[:, values <= _LEVEL**2 * max(values.max(initial=0.0), 1.0)]
    return np.asarray(kept @ kept.T)


def slack_rows(y: IntArray, lines: Sequence[FloatArray]) -> IntArray:
    """(R,) the row of the data that each row of `slack_matrix` is of."""
    return np.concatenate([np.flatnonzero(y == level) for level, own in enumerate(lines) for _ in own])


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
    Most that both rise and fall do so close to a direction that is known, which needs none.
    """
    sizes = np.abs(functionals).sum(axis=1)
    F = functionals / np.where(sizes > 0.0, sizes, 1.0)[:, None]
    weights, direction = np.random.default_rng(0), np.zeros(F.shape[1])
    rises, falls = np.zeros((2, len(F)), dtype=bool)

    def seen(x: FloatArray | None) -> None:
        nonlocal direction, rises, falls
        if x is not None and np.abs(x).max() > ROUNDING:
            near = cone.around(direction + x, F)
            direction, rises, falls = direction + x, rises | (F @ x > _STILL), falls | (F @ x < -_STILL)
            rises, falls = rises | near[0], falls | near[1]

    inside = cone.inside(ROUNDING)
    seen(cone.farthest(cone.total) if inside is None else inside)
    while not np.all(moving := rises | falls):
        together = weights.standard_normal(np.count_nonzero(~moving)) @ F[~moving]
        seen(cone.farthest(together))
        seen(cone.farthest(-together))
        if np.array_equal(moving, rises | falls):
            break
    for j in np.flatnonzero(rises | falls):
        if rises[j] != falls[j]:
            seen(cone.farthest(-F[j] if rises[j] else F[j]))
    return rises, falls, direction
