"""Newton's method within linear inequalities: every step is the maximum of the quadratic model inside them.

The step s maximises g's - s'J s / 2 where A (x + s) >= b, a problem of least distance [Lawson & Hanson 1974, ch. 23]
solved by non-negative least squares; inequalities that its end breaks are added and it is solved again. Steps are
halved as in `newton.py`. J s = g + A'lambda is what is left of the first order conditions, lambda >= 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from ...._typing import FloatArray
from ..blocks import Blocks
from ..explore import Point
from ..newton import Evaluation, Objective, Optimum, positive_factor, stalled, stop_message, uphill
from ..user_scale import joined, parted
from .constraints import Order


@dataclass(frozen=True, eq=False, kw_only=True)
class OrderedOptimum:
    """Where the search stopped.

    Attributes
    ----------
    optimum : Optimum
    order : Order
        With the inequalities it has met.
    multipliers : (c,) of these
    residual : float
        Of the first order conditions: the largest component of g + A'lambda, product of a multiplier and its
        inequality's slack, or shortfall of an inequality.
    """

    optimum: Optimum
    order: Order
    multipliers: FloatArray
    residual: float


@dataclass(frozen=True, eq=False)
class _Step:
    """A step (P',), what it is stopped by, and the gain that it promises, twice."""

    step: FloatArray
    order: Order
    multipliers: FloatArray
    decrement: float


def ordered_maximum(
    objective: Objective, order: Order, start: Point, *, tol: float, max_iter: int, total_weight: float
) -> OrderedOptimum:
    """The maximum from a point with thresholds in order everywhere.

    Parameters
    ----------
    objective : callable
    order : Order
    start : (alpha, rest)
    tol, max_iter, total_weight : as in `maximise`
    """
    point, at = start, objective(*start)
    assert at is not None
    unit = min(1.0, total_weight)
    tolerance, least = max(tol * unit, 1e-14 * total_weight), (1e-3 * tol) ** 2 * unit
    logliks, decrements, tight = [at.loglik], list[float](), order.rows
    while True:
        information, factor, damping = positive_factor(at.information)
        J = information.dense() if damping == 0.0 else _positive(at.information.dense(), tight, information)
        found = _quadratic_step(J, at, order, point)
        tight = found.order.rows[found.multipliers > 0.0]
        order, step = found.order, parted(found.step, point[0].shape)
        residual = float(np.abs(J @ found.step).max())
        decrements.append(found.decrement)
        message = stop_message(residual <= tolerance, decrements, least, unit, max_iter) or stalled(logliks)
        accepted = None if message else uphill(objective, *point, at, *step)
        if accepted is None:
            break
        point, at = accepted[:2], accepted[2]
        logliks.append(at.loglik)
    optimum = Optimum(
        alpha=point[0],
        rest=point[1],
        at=at,
        information=information,
        factor=factor,
        damping=damping,
        step_alpha=step[0],
        step_rest=step[1],
        logliks=np.array(logliks),
        decrements=np.array(decrements),
        unit=unit,
        tolerance=tolerance,
        message=message or "no step along the Newton direction improves the likelihood",
    )
    left = max(residual, _slackness(order, found.multipliers, point))
    return OrderedOptimum(optimum=optimum, order=order, multipliers=found.multipliers, residual=left)


def _slackness(order: Order, multipliers: FloatArray, point: Point) -> float:
    """How far multipliers and slack are from being 0 in turn, and thresholds from being in order."""
    products = multipliers * np.abs(order.slack(point))
    return float(max(products.max(initial=0.0), -order.least(point)[0].min(initial=0.0)))


def _positive(J: FloatArray, tight: FloatArray, damped: Blocks) -> FloatArray:
    """J with its curvature across the tight inequalities (c, P') raised; where that does not do, the damped matrix.

    A maximum held by constraints needs no curvature across them, and steps along them do not notice what is added.
    """
    raised = J + np.abs(J).max() * tight.T @ (tight / (tight**2).sum(axis=1, keepdims=True))
    least = np.linalg.eigvalsh(raised)
    return raised if least[0] > 1e-12 * least[-1] else damped.dense()


def _factor(J: FloatArray) -> FloatArray:
    """The Cholesky factor; of J lifted to rounding, where estimates that run off leave it no curvature."""
    try:
        return np.asarray(cholesky(J, lower=True))
    except LinAlgError:
        values = np.linalg.eigvalsh(J)
        lift = 1e-10 * values[-1] - min(values[0], 0.0)
        return np.asarray(cholesky(J + lift * np.eye(len(J)), lower=True))


def _quadratic_step(J: FloatArray, at: Evaluation, order: Order, point: Point) -> _Step:
    """The maximum of the quadratic model inside the inequalities."""
    L = _factor(J)
    score = joined(at.score_alpha, at.score_rest)
    free = solve_triangular(L, score, lower=True)  # whitened: the length is what the model measures by
    while True:
        G = solve_triangular(L, order.rows.T, lower=True).T
        away, multipliers = least_distance(G, -order.slack(point) - G @ free)
        step = solve_triangular(L, free + away, lower=True, trans="T")
        moved = joined(*point) + step
        further = order.with_broken(parted(moved, point[0].shape))
        if further is None:
            return _Step(step, order, multipliers, float((free + away) @ (free + away)))
        order = further


def least_distance(G: FloatArray, h: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The shortest x (n,) with G x >= h, and the multipliers (c,) of x = G'u, u >= 0.

    Parameters
    ----------
    G : (c, n)
    h : (c,)
    """
    if not len(h) or h.max() <= 0.0:
        return np.zeros(G.shape[1]), np.zeros(len(h))
    from scipy.optimize import nnls

    size = np.linalg.norm(G, axis=1)
    E = np.vstack([G.T / size, h / size])
    u = nnls(E, np.append(np.zeros(G.shape[1]), 1.0), maxiter=30 * len(h) + 100)[0]
    tight = np.flatnonzero(u > 0.0)  # solved again as equations, to all digits
    own = G[tight] / size[tight, None]
    exact = np.linalg.lstsq(own @ own.T, h[tight] / size[tight], rcond=None)[0]
    multipliers = np.zeros(len(h))
    multipliers[tight] = np.maximum(exact, 0.0) / size[tight]
    return G.T @ multipliers, multipliers
