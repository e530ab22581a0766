"""The dual of the thresholded SVMs through cvxpy: the reference route, against which the others are tested.

The kernel enters as an N x N quadratic form of beta. The variables are tau = alpha / c with c = min(C, 1), so that
small boxes do not vanish beside the solver's tolerances: minimise (c/2) (beta' G beta + gamma^2 |s|^2) - sum tau with
0 <= tau <= (C/c) W. Both c and C/c are parameters, and a second C does not compile the problem again. Free thresholds
ask for s = 0 (less the multipliers of an order) in the place of gamma^2 |s|^2.
"""

from __future__ import annotations

import numpy as np

from ..clarabel import solve
from ..gram import cvxpy
from ..solution import Outcome
from .dual import DualSolution, ExtendedDual, certify, snapped


class CvxpyDual:
    """Solves one problem for any C with Clarabel.

    Parameters
    ----------
    problem : ExtendedDual
    rng : numpy.random.Generator
        Not used; every solver is made alike.
    """

    name = "cvxpy"

    def __init__(self, problem: ExtendedDual, rng: np.random.Generator) -> None:
        cp = cvxpy()
        n_rows, n_thresholds = problem.labels.shape
        self.problem = problem
        self.unit, self.ratio = cp.Parameter(nonneg=True), cp.Parameter(nonneg=True)
        self.tau = cp.Variable((n_rows, n_thresholds), nonneg=True)
        beta = cp.Variable(n_rows)
        signed = cp.multiply(problem.labels, self.tau)
        # Minus theta / (c gamma^2): the column sums of u, less the multipliers of an order that is asked for.
        self.push = cp.sum(signed, axis=0)
        if problem.ordered and n_thresholds > 1:
            self.push -= np.diff(np.eye(n_thresholds), axis=0).T @ cp.Variable(n_thresholds - 1, nonneg=True)
        half, constraints = problem.gram.half_square(beta)
        constraints += [self.tau <= self.ratio * problem.weights, beta == cp.sum(signed, axis=1), cp.sum(beta) == 0]
        if problem.free:
            constraints[-1] = self.push == 0
        else:
            half += 0.5 * problem.gamma**2 * cp.sum_squares(self.push)
        self.model = cp.Problem(cp.Minimize(self.unit * half - cp.sum(self.tau)), constraints)

    def solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        """Solve to Clarabel's tolerance; the relative duality gap is that of the certified outcome."""
        c = min(C, 1.0)
        self.unit.value, self.ratio.value = c, C / c
        iterations = solve(self.model, tol)
        theta = None if self.problem.free else -c * self.problem.gamma**2 * self.push.value
        u = c * self.problem.labels * self.tau.value
        solution = certify(self.problem, C, u, theta)
        sparse = snapped(self.problem, C, solution)
        solution = sparse if sparse.gap <= max(tol, solution.gap) else solution
        return Outcome(solution=solution, solver=self.name, iterations=iterations, path=np.array([solution.primal]))
