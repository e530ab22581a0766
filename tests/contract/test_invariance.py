"""What every method owes: answers that depend on the data and the options, and on
nothing else.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from light_options import LIGHT
from seams import METHODS, build

from contract.problems import (
    FORMULA,
    RANDOM,
    TREES_ON_K,
    Problem,
    assert_same_ranker,
    lead,
    score_tolerance,
    score_type,
    scores,
    thresholds,
)
from ordstat import OrdinalClassifier, ordfit

#: The link of the mirrored response; every other method is its own mirror.
MIRROR = {"cloglog": "loglog", "loglog": "cloglog"}
#: Methods whose stages are passed in the other direction.
STAGES = ("cratio", "sratio")


def test_row_order_does_not_matter(problem):
    shuffled = problem.frame.sample(frac=1.0, random_state=3)
    assert_same_ranker(problem.fitted, problem.fit(shuffled), problem.frame)


def _on_a_grid(problem, n):
    """Columns of halves, so that scores, gaps and costs tie, and ranks by chance."""
    rng = np.random.default_rng(n)
    columns = {name: np.round(2 * rng.normal(size=n)) / 2 for name in ("x1", "x2")}
    latent = columns["x1"] - 0.7 * columns["x2"] + rng.logistic(size=n)
    codes = np.argsort(np.argsort(latent)) * problem.frame["y"].cat.categories.size // n
    return pd.DataFrame({**columns, "g": rng.choice(list("abc"), n), "y": codes + 1})


@pytest.mark.parametrize("n", [pytest.param(90, marks=pytest.mark.slow), 92, 95])
def test_row_order_does_not_break_ties(problem, n):
    frame = _on_a_grid(problem, n)
    new = _on_a_grid(problem, 200)
    fit = problem.fit(frame)
    for seed in range(2):
        other = problem.fit(frame.sample(frac=1.0, random_state=seed))
        np.testing.assert_allclose(
            thresholds(other), thresholds(fit), atol=score_tolerance(fit)
        )
        assert other.predict(new).tolist() == fit.predict(new).tolist()


def test_integer_weights_equal_repeated_rows(problem):
    repeated = problem.frame.loc[
        problem.frame.index.repeat(problem.frame["w"])
    ].reset_index(drop=True)
    weighted = problem.fit(weights="w")
    plain = problem.fit(repeated)
    assert_same_ranker(weighted, plain, problem.frame)
    assert weighted.nobs == plain.nobs == problem.frame["w"].sum()
    pd.testing.assert_frame_equal(
        weighted.confusion(), plain.confusion(), check_dtype=False
    )


@pytest.mark.filterwarnings("ignore:.*weight 0:ordstat.DataWarning")
@pytest.mark.filterwarnings("ignore:the likelihood has no maximum")  # few rows
def test_weight_zero_equals_a_removed_row(problem):
    zero = problem.frame.assign(w=(np.arange(len(problem.frame)) % 4 > 0).astype(int))
    kept = zero[zero["w"] == 1]
    assert_same_ranker(problem.fit(zero, weights="w"), problem.fit(kept), problem.frame)


def test_labels_are_only_names(problem):
    # alphabetically reversed
    names = {
        level: chr(ord("z") - level) for level in problem.frame["y"].cat.categories
    }
    renamed = problem.frame.assign(y=problem.frame["y"].cat.rename_categories(names))
    fit = problem.fitted
    other = problem.fit(renamed)
    np.testing.assert_array_equal(scores(fit), scores(other))
    np.testing.assert_array_equal(thresholds(fit), thresholds(other))
    assert fit.predict().map(names).tolist() == other.predict().tolist()
    assert other.predict().cat.categories.tolist() == list(names.values())


def test_reversed_ranks_mirror_the_fit(problem):
    levels = problem.frame["y"].cat.categories[::-1]
    reverse = problem.frame.assign(y=problem.frame["y"].cat.reorder_categories(levels))
    own = {"encoding": "separate"} if problem.name in TREES_ON_K else {}
    fit = problem.fit(**own) if own else problem.fitted
    turned = {"direction": "backward"} if problem.name in STAGES else own
    other = Problem(MIRROR.get(problem.name, problem.name), reverse).fit(**turned)
    if problem.name in RANDOM:  # another draw, as good as the first
        assert fit.errors().loc["absolute error"].item() == pytest.approx(
            other.errors().loc["absolute error"].item(), abs=0.1
        )
        return
    atol = score_tolerance(fit)
    if problem.name in ("multinomial", "stereotype"):  # against the lowest level
        shares, turned_shares = (
            np.asarray(f.predict(type="prob")) for f in (fit, other)
        )
        np.testing.assert_allclose(shares, turned_shares[:, ::-1], atol=0.02)
        return
    if score_type(fit) == "votes":
        np.testing.assert_allclose(scores(fit), scores(other)[:, ::-1], atol=atol)
    else:
        centred = [thresholds(f) - thresholds(f).mean() for f in (fit, other)]
        np.testing.assert_allclose(centred[0], -centred[1][::-1], atol=atol)
        moved = [scores(f) - thresholds(f).mean() for f in (fit, other)]
        np.testing.assert_allclose(moved[0], -moved[1], atol=atol)
    # ties go to the lower rank, which is the other one in the mirror
    clear = lead(fit) > 0
    assert clear.mean() > 0.8
    assert fit.predict()[clear].tolist() == other.predict()[clear].tolist()


def test_two_levels_are_enough(problem):
    binary = problem.frame.assign(
        y=pd.Categorical(problem.frame["y"].cat.codes > 0, ordered=True)
    )
    fit = problem.fit(binary)
    assert (
        scores(fit).shape == (60, 2)
        if score_type(fit) == "votes"
        else len(fit.thresholds) == 1
    )
    assert fit.predict().cat.categories.tolist() == [False, True]
    # two thirds of the rows are above; the score separates well
    assert (fit.predict() == binary["y"]).mean() > 0.7


def test_thresholds_are_in_order(problem):
    fit = problem.fitted
    assert len(thresholds(fit)) == (
        0 if score_type(fit) == "votes" else len(fit.levels) - 1
    )
    if problem.name in ("multinomial", "stereotype"):  # intercepts
        return
    assert (np.diff(thresholds(fit)) >= 0).all()


def test_new_data_equal_to_the_training_data_gives_the_training_predictions(problem):
    fit = problem.fitted
    pd.testing.assert_series_equal(fit.predict(problem.frame), fit.predict())
    np.testing.assert_allclose(
        scores(fit, problem.frame), scores(fit), rtol=1e-12, atol=1e-12
    )
    by_row = np.concatenate(
        [scores(fit, problem.frame.iloc[[row]]) for row in (0, 17, 59)]
    )
    np.testing.assert_allclose(by_row, scores(fit)[[0, 17, 59]], rtol=1e-9, atol=1e-12)


def test_missing_inputs_keep_their_place(problem):
    fit = problem.fitted
    gaps = problem.frame.set_index(np.arange(60) + 100)
    gaps.loc[103, "x1"] = np.nan
    gaps.loc[105, "g"] = np.nan
    # some methods predict from what is left
    empty = [] if fit.method.supports.missing else [103, 105]
    for type in ("class", score_type(fit)):
        with_gaps = pd.DataFrame(fit.predict(gaps, type=type))
        assert with_gaps.index.equals(gaps.index)
        assert with_gaps.index[with_gaps.isna().all(axis=1)].tolist() == empty
        complete = pd.DataFrame(fit.predict(problem.frame, type=type)).drop([3, 5])
        pd.testing.assert_frame_equal(
            with_gaps.drop([103, 105]),
            complete.set_axis(complete.index + 100),
            rtol=1e-9,
        )


def test_pickle_keeps_everything(problem):
    fit = problem.fitted
    twin = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(
        scores(twin, problem.frame), scores(fit, problem.frame)
    )
    assert str(twin.summary()) == str(fit.summary())
    assert twin.method == fit.method


def test_same_seed_same_result(problem):
    first = problem.fit(seed=5)
    second = problem.fit(seed=5)
    np.testing.assert_array_equal(scores(first), scores(second))
    np.testing.assert_array_equal(thresholds(first), thresholds(second))
    assert str(first.summary()) == str(second.summary())


def test_another_seed_finds_the_same_optimum(problem):
    if problem.name in RANDOM:
        # A forest with a row in every leaf, alone or in a blend, knows the rows of the
        # fit by heart: rows between them.
        moved = problem.name in ("rps-forest", "blend")
        rows = (
            problem.frame.assign(x1=problem.frame["x1"] + 0.1)
            if moved
            else problem.frame
        )
        assert (
            scores(problem.fit(seed=1), rows) != scores(problem.fit(seed=2), rows)
        ).any()
        return
    assert_same_ranker(problem.fit(seed=1), problem.fit(seed=2), problem.frame)


def test_the_global_random_state_is_left_alone(problem):
    before = np.random.get_state()[1].tolist()  # noqa: NPY002 - the very thing that must not be touched
    problem.fit()
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_the_users_data_are_never_changed(problem):
    frame = problem.frame.copy()
    before = frame.copy(deep=True)
    fit = problem.fit(frame, weights="w")
    fit.predict(frame)
    fit.augment(frame)
    str(fit.summary())
    pd.testing.assert_frame_equal(frame, before)


def test_a_copy_of_the_results_cannot_reach_the_fit(problem):
    """Writing into what a result hands out leaves the fit as it was."""
    fit = problem.fit()
    votes = score_type(fit) == "votes"
    before = scores(fit).copy()
    kept = thresholds(fit).copy()
    handed = fit.predict(type="votes") if votes else fit.thresholds
    handed.iloc[0] += 1.0
    np.testing.assert_array_equal(scores(fit), before)
    np.testing.assert_array_equal(thresholds(fit), kept)


PRICED = [
    name
    for name, entry in METHODS.items()
    if entry.method.supports.row_costs and "cost" not in entry.preset
]


@pytest.mark.parametrize("name", PRICED)
def test_row_costs_of_the_absolute_kind_change_nothing(name):
    problem = Problem.of(name)
    y = problem.frame["y"].cat.codes.to_numpy()
    costs = np.abs(y[:, None] - np.arange(y.max() + 1))
    assert_same_ranker(
        problem.fit(cost="absolute"), problem.fit(cost=costs), problem.frame
    )


def test_formula_and_estimator_agree(problem):
    # Contrasts that are asked for are columns of numbers to every method, as those of
    # arrays are.
    contrasts = {"contrasts": {"g": "treatment"}}
    design = build(FORMULA, problem.frame, **contrasts)
    light = LIGHT.get(problem.name, {})
    fit = ordfit(FORMULA, problem.frame, problem.name, **contrasts, **light)
    model = OrdinalClassifier(problem.name, **light)
    model.fit(design.sample.X, problem.frame["y"])
    assert model.predict(design.sample.X).tolist() == fit.predict().tolist()
    if score_type(fit) == "votes":
        assert not hasattr(model, "thresholds_")
    else:
        np.testing.assert_allclose(model.thresholds_, fit.thresholds, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:No row has the levels:ordstat.DataWarning")
@pytest.mark.parametrize(
    "empty", [[2], [1, 5], pytest.param([3, 4], marks=pytest.mark.slow)], ids=str
)
def test_levels_without_rows_keep_their_places(problem, empty):
    """As a fit without them by the costs of the other levels; no row is expected at
    them.
    """
    levels = [1, 2, 3, 4, 5]
    kept = [level for level in levels if level not in empty]
    if not METHODS[problem.name].method.supports.two_levels_only:
        codes = problem.frame["y"].cat.codes.to_numpy() % len(kept)
    else:
        codes = problem.frame["y"].cat.codes.to_numpy()
        kept = kept[:2]
    frame = problem.frame.assign(y=np.array(kept)[codes])
    fit = problem.fit(frame, levels=levels)
    assert fit.levels == tuple(levels)
    assert set(fit.predict(frame)) <= set(kept)
    new = frame.iloc[: len(levels)].assign(y=levels)
    ranks = fit.predict(new).astype(int).to_numpy()
    assert (
        fit.errors(new).loc["absolute error", "new data"]
        == np.abs(ranks - levels).mean()
    )
    assert f"{empty[0]} (0)" in str(fit.summary()).replace("\n", " ")
    places = np.array(kept) - 1
    cost = fit.method.cost_matrix.matrix(5)[np.ix_(places, places)]
    by_name = fit.method.cost == "classification"
    narrow = ordfit(
        FORMULA, frame, fit.method if by_name else fit.method.with_cost(cost)
    )
    np.testing.assert_array_equal(
        narrow.predict(frame).astype(int), fit.predict(frame).astype(int)
    )
    if "prob" in fit.prediction_types:
        p = fit.predict(frame, type="prob")
        assert (p[[level for level in levels if level not in kept]] == 0.0).all(
            axis=None
        )
        np.testing.assert_allclose(
            p[kept], narrow.predict(frame, type="prob"), atol=1e-12
        )
