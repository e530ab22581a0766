"""Three solvers and an independent one find the same optimum."""

import numpy as np
import pytest
import twins
from sklearn.svm import SVC

from ordstat.compiled import svm
from ordstat.svm.coordinate import CoordinateAscent
from ordstat.svm.gram import DenseGram
from ordstat.svm.interior_point import InteriorPoint
from ordstat.svm.routes import SOLVERS, Automatic

from .problems import COSTS, KERNELS, problem, rows

AGREE = 1e-6


def _solve(name, p, C, tol=1e-7):
    return SOLVERS[name](p, np.random.default_rng(0)).solve(C, tol).solution


def _weights(n, kind):
    return (
        np.ones(n)
        if kind == "equal"
        else np.random.default_rng(9).integers(0, 4, n).astype(float)
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize(
    ("C", "weights"),
    [(2.0**-9, "equal"), (0.5, "equal"), (0.5, "cases"), (20.0, "equal")],
)
def test_solvers_agree(kernel, cost, C, weights):
    p = problem(KERNELS[kernel], COSTS[cost], weights=_weights(50, weights))
    collected = {name: _solve(name, p, C) for name in SOLVERS}
    best = min(s.primal for s in collected.values())
    for name, s in collected.items():
        assert s.primal == pytest.approx(best, rel=AGREE), name
        assert s.gap <= AGREE, name
        assert (np.diff(s.theta) >= 0).all(), name
        assert abs(s.beta.sum()) < 1e-9 * max(C, 1.0)


@pytest.mark.parametrize("name", ["coordinate", "interior-point"])
@pytest.mark.parametrize("C", [2.0**-17, 256.0, 2.0**14])
def test_extreme_C(name, C):
    """Far outside the usual range of C, against cvxpy."""
    p = problem(KERNELS["perceptron"], "squared")
    assert _solve(name, p, C).primal == pytest.approx(
        _solve("cvxpy", p, C).primal, rel=AGREE
    )


@pytest.mark.parametrize(
    ("kernel", "seed", "C"),
    [("gaussian", 0, 0.1), ("perceptron", 3, 0.3), ("linear", 8, 1.0)],
)
def test_order_constraint_binds_and_is_solved_jointly(kernel, seed, C):
    """Cases where the unconstrained thresholds cross; the optimum by an unrelated
    formulation (primal, cvxpy).
    """
    import cvxpy as cp

    p = problem(KERNELS[kernel], COSTS["matrix"], n=40, seed=seed)
    value, vectors = np.linalg.eigh(p.gram.matrix)
    F = vectors * np.sqrt(value.clip(0.0))
    a = cp.Variable(len(F))
    b = cp.Variable()
    theta = cp.Variable(3)
    slack = [
        cp.pos(1 - cp.multiply(p.labels[:, k], F @ a + b - theta[k])) for k in range(3)
    ]
    hinge = sum(p.weights[:, k] @ slack[k] for k in range(3))
    objective = cp.Minimize(
        0.5 * cp.sum_squares(a) + 0.5 * cp.sum_squares(theta) / p.gamma**2 + C * hinge
    )
    unordered = cp.Problem(objective)
    unordered.solve(solver=cp.CLARABEL)
    crossing = np.diff(theta.value).min()
    ordered = cp.Problem(objective, [cp.diff(theta) >= 0])
    ordered.solve(solver=cp.CLARABEL)
    assert crossing < -1e-3, "the case does not test the constraint"
    for name in SOLVERS:
        assert _solve(name, p, C).primal == pytest.approx(ordered.value, rel=AGREE), (
            name
        )


def _explicit(p, C):
    """SVC on the NQ extended examples: Gram K(x, x') + gamma^2 [k = k'] (dual
    objective, scores + b).
    """
    n, q = p.labels.shape
    gram = np.kron(p.gram.matrix, np.ones((q, q))) + p.gamma**2 * np.kron(
        np.ones((n, n)), np.eye(q)
    )
    labels = p.labels.ravel()
    weights = p.weights.ravel()
    used = weights > 0
    machine = SVC(kernel="precomputed", C=C, tol=1e-5, max_iter=1_000_000)
    machine.fit(gram[np.ix_(used, used)], labels[used], sample_weight=weights[used])
    u = np.zeros(n * q)
    u[np.flatnonzero(used)[machine.support_]] = machine.dual_coef_.ravel()
    dual = np.abs(u).sum() - 0.5 * u @ gram @ u
    return dual, (gram @ u + machine.intercept_).reshape(n, q)


@pytest.mark.parametrize("kernel", ["perceptron", "gaussian", "linear"])
@pytest.mark.parametrize("cost", ["absolute", "squared"])
@pytest.mark.parametrize("C", [0.1, 2.0])
@pytest.mark.parametrize("gamma", [1.0, 0.5])
def test_against_sklearn_on_explicit_extended_examples(kernel, cost, C, gamma):
    p = problem(KERNELS[kernel], cost, gamma=gamma, weights=_weights(50, "cases"))
    s = _solve("auto", p, C)
    dual, answers = _explicit(p, C)
    assert s.dual == pytest.approx(dual, rel=1e-5)
    np.testing.assert_allclose(
        s.scores[:, None] + s.offset - s.theta, answers, atol=2e-3
    )


def test_two_levels_are_a_plain_svm():
    """K = 2: a support vector machine with kernel G + gamma^2, whose constant a free b
    absorbs.
    """
    X, y = rows(60, n_levels=2)
    p = problem(KERNELS["gaussian"], "absolute")
    gram = KERNELS["gaussian"](X, X)
    labels = np.where(y > 0, 1.0, -1.0)
    p = type(p)(
        gram=DenseGram(gram),
        labels=labels[:, None],
        weights=np.ones((60, 1)),
        gamma=1.5,
        ordered=False,
    )
    machine = SVC(kernel="precomputed", C=3.0, tol=1e-7).fit(gram + 1.5**2, labels)
    for name in SOLVERS:
        s = _solve(name, p, 3.0, tol=1e-10)
        np.testing.assert_allclose(
            s.scores + s.offset - s.theta,
            machine.decision_function(gram + 1.5**2),
            atol=1e-4,
        )
        assert s.theta == pytest.approx([0.0], abs=1e-6)


@pytest.mark.parametrize("cost", ["absolute", "squared"])
def test_thresholds_sum_to_zero(cost):
    s = _solve("auto", problem(KERNELS["perceptron"], cost), 1.0)
    assert s.theta.sum() == pytest.approx(0.0, abs=1e-6)


def test_a_path_over_C_is_the_same_as_single_solves():
    p = problem(KERNELS["stump"], "absolute")
    warm = CoordinateAscent(p, np.random.default_rng(1))
    for C in (0.01, 0.1, 1.0, 4.0):
        assert warm.solve(C, 1e-8).solution.primal == pytest.approx(
            _solve("interior-point", p, C).primal, rel=AGREE
        )


def test_smaller_C_after_a_larger_one():
    p = problem(KERNELS["stump"], "absolute")
    solver = CoordinateAscent(p, np.random.default_rng(1))
    solver.solve(4.0, 1e-6)
    assert solver.solve(0.1, 1e-8).solution.primal == pytest.approx(
        _solve("cvxpy", p, 0.1).primal, rel=AGREE
    )


def test_auto_hands_over_what_coordinate_ascent_cannot_finish():
    p = problem(KERNELS["gaussian"], "absolute", n=230)
    first = CoordinateAscent(p, np.random.default_rng(0), max_epochs=500).solve(
        2.0**10, 1e-6
    )
    assert first.solution.gap > 1e-6
    outcome = SOLVERS["auto"](p, np.random.default_rng(0)).solve(2.0**10, 1e-6)
    assert outcome.solver == InteriorPoint.name
    assert outcome.solution.gap <= 1e-6


def test_an_ascent_goes_on_where_the_interior_point_ends_in_rounding(monkeypatch):
    class Rounded(InteriorPoint):
        def solve(self, C, tol):
            return CoordinateAscent(self.problem, np.random.default_rng(0)).solve(
                C, 1e-5
            )

    monkeypatch.setattr("ordstat.svm.routes.InteriorPoint", Rounded)
    p = problem(KERNELS["gaussian"], COSTS["absolute"], n=60)
    outcome = Automatic(p, np.random.default_rng(0)).solve(20.0, 1e-10)
    assert outcome.solution.gap <= 1e-10
    exact = SOLVERS["cvxpy"](p, np.random.default_rng(0)).solve(20.0, 1e-10)
    assert outcome.solution.primal == pytest.approx(exact.solution.primal, rel=1e-4)


# Rounding of the two summations, over a few hundred row steps.
CLOSE = 1e-9


def _start(p, rng):
    u = (
        np.where(
            rng.random(p.labels.shape) < 0.5,
            0.0,
            rng.random(p.labels.shape) * p.weights,
        )
        * p.labels
    )
    beta = u.sum(axis=1)
    theta = -(p.gamma**2) * u.sum(axis=0)
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
            results.append(
                sweep(
                    p.gram.matrix,
                    False,
                    p.gram.diagonal,
                    p.labels,
                    4.0 * p.weights,
                    *state,
                    *settings,
                )
            )
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
        can_rise = u[n] < low + p.weights[n]
        can_fall = u[n] > low
        assert max(e[can_rise].max(initial=0.0), -e[can_fall].min(initial=0.0)) < CLOSE


@pytest.mark.parametrize("cost", ["absolute", "matrix"])
@pytest.mark.parametrize("gamma", [1.0, np.inf])
def test_the_free_variables_end_a_rough_solve(cost, gamma):
    """From a gap of 1e-3 two linear systems reach the optimum of cvxpy; two epochs free
    what the first one held.
    """
    p = problem(KERNELS["stump"], COSTS[cost], n=240, gamma=gamma)
    ascent = CoordinateAscent(p, np.random.default_rng(0), max_epochs=800)
    rough = ascent.solve(2.0, 1e-3)
    actual = ascent.solve(2.0, 1e-11)
    assert actual.solution.gap <= 1e-11 < 1e-5 < rough.solution.gap
    assert actual.iterations < 100
    assert actual.solution.primal == pytest.approx(
        _solve("cvxpy", p, 2.0).primal, rel=1e-8
    )
