"""Newton's method on functions that can be written out."""

import numpy as np

from ordstat import newton


def test_a_log_likelihood_that_rounds_does_not_end_the_search() -> None:
    """A parabola of height -1.5e6 that is 2e-7 lower everywhere but at the start, as
    sums over 1e6 rows may round.
    """

    def objective(x, information=None):
        loglik = -1.5e6 - 0.5e5 * (x[0] - 1.0) ** 2 - 2e-7 * (x[0] != start[0])
        return newton.Evaluation(
            loglik, -1e5 * (x - 1.0), newton.Blocks.of_dense(np.array([[1e5]]))
        )

    start = np.array([1.0 + 1e-8])
    end = newton.maximise(objective, start, tol=1e-6, max_iter=10, total_weight=1e6)
    assert end.converged and abs(end.x[0] - 1.0) < 1e-14


def test_a_search_says_that_it_stopped() -> None:
    """Newton's steps shorten the distance to the maximum of -x^4 by a third each."""

    def objective(x, information=None):
        return newton.Evaluation(
            -float(x[0] ** 4),
            -4.0 * x**3,
            newton.Blocks.of_dense(np.array([[12.0 * x[0] ** 2]])),
        )

    start = np.array([1.0])
    end = newton.maximise(objective, start, tol=1e-9, max_iter=3, total_weight=1.0)
    assert end.stopped
    assert not end.converged
    assert end.ended is newton.Ended.MOST_ITERATIONS
    assert end.message == "stopped after 3 iterations"
    np.testing.assert_allclose(end.x, (2.0 / 3.0) ** 3, rtol=1e-12)
    longer = newton.maximise(objective, start, tol=1e-3, max_iter=60, total_weight=1.0)
    assert longer.converged
    assert not longer.stopped
