"""Bagging and AdaBoost of trees against slow versions of the paper's algorithms."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from seams import Rows, Sample

from ordstat import (
    DataError,
    FixedSplitBoosting,
    NominalAdaBoost,
    OptionError,
    OrdinalAdaBoost,
    OrdinalBagging,
    OrdinalTree,
    datasets,
    ordfit,
)
from ordstat.trees.trees import TreeMethod

from . import naive

CRITERIA = {
    "discrete": ["misclassification", "distance", "raw distance", "squared distance"],
    "real": ["misclassification", "distance"],
}
WEIGHTED = {"sampling": "weight", "rounds": 6, "leaves": 3}


def _sample(N=30, K=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 2))
    score = X[:, 0] + 0.5 * X[:, 1] + 0.7 * rng.normal(size=N)
    y = np.searchsorted(np.quantile(score, np.arange(1, K) / K), score).astype(np.intp)
    return Sample(rows=Rows(X=X), y=y, n_levels=K)


def _fit(method: TreeMethod, sample, seed=0):
    return method.fit(sample, np.random.default_rng(seed))


def _compare(fit, actual, sample):
    T = len(actual.errors)
    assert fit.votes.rounds == T >= 3
    np.testing.assert_allclose(fit.errors[:, 0], actual.errors, rtol=1e-8)
    np.testing.assert_allclose(fit.votes.round_weights[:, 0], actual.votes, rtol=1e-8)
    assert (fit.rule.codes(sample.rows) + 1).tolist() == actual.ranks


@pytest.mark.parametrize(
    ("version", "criterion"), [(v, c) for v, listed in CRITERIA.items() for c in listed]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_ordinal_adaboost(version, criterion, seed):
    s = _sample(seed=seed)
    fit = _fit(OrdinalAdaBoost(version=version, criterion=criterion, **WEIGHTED), s)
    _compare(fit, naive.one_stage(s.X, s.y + 1, 4, 6, 3, version, criterion), s)


@pytest.mark.parametrize("version", ["discrete", "real"])
@pytest.mark.parametrize("seed", [0, 1])
def test_nominal_adaboost(version, seed):
    s = _sample(seed=seed)
    fit = _fit(
        NominalAdaBoost(version=version, sampling="weight", rounds=6, leaves=4), s
    )
    _compare(
        fit,
        naive.one_stage(
            s.X, s.y + 1, 4, 6, 4, version, "misclassification", nominal=True
        ),
        s,
    )


@pytest.mark.parametrize("combination", ["plain", "votes"])
@pytest.mark.parametrize("version", ["discrete", "real"])
@pytest.mark.parametrize("seed", [0, 1])
def test_fixed_split_boosting(version, combination, seed):
    s = _sample(seed=seed)
    fit = _fit(
        FixedSplitBoosting(version=version, combination=combination, **WEIGHTED), s
    )
    actual = naive.fixed_split(s.X, s.y + 1, 4, 6, 3, version, combination == "votes")
    for r in range(3):
        made = len(actual.errors[r])
        np.testing.assert_allclose(fit.errors[:made, r], actual.errors[r], rtol=1e-8)
        np.testing.assert_allclose(
            fit.votes.round_weights[:made, r], actual.votes[r], rtol=1e-8
        )
        assert (fit.votes.round_weights[made:, r] == 0).all()
    assert (fit.rule.codes(s.rows) + 1).tolist() == actual.ranks


def test_the_weight_of_wrong_rows_is_one_half_in_the_next_round():
    """After discrete AdaBoost, without the 1/n: the weights of rows right and wrong
    have the same sum.
    """
    from ordstat.trees.ensembles import discrete_splits

    rng = np.random.default_rng(0)
    above = rng.integers(0, 2, (3, 50))
    answers = rng.random((50, 2, 3))
    weights = rng.dirichlet(np.ones(50), size=3)
    update = discrete_splits(above, 0.0, answers, weights)
    wrong = (above > 0) != (answers[:, 1] > answers[:, 0]).T
    np.testing.assert_allclose((update.weights * wrong).sum(axis=1), 0.5)


@pytest.mark.parametrize("version", ["discrete", "real"])
@pytest.mark.parametrize("sampling", ["weight", "resample"])
def test_two_ranks_leave_nothing_to_order(version, sampling):
    """For K = 2 all kinds of AdaBoost are one."""
    s = _sample(K=2)
    options = {"version": version, "sampling": sampling, "rounds": 8, "leaves": 3}
    criteria = ("misclassification", "distance", "raw distance", "squared distance")[
        : 4 if version == "discrete" else 2
    ]
    fits = [_fit(OrdinalAdaBoost(criterion=c, **options), s) for c in criteria]
    fits += [_fit(NominalAdaBoost(**options), s)]
    fits += [
        _fit(FixedSplitBoosting(combination=c, **options), s)
        for c in ("plain", "votes")
    ]
    for fit in fits[1:]:
        np.testing.assert_allclose(fit.errors, fits[0].errors, rtol=1e-9)
        np.testing.assert_allclose(
            fit.votes.round_weights, fits[0].votes.round_weights, rtol=1e-9
        )
        assert fit.rule.codes(s.rows).tolist() == fits[0].rule.codes(s.rows).tolist()
    trees = [_fit(OrdinalTree(response=r, leaves=4), s) for r in ("nominal", "ordinal")]
    bags = [
        _fit(OrdinalBagging(response=r, leaves=4, rounds=9), s)
        for r in ("nominal", "ordinal")
    ]
    for one, two in (trees, bags):
        assert one.rule.codes(s.rows).tolist() == two.rule.codes(s.rows).tolist()


def test_ordinal_cart_is_one_tree_a_split():
    s = _sample(N=60)
    fit = _fit(OrdinalTree(response="ordinal", leaves=4), s)
    roots = [
        naive.grow(s.X, (s.y > r).astype(int), np.ones(60), 2, 4) for r in range(3)
    ]
    ranks = [
        naive.first_best(naive.rule_2([root.leaf(x).label for root in roots]))
        for x in s.X
    ]
    assert (fit.rule.codes(s.rows) + 1).tolist() == ranks


def test_bagging_counts_the_trees_that_grow_on_the_rows_drawn():
    """Every tree again, on the numbers of copies that its root says were drawn, by the
    order of the rows.
    """
    from ordstat.trees.ensembles import drawn

    s = _sample(N=40)
    order = np.lexsort(s.X.T[::-1])
    X = s.X[order]
    y = s.y[order]
    fit = _fit(OrdinalBagging(rounds=5, leaves=4), s, seed=3)
    rng = np.random.default_rng(3)
    votes = np.zeros((40, 4))
    for _ in range(5):
        counts = drawn(np.full(40, 1 / 40), 40, rng)
        assert counts.sum() == 40
        root = naive.grow(X, y, counts.astype(float), 4, 4)
        for i in range(40):
            votes[i, root.leaf(X[i]).label] += 1
    np.testing.assert_array_equal(fit.rule.scores(Rows(X=X)), votes)


def test_rows_are_drawn_by_their_weights():
    from ordstat.trees.ensembles import drawn

    weights = np.array([0.5, 0.0, 0.2, 0.3])
    rng = np.random.default_rng(0)
    counts = np.array([drawn(weights, 10, rng) for _ in range(4000)])
    assert (counts.sum(axis=1) == 10).all()
    error = np.sqrt(10 * weights * (1 - weights) / 4000)
    assert (np.abs(counts.mean(axis=0) - 10 * weights) <= 4 * error).all()


def test_a_round_no_better_than_chance_ends_boosting():
    """Ranks that no column tells apart: the first round is used alone."""
    s = Sample(rows=Rows(X=np.zeros((8, 1))), y=np.arange(8) % 4, n_levels=4)
    fit = _fit(OrdinalAdaBoost(criterion="misclassification", sampling="weight"), s)
    assert fit.votes.round_weights.tolist() == [[1.0]]
    assert fit.trace.message == "no classifier is better than chance"


def test_perfect_rounds_have_finite_votes():
    s = Sample(rows=Rows(X=np.arange(12.0)[:, None]), y=np.arange(12) // 4, n_levels=3)
    for method in (NominalAdaBoost, FixedSplitBoosting, OrdinalAdaBoost):
        for version in ("discrete", "real"):
            fit = _fit(method(version=version, rounds=4, sampling="weight"), s)
            assert np.isfinite(fit.scores).all()
            assert (fit.rule.codes(s.rows) == s.y).all()
    # c = log((1 - 0)/(0 + 1/(n (K-1)))) of section 3.2
    fit = _fit(OrdinalAdaBoost(rounds=1, sampling="weight"), s)
    assert fit.votes.round_weights[0, 0] == pytest.approx(np.log(24))


def test_samples_beyond_memory_are_refused():
    s = replace(_sample(), weights=np.full(30, 1e8))
    with pytest.raises(DataError, match=r"got 3e\+09.*sampling='weight'"):
        _fit(FixedSplitBoosting(), s)
    light = _fit(FixedSplitBoosting(sampling="weight", rounds=3), s)
    assert light.votes.rounds == 3


# Results


@pytest.fixture(scope="module")
def frame():
    return datasets.herbrich(150, seed=2)


@pytest.mark.parametrize(
    "method",
    ["bagging", "fixed-split-boosting", "ordinal-adaboost", "nominal-adaboost"],
)
def test_stages_are_fits_of_fewer_rounds(frame, method):
    new = datasets.herbrich(80, seed=3)
    fit = ordfit("rank ~ x1 + x2", frame, method, rounds=12)
    errors = fit.staged_errors(new, every=5)
    assert errors.index.tolist() == [5, 10, 12]
    for t, classes in fit.staged(new, every=5):
        alone = ordfit("rank ~ x1 + x2", frame, method, rounds=t)
        assert alone.predict(new).tolist() == classes.tolist()
        assert errors.loc[t, "new absolute"] == pytest.approx(
            alone.errors(new).loc["absolute error", "new data"]
        )
        assert errors.loc[t, "squared"] == pytest.approx(
            alone.errors().loc["squared error", "training"]
        )
        early = fit.at(t)
        pd.testing.assert_frame_equal(early.rounds, alone.rounds)
        pd.testing.assert_frame_equal(
            early.predict(type="prob"), alone.predict(type="prob")
        )


@pytest.mark.parametrize("start", [1, 7])
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("bagging", {}),
        ("ordinal-bagging", {}),
        ("fixed-split-boosting", {}),
        # splits that end before the others
        ("fixed-split-boosting", {"sampling": "weight", "leaves": 12}),
        ("ordinal-adaboost", {"version": "real"}),
        ("nominal-adaboost", {"n_jobs": 2}),
    ],
)
def test_further_rounds_are_those_of_one_fit(frame, method, options, start):
    whole = ordfit("rank ~ x1 + x2", frame, method, rounds=12, **options)
    first = ordfit("rank ~ x1 + x2", frame, method, rounds=start, **options)
    for fit in (
        first.more(12 - start),
        pickle.loads(pickle.dumps(first)).more(12 - start),
        whole.at(start).more(11),
    ):
        pd.testing.assert_frame_equal(fit.rounds.head(12), whole.rounds)
        pd.testing.assert_frame_equal(
            fit.staged_errors().head(12), whole.staged_errors()
        )
    again = first.more(12 - start)
    pd.testing.assert_frame_equal(
        again.predict(type="votes"), whole.predict(type="votes")
    )
    assert len(first.rounds) == start


@pytest.mark.parametrize(
    "method", ["bagging", "ordinal-adaboost", "orboost-all", "adaboost-or"]
)
def test_what_is_fitted_again_has_as_many_rounds(frame, method):
    alone = ordfit("rank ~ x1 + x2", frame, method, rounds=3)
    for fit in (
        ordfit("rank ~ x1 + x2", frame, method, rounds=6).at(3),
        ordfit("rank ~ x1 + x2", frame, method, rounds=2).more(1),
    ):
        assert fit.method == alone.method and fit.formula == alone.formula
        pd.testing.assert_frame_equal(
            fit.errors(cv=3, seed=1), alone.errors(cv=3, seed=1)
        )
        pd.testing.assert_frame_equal(
            fit.conformal(0.8).predict(frame), alone.conformal(0.8).predict(frame)
        )
        assert (
            fit.update("~ . - x2").predict().tolist()
            == alone.update("~ . - x2").predict().tolist()
        )


def test_a_calibration_is_for_the_rounds_it_was_made_with(frame):
    fit = ordfit("rank ~ x1 + x2", frame, "bagging", rounds=6, calibrate=3)
    pd.testing.assert_frame_equal(
        fit.at(6).predict(type="prob"), fit.predict(type="prob")
    )
    for other in (fit.at(3), fit.more(3)):
        with pytest.raises(
            OptionError, match="calibration was for the ranker as first fitted"
        ):
            other.predict(type="prob")
        assert "log-loss" not in other.errors().index
        assert other.augment().columns.tolist() == ["rank", "x1", "x2", ".fitted"]


BOOSTED = [
    (name, version)
    for name in ("nominal-adaboost", "fixed-split-boosting", "ordinal-adaboost")
    for version in ("discrete", "real")
]


@pytest.mark.parametrize(
    "options",
    [
        {"method": "cart"},
        {"method": "ordinal-cart"},
        {"method": "bagging"},
        {"method": "ordinal-bagging"},
        *({"method": name, "version": version} for name, version in BOOSTED),
        {
            "method": "ordinal-adaboost",
            "version": "real",
            "criterion": "misclassification",
        },
    ],
    ids=str,
)
def test_probabilities_are_of_the_predicted_rank(frame, options):
    fit = ordfit("rank ~ x1 + x2", frame, **options)
    p = fit.predict(type="prob")
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p.to_numpy() >= 0).all()
    largest = p.to_numpy().max(axis=1)
    codes = fit.predict().cat.codes.to_numpy()
    np.testing.assert_allclose(p.to_numpy()[np.arange(len(p)), codes], largest)


@pytest.mark.parametrize(
    "method",
    ["cart", "ordinal-cart", "bagging", "fixed-split-boosting", "ordinal-adaboost"],
)
def test_no_columns_give_one_rank(frame, method):
    fit = ordfit("rank ~ 1", frame, method)
    assert fit.predict().nunique() == 1
    assert fit.importance().empty


@pytest.mark.parametrize("criterion", ["distance", "misclassification"])
def test_many_rounds_stay_exact(frame, criterion):
    """Weights next to nothing neither spoil the sums nor raise a warning (warnings are
    errors here).
    """
    options = {
        "rounds": 400,
        "version": "real",
        "sampling": "weight",
        "criterion": criterion,
    }
    fit = ordfit("rank ~ x1 + x2", frame, "ordinal-adaboost", **options)
    assert fit.certificate.reached
    assert np.isfinite(fit.predict(type="prob")).all(axis=None)


def test_nodes_text_and_importance_of_one_tree(frame):
    data = pd.DataFrame(
        {"x": [1.0, 2.0, 3.0, 4.0], "z": [5.0, 5.0, 5.0, 5.0], "y": [1, 1, 2, 3]}
    )
    fit = ordfit("y ~ z + x", data, "cart")
    assert fit.text().splitlines() == [
        "node) cut  weight  deviance  level",
        "1) all rows  4  8.318  1",
        "  2) x <= 2.5  2  0  1 *",
        "  3) x > 2.5  2  2.773  2",
        "    6) x <= 3.5  1  0  2 *",
        "    7) x > 3.5  1  0  3 *",
    ]
    assert fit.nodes().loc[3, ["1", "2", "3"]].tolist() == [0.0, 0.5, 0.5]
    assert fit.importance().loc["x"].tolist() == [1.0, 2.0]
    assert fit.importance().loc["z"].tolist() == [0.0, 0.0]
    assert "x <= 2.5" in str(fit.summary())
    assert fit.importance().index.name == "column"


def test_importance_adds_up_over_trees(frame):
    fit = ordfit("rank ~ x1 + x2", frame, "fixed-split-boosting", rounds=5)
    fall = np.zeros(2)
    for i, tree in enumerate(fit.fit.votes.trees):
        height = fit.fit.votes.round_weights[i // 4, i % 4]
        for node in np.flatnonzero(tree.column >= 0):
            below = (
                tree.deviances[tree.child[node]] + tree.deviances[tree.child[node] + 1]
            )
            fall[tree.column[node]] += (
                height * (tree.deviances[node] - below) / tree.values[0].sum()
            )
    importance = fit.importance()["importance"]
    np.testing.assert_allclose(importance[["x1", "x2"]], fall / fall.sum())


def test_pruned_trees_of_the_paper(frame):
    fit = ordfit("rank ~ x1 + x2", frame, "cart", leaves=8, prune="misclassification")
    assert 8 <= fit.fit.votes.trees[0].n_leaves <= 12
    grown = ordfit(
        "rank ~ x1 + x2", frame, "cart", leaves=fit.fit.votes.trees[0].n_leaves
    )
    wrong = [f.errors().loc["classification error", "training"] for f in (fit, grown)]
    assert wrong[0] <= wrong[1]


def test_trees_are_drawn(frame):
    pytest.importorskip("matplotlib").use("Agg")
    fit = ordfit("rank ~ x1 + x2", frame, "ordinal-bagging", rounds=3)
    ax = fit.plot.tree(round=2, split=3)
    data = fit.plot.tree(round=2, split=3, draw=False)
    texts = [text.get_text() for text in ax.texts]
    assert (
        sum(text.startswith(("x1 <=", "x2 <=")) for text in texts)
        == (~data["leaf"]).sum()
    )
    assert data["weight"][data["leaf"]].sum() == pytest.approx(150)
    assert len(ax.patches) == 2 * data["leaf"].sum()


def test_what_there_is_not_is_said(frame):
    fit = ordfit("rank ~ x1 + x2", frame, "ordinal-cart")
    for message, ask in (
        ("give split=1 to 4", lambda: fit.text()),
        ("split must be a whole number from 1 to 4", lambda: fit.text(split=5)),
        ("round must be a whole number from 1 to 1", lambda: fit.text(2, split=1)),
        ("rounds must be a whole number from 1 to 1", lambda: fit.at(2)),
        ("has a single round", lambda: fit.more(2)),
        (
            "rounds of OrdinalBagging must be a whole number, 1 or more",
            lambda: ordfit("rank ~ x1 + x2", frame, "bagging", rounds=2).more(0),
        ),
        (
            "rounds must be whole numbers from 1 to 1",
            lambda: fit.staged_errors(rounds=[0]),
        ),
        (
            "leave split out",
            lambda: ordfit("rank ~ x1 + x2", frame, "cart").text(split=1),
        ),
        (
            r"must be .* with version='real'",
            lambda: OrdinalAdaBoost(version="real", criterion="raw distance"),
        ),
        ("cost of OrdinalTree must", lambda: OrdinalTree(cost="absolute")),
    ):
        with pytest.raises(OptionError, match=message):
            ask()
