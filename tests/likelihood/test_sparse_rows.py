"""Likelihoods of sparse columns: derivatives by differences, the same fits to dense
columns, and cvxpy.
"""

import cvxpy as cp
import numpy as np
import pytest
from scipy.sparse import csr_array
from seams import Rows, Sample

from ordstat import (
    AdjacentCategory,
    ContinuationRatioModel,
    CumulativeLink,
    DataError,
    DataWarning,
    ElasticNet,
    OptionError,
    OrdinalClassifier,
    StoppingRatioModel,
)
from ordstat.formula.sparse import SparseColumns
from ordstat.likelihood.sparse_rows import SparseLikelihood

FAMILIES = [
    CumulativeLink,
    AdjacentCategory,
    ContinuationRatioModel,
    StoppingRatioModel,
]


def counts(n=60, p=90, seed=0):
    """Counts of words, one of them in every row, and ratings by five of them."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.3, size=(n, p)) * rng.uniform(0.5, 2.0, size=(n, p))
    X[:, 3] += 2.0
    latent = X[:, :5] @ [2.0, -2.0, 1.5, 1.0, -1.0] + rng.logistic(size=n)
    return X, np.digitize(latent, np.quantile(latent, [0.25, 0.5, 0.75]))


X, Y = counts()
WEIGHTS = np.arange(60.0) % 3
NET = ElasticNet(l1_ratio=0.5, lambdas=[0.4, 0.2, 0.1, 0.05])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("link", ["logit", "cloglog"])
def test_derivatives_are_those_of_differences(family, link):
    x = csr_array(X[:25, :6])
    sample = Sample(rows=Rows(X=SparseColumns.of(x)), y=Y[:25], n_levels=4)
    method = family(link=link, penalty=ElasticNet())
    likelihood = SparseLikelihood(problem=method.problem(sample))
    rng = np.random.default_rng(1)
    at = np.append([-0.8, 0.1, 0.9], 0.3 * rng.normal(size=6))
    loglik, score, _ = likelihood.score(at[:3], at[3:])

    def value(point):
        return likelihood.score(point[:3], point[3:])

    steps = 1e-5 * np.eye(9)
    slopes = [(value(at + h)[0] - value(at - h)[0]) / 2e-5 for h in steps]
    bends = [(value(at + h)[1] - value(at - h)[1]) / 2e-5 for h in steps]
    assert np.isfinite(loglik)
    np.testing.assert_allclose(score, slopes, atol=1e-7)
    some = np.array([0, 2, 5])
    kept = np.append([0, 1, 2], 3 + some)
    blocks = likelihood.information(at[:3], at[3:], some)
    expected = -np.array(bends)[np.ix_(kept, kept)]
    np.testing.assert_allclose(blocks.dense(), expected, atol=1e-6)
    products = likelihood.products(at[:3], at[3:])
    H = -np.array(bends)
    complement = H[3:, 3:] - H[3:, :3] @ np.linalg.solve(H[:3, :3], H[:3, 3:])
    b = rng.normal(size=6)
    np.testing.assert_allclose(products.complement(b), complement @ b, atol=1e-5)
    np.testing.assert_allclose(products.to_theta(b), H[:3, 3:] @ b, atol=1e-6)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["rows", "weights"])
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("logit", {"penalty": NET}),
        ("probit", {"penalty": ElasticNet(lambdas=[0.3, 0.1])}),
        ("cauchit", {"penalty": ElasticNet(lambdas=0.1, standardize=False)}),
        ("acat", {"penalty": ElasticNet(lambdas=0.05, factors={"x4": 0.0})}),
        pytest.param(
            "sratio",
            {"penalty": ElasticNet(l1_ratio=0.5, cv=2, n_lambdas=3)},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_fits_are_those_to_dense_columns(method, options, weights):
    model = OrdinalClassifier(method, **options)
    dense = model.fit(X, Y, weights)
    expected = [dense.coef_, dense.thresholds_, dense.predict_proba(X)]
    decisions = dense.decision_function(X)
    sparse = model.fit(csr_array(X), Y, weights)
    got = [sparse.coef_, sparse.thresholds_, sparse.predict_proba(csr_array(X))]
    for ours, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-8)
    np.testing.assert_allclose(sparse.decision_function(X), decisions, atol=1e-8)
    assert sparse.results_.converged


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["rows", "weights"])
@pytest.mark.parametrize("method", ["logit", "cratio"])
def test_a_ridge_is_that_of_dense_columns(method, weights):
    dense = OrdinalClassifier(method, penalty=1.0, tol=1e-11).fit(X, Y, weights)
    sparse = OrdinalClassifier(method, penalty=1.0).fit(csr_array(X), Y, weights)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-8)
    np.testing.assert_allclose(sparse.thresholds_, dense.thresholds_, atol=1e-8)
    assert sparse.results_.fit.certificate.value <= 1e-9


@pytest.mark.parametrize("l1_ratio", [1.0, 0.3, 0.0])
def test_minimum_is_that_of_cvxpy(l1_ratio):
    """log(F(u) - F(l)) of the logit is a sum of concave terms in u, l and u - l."""
    lam = 0.05
    x = X[:40, :15]
    y = Y[:40]
    Z = (x - x.mean(axis=0)) / x.std(axis=0)
    theta = cp.Variable(3)
    b = cp.Variable(15)
    H = Z @ b
    loglik = 0.0
    for k in range(4):
        rows = np.flatnonzero(y == k)
        if k < 3:
            loglik -= cp.sum(cp.logistic(H[rows] - theta[k]))
        if k > 0:
            loglik -= cp.sum(cp.logistic(theta[k - 1] - H[rows]))
        if 0 < k < 3:
            loglik += rows.size * cp.log(1.0 - cp.exp(theta[k - 1] - theta[k]))
    penalty = l1_ratio * cp.norm1(b) + (1.0 - l1_ratio) / 2.0 * cp.sum_squares(b)
    cp.Problem(cp.Minimize(-loglik / 40.0 + lam * penalty)).solve(
        solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12
    )
    net = ElasticNet(l1_ratio=l1_ratio, lambdas=lam)
    model = OrdinalClassifier("logit", penalty=net).fit(csr_array(x), y)
    np.testing.assert_allclose(model.coef_ * x.std(axis=0), b.value, atol=1e-5)


def test_columns_without_variation_have_no_effect_and_are_told_of():
    x = X.copy()
    x[:, 7] = 0.0
    x[:, 9] = 0.3
    model = OrdinalClassifier("logit", penalty=1.0)
    with pytest.warns(DataWarning, match="2 of 90 columns.*'x8', 'x10'"):
        model.fit(csr_array(x), Y)
    assert model.coef_[7] == model.coef_[9] == 0.0
    others = OrdinalClassifier("logit", penalty=1.0).fit(
        csr_array(np.delete(x, [7, 9], axis=1)), Y
    )
    np.testing.assert_allclose(np.delete(model.coef_, [7, 9]), others.coef_, atol=1e-10)
    x[:, 7] = np.arange(60)
    np.testing.assert_allclose(
        model.predict_proba(csr_array(x)),
        others.predict_proba(csr_array(np.delete(x, [7, 9], axis=1))),
        atol=1e-10,
    )


def test_equal_columns_are_told_of():
    x = X.copy()
    x[:, 80] = 3.0 * x[:, 0]
    with pytest.warns(DataWarning, match="'x1' and 'x81' are the same column|x1, x81"):
        OrdinalClassifier("logit", penalty=ElasticNet(lambdas=0.05)).fit(
            csr_array(x), Y
        )


def test_what_a_sparse_path_does_not_do():
    sparse = csr_array(X)
    ridge = ElasticNet(l1_ratio=0.0)
    with pytest.raises(OptionError, match=r"choose='bic' needs degrees of freedom"):
        OrdinalClassifier("logit", penalty=ridge).fit(sparse, Y)
    net = ElasticNet(l1_ratio=0.0, lambdas=[0.2, 0.1], choose=0.1)
    fit = OrdinalClassifier("logit", penalty=net).fit(sparse, Y)
    with pytest.raises(OptionError, match="'bic' needs degrees of freedom"):
        fit.results_.at("bic")
    fit = OrdinalClassifier("logit", penalty=ElasticNet(lambdas=0.1)).fit(sparse, Y)
    for question in (fit.results_.refit, lambda: fit.results_.update(". ~ 1")):
        with pytest.raises(DataError, match="fit to a sparse X has no data frame"):
            question()


@pytest.mark.filterwarnings("ignore::ordstat.DataWarning")
@pytest.mark.parametrize(
    "net",
    [
        ElasticNet(l1_ratio=0.0, cv=2, n_lambdas=3),
        ElasticNet(lambdas=[0.2, 0.1], choose="ebic"),
    ],
    ids=["ridge", "lasso"],
)
def test_constant_columns_change_no_path(net):
    x = X[:, :50]
    model = OrdinalClassifier("logit", penalty=net)
    expected = model.fit(x, Y).results_.path
    wide = np.hstack([x, np.zeros((60, 20)), np.ones((60, 1))])
    path = model.fit(csr_array(wide), Y).results_.path
    same = ["lambda", "loglik", "cv_mean"] if net.cv else ["lambda", "loglik", "ebic"]
    np.testing.assert_allclose(path[same], expected[same], rtol=1e-6)


def test_a_path_ends_where_coefficients_are_too_many():
    fit = OrdinalClassifier("logit", penalty=ElasticNet()).fit(csr_array(X), Y)
    path = fit.results_.path
    assert path["nonzero"].iloc[-2] <= 30 < path["nonzero"].iloc[-1]
    assert "more coefficients than half" in str(path).replace("\n  ", " ")


def test_summary_shows_the_largest_effects():
    x, y = counts(200, 150, seed=2)
    fit = OrdinalClassifier("logit", penalty=1.0).fit(csr_array(x), y).results_
    text = str(fit.summary())
    assert "Of 150 coefficients that are not 0 the 60" in text
    sizes = np.abs(fit.coef) * x.std(axis=0)
    largest = set(sizes.sort_values().index[-60:])
    shown = {line.split()[0] for line in text.splitlines() if line.startswith("x")}
    assert shown == largest
