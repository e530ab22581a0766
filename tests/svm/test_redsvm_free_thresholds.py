"""SVOR-IMC, SVOR-EXC and the hard margin: free thresholds, against primal problems in
cvxpy.
"""

from dataclasses import replace

import numpy as np
import pytest
from expected import not_separable
from scipy.optimize import linprog
from seams import SOLVERS, CostMatrix, extend, resolve

from ordstat import REDSVM, SVOREXC, SVORIMC
from ordstat.svm.dual import best_thresholds, certify
from ordstat.svm.routes import hard_margin

from .problems import COSTS, KERNELS, problem, rows, sample

AGREE = 1e-6
#: Which terms count and whether theta is held in order: SVOR-IMC, SVOR-EXC, and both
#: under other costs.
FORMS = {
    "imc": ("absolute", False),
    "exc": ("classification", True),
    "squared": ("squared", False),
    "v-shaped": (COSTS["matrix"], True),
}


SQUARED = {"kernel": "linear", "loss": "squared_hinge"}


def _free(kernel, form, weights=None, seed=0, n=50):
    cost, ordered = FORMS[form]
    return replace(
        problem(KERNELS[kernel], cost, n=n, weights=weights, seed=seed),
        gamma=np.inf,
        ordered=ordered,
    )


def _primal_by_cvxpy(p, C):
    """min 1/2 |v|^2 + C sum of hinges over (v, theta), with v in the span of the rows;
    C None for no slack at all.
    """
    import cvxpy as cp

    value, vectors = np.linalg.eigh(p.gram.matrix)
    F = vectors * np.sqrt(value.clip(0.0))
    a = cp.Variable(len(F))
    theta = cp.Variable(p.labels.shape[1])
    held = [cp.diff(theta) >= 0] if p.ordered else []
    gaps = [
        cp.multiply(p.labels[:, k], F @ a - theta[k]) for k in range(p.labels.shape[1])
    ]
    loss = 0.0
    for k, gap in enumerate(gaps):
        if C is None:
            held += [gap[p.weights[:, k] > 0] >= 1]
        else:
            loss += C * (p.weights[:, k] @ cp.pos(1 - gap))
    model = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(a) + loss), held)
    model.solve(solver=cp.CLARABEL, tol_gap_rel=1e-10, tol_gap_abs=1e-10)
    return model.value


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("C", "weighted"), [(2.0**-9, False), (0.5, True), (20.0, False)]
)
def test_solvers_find_the_primal_optimum(kernel, form, C, weighted):
    weights = (
        np.random.default_rng(9).integers(0, 4, 50).astype(float) if weighted else None
    )
    p = _free(kernel, form, weights)
    optimum = _primal_by_cvxpy(p, C)
    for name in SOLVERS:
        s = SOLVERS[name](p, np.random.default_rng(0)).solve(C, 1e-7).solution
        assert s.primal == pytest.approx(optimum, rel=AGREE), name
        assert s.gap <= AGREE, name
        assert (np.diff(s.theta) >= 0).all(), name


@pytest.mark.parametrize("name", ["coordinate", "interior-point"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("C", [2.0**-17, 256.0, 2.0**14])
def test_extreme_C(name, form, C):
    p = _free("perceptron", form)
    solve = {
        n: SOLVERS[n](p, np.random.default_rng(0)).solve(C, 1e-7).solution.primal
        for n in (name, "cvxpy")
    }
    assert solve[name] == pytest.approx(solve["cvxpy"], rel=AGREE)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("C", [0.05, 3.0])
def test_any_point_is_certified_honestly(form, C):
    """Random u: dual feasible after repair, D never above the optimum and P never below
    it.
    """
    p = _free("gaussian", form, n=30)
    optimum = _primal_by_cvxpy(p, C)
    rng = np.random.default_rng(5)
    for scale in (0.1, 1.0, 3.0):
        s = certify(p, C, scale * C * rng.normal(size=p.labels.shape))
        totals = s.u.sum(axis=0)
        assert totals.sum() == pytest.approx(0.0, abs=1e-9)
        assert (
            np.cumsum(totals).max() <= 1e-9
            if p.ordered
            else np.abs(totals).max() <= 1e-9
        )
        assert (p.labels * s.u >= 0).all()
        assert (np.abs(s.u) <= C * p.weights * (1 + 1e-12)).all()
        slack = 1.0 - p.labels * ((p.gram @ s.beta)[:, None] - s.theta)
        primal = (
            0.5 * s.beta @ p.gram.matrix @ s.beta
            + C * (p.weights * slack.clip(0.0)).sum()
        )
        assert s.primal == pytest.approx(primal, rel=1e-10)
        assert s.dual == pytest.approx(
            np.abs(s.u).sum() - 0.5 * s.beta @ p.gram.matrix @ s.beta,
            rel=1e-9,
            abs=1e-12,
        )
        assert s.dual <= optimum * (1 + 1e-8)
        assert s.primal >= optimum * (1 - 1e-8)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("seed", range(4))
def test_best_thresholds_against_a_linear_programme(ordered, cost, seed):
    p = problem(
        KERNELS["linear"],
        COSTS[cost],
        n=20,
        seed=seed,
        weights=np.random.default_rng(seed).integers(0, 3, 20),
    )
    scores = np.random.default_rng(seed).normal(size=20)
    n, q = p.labels.shape
    # Variables theta, then one slack a cell: slack >= 1 - Y (f - theta), slack >= 0.
    one_cell = np.eye(n * q)
    to_theta = -p.labels.ravel()[:, None] * np.tile(np.eye(q), (n, 1))
    A = [np.hstack([-to_theta, -one_cell])]
    b = [(p.labels * scores[:, None]).ravel() - 1.0]
    if ordered:
        A.append(np.hstack([-np.diff(np.eye(q), axis=0), np.zeros((q - 1, n * q))]))
        b.append(np.zeros(q - 1))
    actual = linprog(
        np.concatenate([np.zeros(q), p.weights.ravel()]),
        A_ub=np.vstack(A),
        b_ub=np.concatenate(b),
        bounds=[(None, None)] * q + [(0, None)] * (n * q),
    )
    theta = best_thresholds(p.labels, p.weights, scores, ordered=ordered)
    loss = (p.weights * (1.0 - p.labels * (scores[:, None] - theta)).clip(0.0)).sum()
    assert loss == pytest.approx(actual.fun, abs=1e-9)
    if ordered:
        assert (np.diff(theta) >= 0).all()


def test_an_order_that_binds():
    """A case of the classification cost where free thresholds would cross."""
    p = replace(problem(KERNELS["linear"], "classification", n=40), gamma=np.inf)
    free, held = (replace(p, ordered=ordered) for ordered in (False, True))
    optimum = _primal_by_cvxpy(held, 0.1)
    assert optimum > 1.001 * _primal_by_cvxpy(free, 0.1), (
        "the case does not test the constraint"
    )
    for name in SOLVERS:
        s = SOLVERS[name](held, np.random.default_rng(0)).solve(0.1, 1e-7).solution
        assert s.primal == pytest.approx(optimum, rel=AGREE), name
        assert np.diff(s.theta).min() == pytest.approx(0.0, abs=1e-9), name


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("kernel", ["perceptron", "gaussian"])
@pytest.mark.parametrize("form", ["imc", "exc"])
def test_hard_margin(name, kernel, form):
    p = _free(kernel, form, n=40)
    s = hard_margin(SOLVERS[name], p, np.random.default_rng(0), 1e-6).solution
    assert s.gap <= 1e-6
    assert s.primal == pytest.approx(_primal_by_cvxpy(p, None), rel=AGREE)
    margins = p.labels * (s.scores[:, None] - s.theta)
    assert margins[p.weights > 0].min() >= 1.0 - 1e-12
    np.testing.assert_allclose(p.gram @ s.beta, s.scores, atol=1e-9)


def test_hard_margins_of_all_and_of_neighbouring_thresholds_are_the_same():
    """Thresholds in order: whoever clears the ends of the own interval clears those
    beyond.
    """
    data = sample(*rows(40))
    imc, exc = (
        m(C=np.inf).fit(data, np.random.default_rng(0)) for m in (SVORIMC, SVOREXC)
    )
    np.testing.assert_allclose(
        imc.scores[:, None] - imc.rule.theta,
        exc.scores[:, None] - exc.rule.theta,
        rtol=1e-3,
        atol=1e-3,
    )


def test_levels_that_cannot_be_separated_are_refused():
    X, y = rows(40)
    with not_separable():
        SVOREXC(C=np.inf, kernel="linear").fit(sample(X, y), np.random.default_rng(0))
    twice = sample(np.vstack([X, X[:1]]), np.append(y, 3 - y[0]))
    with not_separable():
        SVOREXC(C=np.inf).fit(twice, np.random.default_rng(0))


@pytest.mark.parametrize("method", [SVORIMC, SVOREXC, REDSVM])
@pytest.mark.parametrize(
    "options", [*({"solver": s} for s in SOLVERS), SQUARED], ids=str
)
@pytest.mark.parametrize(
    "levels", [(0, 1, 2, 3), (0, 2, 3), (1, 2), (1, 3), (2,), (0, 3)]
)
def test_levels_without_rows(method, options, levels):
    """A threshold that rows hold from one side only, or not at all: as in a fold that
    misses a rare level.
    """
    X, y = rows(60)
    kept = np.isin(y, levels)
    data = sample(X[kept], y[kept])
    fit = method(C=2, tol=1e-6, **options).fit(data, np.random.default_rng(0))
    assert fit.certificate.reached
    assert (np.diff(fit.rule.theta) >= 0).all()
    codes = fit.rule.codes(data.rows)
    assert codes.min() >= min(levels)
    assert codes.max() <= max(levels)
    if method is REDSVM or options is SQUARED:
        return
    costs = CostMatrix(method().cost).rows(data.y, 4)
    extended = extend(data.y, costs, np.ones(data.n))
    slack = 1.0 - extended.labels * (fit.scores[:, None] - fit.rule.theta)
    norm = method().geometry(data, fit).norm
    primal = 0.5 * norm**2 + 2.0 * (extended.weights * slack.clip(0.0)).sum()
    assert dict(fit.certificate.details)["primal value"] == pytest.approx(
        primal, rel=1e-6, abs=1e-12
    )


def test_a_very_weak_penalty_is_nearly_none():
    """RED-SVM tends to SVOR-IMC as gamma grows."""
    data = sample(*rows(60))
    weak = REDSVM(threshold_gamma=1e4, C=2, kernel="gaussian").fit(
        data, np.random.default_rng(0)
    )
    none = SVORIMC(C=2, kernel="gaussian").fit(data, np.random.default_rng(0))
    np.testing.assert_allclose(
        weak.scores[:, None] - weak.rule.theta,
        none.scores[:, None] - none.rule.theta,
        atol=1e-4,
    )


def test_data_replication_is_redsvm():
    assert resolve("osvm", {"threshold_gamma": 3}) == REDSVM(threshold_gamma=3)


@pytest.mark.parametrize("method", [SVORIMC, SVOREXC])
def test_selection_of_C_by_the_own_cost(method):
    data = sample(*rows(90, seed=3))
    fit = method(C="cv", folds=3).fit(data, np.random.default_rng(1))
    chosen = fit.selection
    refit = method(C=chosen.C[chosen.chosen]).fit(data, np.random.default_rng(0))
    np.testing.assert_allclose(fit.scores, refit.scores, atol=1e-5)
    assert chosen.chosen == int(np.argmin(chosen.cost))
