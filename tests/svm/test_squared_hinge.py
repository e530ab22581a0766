"""The squared hinge with a linear kernel, and linear kernels by their factor."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import twins
from scipy.optimize import minimize
from seams import SOLVERS

from ordstat import REDSVM, SVOREXC, OrdinalClassifier
from ordstat.compiled import svm
from ordstat.exceptions import OptionError
from ordstat.svm.gram import LinearGram
from ordstat.svm.squared_hinge import SquaredHingeNewton

from .problems import COSTS, KERNELS, problem, rows, sample

AGREE = 1e-6


def _problem(cost, gamma=1.0, ordered=None, n=60, seed=0):
    p = problem(
        KERNELS["linear"],
        COSTS[cost],
        n=n,
        weights=np.random.default_rng(1).integers(0, 3, n),
        seed=seed,
    )
    held = p.ordered if ordered is None else ordered
    return replace(
        p,
        gamma=gamma,
        ordered=held,
        gram=LinearGram(rows(n, seed=seed)[0]).centred()[0],
    )


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("gamma", [0.5, np.inf])
@pytest.mark.parametrize("C", [2.0**-9, 0.3, 20.0])
def test_newton_finds_cvxpys_optimum(cost, gamma, C):
    import cvxpy as cp

    p = _problem(cost, gamma)
    w = cp.Variable(3)
    b = cp.Variable()
    theta = cp.Variable(3)
    gaps = cp.reshape(p.gram.X @ w + b, (60, 1), order="C") - cp.reshape(
        theta, (1, 3), order="C"
    )
    loss = cp.sum(
        cp.multiply(p.weights, cp.square(cp.pos(1.0 - cp.multiply(p.labels, gaps))))
    )
    penalty = 0.0 if np.isinf(gamma) else cp.sum_squares(theta) / gamma**2
    order = [cp.diff(theta) >= 0] if p.ordered else []
    model = cp.Problem(
        cp.Minimize(0.5 * (cp.sum_squares(w) + penalty) + C * loss), order
    )
    model.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10)
    s = SquaredHingeNewton(p, np.random.default_rng(0)).solve(C, 1e-8).solution
    assert s.primal == pytest.approx(model.value, rel=AGREE)
    assert s.gap <= 1e-9
    assert (np.diff(s.theta) >= 0).all()
    np.testing.assert_allclose(p.gram.X @ s.w, s.scores, atol=1e-9)


@pytest.mark.parametrize("gamma", [1.0, np.inf])
def test_newton_against_bfgs_on_the_formula(gamma):
    """b apart from theta, as the problem is written."""
    p = _problem("squared", gamma)
    C = 0.4
    X = p.gram.X

    def objective(v):
        w = v[:3]
        b = v[3]
        theta = v[4:]
        slack = np.maximum(1.0 - p.labels * ((X @ w + b)[:, None] - theta), 0.0)
        penalty = 0.0 if np.isinf(gamma) else theta @ theta / gamma**2
        return 0.5 * (w @ w + penalty) + C * (p.weights * slack**2).sum()

    optimum = minimize(objective, np.zeros(7), method="BFGS", options={"gtol": 1e-7})
    s = SquaredHingeNewton(p, np.random.default_rng(0)).solve(C, 1e-8).solution
    assert s.primal == pytest.approx(optimum.fun, rel=1e-8)
    np.testing.assert_allclose(
        (s.offset or 0.0) - s.theta, optimum.x[3] - optimum.x[4:], atol=1e-4
    )
    assert objective(
        np.concatenate([X.T @ s.beta, [s.offset or 0.0], s.theta])
    ) == pytest.approx(s.primal, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel": "gaussian"}, "kernel='linear'"),
        ({"kernel": "linear", "solver": "cvxpy"}, "solver must be 'auto'"),
        ({"kernel": "linear", "C": np.inf}, "C must be finite"),
    ],
)
def test_what_the_squared_hinge_cannot_do(options, words):
    with pytest.raises(OptionError, match=words):
        SVOREXC(loss="squared_hinge", **options)


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("gamma", [1.0, np.inf])
@pytest.mark.parametrize("C", [0.01, 2.0])
def test_a_factor_is_the_matrix_it_makes(cost, gamma, C):
    """The hinge by every route, from X and from X X'."""
    dense = replace(problem(KERNELS["linear"], COSTS[cost]), gamma=gamma)
    linear = replace(dense, gram=LinearGram(rows(50)[0]).centred()[0])
    best = (
        SOLVERS["interior-point"](dense, np.random.default_rng(0))
        .solve(C, 1e-9)
        .solution.primal
    )
    for name in SOLVERS:
        s = SOLVERS[name](linear, np.random.default_rng(0)).solve(C, 1e-7).solution
        assert s.primal == pytest.approx(best, rel=AGREE), name
        assert s.gap <= AGREE, name


def test_a_linear_epoch_does_what_the_twin_does():
    p = problem(KERNELS["linear"], COSTS["matrix"])
    X = LinearGram(rows(50)[0]).centred()[0].X
    rng = np.random.default_rng(3)
    u = (
        np.where(rng.random(p.labels.shape) < 0.5, 0.0, rng.random(p.labels.shape))
        * p.weights
        * p.labels
    )
    order = rng.permutation(50).astype(np.intp)
    results = []
    for sweep, rows_, start in (
        (svm.row_sweep, X, X.T @ u.sum(axis=1)),
        (twins.sweep, X @ X.T, X @ (X.T @ u.sum(axis=1))),
    ):
        state = [
            u.copy(),
            u.sum(axis=1),
            start.copy(),
            -u.sum(axis=0),
            np.zeros(2),
            order.copy(),
        ]
        lengths = (X**2).sum(axis=1)
        told = sweep(
            rows_,
            sweep is svm.row_sweep,
            lengths,
            p.labels,
            4.0 * p.weights,
            *state,
            1.0,
            0.1,
            0.8,
            0.0,
            1.0,
        )
        results.append([*state[:2], *state[3:5], np.array(told)])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_many_rows_without_their_matrix():
    """20 000 rows: a matrix would take 3.2 GB."""
    X, y = rows(20_000)
    data = sample(X, y)
    for options in ({"C": 0.01}, {"C": 1.0, "loss": "squared_hinge"}):
        fit = REDSVM(kernel="linear", **options).fit(data, np.random.default_rng(0))
        assert fit.certificate.reached
        np.testing.assert_allclose(fit.rule.scores(data.rows), fit.scores, atol=1e-6)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("red-logistic", {}),
        ("redsvm", {"kernel": "linear", "loss": "squared_hinge"}),
        ("svor-imc", {"kernel": "linear", "loss": "squared_hinge"}),
        ("svor-exc", {"kernel": "linear", "loss": "squared_hinge", "C": (0.1, 1.0)}),
        ("rank-svm", {"kernel": "linear", "loss": "squared_hinge"}),
    ],
)
def test_more_columns_than_rows_give_the_turned_fit_of_few_columns(
    method, options, seed
):
    """Columns Q x of three columns x, with Q'Q = 1: the score is w'x of the fit to x,
    its coefficients Q w.
    """
    rng = np.random.default_rng(seed)
    few = rng.normal(size=(40, 3))
    y = np.digitize(few.sum(axis=1) + rng.normal(size=40), [-1.0, 0.5, 2.0])
    turned = np.linalg.qr(rng.normal(size=(90, 3)))[0]
    expected = OrdinalClassifier(method, scaling=None, **options).fit(few, y)
    model = OrdinalClassifier(method, scaling=None, **options).fit(few @ turned.T, y)
    np.testing.assert_allclose(model.coef_, turned @ expected.coef_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(
        model.thresholds_, expected.thresholds_, rtol=0, atol=1e-6
    )
    new = rng.normal(size=(30, 3))
    assert model.predict(new @ turned.T).tolist() == expected.predict(new).tolist()


@pytest.mark.parametrize("method", ["red-logistic", "redsvm", "rank-svm"])
def test_wide_data_take_no_square_matrix_of_the_columns(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3000))
    options = (
        {}
        if method == "red-logistic"
        else {"kernel": "linear", "loss": "squared_hinge"}
    )
    tracemalloc.start()
    OrdinalClassifier(method, **options).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 3000**2
