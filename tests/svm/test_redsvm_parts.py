"""The parts around the solver: scaling, reduction, folds, centring."""

import numpy as np
import pytest
from seams import CostMatrix, Rows, extend, stratified_folds
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from ordstat import Perceptron
from ordstat.exceptions import OptionError
from ordstat.fit import KernelExpansion
from ordstat.formula.row_blocks import row_blocks
from ordstat.formula.scaling import fit_scaling
from ordstat.svm.gram import centred

from .problems import rows


@pytest.mark.parametrize(
    ("kind", "reference"),
    [("range", MinMaxScaler((-1, 1))), ("standard", StandardScaler())],
)
def test_scaling_is_the_usual_one(kind, reference):
    rng = np.random.default_rng(0)
    X = 1e3 + 5.0 * rng.normal(size=(40, 3))
    new = rng.normal(size=(6, 3))
    np.testing.assert_allclose(
        fit_scaling(kind, X, np.ones(40))(new),
        reference.fit(X).transform(new),
        rtol=1e-9,
    )


@pytest.mark.parametrize("kind", ["range", "standard"])
def test_constant_columns_become_zero_for_good(kind):
    X = np.column_stack([np.full(5, 0.1), np.arange(5.0)])
    scaling = fit_scaling(kind, X, np.ones(5))
    np.testing.assert_array_equal(scaling(X)[:, 0], np.zeros(5))
    np.testing.assert_array_equal(scaling(np.array([[7.0, 2.0]]))[:, 0], [0.0])


def test_scaling_of_the_largest_numbers():
    X = np.array([[-1.5e308], [1.5e308], [0.0]])
    np.testing.assert_allclose(
        fit_scaling("range", X, np.ones(3))(X), [[-1.0], [1.0], [0.0]], atol=1e-15
    )


def test_weights_count_as_repeated_rows_and_none_changes_nothing():
    X = np.array([[0.0], [1.0], [5.0]])
    weights = np.array([1.0, 2.0, 3.0])
    repeated = np.repeat(X, [1, 2, 3], axis=0)
    for kind in ("range", "standard"):
        np.testing.assert_allclose(
            fit_scaling(kind, X, weights)(X),
            fit_scaling(kind, repeated, np.ones(6))(X),
            rtol=1e-14,
        )
    np.testing.assert_array_equal(fit_scaling(None, X, weights)(X), X)


def test_extended_examples_price_a_ranker():
    """Theorem 4.1 of Lin (2008): for a ranker's own answers the weighted error is its
    cost, whatever the rank.
    """
    y = np.array([0, 1, 2, 3, 1])
    costs = CostMatrix("squared").rows(y, 4)
    case = np.array([1.0, 2.0, 1.0, 0.0, 3.0])
    extended = extend(y, costs, case)
    for predicted in range(4):
        answers = np.where(predicted > np.arange(3), 1.0, -1.0)
        wrong = (answers != extended.labels) * extended.weights
        np.testing.assert_allclose(wrong.sum(axis=1), case * costs[:, predicted])


def test_centring():
    X, _ = rows(30)
    raw = Perceptron()(X, X)
    gram, means = centred(raw.copy())
    J = np.eye(30) - 1.0 / 30
    np.testing.assert_allclose(gram, J @ raw @ J, atol=1e-13)
    beta = np.random.default_rng(0).normal(size=30)
    beta -= beta.mean()
    np.testing.assert_allclose(gram @ beta + means @ beta, raw @ beta, atol=1e-12)


@pytest.mark.parametrize("shape", [(40,), (40, 2)])
def test_equal_anchors_are_kept_once(shape):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, size=(40, 2)).astype(float)
    expansion = KernelExpansion(
        kernel=Perceptron(),
        scaling=fit_scaling(None, X, np.ones(40)),
        anchors=X,
        coef=rng.normal(size=shape),
        offset=2.0,
    )
    merged = expansion.merged
    assert len(merged.coef) == len(np.unique(X, axis=0)) == len(merged.anchors)
    new = Rows(X=rng.normal(size=(9, 2)))
    np.testing.assert_allclose(merged(new), expansion(new), atol=1e-12)
    assert merged.merged is merged


def test_expansions_predict_in_blocks(monkeypatch):
    X, _ = rows(30)
    expansion = KernelExpansion(
        kernel=Perceptron(),
        scaling=fit_scaling(None, X, np.ones(30)),
        anchors=X,
        coef=np.ones(30),
        offset=2.0,
        squared_norm=1.0,
    )
    whole = expansion(Rows(X=X))
    monkeypatch.setattr("ordstat.fit.row_blocks", lambda n, *_: row_blocks(n, room=7))
    np.testing.assert_allclose(expansion(Rows(X=X)), whole, rtol=1e-13)
    assert expansion(Rows(X=X[:0])).shape == (0,)


@pytest.mark.parametrize("folds", [2, 5])
def test_folds_spread_every_level(folds):
    y = np.repeat([0, 1, 2, 3], [3, 17, 40, 1])
    fold = stratified_folds(y, 4, folds, np.random.default_rng(0))
    for level in range(4):
        counts = np.bincount(fold[y == level], minlength=folds)
        assert np.ptp(counts) <= 1
    assert np.ptp(np.bincount(fold, minlength=folds)) <= 4
    assert (fold == stratified_folds(y, 4, folds, np.random.default_rng(0))).all()
    assert (fold != stratified_folds(y, 4, folds, np.random.default_rng(1))).any()


def test_more_folds_than_rows():
    with pytest.raises(OptionError, match="clusters, 2; got 3"):
        stratified_folds(
            np.zeros(9, dtype=int),
            2,
            3,
            np.random.default_rng(0),
            np.repeat([4, 9, 9], 3),
        )
