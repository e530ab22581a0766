"""Coordinate ascent on the dual: the variables of a row are solved for exactly, one row after another."""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray, IntArray
from ..threads import one_blas_thread
from .dual import ExtendedDual, boxed, certify
from .solution import Outcome, Solution

# The multiplier b0 and the centre theta_0 move after at most this many epochs.
_EPOCHS_A_STEP = 5
# tau as a share of the mean of G's diagonal, and at least that many times it over the sum of a threshold's boxes: where
# C is small, b and theta would otherwise need many steps.
_TAU, _REACH = 0.1, 10.0
# Rows with a violation below this share of the inner tolerance wait for a later epoch.
_SKIP = 0.1
# Updates of single scores that a small problem may spend beyond 10 000 epochs, and the smallest cost of an epoch.
_STEPS, _LEAST = 10**9, 20_000
# An ascent with a limit ends after this share of its epochs if its pace needs so many times the epochs that are left.
_PATIENT, _HOPELESS = 0.15, 2.0


class CoordinateAscent:
    """Solves one problem for growing values of C, each from where the last one ended.

    Thresholds and offset follow the method of multipliers: theta is pulled towards a centre theta_0, and b towards b0,
    and both move when the rows have settled.

    Parameters
    ----------
    problem : ExtendedDual
    rng : numpy.random.Generator
        Order of the rows in each epoch.
    max_epochs : int, optional
        Epochs of one solve, or fewer where they will not be enough; by default as many as take seconds, and at least
        10 000.
    """

    name = "coordinate"

    def __init__(self, problem: ExtendedDual, rng: np.random.Generator, max_epochs: int | None = None) -> None:
        self.problem, self.rng = problem, rng
        self.gives_up = max_epochs is not None
        self.max_epochs = 10_000 + _STEPS // max(len(problem.labels) ** 2, _LEAST) if max_epochs is None else max_epochs
        self.u = np.zeros_like(problem.labels)
        n_thresholds = self.u.shape[1]
        self.b, self.centre = 0.0, np.zeros(n_thresholds)
        self.mu = np.zeros(n_thresholds - 1 if problem.ordered else 0)

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
        boxes = float(caps.sum()) / caps.shape[1]
        scale = float(problem.gram.diagonal.mean()) or 1.0
        tau = scale * max(_TAU, _REACH / boxes if boxes > 0.0 else 0.0)
        omega = 1.0 / (problem.ridge + 1.0 / tau)
        penalty = 0.0 if problem.free else tau  # of b; free thresholds need none
        beta, state, theta = self._state(omega, tau)
        order, inner, shrink = self._shuffled(), 1.0, np.inf
        best: Solution | None = None
        path: list[float] = []
        epoch, check, last, falls = 0, 4, self.max_epochs, (0, np.inf)
        while best is None or (best.gap > tol and epoch < last):
            epoch += 1
            rows = (problem.labels, caps, self.u, beta, state, theta, self.mu, order)
            violation, kept = problem.gram.row_sweep(*rows, omega, self.b, penalty, _SKIP * inner, shrink)
            shrink = max(1.0, 2.0 * violation)
            if violation < inner or kept == 0 or epoch % _EPOCHS_A_STEP == 0:
                theta, self.centre = theta + omega / tau * (theta - self.centre), theta
                self.b += penalty * float(beta.sum())
                inner *= 0.7
                order = self._shuffled()
            else:
                order = self.rng.permutation(order[:kept])
            if epoch < min(check, last):
                continue
            # A certificate costs about as much as several epochs: 4, 7, 12, 19, 30, ...
            check = int(1.5 * epoch) + 1
            point = certify(problem, C, self.u, theta)
            path.append(point.primal)
            if self.gives_up and epoch >= _PATIENT * last and _too_slow(falls, (epoch, point.gap), tol, last):
                last = epoch
            falls = (epoch, point.gap)
            best = point if best is None or point.gap < best.gap else best
            beta, state, theta = self._state(omega, tau)  # without the drift of the updates
        return Outcome(solution=best, solver=self.name, iterations=epoch, path=np.array(path))

    def _state(self, omega: float, tau: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """beta, G beta (X' beta of a linear kernel) and theta that belong to u and mu."""
        beta, sums = self.u.sum(axis=1), self.u.sum(axis=0)
        if self.problem.ordered:
            sums += np.diff(self.mu, prepend=0.0, append=0.0)
        return beta, self.problem.gram.state(beta), omega * (self.centre / tau - sums)

    def _shuffled(self) -> IntArray:
        return self.rng.permutation(len(self.u)).astype(np.intp)


def _too_slow(before: tuple[int, float], now: tuple[int, float], tol: float, last: int) -> bool:
    """Whether, at the pace between two certificates (epoch, gap), `tol` is out of reach of the epochs left."""
    if now[1] <= tol or np.isinf(before[1]):
        return False
    pace = np.log(before[1] / now[1]) / (now[0] - before[0]) if now[1] < before[1] else 0.0
    return bool(np.log(now[1] / tol) > _HOPELESS * pace * (last - now[0]))
