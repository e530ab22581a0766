"""What rounding must not decide: shifts of the columns, order among equal rows, and the
point that a P belongs to.
"""

import numpy as np
import pandas as pd
import pytest
from expected import not_separable
from seams import Rows

from ordstat import OrdinalClassifier, Polynomial, datasets, ordfit
from ordstat.exceptions import ConvergenceWarning, DataWarning
from ordstat.svm.coordinate import CoordinateAscent
from ordstat.svm.dual import hinge
from ordstat.svm.routes import Automatic

from .problems import KERNELS, problem, rows

LINEAR = [
    ("redsvm", {"C": 100.0}),
    ("redsvm", {"C": 3.0, "loss": "squared_hinge"}),
    ("svor-imc", {"C": 1.0}),
    ("svor-exc", {"C": 1.0}),
    ("rank-svm", {"C": 1.0}),
    ("rank-svm", {"C": 1.0, "loss": "squared_hinge"}),
    ("ovo", {"C": 1.0}),
    ("csova", {"C": 1.0}),
    ("redsvm", {"C": (0.5, 4.0)}),
    ("ovo", {"C": (0.5, 4.0)}),
]


@pytest.mark.parametrize(("method", "options"), LINEAR, ids=str)
@pytest.mark.parametrize(("n", "n_columns"), [(100, 2), (12, 20)])
def test_a_shift_of_the_columns_changes_no_linear_fit(method, options, n, n_columns):
    """Columns in units of 2^-10 keep every digit beside 2^30."""
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(n, n_columns)) * 1024) / 1024
    y = np.digitize(X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=n), [-1.0, 0.0, 1.0])
    far = X + 2.0**30
    plain, shifted = (
        OrdinalClassifier(
            method, kernel="linear", scaling=None, tol=1e-6, **options
        ).fit(Z, y)
        for Z in (X, far)
    )
    assert shifted.predict(far).tolist() == plain.predict(X).tolist()
    fit = shifted.results_.fit
    expected = plain.results_.fit
    np.testing.assert_allclose(
        fit.certificate.value, expected.certificate.value, atol=1e-6
    )
    if fit.scores.ndim == 1:
        new = far + 1.0 / 1024
        np.testing.assert_allclose(
            fit.rule.gaps(Rows(X=new)),
            expected.rule.gaps(Rows(X=X + 1.0 / 1024)),
            atol=1e-4,
            rtol=1e-4,
        )
        np.testing.assert_allclose(shifted.coef_, plain.coef_, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("method", ["redsvm", "svor-imc", "svor-exc"])
def test_columns_of_very_different_size_do_not_spoil_newtons_optimum(method):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), 1e3 * rng.normal(size=60)])
    y = np.digitize(X[:, 0] + X[:, 1] / 1e3 + rng.normal(size=60), [-1.0, 0.0, 1.0])
    model = OrdinalClassifier(
        method, kernel="linear", loss="squared_hinge", C=64.0, scaling=None
    ).fit(X, y)
    assert model.results_.certificate.value < 1e-6


@pytest.mark.parametrize("method", ["redsvm", "svor-imc", "svor-exc", "rank-svm"])
def test_the_squared_hinge_takes_more_columns_than_rows(method):
    X = np.random.default_rng(3).normal(size=(6, 9))
    model = OrdinalClassifier(method, kernel="linear", loss="squared_hinge").fit(
        X, [1, 1, 2, 2, 3, 3]
    )
    assert model.results_.certificate.reached


@pytest.mark.parametrize("C", [0.5, 8.0, 500.0])
def test_the_primal_value_is_that_of_the_thresholds_returned(C):
    """Also of an ascent that was cut short."""
    for seed in range(5):
        p = problem(KERNELS["gaussian"], "absolute", n=40, seed=seed)
        s = (
            CoordinateAscent(p, np.random.default_rng(0), max_epochs=9 + seed)
            .solve(C, 1e-12)
            .solution
        )
        value = (
            0.5 * s.beta @ s.scores
            + 0.5 * s.theta @ s.theta
            + hinge(p, C, s.scores + s.offset, s.theta)
        )
        assert s.primal == pytest.approx(value, rel=1e-12)


def test_the_ascent_takes_over_where_the_interior_point_fails(monkeypatch):
    monkeypatch.setattr("ordstat.svm.interior_point._MAX_ITERATIONS", 2)
    p = problem(KERNELS["gaussian"], "absolute", n=40)
    outcome = Automatic(p, np.random.default_rng(0)).solve(5.0, 1e-3)
    assert outcome.solution.gap <= 1e-3
    assert outcome.solver == CoordinateAscent.name


def test_an_ascent_over_pairs_survives_the_failure_of_the_other_route(monkeypatch):
    import cvxpy as cp

    def fails(*_, **__):
        raise cp.SolverError("no iterate")

    monkeypatch.setattr(cp.Problem, "solve", fails)
    monkeypatch.setattr("ordstat.svm.pairs._EPOCHS_BEFORE_CVXPY", 2)
    X, y = rows(30)
    with pytest.warns(ConvergenceWarning, match="solver pair ascent"):
        OrdinalClassifier("rank-svm", C=100.0).fit(X, y)


@pytest.mark.parametrize("method", ["redsvm", "rank-svm", "ovo"])
def test_columns_that_are_all_constant(method):
    data = pd.DataFrame({"x": np.ones(8), "y": [1, 2, 3, 3, 1, 2, 3, 3]})
    for kernel in ("linear", "polynomial"):
        assert ordfit(
            "y ~ x", data, method, solver="cvxpy", kernel=kernel
        ).certificate.reached


def test_a_potential_of_size_zero_has_margins_of_zero():
    data = pd.DataFrame({"x": np.ones(6), "y": [1, 2, 3] * 2})
    fit = ordfit("y ~ x", data, "svor-exc")
    errors = fit.margins([0.0, 0.1])
    assert errors["classification"].tolist() == [
        pytest.approx(fit.errors().loc["classification error", "training"]),
        1.0,
    ]
    assert fit.margins()["normalised_left"].tolist() == [np.inf, 0.0, 0.0] * 2
    assert all(bound.training > 0 for bound in fit.margin_bounds.bounds)


@pytest.mark.parametrize("C", [0.05, 1.0])
def test_rows_that_are_not_supporting_can_go(C):
    """A row whose multipliers cancel in the potential still holds the thresholds."""
    data = datasets.load("anes96").iloc[:150]
    formula = "PID ~ selfLR + age + educ + income"
    scaled = data.assign(
        **{
            c: (data[c] - data[c].mean()) / data[c].std()
            for c in ("selfLR", "age", "educ", "income")
        }
    )
    fit = ordfit(
        formula, scaled, "redsvm", kernel="gaussian", scaling=None, C=C, tol=1e-8
    )
    few = ordfit(
        formula,
        scaled.loc[fit.support],
        "redsvm",
        kernel="gaussian",
        scaling=None,
        C=C,
        tol=1e-8,
    )
    np.testing.assert_allclose(few.thresholds, fit.thresholds, atol=1e-6)
    np.testing.assert_allclose(
        few.predict(scaled, type="score"), fit.predict(type="score"), atol=1e-6
    )


@pytest.mark.parametrize("form", ["svor-imc", "svor-exc"])
def test_a_hard_margin_of_levels_in_order_and_out_of_order(form):
    data = pd.DataFrame({"x": np.arange(6.0), "y": [1, 1, 2, 2, 3, 3]})
    with not_separable():
        ordfit(
            "y ~ x", data.assign(y=[1, 1, 3, 3, 2, 2]), form, C=np.inf, kernel="linear"
        )
    fit = ordfit("y ~ x", data, form, C=np.inf, kernel="linear")
    # The gaps between levels are 1 wide: the slope is 2, and thresholds lie in their
    # middles.
    np.testing.assert_allclose(fit.params, [3.0, 7.0, 2.0], rtol=1e-3)


@pytest.mark.parametrize("kernel", ["linear", "perceptron", "gaussian"])
@pytest.mark.parametrize(
    "method", ["ova", "csova", "ovo", "csovo", "wap", "rank-svm", "redsvm", "svor-exc"]
)
def test_a_rank_does_not_depend_on_the_other_rows_of_a_call(method, kernel):
    """Many equal rows, whose scores and votes tie but for rounding."""
    data = datasets.load("anes96").iloc[:200]
    fit = ordfit("PID ~ selfLR + educ", data, method, kernel=kernel)
    some = data.iloc[:40]
    together = fit.predict(some).tolist()
    assert [fit.predict(some.iloc[[i]]).iloc[0] for i in range(40)] == together
    kinds = some.assign(rank=together).groupby(["selfLR", "educ"])["rank"].nunique()
    assert (kinds == 1).all()


@pytest.mark.parametrize("kernel", ["linear", "perceptron", "gaussian"])
def test_scores_that_differ_by_rounding_are_ties(kernel):
    """Four kinds of rows in three classes of scores: concordance by counting pairs of
    cells.
    """
    wine = datasets.load("wine")
    fit = ordfit("rating ~ temp + contact", wine, "redsvm", kernel=kernel)
    score = fit.predict(type="score").round(6).to_numpy()
    rank = wine["rating"].astype(int).to_numpy()
    above = rank[:, None] > rank
    ordered = (score[:, None] > score)[above].sum() + 0.5 * (score[:, None] == score)[
        above
    ].sum()
    assert fit.errors().loc["concordance", "training"] == pytest.approx(
        ordered / above.sum(), rel=1e-12
    )


@pytest.mark.parametrize("scaling", ["range", "standard", None])
@pytest.mark.parametrize(
    "method", ["redsvm", "osvm", "svor-imc", "svor-exc", "rank-svm", "prank"]
)
def test_coefficients_and_thresholds_give_the_ranks(method, scaling):
    data = datasets.load("anes96").iloc[:200]
    options = {} if method == "prank" else {"kernel": "linear"}
    fit = ordfit(
        "PID ~ selfLR + educ + income", data, method, scaling=scaling, **options
    )
    x = data[["selfLR", "educ", "income"]].to_numpy(float) @ fit.coef.to_numpy()
    np.testing.assert_allclose(
        fit.predict(type="score"), x, atol=1e-9 * np.abs(x).max()
    )
    codes = (x[:, None] > fit.thresholds.to_numpy() + 1e-9).sum(axis=1)
    assert (codes == fit.predict().cat.codes).all()


@pytest.mark.parametrize("scaling", ["range", None])
@pytest.mark.parametrize("method", ["redsvm", "svor-imc", "svor-exc"])
def test_the_squared_hinge_scores_rows_of_the_fit_as_new_ones(method, scaling):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 2)) + [5.0, 0.0]
    y = np.digitize(
        X[:, 1] - X[:, 0] + 5.0 + 0.5 * rng.normal(size=40), [-1.0, 0.0, 1.0]
    )
    model = OrdinalClassifier(
        method, kernel="linear", loss="squared_hinge", scaling=scaling, C=(2.0, 20.0)
    ).fit(X, y)
    fit = model.results_.fit
    np.testing.assert_allclose(fit.rule.scores(Rows(X=X)), fit.scores, atol=1e-12)


def test_scores_that_are_rounding_are_told():
    rng = np.random.default_rng(0)
    X = 1e3 + rng.normal(size=(60, 2))
    y = np.digitize(X[:, 0] - 1e3, [-0.5, 0.5])
    with pytest.warns(
        DataWarning, match=r"scores of new rows carry rounding .* scaling='range'"
    ):
        OrdinalClassifier(
            "redsvm", kernel=Polynomial(degree=2), scaling=None, C=0.01, tol=0.01
        ).fit(X, y)
    OrdinalClassifier("redsvm", kernel=Polynomial(degree=2)).fit(X, y)


def test_a_weak_potential_keeps_its_order():
    """C so small that all scores are below a millionth: gaps between them are no
    rounding.
    """
    X, y = rows(40)
    fit = (
        OrdinalClassifier("rank-svm", kernel="gaussian", C=1e-9).fit(X, y).results_.fit
    )
    assert np.ptp(fit.scores) < 1e-6
    codes = (fit.scores[:, None] > fit.rule.theta).sum(axis=1)
    assert np.unique(codes).size > 1
    assert (fit.rule.codes(Rows(X=X), fit.scores) == codes).all()


def test_a_heavy_row_does_not_hide_the_small_coefficients_of_others():
    """One-versus-all of two levels, a row weighing a thousand others: the margins of
    the machine are those promised.
    """
    X = np.array(
        [[-0.6, -0.1, -2.9], [2.2, -0.4, 0.5], [-0.3, -0.1, 0.5], [-0.5, -0.3, 1.0]]
    )
    weights = np.array([0.3, 8.0, 1057.0, 3.5])
    for solver in ("auto", "cvxpy"):
        model = OrdinalClassifier(
            "csova", kernel="stump", C=64.0, scaling=None, tol=1e-9, solver=solver
        )
        fit = model.fit(X, [2, 1, 1, 1], sample_weight=weights).results_.fit
        votes = fit.rule.scores(Rows(X=X))
        slack = np.maximum(
            1.0
            - np.where(
                [[False, True], [True, False], [True, False], [True, False]],
                votes,
                -votes,
            ),
            0,
        )
        assert slack.max() < 1e-11
