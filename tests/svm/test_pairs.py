"""The pairwise machine: solvers against each other and cvxpy, loops against their
twins, boundaries, bounds.
"""

import warnings
from dataclasses import replace
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
import twins
from scipy.optimize import minimize
from seams import BallGeometry, CostMatrix, Rows

from ordstat import Polynomial, RankBoundarySVM, datasets, ordfit
from ordstat.compiled import svm
from ordstat.exceptions import ConvergenceWarning, DataError
from ordstat.judging.training_bounds import preference_bounds
from ordstat.svm import pairs
from ordstat.svm.gram import DenseGram, LinearGram

from .problems import KERNELS, rows, sample

AGREE = 1e-6
CLOSE = 1e-9


def _problem(kernel, loss, n=40, weighted=False, seed=0, linear=False):
    X, y = rows(n, seed=seed)
    gram = LinearGram(X) if linear else DenseGram(KERNELS[kernel](X, X))
    weights = (
        np.random.default_rng(4).integers(1, 4, n).astype(float)
        if weighted
        else np.ones(n)
    )
    costs = CostMatrix.absolute().rows(y, 4)
    return pairs.PairProblem(
        gram=gram.centred()[0],
        y=y,
        weights=weights,
        costs=costs,
        squared=loss == "squared_hinge",
    )


def _matrix(p):
    return p.gram.matrix if isinstance(p.gram, DenseGram) else p.gram.X @ p.gram.X.T


def _primal(p, C, beta):
    """1/2 |v|^2 + C sum of losses, over a list of pairs."""
    G = _matrix(p)
    f = G @ beta
    i, j = np.nonzero(p.y[:, None] > p.y)
    slack = np.maximum(1.0 - (f[i] - f[j]), 0.0) ** (2 if p.squared else 1)
    return 0.5 * beta @ G @ beta + C * (p.weights[i] * p.weights[j] * slack).sum()


def _optimum(p, C):
    """The primal problem in cvxpy, v in the span of the rows."""
    import cvxpy as cp

    value, vectors = np.linalg.eigh(_matrix(p))
    F = vectors * np.sqrt(value.clip(0.0))
    a = cp.Variable(len(F))
    i, j = np.nonzero(p.y[:, None] > p.y)
    slack = cp.pos(1 - (F[i] - F[j]) @ a)
    losses = cp.square(slack) if p.squared else slack
    model = cp.Problem(
        cp.Minimize(
            0.5 * cp.sum_squares(a) + C * ((p.weights[i] * p.weights[j]) @ losses)
        )
    )
    model.solve(solver=cp.CLARABEL)
    return model.value


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("C", "weighted"), [(2.0**-9, False), (0.05, True), (4.0, False)]
)
def test_solvers_find_the_primal_optimum(kernel, C, weighted):
    p = _problem(kernel, "hinge", weighted=weighted)
    optimum = _optimum(p, C)
    for route in (pairs.PairAscent, pairs.CvxpyPairs, pairs.AutomaticPairs):
        s = route(p, np.random.default_rng(0)).solve(C, 1e-8).solution
        assert s.primal == pytest.approx(optimum, rel=AGREE), route.name
        assert s.gap <= AGREE
        assert s.primal == pytest.approx(_primal(p, C, s.beta), rel=1e-9)
        assert s.dual <= optimum * (1 + AGREE)
        assert s.beta.sum() == pytest.approx(0.0, abs=1e-9)
        np.testing.assert_allclose(s.scores, p.gram @ s.beta, atol=1e-9)


@pytest.mark.parametrize("loss", pairs.PAIR_LOSSES)
@pytest.mark.parametrize("C", [2.0**-9, 0.1, 30.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_linear_routes(loss, C, weighted):
    p = _problem("linear", loss, weighted=weighted, linear=True)
    optimum = _optimum(p, C)
    for route in (
        [pairs.PairAscent, *pairs.PAIR_LOSSES[loss].values()]
        if loss == "hinge"
        else pairs.PAIR_LOSSES[loss].values()
    ):
        s = route(p, np.random.default_rng(0)).solve(C, 1e-8).solution
        assert s.primal == pytest.approx(optimum, rel=AGREE)
        assert s.gap <= AGREE


def test_counting_newton_against_bfgs():
    p = _problem("linear", "squared_hinge", n=60, weighted=True, linear=True)
    X = p.gram.X
    C = 0.3
    i, j = np.nonzero(p.y[:, None] > p.y)
    v = p.weights[i] * p.weights[j]

    def objective(w):
        slack = np.maximum(1.0 - (X[i] - X[j]) @ w, 0.0)
        return 0.5 * w @ w + C * v @ slack**2, w - 2.0 * C * (X[i] - X[j]).T @ (
            v * slack
        )

    optimum = minimize(
        objective, np.zeros(3), jac=True, method="BFGS", options={"gtol": 1e-7}
    )
    solution = pairs.PairNewton(p, np.random.default_rng(0)).solve(C, 1e-10).solution
    np.testing.assert_allclose(X.T @ solution.beta, optimum.x, atol=1e-6)
    assert solution.gap < 1e-12


@pytest.mark.parametrize("C", [1e-6, 1.0, 1e3])
def test_newton_ends_at_rounding_whatever_C_is(C):
    """The w of the dual variables is far more sensitive than that of the steps, the
    more so the larger C.
    """
    X = np.random.default_rng(1).standard_normal((400, 4))
    y = np.digitize(
        X @ [1.0, -2.0, 0.5, 0.0] + np.random.default_rng(2).logistic(size=400),
        [-1.5, 0.0, 1.5],
    )
    gram = LinearGram(X).centred()[0]
    costs = CostMatrix.absolute().rows(y, 4)
    p = pairs.PairProblem(
        gram=gram, y=y, weights=np.ones(400), costs=costs, squared=True
    )
    assert (
        pairs.PairNewton(p, np.random.default_rng(0)).solve(C, 1e-3).solution.gap
        < 1e-11
    )


def test_a_huge_C_on_ranks_out_of_order():
    """Herbrich et al.'s setting, C = 1e6 and a polynomial of degree 2, on noisy
    ranks.
    """
    X, y = rows(40)
    fit = RankBoundarySVM(
        C=1e6, kernel=Polynomial(gamma=1, degree=2), scaling=None
    ).fit(sample(X, y), np.random.default_rng(0))
    assert fit.certificate.reached


@pytest.mark.parametrize("route", [pairs.CvxpyPairs, pairs.AutomaticPairs])
def test_pairs_of_vast_weight_beside_a_tiny_C(route):
    """C w_i w_j is what counts."""
    plain = _problem("gaussian", "hinge")
    heavy = _problem("gaussian", "hinge")
    heavy = replace(heavy, weights=np.full(40, 1e20))
    one, other = (
        route(p, np.random.default_rng(0)).solve(C, 1e-8)
        for p, C in ((plain, 0.5), (heavy, 0.5e-40))
    )
    assert other.solution.gap <= AGREE
    assert other.solution.primal == pytest.approx(one.solution.primal, rel=AGREE)
    np.testing.assert_allclose(other.solution.scores, one.solution.scores, atol=1e-3)


@pytest.mark.parametrize("weight", [1e5, 1e6, 1e15])
@pytest.mark.parametrize(
    ("kernel", "loss"),
    [("perceptron", "hinge"), *product(["linear"], pairs.PAIR_LOSSES)],
)
def test_a_route_that_ends_with_nothing_says_so(kernel, loss, weight):
    """C w^2 beyond what any route computes: a proven gap, and a warning where it is
    above the tolerance.
    """
    data = datasets.load("wine").assign(z=np.arange(72) % 7 - 3.0, w=weight)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = ordfit(
            "rating ~ temp + contact + z",
            data,
            "rank-svm",
            weights="w",
            kernel=kernel,
            loss=loss,
        )
    told = any(issubclass(w.category, ConvergenceWarning) for w in caught)
    assert told != fit.fit.certificate.reached


@pytest.mark.parametrize("C", [0.02, 3.0])
def test_pair_sweeps_do_what_their_twin_does(C):
    dense, linear = (
        _problem("linear", "hinge", weighted=True, linear=linear)
        for linear in (False, True)
    )
    upper, lower = dense.pairs()
    states = []
    for sweep, factored in (
        (svm.pair_sweep, False),
        (twins.pair_sweep, False),
        (svm.pair_sweep, True),
    ):
        rng = np.random.default_rng(1)
        alpha = np.zeros(upper.size)
        order = rng.permutation(upper.size).astype(np.intp)
        array = linear.gram.X if factored else dense.gram.matrix
        state = np.zeros(array.shape[1])
        results = []
        for skip, shrink in ((0.0, np.inf), (0.0, 1.0), (0.05, 0.5)):
            result = sweep(
                array,
                factored,
                upper,
                lower,
                dense.weights,
                alpha,
                state,
                order,
                C,
                skip,
                shrink,
            )
            order = order[: result[1]].copy()
            results.append(result)
        states.append(
            (alpha, linear.gram.X @ state if factored else state, np.array(results))
        )
    for other in states[1:]:
        for a, b in zip(states[0], other, strict=True):
            np.testing.assert_allclose(a, b, rtol=CLOSE, atol=CLOSE)


@pytest.mark.parametrize("n_columns", [0, 2])
def test_counting_is_the_double_sum(n_columns):
    rng = np.random.default_rng(0)
    scores = np.sort(np.round(rng.normal(size=60), 1))
    y = rng.integers(0, 5, 60).astype(np.intp)
    weights = rng.uniform(0.5, 2.0, 60)
    X = rng.normal(size=(60, n_columns))
    sums = np.empty((60, 3 + n_columns))
    svm.pairs_below(scores, y, weights, X, sums, np.zeros((5, 3 + n_columns)))
    np.testing.assert_allclose(sums, twins.below(scores, y, weights, X), atol=1e-12)


def test_pairs_are_all_of_different_rank_once():
    p = _problem("linear", "hinge", n=30)
    upper, lower = p.pairs()
    i, j = np.nonzero(p.y[:, None] > p.y)
    assert sorted(zip(upper.tolist(), lower.tolist(), strict=True)) == sorted(
        zip(i.tolist(), j.tolist(), strict=True)
    )
    assert p.n_pairs == i.size


def test_too_many_pairs_are_refused(monkeypatch):
    monkeypatch.setattr(pairs, "MOST_PAIRS", 100)
    with pytest.raises(DataError, match=r"40 rows make 600 pairs .*squared_hinge"):
        pairs.PairAscent(_problem("linear", "hinge"), np.random.default_rng(0))


# Boundaries


def _of_three_ranks(y):
    costs = CostMatrix.absolute().rows(y, 3)
    return pairs.PairProblem(
        gram=DenseGram(np.eye(6)), y=y, weights=np.ones(6), costs=costs, squared=False
    )


def test_boundaries_lie_between_the_closest_rows_of_separable_ranks():
    """7.27 by hand: the pairs of neighbouring ranks whose scores differ by one are
    unique.
    """
    scores = np.array([0.0, -3.0, 1.0, 4.0, 5.0, 9.0])
    y = np.array([0, 0, 1, 1, 2, 2])
    theta, how = pairs.boundaries(_of_three_ranks(y), scores, 0.0)
    np.testing.assert_allclose(theta, [0.5, 4.5])
    assert "7.27" in how


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([0.0, 0.2, 2.0, 2.2, 5.0, 6.0], "no free support pair joins ranks 1 and 2"),
        ([3.0, 2.9, 4.0, 1.4, 2.4, 6.0], "out of order"),
    ],
)
def test_boundaries_fall_back_on_least_cost(scores, words):
    """Then no other thresholds cost less, by trying all."""
    scores = np.array(scores)
    y = np.array([0, 0, 1, 1, 2, 2])
    problem = _of_three_ranks(y)
    actual, how = pairs.boundaries(problem, scores, 0.0)
    assert words in how

    def cost(theta):
        return problem.costs[
            np.arange(6), (scores[:, None] > np.array(theta)).sum(axis=1)
        ].sum()

    places = np.concatenate([[-10.0], np.sort(scores)])
    assert cost(actual) == min(
        cost(theta) for theta in combinations_with_replacement(places, 2)
    )


def test_the_fit_says_which_boundaries_it_uses():
    data = sample(*rows(60))
    assert "7.27" in dict(_fit(data, C=0.1).facts)["Boundaries"]
    squared = _fit(data, kernel="linear", loss="squared_hinge", C=0.1)
    assert dict(squared.facts)["Boundaries"].startswith("of least training cost")


def _fit(data, **options):
    return RankBoundarySVM(**options).fit(data, np.random.default_rng(0))


@pytest.mark.parametrize(
    "options",
    [{}, {"kernel": "linear", "loss": "squared_hinge"}, {"kernel": "gaussian", "C": 9}],
)
def test_scores_rule_and_certificate_belong_together(options):
    X, y = rows(60)
    data = sample(X, y)
    fit = _fit(data, **options)
    np.testing.assert_allclose(fit.rule.scores(Rows(X=X)), fit.scores, atol=1e-9)
    norm = RankBoundarySVM(**options).geometry(data, fit).norm
    i, j = np.nonzero(y[:, None] > y)
    slack = np.maximum(1.0 - (fit.scores[i] - fit.scores[j]), 0.0) ** (
        2 if "loss" in options else 1
    )
    primal = 0.5 * norm**2 + options.get("C", 1.0) * slack.sum()
    assert dict(fit.certificate.details)["primal value"] == pytest.approx(
        primal, rel=1e-8
    )


def test_selection_of_C():
    fit = _fit(sample(*rows(60)), C="cv", folds=3)
    refit = _fit(sample(*rows(60)), C=fit.selection.C[fit.selection.chosen])
    np.testing.assert_allclose(fit.scores, refit.scores, atol=1e-5)


# Theorem 7.2


def _ordered(n, norm, radius):
    """Ranks 1, 2, 1, 2, ... whose scores differ by 1."""
    y = np.arange(n) % 2
    geometry = BallGeometry(
        norm=norm,
        squared_lengths=np.ones(n),
        theta=np.array([0.5]),
        radius=np.sqrt(radius**2 + 1.0),
    )
    return y.astype(float), geometry, sample(np.zeros((n, 1)), y, 2)


def test_theorem_by_hand():
    n = 4000
    delta = 0.1
    actual = preference_bounds(*_ordered(n, 0.1, 0.5), delta)
    k = (16 * 0.5 * 0.1 / 1.0) ** 2
    assert k < 1
    (bound,), m = actual.bounds, n // 2
    value = 2 / m * (np.log2(8 * np.e * m) * np.log2(32 * m) + np.log2(8 * m / delta))
    assert bound.value == pytest.approx(value)
    assert not bound.vacuous
    assert bound.margin == pytest.approx(10.0)


def test_conditions_of_the_theorem_are_checked():
    scores, geometry, data = _ordered(50, 1.0, 1.0)
    assert "k <= e n" in preference_bounds(scores, geometry, data).notes[0]
    scores[0] = 2.0
    assert "1 of 25 are not" in preference_bounds(scores, geometry, data).notes[0]
    alone = sample(np.zeros((4, 1)), np.zeros(4, dtype=int), 2)
    assert "different ranks" in preference_bounds(np.zeros(4), geometry, alone).notes[0]
    grouped = sample(np.zeros((50, 1)), data.y, 2, cluster=np.arange(50))
    assert "independent rows" in preference_bounds(scores, geometry, grouped).notes[0]


def test_the_theorem_reaches_the_table_of_bounds():
    import pandas as pd

    from ordstat import ordfit

    x = np.tile([-1.0, 1.0], 3000)
    frame = pd.DataFrame({"x": x, "y": (x > 0).astype(int)})
    fit = ordfit(
        "y ~ x", frame, "rank-svm", kernel="linear", loss="squared_hinge", C=1e-3
    )
    assert "th. 7.2" in fit.bounds().loc["R_pref, disjoint pairs", "source"]
