"""The dual problem of the thresholded support vector machines, and the proof of how far a point is from its optimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from .._typing import BoolArray, FloatArray
from .gram import Gram

# A primal value below this is 0 but for rounding: that of rows which one rank suits.
_ZERO = 1e-100
# Sums of weights that differ by less than this share are equal.
_TIE = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class Solution:
    """A primal point and a lower bound of the optimum.

    Attributes
    ----------
    beta : (N,) coefficients of the rows, summing to zero
    scores : (N,) f = gram @ beta of the centred kernel, without the offset
    theta : (K-1,)
    primal, dual : float
        P >= optimum >= D.
    offset : float or None
        b for the centred kernel; None where the thresholds have taken it up.
    w : (D,) or None
        Coefficients of the columns that give the scores, where a linear kernel knows them.
    """

    beta: FloatArray
    scores: FloatArray
    theta: FloatArray
    primal: float
    dual: float
    offset: float | None = None
    w: FloatArray | None = None

    @property
    def gap(self) -> float:
        """(P - D) / |P|, the relative duality gap; 0 where rounding makes D the larger."""
        return max(self.primal - self.dual, 0.0) / max(abs(self.primal), _ZERO)

    @property
    def sizes(self) -> FloatArray:
        """(N,) positive for support rows: those that hold the optimum."""
        return np.abs(self.beta)


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
        """(N,) sums of a row's |u|, positive for support rows even where their u sum to beta = 0."""
        return np.asarray(np.abs(self.u).sum(axis=1))


S = TypeVar("S", bound=Solution, covariant=True)


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome(Generic[S]):
    """What a solver returns.

    Attributes
    ----------
    solution : Solution
        The certified point with the smallest gap seen.
    solver : str
    iterations : int
    path : (I,) primal values at the points that were certified on the way
    """

    solution: S
    solver: str
    iterations: int
    path: FloatArray


class Solver(Protocol[S]):
    """A route to the optimum of one problem: made from (problem, rng), then called for growing values of C."""

    def solve(self, C: float, tol: float) -> Outcome[S]:
        """The best certified point; its relative duality gap is at most `tol` if the solver could reach that."""


#: Makes a solver from a problem and a generator.
Route = Callable[[Any, np.random.Generator], Solver[Solution]]


def better(first: Outcome[S], second: Outcome[S]) -> Outcome[S]:
    """The outcome with the smaller gap."""
    return min(first, second, key=lambda outcome: outcome.solution.gap)


@dataclass(frozen=True, eq=False, kw_only=True)
class ExtendedDual:
    """Everything of the problem but C.

    Attributes
    ----------
    gram : Gram
        Products of N rows; solvers take a kernel matrix centred in rows and columns (see `centred`).
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
        return self.gamma == np.inf

    @property
    def ridge(self) -> float:
        """1 / gamma^2."""
        return 1.0 / self.gamma**2

    @cached_property
    def live(self) -> FloatArray:
        """(N, Q) the weights, zero for thresholds whose dual variables all vanish.

        A free threshold needs labels of both signs to be finite. In an order, a threshold with positive labels alone
        is held from below by any threshold under it that has negative ones.
        """
        if not self.free:
            return self.weights
        above = np.asarray(((self.weights > 0) & (self.labels > 0)).any(axis=0))
        below = np.asarray(((self.weights > 0) & (self.labels < 0)).any(axis=0))
        if self.ordered:
            above = np.logical_or.accumulate(above[::-1])[::-1]
            below = np.logical_or.accumulate(below)
        return self.weights if (above & below).all() else self.weights * (above & below)

    @cached_property
    def steps(self) -> FloatArray:
        """(R, Q) differences of neighbouring thresholds that the order holds above 0; R = 0 without that constraint.

        Free thresholds without live weights take no part.
        """
        held = np.asarray(self.live.any(axis=0)) if self.free else np.ones(self.labels.shape[1], dtype=np.bool_)
        return np.diff(np.eye(held.size)[held], axis=0) if self.ordered else np.zeros((0, held.size))

    def centred(self, rows: BoolArray | None = None) -> tuple[ExtendedDual, FloatArray]:
        """The problem of some rows with a centred kernel, and the means taken from it.

        Without `rows` it may overwrite the kernel matrix of this problem.
        """
        gram, means = (self.gram if rows is None else self.gram.part(rows)).centred()
        kept = slice(None) if rows is None else rows
        return replace(self, gram=gram, labels=self.labels[kept], weights=self.weights[kept]), means


def _minimisers(knots: FloatArray, weights: FloatArray, falling: BoolArray) -> tuple[float, float]:
    """Both ends of the interval of minimisers of a sum of hinges; the finite end twice where it is unbounded.

    The slope grows by `weights` at `knots`, beginning with minus the weights of the `falling` hinges.
    """
    target, order = weights[falling].sum(), np.argsort(knots)
    reached = np.cumsum(weights[order])
    slack = _TIE * reached[-1]
    first = min(int(np.searchsorted(reached, target - slack)), order.size - 1)
    last = min(int(np.searchsorted(reached, target + slack, side="right")), order.size - 1)
    if target <= slack:
        last = first
    return float(knots[order[first]]), float(knots[order[last]])


def best_offset(labels: FloatArray, weights: FloatArray, scores: FloatArray, theta: FloatArray) -> float:
    """The b that minimises sum_nk W_nk [1 - Y_nk (f_n + b - theta_k)]_+; 0 where nothing has weight.

    Parameters
    ----------
    labels, weights : (N, Q)
    scores : (N,)
    theta : (Q,)
    """
    used = weights > 0
    if not used.any():
        return 0.0
    return 0.5 * sum(_minimisers((labels - scores[:, None] + theta)[used], weights[used], labels[used] > 0))


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
    A threshold whose rows all lie on one side takes the nearest value without loss. A threshold without rows takes the
    value of the threshold before it (after it at the lower end). All are 0 if no row has weight.
    """
    used, knots = weights > 0, scores[:, None] - labels
    columns = np.flatnonzero(used.any(axis=0))
    if not columns.size:
        return np.zeros(labels.shape[1])

    def joint(first: int, last: int) -> tuple[float, float]:
        """Minimisers of the loss of some neighbouring thresholds that are equal."""
        cells = used[:, columns[first:last]]
        knot, weight, label = (array[:, columns[first:last]][cells] for array in (knots, weights, labels))
        return _minimisers(knot, weight, label < 0)

    if ordered:
        # Both are in order and optimal, and so is their mean.
        ends = np.transpose([_pooled(joint, columns.size, end) for end in (0, 1)])
    else:
        ends = np.array([joint(k, k + 1) for k in range(columns.size)])
    nearest = np.searchsorted(columns, np.arange(labels.shape[1]), side="right") - 1
    return np.asarray(ends.mean(axis=1)[np.maximum(nearest, 0)])


def _pooled(joint: Callable[[int, int], tuple[float, float]], size: int, end: int) -> list[float]:
    """Minimisers in order, by pooling adjacent violators; `end` selects an end of the intervals of minimisers."""
    blocks: list[tuple[float, int, int]] = []
    for k in range(size):
        first, value = k, joint(k, k + 1)[end]
        while blocks and blocks[-1][0] > value:
            first = blocks.pop()[1]
            value = joint(first, k + 1)[end]
        blocks.append((value, first, k + 1))
    return [value for value, first, last in blocks for _ in range(first, last)]


def balanced(
    labels: FloatArray, caps: FloatArray, u: FloatArray, *, by_column: bool = False, ordered: bool = False
) -> FloatArray:
    """u (N, Q), inside its boxes, moved so that it sums to zero.

    The excess is taken from the variables strictly inside their boxes, in proportion to their room, so that those at a
    bound stay there; only where that is not enough, from all of one sign.

    Parameters
    ----------
    labels, caps, u : (N, Q)
    by_column : bool
        Every column sums to zero, as free thresholds require.
    ordered : bool
        With by_column: the columns together sum to zero and no partial sum is above 0, as free thresholds in order
        require.
    """
    axis = 0 if by_column else None
    excess = np.asarray(u.sum(axis=axis))
    if by_column and ordered:
        excess = excess - falling(excess)
    if not excess.any():
        return u
    size = labels * u
    room = np.where(labels * excess > 0, size, caps - size)
    room[(size <= 0.0) | (size >= caps)] = 0.0
    # Towards zero room is never short: the other sign's total is what is left of this one's.
    short = room.sum(axis=axis) < np.abs(excess)
    room = np.where(short, np.maximum(np.sign(excess) * u, 0.0), room)
    total = np.asarray(room.sum(axis=axis))
    share = np.divide(excess, total, out=np.zeros_like(total), where=total > 0)
    return np.asarray(labels * np.clip(labels * (u - room * share), 0.0, caps))


def falling(totals: FloatArray) -> FloatArray:
    """Column sums that add up to zero with no partial sum above 0, each between 0 and the given one."""
    if totals.sum() >= 0.0:
        return np.diff(np.minimum(np.cumsum(totals), 0.0), prepend=0.0)
    return -np.diff(np.maximum(np.cumsum(totals[::-1])[::-1], 0.0), append=0.0)


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


def certify(problem: ExtendedDual, C: float, u: FloatArray, theta: FloatArray | None = None) -> DualSolution:
    """Turn any u (N, Q) into a feasible dual point and the best primal point at hand, and evaluate both.

    Parameters
    ----------
    problem : ExtendedDual
    C : float
    u : (N, Q)
        Moved into its boxes and made feasible first; otherwise D would be no bound.
    theta : (Q,), optional
        Thresholds of the solver, used instead of those recomputed from u: they are better where the sums of u cancel.
        They come with their best b, so that where b is not unique all solvers give the same. Free thresholds are
        always the best ones for the scores.
    """
    labels, caps = problem.labels, C * problem.live
    u = labels * np.clip(labels * u, 0.0, caps)
    u = balanced(labels, caps, u, by_column=problem.free, ordered=problem.ordered)
    beta = u.sum(axis=1)
    scores, w = problem.gram.scored(beta)
    norm = max(float(beta @ scores), 0.0)
    dual, offset = float(np.abs(u).sum()) - 0.5 * norm, None
    if problem.free:
        theta = best_thresholds(labels, problem.weights, scores, ordered=problem.ordered)
    else:
        penalised = thresholds(problem, u.sum(axis=0))
        dual -= 0.5 * problem.ridge * float(penalised @ penalised)
        theta = penalised if theta is None else theta
    if (np.diff(theta) < 0).any():
        # Under convex costs thresholds in order are never worse.
        theta = _in_order(theta) if problem.ordered else np.sort(theta)
    if not problem.free:
        offset = best_offset(labels, problem.weights, scores, theta)
    primal = 0.5 * (norm + problem.ridge * float(theta @ theta)) + hinge(problem, C, scores + (offset or 0.0), theta)
    return DualSolution(u=u, beta=beta, scores=scores, offset=offset, theta=theta, primal=primal, dual=dual, w=w)


# Below this share of the margin's distance to 1 the distance to a bound is rounding.
_CLEAR = 1e-2


def snapped(problem: ExtendedDual, C: float, point: DualSolution) -> DualSolution:
    """The solution with every variable that is at a bound but for the solver's rounding put onto it, evaluated anew.

    Distance to the bound, as a share of the box, and distance of the margin to 1: at the optimum one of the two
    vanishes. The first must be far below the second to count, the farther the better the point is.
    """
    caps = C * problem.weights
    margins = problem.labels * (point.scores[:, None] + (point.offset or 0.0) - point.theta)
    slack = min(_CLEAR, float(np.sqrt(point.gap))) * (margins - 1.0)
    share = np.divide(np.abs(point.u), caps, out=np.zeros_like(caps), where=caps > 0)
    u = np.where(share < slack, 0.0, point.u)
    u = np.where(1.0 - share < -slack, problem.labels * caps, u)
    return certify(problem, C, u, point.theta)
