"""The pairwise dual through cvxpy: the reference route.

The variables are tau = a / c with c = C, or its root where C > 1, C being that of pairs whose weights are 1 on the
average: neither boxes nor dual variables are then too small or too large beside the solver's tolerances.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from ..clarabel import solve
from ..gram import cvxpy
from .problem import PairOutcome, PairProblem, evaluated, solved


class CvxpyPairs:
    """Solves one problem for any C with Clarabel.

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

    def solve(self, C: float, tol: float) -> PairOutcome:
        """Solve to Clarabel's tolerance; the relative duality gap is that of the certified outcome."""
        cp = cvxpy()
        problem, own = self.problem, C * self.unit
        c = min(own, np.sqrt(own))
        price, ridge = problem.loss.price(own), problem.loss.ridge(own)
        tau = cp.Variable(self.weights.size, nonneg=True)
        beta = cp.Variable(problem.y.size)
        half, constraints = problem.gram.half_square(beta)
        constraints += [beta == self.incidence @ tau]
        if np.isfinite(price):
            constraints += [tau <= price / c * self.weights]
        if ridge > 0.0:
            half += 0.5 * ridge * cp.sum_squares(cp.multiply(1.0 / np.sqrt(self.weights), tau))
        model = cp.Problem(cp.Minimize(c * half - cp.sum(tau)), constraints)
        iterations = solve(model, tol)
        found = np.zeros(self.weights.size) if tau.value is None else tau.value
        alpha = np.clip(c * found, 0.0, price * self.weights)
        square = float(alpha @ (alpha / self.weights)) / self.unit
        point = evaluated(problem, C, self.incidence @ alpha, float(alpha.sum()), square)
        solution = solved(problem, point)
        return PairOutcome(solution=solution, solver=self.name, iterations=iterations, path=np.array([point.primal]))
