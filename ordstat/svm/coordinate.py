"""Coordinate ascent of the hinge's dual, row by row, which a linear system over the
free variables ends.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs

from .._typing import BoolArray, FloatArray, IntArray
from ..compiled.svm import row_sweep
from ..threads import one_blas_thread
from .dual import DualSolution, ExtendedDual, Outcome, certify
from .gram import DenseGram

# The multiplier b and the centre theta_0 are updated at least once in this number of
# epochs.
_EPOCHS_A_STEP = 5
# tau is _TAU times the mean of G's diagonal, or _REACH times it over the mean sum of a
# threshold's boxes if that is larger: if C is small, b and theta would otherwise need
# many steps.
_TAU = 0.1
_REACH = 10.0
# A step tightens the inner tolerance by this factor.
_TIGHTEN = 0.7
# Epochs before the first certificate.
_FIRST_CHECK = 4
# Rows with a violation below this share of the inner tolerance wait for a later epoch.
_SKIP = 0.1
# Epochs of any problem, updates of single scores that a small problem may spend beyond
# them, and the least that an epoch counts as.
_EPOCHS = 10_000
_MOST_UPDATES = 10**9
_LEAST_UPDATES = 20_000
# An ascent with a limit on its epochs gives up after the share _PATIENT of them if its
# pace would need _HOPELESS times the remaining epochs to reach the gap max(tol, _END).
# Below _END the linear system usually ends the solve.
_PATIENT = 0.15
_HOPELESS = 2.0
_END = 1e-3
# Scores are recomputed after this number of epochs, to remove the accumulated rounding
# of the updates.
_DRIFT = 100
# From epoch _SETTLED, only rows that may change are visited, if they are at most the
# share _FEW of all rows: rows with a variable inside its box, or within _NEAR_VIOLATION
# times the last violation of leaving its bound.
_SETTLED = 30
_FEW = 0.8
_NEAR_VIOLATION = 0.5
# The linear system is tried below the gap _FINISH with at most _MOST_FREE free
# variables, whose number changed by at most the share _STEADY since the last
# certificate. After a try, the gap must fall to the share _AGAIN of its value.
_FINISH = 0.3
_MOST_FREE = 4000
_STEADY = 0.05
_AGAIN = 0.4
# Cost of updating a score, in multiplications of a factorisation; cost of a try besides
# the factorisation, in epochs.
_UPDATE = 2.0
_AROUND = 20.0
# Most solves with one factorisation, and the largest share of the free variables that
# may leave their boxes at once.
_ROUNDS = 6
_UNSETTLED = 0.1
# Added to the diagonal, as a share of the mean of G's diagonal: repeated rows would
# make the system singular.
_LIFT = 1e-10


class CoordinateAscent:
    """Block coordinate ascent for one problem and growing C; each solve starts where
    the last one ended.

    Each step updates one row exactly; later epochs visit only rows that may change.
    When few variables enter or leave the interior of their boxes, the linear system of
    the optimality conditions ends the solve (`free_optimum`).

    Parameters
    ----------
    problem : ExtendedDual
    rng : numpy.random.Generator
        Order of the rows in each epoch.
    max_epochs : int, optional
        Limit on the epochs of one solve, which gives up earlier if the limit is too low
        to converge. By default as many epochs as take seconds, and at least 10 000.
    """

    name = "coordinate"

    def __init__(
        self,
        problem: ExtendedDual,
        rng: np.random.Generator,
        max_epochs: int | None = None,
    ) -> None:
        self.problem = problem
        self.rng = rng
        self.gives_up = max_epochs is not None
        n_rows, n_thresholds = problem.labels.shape
        if max_epochs is None:
            max_epochs = _EPOCHS + _MOST_UPDATES // max(n_rows**2, _LEAST_UPDATES)
        self.max_epochs = max_epochs
        self.scale = float(problem.gram.diagonal.mean()) or 1.0
        self.u = np.zeros_like(problem.labels)
        # Multiplier of sum(beta) = 0, centre theta_0 of a proximal term, multipliers of
        # the order of the thresholds.
        self.b = 0.0
        self.centre = np.zeros(n_thresholds)
        self.mu = np.zeros(n_thresholds - 1 if problem.ordered else 0)

    def solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        """Ascend until the relative duality gap is at most `tol`, or for `max_epochs`
        epochs.

        Parameters
        ----------
        C : float
            At least the C of the previous call; otherwise the start is clipped to the
            smaller boxes.
        tol : float
        """
        with one_blas_thread():
            return self._solve(C, tol)

    def _solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        problem = self.problem
        caps = C * problem.live
        self.u = problem.labels * np.clip(problem.labels * self.u, 0.0, caps)
        sweeps = _Sweeps(self, caps)
        seen = _Certificates(caps, _UPDATE * len(caps) * problem.gram.rank_limit)
        check = _FIRST_CHECK
        while True:
            sweeps.run(min(check, self.max_epochs))
            epoch = sweeps.epoch
            point = certify(problem, C, self.u, sweeps.theta.copy())
            seen.add(point, epoch)
            # A certificate costs about as much as several epochs: 4, 7, 12, 19, 30, ...
            check = int(1.5 * epoch) + 1
            tried = seen.may_finish(tol)
            if tried:
                better = seen.better(free_optimum(problem, C, point))
                if better is not None:
                    self.u = better.u.copy()
                    self.b = better.offset or 0.0
                    self.centre = better.theta
                if seen.jumped:
                    # two epochs free variables that it wrongly fixed
                    check = epoch + 2
            if seen.best.gap <= tol or epoch >= self.max_epochs:
                break
            if self.gives_up and seen.hopeless(tol, epoch, self.max_epochs):
                break
            settled = epoch >= _SETTLED and not seen.jumped
            if tried or settled or sweeps.drifted:
                sweeps.restart(
                    _NEAR_VIOLATION * sweeps.violation if settled else np.inf
                )
        return Outcome(
            solution=seen.best,
            solver=self.name,
            iterations=sweeps.epoch,
            path=np.array(seen.path),
        )


class _Sweeps:
    """Epochs of one solve, over the rows that may change; they move u, b, the centre
    and mu of the ascent.

    Attributes
    ----------
    epoch : int
        Number of epochs so far.
    theta : (Q,)
        Changed in place.
    violation : float
        Largest violation of the optimality conditions that the last epoch met.
    """

    def __init__(self, ascent: CoordinateAscent, caps: FloatArray) -> None:
        problem = ascent.problem
        boxes = float(caps.sum()) / caps.shape[1]
        reach = _REACH / boxes if boxes > 0.0 else 0.0
        self.ascent = ascent
        self.all_caps = caps
        self.tau = ascent.scale * max(_TAU, reach)
        self.omega = 1.0 / (problem.ridge + 1.0 / self.tau)
        # free thresholds need no b
        self.penalty = 0.0 if problem.free else self.tau
        self.epoch = 0
        self.inner = 1.0
        self.violation = np.inf
        self.restart(np.inf)

    def restart(self, near: float) -> None:
        """Recompute the scores without accumulated rounding, and choose the rows to
        visit: all, or those within `near` of a change.
        """
        ascent = self.ascent
        problem = ascent.problem
        beta = ascent.u.sum(axis=1)
        sums = ascent.u.sum(axis=0)
        if problem.ordered:
            sums += np.diff(ascent.mu, prepend=0.0, append=0.0)
        self.theta = self.omega * (ascent.centre / self.tau - sums)
        # f, or w of a linear kernel
        state = problem.gram.state(beta)
        b = ascent.b + self.penalty * float(beta.sum())
        self.rows = self._visited(state, b, near)
        self.gram = problem.gram
        if not isinstance(self.rows, slice):
            self.gram = problem.gram.part(self.rows)
        self.labels = problem.labels[self.rows]
        self.caps = self.all_caps[self.rows]
        self.u = ascent.u[self.rows]
        self.beta = beta[self.rows]
        self.state = state[self.rows]
        self.beta_elsewhere = float(beta.sum() - self.beta.sum())
        self.order = self._shuffled()
        self.restarted = self.epoch

    def run(self, last: int) -> None:
        """Sweep until the epoch `last`, at least once, and hand u to the ascent."""
        self._sweep()
        while self.epoch < last:
            self._sweep()
        self.ascent.u[self.rows] = self.u

    @property
    def drifted(self) -> bool:
        """Whether the updates of the scores have accumulated rounding."""
        return self.epoch - self.restarted > _DRIFT

    def _sweep(self) -> None:
        ascent = self.ascent
        self.epoch += 1
        self.violation, kept = row_sweep(
            self.gram.array,
            self.gram.factored,
            self.gram.diagonal,
            self.labels,
            self.caps,
            self.u,
            self.beta,
            self.state,
            self.theta,
            ascent.mu,
            self.order,
            self.omega,
            ascent.b + self.penalty * self.beta_elsewhere,
            self.penalty,
            _SKIP * self.inner,
            2.0 * self.violation,
        )
        due = self.epoch % _EPOCHS_A_STEP == 0
        if self.violation < self.inner or kept == 0 or due:
            ascent.b += self.penalty * (self.beta_elsewhere + float(self.beta.sum()))
            centre = ascent.centre
            ascent.centre = self.theta
            self.theta = self.theta + self.omega / self.tau * (self.theta - centre)
            self.inner *= _TIGHTEN
            self.order = self._shuffled()
        else:
            self.order = ascent.rng.permutation(self.order[:kept])

    def _visited(self, state: FloatArray, b: float, near: float) -> IntArray | slice:
        """Rows with a variable inside its box, or within `near` of leaving its bound;
        all rows if those are many.
        """
        problem = self.ascent.problem
        if near < np.inf and isinstance(problem.gram, DenseGram):
            u = self.ascent.u
            slack = problem.labels * ((state + b)[:, None] - self.theta) - 1.0
            at_zero = (u == 0.0) & (slack > near)
            at_cap = (np.abs(u) == self.all_caps) & (slack < -near)
            rows = np.flatnonzero(~(at_zero | at_cap).all(axis=1))
            if 0 < rows.size <= _FEW * len(u):
                return rows
        return slice(None)

    def _shuffled(self) -> IntArray:
        return self.ascent.rng.permutation(len(self.labels)).astype(np.intp)


class _Certificates:
    """The certified points of one solve, and when to try the linear system or give up.

    Attributes
    ----------
    best : DualSolution
        The point with the smallest gap.
    path : list of float
        Primal values of the points after epochs.
    jumped : bool
        Whether the linear system has just halved the gap.
    """

    best: DualSolution

    def __init__(self, caps: FloatArray, epoch_cost: float) -> None:
        self.caps = caps
        self.epoch_cost = epoch_cost
        self.path: list[float] = []
        self._gap = np.inf
        self._epoch = 0
        self._pace = 0.0
        self._n_free = 0
        self._steady = False
        # The linear system is tried below this gap; None after it has halved the gap.
        self._try_below: float | None = _FINISH

    @property
    def jumped(self) -> bool:
        return self._try_below is None

    def add(self, point: DualSolution, epoch: int) -> None:
        """Record the point after an epoch, and the fall of log(gap) an epoch."""
        self._pace = 0.0
        if 0.0 < point.gap < self._gap:
            self._pace = float(np.log(self._gap / point.gap)) / (epoch - self._epoch)
        free = (point.u != 0.0) & (np.abs(point.u) < self.caps)
        n_free = int(np.count_nonzero(free))
        self._steady = abs(n_free - self._n_free) <= _STEADY * self._n_free
        self._n_free = n_free
        self._gap = point.gap
        self._epoch = epoch
        if not self.path or point.gap < self.best.gap:
            self.best = point
        self.path.append(point.primal)

    def may_finish(self, tol: float) -> bool:
        """Whether to try the linear system: the gap is small, few variables are free,
        and epochs would take longer.
        """
        if not tol < self._gap or not 0 < self._n_free <= _MOST_FREE:
            return False
        if self._try_below is None:
            return True
        if self._gap >= self._try_below or not self._steady:
            return False
        cost = self._n_free**3 / 3.0 + _AROUND * self.epoch_cost
        return bool(np.log(self._gap / tol) * self.epoch_cost > self._pace * cost)

    def better(self, candidate: DualSolution | None) -> DualSolution | None:
        """Record a try of the linear system; its point if that is better."""
        before = self._gap
        self._try_below = _AGAIN * before
        if candidate is None or candidate.gap >= before:
            return None
        if candidate.gap < 0.5 * before:
            self._try_below = None
        self._gap = candidate.gap
        if candidate.gap < self.best.gap:
            self.best = candidate
        return candidate

    def hopeless(self, tol: float, epoch: int, max_epochs: int) -> bool:
        """Whether the remaining epochs are too few at the present pace."""
        if self.jumped or epoch < _PATIENT * max_epochs:
            return False
        left = np.log(max(self._gap / max(tol, _END), 1.0))
        return bool(left > _HOPELESS * (max_epochs - epoch) * self._pace)


def free_optimum(
    problem: ExtendedDual, C: float, point: DualSolution
) -> DualSolution | None:
    """The optimum over the free variables of a point: those strictly inside their
    boxes.

    Solves f_n + b - theta_k = Y_nk for every free u_nk with sum_n u_nk + theta_k /
    gamma^2 = 0 and sum u = 0. Ordered thresholds that are equal count as one. Variables
    that would leave their boxes are fixed at the bound, and the system is solved again.
    Returns None if too many would leave at once, or if the system is singular.
    """
    caps = C * problem.live
    free = (point.u != 0.0) & (np.abs(point.u) < caps)
    rows, columns = np.nonzero(free)
    n = rows.size
    groups = _equal_thresholds(problem, point.theta)
    # Unknowns in addition to the change of u: the change of each group of thresholds,
    # and of b unless theta is free.
    B = -groups[columns].astype(np.float64)
    weight = problem.ridge * groups.sum(axis=0)
    excess = groups.T @ (point.u.sum(axis=0) + problem.ridge * point.theta)
    if not problem.free:
        B = np.column_stack([B, np.ones(n)])
        weight = np.append(weight, 0.0)
        excess = np.append(excess, -point.u.sum())
    unused = ~B.any(axis=0) & (weight == 0.0)
    excess[unused] = 0.0
    weight[unused] = 1.0
    system = np.block([[problem.gram.block(rows), B], [B.T, -np.diag(weight)]])
    system[np.diag_indices(n)] += _LIFT * float(problem.gram.diagonal.mean())
    factor, pivots, failed = dgetrf(system.T, overwrite_a=1)
    if failed:
        return None
    label = problem.labels[free]
    goal = label - point.scores[rows] - (point.offset or 0.0) + point.theta[columns]

    def solve(right: FloatArray) -> FloatArray:
        return np.asarray(dgetrs(factor, pivots, right)[0])

    found = _inside_boxes(
        solve, np.append(goal, excess), point.u[free], label, caps[free]
    )
    if found is None:
        return None
    u = point.u.copy()
    u[free], change = found
    return certify(problem, C, u, point.theta + groups @ change[: groups.shape[1]])


def _equal_thresholds(problem: ExtendedDual, theta: FloatArray) -> BoolArray:
    """(Q, G) the group of each threshold: ordered ones that are equal move together."""
    apart = np.ones(theta.size - 1, dtype=np.bool_)
    if problem.ordered:
        apart = np.diff(theta) > 0
    group = np.append(0, np.cumsum(apart))
    return np.asarray(group[:, None] == np.arange(np.count_nonzero(apart) + 1))


def _inside_boxes(
    solve: Callable[[FloatArray], FloatArray],
    right: FloatArray,
    start: FloatArray,
    label: FloatArray,
    cap: FloatArray,
) -> tuple[FloatArray, FloatArray] | None:
    """Free variables (n,) that solve the system as far as their boxes allow, and the
    changes of the other unknowns; None if too many leave their boxes.

    A variable that leaves its box is held at the bound: its equation is replaced by
    means of the columns of the inverse.
    """
    n = start.size
    change = first = solve(right)
    held = np.zeros(n, dtype=np.bool_)
    clipped = start
    for _ in range(_ROUNDS):
        wanted = np.where(held, clipped, start + change[:n])
        clipped = label * np.clip(label * wanted, 0.0, cap)
        leaving = wanted != clipped
        if np.count_nonzero(leaving) > _UNSETTLED * n:
            return None
        if not leaving.any():
            break
        held |= leaving
        columns = np.zeros((right.size, np.count_nonzero(held)))
        columns[np.flatnonzero(held), np.arange(columns.shape[1])] = 1.0
        pulls = solve(columns)
        missing = (clipped - start - first[:n])[held]
        change = first + pulls @ np.linalg.solve(pulls[:n][held], missing)
    return clipped, change[n:]
