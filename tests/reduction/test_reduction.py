"""The reduction to binary classification: against fits by hand, other routes to the
same ranker, and its theorems.
"""

import numpy as np
import pandas as pd
import pytest
from expected import refused
from scipy.optimize import minimize
from seams import CostMatrix, Rows, extend
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from ordstat import (
    C45,
    DataError,
    Linear,
    OptionError,
    OrdinalClassifier,
    Reduction,
    datasets,
    ordfit,
)
from ordstat.formula.distinct import DistinctRows
from ordstat.reduction.encoding import (
    binary_cost,
    codes_of,
    extended_rows,
    training_bound,
)
from ordstat.reduction.threshold_loss import ThresholdNetwork, threshold_logistic
from ordstat.svm.learner import SVM

K = 4


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (90, 3))
    X[0], X[1] = -1.0, 1.0  # so that scaling="range" changes nothing
    return X, np.searchsorted(
        [-1.0, 0.0, 1.0], X @ [2.0, -1.0, 0.5] + 0.5 * rng.logistic(size=90)
    )


def by_hand(X, y, cost="absolute"):
    """Rows ((x, 1_k), label, weight) of algorithm 4.1."""
    rows = [
        (
            np.concatenate([x, np.eye(K - 1)[k]]),
            1.0 if rank > k else -1.0,
            abs(c[k + 1] - c[k]),
        )
        for x, rank, c in zip(X, y, CostMatrix(cost).rows(y, K), strict=True)
        for k in range(K - 1)
    ]
    return tuple(np.array(part) for part in zip(*rows, strict=True))


# Encodings


def test_encodings_tell_k():
    np.testing.assert_array_equal(codes_of("one-hot", 4), np.eye(3))
    np.testing.assert_array_equal(codes_of("ordinal", 4), [[0, 0], [1, 0], [1, 1]])
    assert codes_of("separate", 4) is None
    rows = extended_rows(np.array([[7.0], [8.0]]), codes_of("ordinal", 3))
    np.testing.assert_array_equal(rows, [[7, 0], [7, 1], [8, 0], [8, 1]])


# Against fits by hand


@pytest.mark.parametrize("cost", ["absolute", "classification", "squared"])
def test_one_hot_is_one_classifier_on_the_extended_examples(data, cost):
    X, y = data
    E, z, w = by_hand(X, y, cost)
    base = LogisticRegression(tol=1e-10, max_iter=10_000)
    g = base.fit(E, z, sample_weight=w)
    model = OrdinalClassifier(
        Reduction(base=LogisticRegression(tol=1e-10, max_iter=10_000), cost=cost)
    ).fit(X, y)
    by_counting = (g.decision_function(E).reshape(-1, K - 1) > 0).sum(axis=1)
    assert model.predict(X).tolist() == by_counting.tolist()
    gaps = model.results_.fit.rule.gaps(model.results_.design.sample.rows)
    np.testing.assert_allclose(gaps.ravel(), g.decision_function(E), atol=1e-5)


def test_frank_hall_takes_differences_of_separate_classifiers(data):
    X, y = data
    above = np.column_stack(
        [
            LogisticRegression().fit(X, y > k).predict_proba(X)[:, 1]
            for k in range(K - 1)
        ]
    )
    P = -np.diff(above, axis=1, prepend=1.0, append=0.0)
    assert (P >= 0).all()  # in order by themselves here
    model = OrdinalClassifier("frank-hall").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), P, atol=1e-3)
    assert model.predict(X).tolist() == P.argmax(axis=1).tolist()


def test_trees_are_those_of_scikit_learn(data):
    X, y = data
    E, z, w = by_hand(X, y)
    order = np.lexsort([*X.T[::-1], y])  # the order of the rows that the fit settles on
    sorted_rows = (np.arange(len(X) * (K - 1)).reshape(-1, K - 1)[order]).ravel()
    tree = DecisionTreeClassifier(max_depth=4, random_state=3)
    tree.fit(E[sorted_rows], z[sorted_rows], sample_weight=w[sorted_rows])
    model = OrdinalClassifier(
        Reduction(base=DecisionTreeClassifier(max_depth=4, random_state=3))
    ).fit(X, y)
    expected = (tree.predict_proba(E)[:, 1].reshape(-1, K - 1) > 0.5).sum(axis=1)
    # equal cuts of a column may fall either way
    assert (model.predict(X) == expected).mean() > 0.97


# Other routes to the same ranker


@pytest.mark.parametrize("cost", ["absolute", "squared"])
@pytest.mark.parametrize("C", [1.0, 10.0])
def test_a_weighted_svm_on_the_encoding_of_redsvm_is_redsvm(data, cost, C):
    """K((x, k), (x', k')) = K(x, x') + gamma^2 [k = k'] (Lin 2008, sec. 4.2.1), by
    LIBSVM and by our own machine.
    """
    X, y = data
    red = OrdinalClassifier(
        "redsvm", kernel="linear", C=C, threshold_gamma=1.0, cost=cost, tol=1e-8
    ).fit(X, y)
    clear = np.abs(red.results_.training_margins.all).min(axis=1) > 1e-3
    for base in (
        SVC(kernel="linear", C=C, tol=1e-8),
        SVM(kernel=Linear(), C=C, scaling=None, tol=1e-8),
    ):
        model = OrdinalClassifier(Reduction(base=base, cost=cost)).fit(X, y)
        assert (model.predict(X) == red.predict(X))[clear].all()
        gaps = [
            m.results_.fit.rule.gaps(m.results_.design.sample.rows)
            for m in (model, red)
        ]
        np.testing.assert_allclose(*gaps, atol=2e-3)
    assert clear.mean() > 0.95


def test_any_kernel_of_x_with_the_encoding_of_redsvm_is_redsvm(data):
    X, y = data

    def kernel(A, B):
        squares = np.square(A[:, None, :3] - B[None, :, :3]).sum(axis=2)
        return np.exp(-0.5 * squares) + 4.0 * A[:, 3:] @ B[:, 3:].T

    from ordstat import Gaussian

    red = OrdinalClassifier(
        "redsvm", kernel=Gaussian(gamma=0.5), threshold_gamma=2.0, tol=1e-8
    ).fit(X, y)
    model = OrdinalClassifier(Reduction(base=SVC(kernel=kernel, tol=1e-8))).fit(X, y)
    gaps = [
        m.results_.fit.rule.gaps(m.results_.design.sample.rows) for m in (model, red)
    ]
    np.testing.assert_allclose(*gaps, atol=2e-3)


def test_adaboost_of_stumps_goes_where_orboost_all_goes():
    """Both lower sum_nk W_nk exp(-Y_nk (H(x_n) - theta_k)), H a sum of stumps; stumps
    of 1_k are the thresholds.

    The noise keeps the minimum finite, so that with many rounds both come near to it,
    from either side.
    """
    rng = np.random.default_rng(1)
    x = rng.integers(0, 4, 400).astype(float)
    y = np.clip(x.astype(int) + rng.integers(-1, 2, 400), 0, 3)
    extended = extend(y, CostMatrix.absolute().rows(y, 4), np.ones(400))

    def loss(gaps):
        return float((extended.weights * np.exp(-extended.labels * gaps)).sum() / 400)

    orboost = OrdinalClassifier("orboost-all", rounds=300).fit(x[:, None], y)
    rows = orboost.results_.design.sample.rows
    ours = orboost.results_.fit.rule.gaps(rows)
    assert loss(ours) == pytest.approx(
        orboost.results_.rounds["loss"].iloc[-1], rel=1e-9
    )

    base = OrdinalClassifier("adaboost", learner="stump", rounds=1500)
    model = OrdinalClassifier(Reduction(base=base)).fit(x[:, None], y)
    answers = model.results_.fit.rule.potential
    boosted = answers.scorer.members[0].model.results_.fit.rule
    examples = Rows(X=extended_rows(answers.scaling(rows.X), answers.codes))
    gaps = boosted.gaps(examples).reshape(-1, 3)
    assert loss(gaps) == pytest.approx(loss(ours), rel=2e-3)
    assert model.predict(x[:, None]).tolist() == orboost.predict(x[:, None]).tolist()


# Theorems


def random_v_costs(rng, n, levels):
    """Costs that fall up to a rank and rise after it, 0 there."""
    y = rng.integers(0, levels, n)
    steps = rng.uniform(0, 2, (n, levels - 1)) * np.where(
        np.arange(levels - 1) < y[:, None], -1, 1
    )
    costs = np.concatenate([np.zeros((n, 1)), np.cumsum(steps, axis=1)], axis=1)
    return y, costs - costs.min(axis=1, keepdims=True)


def _train(y, costs):
    n = len(y)
    return DistinctRows(
        X=np.zeros((n, 1)), y=y, costs=costs, weights=np.ones(n), rows=np.arange(n)
    )


@pytest.mark.parametrize("kind", ["convex", "monotone"])
@pytest.mark.parametrize("seed", range(5))
def test_theorem_4_1_holds_for_any_answers(kind, seed):
    rng = np.random.default_rng(seed)
    y, costs = random_v_costs(rng, 40, 6)
    gaps = rng.standard_normal((40, 5))
    if kind == "convex":
        costs = rng.uniform(1, 3, (40, 1)) * np.square(np.arange(6) - y[:, None])
    else:
        gaps = -np.sort(-gaps, axis=1)
    extended = extend(y, costs, np.ones(40))
    bound = training_bound(_train(y, costs), gaps, extended)
    paid = costs[np.arange(40), np.count_nonzero(gaps > 0, axis=1)].mean()
    assert bound.value == pytest.approx(paid)
    assert bound.limit == pytest.approx(binary_cost(gaps, extended) / 40)
    assert bound.value <= bound.limit + 1e-12
    if kind == "monotone":  # an equality
        assert bound.value == pytest.approx(bound.limit)


def test_theorem_4_1_is_silent_where_it_may_fail():
    """One row of rank 1 with the classification cost: answers no, yes, yes cost
    nothing, and count to rank 3.
    """
    y = np.array([0])
    costs = CostMatrix.classification().rows(np.array([0]), 4)
    gaps = np.array([[-1.0, 1.0, 1.0]])
    extended = extend(y, costs, np.ones(1))
    assert (
        costs[0, np.count_nonzero(gaps > 0, axis=1)[0]]
        == 1.0
        > binary_cost(gaps, extended)
        == 0.0
    )
    assert training_bound(_train(y, costs), gaps, extended) is None


def test_the_summary_shows_the_bound_of_the_theorem():
    wine = datasets.load("wine")
    text = " ".join(
        str(ordfit("rating ~ temp + contact", wine, "red-c45").summary("all")).split()
    )
    assert "cost above the least possible 0.6111 <= 0.6111 (Lin 2008, th. 4.1)" in text
    counted = " ".join(
        str(
            ordfit("rating ~ temp + contact", wine, "frank-hall").summary("all")
        ).split()
    )
    assert "theorem 4.1 needs decision='count'" in counted


# Probabilities


def crossing():
    """Separate trees of random labels: their probabilities cross for some rows."""
    rng = np.random.default_rng(2)
    return rng.standard_normal((60, 2)), rng.integers(0, K, 60)


def test_crossing_probabilities_are_sorted_and_counted_in_the_summary():
    X, y = crossing()
    base = DecisionTreeClassifier(max_depth=3, random_state=0)
    fit = (
        OrdinalClassifier(Reduction(base=base, encoding="separate")).fit(X, y).results_
    )
    above = fit.fit.rule.potential.above(fit.design.sample.rows)
    crossed = int((np.diff(above, axis=1) > 0).any(axis=1).sum())
    assert crossed > 0
    assert (
        f"Probabilities of 'above k' of {crossed} of 60 training rows increase"
        " somewhere in k" in " ".join(str(fit.summary()).split())
    )
    P = fit.predict(type="prob").to_numpy()
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    # the mean rank is that of the answers
    np.testing.assert_allclose(P @ np.arange(K), above.sum(axis=1))
    np.testing.assert_allclose(np.cumsum(P, axis=1), fit.predict(type="cum_prob"))
    median = (1.0 - np.cumsum(P, axis=1)[:, :-1] > 0.5 + 1e-12).sum(axis=1)
    assert median.tolist() == fit.predict().cat.codes.tolist()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"base": SVC()}, "no predict_proba"),
        ({"cost": "squared"}, "weight the examples"),
    ],
)
def test_no_probabilities_where_they_would_be_wrong(data, options, why):
    X, y = data
    fit = OrdinalClassifier(Reduction(**options)).fit(X, y).results_
    with pytest.raises(OptionError, match=why):
        fit.predict(type="prob")
    assert "log-loss" not in fit.errors().index
    with pytest.raises(DataError, match="decision='mode' needs probabilities"):
        OrdinalClassifier(Reduction(**options, decision="mode")).fit(X, y)


def test_predict_proba_goes_with_the_most_probable_rank(data):
    X, y = data
    model = OrdinalClassifier(Reduction(base="c4.5", decision="mode")).fit(X, y)
    assert model.predict_proba(X).argmax(axis=1).tolist() == model.predict(X).tolist()
    for calibrate in (False, True):
        assert hasattr(
            OrdinalClassifier("red-c45", calibrate=calibrate), "predict_proba"
        )


# The base classifier


def test_the_users_classifier_is_left_alone(data):
    base = LogisticRegression()
    OrdinalClassifier(Reduction(base=base)).fit(*data)
    assert not hasattr(base, "coef_")


@pytest.mark.parametrize("encoding", ["one-hot", "ordinal", "separate"])
def test_random_classifiers_follow_the_seed(data, encoding):
    def scores(seed, **settings):
        base = RandomForestClassifier(n_estimators=5, **settings)
        model = OrdinalClassifier(
            Reduction(base=base, encoding=encoding), random_state=seed
        ).fit(*data)
        return model.results_.fit.scores

    np.testing.assert_array_equal(scores(1), scores(1))
    assert (scores(1) != scores(2)).any()
    np.testing.assert_array_equal(scores(1, random_state=7), scores(2, random_state=7))


@pytest.mark.parametrize(
    ("base", "message"),
    [
        (
            "c45",
            (
                r"base of Reduction must be one of 'logistic', 'c4.5', 'tree',"
                r" 'hgb'.*got 'c45'"
            ),
        ),
        (LogisticRegression, r"base of Reduction"),
        (3, r"base of Reduction must be one of.*got 3"),
    ],
)
def test_other_bases_are_refused_by_name(base, message):
    with pytest.raises(OptionError, match=message):
        Reduction(base=base)


@pytest.mark.parametrize("base", ["logistic", "c4.5", "tree", C45(confidence=0.1)])
@pytest.mark.parametrize("encoding", ["one-hot", "ordinal", "separate"])
@pytest.mark.parametrize("w", ["whole", "fractional"])
def test_weights_are_rows(data, base, encoding, w):
    """Two halves of a row equal the row for any learner; fractional weights are added
    too.
    """
    X, y = data
    weights = np.random.default_rng(0).integers(1, 4, len(y)) * (
        1.0 if w == "whole" else 0.375
    )
    method = Reduction(base=base, encoding=encoding)
    whole = OrdinalClassifier(method).fit(X, y, weights)
    parts = OrdinalClassifier(method).fit(
        np.vstack([X, X[::-1]]), np.r_[y, y[::-1]], np.r_[weights, weights[::-1]] / 2
    )
    np.testing.assert_array_equal(
        whole.results_.fit.scores, parts.results_.fit.scores[: len(y)]
    )


def test_costs_that_are_not_v_shaped_are_named(data):
    with pytest.raises(DataError, match=r"V-shaped costs.*row \d+"):
        OrdinalClassifier(
            "red-c45", cost=[[0, 2, 1, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]]
        ).fit(*data)


@pytest.mark.parametrize(
    "method", ["red-tree", "frank-hall", "red-c45", "red-logistic", "onn"]
)
def test_a_formula_without_columns(method):
    """Constants, or an error for separate classifiers of scikit-learn, which need a
    column.
    """
    wine = datasets.load("wine")
    if method == "frank-hall":
        with refused("X", error=DataError):
            ordfit("rating ~ 1", wine, method)
        return
    assert (ordfit("rating ~ 1", wine, method).predict() == 3).all()  # the median


@pytest.mark.parametrize("encoding", ["one-hot", "ordinal", "separate"])
def test_two_levels_make_one_question(data, encoding):
    X, y = data
    model = OrdinalClassifier(
        Reduction(base=LogisticRegression(C=1e6), encoding=encoding)
    ).fit(X, y > 1)
    binary = LogisticRegression(C=1e6).fit(X, y > 1)
    assert (model.predict(X) == binary.predict(X)).all()


# Logistic losses of all thresholds


def objective(X, extended, alpha, v):
    w = v[: X.shape[1]]
    theta = v[X.shape[1] :]
    m = extended.labels * ((X @ w)[:, None] - theta)
    return float((extended.weights * np.logaddexp(0.0, -m)).sum() + 0.5 * alpha * w @ w)


@pytest.mark.parametrize("cost", ["absolute", "classification", "squared"])
@pytest.mark.parametrize(("alpha", "rare"), [(1.0, False), (0.01, True)])
def test_red_logistic_is_the_optimum_with_ordered_thresholds(data, cost, alpha, rare):
    X, y = data
    # a rank in between with hardly a row: its two thresholds meet under the
    # classification cost
    if rare:
        y = np.where((y == 1) & (np.arange(len(y)) > 3), 0, y)
        y[3] = 1
    model = OrdinalClassifier(
        "red-logistic", cost=cost, penalty=alpha, scaling=None
    ).fit(X, y)
    actual = np.concatenate([model.coef_, model.thresholds_])
    extended = extend(y, CostMatrix(cost).rows(y, K), np.ones(len(y)))
    ordered = [{"type": "ineq", "fun": lambda v: np.diff(v[3:])}]
    start = np.r_[np.zeros(3), -1.0, 0.0, 1.0]
    other = minimize(
        lambda v: objective(X, extended, alpha, v),
        start,
        method="SLSQP",
        constraints=ordered,
        tol=1e-12,
    )
    assert objective(X, extended, alpha, actual) <= other.fun + 1e-7
    np.testing.assert_allclose(actual, other.x, atol=2e-3)
    assert (np.diff(model.thresholds_) >= 0).all()
    if rare and cost == "classification":
        assert model.thresholds_[0] == model.thresholds_[1]


@pytest.mark.filterwarnings("ignore:scipy.optimize:DeprecationWarning")
@pytest.mark.parametrize(
    ("cost", "name"), [("absolute", "LogisticAT"), ("classification", "LogisticIT")]
)
@pytest.mark.parametrize("alpha", [0.01, 1.0])
def test_red_logistic_is_the_estimator_of_mord(data, cost, name, alpha):
    mord = pytest.importorskip("mord")
    X, y = data
    theirs = getattr(mord, name)(alpha=alpha, max_iter=100_000).fit(X, y)
    ours = OrdinalClassifier(
        "red-logistic", cost=cost, penalty=alpha, scaling=None
    ).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.thresholds_, theirs.theta_, atol=1e-4)
    assert ours.predict(X).tolist() == theirs.predict(X).tolist()
    if cost == "absolute":
        np.testing.assert_allclose(
            ours.results_.predict(type="prob"), theirs.predict_proba(X), atol=1e-4
        )


def test_costs_that_ignore_a_question_are_refused(data):
    X, y = data
    cost = np.abs(np.arange(K)[:, None] - np.arange(K)).astype(float)
    cost[0] = [0, 0, 1, 2]
    with pytest.raises(DataError, match="must differ between rank codes 0 and 1"):
        OrdinalClassifier("red-logistic", cost=cost).fit(X, y)


def test_thresholds_alone_are_log_odds_of_the_ranks():
    y = np.repeat([0, 1, 2], [2, 5, 3])
    extended = extend(y, CostMatrix.absolute().rows(y, 3), np.ones(10))
    actual = threshold_logistic(np.zeros((10, 0)), extended, 0.0, np.full(10, 1.5))
    np.testing.assert_allclose(actual.theta, 1.5 + np.log([2 / 8, 7 / 3]), rtol=1e-9)


def test_the_gradient_of_the_network(data):
    X, y = data
    network = ThresholdNetwork(
        X=X,
        extended=extend(y, CostMatrix("squared").rows(y, K), np.ones(len(y))),
        penalty=0.3,
        hidden=4,
    )
    v = np.random.default_rng(0).standard_normal(4 * 3 + 4 + 4 + K - 1)
    steps = 1e-6 * np.eye(v.size)
    slopes = [
        (network.evaluate(v + s)[0] - network.evaluate(v - s)[0]) / 2e-6 for s in steps
    ]
    np.testing.assert_allclose(network.evaluate(v)[1], slopes, rtol=1e-5, atol=1e-5)


def test_a_network_learns_what_no_line_can():
    """Ranks by the distance from the middle."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (300, 2))
    y = np.searchsorted([0.8, 1.3, 1.8], np.hypot(*X.T))
    line = OrdinalClassifier("red-logistic").fit(X, y)
    network = OrdinalClassifier("onn", hidden=8, penalty=0.01).fit(X, y)
    assert network.score(X, y) > 0.9 > line.score(X, y) + 0.3
    assert (np.diff(network.thresholds_) > 0).all()
    assert network.results_.certificate.reached


def test_a_network_of_more_columns_than_rows_is_a_minimum_over_all_columns():
    """By the loss written out for the columns, its slopes by differences."""
    rng = np.random.default_rng(1)
    n, D, J, penalty = 15, 40, 2, 0.5
    X = rng.normal(size=(n, D))
    y = np.arange(n) % 3
    options = {"hidden": J, "penalty": penalty, "scaling": None}
    network = OrdinalClassifier("onn", **options).fit(X, y)
    rule = network.results_.fit.rule
    H = rule.potential
    signs = np.where(y[:, None] > np.arange(2), 1.0, -1.0)

    def loss(v):
        inner = v[: J * D].reshape(J, D)
        bias, outer, theta = np.split(v[J * D :], [J, 2 * J])
        margins = signs * ((np.tanh(X @ inner.T + bias) @ outer)[:, None] - theta)
        squares = (inner**2).sum() + (outer**2).sum()
        return np.logaddexp(0.0, -margins).sum() + 0.5 * penalty * squares

    v = np.concatenate([H.inner.ravel(), H.bias, H.outer, rule.theta])
    steps = 1e-5 * np.eye(v.size)
    slopes = [(loss(v + s) - loss(v - s)) / 2e-5 for s in steps]
    np.testing.assert_allclose(slopes, 0.0, atol=1e-4)
    assert np.abs(H.outer).max() > 0.1  # not the saddle of no units at all


# Refusals, and levels that a part of the rows lacks


def test_what_a_classifier_refuses_is_an_error_of_the_data():
    """scikit-learn's trees hold 32 bits."""
    frame = pd.DataFrame({"x": np.arange(20.0), "y": np.arange(20) // 7})
    fit = ordfit("y ~ x", frame, "red-tree")
    with pytest.raises(
        DataError,
        match=r"DecisionTreeClassifier refuses the rows: .*Rescale the columns",
    ):
        fit.predict(frame.assign(x=1e120))
    with pytest.raises(
        DataError,
        match=r"DecisionTreeClassifier refuses the rows: .*Rescale the columns",
    ):
        ordfit("y ~ x", frame.assign(x=frame["x"] * 1e120), "red-tree")


@pytest.mark.parametrize("name", ["reduction", "frank-hall", "red-c45", "red-logistic"])
def test_intervals_of_levels_that_some_part_of_the_rows_lacks(name):
    """Half of the rows lack a level: its probability is 0 in their fit."""
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "y": [1, 1, 1, 2, 2, 3]})
    covered = ordfit("y ~ x", frame, name).conformal(0.5, share=0.5)
    assert covered.predict(frame).shape[0] == 6
