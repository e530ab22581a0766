"""Boosting methods against slow versions of the papers' algorithms, and what their
results can do.
"""

import itertools

import numpy as np
import pandas as pd
import pytest
from seams import Rows, Sample
from sklearn.tree import DecisionTreeClassifier

from ordstat import (
    REDSVM,
    AdaBoost,
    AdaBoostOR,
    DataError,
    OptionError,
    ORBoost,
    RankBoost,
    RCDPerceptron,
    SeedBoost,
    datasets,
    ordfit,
)
from ordstat.reduction.encoding import interpolated_median

from .problems import COSTS, costs, sample

CLOSE = 1e-9
ENSEMBLES = {
    "orboost-all": ORBoost(rounds=40),
    "orboost-lr": ORBoost(rounds=40, cost="classification"),
    "orboost, perceptrons": ORBoost(rounds=12, learner=RCDPerceptron(updates=30)),
    "orboost, sigmoids": ORBoost(rounds=12, learner="sigmoid"),
    "orboost, trees": ORBoost(rounds=15, learner="tree"),
    "orboost, scikit-learn's trees": ORBoost(
        rounds=5, learner=DecisionTreeClassifier(max_leaf_nodes=5)
    ),
    "rankboost-or": RankBoost(rounds=40),
    "rankboost-ae": RankBoost(rounds=40, step="tight"),
    "rankboost, sigmoids": RankBoost(rounds=8, step="tight", learner="sigmoid"),
    "adaboost-or": AdaBoostOR(rounds=40),
    "adaboost-or, svm": AdaBoostOR(rounds=4, base=REDSVM(C=0.1)),
}


def _fit(method, s, seed=0):
    return method.fit(s, np.random.default_rng(seed))


def _in_order(s):
    """Rows as boosting sees them, distinct and sorted."""
    return s.take(np.lexsort(np.column_stack([s.y, s.X]).T[::-1]))


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 3))
    y = np.digitize(
        x[:, 0] - x[:, 1] ** 2 + 0.5 * rng.normal(size=150), [-1.5, -0.5, 0.5]
    )
    return pd.DataFrame(x, columns=list("abc")).assign(y=y)


@pytest.mark.parametrize("method", ENSEMBLES.values(), ids=ENSEMBLES)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_falls_and_stays_below_its_bound(method, weighted):
    fit = _fit(method, sample(1, n=60, weighted=weighted))
    r = fit.rounds
    assert (np.diff(r.losses) <= CLOSE * r.losses[:-1]).all()
    assert (r.losses <= r.limits * (1 + CLOSE)).all()
    assert (np.diff(r.limits) <= CLOSE).all()
    assert fit.certificate.reached
    assert r.losses[-1] < r.losses[0]
    if r.thetas is not None:
        assert (np.diff(r.thetas, axis=1) >= 0).all()


def _stumps(X):
    """Every stump's answers, by column and cut, the constant left out."""
    for d in range(X.shape[1]):
        values = np.unique(X[:, d])
        for cut in (values[1:] + values[:-1]) / 2:
            yield np.where(X[:, d] > cut, 1.0, -1.0)


@pytest.mark.parametrize("lr", [False, True])
def test_orboost_is_the_papers_algorithm(lr):
    """phi_n, the best stump of all, alpha from W+ and W-, theta by direct minimisation,
    row by row.
    """
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 2))
    y = np.argsort(np.argsort(X[:, 0] + rng.normal(size=30))) // 10
    s = Sample(rows=Rows(X=X), y=y, n_levels=3)
    fit = _fit(ORBoost(rounds=8, cost="classification" if lr else "absolute"), s)
    H = np.zeros(30)
    theta = fit.rounds.thetas[0]
    used = [[k for k in range(2) if not lr or k in (y[n] - 1, y[n])] for n in range(30)]
    for t in range(8):
        up = np.array(
            [
                sum(np.exp(theta[k] - H[n]) for k in used[n] if y[n] > k)
                for n in range(30)
            ]
        )
        down = np.array(
            [
                sum(np.exp(H[n] - theta[k]) for k in used[n] if y[n] <= k)
                for n in range(30)
            ]
        )
        h = max(
            (q * h for h in _stumps(X) for q in (1, -1)), key=lambda h: h @ (up - down)
        )
        right = up[h > 0].sum() + down[h < 0].sum()
        wrong = down[h > 0].sum() + up[h < 0].sum()
        assert fit.rounds.alphas[t] == pytest.approx(
            0.5 * np.log(right / wrong), rel=1e-6
        )
        H = H + fit.rounds.alphas[t] * h
        theta = fit.rounds.thetas[t + 1]
        if not lr:
            exact = [
                0.5 * np.log(np.exp(H[y <= k]).sum() / np.exp(-H[y > k]).sum())
                for k in range(2)
            ]
            np.testing.assert_allclose(theta, exact, rtol=1e-9)
    np.testing.assert_allclose(fit.scores, H, rtol=1e-9)


@pytest.mark.parametrize("name", COSTS)
def test_adaboost_or_is_adaboost_on_extended_examples(name):
    """Reverse reduction [Lin 2008, sec. 4.3]: the same binary classifiers g(x, k) =
    [r(x) > k], errors, votes, weights.

    AdaBoost (alg. 4.2) on (x_n, k) with labels [y_n > k] and weights |c_n[k+1] -
    c_n[k]|, whose base learner is the best ranking stump; and the update of cost
    vectors (alg. 4.3 d, mirrored below the rank).
    """
    s = _in_order(sample(5, n=24, width=2, n_levels=3))
    paid = costs(name, s.y, 3)
    value = AdaBoostOR(rounds=6)
    fit = _fit(value, Sample(rows=s.rows, y=s.y, n_levels=3, costs=paid))
    label = np.where(s.y[:, None] > np.arange(2), 1, -1)
    weight = np.abs(np.diff(paid, axis=1))
    cost = paid - paid.min(axis=1, keepdims=True)
    every = []
    for d, q in itertools.product(range(2), (1, -1)):
        values = np.unique(q * s.X[:, d])
        cuts = [values[0] - 1, *((values[1:] + values[:-1]) / 2), values[-1] + 1]
        ordered = itertools.combinations_with_replacement(cuts, 2)
        every += [(q * s.X[:, d][:, None] > theta).sum(axis=1) for theta in ordered]
    votes = np.zeros((24, 2))
    for t, member in enumerate(fit.rounds.members):
        sign = value.hypotheses(_Distinct(s, paid)).combine([member], np.ones(1))(
            s.rows
        )
        rank = (sign > 0).sum(axis=1)
        # The ranker is the best of all for these weights, and for these costs.
        best = min(cost[np.arange(24), r].sum() for r in every)
        assert cost[np.arange(24), rank].sum() == pytest.approx(best, rel=1e-6)
        error = weight[sign != label].sum() / weight.sum()
        assert error == pytest.approx(
            cost[np.arange(24), rank].sum() / (cost[:, 0] + cost[:, -1]).sum()
        )
        vote = 0.5 * np.log((1 - error) / error)
        assert fit.rounds.alphas[t] == pytest.approx(vote, rel=1e-6)
        grown = (1 - error) / error - 1
        weight = np.where(sign != label, weight * (1 + grown), weight)
        for n in range(24):
            r = rank[n]
            y = s.y[n]
            old = cost[n].copy()
            for k in range(3):
                beyond = (y < k, k <= r) if r >= y else (k < y, r <= k)
                if beyond[0]:
                    cost[n, k] += grown * (old[k] if beyond[1] else old[r])
        np.testing.assert_allclose(np.abs(np.diff(cost, axis=1)), weight, rtol=1e-9)
        votes += vote * sign
    np.testing.assert_allclose(fit.rule.gaps(s.rows), votes, atol=1e-6)
    assert fit.rounds.limits[-1] == pytest.approx(fit.rounds.losses[-1])


class _Distinct:
    """What `AdaBoostOR.hypotheses` asks of rows."""

    def __init__(self, s, paid):
        self.X, self.costs = s.X, paid


@pytest.mark.parametrize("seed", range(5))
def test_the_weighted_median_is_the_rule_of_the_reduction(seed):
    """min{k : votes of ranks <= k are at least half} = 1 + #{k : votes above k are more
    than half} [th. 4.9].
    """
    rng = np.random.default_rng(seed)
    votes = rng.random(7)
    ranks = rng.integers(0, 5, (7, 200))
    g = sum(
        v * np.where(r[:, None] > np.arange(4), 1, -1)
        for v, r in zip(votes, ranks, strict=True)
    )
    median = [
        min(k for k in range(5) if votes[r <= k].sum() >= votes.sum() / 2)
        for r in ranks.T
    ]
    assert (g > 0).sum(axis=1).tolist() == median
    score = interpolated_median(g, votes.sum())
    assert (score[:, None] > np.arange(1, 5)).sum(axis=1).tolist() == median


def test_adaboost_lowers_the_exponential_loss_by_the_best_stump():
    s = sample(8, n=40, n_levels=2, weighted=True)
    fit = _fit(AdaBoost(rounds=10), s)
    z = 2.0 * s.y - 1.0
    H = np.zeros(40)
    for t, alpha in enumerate(fit.rounds.alphas):
        w = s.weights * np.exp(-z * H)
        assert w.sum() / s.weights.sum() == pytest.approx(fit.rounds.losses[t])
        best = max([abs(w @ (z * h)) for h in _stumps(s.X)] + [abs(w @ z)])
        error = 0.5 * (1 - best / w.sum())
        assert alpha == pytest.approx(0.5 * np.log((1 - error) / error), rel=1e-6)
        H = AdaBoost().truncated(s, fit, t + 1).scores
    assert fit.rule.theta.tolist() == [0.0]


def test_seedboost_goes_on_from_adaboost():
    """The recursive view of AdaBoost [Lin 2008, alg. 5.2]."""
    s = sample(8, n=60, n_levels=2, weighted=True)
    whole = _fit(AdaBoost(rounds=20), s)
    two = _fit(SeedBoost(first=AdaBoost(rounds=8), rounds=12), s)
    np.testing.assert_allclose(two.scores, whole.scores, rtol=1e-9)


@pytest.mark.parametrize("first", ["logistic", REDSVM(C=1.0), "tree"], ids=str)
def test_seedboost_starts_from_any_score(first):
    s = sample(8, n=60, n_levels=2)
    fit = _fit(SeedBoost(first=first, rounds=5), s)
    z = 2.0 * s.y - 1.0
    start = fit.rounds.start(s.rows)
    assert fit.rounds.losses[0] == pytest.approx(np.exp(-z * start).mean())
    assert fit.rounds.losses[-1] == pytest.approx(np.exp(-z * fit.scores).mean())
    assert fit.rounds.losses[-1] <= fit.rounds.losses[0]


@pytest.mark.parametrize("method", ["adaboost", "seedboost"])
def test_two_levels_are_needed(method):
    with pytest.raises(DataError, match="2 levels"):
        ordfit("rating ~ temp", datasets.load("wine"), method)


def test_a_rank_that_no_training_row_has_is_never_predicted(frame):
    """As in a fold of a cross-validation."""
    y = frame["y"].to_numpy()
    for absent in range(4):
        kept = np.flatnonzero(y != absent)
        s = Sample(
            rows=Rows(X=frame[list("abc")].to_numpy()[kept]), y=y[kept], n_levels=4
        )
        for method in (ORBoost(rounds=20), ORBoost(rounds=20, cost="classification")):
            assert absent not in _fit(method, s).rule.codes(s.rows)
        assert _fit(AdaBoostOR(rounds=20), s).rule.n_levels == 4
        assert _fit(RankBoost(rounds=20), s).rule.n_levels == 4


@pytest.mark.parametrize(
    "method", ["orboost-all", "rankboost-or", "adaboost-or", "orstump"]
)
def test_one_constant_column_is_no_trouble(method, frame):
    fit = ordfit("y ~ a", frame.assign(a=1.0), method)
    assert fit.predict().nunique() == 1


def test_margins_are_normalised_by_all_weights_and_thresholds(frame):
    fit = ordfit("y ~ a + b + c", frame, "orboost-all", rounds=30)
    size = np.abs(fit.fit.rounds.alphas).sum() + np.abs(fit.thresholds).sum()
    assert fit.geometry.total == pytest.approx(size)
    assert np.abs(fit.training_margins.normalised).max() <= 1.0
    votes = ordfit("y ~ a + b + c", frame, "adaboost-or", rounds=30)
    assert votes.geometry.total == pytest.approx(votes.fit.rounds.alphas.sum())
    assert (
        votes.margins([0.0]).loc[0.0, "absolute"]
        == votes.training_errors["absolute error"]
    )


@pytest.mark.parametrize("learner", ["stump", "perceptron", "sigmoid", "tree"])
def test_complexities_exceed_simulated_ones(learner):
    """E sup over the hull of the mean of sigma f is E max over single hypotheses: many
    are tried.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 2))
    s = Sample(rows=Rows(X=X), y=np.arange(25) % 3, n_levels=3)
    method = ORBoost(rounds=2, learner=learner)
    geometry = method.geometry(s, _fit(method, s))
    trainer = method.weak().on(X, np.ones(25))
    signs = rng.choice([-1.0, 1.0], size=(60, 25))
    best = [
        max(abs(u.sum()), *(abs(u @ trainer.best(q * u, rng).values) for q in (1, -1)))
        for u in signs
    ]
    assert np.mean(best) / 25 <= geometry.complexity(np.ones(25))


def test_the_bound_of_an_unknown_class_is_missing_and_says_so(frame):
    fit = ordfit("y ~ a + b + c", frame, "orboost-all", rounds=3, learner="logistic")
    assert fit.bounds().empty
    assert "no known size" in str(fit.summary())


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"rounds": 0}, "rounds of ORBoost"),
        ({"learner": "forest"}, "learner of ORBoost"),
    ],
)
def test_options_are_checked(options, match):
    with pytest.raises(OptionError, match=match):
        ORBoost(**options)


def test_costs_must_be_v_shaped(frame):
    table = [[0, 2, 1, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]]
    for method in ("orboost-all", "adaboost-or"):
        with pytest.raises(DataError, match="V-shaped"):
            ordfit("y ~ a", frame, method, cost=table)
    assert ordfit("y ~ a", frame, "rankboost-or", cost=table, rounds=3).nobs == 150
    assert ordfit("y ~ a", frame, "orstump", cost=table).nobs == 150


def test_margin_bounds_hold_and_say_something():
    """Rows drawn again and again; the expected error is that of very many rows."""
    rng = np.random.default_rng(0)

    def draw(n):
        X = rng.uniform(-1, 1, (n, 1))
        y = (X[:, 0] + 0.02 * rng.normal(size=n) > 0).astype(np.intp)
        return pd.DataFrame({"x": X[:, 0], "y": y})

    far = draw(50_000)
    held = 0
    useful = 0
    for _ in range(8):
        fit = ordfit("y ~ x", draw(30_000), "orboost-all", rounds=2)
        error = float((fit.predict(far).astype(int) != far["y"]).mean())
        bound = fit.bounds().loc["absolute error"]
        held += error <= bound["value"]
        useful += not bound["vacuous"]
    assert held == useful == 8


def test_progress_is_told_to_its_end(frame):
    heard = []
    ordfit("y ~ a", frame, "orboost-all", rounds=5, callback=lambda *a: heard.append(a))
    assert [step for step, *_ in heard] == [1, 2, 3, 4, 5]
    heard.clear()
    ordfit(
        "y ~ a",
        frame.assign(a=1.0),
        "orboost-all",
        rounds=5,
        callback=lambda *a: heard.append(a),
    )
    assert heard == [(5, 5, "no weak hypothesis is better than chance")]


def test_the_first_ranker_of_adaboost_or_is_the_base_alone():
    """Under the costs of the data, times the case weights."""
    s = sample(3, n=60, weighted=True)
    fit = _fit(AdaBoostOR(rounds=1, base=REDSVM(C=0.1, tol=1e-9)), s)
    alone = _fit(REDSVM(C=0.1, tol=1e-9), s)
    clear = np.abs(alone.rule.gaps(s.rows)).min(axis=1) > 1e-4
    np.testing.assert_array_equal(
        fit.rule.codes(s.rows)[clear], alone.rule.codes(s.rows)[clear]
    )
    assert clear.mean() > 0.9


@pytest.mark.parametrize("method", [ORBoost, RankBoost])
def test_sigmoids_go_on_when_one_is_worse_than_chance(method):
    """A sigmoid need not be better than chance where its perceptron is: it then gets a
    negative weight.
    """
    fit = _fit(method(rounds=500, learner="sigmoid"), sample(1, n=60))
    assert fit.rounds.alphas.size == 500
    assert (fit.rounds.alphas < 0).any()
