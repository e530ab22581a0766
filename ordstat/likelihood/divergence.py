"""Log-scale effects ("spreads") that diverge: directions along which they have no
estimate.

A spread stretches or shrinks the scale of some rows. It has diverged if the likelihood
does not decrease as the spread grows, or shrinks, without bound.
"""

from __future__ import annotations

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..newton import Optimum
from .determined import STILL, all_directions, complement
from .problem import Problem
from .separation import Recession

#: A log-scale effect, per deviation, that still moves by this or has this standard
#: error has no finite estimate.
_MOVING = 5e-3
_LARGEST_ERROR = 50.0
#: Directions whose curvature is below this share of the largest are examined.
_LITTLE_CURVATURE = 1e-4
#: Curvature, for each row and a column of unit deviation, that is a rounding error.
_NO_CURVATURE = 1e-9
#: The curvature along spreads, relative to that with all other parameters held, below
#: which the rows do not determine them.
_SHARED = 1e-2
#: Tangents of spreads that differ by less are those of spreads that diverge alone.
_APART = 1e-2
#: Least curvature for each row by which parameters are scaled.
_LEAST_CURVATURE = 1e-6
#: A log-likelihood that falls by less, where a spread changes by the factor e, has no
#: maximum along the path.
_LEVEL = 1e-6


def diverging_spreads(problem: Problem, optimum: Optimum) -> BoolArray:
    """(P',) log-scale effects that still change at the end of the search, or have a
    huge standard error.
    """
    diverging = np.zeros(problem.n_parameters, dtype=bool)
    of_scale = problem.layout.of_scale
    if of_scale.start == of_scale.stop:
        return diverging
    n_alpha = optimum.factor.V.shape[0]
    rest = slice(of_scale.start - n_alpha, of_scale.stop - n_alpha)
    variances = optimum.unit * np.diag(optimum.factor.schur_inverse)[rest]
    diverging[of_scale] = variances > _LARGEST_ERROR**2
    if not optimum.converged:
        diverging[of_scale] |= np.abs(optimum.step[of_scale]) > _MOVING
    return diverging


def divergence_of_spreads(
    problem: Problem,
    optimum: Optimum,
    recession: Recession | None,
    diverging: BoolArray,
) -> tuple[FloatArray, int]:
    """(P', f) directions along which spreads diverge, in the solver's coordinates, and
    how many of the first have the sign in which the estimates go.

    Along b + e^t a and tau + t the rows of one spread keep their predictors and those
    of others do not move (a group that gave only the ends of the scale); or a spread
    goes to 0 (a group that gave one level). The tangents of such paths are directions
    of little curvature; the likelihood along the path decides.

    Parameters
    ----------
    problem : Problem
    optimum : Optimum
    recession : Recession or None
    diverging : (P',) bool
        Log-scale effects that are known to have no estimate.
    """
    none = np.zeros((problem.n_parameters, 0))
    scales = np.arange(problem.n_parameters)[problem.layout.of_scale]
    if not scales.size:
        return none, 0
    found = _single_tangents(problem, optimum, recession, diverging, scales)
    if not found:
        return none, 0
    tangents = np.array(found).T
    total_weight = float(problem.counts.sum())
    together = _together(optimum.at.information.dense(), scales, total_weight)
    shares = np.linalg.lstsq(together[scales], tangents[scales], rcond=None)[0]
    missed = tangents[scales] - together[scales] @ shares
    if together.shape[1] != len(found) or np.abs(missed).max() > _APART:
        tangents = together
    ways = np.array([_way(problem, optimum, tangent) for tangent in tangents.T])
    known = tangents[:, ways != 0.0] * ways[ways != 0.0]
    z = problem.rows.model_rows(slice(None)).z
    known = known / np.abs(z @ known[scales]).max(axis=0)  # widest by the factor e
    plane = _level_plane(optimum, recession, tangents, total_weight)
    return np.hstack([known, tangents[:, ways == 0.0], plane]), known.shape[1]


def _single_tangents(
    problem: Problem,
    optimum: Optimum,
    recession: Recession | None,
    diverging: BoolArray,
    scales: IntArray,
) -> list[FloatArray]:
    """Tangents (P',) of the paths along which a single spread (indices) diverges."""
    units = np.eye(problem.n_parameters)
    free = units if recession is None else complement(recession.moves)
    values, vectors = np.linalg.eigh(free.T @ optimum.at.information.dense() @ free)
    flat = free @ vectors[:, values <= _LITTLE_CURVATURE * values[-1]]
    reached = np.zeros((0, scales.size))
    if flat.size:
        reached = np.linalg.pinv(flat[scales])
    found = []
    for place, scale in enumerate(scales):
        tangent = flat @ reached[:, place]
        others = np.delete(tangent[scales], place)
        alone = (
            abs(tangent[scale] - 1.0) < STILL
            and np.abs(others).max(initial=0.0) < STILL
        )
        if not alone:
            tangent = units[scale]
        if diverging[scale] or (alone and _is_level(problem, optimum, tangent)):
            found.append(tangent)
    return found


def _together(
    information: FloatArray, spreads: IntArray, total_weight: float
) -> FloatArray:
    """(P', f) the combinations of spreads (indices) along which the log-likelihood is
    level.

    If the reference level is the one without an estimate, the spreads of all other
    levels move together, and their ratios are determined. The curvature along spreads,
    maximised over the other parameters, tells the combinations.
    """
    others = np.setdiff1d(np.arange(len(information)), spreads)
    units = np.sqrt(
        np.maximum(np.diagonal(information), _LEAST_CURVATURE * total_weight)
    )
    scaled = information / np.outer(units, units)
    drawn = (
        -np.linalg.pinv(scaled[np.ix_(others, others)], hermitian=True)
        @ scaled[np.ix_(others, spreads)]
    )
    curvature = (
        scaled[np.ix_(spreads, spreads)] + scaled[np.ix_(spreads, others)] @ drawn
    )
    values, vectors = np.linalg.eigh(curvature)
    level = values <= max(_SHARED, values[0])
    tangents = np.zeros((len(information), int(level.sum())))
    tangents[spreads] = vectors[:, level]
    tangents[others] = drawn @ vectors[:, level]
    return tangents / units[:, None]


def _level_plane(
    optimum: Optimum,
    recession: Recession | None,
    tangents: FloatArray,
    total_weight: float,
) -> FloatArray:
    """(P', f) further directions without curvature: only rows of a spread that has run
    off could determine them.
    """
    free = complement(all_directions(recession, tangents))
    values, vectors = np.linalg.eigh(free.T @ optimum.at.information.dense() @ free)
    return np.asarray(free @ vectors[:, values <= _NO_CURVATURE * total_weight])


def _is_level(problem: Problem, optimum: Optimum, tangent: FloatArray) -> bool:
    """Whether the likelihood does not fall along a path with this tangent, on which a
    spread changes by the factor e.
    """
    lowest = optimum.at.loglik - _LEVEL * optimum.unit
    return any(
        loglik >= lowest
        for factor in (1.0, -1.0)
        for loglik in _further(problem, optimum.x, tangent, factor)
    )


def _way(problem: Problem, optimum: Optimum, tangent: FloatArray) -> float:
    """1 or -1, the sign of a tangent along which the likelihood does not fall and is
    higher than along the other; 0 if neither is.
    """
    ahead, back = (
        max(_further(problem, optimum.x, tangent, factor), default=-np.inf)
        for factor in (1.0, -1.0)
    )
    if max(ahead, back) < optimum.at.loglik - _LEVEL * optimum.unit:
        return 0.0
    return float(np.sign(ahead - back))


def _further(
    problem: Problem, x: FloatArray, tangent: FloatArray, factor: float
) -> list[float]:
    """Log-likelihoods further along paths with a tangent, on which the spread of the
    rows that it widens most changes by e^factor.

    What the spread stretches grows, or shrinks, as that of these rows does.
    """
    scales = problem.layout.of_scale
    z = problem.rows.model_rows(slice(None)).z
    widest = float(np.abs(z @ tangent[scales]).max())
    stretched = tangent.copy()
    stretched[scales] = 0.0
    length = factor / widest
    logliks = []
    for bend in (widest, -widest):
        moved = x + np.expm1(bend * length) / bend * stretched
        moved[scales] += length * tangent[scales]
        at = problem.evaluate(moved)
        if at is not None:
            logliks.append(at.loglik)
    return logliks
