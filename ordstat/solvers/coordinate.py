"""Row-exact block coordinate ascent: the main route to the thresholded SVMs.

One step solves the Q dual variables of a row exactly against the N x N kernel. The equality sum(beta) = 0 is kept
by a method of multipliers: maximise D - b0 S - (tau/2) S^2 with S = sum(beta), and move b0 by tau S. Where theta
must be ordered, a sweep over the multipliers mu of theta_k <= theta_{k+1} follows each row.

Once few rows can still move they are worked on alone, until the next certificate, with a copy of their kernel matrix
that fits a cache. Once the free variables are about the right ones, a linear system of them finishes.

theta takes proximal steps: with the penalty |theta - theta_0|^2 / (2 tau) beside its own, if it has one, an epoch keeps

    theta = omega (theta_0 / tau - s + A' mu),  omega = 1 / (1/gamma^2 + 1/tau)  (A the first differences),

omega in the place of gamma^2, and then theta_0 moves to theta. A small tau leaves the rows nearly independent of each
other, which more than halves the epochs; but b and theta have to get to their places by steps of tau times the sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray, IntArray
from .active_set import free_variables, polished
from .extended_dual import DualSolution, ExtendedDual, Outcome, certify
from .feasible import boxed
from .forms import Gram
from .threads import one_blas_thread

# The multiplier b0 and the centre theta_0 move at the latest after so many epochs.
_EPOCHS_A_STEP = 5
# tau as a share of the mean of G's diagonal, and at least that many times it over the sum of a threshold's boxes: where
# C is small, b and theta would otherwise need many steps.
_TAU, _REACH = 0.1, 10.0
# Rows with a violation below this share of the inner tolerance wait for a later epoch.
_SKIP = 0.1
# Updates of single scores that a small problem may spend beyond 10 000 epochs.
_STEPS = 10**9
# An ascent that may give up does so after this share of its epochs, where the pace asks for so many times the rest.
_PATIENT, _HOPELESS = 0.15, 2.0
# What an update of a score costs, in multiplications of a factorisation; the factorisations of an attempt to finish by
# the free variables, and what goes with them, in epochs.
_UPDATE, _ROUNDS, _AROUND = 2.0, 1.5, 20.0
# Relative gap of the first attempt, at most, and the share by which the number of free variables may then change from
# one certificate to the next: they are mostly the right ones. The share of the gap of a failed attempt at which the
# next one is made.
_POLISH, _STEADY, _AGAIN = 0.3, 0.05, 0.4
# An attempt whose gain in the dual value is this share of the gap, or which leaves at most that share of the gap, is
# followed by another, so many epochs later: those free what it wrongly put onto a bound.
_GAIN, _LEFT, _RELEASE = 0.05, 0.5, 2
_END = 1e-3
# Epochs after which the drift of the updates is taken out of the scores.
_DRIFT = 100
# From this epoch on rows are worked on alone, where no more than this share of all is inside its boxes or nearer to
# leaving a bound than so many times the last violation.
_SETTLED, _FEW, _NEAR = 30, 0.8, 0.5


def _next_check(epoch: int) -> int:
    """A certificate costs about as much as several epochs: 4, 7, 12, 19, 30, ..."""
    return int(1.5 * epoch) + 1


class _Pace:
    """How fast the gap falls, from one certificate to the next."""

    def __init__(self) -> None:
        self.epoch, self.gap, self.falls = 0, np.inf, np.inf

    def note(self, epoch: int, gap: float) -> None:
        """Take down the gap after an epoch."""
        fell = 0.0 < gap < self.gap
        self.falls = float(np.log(self.gap / gap)) / (epoch - self.epoch) if fell else 0.0
        self.epoch, self.gap = epoch, gap

    def epochs_to(self, target: float) -> float:
        """Epochs to a gap from here, at the pace since the note before; infinite where the gap did not fall."""
        if self.gap <= target:
            return 0.0
        return float(np.log(self.gap / target)) / self.falls if self.falls > 0.0 else np.inf


@dataclass(frozen=True, eq=False, kw_only=True)
class _Work:
    """The rows that epochs go over: all of them, or copies of some.

    Attributes
    ----------
    gram : Gram, (M, M)
    labels, caps, u : (M, Q)
    beta : (M,)
    f : (M,), or w of a linear kernel
    rest : float
        Sum of beta over the other rows.
    rows : (M,), None for all
    """

    gram: Gram
    labels: FloatArray
    caps: FloatArray
    u: FloatArray
    beta: FloatArray
    f: FloatArray
    rest: float = 0.0
    rows: IntArray | None = None

    @property
    def total(self) -> float:
        """Sum of beta over all rows."""
        return self.rest + float(self.beta.sum())

    def part(self, rows: IntArray) -> _Work:
        """Some of all rows, not of a linear kernel."""
        return _Work(
            gram=self.gram.part(rows),
            labels=self.labels[rows],
            caps=self.caps[rows],
            u=self.u[rows],
            beta=self.beta[rows],
            f=self.f[rows],
            rest=float(self.beta.sum() - self.beta[rows].sum()),
            rows=rows,
        )

    def put_back(self, u: FloatArray) -> None:
        """Put what epochs made of the rows into u (N, Q) of all."""
        if self.rows is not None:
            u[self.rows] = self.u


class CoordinateAscent:
    """Solves one problem for growing values of C, each from where the last one ended.

    Parameters
    ----------
    problem : ExtendedDual
    rng : numpy.random.Generator
        Order of the rows in each epoch.
    max_epochs : int, optional
        Of one solve, or fewer where they will not be enough; as many as take seconds if not given, and at least 10 000.
    """

    name = "coordinate"

    def __init__(self, problem: ExtendedDual, rng: np.random.Generator, max_epochs: int | None = None) -> None:
        self.problem = problem
        self.rng = rng
        self.gives_up = max_epochs is not None
        self.max_epochs = 10_000 + _STEPS // len(problem.labels) ** 2 if max_epochs is None else max_epochs
        self.u = np.zeros_like(problem.labels)
        n_thresholds = self.u.shape[1]
        self.scale = float(problem.gram.diagonal.mean()) or 1.0
        self.b = 0.0
        self._soften(np.zeros_like(self.u))
        # theta_0.
        self.centre = np.zeros(n_thresholds)
        self.mu = np.zeros(n_thresholds - 1 if problem.ordered else 0)

    def _soften(self, caps: FloatArray) -> None:
        """Settle tau for the boxes (N, Q) of a value of C: with it omega, and the penalty of S^2 / 2."""
        boxes = float(caps.sum()) / caps.shape[1]
        self.tau = self.scale * max(_TAU, _REACH / boxes if boxes > 0.0 else 0.0)
        self.omega = 1.0 / (self.problem.ridge + 1.0 / self.tau)
        # Free thresholds need no b.
        self.penalty = 0.0 if self.problem.free else self.tau

    def _state(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """beta, f (w of a linear kernel) and theta that belong to u and mu, free of the drift of updates."""
        beta, sums = self.u.sum(axis=1), self.u.sum(axis=0)
        if self.problem.ordered:
            sums += np.diff(self.mu, prepend=0.0, append=0.0)
        return beta, self.problem.gram.state(beta), self.omega * (self.centre / self.tau - sums)

    def _step(self, total: float, theta: FloatArray) -> None:
        """Move b0, by the sum of beta, and theta_0 (theta with it)."""
        centre = theta.copy()
        theta += self.omega / self.tau * (theta - self.centre)
        self.centre = centre
        self.b += self.penalty * total

    def _slow(self, n_free: int, epochs: float) -> bool:
        """Whether so many epochs take longer than a linear system of the free variables."""
        epoch = _UPDATE * len(self.u) * self.problem.gram.rank_limit
        return epochs * epoch > _ROUNDS * n_free**3 / 3.0 + _AROUND * epoch

    def _polished(self, C: float, point: DualSolution) -> tuple[DualSolution, bool]:
        """The better of the point and its polished form, and whether the next one will be better still."""
        found = polished(self.problem, C, point)
        if found is None or found.solution.dual <= point.dual:
            return point, False
        self.u, self.b, self.centre = found.solution.u.copy(), found.b, found.theta.copy()
        gain = found.solution.dual - point.dual
        better = min(point, found.solution, key=lambda p: p.gap)
        return better, gain > _GAIN * (point.primal - point.dual) or better.gap <= _LEFT * point.gap

    def _work(self, caps: FloatArray, theta: FloatArray, near: float) -> _Work:
        """The rows with a variable inside its box, or within `near` of leaving its bound; all, where they are many."""
        problem = self.problem
        beta, f, theta[:] = self._state()
        work = _Work(gram=problem.gram, labels=problem.labels, caps=caps, u=self.u, beta=beta, f=f)
        if np.isinf(near) or problem.gram.rank_limit < problem.gram.n:
            return work
        margin = 1.0 - problem.labels * ((f + self.b + self.penalty * work.total)[:, None] - theta)
        size = np.abs(self.u)
        settled = ((size == 0.0) & (margin < -near)) | ((size == caps) & (margin > near))
        rows = np.flatnonzero(~settled.all(axis=1))
        return work.part(rows) if 0 < rows.size <= _FEW * len(beta) else work

    def _shuffled(self, work: _Work) -> IntArray:
        return self.rng.permutation(len(work.u)).astype(np.intp)

    def solve(self, C: float, tol: float) -> Outcome:
        """Ascend until the relative duality gap is at most `tol`, or for `max_epochs` epochs.

        Parameters
        ----------
        C : float
            Not below the C of the call before, or the start is cut back to the smaller boxes.
        tol : float
        """
        with one_blas_thread():
            return self._solve(C, tol)

    def _solve(self, C: float, tol: float) -> Outcome:
        problem, caps = self.problem, C * self.problem.weights
        self.u = boxed(problem.labels, caps, self.u)
        self._soften(caps)
        theta = np.empty(caps.shape[1])
        work = self._work(caps, theta, np.inf)
        order, shrink, inner, check = self._shuffled(work), np.inf, 1.0, 4
        best: DualSolution | None = None
        path: list[float] = []
        polish, pace, again, free = _POLISH, _Pace(), False, 0
        epoch, exact, last = 0, 0, self.max_epochs
        while best is None or (best.gap > tol and epoch < last):
            epoch += 1
            violation, kept = work.gram.row_sweep(
                work.labels,
                work.caps,
                work.u,
                work.beta,
                work.f,
                theta,
                self.mu,
                order,
                self.omega,
                self.b + self.penalty * work.rest,
                self.penalty,
                _SKIP * inner,
                shrink,
            )
            shrink = max(1.0, 2.0 * violation)
            if violation < inner or kept == 0 or epoch % _EPOCHS_A_STEP == 0:
                self._step(work.total, theta)
                inner *= 0.7
                order = self._shuffled(work)
            else:
                order = self.rng.permutation(order[:kept])
            if epoch < min(check, last):
                continue
            check = _next_check(epoch)
            work.put_back(self.u)
            point = certify(problem, C, self.u, theta)
            path.append(point.primal)
            pace.note(epoch, point.gap)
            before, free = free, free_variables(problem, C, point)
            steady = abs(free - before) <= _STEADY * before and self._slow(free, pace.epochs_to(tol))
            # From _END on the free variables will finish.
            hopeless = pace.epochs_to(max(tol, _END)) > _HOPELESS * (last - epoch)
            polishing = tol < point.gap < polish and (again or steady)
            if polishing:
                point, again = self._polished(C, point)
                pace.gap = point.gap
                polish = np.inf if again else _AGAIN * point.gap
                check = epoch + _RELEASE if again else check
            if self.gives_up and hopeless and not again and epoch >= _PATIENT * last:
                last = epoch
            best = point if best is None or point.gap < best.gap else best
            settled = epoch >= _SETTLED and not again
            if best.gap > tol and (polishing or settled or epoch - exact > _DRIFT):
                work = self._work(caps, theta, _NEAR * violation if settled else np.inf)
                order, exact = self._shuffled(work), epoch
        return Outcome(solution=best, solver=self.name, iterations=epoch, path=np.array(path))
