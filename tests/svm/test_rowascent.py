"""The compiled epoch against its NumPy twin."""

import numpy as np
import pytest
import twins

from ordstat.compiled import svm

from .problems import COSTS, KERNELS, problem

# Rounding of the two summations, over a few hundred row steps.
CLOSE = 1e-9


def _start(p, rng):
    u = np.where(rng.random(p.labels.shape) < 0.5, 0.0, rng.random(p.labels.shape) * p.weights) * p.labels
    beta, theta = u.sum(axis=1), -(p.gamma**2) * u.sum(axis=0)
    mu = np.zeros(p.labels.shape[1] - 1 if p.ordered else 0)
    order = rng.permutation(len(u)).astype(np.intp)
    return [u, beta, p.gram @ beta, theta, mu, order]


@pytest.mark.parametrize("kernel", ["perceptron", "gaussian"])
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("gamma", [1.0, 0.3])
def test_an_epoch_does_what_its_twin_does(kernel, cost, gamma):
    p = problem(KERNELS[kernel], COSTS[cost], gamma=gamma)
    mine, other = (_start(p, np.random.default_rng(3)) for _ in range(2))
    for skip, shrink in ((0.0, np.inf), (0.0, 1.0), (0.05, 1.0)):
        results = []
        for sweep, state in ((svm.row_sweep, mine), (twins.sweep, other)):
            settings = (gamma**2, 0.1, 0.8, skip, shrink)
            results.append(sweep(p.gram.matrix, False, p.gram.diagonal, p.labels, 4.0 * p.weights, *state, *settings))
        assert results[0][0] == pytest.approx(results[1][0], rel=CLOSE, abs=CLOSE)
        assert results[0][1] == results[1][1]
        for a, b in zip(mine, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=CLOSE, atol=CLOSE)


def test_a_row_step_is_exact():
    """After its step a row satisfies the optimality conditions of its own variables."""
    p = problem(KERNELS["perceptron"], "absolute")
    u, beta, f, theta, mu, order = _start(p, np.random.default_rng(0))
    for n in order:
        one = np.array([n], dtype=np.intp)
        fixed = (p.gram.matrix, False, p.gram.diagonal, p.labels, p.weights)
        svm.row_sweep(*fixed, u, beta, f, theta, mu, one, 1.0, 0.0, 0.0, 0.0, np.inf)
        e = p.labels[n] - f[n] + theta
        low = np.minimum(p.labels[n] * p.weights[n], 0.0)
        can_rise, can_fall = u[n] < low + p.weights[n], u[n] > low
        assert max(e[can_rise].max(initial=0.0), -e[can_fall].min(initial=0.0)) < CLOSE
