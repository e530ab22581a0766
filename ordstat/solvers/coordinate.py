"""Row-exact block coordinate ascent: the main route of RED-SVM.

One step solves the Q dual variables of a row exactly against the N x N kernel. The equality sum(beta) = 0 is kept
by a method of multipliers: maximise D - b0 S - (rho/2) S^2 with S = sum(beta), and move b0 by rho S. Where theta
must be ordered, a sweep over the multipliers mu of theta_k <= theta_{k+1} follows each row.
"""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray, IntArray
from ..compiled.rowascent import sweep
from .extended_dual import DualSolution, ExtendedDual, Outcome, boxed, certify, thresholds

# The multiplier b0 moves at the latest after so many epochs.
_EPOCHS_A_STEP = 10
# Rows with a violation below this share of the inner tolerance wait for a later epoch.
_SKIP = 0.1
# Updates of single scores that a small problem may spend beyond 10 000 epochs.
_STEPS = 10**9


def _next_check(epoch: int) -> int:
    """A certificate costs about an epoch: 4, 7, 11, 16, 22, ..."""
    return int(1.3 * epoch) + 2


class CoordinateAscent:
    """Solves one problem for growing values of C, each from where the last one ended.

    Parameters
    ----------
    problem : ExtendedDual
    rng : numpy.random.Generator
        Order of the rows in each epoch.
    max_epochs : int, optional
        Of one solve; as many as take seconds if not given, and at least 10 000.
    """

    name = "coordinate"

    def __init__(self, problem: ExtendedDual, rng: np.random.Generator, max_epochs: int | None = None) -> None:
        self.problem = problem
        self.rng = rng
        self.max_epochs = 10_000 + _STEPS // len(problem.labels) ** 2 if max_epochs is None else max_epochs
        self.u = np.zeros_like(problem.labels)
        self.b = 0.0
        self.penalty = float(np.diagonal(problem.gram).mean()) or 1.0

    def _state(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """beta, f, theta and mu that belong to u, free of the drift of updates."""
        beta, totals = self.u.sum(axis=1), self.u.sum(axis=0)
        theta = thresholds(self.problem, totals)
        # theta / gamma^2 + s = A' mu with A the first differences.
        mu = -np.cumsum(theta / self.problem.gamma**2 + totals)[:-1] if self.problem.ordered else np.zeros(0)
        return beta, self.problem.gram @ beta, theta, np.maximum(mu, 0.0)

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
        epoch = 0
        while best is None or (best.gap > tol and epoch < self.max_epochs):
            epoch += 1
            violation, kept = sweep(
                problem.gram,
                problem.labels,
                caps,
                self.u,
                beta,
                f,
                theta,
                mu,
                order,
                problem.gamma**2,
                self.b,
                self.penalty,
                _SKIP * inner,
                shrink,
            )
            shrink = max(1.0, 2.0 * violation)
            if violation < inner or kept == 0 or epoch % _EPOCHS_A_STEP == 0:
                self.b += self.penalty * float(beta.sum())
                inner *= 0.7
                order = self._shuffled()
            else:
                order = self.rng.permutation(order[:kept])
            if epoch >= check or epoch >= self.max_epochs:
                check = _next_check(epoch)
                point = certify(problem, C, self.u, theta)
                path.append(point.primal)
                best = point if best is None or point.gap < best.gap else best
                beta, f, theta, mu = self._state()
        return Outcome(solution=best, solver=self.name, iterations=epoch, path=np.array(path))
