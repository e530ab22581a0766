"""Newton's method on functions that can be written out."""

import numpy as np

from ordstat.newton import Blocks, Evaluation, maximise


def test_a_log_likelihood_that_rounds_does_not_end_the_search() -> None:
    """A parabola of height -1.5e6 that is 2e-7 lower everywhere but at the start, as
    sums over 1e6 rows may round.
    """

    def objective(x, information=None):
        loglik = -1.5e6 - 0.5e5 * (x[0] - 1.0) ** 2 - 2e-7 * (x[0] != start[0])
        return Evaluation(loglik, -1e5 * (x - 1.0), Blocks.of_dense(np.array([[1e5]])))

    start = np.array([1.0 + 1e-8])
    end = maximise(objective, start, tol=1e-6, max_iter=10, total_weight=1e6)
    assert end.converged and abs(end.x[0] - 1.0) < 1e-14
