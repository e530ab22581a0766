"""The dual problem of RED-SVM, and the proof of how far any point is from its optimum.

With rows n, thresholds k, boxes C_nk = C W_nk and signed dual variables u_nk = Y_nk alpha_nk,
beta_n = sum_k u_nk, s_k = sum_n u_nk, f = G beta:

    primal  P = 1/2 |v|^2 + |theta|^2 / (2 gamma^2) + sum_nk C_nk [1 - Y_nk (f_n + b - theta_k)]_+
    dual    D = sum_nk |u_nk| - 1/2 beta' G beta - (gamma^2 / 2) |s|^2,  sum_nk u_nk = 0,

[Lin 2008, eq. 4.8]. Where theta must be ordered, the last term of D is |theta|^2 / (2 gamma^2) with theta the
isotonic regression of -gamma^2 s. The (NQ) x (NQ) Hessian is never formed: it acts through beta and s alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from .isotonic import isotonic

# Sums of box sizes that differ by less than this share are equal.
_TIE = 1e-12
# Below this share of the margin's distance to 1 the distance to a bound is rounding.
_CLEAR = 1e-2


@dataclass(frozen=True, eq=False, kw_only=True)
class ExtendedDual:
    """Everything of the problem but C.

    Attributes
    ----------
    gram : (N, N)
        Symmetric and positive semi-definite: a kernel matrix centred in rows and columns.
    labels : (N, Q)
        Y_nk = +1 or -1; Q = K - 1.
    weights : (N, Q)
        W_nk >= 0.
    gamma : float
        Weight of the thresholds' penalty, > 0.
    ordered : bool
        Whether theta_1 <= ... <= theta_Q is a constraint (needed where costs are not convex).
    """

    gram: FloatArray
    labels: FloatArray
    weights: FloatArray
    gamma: float
    ordered: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class DualSolution:
    """A dual feasible point with the primal point that goes with it.

    Attributes
    ----------
    u : (N, Q) signed dual variables, within their boxes, summing to 0
    beta : (N,) row sums of u
    scores : (N,) f = gram @ beta, without b
    offset : float, b for the centred kernel
    theta : (Q,)
    primal, dual : float
        P >= optimum >= D.
    """

    u: FloatArray
    beta: FloatArray
    scores: FloatArray
    offset: float
    theta: FloatArray
    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """(P - D) / |P|, the relative duality gap; 0 where rounding makes D the larger."""
        return max(self.primal - self.dual, 0.0) / max(abs(self.primal), float(np.finfo(float).tiny))


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """What a solver hands back.

    Attributes
    ----------
    solution : DualSolution
        The certified point with the smallest gap seen.
    solver : str
    iterations : int
    path : (I,) primal values at the points that were certified on the way
    """

    solution: DualSolution
    solver: str
    iterations: int
    path: FloatArray


def centred(gram: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Remove row and column means from a symmetric matrix, in place.

    A kernel that is positive definite only on coefficients summing to zero becomes positive semi-definite; the
    objective is unchanged on such coefficients.

    Returns
    -------
    gram : (N, N), the same array
    means : (N,) the means taken away; b of the raw kernel is b - means'beta
    """
    means = gram.mean(axis=0)
    gram -= means
    gram -= (means - means.mean())[:, None]
    return gram, means


def boxed(labels: FloatArray, caps: FloatArray, u: FloatArray) -> FloatArray:
    """u moved into its boxes, [0, C_nk] under a positive label and [-C_nk, 0] under a negative one."""
    positive = labels > 0
    return np.clip(u, np.where(positive, 0.0, -caps), np.where(positive, caps, 0.0))


def balanced(labels: FloatArray, caps: FloatArray, u: FloatArray) -> FloatArray:
    """u, inside its boxes, moved so that it sums to zero.

    What is too much is taken from the variables strictly inside their boxes, in proportion to their room, so that
    those at a bound stay there; only where that is not enough, from all of one sign.
    """
    excess = float(u.sum())
    if excess == 0.0:
        return u
    floor, ceiling = np.where(labels > 0, 0.0, -caps), np.where(labels > 0, caps, 0.0)
    room = np.where((u > floor) & (u < ceiling), u - floor if excess > 0 else ceiling - u, 0.0)
    if room.sum() < abs(excess):
        # Towards zero, where room is never short: the other sign's total is what is left of this one's.
        room = np.where(u > 0, u, 0.0) if excess > 0 else np.where(u < 0, -u, 0.0)
    return boxed(labels, caps, u - room * (excess / room.sum()))


def thresholds(problem: ExtendedDual, totals: FloatArray) -> FloatArray:
    """(Q,) theta that minimises the Lagrangian, from the column sums s of u."""
    theta = -(problem.gamma**2) * totals
    return isotonic(theta) if problem.ordered else theta


def hinge(problem: ExtendedDual, C: float, scores: FloatArray, theta: FloatArray) -> float:
    """Sum of C_nk [1 - Y_nk (scores_n - theta_k)]_+."""
    slack = 1.0 - problem.labels * (scores[:, None] - theta)
    return C * float(np.vdot(problem.weights, np.maximum(slack, 0.0, out=slack)))


def best_offset(problem: ExtendedDual, scores: FloatArray, theta: FloatArray) -> float:
    """The b that minimises the hinge losses: a weighted quantile, the midpoint where it is an interval.

    The loss is piecewise linear in b with knots Y_nk - f_n + theta_k; its slope starts at minus the weight of
    the positive labels and grows by W_nk at each knot.
    """
    used = problem.weights > 0
    if not used.any():
        return 0.0
    knots = (problem.labels - scores[:, None] + theta)[used]
    weights = problem.weights[used]
    order = np.argsort(knots)
    reached = np.cumsum(weights[order])
    target = weights[problem.labels[used] > 0].sum()
    slack = _TIE * reached[-1]
    first = min(int(np.searchsorted(reached, target - slack)), len(order) - 1)
    last = min(int(np.searchsorted(reached, target + slack, side="right")), len(order) - 1)
    if target <= slack:
        last = first
    return 0.5 * float(knots[order[first]] + knots[order[last]])


def certify(problem: ExtendedDual, C: float, u: FloatArray, own_theta: FloatArray | None = None) -> DualSolution:
    """Turn any u (N, Q) into a feasible dual point and the best primal point at hand, and evaluate both.

    Parameters
    ----------
    problem : ExtendedDual
    C : float
    u : (N, Q)
        Clipped to the boxes and made feasible first; otherwise D would be no bound.
    own_theta : (Q,), optional
        Thresholds of the solver: better than those recomputed from u where the sums of u cancel. Either comes with
        its best b, so that where b is not unique all solvers give the same.
    """
    caps = C * problem.weights
    u = balanced(problem.labels, caps, boxed(problem.labels, caps, u))
    beta, totals = u.sum(axis=1), u.sum(axis=0)
    scores = problem.gram @ beta
    norm = max(float(beta @ scores), 0.0)
    theta = thresholds(problem, totals)
    dual = float(np.abs(u).sum()) - 0.5 * norm - 0.5 * float(theta @ theta) / problem.gamma**2
    points = [
        _primal(problem, C, scores, norm, candidate)
        for guess in (theta, own_theta)
        if guess is not None
        for candidate in _candidates(problem, guess)
    ]
    primal, b, theta = min(points, key=lambda point: point[0])
    return DualSolution(u=u, beta=beta, scores=scores, offset=b, theta=theta, primal=primal, dual=dual)


def _candidates(problem: ExtendedDual, theta: FloatArray) -> list[FloatArray]:
    """theta in order; where the order is no constraint also as it is, though under convex costs that is no better."""
    if (np.diff(theta) >= 0).all():
        return [theta]
    return [isotonic(theta)] if problem.ordered else [np.sort(theta), theta]


def _primal(
    problem: ExtendedDual, C: float, scores: FloatArray, norm: float, theta: FloatArray
) -> tuple[float, float, FloatArray]:
    """P with the best b for these scores and thresholds, that b, and theta."""
    b = best_offset(problem, scores, theta)
    penalty = float(theta @ theta) / problem.gamma**2
    return 0.5 * (norm + penalty) + hinge(problem, C, scores + b, theta), b, theta


def snapped(problem: ExtendedDual, C: float, point: DualSolution) -> DualSolution:
    """The solution with every variable that is at a bound but for the solver's rounding put onto it, evaluated anew.

    Distance to the bound, as a share of the box, and distance of the margin to 1: at the optimum one of the two
    vanishes. The first must be far below the second to count, the farther the better the point is.
    """
    clear = min(_CLEAR, float(np.sqrt(point.gap)))
    caps = C * problem.weights
    slack = clear * (problem.labels * (point.scores[:, None] + point.offset - point.theta) - 1.0)
    share = np.divide(np.abs(point.u), caps, out=np.zeros_like(caps), where=caps > 0)
    u = np.where(share < slack, 0.0, point.u)
    u = np.where(1.0 - share < -slack, problem.labels * caps, u)
    return certify(problem, C, u, point.theta)
