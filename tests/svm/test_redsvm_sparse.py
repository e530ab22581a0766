"""Support vector machines on sparse columns: the machines of the same dense columns,
and the primal value of cvxpy.
"""

import cvxpy as cp
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.ensemble import HistGradientBoostingClassifier

from ordstat import DataError, DataWarning, Linear, OrdinalClassifier
from ordstat.formula.sparse import SparseColumns


def counts(n=60, p=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.4, size=(n, p)) * rng.uniform(0.5, 2.0, size=(n, p))
    X[:, 3] += 2.0  # a column without zeros
    latent = X[:, :4] @ [1.0, -1.0, 0.8, 0.5] + rng.logistic(size=n)
    return X, np.digitize(latent, np.quantile(latent, [0.3, 0.7]))


X, Y = counts()
WEIGHTS = np.arange(60.0) % 3


@pytest.mark.parametrize(
    ("method", "C", "weights", "scaling"),
    [
        ("redsvm", 0.3, WEIGHTS, "range"),
        ("svor-imc", 1.0, None, "standard"),
        ("svor-imc", 1.0, None, None),
        pytest.param("svor-imc", (0.1, 1.0), None, "range", marks=pytest.mark.slow),
        ("svor-exc", 1.0, None, "range"),
        ("rank-svm", 0.02, None, "range"),
        ("csova", 1.0, WEIGHTS, "range"),
    ],
)
@pytest.mark.filterwarnings("ignore::ordstat.ExtrapolationWarning")
def test_machines_are_those_of_dense_columns(method, C, weights, scaling):
    model = OrdinalClassifier(method, kernel="linear", C=C, scaling=scaling, tol=1e-9)
    expected = model.fit(X, Y, weights).decision_function(X)
    sparse = model.fit(csr_array(X), Y, weights)
    np.testing.assert_allclose(sparse.decision_function(X), expected, atol=1e-5)
    assert sparse.results_.fit.certificate.value <= 1e-9


def test_the_primal_value_is_that_of_cvxpy():
    model = OrdinalClassifier("svor-imc", kernel="linear", scaling=None, tol=1e-9)
    model.fit(csr_array(X), Y)
    w = cp.Variable(40)
    theta = cp.Variable(2)
    H = X @ w
    loss = 0.0
    for k in range(2):
        sign = np.where(k < Y, 1.0, -1.0)
        loss += cp.sum(cp.pos(1.0 - cp.multiply(sign, H - theta[k])))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + loss))
    problem.solve(solver="CLARABEL")
    np.testing.assert_allclose(model.coef_, w.value, atol=1e-4)
    details = dict(model.results_.fit.certificate.details)
    assert details["primal value"] == pytest.approx(problem.value, rel=1e-7)


def test_a_constant_column_has_no_effect():
    x = X.copy()
    x[:, 5] = 0.7
    for scaling in ("range", "standard", None):
        model = OrdinalClassifier("svor-imc", kernel="linear", scaling=scaling)
        with pytest.warns(DataWarning, match="1 of 40 columns.*'x6'"):
            model.fit(csr_array(x), Y)
        assert abs(model.coef_[5]) < 1e-10


def test_what_needs_dense_columns():
    for options in (
        {"kernel": "gaussian"},
        {"kernel": "linear", "loss": "squared_hinge"},
    ):
        with pytest.raises(DataError, match="kernel='linear' with the hinge loss"):
            OrdinalClassifier("redsvm", **options).fit(csr_array(X), Y)
    with pytest.raises(DataError, match="base='svm' with kernel='linear'"):
        dense = HistGradientBoostingClassifier()
        OrdinalClassifier("ova", base=dense).fit(csr_array(X), Y)


def test_products_of_too_many_rows_are_refused_before_they_are_made():
    ends = np.zeros(10**6 + 1, dtype=np.int64)
    none = np.zeros(0, dtype=np.int64)
    rows = SparseColumns(data=np.zeros(0), indices=none, indptr=ends, width=5)
    with pytest.raises(DataError, match="1000000 x 1000000 rows needs"):
        Linear().gram(rows, np.arange(10**6))
