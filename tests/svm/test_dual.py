"""The certificate against dense computations that share nothing with it."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from seams import SOLVERS

from ordstat.svm import dual

from .problems import COSTS, KERNELS, problem


def _primal(p, C, beta, b, theta):
    slack = 1.0 - p.labels * ((p.gram @ beta + b)[:, None] - theta[None, :])
    penalty = beta @ p.gram.matrix @ beta + theta @ theta / p.gamma**2
    return 0.5 * penalty + C * (p.weights * slack.clip(0.0)).sum()


def _dual(p, u):
    """D by the explicit (NQ) x (NQ) Hessian of the extended kernel."""
    n, q = u.shape
    hessian = np.kron(p.gram.matrix, np.ones((q, q))) + p.gamma**2 * np.kron(
        np.ones((n, n)), np.eye(q)
    )
    return np.abs(u).sum() - 0.5 * u.ravel() @ hessian @ u.ravel()


@pytest.mark.parametrize("kernel", ["perceptron", "gaussian"])
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("C", [0.05, 3.0])
def test_any_point_is_certified_honestly(kernel, cost, C):
    """Random u: feasible after repair, P as computed densely, D never above the
    optimum, P never below.
    """
    p = problem(KERNELS[kernel], COSTS[cost], n=30)
    optimum = (
        SOLVERS["cvxpy"](p, np.random.default_rng(0)).solve(C, 1e-9).solution.primal
    )
    rng = np.random.default_rng(5)
    for scale in (0.1, 1.0, 3.0):
        s = dual.certify(p, C, scale * C * rng.normal(size=p.labels.shape))
        assert s.u.sum() == pytest.approx(0.0, abs=1e-9)
        assert (p.labels * s.u >= 0).all()
        assert (np.abs(s.u) <= C * p.weights).all()
        np.testing.assert_allclose(s.beta, s.u.sum(axis=1), atol=1e-12)
        assert s.primal == pytest.approx(
            _primal(p, C, s.beta, s.offset, s.theta), rel=1e-10
        )
        assert s.dual <= optimum * (1 + 1e-8)
        assert s.primal >= optimum * (1 - 1e-8)
        if not p.ordered:
            assert s.dual == pytest.approx(_dual(p, s.u), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("cost", ["absolute", "squared"])
def test_reported_gap_is_the_dense_one(name, cost):
    p = problem(KERNELS["perceptron"], cost, n=30)
    s = SOLVERS[name](p, np.random.default_rng(0)).solve(1.0, 1e-5).solution
    P = _primal(p, 1.0, s.beta, s.offset, s.theta)
    D = _dual(p, s.u)
    assert s.gap == pytest.approx((P - D) / P, abs=1e-11)
    assert s.gap <= 1e-5


@pytest.mark.parametrize("seed", range(5))
def test_offset_is_the_best_one(seed):
    p = problem(KERNELS["linear"], "squared", n=25, seed=seed)
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=25)
    theta = np.sort(rng.normal(size=3))

    def loss(b):
        slack = 1.0 - p.labels * ((scores + b)[:, None] - theta)
        return (p.weights * slack.clip(0.0)).sum()

    actual = minimize_scalar(
        loss, bounds=(-10, 10), method="bounded", options={"xatol": 1e-10}
    )
    assert (
        loss(dual.best_offset(p.labels, p.weights, scores, theta)) <= actual.fun + 1e-9
    )


def test_offset_is_the_midpoint_of_an_interval_of_minimisers():
    p = problem(KERNELS["linear"], "absolute", n=2)
    labels = np.array([[1.0], [-1.0]])
    p = type(p)(
        gram=p.gram, labels=labels, weights=np.ones((2, 1)), gamma=1.0, ordered=False
    )
    # Knots at 1 - 3 = -2 and -1 - (-5) = 4: any b between costs the same, nothing.
    assert dual.best_offset(
        p.labels, p.weights, np.array([3.0, -5.0]), np.zeros(1)
    ) == pytest.approx(1.0)
    # One label alone: the nearest b without loss.
    one = type(p)(
        gram=p.gram,
        labels=np.abs(labels),
        weights=np.ones((2, 1)),
        gamma=1.0,
        ordered=False,
    )
    assert dual.best_offset(
        one.labels, one.weights, np.array([3.0, -5.0]), np.zeros(1)
    ) == pytest.approx(6.0)


def test_balancing_leaves_bounds_alone_where_it_can():
    labels = np.array([[1.0, 1.0, -1.0, 1.0]])
    caps = np.ones((1, 4))
    u = dual.balanced(labels, caps, np.array([[1.0, 0.5, -1.0, 0.0]]))
    np.testing.assert_allclose(u, [[1.0, 0.0, -1.0, 0.0]])
    u = dual.balanced(labels, caps, np.array([[1.0, 1.0, -1.0, 0.0]]))
    np.testing.assert_allclose(u, [[0.5, 0.5, -1.0, 0.0]])


@pytest.mark.parametrize("cost", ["absolute", "classification", "squared"])
def test_every_solver_finds_the_same_support_vectors(cost):
    """Interior points have no zeros of their own; coordinate ascent meets its bounds
    exactly.
    """
    p = problem(KERNELS["perceptron"], cost)
    counts = set()
    for name in SOLVERS:
        s = SOLVERS[name](p, np.random.default_rng(0)).solve(0.5, 1e-9).solution
        counts.add(int((np.abs(s.beta) > 1e-12).sum()))
    assert len(counts) == 1
    assert counts.pop() < 50
