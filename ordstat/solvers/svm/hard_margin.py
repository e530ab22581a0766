"""The hard margin, C = inf: soft margins of growing C until one proves optimal without any violation.

A soft optimum u is dual feasible for every larger C, so its dual value bounds the hard margin's optimum from below;
its scores and thresholds divided by their smallest margin violate nothing and bound it from above.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...exceptions import DataError
from ..solution import Outcome
from .dual import DualRoute, DualSolution, ExtendedDual

# First C, in units of one over the mean of the kernel's diagonal, its growth, and the steps tried at most.
_FIRST, _GROWTH, _STEPS = 16.0, 32.0, 12
# A soft gap this much smaller leaves room for the margin that is scaled away.
_SHARE = 0.1
# (|v| r)^2 beyond which levels count as not separable: a margin below a millionth of the rows' spread.
_STEEPEST = 1e12


def hard_margin(route: DualRoute, problem: ExtendedDual, rng: np.random.Generator, tol: float) -> Outcome[DualSolution]:
    """One problem without slack by any route, to the relative duality gap `tol` of the hard margin.

    Raises
    ------
    DataError
        No thresholds separate the levels, or none with a margin that could be computed.
    """
    soft, scale = route(problem, rng), float(problem.gram.diagonal.mean()) or 1.0
    best: Outcome[DualSolution] | None = None
    path: list[float] = []
    iterations = 0
    for step in range(_STEPS):
        outcome = soft.solve(_FIRST / scale * _GROWTH**step, _SHARE * tol)
        iterations += outcome.iterations
        if outcome.solution.dual * scale > _STEEPEST:
            break
        point = hardened(problem, outcome.solution)
        if point is None:
            continue
        path.append(point.primal)
        if best is None or point.gap < best.solution.gap:
            best = replace(outcome, solution=point)
        if best.solution.gap <= tol:
            break
    if best is None:
        raise DataError(
            "C=inf needs separable levels; no separating potential was found (its margin must be above a millionth "
            "of the rows' spread). Give a finite C, another kernel, or fewer constraints=."
        )
    return replace(best, iterations=iterations, path=np.array(path))


def hardened(problem: ExtendedDual, point: DualSolution) -> DualSolution | None:
    """The point scaled to a smallest margin of 1, None where some row is on the wrong side of a threshold."""
    margins = problem.labels * (point.scores[:, None] + (point.offset or 0.0) - point.theta)
    smallest = float(margins[problem.weights > 0].min(initial=1.0))
    if smallest <= 0.0:
        return None
    scaled = {name: getattr(point, name) / smallest for name in ("u", "beta", "scores", "theta")}
    offset = None if point.offset is None else point.offset / smallest
    w = None if point.w is None else point.w / smallest
    norm = max(float(scaled["beta"] @ scaled["scores"]), 0.0)
    primal = 0.5 * (norm + float(scaled["theta"] @ scaled["theta"]) * problem.ridge)
    dual = max(float(np.abs(scaled["u"]).sum()) - primal, point.dual)
    return replace(point, **scaled, offset=offset, w=w, primal=primal, dual=dual)
