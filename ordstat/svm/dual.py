"""The dual problem of the thresholded support vector machines, and the proof of how far
a point is from its optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from .._typing import BoolArray, FloatArray
from .gram import Gram

# A primal value below this is rounding of 0, the value where one rank fits all rows.
_ZERO = 1e-100
# Sums of weights that differ by less than this share are equal.
_WEIGHT_TIE = 1e-12


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
        b for the centred kernel; None if the thresholds contain it.
    w : (D,) or None
        Coefficients of the columns that give the scores; None if the kernel matrix has
        no stored columns.
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
        """(P - D) / |P|, the relative duality gap; 0 if rounding makes D exceed P."""
        return max(self.primal - self.dual, 0.0) / max(abs(self.primal), _ZERO)

    @property
    def sizes(self) -> FloatArray:
        """(N,) positive for support rows."""
        return np.abs(self.beta)

    def raised(self, constant: float) -> Self:
        """The same gaps with all scores raised by a constant: the offset falls, or the
        thresholds rise.
        """
        scores = self.scores + constant
        if self.offset is None:
            return replace(self, scores=scores, theta=self.theta + constant)
        return replace(self, scores=scores, offset=self.offset - constant)


@dataclass(frozen=True, eq=False, kw_only=True)
class DualSolution(Solution):
    """A dual feasible point and the primal point computed from it.

    Attributes
    ----------
    u : (N, Q)
        Signed dual variables inside their boxes, with sum 0; beta holds their row sums.
    """

    u: FloatArray

    @property
    def sizes(self) -> FloatArray:
        """(N,) row sums of |u|, positive for support rows even if their u sum to beta =
        0.
        """
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
    path : (I,) primal values of the certified points, in order
    """

    solution: S
    solver: str
    iterations: int
    path: FloatArray


class Solver(Protocol[S]):
    """Solves one problem: made from (problem, rng), then called with growing values of
    C.
    """

    def solve(self, C: float, tol: float) -> Outcome[S]:
        """The best certified point; its relative duality gap is at most `tol` if the
        solver can reach it.
        """


#: Makes a solver from a problem and a generator.
Route = Callable[[Any, np.random.Generator], Solver[Solution]]


def better(first: Outcome[S], second: Outcome[S]) -> Outcome[S]:
    """The outcome with the smaller gap."""
    return min(first, second, key=lambda outcome: outcome.solution.gap)


@dataclass(frozen=True, eq=False, kw_only=True)
class ExtendedDual:
    """The problem for any C.

    Attributes
    ----------
    gram : Gram
        Products of N rows; solvers take a kernel matrix centred in rows and columns
        (see `centred`).
    labels : (N, Q)
        Y_nk = +1 or -1; Q = K - 1.
    weights : (N, Q)
        W_nk >= 0.
    gamma : float
        Scale of the thresholds' penalty |theta|^2 / (2 gamma^2), > 0; inf leaves them
        free.
    ordered : bool
        Whether theta_1 <= ... <= theta_Q is a constraint (needed if costs are not
        convex).
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
        """(N, Q) weights, with 0 for thresholds whose dual variables are all 0.

        A free threshold is finite only if it has labels of both signs. If thresholds
        are ordered, a threshold with positive labels only is bounded from below by a
        lower threshold that has negative labels.
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
        """(R, Q) differences of neighbouring thresholds that must not be negative; R =
        0 if the order is no constraint.

        Free thresholds without live weights are left out.
        """
        if self.free:
            held = np.asarray(self.live.any(axis=0))
        else:
            held = np.ones(self.labels.shape[1], dtype=np.bool_)
        if self.ordered:
            return np.diff(np.eye(held.size)[held], axis=0)
        return np.zeros((0, held.size))

    def centred(self, rows: BoolArray | None = None) -> tuple[ExtendedDual, FloatArray]:
        """The problem of some rows with a centred kernel, and the means that were
        subtracted.

        Without `rows` the kernel matrix of this problem may be overwritten.
        """
        gram, means = (self.gram if rows is None else self.gram.part(rows)).centred()
        kept = slice(None) if rows is None else rows
        return (
            replace(
                self, gram=gram, labels=self.labels[kept], weights=self.weights[kept]
            ),
            means,
        )


def _minimisers(
    knots: FloatArray, weights: FloatArray, falling: BoolArray
) -> tuple[float, float]:
    """Both ends of the interval of minimisers of a sum of hinges; the finite end twice
    if the interval is unbounded.

    The slope starts at minus the weights of the `falling` hinges and grows by `weights`
    at `knots`.
    """
    target = weights[falling].sum()
    order = np.argsort(knots)
    reached = np.cumsum(weights[order])
    slack = _WEIGHT_TIE * reached[-1]
    first = min(int(np.searchsorted(reached, target - slack)), order.size - 1)
    last = min(
        int(np.searchsorted(reached, target + slack, side="right")), order.size - 1
    )
    if target <= slack:
        last = first
    return float(knots[order[first]]), float(knots[order[last]])


def best_offset(
    labels: FloatArray, weights: FloatArray, scores: FloatArray, theta: FloatArray
) -> float:
    """The b that minimises sum_nk W_nk [1 - Y_nk (f_n + b - theta_k)]_+; 0 if all
    weights are 0.

    Parameters
    ----------
    labels, weights : (N, Q)
    scores : (N,)
    theta : (Q,)
    """
    used = weights > 0
    if not used.any():
        return 0.0
    return 0.5 * sum(
        _minimisers(
            (labels - scores[:, None] + theta)[used], weights[used], labels[used] > 0
        )
    )


def best_thresholds(
    labels: FloatArray, weights: FloatArray, scores: FloatArray, *, ordered: bool
) -> FloatArray:
    """(Q,) the theta that minimises sum_nk W_nk [1 - Y_nk (f_n - theta_k)]_+.

    Parameters
    ----------
    labels, weights : (N, Q)
    scores : (N,)
    ordered : bool
        Whether theta_1 <= ... <= theta_Q is required.

    Notes
    -----
    A threshold with all rows on one side takes the nearest value without loss. A
    threshold without rows takes the value of the threshold before it, or after it at
    the lower end. All are 0 if no row has weight.
    """
    used = weights > 0
    knots = scores[:, None] - labels
    columns = np.flatnonzero(used.any(axis=0))
    if not columns.size:
        return np.zeros(labels.shape[1])

    def joint(first: int, last: int) -> tuple[float, float]:
        """Minimisers of the loss of some neighbouring thresholds that are equal."""
        cells = used[:, columns[first:last]]
        knot, weight, label = (
            array[:, columns[first:last]][cells] for array in (knots, weights, labels)
        )
        return _minimisers(knot, weight, label < 0)

    if ordered:
        # Both ends are ordered and optimal; so is their mean.
        ends = np.transpose([_pooled(joint, columns.size, end) for end in (0, 1)])
    else:
        ends = np.array([joint(k, k + 1) for k in range(columns.size)])
    nearest = np.searchsorted(columns, np.arange(labels.shape[1]), side="right") - 1
    return np.asarray(ends.mean(axis=1)[np.maximum(nearest, 0)])


def _pooled(
    joint: Callable[[int, int], tuple[float, float]], size: int, end: int
) -> list[float]:
    """Minimisers in order, by pooling adjacent violators; `end` selects an end of the
    intervals of minimisers.
    """
    blocks: list[tuple[float, int, int]] = []
    for k in range(size):
        first = k
        value = joint(k, k + 1)[end]
        while blocks and blocks[-1][0] > value:
            first = blocks.pop()[1]
            value = joint(first, k + 1)[end]
        blocks.append((value, first, k + 1))
    return [value for value, first, last in blocks for _ in range(first, last)]


def balanced(
    labels: FloatArray,
    caps: FloatArray,
    u: FloatArray,
    *,
    by_column: bool = False,
    ordered: bool = False,
) -> FloatArray:
    """u (N, Q), inside its boxes, moved so that it sums to zero.

    The excess is subtracted from the variables strictly inside their boxes, in
    proportion to their room, so that variables at a bound stay there. If that is not
    enough, it is subtracted from all variables of one sign.

    Parameters
    ----------
    labels, caps, u : (N, Q)
    by_column : bool
        Every column sums to zero, as free thresholds require.
    ordered : bool
        With by_column: the total is zero and no partial sum of columns is above 0, as
        ordered free thresholds require.
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
    # Variables that move towards zero always have enough room: the totals of both signs
    # differ by the excess.
    short = room.sum(axis=axis) < np.abs(excess)
    room = np.where(short, np.maximum(np.sign(excess) * u, 0.0), room)
    total = np.asarray(room.sum(axis=axis))
    share = np.divide(excess, total, out=np.zeros_like(total), where=total > 0)
    return np.asarray(labels * np.clip(labels * (u - room * share), 0.0, caps))


def falling(totals: FloatArray) -> FloatArray:
    """Column sums between 0 and the given ones that add up to zero, with no partial sum
    above 0.
    """
    if totals.sum() >= 0.0:
        return np.diff(np.minimum(np.cumsum(totals), 0.0), prepend=0.0)
    return -np.diff(np.maximum(np.cumsum(totals[::-1])[::-1], 0.0), append=0.0)


def thresholds(problem: ExtendedDual, totals: FloatArray) -> FloatArray:
    """(Q,) penalised theta that minimises the Lagrangian, from column sums of u."""
    theta = -(problem.gamma**2) * totals
    return _in_order(theta) if problem.ordered else theta


def _in_order(theta: FloatArray) -> FloatArray:
    """(Q,) the non-decreasing sequence nearest to theta in least squares."""
    from scipy.optimize import isotonic_regression

    return isotonic_regression(theta).x


def hinge(
    problem: ExtendedDual, C: float, scores: FloatArray, theta: FloatArray
) -> float:
    """Sum of C_nk [1 - Y_nk (scores_n - theta_k)]_+."""
    slack = 1.0 - problem.labels * (scores[:, None] - theta)
    return C * float(np.vdot(problem.weights, np.maximum(slack, 0.0, out=slack)))


def certify(
    problem: ExtendedDual, C: float, u: FloatArray, theta: FloatArray | None = None
) -> DualSolution:
    """Turn any u (N, Q) into a feasible dual point and the best primal point available,
    and evaluate both.

    Parameters
    ----------
    problem : ExtendedDual
    C : float
    u : (N, Q)
        It is moved into its boxes and made feasible first, so that D is a bound.
    theta : (Q,), optional
        Thresholds of the solver. They replace those computed from u, because they are
        more accurate when the sums of u cancel. b is always the best one for theta, so
        that all solvers agree if b is not unique. Free thresholds are always the best
        ones for the scores.
    """
    labels = problem.labels
    caps = C * problem.live
    u = labels * np.clip(labels * u, 0.0, caps)
    u = balanced(labels, caps, u, by_column=problem.free, ordered=problem.ordered)
    beta = u.sum(axis=1)
    scores, w = problem.gram.scored(beta)
    norm = max(float(beta @ scores), 0.0)
    dual = float(np.abs(u).sum()) - 0.5 * norm
    offset = None
    if problem.free:
        theta = best_thresholds(
            labels, problem.weights, scores, ordered=problem.ordered
        )
    else:
        penalised = thresholds(problem, u.sum(axis=0))
        dual -= 0.5 * problem.ridge * float(penalised @ penalised)
        theta = penalised if theta is None else theta
    if (np.diff(theta) < 0).any():
        # Under convex costs ordered thresholds are never worse.
        theta = _in_order(theta) if problem.ordered else np.sort(theta)
    if not problem.free:
        offset = best_offset(labels, problem.weights, scores, theta)
    primal = 0.5 * (norm + problem.ridge * float(theta @ theta)) + hinge(
        problem, C, scores + (offset or 0.0), theta
    )
    return DualSolution(
        u=u,
        beta=beta,
        scores=scores,
        offset=offset,
        theta=theta,
        primal=primal,
        dual=dual,
        w=w,
    )


# A distance to a bound below this share of the margin's distance to 1 is rounding.
_CLEAR = 1e-2


def snapped(problem: ExtendedDual, C: float, point: DualSolution) -> DualSolution:
    """Move variables that differ from a bound only by rounding onto it, and evaluate
    the point again.

    At the optimum either the distance to the bound (as a share of the box) or the
    distance of the margin to 1 is 0. A variable is moved if the first is far below the
    second; the better the point, the larger this factor.
    """
    caps = C * problem.weights
    margins = problem.labels * (
        point.scores[:, None] + (point.offset or 0.0) - point.theta
    )
    slack = min(_CLEAR, float(np.sqrt(point.gap))) * (margins - 1.0)
    share = np.divide(np.abs(point.u), caps, out=np.zeros_like(caps), where=caps > 0)
    u = np.where(share < slack, 0.0, point.u)
    u = np.where(1.0 - share < -slack, problem.labels * caps, u)
    return certify(problem, C, u, point.theta)
