"""The pairwise dual through cvxpy: the reference route.

The variables are tau = a / c with c = C, or its root where C > 1: neither boxes nor dual variables are then too small
or too large beside the solver's tolerances.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.sparse import csr_array

from .forms import cvxpy
from .preference import PairOutcome, PairProblem, evaluated, solved

# Clarabel's own tolerance; the outcome's certificate is what counts.
_TOLERANCE = 1e-10


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
        self.weights = problem.weights[upper] * problem.weights[lower]
        m = upper.size
        signs = np.concatenate([np.ones(m), -np.ones(m)])
        cells = (np.concatenate([upper, lower]), np.concatenate([np.arange(m), np.arange(m)]))
        self.incidence = csr_array((signs, cells), shape=(problem.y.size, m))

    def solve(self, C: float, tol: float) -> PairOutcome:
        """Solve to Clarabel's tolerance; the relative duality gap is that of the certified outcome.

        Raises
        ------
        cvxpy.SolverError
            Clarabel gave up without any iterate.
        """
        cp = cvxpy()
        problem, c = self.problem, min(C, np.sqrt(C))
        price, ridge = problem.loss.price(C), problem.loss.ridge(C)
        tau = cp.Variable(self.weights.size, nonneg=True)
        beta = cp.Variable(problem.y.size)
        half, constraints = problem.gram.half_square(beta)
        constraints += [beta == self.incidence @ tau]
        if np.isfinite(price):
            constraints += [tau <= price / c * self.weights]
        if ridge > 0.0:
            half += 0.5 * ridge * cp.sum_squares(cp.multiply(1.0 / np.sqrt(self.weights), tau))
        model = cp.Problem(cp.Minimize(c * half - cp.sum(tau)), constraints)
        own = min(tol, _TOLERANCE)
        with warnings.catch_warnings():
            # "Solution may be inaccurate": the certificate below says by how much.
            warnings.simplefilter("ignore", UserWarning)
            model.solve(solver=cp.CLARABEL, tol_gap_abs=own, tol_gap_rel=own)
        alpha = np.clip(c * tau.value, 0.0, price * self.weights)
        point = evaluated(problem, C, self.incidence @ alpha, float(alpha.sum()), float(alpha @ (alpha / self.weights)))
        iterations = int(model.solver_stats.num_iters)
        solution = solved(problem, point)
        return PairOutcome(solution=solution, solver=self.name, iterations=iterations, path=np.array([point.primal]))
