"""The choice between the routes to the pairwise problem."""

from __future__ import annotations

import numpy as np

from ..cross_validation import Route
from ..gram import LinearGram
from .ascent import PairAscent
from .cvx import CvxpyPairs
from .newton import PairNewton
from .problem import PairOutcome, PairProblem

# Pairs that a general solver takes in seconds.
_SMALL = 50_000
_EPOCHS = 3000


class AutomaticPairs:
    """Newton's method where pairs can be counted; else coordinate ascent, and cvxpy for the few pairs it cannot order.

    Coordinate ascent crawls where C is huge and the rows cannot be put in order without an error: a polynomial of few
    columns on noisy ranks.

    Parameters
    ----------
    problem : PairProblem
    rng : numpy.random.Generator
    """

    def __init__(self, problem: PairProblem, rng: np.random.Generator) -> None:
        counts = isinstance(problem.gram, LinearGram) and not np.isfinite(problem.loss.price(1.0))
        small = problem.n_pairs <= _SMALL
        self.first: PairAscent | PairNewton
        self.first = PairNewton(problem, rng) if counts else PairAscent(problem, rng, _EPOCHS if small else None)
        self.second = CvxpyPairs(problem, rng) if small and not counts else None

    def solve(self, C: float, tol: float) -> PairOutcome:
        """The outcome of the first route that reaches `tol`, else the better of both."""
        outcome = self.first.solve(C, tol)
        if outcome.solution.gap <= tol or self.second is None:
            return outcome
        return min(self.second.solve(C, tol), outcome, key=lambda found: found.solution.gap)


#: Routes by the name a user gives.
PAIR_SOLVERS: dict[str, Route] = {"auto": AutomaticPairs, "cvxpy": CvxpyPairs}
