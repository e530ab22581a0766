"""Far out, where a likelihood rises without end: Newton's method in coordinates that change with the place.

On the way to infinite estimates some rows are scaled by e^10 and others by e^-10, effects of 1e5 cancel to 1, and the
information is singular to rounding in any fixed coordinates. Here location parameters are measured by the relative
changes that they make to the scaled ends, anew at every step. The way is a curve, along which the ends of most rows
stay where they are: every step is bent by its second derivative [geodesic acceleration, Transtrum and Sethna 2012].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ...._typing import FloatArray
from ..explore import Point, stay
from ..problem import Problem
from .dense_rows import DenseRows, Ends

#: Cells of the dense rows at most.
_CELLS = 1_000_000
#: Steps at most; so many of them must raise the log-likelihood by this in all.
_STEPS, _SOME, _GAIN = 100, 10, 1e-7
#: A gain that is not worth the digits that finite estimates lose further out.
_CLOSE = 2e-7
#: Halvings of a step, the largest change of a log-scale effect in one, and curvatures that count as none.
_HALVINGS, _LONGEST, _FLAT = 30, 1.0, 1e-14
#: The second derivative of a step, as a share of the first, up to which it is trusted.
_BENT = 1.0


def climb(problem: Problem, point: Point, loglik: float) -> Point | None:
    """A point further out and higher than one of this log-likelihood, no further than it is worth; None where none is.

    The problem's own log-likelihood decides, as its coordinates may have no digits left for what is found here.
    """
    if not problem.family.local or problem.flexible is not None or problem.sample.n * problem.n_parameters > _CELLS:
        return None
    seen, points = [loglik], [point]
    for there in _way(DenseRows.of(problem), point):
        seen.append(stay(problem, there).loglik)
        points.append(there)
        if len(seen) > _SOME and max(seen[-_SOME:]) <= max(seen[:-_SOME]) + _GAIN:
            break
    nearest = next(place for place, own in enumerate(seen) if own >= max(seen) - _CLOSE)
    return points[nearest] if nearest else None


def _way(given: DenseRows, point: Point) -> Iterator[Point]:
    """Point by point."""
    alpha, rest = point
    beta, zeta = np.split(rest, [rest.size - given.z.shape[1]])
    rows, eta = given, np.concatenate([alpha.reshape(-1), beta])
    for _ in range(_STEPS):
        ends = rows.ends(eta, zeta)
        fresh = None if ends is None else rows.relative(ends)
        if ends is None or fresh is None:
            return
        rows, eta = fresh[0], fresh[1] @ eta
        found = _step(rows, eta, zeta, ends)
        if found is None:
            return
        eta, zeta = found
        moved = rows.ends(eta, zeta)
        own = None if moved is None else given.matching(rows, eta, moved)
        if own is None:
            return
        yield own[: alpha.size].reshape(alpha.shape), np.concatenate([own[alpha.size :], zeta])


def _step(rows: DenseRows, eta: FloatArray, zeta: FloatArray, ends: Ends) -> tuple[FloatArray, FloatArray] | None:
    """The best of the steps that are halved until the log-likelihood rises, then doubled while it does."""
    at = rows.derivatives(ends)
    if not (np.isfinite(at.hessian).all() and np.isfinite(at.score).all()):
        return None
    solve = _upwards(at.hessian)
    step = solve(at.score)
    step *= min(1.0, _LONGEST / max(np.abs(step[eta.size :]).max(initial=0.0), _FLAT))
    bent = -solve(at.fall(*rows.bend(ends, step[: eta.size], step[eta.size :])))
    if not np.linalg.norm(bent) <= _BENT * np.linalg.norm(step):  # the way is no such curve here
        bent = np.zeros_like(step)

    def after(length: float) -> tuple[FloatArray, FloatArray]:
        move = length * step + 0.5 * length**2 * bent
        return eta + move[: eta.size], zeta + move[eta.size :]

    lengths = (0.5**k for k in range(_HALVINGS))
    length = next((one for one in lengths if rows.loglik(*after(one)) > at.loglik), 0.0)
    if length == 0.0:
        return None
    while rows.loglik(*after(2.0 * length)) > rows.loglik(*after(length)):
        length *= 2.0
    return after(length)


def _upwards(hessian: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """The inverse of a negative Hessian, with curvatures of the wrong sign turned."""
    values, vectors = np.linalg.eigh(hessian)
    size = np.maximum(np.abs(values), _FLAT * np.abs(values).max())
    return lambda score: np.asarray(vectors @ ((vectors.T @ score) / size))
