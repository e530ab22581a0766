"""Two solvers of the hinge's dual that need only NumPy and SciPy: coordinate ascent and
an interior-point method.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs

from .._typing import BoolArray, FloatArray, IntArray
from ..compiled.svm import row_sweep
from ..threads import one_blas_thread
from .dual import DualSolution, ExtendedDual, Outcome, certify, snapped
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
        pulls = solve(np.eye(right.size)[:, :n][:, held])
        missing = (clipped - start - first[:n])[held]
        change = first + pulls @ np.linalg.solve(pulls[:n][held], missing)
    return clipped, change[n:]


# Share of the way to the boundary that one step may take.
_TO_BOUNDARY = 0.995
_MAX_ITERATIONS = 100
# Largest start of alpha, for boxes with a larger middle.
_LARGE = 100.0
# Iterations before giving up that leave more than the share _PROGRESS of the gap.
_PROGRESS = 0.99
_PATIENCE = 8
# Above this gap, iterations without progress are not counted: the centring may improve
# while the gap does not.
_FAR_GAP = 0.1
# Matrices smaller than this are factored on one thread.
_ONE_THREAD_ROWS = 1500


@dataclass(frozen=True, eq=False, kw_only=True)
class _Point:
    """An interior point: alpha, room = C_nk - alpha, z, w (N, Q), b, theta (Q,), sigma
    and mu (Q-1 or 0,).

    Cells without weight always have alpha = room = 1 and z = w = 0.
    """

    alpha: FloatArray
    room: FloatArray
    z: FloatArray
    w: FloatArray
    b: float
    theta: FloatArray
    sigma: FloatArray
    mu: FloatArray

    def moved(self, d: _Point, step: float) -> _Point:
        """This point plus step times the direction d."""
        return _Point(
            **{
                name: value + step * getattr(d, name)
                for name, value in vars(self).items()
            }
        )


class _Newton:
    """The Newton system at one point: factored once, solved for several right-hand
    sides.

    The system in alpha is a diagonal plus the kernel. It reduces to one Cholesky
    factorisation of S = I + L G L (N, N), with L^2 = Lambda the row sums of the
    diagonal, and a system in (b, theta) of 1 + Q unknowns. Ordered thresholds add
    slacks sigma_j = theta_{j+1} - theta_j with multipliers mu_j to the small system
    only; free thresholds need no b.
    """

    def __init__(self, problem: ExtendedDual, point: _Point) -> None:
        self.problem = problem
        self.point = point
        self.used = problem.live > 0
        # Cells without weight get the label 0.
        self.Y = Y = problem.labels * self.used
        self.P = 1.0 / np.where(
            self.used, point.z / point.alpha + point.w / point.room, np.inf
        )
        total = self.P.sum(axis=1)
        self.share = np.divide(
            self.P, total[:, None], out=np.zeros_like(self.P), where=total[:, None] > 0
        )
        self.L = np.sqrt(total)
        self.solve = problem.gram.resolvent(self.L)
        # Unknowns of the small system: b (unless theta is free and replaces it), then
        # theta.
        self.n_b = 0 if problem.free else 1
        self.D = D = problem.steps
        self.H = self.L[:, None] * np.column_stack(
            [-np.ones((len(total), self.n_b)), self.share]
        )
        self.SH = self.solve(self.H)
        self.A = self.H.T @ self.SH
        T = self.A[self.n_b :, self.n_b :]
        # diag(sum_n P_nk) - P' Lambda^-1 P, computed as a Laplacian with row sums of
        # zero, so that no digits cancel.
        links = -self.P.T @ self.share
        np.fill_diagonal(links, 0.0)
        T += links - np.diag(links.sum(axis=1)) + np.eye(len(links)) * problem.ridge
        T += (D.T * (point.mu / point.sigma)) @ D
        # Thresholds without weights or penalty do not move.
        T += np.diag((np.diagonal(T) == 0.0).astype(np.float64))
        u = Y * point.alpha
        beta = u.sum(axis=1)
        # Recomputed at each point: a sum of steps would keep the rounding of the first,
        # largest steps.
        f = problem.gram @ beta
        self.r_d = Y * ((f + point.b)[:, None] - point.theta) - 1.0 - point.z + point.w
        self.r_theta = point.theta * problem.ridge + u.sum(axis=0) - D.T @ point.mu
        self.r_b = float(beta.sum())
        self.r_sigma = D @ point.theta - point.sigma

    def direction(self, centre: float, predictor: _Point | None) -> _Point:
        """The step towards complementarity products `centre`, with the second-order
        terms of a predictor.
        """
        x = self.point
        Y = self.Y
        t_z = centre / x.alpha - x.z
        t_w = centre / x.room - x.w
        t_mu = centre / x.sigma - x.mu
        if predictor is not None:
            t_z -= predictor.alpha * predictor.z / x.alpha
            t_w -= predictor.room * predictor.w / x.room
            t_mu -= predictor.sigma * predictor.mu / x.sigma
        # Target change of f + b - theta_k, and its mean over k with the weights P.
        goal = Y * (-self.r_d + t_z - t_w)
        mean = (self.share * goal).sum(axis=1)
        Sm = self.solve(self.L * mean)
        right = -self.H.T @ Sm
        right[: self.n_b] += self.r_b
        right[self.n_b :] += (self.P * (mean[:, None] - goal)).sum(
            axis=0
        ) - self.r_theta
        right[self.n_b :] += self.D.T @ (t_mu - x.mu / x.sigma * self.r_sigma)
        small = np.linalg.solve(self.A, right)
        db = float(small[: self.n_b].sum())
        dtheta = small[self.n_b :]
        dbeta = self.L * (Sm + self.SH @ small)
        df = self.problem.gram @ dbeta
        du = self.P * (goal - (df + db)[:, None] + dtheta)
        # Where alpha is free, P is huge and multiplies a rounding error: the row sums
        # are more accurate.
        du += self.share * (dbeta - du.sum(axis=1))[:, None]
        dalpha = Y * du
        dsigma = self.D @ dtheta + self.r_sigma
        return _Point(
            alpha=dalpha,
            room=-dalpha,
            z=np.where(self.used, t_z - x.z / x.alpha * dalpha, 0.0),
            w=np.where(self.used, t_w + x.w / x.room * dalpha, 0.0),
            b=db,
            theta=dtheta,
            sigma=dsigma,
            mu=t_mu - x.mu / x.sigma * dsigma,
        )

    def moved(self, d: _Point, share: float) -> _Point:
        """The point after a step along d: `share` of the way to the nearest bound, and
        at most d itself.
        """
        x = self.point
        step = 1.0
        for name in ("alpha", "room", "z", "w", "sigma", "mu"):
            value = getattr(x, name)
            change = getattr(d, name)
            falling = change < 0
            step = min(
                step,
                share
                * float(np.min(-value[falling] / change[falling], initial=np.inf)),
            )
        return x.moved(d, step)

    def complementarity(self, x: _Point) -> float:
        """Mean product of the slacks and their multipliers at x."""
        products = float(np.vdot(x.alpha, x.z) + np.vdot(x.room, x.w) + x.sigma @ x.mu)
        return products / (2 * int(self.used.sum()) + x.mu.size)

    def advanced(self) -> _Point:
        """The point after one step of Mehrotra's predictor and corrector."""
        predictor = self.direction(0.0, None)
        mean = self.complementarity(self.point)
        affine = self.complementarity(self.moved(predictor, 1.0))
        return self.moved(
            self.direction((affine / mean) ** 3 * mean, predictor), _TO_BOUNDARY
        )


class InteriorPoint:
    """Primal-dual interior-point method for one problem and any C; each solve starts
    afresh: warm starts do not help.

    Parameters
    ----------
    problem : ExtendedDual
    rng : numpy.random.Generator
        Not used; all solvers take the same arguments.
    """

    name = "interior-point"

    def __init__(self, problem: ExtendedDual, rng: np.random.Generator) -> None:
        self.problem = problem

    def solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        """Iterate until the relative duality gap is at most `tol`, or no further
        progress is made.
        """
        # For a small matrix or a narrow factor, several threads cost more than they
        # save.
        with (
            one_blas_thread()
            if self.problem.gram.rank_limit < _ONE_THREAD_ROWS
            else nullcontext()
        ):
            return self._solve(C, tol)

    def _solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        problem = self.problem
        x = _start(problem, C)
        best = certify(problem, C, problem.labels * x.alpha, x.theta)
        sparse: DualSolution | None = None
        path = [best.primal]
        stalled = 0
        while stalled < _PATIENCE and len(path) <= _MAX_ITERATIONS:
            solved = sparse is not None and sparse.gap <= tol
            if solved or best.primal == 0.0:
                break
            try:
                x = _Newton(problem, x).advanced()
            except np.linalg.LinAlgError:
                # Rounding has made S indefinite: further directions are unreliable.
                break
            point = certify(problem, C, problem.labels * x.alpha, x.theta)
            path.append(point.primal)
            stalled += 1
            if point.gap < _PROGRESS * best.gap or best.gap > _FAR_GAP:
                stalled = 0
            if point.gap < best.gap:
                best = point
                # An interior point has no zeros. The optimum has, and only nonzero
                # variables make support vectors.
                sparse = snapped(problem, C, point) if point.gap <= tol else None
        solution = best
        if sparse is not None and sparse.gap <= max(tol, best.gap):
            solution = sparse
        return Outcome(
            solution=solution,
            solver=self.name,
            iterations=len(path) - 1,
            path=np.array(path),
        )


def _start(problem: ExtendedDual, C: float) -> _Point:
    """The middle of the boxes (at most _LARGE), unit multipliers, and evenly spaced
    thresholds.
    """
    middle = 0.5 * C * problem.live
    used = (middle > 0).astype(np.float64)
    alpha = np.where(used > 0, np.minimum(middle, _LARGE), 1.0)
    if middle.shape[1] > 1:
        theta = np.linspace(-1.0, 1.0, middle.shape[1])
    else:
        theta = np.zeros(1)
    sigma = problem.steps @ theta
    return _Point(
        alpha=alpha,
        room=np.where(used > 0, 2.0 * middle - alpha, 1.0),
        z=used,
        w=used.copy(),
        b=0.0,
        theta=theta,
        sigma=sigma,
        mu=np.ones_like(sigma),
    )
