"""Coordinate ascent over pairs: the route of every kernel, and of the linear hinge.

There is no equality constraint, so a single dual variable can be moved, exactly. Scores are shared by all pairs: a step
costs two rows of the kernel matrix, or O(D) where it is linear.
"""

from __future__ import annotations

import numpy as np

from ..._typing import FloatArray, IntArray
from ...exceptions import DataError
from ..solution import Certified, Outcome
from .problem import PairProblem, PairSolution, evaluated, solved

# Steps over all pairs that one solve may take.
_MOST_STEPS = 4_000_000_000
_LEAST_EPOCHS, _MOST_EPOCHS = 300, 100_000
# All pairs come back into the list at the latest after so many epochs.
_EPOCHS_A_LIST = 10
# Pairs with a violation below this share of the inner tolerance wait for a later epoch.
_SKIP = 0.1
# Pairs that fit into memory with their dual variables (about 1 GB while an epoch is shuffled).
MOST_PAIRS = 20_000_000
# Problems of no more pairs are solved until the gap is rounding.
_SMALL, _ROUNDING = 20_000, 1e-11
# Checks without half the gap after which rounding is all that is left.
_PATIENCE = 8


class PairAscent:
    """Solves one problem for growing values of C, each from where the last one ended.

    Parameters
    ----------
    problem : PairProblem
    rng : numpy.random.Generator
        Order of the pairs in each epoch.
    max_epochs : int, optional
        Epochs of one solve; as many as take minutes if not given.

    Raises
    ------
    DataError
        Too many pairs for a list of them.
    """

    name = "pair ascent"

    def __init__(self, problem: PairProblem, rng: np.random.Generator, max_epochs: int | None = None) -> None:
        if problem.n_pairs > MOST_PAIRS:
            raise DataError(
                f"{problem.y.size} rows make {problem.n_pairs} pairs of different rank, and at most {MOST_PAIRS} can "
                "be listed: take fewer rows, or kernel='linear' with loss='squared_hinge', which needs no list."
            )
        self.problem = problem
        self.rng = rng
        self.upper, self.lower = problem.pairs()
        self.weights = problem.weights[self.upper] * problem.weights[self.lower]
        self.alpha = np.zeros(self.upper.size)
        self.max_epochs = max_epochs or min(max(_LEAST_EPOCHS, _MOST_STEPS // max(self.alpha.size, 1)), _MOST_EPOCHS)

    def solve(self, C: float, tol: float) -> Outcome[PairSolution]:
        """Ascend until the relative duality gap is at most `tol`, or for `max_epochs` epochs."""
        wanted, stalled = tol, 0
        if self.alpha.size <= _SMALL:
            tol = min(tol, _ROUNDING)
        problem = self.problem
        price, ridge = problem.price(C), problem.ridge(C)
        np.minimum(self.alpha, price * self.weights, out=self.alpha)
        state = problem.gram.state(self._beta())
        order, shrink, inner, check = self._shuffled(), np.inf, 1.0, 3
        best: Certified | None = None
        path: list[float] = []
        epoch = 0
        while best is None or (best.gap > tol and epoch < self.max_epochs):
            epoch += 1
            violation, kept = problem.gram.pair_sweep(
                self.upper, self.lower, problem.weights, self.alpha, state, order, price, ridge, _SKIP * inner, shrink
            )
            shrink = 2.0 * violation
            if violation < inner or kept == 0 or epoch % _EPOCHS_A_LIST == 0:
                inner *= 0.7
                order = self._shuffled()
            else:
                order = self.rng.permutation(order[:kept])
            if epoch >= check or epoch >= self.max_epochs:
                check = int(1.3 * epoch) + 2
                point = self._certified(C)
                path.append(point.primal)
                stalled = 0 if best is None or point.gap < 0.5 * best.gap else stalled + 1
                best = point if best is None or point.gap < best.gap else best
                if best.gap <= wanted and stalled >= _PATIENCE:
                    break
                state = problem.gram.state(point.beta)
        return Outcome(solution=solved(problem, best), solver=self.name, iterations=epoch, path=np.array(path))

    def _certified(self, C: float) -> Certified:
        square = float(self.alpha @ (self.alpha / self.weights))
        return evaluated(self.problem, C, self._beta(), float(self.alpha.sum()), square)

    def _beta(self) -> FloatArray:
        n = self.problem.y.size
        beta: FloatArray = np.bincount(self.upper, self.alpha, n).astype(np.float64)
        return beta - np.bincount(self.lower, self.alpha, n)

    def _shuffled(self) -> IntArray:
        return self.rng.permutation(self.alpha.size).astype(np.intp)
