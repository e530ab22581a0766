"""The routes to the pairwise problem: cvxpy, and the choice between all of them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from ..gram import LinearGram, cvxpy, solve_with_clarabel
from ..solution import Outcome, Route, better
from .ascent import PairAscent
from .newton import PairNewton
from .problem import PairProblem, PairSolution, evaluated, solved

# Pairs that a general solver takes in seconds.
_SMALL = 50_000
_EPOCHS = 3000


class CvxpyPairs:
    """The dual through cvxpy, for any C: the reference route.

    The variables are tau = a / c with c = C, or its root where C > 1, C being that of pairs whose weights are 1 on the
    average: neither boxes nor dual variables are then too small or too large beside the solver's tolerances.

    Parameters
    ----------
    problem : PairProblem
    rng : numpy.random.Generator
        Not used; every solver is made alike.
    """

    name = "cvxpy"

    def __init__(self, problem: PairProblem, rng: np.random.Generator) -> None:
        self.problem = problem
        upper, lower = problem.pairs()
        weights = problem.weights[upper] * problem.weights[lower]
        self.unit = float(weights.mean()) if weights.size else 1.0
        self.weights = weights / self.unit
        m = upper.size
        signs = np.concatenate([np.ones(m), -np.ones(m)])
        cells = (np.concatenate([upper, lower]), np.concatenate([np.arange(m), np.arange(m)]))
        self.incidence = csr_array((signs, cells), shape=(problem.y.size, m))

    def solve(self, C: float, tol: float) -> Outcome[PairSolution]:
        """Solve to Clarabel's tolerance; the relative duality gap is that of the certified outcome."""
        cp = cvxpy()
        problem, own = self.problem, C * self.unit
        c = min(own, np.sqrt(own))
        price, ridge = problem.price(own), problem.ridge(own)
        tau = cp.Variable(self.weights.size, nonneg=True)
        beta = cp.Variable(problem.y.size)
        half, constraints = problem.gram.half_square(beta)
        constraints += [beta == self.incidence @ tau]
        if np.isfinite(price):
            constraints += [tau <= price / c * self.weights]
        if ridge > 0.0:
            half += 0.5 * ridge * cp.sum_squares(cp.multiply(1.0 / np.sqrt(self.weights), tau))
        model = cp.Problem(cp.Minimize(c * half - cp.sum(tau)), constraints)
        iterations = solve_with_clarabel(model, tol)
        alpha = np.clip(c * tau.value, 0.0, price * self.weights)
        square = float(alpha @ (alpha / self.weights)) / self.unit
        point = evaluated(problem, C, self.incidence @ alpha, float(alpha.sum()), square)
        solution = solved(problem, point)
        return Outcome(solution=solution, solver=self.name, iterations=iterations, path=np.array([point.primal]))


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
        counts = isinstance(problem.gram, LinearGram) and problem.squared
        small = problem.n_pairs <= _SMALL
        self.first: PairAscent | PairNewton
        self.first = PairNewton(problem, rng) if counts else PairAscent(problem, rng, _EPOCHS if small else None)
        self.second = CvxpyPairs(problem, rng) if small and not counts else None

    def solve(self, C: float, tol: float) -> Outcome[PairSolution]:
        """The outcome of the first route that reaches `tol`, else the better of both."""
        outcome = self.first.solve(C, tol)
        if outcome.solution.gap <= tol or self.second is None:
            return outcome
        return better(self.second.solve(C, tol), outcome)


#: Routes by the name a user gives.
PAIR_SOLVERS: dict[str, Route] = {"auto": AutomaticPairs, "cvxpy": CvxpyPairs}
