"""PRank and CuSum Rank against the generic structured perceptron, their means, twins,
bounds and batches.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import twins
from expected import refused
from seams import CostMatrix, Rows, Sample

from ordstat import CuSumRank, DataError, OptionError, PRank, ordfit
from ordstat.compiled import online
from ordstat.exceptions import UnavailableError
from ordstat.online.online import OnlineMethod
from ordstat.online.perceptron import Examples

from .samples import K, arrays, frame, sample, separable

RAW = {"scaling": None, "keep": "last"}
STREAM = {"scaling": None, "presentation": "order"}
RNG = np.random.default_rng(0)


# The generic structured perceptron


def cusum_features(x: np.ndarray, y: int) -> np.ndarray:
    """(x, ..., x, 0, ..., 0): the row with its constant -1, once for every step up to
    rank y [sec. 5].
    """
    row = np.append(x, -1.0)
    return np.concatenate([np.tile(row, y), np.zeros(row.size * (K - 1 - y))])


def prank_features(x: np.ndarray, y: int) -> np.ndarray:
    """(y x, -1, ..., -1, 0, ..., 0) [sec. 6]."""
    return np.concatenate([y * x, -np.ones(y), np.zeros(K - 1 - y)])


def structured_perceptron(features, X, y, cost, epochs, margin=0.0, aggressive=False):
    """Figure 3, with every output listed: (weights after each example, sum |y -
    yhat|).
    """
    w = np.zeros(features(X[0], 0).size)
    path = []
    loss = 0
    for _ in range(epochs):
        for x, truth in zip(X, y, strict=True):
            score = [w @ features(x, k) + margin * cost[truth, k] for k in range(K)]
            answer = int(np.argmax(score))
            change = features(x, truth) - features(x, answer)
            step = 1.0
            if aggressive and answer != truth:
                step = max(cost[truth, answer] - w @ change, 0.0) / (change @ change)
            w = w + step * change
            path.append(w)
            loss += abs(answer - truth)
    return np.array(path), loss


def weights_of(fit) -> np.ndarray:
    """All weights of a fit with raw columns, in the order of the features above."""
    if hasattr(fit.rule, "theta"):
        return np.concatenate([fit.rule.potential.coef, fit.rule.theta])
    return fit.rule.votes.gaps.weights.ravel()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("margin", [0.0, 0.75])
@pytest.mark.parametrize(
    ("method", "features", "cost", "aggressive"),
    [
        (PRank, prank_features, "absolute", False),
        (PRank, prank_features, "squared", False),
        (CuSumRank, cusum_features, "absolute", False),
        (CuSumRank, cusum_features, "classification", False),
        (CuSumRank, cusum_features, "absolute", True),
        (CuSumRank, cusum_features, "classification", True),
    ],
)
def test_the_methods_are_structured_perceptrons(
    method, features, cost, aggressive, margin, seed
):
    s = sample(seed=seed)
    prices = CostMatrix.parse(cost).matrix(K)
    path, loss = structured_perceptron(
        features, s.X, s.y, prices, 3, margin, aggressive
    )
    options = {"epochs": 3, "margin": margin, "cost": cost, **STREAM}
    options |= {"update": "passive-aggressive"} if aggressive else {}
    last, mean = (method(keep=keep, **options).fit(s, RNG) for keep in ("last", "mean"))
    np.testing.assert_allclose(weights_of(last), path[-1], rtol=1e-9, atol=1e-9)
    # the naive mean
    np.testing.assert_allclose(
        weights_of(mean), path.mean(axis=0), rtol=1e-9, atol=1e-9
    )
    assert last.learned.tally.distance == loss > 0
    assert last.certificate.reached


def test_predictions_are_the_papers_rules():
    s = sample()
    prank, cusum = (m(**RAW).fit(s, RNG) for m in (PRank, CuSumRank))
    w = weights_of(prank)
    assert (prank.rule.codes(s.rows) == (s.X @ w[:3, None] > w[3:]).sum(axis=1)).all()
    by_features = [
        [weights_of(cusum) @ cusum_features(x, k) for k in range(K)] for x in s.X
    ]
    np.testing.assert_allclose(cusum.rule.scores(s.rows), by_features, atol=1e-9)


# Compiled passes


TABLE = CostMatrix.absolute().matrix(K)
PRICES = {  # costs, and which of them are those of a row
    "by rank": lambda y: (TABLE, y),
    "by row": lambda y: (
        TABLE[y] * np.linspace(0.5, 2.0, len(y))[:, None],
        np.arange(len(y)),
    ),
}


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("margin", [0.0, 1.5])
@pytest.mark.parametrize("pocket", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_prank_pass_equals_its_twin(scaled, pocket, margin, price):
    if scaled and pocket:
        pytest.skip("a pocket takes scaled columns")
    X, y = arrays(seed=4)
    scaling = (
        [np.array([1.0, 0.0, -2.0]), np.array([0.5, 1.0, 2.0])]
        if scaled
        else [np.zeros(0), np.zeros(0)]
    )
    order = np.random.default_rng(1).integers(0, len(y), 300)
    runs = []
    for module in (online, twins):
        state = [
            np.zeros(6),
            np.zeros(6),
            np.zeros(6),
            np.zeros(6 if pocket else 0),
            np.array([0.0, 0.0, np.inf, 0.0]),
        ]
        tally = np.zeros(4)
        module.prank_pass(
            X,
            *scaling,
            y,
            *PRICES[price](y),
            np.ones(40),
            order,
            margin,
            *state,
            7,
            tally,
        )
        runs.append([*state[:2], state[3], *([state[4]] if pocket else []), tally])
    for compiled, twin in zip(*runs, strict=True):
        np.testing.assert_allclose(compiled, twin, rtol=1e-12)


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("aggressive", [False, True])
@pytest.mark.parametrize("margin", [0.0, 1.5])
@pytest.mark.parametrize(
    "name",
    ["cusum_pass", "scaled cusum_pass", "kernel_cusum_pass", "kernel_prank_pass"],
)
def test_the_other_passes_equal_their_twins(name, margin, aggressive, price):
    X, y = arrays(seed=5)
    order = np.random.default_rng(1).integers(0, len(y), 300)
    scaling = (
        [np.array([1.0, 0.0, -2.0]), np.array([0.5, 1.0, 2.0])]
        if "scaled" in name
        else [np.zeros(0)] * 2
    )
    kernel = "kernel" in name
    runs = []
    for module in (online, twins):
        state = {
            "cusum_pass": [np.zeros((3, 4)), np.zeros((3, 4))],
            "kernel_cusum_pass": [
                np.zeros((3, 40)),
                np.zeros((3, 40)),
                np.zeros((3, 40)),
            ],
            "kernel_prank_pass": [
                np.zeros(40),
                np.zeros(40),
                np.zeros(3),
                np.zeros(3),
                np.zeros(40),
            ],
        }[name.split()[-1]]
        data = [X @ X.T + 1.0] if kernel else [X, *scaling]
        flag = [] if name == "kernel_prank_pass" else [aggressive]
        tally = np.zeros(4)
        work = np.zeros(6)
        learn = getattr(module, name.split()[-1])
        learn(*data, y, *PRICES[price](y), order, margin, *flag, *state, work, 7, tally)
        runs.append([*state, tally])
    for compiled, twin in zip(*runs, strict=True):
        np.testing.assert_allclose(compiled, twin, rtol=1e-9, atol=1e-9)


# Pocket and presentation


def test_the_pocket_is_not_dearer_than_any_hypothesis_after_a_pass():
    s = sample(60, seed=2)

    def cost(keep: str, epochs: int) -> int:
        return np.abs(
            PRank(keep=keep, epochs=epochs, **STREAM).fit(s, RNG).rule.codes(s.rows)
            - s.y
        ).sum()

    after = np.array([cost("last", epochs) for epochs in range(1, 31)])
    for epochs in (1, 3, 10, 30):
        assert cost("pocket", epochs) <= after[:epochs].min()
    pocket = PRank(keep="pocket", epochs=50, **STREAM).fit(s, RNG)
    path, _ = structured_perceptron(
        prank_features, s.X, s.y, CostMatrix.absolute().matrix(K), 50
    )
    # one that was there
    assert (np.abs(path - weights_of(pocket)).max(axis=1) == 0).any()


def test_rows_are_drawn_by_weight_and_largest_cost():
    s = sample(4)
    costs = np.array([[0.0, 1, 1, 1], [2, 0, 1, 1], [0, 0, 4, 0], [0, 1, 0, 0]])
    weighted = replace(s, weights=np.array([8000.0, 4000, 2000, 0]), costs=costs)
    examples = Examples.of(weighted, CostMatrix.absolute())
    drawn = examples.rows[examples.drawn_by_cost(np.random.default_rng(0))]
    assert drawn.size == 14000
    np.testing.assert_allclose(
        np.bincount(drawn, minlength=4) / 14000, [1 / 3, 1 / 3, 1 / 3, 0], atol=0.015
    )


@pytest.mark.parametrize("presentation", ["shuffled", "cost"])
@pytest.mark.parametrize("keep", ["mean", "last", "pocket"])
@pytest.mark.parametrize(
    "name", ["prank", "cusum", "pa-cusum", "kernel-prank", "kernel-cusum"]
)
def test_order_and_repetition_make_no_difference(name, keep, presentation):
    """To the last bit of the learner's weights, with ties in plenty: whole-number
    columns, zeros of either sign.
    """
    if keep == "pocket" and name != "prank":
        pytest.skip("no pocket")
    data = (
        frame(60)
        .assign(w=np.random.default_rng(2).integers(0, 4, 60))
        .replace({"a": {0.0: -0.0}})
    )
    repeated = (
        data.loc[data.index.repeat(data["w"])]
        .sample(frac=1.0, random_state=1)
        .replace({"b": {-0.0: 0.0}})
    )
    options = {"presentation": presentation, "keep": keep, "epochs": 3, "seed": 5}
    weighted, plain = (
        ordfit("y ~ a + b + c", rows, name, weights=weights, **options)
        for rows, weights in ((data[data["w"] > 0], "w"), (repeated, None))
    )
    tally = weighted.fit.learned.tally
    assert tally == plain.fit.learned.tally
    assert tally.mistakes > 0
    type = "score" if "prank" in name else "votes"
    np.testing.assert_allclose(
        *(fit.predict(data, type=type) for fit in (weighted, plain)),
        rtol=1e-12,
        atol=1e-12,
    )


@pytest.mark.parametrize("name", ["prank", "cusum", "kernel-prank", "kernel-cusum"])
def test_a_stream_is_learned_in_its_order(name):
    data = frame(60)
    fit, reversed_ = (
        ordfit("y ~ a + b + c", rows, name, epochs=1, presentation="order")
        for rows in (data, data[::-1])
    )
    assert fit.fit.learned.tally != reversed_.fit.learned.tally
    twice = ordfit(
        "y ~ a + b + c",
        data.assign(w=2),
        name,
        epochs=1,
        presentation="order",
        weights="w",
    )
    in_turn = ordfit(
        "y ~ a + b + c",
        data.loc[data.index.repeat(2)],
        name,
        epochs=1,
        presentation="order",
    )
    assert twice.fit.learned.tally == in_turn.fit.learned.tally


# Mistake bounds

LEARNERS = {
    "prank": PRank(epochs=30),
    "prank with margin": PRank(epochs=30, margin=2.0),
    "cusum": CuSumRank(epochs=30),
    "cusum with margin": CuSumRank(epochs=30, margin=2.0),
    "pa": CuSumRank(epochs=30, update="passive-aggressive"),
    "pa with margin": CuSumRank(epochs=30, update="passive-aggressive", margin=0.5),
    "pa, one lead": CuSumRank(
        epochs=30, update="passive-aggressive", cost="classification"
    ),
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", LEARNERS)
def test_the_mistake_bound_holds_on_separable_rows(name, seed):
    method: OnlineMethod = LEARNERS[name]
    s = separable(seed=seed)
    fit = method.fit(s, RNG)
    bound = method.mistake_bound(s, fit)
    assert 0 < bound.value <= bound.limit < np.inf
    assert bound.margin > 0


@pytest.mark.parametrize("name", ["prank", "cusum"])
def test_the_margin_is_the_best_and_the_radius_covers_every_change(name):
    """delta against a direct search by a general solver; R against every pair of ranks
    of every row.
    """
    from scipy.optimize import minimize

    method, features = (
        (PRank, prank_features) if name == "prank" else (CuSumRank, cusum_features)
    )
    s = separable(30)
    bound = method(**RAW).mistake_bound(s, method(**RAW).fit(s, RNG))
    steps = np.array(
        [[features(x, k + 1) - features(x, k) for k in range(K - 1)] for x in s.X]
    )
    signed = (
        steps * np.where(s.y[:, None] > np.arange(K - 1), 1.0, -1.0)[..., None]
    ).reshape(-1, steps.shape[2])
    optimum = minimize(
        lambda w: w @ w / 2,
        np.zeros(signed.shape[1]),
        jac=lambda w: w,
        constraints={
            "type": "ineq",
            "fun": lambda w: signed @ w - 1,
            "jac": lambda w: signed,
        },
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert bound.margin == pytest.approx(1 / np.sqrt(2 * optimum.fun), rel=1e-4)
    sizes = [
        np.sum((features(x, j) - features(x, k)) ** 2) / (j - k)
        for x in s.X
        for j in range(K)
        for k in range(j)
    ]
    assert bound.radius**2 == pytest.approx(max(sizes), rel=1e-12)


def test_the_printed_corollary_4_fails_where_ours_holds():
    """R^2 / delta^4 of rows 1000 times as long is below one mistake."""
    x = np.array([1000.0, -1000.0])
    s = Sample(rows=Rows(X=x[:, None]), y=np.array([1, 0]), n_levels=2)
    method = CuSumRank(update="passive-aggressive", scaling=None, epochs=1)
    bound = method.mistake_bound(s, method.fit(s, RNG))
    assert bound.radius**2 / bound.margin**4 < bound.value <= bound.limit


def test_rows_that_are_not_separable_have_no_bound():
    s = sample(60, noise=8.0)
    for method in (PRank(), CuSumRank()):
        bound = method.mistake_bound(s, method.fit(s, RNG))
        assert np.isnan(bound.limit)
        assert "not rank separable" in bound.source


def test_the_summary_shows_the_mistakes_beside_their_bound():
    s = separable()
    data = pd.DataFrame(s.X, columns=["a", "b", "c"]).assign(y=s.y)
    for name in ("prank", "cusum", "pa-cusum"):
        fit = ordfit("y ~ a + b + c", data, name)
        b = fit.mistake_bound
        assert f"sum |y - yhat| {b.value:g} <= {b.limit:.4g}" in str(fit.summary())


# Weights and costs


def test_weights_that_are_no_counts_are_refused():
    data = frame().assign(w=1.5)
    with refused("weights", "1.5 in row 0. Set presentation='cost'", error=DataError):
        ordfit("y ~ a", data, "cusum", weights="w")
    assert ordfit("y ~ a", data, "siprank", weights="w").nobs == 180


def test_costs_of_zero_leave_nothing_to_learn():
    with pytest.raises(DataError, match="costs are equal for all ranks"):
        ordfit("y ~ a", frame(), "siprank", cost=np.zeros((4, 4)))


def test_a_margin_of_prank_needs_convex_costs():
    with pytest.raises(DataError, match=r"margin > 0 needs convex costs"):
        ordfit("y ~ a", frame(), "prank", margin=1.0, cost="classification")


# Batches


def batches(data: pd.DataFrame, size: int = 30):
    return (data[start : start + size] for start in range(0, len(data), size))


@pytest.mark.parametrize("keep", ["mean", "last"])
@pytest.mark.parametrize("name", ["prank", "cusum", "pa-cusum"])
def test_batches_equal_one_pass_over_all_rows(name, keep):
    data = frame()
    options = {"epochs": 1, "keep": keep, **STREAM}
    whole = ordfit("y ~ a + b + c", data, name, **options)
    first, *rest = batches(data)
    start = ordfit("y ~ a + b + c", first, name, **options)
    for given in (rest, iter(rest), (b for b in rest), pd.concat(rest)):
        fit = start.partial_fit(given)
        np.testing.assert_allclose(
            weights_of(fit.fit), weights_of(whole.fit), rtol=1e-9, atol=1e-12
        )
        type = "score" if "prank" in name else "votes"
        np.testing.assert_allclose(
            *(f.predict(data, type=type) for f in (fit, whole)), rtol=1e-9, atol=1e-9
        )
        assert fit.certificate.value == pytest.approx(whole.certificate.value, rel=1e-9)
        tally = fit.fit.learned.tally
        all_rows = whole.fit.learned.tally
        assert (tally.examples, tally.mistakes, tally.distance) == (
            120,
            all_rows.mistakes,
            all_rows.distance,
        )
    assert start.fit.learned.tally.examples == 30  # results are never changed


def test_the_rows_of_the_results_are_those_of_the_last_batch():
    data = frame()
    fit = ordfit("y ~ a + b + c", data[:60], "cusum").partial_fit(
        batches(data[60:].assign(w=2), 30), weights="w"
    )
    assert fit.predict().index.tolist() == list(range(90, 120))
    assert fit.nobs == 60
    assert fit.fit.learned.tally.examples == 60 * 20 + 120
    assert "rows of earlier batches are not stored" in str(fit.summary())
    assert "3 batches" in " ".join(str(fit.summary()).split())


def test_what_cannot_learn_batches_says_so():
    data = frame()
    for name in ("siprank", "kernel-prank", "kernel-cusum"):
        with pytest.raises(
            OptionError, match=r"cannot learn further batches.*method='prank'"
        ):
            ordfit("y ~ a", data, name).partial_fit(data)
    with pytest.raises(OptionError, match="no costs for new rows"):
        ordfit(
            "y ~ a",
            data,
            "cusum",
            cost=np.ones((120, 4)) - np.eye(4)[data["y"].cat.codes],
        ).partial_fit(data)
    fit = ordfit("y ~ a", data, "prank")
    with pytest.raises(DataError, match="5"):
        fit.partial_fit(data.assign(y=5))
    with pytest.raises(DataError, match="must have a row"):
        fit.partial_fit(data.assign(a=np.nan))


def test_after_batches_nothing_is_fitted_again_to_the_last_one_alone():
    data = frame(seed=6)
    kept = frame(seed=7)
    fit = ordfit("y ~ a + b + c", data[:60], "prank").partial_fit(data[60:])
    for refit in (
        lambda: fit.errors(cv=3),
        lambda: fit.conformal(0.8),
        lambda: fit.update("~ . - a"),
        lambda: fit.update(epochs=3),
    ):
        with pytest.raises(UnavailableError):
            refit()
    assert fit.conformal(0.8, kept).n == len(kept)
    whole = ordfit("y ~ b + c", data, "prank")
    assert fit.update("~ . - a", data=data).coef.equals(whole.coef)
    assert "60, the last batch" in str(fit.summary()) and "the last batch" not in str(
        whole.summary()
    )
