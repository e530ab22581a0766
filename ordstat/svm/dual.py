"""The dual problem of RED-SVM, and the proof of how far a point is from its optimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._typing import BoolArray, FloatArray
from ..reduction.encoding import Extended
from .gram import Gram
from .solution import Candidate, Solution, Solver

# Sums of weights that differ by less than this share are equal.
_TIE = 1e-12


@dataclass(frozen=True, eq=False)
class _Loss:
    """A convex, piecewise linear function: its slope starts at -target and grows by `weights` at `knots`."""

    knots: FloatArray
    weights: FloatArray
    target: float

    def __add__(self, other: _Loss) -> _Loss:
        knots, weights = np.append(self.knots, other.knots), np.append(self.weights, other.weights)
        return _Loss(knots, weights, self.target + other.target)

    def minimisers(self) -> tuple[float, float]:
        """Both ends of the interval of minimisers; the finite end twice where the interval is unbounded."""
        order = np.argsort(self.knots)
        reached = np.cumsum(self.weights[order])
        slack = _TIE * reached[-1]
        first = min(int(np.searchsorted(reached, self.target - slack)), len(order) - 1)
        last = min(int(np.searchsorted(reached, self.target + slack, side="right")), len(order) - 1)
        if self.target <= slack:
            last = first
        return float(self.knots[order[first]]), float(self.knots[order[last]])


def best_offset(labels: FloatArray, weights: FloatArray, scores: FloatArray, theta: FloatArray) -> float:
    """The b that minimises sum_nk W_nk [1 - Y_nk (f_n + b - theta_k)]_+; 0 where nothing has weight.

    Parameters
    ----------
    labels, weights : (N, Q)
    scores : (N,)
    theta : (Q,)
    """
    loss = _loss(labels - scores[:, None] + theta, weights, labels > 0)
    return 0.0 if loss is None else 0.5 * sum(loss.minimisers())


def best_thresholds(labels: FloatArray, weights: FloatArray, scores: FloatArray, *, ordered: bool) -> FloatArray:
    """(Q,) the theta that minimises sum_nk W_nk [1 - Y_nk (f_n - theta_k)]_+.

    Parameters
    ----------
    labels, weights : (N, Q)
    scores : (N,)
    ordered : bool
        Among theta_1 <= ... <= theta_Q.

    Notes
    -----
    A threshold whose rows all lie on one side takes the nearest place without loss; one without any row that of the
    threshold before it (after it at the lower end); all are 0 where nothing has weight.
    """
    columns = [_loss(scores - Y, W, Y < 0) for Y, W in zip(labels.T, weights.T, strict=True)]
    losses = [loss for loss in columns if loss is not None]
    if not losses:
        return np.zeros(len(columns))
    if ordered:
        # Both are in order and optimal, and so is their mean.
        found = 0.5 * (_pooled(losses, 0) + _pooled(losses, 1))
    else:
        found = np.array([0.5 * sum(loss.minimisers()) for loss in losses])
    place = np.cumsum([loss is not None for loss in columns]) - 1
    return np.asarray(found[np.maximum(place, 0)])


def _loss(knots: FloatArray, weights: FloatArray, falling: BoolArray) -> _Loss | None:
    """The loss of the cells with weight, those of `falling` beginning with a slope; None where there are none."""
    used = weights > 0
    return _Loss(knots[used], weights[used], float(weights[used & falling].sum())) if used.any() else None


def _pooled(losses: list[_Loss], end: int) -> FloatArray:
    """Minimisers in order, by pooling adjacent violators; `end` says which end of an interval is taken."""
    blocks: list[tuple[_Loss, float, int]] = []
    for loss in losses:
        value, size = loss.minimisers()[end], 1
        while blocks and blocks[-1][1] > value:
            before, _, count = blocks.pop()
            loss, size = before + loss, size + count
            value = loss.minimisers()[end]
        blocks.append((loss, value, size))
    return np.repeat([value for _, value, _ in blocks], [size for _, _, size in blocks])


# Below this share of the margin's distance to 1 the distance to a bound is rounding.
_CLEAR = 1e-2


@dataclass(frozen=True, eq=False, kw_only=True)
class ExtendedDual:
    """Everything of the problem but C.

    Attributes
    ----------
    gram : Gram
        Products of N rows: a kernel matrix centred in rows and columns.
    labels : (N, Q)
        Y_nk = +1 or -1; Q = K - 1.
    weights : (N, Q)
        W_nk >= 0.
    gamma : float
        Scale of the thresholds' penalty |theta|^2 / (2 gamma^2), > 0; inf leaves them free.
    ordered : bool
        Whether theta_1 <= ... <= theta_Q is a constraint (needed where costs are not convex).
    """

    gram: Gram
    labels: FloatArray
    weights: FloatArray
    gamma: float
    ordered: bool = False

    @property
    def free(self) -> bool:
        """Whether theta has no penalty."""
        return bool(np.isinf(self.gamma))

    @property
    def ridge(self) -> float:
        """1 / gamma^2."""
        return 1.0 / self.gamma**2


@dataclass(frozen=True, eq=False, kw_only=True)
class DualSolution(Solution):
    """A dual feasible point with the primal point that goes with it.

    Attributes
    ----------
    u : (N, Q) signed dual variables, within their boxes, summing to 0; beta holds their row sums
    """

    u: FloatArray

    @property
    def sizes(self) -> FloatArray:
        """(N,) sums of a row's |u|: positive for the rows that hold the optimum, even where they sum to beta = 0."""
        return np.asarray(np.abs(self.u).sum(axis=1))


@dataclass(frozen=True, eq=False, kw_only=True)
class ThresholdedCandidate(Candidate):
    """A thresholded SVM to select C for.

    Attributes
    ----------
    extended : Extended
    gamma : float
    ordered : bool
    """

    extended: Extended
    gamma: float
    ordered: bool

    def problem(self, gram: Gram, rows: BoolArray | slice) -> ExtendedDual:
        labels, weights = self.extended.labels[rows], self.extended.weights[rows]
        return ExtendedDual(gram=gram, labels=labels, weights=weights, gamma=self.gamma, ordered=self.ordered)


#: Makes a solver of such a problem from it and a generator.
DualRoute = Callable[[ExtendedDual, np.random.Generator], Solver[DualSolution]]


def boxed(labels: FloatArray, caps: FloatArray, u: FloatArray) -> FloatArray:
    """u moved into its boxes, [0, C_nk] under a positive label and [-C_nk, 0] under a negative one."""
    positive = labels > 0
    return np.clip(u, np.where(positive, 0.0, -caps), np.where(positive, caps, 0.0))


def balanced(
    labels: FloatArray, caps: FloatArray, u: FloatArray, *, by_column: bool = False, ordered: bool = False
) -> FloatArray:
    """u (N, Q), inside its boxes, moved so that it sums to zero.

    What is too much is taken from the variables strictly inside their boxes, in proportion to their room, so that
    those at a bound stay there; only where that is not enough, from all of one sign.

    Parameters
    ----------
    labels, caps, u : (N, Q)
    by_column : bool
        Every column sums to zero, as free thresholds ask.
    ordered : bool
        With by_column: the columns together sum to zero and no partial sum is above 0, as free thresholds in order ask.
    """
    if not by_column:
        column = (-1, 1)
        flat = _drained(labels.reshape(column), caps.reshape(column), u.reshape(column), np.array([u.sum()]))
        return flat.reshape(u.shape)
    totals = u.sum(axis=0)
    return _drained(labels, caps, u, totals - (falling(totals) if ordered else 0.0))


def falling(totals: FloatArray) -> FloatArray:
    """Column sums that add up to zero with no partial sum above 0, each between 0 and the one given."""
    if totals.sum() >= 0.0:
        return np.diff(np.minimum(np.cumsum(totals), 0.0), prepend=0.0)
    return -np.diff(np.maximum(np.cumsum(totals[::-1])[::-1], 0.0), append=0.0)


def _drained(labels: FloatArray, caps: FloatArray, u: FloatArray, excess: FloatArray) -> FloatArray:
    """u (M, J) with the total of column j lowered by excess (J,), which lies between 0 and that total."""
    if not excess.any():
        return u
    floor, ceiling = np.where(labels > 0, 0.0, -caps), np.where(labels > 0, caps, 0.0)
    room = np.where((u > floor) & (u < ceiling), np.where(excess > 0, u - floor, ceiling - u), 0.0)
    # Towards zero room is never short: the other sign's total is what is left of this one's.
    room = np.where(room.sum(axis=0) < np.abs(excess), np.maximum(np.sign(excess) * u, 0.0), room)
    total = room.sum(axis=0)
    return boxed(labels, caps, u - room * np.divide(excess, total, out=np.zeros_like(total), where=total > 0))


def thresholds(problem: ExtendedDual, totals: FloatArray) -> FloatArray:
    """(Q,) penalised theta that minimises the Lagrangian, from the column sums s of u."""
    theta = -(problem.gamma**2) * totals
    return _in_order(theta) if problem.ordered else theta


def _in_order(theta: FloatArray) -> FloatArray:
    """(Q,) the non-decreasing sequence nearest to theta in least squares."""
    from scipy.optimize import isotonic_regression

    return np.asarray(isotonic_regression(theta).x)


def hinge(problem: ExtendedDual, C: float, scores: FloatArray, theta: FloatArray) -> float:
    """Sum of C_nk [1 - Y_nk (scores_n - theta_k)]_+."""
    slack = 1.0 - problem.labels * (scores[:, None] - theta)
    return C * float(np.vdot(problem.weights, np.maximum(slack, 0.0, out=slack)))


def certify(problem: ExtendedDual, C: float, u: FloatArray, own_theta: FloatArray | None = None) -> DualSolution:
    """Turn any u (N, Q) into a feasible dual point and the best primal point at hand, and evaluate both.

    Parameters
    ----------
    problem : ExtendedDual
    C : float
    u : (N, Q)
        Clipped to the boxes and made feasible first; otherwise D would be no bound.
    own_theta : (Q,), optional
        Thresholds of the solver, taken in the place of those recomputed from u: they are better where the sums of u
        cancel. They come with their best b, so that where b is not unique all solvers give the same. Free thresholds
        are always the best ones for the scores.
    """
    caps = C * problem.weights
    u = boxed(problem.labels, caps, u)
    u = balanced(problem.labels, caps, u, by_column=problem.free, ordered=problem.ordered)
    beta = u.sum(axis=1)
    scores, w = problem.gram.scored(beta)
    norm = max(float(beta @ scores), 0.0)
    dual = float(np.abs(u).sum()) - 0.5 * norm
    if problem.free:
        guess = best_thresholds(problem.labels, problem.weights, scores, ordered=problem.ordered)
    else:
        theta = thresholds(problem, u.sum(axis=0))
        dual -= 0.5 * float(theta @ theta) * problem.ridge
        guess = theta if own_theta is None else own_theta
    points = [_primal(problem, C, scores, norm, theta) for theta in _candidates(problem, guess)]
    primal, b, theta = min(points, key=lambda point: point[0])
    offset = None if problem.free else b
    return DualSolution(u=u, beta=beta, scores=scores, offset=offset, theta=theta, primal=primal, dual=dual, w=w)


def _candidates(problem: ExtendedDual, theta: FloatArray) -> list[FloatArray]:
    """theta in order; where the order is no constraint also as it is, though under convex costs that is no better."""
    if (np.diff(theta) >= 0).all():
        return [theta]
    return [_in_order(theta)] if problem.ordered else [np.sort(theta), theta]


def _primal(
    problem: ExtendedDual, C: float, scores: FloatArray, norm: float, theta: FloatArray
) -> tuple[float, float, FloatArray]:
    """P with the best b for these scores and thresholds, that b, and theta."""
    b = 0.0 if problem.free else best_offset(problem.labels, problem.weights, scores, theta)
    penalty = float(theta @ theta) * problem.ridge
    return 0.5 * (norm + penalty) + hinge(problem, C, scores + b, theta), b, theta


def snapped(problem: ExtendedDual, C: float, point: DualSolution) -> DualSolution:
    """The solution with every variable that is at a bound but for the solver's rounding put onto it, evaluated anew.

    Distance to the bound, as a share of the box, and distance of the margin to 1: at the optimum one of the two
    vanishes. The first must be far below the second to count, the farther the better the point is.
    """
    clear = min(_CLEAR, float(np.sqrt(point.gap)))
    caps = C * problem.weights
    slack = clear * (problem.labels * (point.scores[:, None] + (point.offset or 0.0) - point.theta) - 1.0)
    share = np.divide(np.abs(point.u), caps, out=np.zeros_like(caps), where=caps > 0)
    u = np.where(share < slack, 0.0, point.u)
    u = np.where(1.0 - share < -slack, problem.labels * caps, u)
    return certify(problem, C, u, point.theta)
