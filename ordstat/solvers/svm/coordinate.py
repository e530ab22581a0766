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

from ..._typing import FloatArray, IntArray
from ..gram import Gram
from ..solution import Outcome
from ..threads import one_blas_thread
from .active_set import Finish
from .dual import DualSolution, ExtendedDual, boxed, certify

# The multiplier b0 and the centre theta_0 move at the latest after so many epochs.
_EPOCHS_A_STEP = 5
# tau as a share of the mean of G's diagonal, and at least that many times it over the sum of a threshold's boxes: where
# C is small, b and theta would otherwise need many steps.
_TAU, _REACH = 0.1, 10.0
# Rows with a violation below this share of the inner tolerance wait for a later epoch.
_SKIP = 0.1
# Updates of single scores that a small problem may spend beyond 10 000 epochs, and what an epoch costs at the least.
_STEPS, _LEAST = 10**9, 20_000
# An ascent that may give up does so after this share of its epochs, where they are not enough.
_PATIENT = 0.15
# Epochs from an attempt to finish to the next one, where that promises more.
_RELEASE = 2
# Epochs after which the drift of the updates is taken out of the scores.
_DRIFT = 100
# From this epoch on rows are worked on alone, where no more than this share of all is inside its boxes or nearer to
# leaving a bound than so many times the last violation.
_SETTLED, _FEW, _NEAR = 30, 0.8, 0.5


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
        arrays = {name: getattr(self, name)[rows] for name in ("labels", "caps", "u", "beta", "f")}
        rest = float(self.beta.sum() - arrays["beta"].sum())
        return _Work(gram=self.gram.part(rows), rest=rest, rows=rows, **arrays)


class CoordinateAscent:
    """Solves one problem for growing values of C, each from where the last one ended.

    Parameters
    ----------
    problem : ExtendedDual
    rng : numpy.random.Generator
        Order of the rows in each epoch.
    max_epochs : int, optional
        Epochs of one solve, or fewer where they will not be enough; as many as take seconds if not given, and at least
        10 000.
    """

    name = "coordinate"

    def __init__(self, problem: ExtendedDual, rng: np.random.Generator, max_epochs: int | None = None) -> None:
        self.problem = problem
        self.rng = rng
        self.gives_up = max_epochs is not None
        self.max_epochs = 10_000 + _STEPS // max(len(problem.labels) ** 2, _LEAST) if max_epochs is None else max_epochs
        self.u = np.zeros_like(problem.labels)
        Q = self.u.shape[1]
        self.scale = float(problem.gram.diagonal.mean()) or 1.0
        self.b = 0.0
        self._soften(np.zeros_like(self.u))
        # theta_0.
        self.centre, self.mu = np.zeros(Q), np.zeros(Q - 1 if problem.ordered else 0)

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

    def _start(self, caps: FloatArray) -> None:
        """The boxes (N, Q) of a value of C, around the u of the one before."""
        self.u = boxed(self.problem.labels, caps, self.u)
        self._soften(caps)
        self.theta = np.empty(caps.shape[1])
        self._take(caps, np.inf)
        self.violation = self.shrink = np.inf
        # Bound of the violations after which b0 and theta_0 move.
        self.inner = 1.0

    def _take(self, caps: FloatArray, near: float) -> None:
        """Work on the rows with a variable inside its box, or within `near` of leaving its bound; on all, if many."""
        problem = self.problem
        beta, f, self.theta[:] = self._state()
        self.work = _Work(gram=problem.gram, labels=problem.labels, caps=caps, u=self.u, beta=beta, f=f)
        if near < np.inf and problem.gram.rank_limit == problem.gram.n:
            answers = (f + self.b + self.penalty * self.work.total)[:, None] - self.theta
            margin, size = 1.0 - problem.labels * answers, np.abs(self.u)
            settled = ((size == 0.0) & (margin < -near)) | ((size == caps) & (margin > near))
            rows = np.flatnonzero(~settled.all(axis=1))
            if 0 < rows.size <= _FEW * len(beta):
                self.work = self.work.part(rows)
        self.order = self._shuffled()

    def _shuffled(self) -> IntArray:
        return self.rng.permutation(len(self.work.u)).astype(np.intp)

    def _epoch(self, epoch: int) -> None:
        """Go over the rows at work once, and move b0 and theta_0 where it is time."""
        work = self.work
        rows = (work.labels, work.caps, work.u, work.beta, work.f, self.theta, self.mu, self.order)
        prices = (self.omega, self.b + self.penalty * work.rest, self.penalty)
        self.violation, kept = work.gram.row_sweep(*rows, *prices, _SKIP * self.inner, self.shrink)
        self.shrink = max(1.0, 2.0 * self.violation)
        if self.violation < self.inner or kept == 0 or epoch % _EPOCHS_A_STEP == 0:
            self._step(work.total, self.theta)
            self.inner *= 0.7
            self.order = self._shuffled()
        else:
            self.order = self.rng.permutation(self.order[:kept])

    def _certified(self, C: float) -> DualSolution:
        if self.work.rows is not None:
            self.u[self.work.rows] = self.work.u
        # A copy: the epochs go on in theta itself.
        return certify(self.problem, C, self.u, self.theta.copy())

    def solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        """Ascend until the relative duality gap is at most `tol`, or for `max_epochs` epochs.

        Parameters
        ----------
        C : float
            Not below the C of the call before, or the start is cut back to the smaller boxes.
        tol : float
        """
        with one_blas_thread():
            return self._solve(C, tol)

    def _solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        caps, finish = C * self.problem.weights, Finish(self.problem, C, tol)
        self._start(caps)
        best: DualSolution | None = None
        path: list[float] = []
        epoch, check, exact, last = 0, 4, 0, self.max_epochs
        while best is None or (best.gap > tol and epoch < last):
            epoch += 1
            self._epoch(epoch)
            if epoch < min(check, last):
                continue
            # A certificate costs about as much as several epochs: 4, 7, 12, 19, 30, ...
            check = int(1.5 * epoch) + 1
            point = self._certified(C)
            path.append(point.primal)
            finish.note(epoch, point)
            hopeless, trying = finish.hopeless(last - epoch), finish.due()
            if trying:
                point, found = finish.attempt(point)
                if found is not None:  # the ascent goes on from there
                    self.u, self.b, self.centre = found.solution.u.copy(), found.b, found.theta.copy()
                check = epoch + _RELEASE if finish.again else check
            if self.gives_up and hopeless and not finish.again and epoch >= _PATIENT * last:
                last = epoch
            best = point if best is None or point.gap < best.gap else best
            settled = epoch >= _SETTLED and not finish.again
            if best.gap > tol and (trying or settled or epoch - exact > _DRIFT):
                self._take(caps, _NEAR * self.violation if settled else np.inf)
                exact = epoch
        return Outcome(solution=best, solver=self.name, iterations=epoch, path=np.array(path))
