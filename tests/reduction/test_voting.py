"""The voting methods against LIBSVM and scikit-learn, pair by pair and level by
level.
"""

import numpy as np
import pandas as pd
import pytest
from expected import refused
from seams import Rows, Sample, resolve, stratified_folds
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from ordstat import (
    CostTransform,
    DataError,
    OneVersusAll,
    OneVersusOne,
    OptionError,
    Perceptron,
    ordfit,
)
from ordstat.svm.cross_validation import GRID

from .problems import any_costs, blobs, own_costs

NEW = np.random.default_rng(9).normal(0.0, 3.0, (200, 2))
KERNEL = Perceptron()
# scores closer to a tie than this are left out: LIBSVM solves to 1e-8, these machines
# to rounding
CLEAR = 1e-4


def _codes(name, sample, **options):
    options = {"scaling": None, "tol": 1e-10} | options
    fit = resolve(name, options).fit(sample, np.random.default_rng(0))
    return fit, fit.rule.codes(Rows(X=NEW))


def _svc(C=1.0, **options):
    return SVC(kernel="precomputed", C=C, tol=1e-8, **options)


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("C", [0.05, 2.0])
def test_ovo_is_libsvms(K, C):
    sample = blobs(K)
    _, codes = _codes("ovo", sample, C=C)
    other = _svc(C).fit(KERNEL(sample.X, sample.X), sample.y)
    np.testing.assert_array_equal(codes, other.predict(KERNEL(NEW, sample.X)))


@pytest.mark.parametrize("K", [3, 5])
def test_ova_is_scikit_learns(K):
    sample = blobs(K)
    fit, codes = _codes("ova", sample, C=2.0)
    other = OneVsRestClassifier(_svc(2.0)).fit(KERNEL(sample.X, sample.X), sample.y)
    scores = other.decision_function(KERNEL(NEW, sample.X))
    np.testing.assert_allclose(fit.rule.scores(Rows(X=NEW)), scores, atol=1e-5)
    np.testing.assert_array_equal(codes, scores.argmax(axis=1))


@pytest.mark.parametrize("name", ["csovo", "csova"])
@pytest.mark.parametrize("weighted", [False, True])
def test_cost_sensitive_methods_by_hand(name, weighted):
    """One LIBSVM fit a problem, weights by the formulas written out."""
    sample = blobs(4)
    costs = own_costs(sample)
    w = np.arange(sample.n) % 3 + 1.0 if weighted else np.ones(sample.n)
    sample = Sample(rows=sample.rows, y=sample.y, n_levels=4, weights=w, costs=costs)
    _, codes = _codes(name, sample)
    gram = KERNEL(sample.X, sample.X)
    across = KERNEL(NEW, sample.X)
    votes = np.zeros((len(NEW), 4))
    if name == "csova":
        for k in range(4):
            v = np.where(
                sample.y == k,
                costs.max(axis=1) - costs[:, k],
                costs[:, k] - costs.min(axis=1),
            )
            votes[:, k] = _score(gram, across, np.where(sample.y == k, 1, -1), w * v)
    else:
        for i in range(4):
            for j in range(i + 1, 4):
                v = np.abs(costs[:, i] - costs[:, j])
                won = (
                    _score(
                        gram, across, np.where(costs[:, j] < costs[:, i], 1, -1), w * v
                    )
                    > 0
                )
                votes[:, j] += won
                votes[:, i] += ~won
    np.testing.assert_array_equal(codes, votes.argmax(axis=1))


def _score(gram, across, labels, weights):
    used = np.flatnonzero(weights > 0)
    fitted = _svc().fit(
        gram[np.ix_(used, used)], labels[used], sample_weight=weights[used]
    )
    return fitted.decision_function(across[:, used])


def test_tsew_is_libsvm_on_the_expanded_set():
    """LIBSVM's own one-versus-one on the NK weighted examples."""
    sample = blobs(3)
    costs = own_costs(sample, seed=2)
    sample = Sample(rows=sample.rows, y=sample.y, n_levels=3, costs=costs)
    _, codes = _codes("tsew", sample)
    weights = costs.max(axis=1, keepdims=True) - costs
    row, label = np.nonzero(weights > 0)
    gram = KERNEL(sample.X, sample.X)
    other = _svc().fit(gram[np.ix_(row, row)], label, sample_weight=weights[row, label])
    expected = other.predict(KERNEL(NEW, sample.X)[:, row])
    assert (
        codes != _codes("ovo", Sample(rows=sample.rows, y=sample.y, n_levels=3))[1]
    ).any()
    np.testing.assert_array_equal(codes, expected)


def test_relabel_fits_what_it_drew():
    """Under the classification cost every row keeps its label, and none is rejected."""
    sample = blobs(3)
    _, codes = _codes("relabel", sample, cost="classification")
    np.testing.assert_array_equal(codes, _codes("ovo", sample)[1])
    assert (_codes("relabel", sample)[1] != codes).any()


@pytest.mark.parametrize("name", ["csova", "csovo", "wap", "tsew"])
def test_the_order_of_the_levels_plays_no_part(name):
    sample = blobs(4)
    costs = own_costs(sample, seed=4)
    order = np.array([2, 0, 3, 1])  # new code of old code
    moved = np.empty_like(costs)
    moved[:, order] = costs
    one = Sample(rows=sample.rows, y=sample.y, n_levels=4, costs=costs)
    two = Sample(rows=sample.rows, y=order[sample.y], n_levels=4, costs=moved)
    first, second = (_codes(name, s)[0].rule.scores(Rows(X=NEW)) for s in (one, two))
    np.testing.assert_allclose(first, second[:, order], atol=1e-6)


@pytest.mark.parametrize("name", ["csova", "csovo", "wap", "tsew", "relabel"])
def test_a_matrix_is_its_rows(name):
    sample = blobs(3)
    table = [[0, 1, 7], [2, 0, 1], [1, 5, 0]]
    by_row = Sample(
        rows=sample.rows,
        y=sample.y,
        n_levels=3,
        costs=np.array(table, dtype=float)[sample.y],
    )
    np.testing.assert_array_equal(
        _codes(name, sample, cost=table)[1], _codes(name, by_row)[1]
    )


@pytest.mark.parametrize("weighting", ["difference", "all-pairs"])
@pytest.mark.parametrize(
    "base", ["svm", "logistic", DecisionTreeClassifier(max_depth=2)]
)
def test_the_training_bound(weighting, base):
    """Theorem 2.7, its two sides counted again from the predictions of the fitted
    pairs.
    """
    sample = blobs(4, spread=2.5)
    costs = any_costs(sample.n, 4, seed=5)
    w = np.arange(sample.n) % 3 + 1.0
    sample = Sample(rows=sample.rows, y=sample.y, n_levels=4, costs=costs, weights=w)
    fit = OneVersusOne(weighting=weighting, base=base).fit(
        sample, np.random.default_rng(0)
    )
    codes = fit.rule.codes(sample.rows)
    above = (w @ (costs[np.arange(sample.n), codes] - costs.min(axis=1))) / w.sum()
    won = fit.rule.votes.scorer(sample.rows) > 0
    wrong = 0.0
    p = 0
    for i in range(4):
        for j in range(i + 1, 4):
            for n in range(sample.n):
                chosen, other = (j, i) if won[n, p] else (i, j)
                if costs[n, chosen] > costs[n, other]:
                    between = np.arange(costs[n, other], costs[n, chosen], 0.5)
                    share = [
                        (
                            1.0
                            if weighting == "difference"
                            else 1.0 / np.sum(costs[n] <= t)
                        )
                        for t in between
                    ]
                    wrong += w[n] * 0.5 * sum(share)
            p += 1
    assert fit.bound.value == pytest.approx(above)
    assert fit.bound.limit == pytest.approx(2.0 * wrong / w.sum())
    assert 0.0 < fit.bound.value <= fit.bound.limit


def test_selection_by_hand():
    """The curve of C="cv", every fold and value of C refitted by LIBSVM."""
    sample = blobs(3, n=60, spread=2.0)
    costs = own_costs(sample, seed=1)
    sample = Sample(rows=sample.rows, y=sample.y, n_levels=3, costs=costs)
    method = OneVersusOne(C="cv", folds=3, scaling=None, tol=1e-10)
    selection = method.fit(sample, np.random.default_rng(4)).selection
    fold = stratified_folds(sample.y, 3, 3, np.random.default_rng(4))
    gram = KERNEL(sample.X, sample.X)
    # below, LIBSVM's tolerance decides the sign
    for C, cost in list(zip(GRID, selection.cost, strict=True))[5:]:
        paid = np.empty(sample.n)
        for held in range(3):
            train = np.flatnonzero(fold != held)
            test = np.flatnonzero(fold == held)
            votes = np.zeros((test.size, 3))
            for i, j in ((0, 1), (0, 2), (1, 2)):
                g = costs[train, i] - costs[train, j]
                used = train[g != 0]
                labels = np.sign(g[g != 0])
                weights = np.abs(g[g != 0])
                machine = _svc(C).fit(
                    gram[np.ix_(used, used)], labels, sample_weight=weights
                )
                won = machine.decision_function(gram[np.ix_(test, used)]) > 0
                votes[:, j] += won
                votes[:, i] += ~won
            paid[test] = costs[test, votes.argmax(axis=1)]
        assert cost == pytest.approx(paid.mean(), abs=1.5 / sample.n)
    assert selection.cost[selection.chosen] == selection.cost.min()


def test_a_weight_of_zero_takes_no_part():
    sample = blobs(3)
    w = (np.arange(sample.n) % 4 > 0).astype(float)
    extreme = np.where(w[:, None] > 0, sample.X, 1e3)
    given = Sample(rows=Rows(X=extreme), y=sample.y, n_levels=3, weights=w)
    kept = sample.take(w > 0)
    for name in ("csova", "csovo", "tsew", "relabel"):
        fit, other = (
            resolve(name, {"tol": 1e-10}).fit(s, np.random.default_rng(0))
            for s in (given, kept)
        )
        np.testing.assert_allclose(
            fit.rule.scores(Rows(X=NEW)), other.rule.scores(Rows(X=NEW)), atol=1e-7
        )
        assert len(fit.scores) == given.n


# Options


@pytest.mark.parametrize(
    "option",
    [
        {"C": 2.0},
        {"kernel": "linear"},
        {"solver": "cvxpy"},
        {"tol": 1e-4},
        {"folds": 3},
    ],
)
def test_options_of_the_svm_need_it(option):
    with pytest.raises(
        OptionError,
        match=rf"does not support {next(iter(option))}, which need base='svm'",
    ):
        OneVersusAll(base="tree", **option)


def test_unknown_bases_are_named():
    with refused("base of CostTransform"):
        CostTransform(base="forest")


def test_costs_that_teach_nothing_are_refused():
    sample = blobs(3)
    flat = Sample(
        rows=sample.rows, y=sample.y, n_levels=3, costs=np.ones((sample.n, 3))
    )
    with pytest.raises(DataError, match="costs are equal for all ranks"):
        OneVersusOne().fit(flat, np.random.default_rng(0))


def test_a_classifier_of_ones_own_through_the_formula(wine):
    fit = ordfit(
        "rating ~ temp + contact",
        wine,
        "csovo",
        base=LogisticRegression(C=0.1),
        cost="squared",
    )
    text = str(fit.summary())
    assert "LogisticRegression(C=0.1)" in text
    assert "theorem 2.7" in text
    assert "Classifiers fitted 10" in text
    assert fit.bound.value <= fit.bound.limit


def test_clusters_stay_together_in_selection_alone(wine):
    fit = ordfit(
        "rating ~ temp + contact", wine, "csovo", cluster="judge", C="cv", folds=3
    )
    assert fit.fit.selection.folds == 3
    with pytest.raises(OptionError, match="cluster= only"):
        ordfit("rating ~ temp + contact", wine, "csovo", cluster="judge")


class _NoClassifier:
    """fit and get_params alone."""

    def fit(self, X, y, sample_weight=None): ...

    def get_params(self, deep=True):
        return {}


@pytest.mark.parametrize(
    "base",
    [
        np.ones(2),
        pd.DataFrame({"a": [1]}),
        pd.Series([1, 2]),
        pd.NA,
        None,
        _NoClassifier(),
    ],
)
@pytest.mark.parametrize("name", ["ova", "ovo", "tsew"])
def test_other_values_of_base_are_refused(name, base):
    frame = pd.DataFrame({"x": np.arange(6.0), "y": [1, 1, 2, 2, 3, 3]})
    with pytest.raises(
        OptionError,
        match=(
            r"^base of .* must be one of 'svm', 'logistic', 'tree', or a scikit-learn"
        ),
    ):
        ordfit("y ~ x", frame, name, base=base)
