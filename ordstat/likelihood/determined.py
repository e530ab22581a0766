"""Which linear functions of the parameters have a finite estimate under separation, an
infinite one, or none.

If the likelihood has no maximum, the estimates go to infinity along some directions. A
function that is constant along them has its value, standard error and test in the
limiting model. This model drops rows with probability 1, and the others keep the ends
that stay finite [Geyer 2009, Electronic Journal of Statistics 3, 259-289, sec. 3]. A
function that changes is infinite if it changes in the same sense along every such
direction, and otherwise has no value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..newton import Ended, Optimum
from .problem import Problem
from .separation import Recession

#: A sum of terms that is below this share of their sizes is a rounding error.
_ROUNDING = 1e-8
#: Distance from the cone of moving ends up to which a function counts as inside.
_INSIDE = 1e-7
#: Rounding of the slope of an end along a normal.
_BEYOND = 1e-10

#: A function of unit length that changes by less than this share of its size, and of
#: its standard error from one row, has a limit where a spread changes by the factor e.
STILL = 1e-3
#: Newton steps in the limiting model, and the decrement at which they end.
_STEPS = 20
_SETTLED = 1e-20


@dataclass(frozen=True, eq=False, kw_only=True)
class Determined:
    """Directions along which the estimated parameters have no finite estimate, on the
    user's scale.

    Attributes
    ----------
    moves : (P', r)
        A basis of the directions along which ends of rows move outwards; along them the
        other ends do not change.
    slopes : (g, r)
        Rates at which the moving ends increase along the basis.
    inside : (r,)
        A direction along which all moving ends increase.
    sizes : (P', r)
        Sizes of the terms that add up to `moves`.
    divergence : (P', f)
        Directions along which a spread (log-scale effect) and what it stretches grow,
        or shrink, together.
    outward : int
        The first `outward` of these have the sign in which the estimates go; the sign
        of the others is unknown.
    axes : (P', P')
        From the solver's coordinates to the user's; they measure `divergence`.
    errors : (P', k)
        The rows of a function times these have the length of its standard error in the
        limiting model, for one row.
    """

    moves: FloatArray
    slopes: FloatArray
    inside: FloatArray
    sizes: FloatArray
    divergence: FloatArray
    axes: FloatArray
    errors: FloatArray
    outward: int = 0

    @property
    def direction(self) -> FloatArray | None:
        """(P',) one direction of recession, largest component 1; None where only
        spreads diverge.
        """
        direction = self.moves @ self.inside
        size = self.sizes @ np.abs(self.inside)
        direction = _without_rounding(direction, size)
        return direction / np.abs(direction).max() if direction.any() else None

    def limits(self, functions: FloatArray) -> FloatArray:
        """(h,) limits of functions (h, P') as ends move outwards: 0 for finite
        functions, infinite, or NaN.
        """
        parts = functions @ self.moves
        size = (np.abs(functions) @ self.sizes).max(axis=1, initial=0.0, keepdims=True)
        parts = _without_rounding(parts, size)
        out = np.zeros(len(functions))
        moved = parts.any(axis=1)
        lengths = np.linalg.norm(parts[moved], axis=1, keepdims=True)
        unit, codes = np.unique(
            np.round(parts[moved] / lengths, 9), axis=0, return_inverse=True
        )
        signs = np.sign(unit @ self.inside)
        rises = (signs != 0.0) & self._reached(signs[:, None] * unit)
        out[moved] = np.where(rises, np.copysign(np.inf, signs), np.nan)[
            codes.reshape(-1)
        ]
        return out

    def _reached(self, parts: FloatArray) -> BoolArray:
        """(h,) whether parts (h, r), of length 1, are positive sums of the moving ends.

        Sums of a few ends are tried first. If they do not reach a part, the residual is
        a normal of them: the end farthest beyond it is tried too, until none is left
        and the normal shows that the part is out of reach. The ends that a sum needs,
        and normals, decide about most of the other parts at once.
        """
        from scipy.optimize import nnls

        reached = np.zeros(len(parts), dtype=bool)
        if not self.slopes.size:
            return reached
        left = np.arange(len(parts))
        nearest = np.argsort(self.slopes @ self.inside, kind="stable")
        tried = list(nearest[: self.inside.size])
        while left.size:
            part = parts[left[0]]
            shares, distance = nnls(self.slopes[tried].T, part)
            if distance <= _INSIDE:
                decided = self._sums(parts[left], np.array(tried)[shares > 0.0])
                reached[left[decided]] = True
            else:
                normal = (shares @ self.slopes[tried] - part) / distance
                along_normal = self.slopes @ normal
                farthest = int(np.argmin(along_normal))
                if along_normal[farthest] < -_BEYOND and farthest not in tried:
                    tried.append(farthest)
                    continue
                decided = parts[left] @ normal < -_INSIDE
                decided[0] = True
            left = left[~decided]
        return reached

    def _sums(self, parts: FloatArray, ends: IntArray) -> BoolArray:
        """(h,) which parts are positive sums of these ends; the first is
        known to be.
        """
        shares = parts @ np.linalg.pinv(self.slopes[ends])
        gaps = np.linalg.norm(parts - shares @ self.slopes[ends], axis=1)
        decided = np.asarray((shares >= 0.0).all(axis=1) & (gaps <= _INSIDE))
        decided[0] = True
        return decided

    def combinations(self, functions: FloatArray) -> FloatArray:
        """(t, h) a basis of the combinations of functions (h, P') that are finite."""
        size = np.linalg.norm(functions, axis=1, keepdims=True)
        unit = functions / np.where(size > 0.0, size, 1.0)
        moved = _without_rounding(unit @ self.moves, np.abs(unit) @ self.sizes)
        diverging = np.where(self.diverge(unit)[:, None], unit @ self.divergence, 0.0)
        rates = np.hstack([moved, diverging])
        largest = np.abs(rates).max(axis=0, initial=0.0)
        rates = rates[:, largest > 0.0] / largest[largest > 0.0]
        if not rates.size:
            return np.eye(len(functions))
        axes, sizes, _ = np.linalg.svd(rates)
        free = axes[:, int(np.count_nonzero(sizes > _ROUNDING * sizes[0])) :].T
        return free / np.where(size > 0.0, size, 1.0).T

    def diverge(self, functions: FloatArray) -> BoolArray:
        """(h,) whether functions (h, P') move with a spread that has no estimate."""
        return np.asarray(self.diverge_along(functions).any(axis=1))

    def diverge_along(self, functions: FloatArray) -> BoolArray:
        """(h, f) whether functions (h, P') move along directions of `divergence`."""
        if not self.divergence.size:
            return np.zeros((len(functions), self.divergence.shape[1]), dtype=bool)
        moved = np.abs(functions @ self.divergence)
        size = np.linalg.norm(functions @ self.axes, axis=1)[:, None]
        errors = np.linalg.norm(functions @ self.errors, axis=1)[:, None]
        return np.asarray(moved > STILL * np.minimum(size, errors))


def _without_rounding(sums: FloatArray, sizes: FloatArray) -> FloatArray:
    """The sums, exactly 0 where they are rounding errors of terms of these sizes."""
    return np.where(np.abs(sums) <= _ROUNDING * sizes, 0.0, sums)


def complement(columns: FloatArray) -> FloatArray:
    """(P, P - r) orthonormal basis of what is orthogonal to columns (P, r)."""
    axes, sizes, _ = np.linalg.svd(
        columns / np.linalg.norm(columns, axis=0), full_matrices=True
    )
    return axes[:, int(np.count_nonzero(sizes > _ROUNDING)) :]


def all_directions(recession: Recession | None, divergence: FloatArray) -> FloatArray:
    """(P', r + f) all directions along which the likelihood has no maximum."""
    return divergence if recession is None else np.hstack([recession.moves, divergence])


def limiting_covariance(
    problem: Problem, optimum: Optimum, held: FloatArray
) -> FloatArray:
    """(P', P') covariance, on the user's scale, of the functions that do not change
    along held directions (P', r); it is meaningless for others.

    In the limiting model the information is singular along these directions; one
    generalised inverse suffices for every function that the model determines.
    """
    free = complement(held)
    information = free.T @ optimum.at.information.dense() @ free
    moves = problem.user.coefficients(free)
    return moves @ np.linalg.pinv(information, hermitian=True) @ moves.T


def settled(
    problem: Problem,
    optimum: Optimum,
    recession: Recession | None,
    divergence: FloatArray,
) -> Optimum:
    """The maximum of the limiting model: moving ends far outside, Newton's method along
    the other directions.
    """
    x = optimum.x
    if recession is not None:
        if recession.moves.shape[1] == x.size:  # nothing is left to be estimated
            return optimum
        x = x + recession.least * (recession.moves @ recession.inside)
    at = problem.evaluate(x)
    if at is None:  # so far out that the predictors overflow
        return optimum
    free = complement(all_directions(recession, divergence))
    for _ in range(_STEPS):
        score = free.T @ at.score
        step = np.linalg.lstsq(
            free.T @ at.information.dense() @ free, score, rcond=None
        )[0]
        if float(step @ score) <= _SETTLED * optimum.unit:
            break
        moved = problem.evaluate(x + free @ step)
        if moved is None or moved.loglik < at.loglik:
            break
        x = x + free @ step
        at = moved
    flat = float(np.abs(free.T @ at.score).max(initial=0.0)) <= optimum.tolerance
    ended = optimum.ended
    if flat and not optimum.converged:
        ended = Ended.IN_THE_LIMIT
    return replace(optimum, x=x, at=at, step=np.zeros_like(x), ended=ended)


def what_data_determine(
    problem: Problem,
    optimum: Optimum,
    recession: Recession | None,
    divergence: FloatArray,
    outward: int,
    covariance: FloatArray | None,
) -> Determined | None:
    """The directions of recession and of divergence, on the user's scale; None if every
    estimate is finite.

    `covariance` (P', P') is that of the functions that do not change, on the user's
    scale; by default it comes from the information at the estimates.
    """
    if recession is None and not divergence.size:
        return None
    coefficients = problem.user.coefficients
    none = np.zeros((problem.n_parameters, 0))
    moves = none
    sizes = none
    slopes = np.zeros((0, 0))
    inside = np.zeros(0)
    if recession is not None:
        moves = coefficients(recession.moves)
        sizes = 2.0**53 * problem.user.rounding(recession.moves)
        slopes = recession.slopes
        inside = recession.inside
    errors = none
    if divergence.size:
        if covariance is None:
            held = all_directions(recession, divergence)
            covariance = limiting_covariance(problem, optimum, held)
        values, vectors = np.linalg.eigh(float(problem.counts.sum()) * covariance)
        errors = vectors * np.sqrt(np.maximum(values, 0.0))
    return Determined(
        moves=moves,
        sizes=sizes,
        slopes=slopes,
        inside=inside,
        divergence=coefficients(divergence) if divergence.size else divergence,
        axes=coefficients(np.eye(problem.n_parameters)),
        errors=errors,
        outward=outward,
    )
