"""`ordboost` against plain loops and what must hold of any boosting."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from problems import curved, ranked
from seams import Rows, Sample, held_weights

from ordstat import (
    CumulativeLink,
    DataError,
    OptionError,
    OrdinalBoosting,
    checks,
    datasets,
    ordfit,
)
from ordstat.compiled.boost import parts_of
from ordstat.prediction.start import BinnedRows

from . import naive

#: Nothing is drawn or chosen.
PLAIN = {"subsample": 1.0, "column_share": 1.0, "linear_start": False, "depth": 3}


@pytest.fixture(scope="module")
def frame():
    """Five levels of a curved and an interacting effect, with distinct rows."""
    rng = np.random.default_rng(2)
    data = ranked(rng, 240, [-1.2, -0.3, 0.4, 1.2], "abc", curved, noise=0.4)
    return data.assign(two=data["y"] > 1, w=rng.integers(1, 4, 240), o=0.5 * data["a"])


def codes_of(frame, names="abc"):
    """(D, N) ranks of the values of each column: its bins, where all are different and
    few enough.
    """
    return np.stack([np.unique(frame[name], return_inverse=True)[1] for name in names])


def rounded(frame):
    """Columns of less than 128 different values."""
    return frame.assign(**{name: frame[name].round(1) for name in "abc"})


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("weights", [None, "w"])
def test_every_round_is_that_of_a_plain_booster(frame, depth, weights):
    data = rounded(frame)
    fit = ordfit(
        "y ~ a + b + c",
        data,
        "ordboost",
        rounds=25,
        **PLAIN | {"depth": depth},
        weights=weights,
    )
    codes = codes_of(data)
    w = np.ones(len(data)) if weights is None else data["w"].to_numpy(float)
    grower = naive.Grower(codes=codes, depth=depth, least=5.0)
    trees, H, theta, losses = naive.boosted(
        codes, data["y"].to_numpy(), w, 25, 0.05, grower
    )
    np.testing.assert_allclose(fit.rounds["loss"], losses, rtol=1e-10)
    np.testing.assert_allclose(fit.predict(type="score"), H, atol=1e-10)
    np.testing.assert_allclose(fit.fit.thetas[-1], theta, atol=1e-9)
    rows = zip(fit.fit.trees.trees, trees, strict=True)
    assert all(
        np.isclose(sum(t.gain), sum(n.gain for n in walk(plain)), rtol=1e-8)
        and t.column.size == len(walk(plain))
        for t, plain in rows
    )


def walk(node):
    return [node, *(below for child in node.children for below in walk(child))]


@pytest.mark.parametrize("weights", [None, "w"])
def test_two_levels_are_binary_logistic_boosting(frame, weights):
    data = rounded(frame)
    fit = ordfit(
        "two ~ a + b + c", data, "ordboost", rounds=30, **PLAIN, weights=weights
    )
    codes = codes_of(data)
    w = np.ones(len(data)) if weights is None else data["w"].to_numpy(float)
    grower = naive.Grower(codes=codes, depth=3, least=5.0)
    H, b = naive.binary(codes, data["two"].to_numpy(float), w, 30, 0.05, grower)
    np.testing.assert_allclose(fit.predict(type="score"), H, atol=1e-10)
    assert fit.fit.thetas[-1][0] == pytest.approx(-b, abs=1e-10)


def test_a_leaf_for_every_row_reaches_the_saturated_likelihood():
    """Identical x with several ranks: no model can do better than their shares."""
    x = np.repeat(np.arange(12), 20)
    y = np.tile(np.repeat([0, 1, 2], [10, 6, 4]), 12)
    y = np.where(x % 2 == 0, y, 2 - y)  # mirrored: one potential is enough
    frame = pd.DataFrame({"x": x, "y": y})
    options = PLAIN | {
        "depth": 6,
        "min_weight": 1.0,
        "penalty": 0.0,
        "learning_rate": 0.3,
    }
    fit = ordfit("y ~ x", frame, "ordboost", rounds=300, **options)
    even = ordfit("y ~ C(z)", frame.assign(z=x % 2), "logit")
    assert fit.rounds["loss"].iloc[-1] == pytest.approx(
        -even.loglik / len(frame), abs=1e-6
    )


def test_all_rows_told_apart_are_all_learned(frame):
    options = PLAIN | {
        "depth": 8,
        "min_weight": 1.0,
        "penalty": 0.0,
        "learning_rate": 0.5,
    }
    fit = ordfit("y ~ a + b + c", frame, "ordboost", rounds=100, **options)
    assert fit.rounds["loss"].iloc[-1] < 0.05
    assert (fit.predict().astype(int) == frame["y"]).all()


def test_the_loss_falls_on_all_rows(frame):
    fit = ordfit("y ~ a + b + c", frame, "ordboost", rounds=150, **PLAIN)
    assert (np.diff(fit.rounds["loss"]) < 0).all()
    assert (np.diff(fit.fit.thetas, axis=1) > 0).all()
    assert fit.certificate.reached


def test_monotone_columns(frame):
    """A grid over one column, the others anywhere: H rises in a, falls in b;
    unconstrained it does neither.
    """
    rng = np.random.default_rng(5)
    grid = np.linspace(-3, 3, 60)
    options = {"rounds": 200, "depth": 4, "seed": 1}
    free = ordfit("y ~ a + b + c", frame, "ordboost", **options)
    kept = ordfit(
        "y ~ a + b + c", frame, "ordboost", constraints={"a": "+", "b": "-"}, **options
    )
    for name, sign in (("a", 1), ("b", -1)):
        moves = []
        for fit in (free, kept):
            least = []
            for _ in range(20):
                base = pd.DataFrame(
                    np.tile(rng.normal(size=3), (60, 1)), columns=list("abc")
                ).assign(**{name: grid})
                least.append((sign * np.diff(fit.predict(base, type="score"))).min())
            moves.append(min(least))
        assert moves[0] < -0.05 and moves[1] >= -1e-12


def test_offset_is_where_the_scores_start(frame):
    """An offset of x and a column of x - so that only the sum of both is left to learn:
    known parts move nothing.
    """
    fit = ordfit("y ~ a + b + c + offset(o)", frame, "ordboost", rounds=30, **PLAIN)
    none = ordfit("y ~ a + b + c", frame.assign(o=0.0), "ordboost", rounds=30, **PLAIN)
    moved = fit.predict(frame.assign(o=frame["o"] + 1.0), type="score") - fit.predict(
        type="score"
    )
    np.testing.assert_allclose(moved, 1.0, atol=1e-12)
    assert fit.rounds["loss"].iloc[0] != none.rounds["loss"].iloc[0]
    y = frame["y"].to_numpy()
    start = naive.logit_loss(
        y, frame["o"].to_numpy(), fit.fit.thetas[0], np.ones(len(y))
    ) / len(y)
    assert fit.rounds["loss"].iloc[0] == pytest.approx(start, rel=1e-12)


def test_the_linear_start_is_the_ridge_model(frame):
    fit = ordfit("y ~ a + b + c", frame, "ordboost", rounds=1, depth=1, seed=4)
    ridge = ordfit("y ~ a + b + c", frame, CumulativeLink(penalty=fit.fit.ridge))
    np.testing.assert_allclose(fit.fit.trees.linear.slopes, ridge.coef, rtol=1e-5)
    np.testing.assert_allclose(fit.fit.thetas[0], ridge.thresholds, rtol=1e-5)
    assert "linear" in fit.importance()


def test_a_linear_truth_needs_hardly_a_round():
    rng = np.random.default_rng(3)
    data = ranked(rng, 400, [-1, 0, 1], "abc", lambda d: d @ [1.0, -1.0, 0.5])
    fit = ordfit("y ~ a + b + c", data, "ordboost")
    assert len(fit.rounds) - 1 < 60
    assert fit.held_out.min().min() >= fit.held_out.iloc[0].min() - 0.02


def test_any_number_of_threads_gives_the_same_model(frame):
    fits = [
        ordfit("y ~ a + b + c", frame, "ordboost", depth=(1, 3), seed=8, n_jobs=jobs)
        for jobs in (1, 2)
    ]
    pd.testing.assert_frame_equal(fits[0].rounds, fits[1].rounds)
    pd.testing.assert_series_equal(*(fit.predict(type="score") for fit in fits))
    pd.testing.assert_frame_equal(*(fit.held_out for fit in fits))


@pytest.mark.parametrize("options", [{}, {"linear_start": False}])
def test_more_and_fewer_rounds_are_fits_of_as_many(frame, options):
    def fit(rounds):
        return ordfit(
            "y ~ a + b + c",
            frame,
            "ordboost",
            rounds=rounds,
            depth=2,
            weights="w",
            seed=3,
            **options,
        )

    short = fit(8)
    long = fit(25)
    grown = pickle.loads(pickle.dumps(short)).more(17)
    for other, whole in ((grown, long), (long.at(8), short)):
        pd.testing.assert_series_equal(
            other.predict(type="score"), whole.predict(type="score"), rtol=1e-12
        )
        pd.testing.assert_series_equal(other.thresholds, whole.thresholds, rtol=1e-9)
    pd.testing.assert_frame_equal(grown.rounds, long.rounds, rtol=1e-12)
    staged = long.staged_errors(frame.head(30), rounds=[0, 8, 25])
    assert staged["absolute"].tolist() == [
        long.at(t).errors().loc["absolute error"].item() for t in (0, 8, 25)
    ]


def test_rows_of_a_fold_are_unseen(frame):
    """Held-out losses of a column of noise do not fall; those of the truth do."""
    noise = frame.assign(y=np.random.default_rng(0).permutation(frame["y"]))
    fit = ordfit("y ~ a + b + c", noise, "ordboost", linear_start=False)
    assert len(fit.rounds) - 1 < 25
    true = ordfit("y ~ a + b + c", frame, "ordboost", linear_start=False)
    assert true.held_out.min().min() < 0.85 * true.held_out.iloc[0].min()
    chosen = true.held_out[true.fit.depth]
    assert chosen.idxmin() == len(true.rounds) - 1
    assert true.held_out.min().idxmin() == true.fit.depth


def test_held_out_losses_are_those_of_models_without_the_fold(frame):
    """With all rows and columns in every tree the rounds of a fold are a plain fit to
    the other rows.
    """
    data = rounded(frame)
    options = {
        "subsample": 1.0,
        "column_share": 1.0,
        "linear_start": False,
        "min_weight": 5.0,
    }
    fit = ordfit(
        "y ~ a + b + c",
        data,
        OrdinalBoosting(rounds=12, depth=(1, 2), folds=2, **options),
        seed=6,
    )
    training = BinnedRows.of(fit.design.sample, "")
    held = held_weights(
        training.rows.X,
        training.data.y,
        training.data.weights,
        2,
        np.random.default_rng(6),
    )
    X = training.rows.X
    y = training.data.y.astype(int)
    curves = np.zeros(13)
    for out in held > 0:
        part = pd.DataFrame(X[~out], columns=list("abc")).assign(y=y[~out])
        plain = ordfit(
            "y ~ a + b + c", part, OrdinalBoosting(rounds=12, depth=2, **options)
        )
        for t in range(13):
            H = (
                plain.at(t)
                .predict(pd.DataFrame(X[out], columns=list("abc")), type="score")
                .to_numpy()
            )
            curves[t] += naive.logit_loss(
                y[out], H, plain.fit.thetas[t], np.ones(out.sum())
            )
    np.testing.assert_allclose(fit.held_out[2], curves / len(data), rtol=1e-2)


def test_copies_of_a_row_go_to_folds_of_their_own():
    y = np.array([0, 0, 1, 2])
    w = np.array([10.0, 3.0, 5.0, 1.0])
    none = np.zeros((4, 0))  # as in a table, where all rows are alike
    held = held_weights(none, y, w, 5, np.random.default_rng(0))
    # the only row of a level stays in
    np.testing.assert_array_equal(held.sum(axis=0), [10, 3, 5, 0])
    assert held[:, 0].max() <= 3
    assert held_weights(
        none[:2], np.array([0, 1]), np.ones(2), 5, np.random.default_rng(0)
    ).shape == (0, 2)


def test_costs_decide_and_probabilities_stay(frame):
    costs = ("absolute", "classification", "squared")
    fits = [
        ordfit("y ~ a + b + c", frame, "ordboost", rounds=40, depth=2, cost=cost)
        for cost in costs
    ]
    p = fits[0].predict(type="prob").to_numpy()
    k = np.arange(5)
    for fit in fits:
        np.testing.assert_array_equal(fit.predict(type="prob"), p)
    ranks = [fit.predict().cat.codes.tolist() for fit in fits]
    assert ranks[0] == (p @ np.abs(k[:, None] - k)).argmin(axis=1).tolist()
    assert ranks[0] == ((1 - np.cumsum(p, axis=1))[:, :-1] > 0.5).sum(axis=1).tolist()
    assert ranks[1] == p.argmax(axis=1).tolist()
    assert ranks[2] == (p @ (k[:, None] - k) ** 2).argmin(axis=1).tolist()


def test_it_predicts_an_interaction_that_stumps_cannot():
    train = datasets.quadratic_bands(400, seed=1)
    new = datasets.quadratic_bands(1000, seed=2)
    fit = ordfit("rank ~ x1 + x2", train, "ordboost")
    assert fit.errors(new).loc["absolute error", "new data"] < 0.15


def test_errors_of_options():
    for options, message in (
        (
            {"depth": 0},
            (
                "depth of OrdinalBoosting must be a whole number from 1 to 12, several"
                " of them or 'cv'; got 0"
            ),
        ),
        (
            {"rounds": "auto"},
            (
                "rounds of OrdinalBoosting must be a whole number, 1 or more or 'cv';"
                " got 'auto'"
            ),
        ),
        (
            {"subsample": 0},
            (
                "subsample of OrdinalBoosting must be a number above 0 and at most 1;"
                " got 0"
            ),
        ),
        (
            {"folds": 1},
            (
                "folds of OrdinalBoosting must be a whole number, 2 or more, or None;"
                " got 1"
            ),
        ),
    ):
        with pytest.raises(OptionError, match=message):
            OrdinalBoosting(**options)
    one = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [1, 2, 3]})
    with pytest.raises(DataError, match="two rows of some level"):
        ordfit("y ~ x", one, "ordboost")
    fit = ordfit("y ~ x", one, "ordboost", rounds=3, depth=1, linear_start=False)
    assert fit.predict(type="prob").shape == (3, 3)


def test_an_increasing_transformation_of_few_values_changes_nothing(frame):
    data = rounded(frame)
    fits = [
        ordfit("y ~ a + b + c", d, "ordboost", rounds=40, **PLAIN)
        for d in (data, data.assign(a=np.exp(data["a"])))
    ]
    pd.testing.assert_series_equal(*(fit.predict(type="score") for fit in fits))


def test_reversed_ranks_mirror_the_model(frame):
    """Bins mirror too, where each holds one value; a cut between equal gains may be
    another one.
    """
    data = rounded(frame)
    options = PLAIN | {"depth": 2}
    fit = ordfit("y ~ a + b + c", data, "ordboost", rounds=30, **options)
    other = ordfit(
        "y ~ a + b + c", data.assign(y=4 - data["y"]), "ordboost", rounds=30, **options
    )
    np.testing.assert_allclose(
        fit.predict(type="score"), -other.predict(type="score"), atol=1e-8
    )
    np.testing.assert_allclose(
        fit.thresholds, -other.thresholds.to_numpy()[::-1], atol=1e-8
    )


def test_rounds_without_columns_are_shares(frame):
    fit = ordfit("y ~ 1", frame, "ordboost", rounds=5).more(3)
    shares = np.bincount(frame["y"]) / len(frame)
    np.testing.assert_allclose(fit.predict(type="prob").iloc[0], shares, atol=1e-6)
    assert len(fit.rounds) == 9
    assert len(ordfit("y ~ 1", frame, "ordboost").rounds) == 1


def test_fits_of_arrays():
    """Rows of weight 0 take no part."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = rng.integers(0, 3, 60)
    w = (np.arange(60) % 4 > 0).astype(float)
    method = OrdinalBoosting(rounds=10, depth=2)
    some = Sample(rows=Rows(X=X), y=y, n_levels=3, weights=w)
    kept = Sample(rows=Rows(X=X[w > 0]), y=y[w > 0], n_levels=3)
    one, other = (
        method.fit(sample, np.random.default_rng(1)) for sample in (some, kept)
    )
    np.testing.assert_array_equal(
        one.rule.scores(Rows(X=X)), other.rule.scores(Rows(X=X))
    )


def waves(n=200, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    latent = 2 * np.sin(2 * x[:, 0]) + x[:, 1] + rng.normal(size=n)
    return pd.DataFrame(
        {"x1": x[:, 0], "x2": x[:, 1], "y": np.digitize(latent, [-1.5, 0.0, 1.5])}
    )


@pytest.mark.parametrize("how", ["weights", "copies"])
def test_twins_of_a_row_are_held_out_with_it(how):
    """Each row three times: the rounds chosen are not those that know the twins of
    held-out rows by heart.
    """
    train = waves()
    new = waves(2000, 1)
    if how == "weights":
        fit = ordfit("y ~ x1 + x2", train.assign(w=3), "ordboost", weights="w", seed=1)
    else:
        fit = ordfit("y ~ x1 + x2", pd.concat([train] * 3), "ordboost", seed=1)
    once = ordfit("y ~ x1 + x2", train, "ordboost", seed=1)
    losses = [one.errors(new).loc["log-loss", "new data"] for one in (fit, once)]
    assert losses[0] < losses[1] + 0.05
    assert abs(fit.held_out.min().min() - once.held_out.min().min()) < 0.15


def test_the_scale_of_weights_that_count_no_rows_says_nothing():
    train = waves()
    r = np.random.default_rng(2).random(len(train)) + 0.5
    one, *others = (
        ordfit(
            "y ~ x1 + x2",
            train.assign(w=r * s),
            "ordboost",
            weights="w",
            max_rounds=100,
        )
        for s in (1, 0.005, 50.3)
    )
    for other in others:
        np.testing.assert_allclose(
            other.predict(type="prob"), one.predict(type="prob"), rtol=1e-9
        )


def test_figures_are_those_of_the_rounds_in_use():
    fit = ordfit("y ~ x1 + x2", waves(), "ordboost", max_rounds=200)
    first = fit.at(5)
    assert first.glance()["held_out"].item() == fit.rounds["held_out"].iloc[5]
    assert fit.glance()["held_out"].item() == fit.rounds["held_out"].iloc[fit.fit.kept]


def test_parts_of_many_rows_side_by_side_give_the_same_fit():
    """Two threads, and parts of the rows summed on their own: the trees are those of
    one part but for rounding.
    """
    rng = np.random.default_rng(4)
    n = 40_000
    assert parts_of(n) == 2
    X = rng.integers(0, 100, (n, 4)) / 25.0
    y = np.digitize(
        np.sin(X[:, 0]) + X[:, 1] * (X[:, 2] > 2) + rng.logistic(size=n),
        [0.0, 1.5, 3.0],
    )
    sample = Sample(rows=Rows(X=X), y=y, n_levels=4)
    method = OrdinalBoosting(rounds=12, depth=3, linear_start=False)
    one, two = (
        replace(method, n_jobs=jobs).fit(sample, np.random.default_rng(1))
        for jobs in (1, 2)
    )
    assert (
        one.losses.tolist() == two.losses.tolist() and (one.scores == two.scores).all()
    )
    whole = replace(method, subsample=1.0, rounds=1, column_share=1.0).fit(
        sample, np.random.default_rng(1)
    )
    training = method._training(sample)
    data = training.data
    loss, g, h = naive.logit_slopes(
        data.y.astype(int), np.zeros(data.y.size), whole.thetas[0], data.weights
    )
    grower = naive.Grower(
        codes=data.bins.codes, depth=3, least=5.0, counts=data.bins.counts
    )
    plain = grower.tree(np.arange(data.y.size), g, h, data.weights)
    assert whole.losses[0] == pytest.approx(loss / data.total, rel=1e-10)
    tree = whole.trees.trees[0]
    tree.value[:] /= method.learning_rate
    assert naive.alike(naive.nested(tree, data.bins.counts), plain, rtol=1e-7)


def test_more_levels_than_two_bytes_tell_apart_are_refused(monkeypatch):
    monkeypatch.setattr(checks, "available_memory", lambda: np.inf)
    n = (1 << 16) + 1
    sample = Sample(
        rows=Rows(X=np.arange(float(n))[:, None]), y=np.arange(n), n_levels=n
    )
    with pytest.raises(DataError, match="at most 65536 levels; got 65537"):
        OrdinalBoosting(rounds=1, depth=1, linear_start=False).fit(
            sample, np.random.default_rng(0)
        )


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_default_search_shows_its_progress(seed):
    """Every fold of every depth says what it does, at least every 50 rounds, and the
    last call is the whole.
    """
    calls = []
    bands = datasets.quadratic_bands(200, seed=seed)
    fit = ordfit(
        "rank ~ x1 + x2",
        bands,
        "ordboost",
        max_rounds=120,
        callback=lambda *call: calls.append(call),
    )
    steps, totals, messages = zip(*calls, strict=True)
    assert (
        sorted(steps) == list(steps)
        and set(totals) == {16}
        and calls[-1] == (16, 16, "all rows")
    )
    for depth in (1, 3, 6):
        for fold in range(1, 6):
            assert f"depth {depth}, fold {fold} of 5: 50 rounds" in messages
    shown = [int(text.split()[2]) for text in messages if text.startswith("all rows:")]
    assert shown == list(range(50, len(fit.rounds), 50))
