"""Row-exact block coordinate ascent: the main route to the thresholded SVMs.

One step solves the Q dual variables of a row exactly against the N x N kernel. The equality sum(beta) = 0 is kept
by a method of multipliers: maximise D - b0 S - (rho/2) S^2 with S = sum(beta), and move b0 by rho S. Where theta
must be ordered, a sweep over the multipliers mu of theta_k <= theta_{k+1} follows each row.

Free thresholds need s = A' mu instead (A the first differences, mu = 0 without an order), by proximal steps: theta =
theta_0 - tau (s - A' mu) within an epoch, tau in the place of gamma^2, and then theta_0 moves to theta.
"""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray, IntArray
from .active_set import free_variables, polished
from .extended_dual import DualSolution, ExtendedDual, Outcome, certify, thresholds
from .feasible import boxed

# The multiplier b0, or the centre theta_0, moves at the latest after so many epochs.
_EPOCHS_A_STEP = 10
_EPOCHS_A_FREE_STEP = 5
# Rows with a violation below this share of the inner tolerance wait for a later epoch.
_SKIP = 0.1
# Updates of single scores that a small problem may spend beyond 10 000 epochs.
_STEPS = 10**9
# An ascent that may give up does so after this share of its epochs, where the pace asks for so many times the rest.
_PATIENT, _HOPELESS = 0.25, 2.0
# What an update of a score costs, in multiplications of a factorisation; the systems solved at the end, and what goes
# with each of them, in epochs.
_UPDATE, _ROUNDS, _AROUND = 2.0, 3.0, 4.0
# Relative gap below which the free variables are mostly the right ones, and the share of the gap of a failed attempt
# at which the next one is made.
_POLISH, _AGAIN = 3e-3, 0.3
_END = 1e-3


def _next_check(epoch: int) -> int:
    """A certificate costs about an epoch: 4, 7, 11, 16, 22, ..."""
    return int(1.3 * epoch) + 2


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
        scale = float(problem.gram.diagonal.mean()) or 1.0
        # b0 and rho for sum(beta) = 0; tau or gamma^2; theta_0, which stays 0 where theta is penalised.
        self.b, self.penalty = 0.0, 0.0 if problem.free else scale
        self.weight = scale if problem.free else problem.gamma**2
        self.centre = np.zeros(n_thresholds)
        self.mu = np.zeros(n_thresholds - 1 if problem.ordered else 0)

    def _state(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """beta, f (w of a linear kernel), theta and mu that belong to u, free of the drift of updates."""
        beta, totals = self.u.sum(axis=1), self.u.sum(axis=0)
        f = self.problem.gram.state(beta)
        if self.problem.free:
            pull = -np.diff(self.mu, prepend=0.0, append=0.0) if self.problem.ordered else 0.0
            return beta, f, self.centre - self.weight * (totals - pull), self.mu
        theta = thresholds(self.problem, totals)
        # theta / gamma^2 + s = A' mu with A the first differences.
        mu = -np.cumsum(theta / self.problem.gamma**2 + totals)[:-1] if self.problem.ordered else self.mu
        return beta, f, theta, np.maximum(mu, 0.0)

    def _step(self, beta: FloatArray, theta: FloatArray) -> None:
        """Move the multiplier of the constraint that the epochs keep softly: b0, or theta_0 (theta with it)."""
        if self.problem.free:
            self.centre, theta[:] = theta.copy(), 2.0 * theta - self.centre
        else:
            self.b += self.penalty * float(beta.sum())

    def _slow(self, C: float, point: DualSolution, epochs: float) -> bool:
        """Whether so many epochs take longer than a linear system of the free variables."""
        epoch = _UPDATE * len(self.u) * self.problem.gram.rank_limit
        return epochs * epoch > _ROUNDS * (free_variables(self.problem, C, point) ** 3 / 3.0 + _AROUND * epoch)

    def _polished(self, C: float, point: DualSolution) -> tuple[DualSolution, float]:
        """The better of the point and its polished form, and the gap below which to polish again."""
        found = polished(self.problem, C, point)
        if found is None or found.solution.dual <= point.dual:
            return point, _AGAIN * point.gap
        self.u, self.b = found.solution.u.copy(), found.b
        if self.problem.free:
            self.centre = found.theta.copy()
        better = min(point, found.solution, key=lambda p: p.gap)
        return better, point.gap

    def _shuffled(self) -> IntArray:
        return self.rng.permutation(len(self.u)).astype(np.intp)

    def solve(self, C: float, tol: float) -> Outcome:
        """Ascend until the relative duality gap is at most `tol`, or for `max_epochs` epochs.

        Parameters
        ----------
        C : float
            Not below the C of the call before, or the start is cut back to the smaller boxes.
        tol : float
        """
        problem, caps = self.problem, C * self.problem.weights
        self.u = boxed(problem.labels, caps, self.u)
        beta, f, theta, mu = self._state()
        order, shrink, inner, check = self._shuffled(), np.inf, 1.0, 4
        best: DualSolution | None = None
        path: list[float] = []
        polish, pace = _POLISH, _Pace()
        epoch, patience = 0, _EPOCHS_A_FREE_STEP if problem.free else _EPOCHS_A_STEP
        last = self.max_epochs
        while best is None or (best.gap > tol and epoch < last):
            epoch += 1
            violation, kept = problem.gram.row_sweep(
                problem.labels,
                caps,
                self.u,
                beta,
                f,
                theta,
                mu,
                order,
                self.weight,
                self.b,
                self.penalty,
                _SKIP * inner,
                shrink,
            )
            shrink = max(1.0, 2.0 * violation)
            if violation < inner or kept == 0 or epoch % patience == 0:
                self._step(beta, theta)
                inner *= 0.7
                order = self._shuffled()
            else:
                order = self.rng.permutation(order[:kept])
            if epoch >= check or epoch >= last:
                check = _next_check(epoch)
                point = certify(problem, C, self.u, theta)
                path.append(point.primal)
                pace.note(epoch, point.gap)
                # From _END on the free variables will finish.
                if epoch >= _PATIENT * last and pace.epochs_to(max(tol, _END)) > _HOPELESS * (last - epoch):
                    last = epoch if self.gives_up else last
                if tol < point.gap < polish and self._slow(C, point, pace.epochs_to(tol)):
                    point, polish = self._polished(C, point)
                    order = self._shuffled()
                best = point if best is None or point.gap < best.gap else best
                beta, f, theta, mu = self._state()
        return Outcome(solution=best, solver=self.name, iterations=epoch, path=np.array(path))
