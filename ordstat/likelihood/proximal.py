"""Penalised likelihoods with nonsmooth penalties: lasso, ridge, group lasso, bounds.

Minimises -loglik(theta, b) / N + sum_g (l1_g ||b_g|| + l2_g ||b_g||^2 / 2) over free
parameters theta and penalised coefficients b, lower <= b <= upper, by proximal Newton
[Lee, Sun and Saunders 2014]. A step takes the working set A of coefficients: theta is
eliminated exactly, as in `newton.py`, which leaves

    d'Qd / 2 - r'd + penalty(b + d), with
    Q = (B - C'T^-1 C) / N and r = (g - C'T^-1 g_T) / N.

This is minimised by coordinate descent on Q [Friedman, Hastie and Tibshirani 2010] and,
once signs stay, by Newton's method on the coefficients that are not 0, which ends it
where columns are correlated. Q serves for further steps as long as each divides the
residual of the optimality conditions by five: only the gradient has to be exact. The
first step under a penalty is that of the last Q, without columns that have yet to join
it: a new one is taken nearer to the minimum.

Without l1 and bounds every coefficient is in A. Where a model has products with the
curvature, as sparse columns have, Q is then not formed: the step comes from conjugate
gradients [Dembo and Steihaug 1983].

Columns outside A are those that the strong rule discards [Tibshirani et al. 2012].
After each step the conditions of all columns are checked, and those that fail join A:
the certificate of a solution covers every column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np
from scipy.linalg.lapack import dpbtrs, dpotrf, dpotrs

from .._typing import BoolArray, FloatArray, IntArray
from ..compiled.descent import minimise
from ..newton import Blocks

#: Curvature below this share of the largest is a rounding error: equal columns have
#: none along their difference.
_FLAT = 1e-10
#: Most rounds of sweeps and solves for one step.
_ROUNDS = 200
#: Share of the residual of the conditions that a quadratic step may leave.
_INEXACT = 0.03
#: Q is taken anew where a step leaves more than this share of the residual.
_SLOW = 0.2
#: Share of the predicted decrease that a step has to bring [Armijo].
_ARMIJO = 1e-4
#: Share of the objective that is rounding.
_ROUNDING = 1e-13
_HALVINGS = 40
#: Most steps for each penalty.
_STEPS = 100
#: A weight l1 that no slope exceeds.
HELD = 1e300
#: Most steps of theta alone before the gap is computed, and slope that counts as 0.
_POLISHED = 30
_LEVEL = 1e-12
#: Most conjugate gradients for one step.
_GRADIENTS = 5_000
#: Groups that may join the working set at a time: so many, or this share of those in
#: use.
_FEW = 20
_MORE = 0.1


class Products(Protocol):
    """Products with the negative second derivatives [[T, C], [C', B]] of a
    log-likelihood by free parameters theta (t,) and all coefficients b (p,).
    """

    @property
    def diagonal(self) -> float:
        """Approximate size of the diagonal of S = B - C'T^-1 C."""

    def solved(self, theta: FloatArray) -> FloatArray:
        """(t,) T^-1 theta."""

    def to_theta(self, b: FloatArray) -> FloatArray:
        """(t,) C b."""

    def from_theta(self, theta: FloatArray) -> FloatArray:
        """(p,) C'theta."""

    def complement(self, b: FloatArray) -> FloatArray:
        """(p,) S b."""


class Model(Protocol):
    """A log-likelihood of free parameters theta (t,) and coefficients b (p,)."""

    @property
    def total(self) -> float:
        """N, the sum of the case weights."""

    def score(
        self, theta: FloatArray, b: FloatArray
    ) -> tuple[float, FloatArray, Blocks | None] | None:
        """The log-likelihood, its derivatives (t + p,), and `information` for all
        coefficients if that costs little more; None outside the domain.
        """

    def information(
        self, theta: FloatArray, b: FloatArray, active: IntArray
    ) -> Blocks | None:
        """Its negative second derivatives by theta and the coefficients `active`, all
        others being 0, positive definite in theta.
        """

    @property
    def has_products(self) -> bool:
        """Whether it has `products`."""

    def products(self, theta: FloatArray, b: FloatArray) -> Products | None:
        """Products with these derivatives by theta and all coefficients; None if they
        are not positive definite in theta.
        """


@dataclass(frozen=True, eq=False, kw_only=True)
class Shrinkage:
    """The penalty of p coefficients, which are sorted by group.

    Attributes
    ----------
    starts : (G + 1,)
        Where the groups begin, and p.
    l1, l2 : (G,)
        Weights of the length of each group, and of half its squared length. `HELD` as
        l1 keeps a group at 0.
    lower, upper : (p,)
        Bounds, lower <= 0 <= upper; only for groups of one coefficient.
    bounded : bool
        Whether some bounds are finite.
    """

    starts: IntArray
    l1: FloatArray
    l2: FloatArray
    lower: FloatArray
    upper: FloatArray
    bounded: bool

    @cached_property
    def sizes(self) -> IntArray:
        """(G,) numbers of coefficients."""
        return np.diff(self.starts)

    @cached_property
    def group(self) -> IntArray:
        """(p,) group of each coefficient."""
        return np.repeat(np.arange(self.l1.size), self.sizes)

    @cached_property
    def squares(self) -> bool:
        """Whether some squares of lengths have a weight."""
        return bool(self.l2.any())

    @property
    def smooth(self) -> bool:
        """Whether it is differentiable everywhere and has no bounds."""
        return not (self.bounded or self.l1.any())

    def lengths(self, b: FloatArray) -> FloatArray:
        """(G,) Euclidean lengths of the groups of b (p,)."""
        if self.single:
            return np.abs(b)
        return np.sqrt(np.add.reduceat(b**2, self.starts[:-1]))

    def value(self, b: FloatArray) -> float:
        """The penalty at b."""
        lengths = self.lengths(b)
        weights = self.l1 + 0.5 * self.l2 * lengths if self.squares else self.l1
        return float(weights @ lengths)

    def residual(self, slope: FloatArray, b: FloatArray) -> FloatArray:
        """(p,) violation of the optimality conditions, for each coefficient of b.

        `slope` (p,) is the gradient of loglik / N. For a nonzero group the violation is
        the slope minus the gradient of the penalty; for a zero group it is the excess
        of the slope over l1. Slopes that push against a bound do not count.
        """
        if self.single:
            pull = slope - self.l2 * b if self.squares else slope
            inside = np.minimum(np.maximum(pull, -self.l1), self.l1)
            left = pull - np.where(b == 0.0, inside, np.copysign(self.l1, b))
        else:
            left = self._residual_of_groups(slope, b)
        if not self.bounded:
            return left
        left = np.where(b >= self.upper, np.minimum(left, 0.0), left)
        return np.asarray(np.where(b <= self.lower, np.maximum(left, 0.0), left))

    def _residual_of_groups(self, slope: FloatArray, b: FloatArray) -> FloatArray:
        """(p,) `residual` without bounds."""
        group = self.group
        pull = slope - self.l2[group] * b
        lengths = self.lengths(b)
        zero = lengths == 0.0
        pulls = self.lengths(pull)
        with np.errstate(divide="ignore", invalid="ignore"):
            kept = np.where(zero, np.maximum(1.0 - self.l1 / pulls, 0.0), 0.0)
            held = np.where(zero, 0.0, self.l1 / lengths)
        kept[zero & (pulls == 0.0)] = 0.0
        left = np.where(zero[group], kept[group] * pull, pull - held[group] * b)
        return np.asarray(left)

    @property
    def single(self) -> bool:
        """Whether every coefficient is a group."""
        return self.l1.size == self.lower.size

    def members(self, groups: IntArray) -> IntArray:
        """(q,) coefficients of some groups, in increasing order as the groups are."""
        if self.single:
            return groups
        return np.flatnonzero(np.isin(self.group, groups))

    def conjugate(self, slope: FloatArray) -> tuple[float, float]:
        """The largest multiple t <= 1 of a slope (p,) at which the convex conjugate of
        the penalty is finite, and its value there.
        """
        if self.bounded:
            slope = np.where(self.lower == 0.0, np.maximum(slope, 0.0), slope)
            slope = np.where(self.upper == 0.0, np.minimum(slope, 0.0), slope)
        lengths = self.lengths(slope)
        lasso = (self.l2 == 0.0) & (lengths > self.l1)
        share = float((self.l1[lasso] / lengths[lasso]).min(initial=1.0))
        some = self.l2 > 0.0
        beyond = np.maximum(share * lengths - self.l1, 0.0)[some]
        return share, float(0.5 * (beyond**2 / self.l2[some]).sum())

    def of(self, groups: IntArray) -> Shrinkage:
        """The penalty of some groups."""
        if groups.size == self.l1.size:
            return self
        inside = self.members(groups)
        return Shrinkage(
            starts=np.append(0, np.cumsum(self.sizes[groups])).astype(np.intp),
            l1=self.l1[groups],
            l2=self.l2[groups],
            lower=self.lower[inside],
            upper=self.upper[inside],
            bounded=self.bounded,
        )

    def curvature(self, b: FloatArray) -> FloatArray:
        """(q, q) second derivatives of the penalty by the q coefficients that are not
        0: l2, and l1 (I - uu') / ||b_g|| of a group of direction u.
        """
        group = self.group
        used = np.flatnonzero(b)
        out = np.diag(self.l2[group[used]])
        if self.single:
            return out
        lengths = self.lengths(b)
        for g in np.flatnonzero((self.sizes > 1) & (lengths > 0.0)):
            own = np.flatnonzero(group[used] == g)
            u = b[used[own]] / lengths[g]
            bend = (np.eye(own.size) - np.outer(u, u)) / lengths[g]
            out[np.ix_(own, own)] += self.l1[g] * bend
        return out


@dataclass(frozen=True, eq=False, kw_only=True)
class PenalisedPoint:
    """A point and the log-likelihood there, both it and its derivatives divided by N.

    Attributes
    ----------
    theta : (t,)
    b : (p,)
    loglik : float
    by_theta : (t,)
    by_b : (p,)
    information : Blocks or None
        Negative second derivatives of the log-likelihood itself by theta and all
        coefficients, where they cost little.
    """

    theta: FloatArray
    b: FloatArray
    loglik: float
    by_theta: FloatArray
    by_b: FloatArray
    information: Blocks | None = None

    @classmethod
    def of(
        cls, model: Model, theta: FloatArray, b: FloatArray
    ) -> PenalisedPoint | None:
        """The point with its log-likelihood; None outside the domain."""
        found = model.score(theta, b)
        if found is None:
            return None
        loglik, score, information = found
        slope = score / model.total
        return cls(
            theta=theta,
            b=b,
            loglik=loglik / model.total,
            by_theta=slope[: theta.size],
            by_b=slope[theta.size :],
            information=information,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Quadratic:
    """-loglik / N near a point, in the coefficients of some groups; theta eliminated.

    Attributes
    ----------
    groups : (A,)
    active : (q,)
        Their coefficients.
    total : float
        N.
    band, V : factor of T, and T^-1 C (t, q)
    Q : (q, q)
    bound : (A,)
        Largest eigenvalue of the block of each group.
    factor, kept : (q, q) and (q + 1,)
        Stored by `minimise` from its last exact solve.
    """

    groups: IntArray
    active: IntArray
    total: float
    band: FloatArray
    V: FloatArray
    Q: FloatArray
    bound: FloatArray
    factor: FloatArray
    kept: IntArray

    @classmethod
    def at(
        cls, model: Model, point: PenalisedPoint, penalty: Shrinkage, groups: IntArray
    ) -> Quadratic | None:
        """The approximation at a point; None unless it has a maximum in theta."""
        active = penalty.members(groups)
        blocks = point.information
        if blocks is None:
            blocks = model.information(point.theta, point.b, active)
        elif active.size < point.b.size:
            blocks = blocks.among(active)
        parts = None if blocks is None else blocks.eliminated()
        if parts is None:
            return None
        band, V, Q = parts
        Q /= model.total
        bound = Q.diagonal().copy()
        if groups.size < active.size:
            starts = penalty.of(groups).starts
            bound = np.array(
                [np.linalg.eigvalsh(Q[a:z, a:z])[-1] for a, z in pairwise(starts)]
            )
        return cls(
            groups=groups,
            active=active,
            total=model.total,
            band=band,
            V=V,
            Q=Q,
            bound=bound,
            factor=np.empty(Q.shape),
            kept=np.zeros(len(Q) + 1, dtype=np.intp),
        )

    def theta_step(self, by_theta: FloatArray) -> FloatArray:
        """(t,) the step of theta alone, from its gradient."""
        return np.asarray(dpbtrs(self.band, self.total * by_theta, lower=1)[0])

    def step(
        self, point: PenalisedPoint, penalty: Shrinkage, tolerance: float
    ) -> tuple[FloatArray, FloatArray]:
        """The steps of theta (t,) and b (p,) to the minimum."""
        r = point.by_b[self.active] - self.V.T @ point.by_theta
        before = point.b[self.active]
        move = self._minimum(r, before, penalty.of(self.groups), tolerance) - before
        step = np.zeros(point.b.size)
        step[self.active] = move
        return self.theta_step(point.by_theta) - self.V @ move, step

    def _minimum(
        self, r: FloatArray, before: FloatArray, own: Shrinkage, tolerance: float
    ) -> FloatArray:
        """The minimum, to a residual of at most `tolerance`."""
        b = before.copy()
        minimise(
            *(self.Q, own.starts, self.bound, own.l1, own.l2, own.lower, own.upper),
            *(b, r, tolerance, _ROUNDS, self.factor, self.kept),
        )
        return b


@dataclass(frozen=True, eq=False, kw_only=True)
class SmoothQuadratic:
    """-loglik / N near a point, in all coefficients, for a penalty without corners.

    Attributes
    ----------
    groups : (G,)
        All groups.
    total : float
        N.
    products : Products
    """

    groups: IntArray
    total: float
    products: Products

    @classmethod
    def at(
        cls, model: Model, point: PenalisedPoint, penalty: Shrinkage
    ) -> SmoothQuadratic | None:
        """The approximation at a point; None unless it has a maximum in theta."""
        products = model.products(point.theta, point.b)
        if products is None:
            return None
        groups = np.arange(penalty.l2.size)
        return cls(groups=groups, total=model.total, products=products)

    def theta_step(self, by_theta: FloatArray) -> FloatArray:
        """(t,) the step of theta alone, from its gradient."""
        return self.products.solved(self.total * by_theta)

    def step(
        self, point: PenalisedPoint, penalty: Shrinkage, tolerance: float
    ) -> tuple[FloatArray, FloatArray]:
        """The steps of theta (t,) and b (p,) to the minimum."""
        of_theta = self.theta_step(point.by_theta)
        l2 = penalty.l2[penalty.group]
        slope = point.by_b - l2 * point.b
        slope = slope - self.products.from_theta(of_theta) / self.total
        move = self._minimum(slope, l2, tolerance)
        of_theta = of_theta - self.products.solved(self.products.to_theta(move))
        return of_theta, move

    def _minimum(
        self, slope: FloatArray, l2: FloatArray, tolerance: float
    ) -> FloatArray:
        """The move d (p,) with (S / N + l2) d = slope, to `tolerance` in every entry,
        by conjugate gradients; along a direction without curvature they end.
        """
        scale = 1.0 / (self.products.diagonal / self.total + l2)
        move = np.zeros(slope.size)
        left = slope.copy()
        towards = scale * left
        size = float(left @ towards)
        for _ in range(_GRADIENTS):
            if np.abs(left).max(initial=0.0) <= tolerance:
                break
            image = self.products.complement(towards) / self.total + l2 * towards
            bend = float(towards @ image)
            if not bend > 0.0:
                return move if move.any() else towards
            move += size / bend * towards
            left -= size / bend * image
            scaled = scale * left
            before = size
            size = float(left @ scaled)
            towards = scaled + size / before * towards
        return move


@dataclass(frozen=True, eq=False, kw_only=True)
class PathPoint:
    """A minimum under one penalty.

    Attributes
    ----------
    point : PenalisedPoint
    penalty : Shrinkage
    residual : float
        Largest violation of the optimality conditions, over all coefficients and theta.
    steps : int
    quadratic : Quadratic, SmoothQuadratic or None
        The last approximation that was used.
    """

    point: PenalisedPoint
    penalty: Shrinkage
    residual: float
    steps: int
    quadratic: Quadratic | SmoothQuadratic | None

    def effective_parameters(self, model: Model) -> float:
        """Degrees of freedom of the coefficients: tr (Q (Q + R)^-1) over those that are
        not 0, R the second derivatives of the penalty [Vaiter et al. 2017]; of the
        lasso their number. NaN where Q is not formed.
        """
        if isinstance(self.quadratic, SmoothQuadratic):
            return float("nan")
        count = np.count_nonzero(self.point.b)
        if not count or (self.penalty.single and not self.penalty.squares):
            return float(count)
        used = np.flatnonzero(self.point.b)
        bend = self.penalty.curvature(self.point.b)
        groups = np.unique(self.penalty.group[used])
        fresh = Quadratic.at(model, self.point, self.penalty, groups)
        if fresh is None:
            return float("nan")
        inside = np.isin(fresh.active, used)
        Q = fresh.Q[np.ix_(inside, inside)]
        factor, failed = dpotrf(Q + bend, lower=1)
        if not failed and factor.diagonal().min() ** 2 > _FLAT * Q.diagonal().max():
            return float(np.trace(dpotrs(factor, Q, lower=1)[0]))
        inverse = np.linalg.pinv(Q + bend, _FLAT, hermitian=True)
        return float(np.trace(inverse @ Q))


def duality_gap(model: Model, point: PenalisedPoint, penalty: Shrinkage) -> float:
    """Bound on how far the objective is above its minimum, as a share of it, for a
    concave log-likelihood l <= 0 that depends on linear functions of theta and b alone;
    NaN where no feasible point of the dual problem is found.

    With u the gradient of -l by these functions z at the minimum over theta, the
    conjugate of -l is z'u + l at u, and at most 0 at 0, so at most t (z'u + l) at t u.
    Minus this, and minus the conjugate of the penalty at the slopes of b, is a lower
    bound of the minimum [Fenchel's duality; Boyd and Vandenberghe 2004, ch. 5]. The
    slopes of theta are 0, as they must be.
    """
    at = point
    nothing = np.zeros(0, dtype=np.intp)
    for _ in range(_POLISHED):
        if np.abs(at.by_theta).max() <= _LEVEL:
            break
        quadratic = Quadratic.at(model, at, penalty, nothing)
        if quadratic is None:
            return float("nan")
        theta = at.theta + quadratic.theta_step(at.by_theta)
        moved = PenalisedPoint.of(model, theta, at.b)
        if moved is None:
            return float("nan")
        at = moved
    share, conjugate = penalty.conjugate(at.by_b)
    if np.abs(at.by_theta).max() > _LEVEL or share == 0.0:
        return float("nan")
    objective = penalty.value(at.b) - point.loglik
    bound = -share * (at.loglik - float(at.b @ at.by_b)) - conjugate
    return max(objective - bound, 0.0) / objective


def solve(
    model: Model,
    point: PenalisedPoint,
    penalty: Shrinkage,
    tolerance: float,
    likely: BoolArray,
    quadratic: Quadratic | SmoothQuadratic | None = None,
) -> PathPoint:
    """Minimise from a point.

    Parameters
    ----------
    model : Model
    point : PenalisedPoint
    penalty : Shrinkage
    tolerance : float
        Bound on the residual.
    likely : (G,) bool
        Groups that may not be 0 at the minimum, beside those that are not 0.
    quadratic : Quadratic, optional
        An approximation near the point.
    """
    before = np.inf
    steps = 0
    here = penalty.value(point.b)
    if isinstance(quadratic, Quadratic) and penalty.squares:
        quadratic.kept[0] = 0  # its factor is that of another ridge
    while True:
        left = penalty.residual(point.by_b, point.b)
        residual = float(np.abs(np.concatenate([left, point.by_theta])).max())
        if residual <= tolerance or steps == _STEPS:
            break
        stale = quadratic is None or point.information is not None
        stale = stale or residual > _SLOW * before
        if quadratic is not None and steps > 0 and not stale:
            outside = np.delete(penalty.lengths(left), quadratic.groups)
            stale = bool((outside > tolerance).any())
        if stale:
            quadratic = _quadratic(model, point, penalty, likely, left, tolerance)
        if quadratic is None:
            break
        accuracy = 0.1 * tolerance
        if point.information is None:
            accuracy = max(_INEXACT * residual, accuracy)
        step = quadratic.step(point, penalty, accuracy)
        moved = _downhill(model, point, penalty, here, step)
        steps += 1
        if moved is not None:
            before = residual
            point, here = moved
        elif stale:
            break
        else:
            before = 0.0
    return PathPoint(
        point=point,
        penalty=penalty,
        residual=residual,
        steps=steps,
        quadratic=quadratic,
    )


def _quadratic(
    model: Model,
    point: PenalisedPoint,
    penalty: Shrinkage,
    likely: BoolArray,
    left: FloatArray,
    tolerance: float,
) -> Quadratic | SmoothQuadratic | None:
    """At a point, in all groups if that costs little, else in the working set."""
    if model.has_products and penalty.smooth:
        return SmoothQuadratic.at(model, point, penalty)
    if point.information is not None:
        return Quadratic.at(model, point, penalty, np.arange(likely.size))
    wanted = likely | (penalty.lengths(left) > tolerance)
    groups = _working_set(penalty, point, wanted)
    return Quadratic.at(model, point, penalty, groups)


def _working_set(
    penalty: Shrinkage, point: PenalisedPoint, wanted: BoolArray
) -> IntArray:
    """Groups that are not 0, and of the others that are wanted, as they fail the
    conditions or are likely to, those with the steepest slopes.
    """
    used = (penalty.lengths(point.b) > 0.0) | (penalty.l1 == 0.0)
    others = np.flatnonzero(wanted & ~used)
    most = max(_FEW, int(_MORE * used.sum()))
    if others.size > most:
        with np.errstate(divide="ignore"):
            steepness = (penalty.lengths(point.by_b) / penalty.l1)[others]
        others = others[np.argsort(-steepness, kind="stable")[:most]]
    return np.sort(np.concatenate([np.flatnonzero(used), others]))


def _downhill(
    model: Model,
    point: PenalisedPoint,
    penalty: Shrinkage,
    here: float,
    step: tuple[FloatArray, FloatArray],
) -> tuple[PenalisedPoint, float] | None:
    """The first of the point plus the step, half of it, ... that lowers the objective
    by enough, and the penalty there, which is `here` at the point; None if none does.
    """
    of_theta, of_b = step
    b = point.b + of_b
    there = penalty.value(b)
    change = there - here
    change -= float(point.by_theta @ of_theta + point.by_b @ of_b)
    rounding = _ROUNDING * (abs(point.loglik) + here)
    share = 1.0
    for _ in range(_HALVINGS):
        moved = PenalisedPoint.of(model, point.theta + share * of_theta, b)
        if moved is not None:
            rise = point.loglik - moved.loglik + there - here
            if rise <= _ARMIJO * share * change + rounding:
                return moved, there
        share *= 0.5
        b = point.b + share * of_b
        there = penalty.value(b)
    return None


def follow(
    model: Model,
    point: PenalisedPoint,
    penalties: Iterable[tuple[Shrinkage, float]],
) -> Iterator[PathPoint]:
    """The solutions under penalties that become weaker, each from the one before.

    Parameters
    ----------
    model : Model
    point : PenalisedPoint
    penalties : iterable of (Shrinkage, tolerance of the residual)
    """
    strongest: FloatArray | None = None
    quadratic: Quadratic | SmoothQuadratic | None = None
    for penalty, tolerance in penalties:
        slopes = penalty.lengths(point.by_b)
        likely = np.zeros(slopes.size, dtype=bool)
        if strongest is not None:
            likely = slopes >= 2.0 * penalty.l1 - strongest
        solution = solve(model, point, penalty, tolerance, likely, quadratic)
        point = solution.point
        quadratic = solution.quadratic
        strongest = penalty.l1
        yield solution
