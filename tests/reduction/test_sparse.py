"""Reductions of sparse columns to scikit-learn's classifiers."""

import numpy as np
import pytest
from expected import dense_needed
from scipy.sparse import csr_array, hstack, random_array
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from ordstat import OrdinalClassifier

N, P, LEVELS = 150, 200, 4


def texts(index_dtype=np.int32) -> tuple[csr_array, np.ndarray]:
    """Rows with 6 % of their numbers, and ratings 0..3 by the first columns."""
    rng = np.random.default_rng(5)
    X = csr_array(random_array((N, P), density=0.06, rng=rng))
    X.indices = X.indices.astype(index_dtype)
    X.indptr = X.indptr.astype(index_dtype)
    score = X[:, :100].sum(axis=1) + rng.normal(scale=0.5, size=N)
    return X, np.digitize(score, np.quantile(score, [0.25, 0.5, 0.75]))


SPARSE, Y = texts()
DENSE = SPARSE.toarray()


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
def test_one_hot_examples_are_those_made_by_hand(index_dtype):
    """Lin 2008, alg. 4.1: examples ((x, k), is y > k?), one column for each k."""
    X, y = texts(index_dtype)
    model = OrdinalClassifier("reduction", scaling=None).fit(X, y)

    rows = np.repeat(np.arange(N), LEVELS - 1)
    k = np.tile(np.arange(LEVELS - 1), N)
    examples = hstack([SPARSE[rows], csr_array(np.eye(LEVELS - 1)[k])]).toarray()
    by_hand = LogisticRegression(max_iter=1000).fit(examples, y[rows] > k)
    above = by_hand.predict_proba(examples)[:, 1].reshape(N, LEVELS - 1)

    expected = -np.diff(above, axis=1, prepend=1.0, append=0.0)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=2e-3)
    assert (model.predict(X) == (above > 0.5).sum(axis=1)).mean() > 0.98


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("reduction", {}),
        ("reduction", {"encoding": "ordinal"}),
        ("reduction", {"encoding": "separate", "cost": "squared"}),
        ("reduction", {"base": DecisionTreeClassifier(max_depth=3, random_state=0)}),
        ("frank-hall", {"base": "logistic"}),
        ("nominal-classifier", {}),
        ("ova", {"base": "logistic"}),
        ("csovo", {"base": LogisticRegression()}),
    ],
)
def test_sparse_and_dense_columns_give_the_same_answers(method, options):
    whole = np.where(np.arange(N) % 5 == 0, 2.0, 1.0)
    model = OrdinalClassifier(method, scaling=None, **options)
    sparse = model.fit(SPARSE, Y, whole).decision_function(SPARSE)
    dense = model.fit(DENSE, Y, whole).decision_function(DENSE)
    np.testing.assert_allclose(sparse, dense, atol=5e-3)


def test_sparse_columns_are_scaled_without_centring():
    lengths = abs(SPARSE).max(axis=0).toarray()
    scaled = csr_array(SPARSE / np.where(lengths > 0.0, lengths, 1.0))
    # numbers from 0 to a largest: half the range is half of it
    ours = OrdinalClassifier("reduction", scaling="range").fit(SPARSE, Y)
    same = OrdinalClassifier("reduction", scaling=None).fit(2.0 * scaled, Y)
    np.testing.assert_allclose(
        ours.predict_proba(SPARSE), same.predict_proba(2.0 * scaled), atol=5e-3
    )


def test_pipelines_that_take_sparse_rows():
    base = make_pipeline(MaxAbsScaler(), LogisticRegression())
    assert OrdinalClassifier("frank-hall", base=base).fit(SPARSE, Y).score(SPARSE, Y)


@pytest.mark.parametrize(
    ("method", "base"),
    [
        ("reduction", "c4.5"),
        ("reduction", "hgb"),
        ("nominal-classifier", "hgb"),
        ("reduction", make_pipeline(StandardScaler(), LogisticRegression())),
    ],
)
def test_classifiers_that_need_dense_columns_are_refused(method, base):
    with dense_needed(f"method '{method}'"):
        OrdinalClassifier(method, base=base).fit(SPARSE, Y)


def test_a_classifier_without_probabilities():
    model = OrdinalClassifier("reduction", base=RidgeClassifier()).fit(SPARSE, Y)
    assert model.score(SPARSE, Y) > 0.9
