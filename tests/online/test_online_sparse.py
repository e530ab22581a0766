"""Online rankers on sparse columns: the answers are those on the same dense columns."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from ordstat import DataError, OrdinalClassifier


def counts(n=90, p=30, seed=0):
    """Rows of few numbers, some of them equal, one of zeros."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.poisson(0.3, size=(n, p)) * rng.uniform(-0.5, 2.0, (n, p)), 2)
    latent = X[:, :5] @ rng.normal(size=5) + 0.3 * rng.logistic(size=n)
    y = np.digitize(latent, np.quantile(latent, [0.3, 0.7]))
    X[5] = X[9]
    y[5] = y[9]
    X[6] = 0.0
    return X, y


X, Y = counts()
SPARSE = csr_array(X)
WEIGHTS = np.arange(90.0) % 3


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["rows", "weights"])
@pytest.mark.parametrize("method", ["prank", "cusum", "pa-cusum"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"keep": "last", "presentation": "order"},
        {"presentation": "cost", "margin": 0.5, "cost": "squared"},
    ],
)
@pytest.mark.filterwarnings("ignore::ordstat.ExtrapolationWarning")
def test_learners_are_those_of_dense_columns(method, options, weights):
    model = OrdinalClassifier(method, scaling=None, epochs=4, **options)
    dense = model.fit(X, Y, weights)
    expected = dense.decision_function(X)
    tally = dense.results_.fit.learned.tally
    sparse = model.fit(SPARSE, Y, weights)
    np.testing.assert_allclose(sparse.decision_function(SPARSE), expected, atol=1e-9)
    assert sparse.results_.fit.learned.tally == tally
    assert "rank" in str(sparse.results_.summary("all"))


@pytest.mark.parametrize("method", ["prank", "pa-cusum"])
def test_batches_are_those_of_dense_columns(method):
    models = [OrdinalClassifier(method, scaling=None) for _ in range(2)]
    for start in range(0, 90, 30):
        some = slice(start, start + 30)
        for model, rows in zip(models, (X, SPARSE), strict=True):
            model.partial_fit(rows[some], Y[some], classes=range(3))
    dense, sparse = (model.results_.fit.learned.state for model in models)
    np.testing.assert_allclose(sparse.weights, dense.weights, atol=1e-12)
    np.testing.assert_allclose(sparse.sums, dense.sums, atol=1e-9)


def test_a_column_of_one_number_counts():
    """Perceptrons depend on the origin: there is no note that it has no effect."""
    x = np.column_stack([X, np.full(90, 2.0)])
    model = OrdinalClassifier("prank", scaling=None)
    expected = model.fit(x, Y).coef_
    np.testing.assert_allclose(model.fit(csr_array(x), Y).coef_, expected, atol=1e-9)
    assert expected[-1] != 0.0


@pytest.mark.parametrize(
    ("method", "options"), [("prank", {}), ("siprank", {"scaling": None})]
)
def test_scalings_and_a_pocket_are_refused(method, options):
    with pytest.raises(DataError, match="scaling=None and keep='mean' or 'last'"):
        OrdinalClassifier(method, **options).fit(SPARSE, Y)
