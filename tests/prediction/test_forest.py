"""`rps-forest` against scikit-learn's forests, slow twins and hand-made shares."""

import numpy as np
import pandas as pd
import pytest
import twins
from expected import refused
from problems import curved, ranked
from seams import Rows, Sample
from sklearn.ensemble import ExtraTreesRegressor

from ordstat import RPSForest, load, ordfit
from ordstat.compiled.forest import add_shares, grow_tree
from ordstat.prediction.forest import Growth, _deepest


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(1)
    return ranked(rng, 150, [-0.8, 0.2, 1.0], "abc", curved, noise=0.4)


@pytest.mark.parametrize(
    ("min_leaf", "column_share", "levels"), [(1, 1.0, 4), (3, 0.34, 4), (5, 0.67, 2)]
)
def test_probabilities_are_those_of_scikit_learn_on_the_indicators(
    frame, min_leaf, column_share, levels
):
    """Means over many trees: those of two seeds differ by as much."""
    X = frame[list("abc")].to_numpy()
    y = np.minimum(np.searchsorted(np.unique(frame["y"]), frame["y"]), levels - 1)
    given = {"min_leaf": min_leaf, "column_share": column_share}
    new = X + 0.1

    def ours(seed):
        fit = RPSForest(trees=1500, **given).fit(
            sample_of(X, y), np.random.default_rng(seed)
        )
        return fit.rule.above(Rows(X=new)), fit.importance

    model = ExtraTreesRegressor(
        n_estimators=1500,
        max_features=max(1, round(column_share * 3)),
        min_samples_leaf=min_leaf,
        random_state=0,
    )
    model.fit(X, (y[:, None] > np.arange(levels - 1)).astype(float).squeeze())
    theirs = model.predict(new).reshape(len(new), -1)
    (above, importance), (again, _) = ours(1), ours(2)
    noise = np.sqrt(np.mean((above - again) ** 2))
    assert noise < 0.02
    assert np.sqrt(np.mean((above - theirs) ** 2)) < 1.3 * noise
    falls = np.sum(
        [
            tree.tree_.compute_feature_importances(normalize=False)
            for tree in model.estimators_
        ],
        axis=0,
    )
    np.testing.assert_allclose(importance, falls / falls.sum(), atol=0.02)


@pytest.mark.parametrize("min_leaf", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_trees_are_those_of_a_recursion(min_leaf, weighted):
    rng = np.random.default_rng(min_leaf + weighted)
    columns = rng.normal(size=(3, 40)).astype(np.float32)
    columns[1] = np.round(columns[1])  # equal values
    columns[2, 5:] = 0.0  # often constant
    y = rng.integers(0, 3, 40).astype(np.int32)
    w = rng.uniform(0.5, 2.0, 40) if weighted else np.ones(40)
    cuts = 0
    for seed in (0, 1, 2, 3, 2**63 - 1):
        grown = []
        for grow in (grow_tree, twins.grow_tree):
            column, cut = np.zeros(39, np.int32), np.zeros(39, np.float32)
            children, shares = np.zeros((39, 2), np.int32), np.zeros((40, 2))
            falls = np.zeros(3)
            out = (column, cut, children, shares, falls)
            made = grow(columns, y, w, 3, min_leaf, 2, seed, *out)
            grown.append((np.array(made), *out))
        cuts += grown[0][0][0]
        for mine, theirs in zip(*grown, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-12)
    assert cuts > 10


def test_refusals_and_notes(frame):
    with refused("column_share of RPSForest", "2"):
        RPSForest(column_share=2)
    summary = str(ordfit("y ~ a", frame, "rps-forest", trees=5).summary())
    assert "nearly reproduce the rows they were grown on" in summary


@pytest.mark.parametrize("seed", range(4))
def test_probabilities_by_default_are_better_than_the_shares(seed):
    """With leaves of single rows a label that occurs has probability 0."""
    rng = np.random.default_rng(seed)
    data = ranked(rng, 550, [-1.0, 0.3, 1.0], "xz")
    train = data[:150]
    test = data[150:]
    fit = ordfit("y ~ x + z", train, "rps-forest", trees=60, seed=seed)
    probability = fit.predict(test, type="prob").to_numpy()
    codes = np.searchsorted(fit.levels, test["y"])
    given = probability[np.arange(400), codes]
    shares = train["y"].value_counts(normalize=True)
    assert given.min() > 0.0
    assert np.log(given).mean() > np.log(shares.loc[test["y"]]).mean()


def test_threads_change_nothing(frame):
    fits = [
        ordfit("y ~ a + b + c", frame, "rps-forest", trees=20, n_jobs=jobs, seed=1)
        for jobs in (1, 2)
    ]
    pd.testing.assert_frame_equal(*(fit.predict(type="prob") for fit in fits))


def test_columns_keep_their_digits():
    """Single precision would merge days of this century, and overflow."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    y = np.digitize(2 * np.sin(2 * x) + 0.5 * rng.normal(size=300), [-1.5, 0.0, 1.5])
    columns = {"plain": x, "big": 1.7e9 + 20 * x, "tiny": 1e-9 * x, "huge": 1e39 * x}
    fits = [
        ordfit("y ~ x", {"x": c, "y": y}, "rps-forest", trees=30)
        for c in columns.values()
    ]
    first = fits[0].predict(type="prob").to_numpy()
    for fit in fits[1:]:
        np.testing.assert_allclose(fit.predict(type="prob"), first, atol=0.02)
    assert not np.signbit(first).any()
    constant = ordfit(
        "y ~ x + z", {"x": x, "z": np.full(300, 3.0), "y": y}, "rps-forest", trees=5
    )
    useless = pd.DataFrame({"g": list("aabb"), "y": [0, 1, 0, 1]})
    assert np.isfinite(
        ordfit("y ~ g", useless, "rps-forest", trees=5).importance()["importance"]
    ).all()
    # without a numpy warning
    assert len(constant.predict({"x": x[:9], "z": x[:9] * 1e6})) == 9


def test_a_forest_keeps_nine_bytes_a_cut_and_each_share_once():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3))
    y = np.digitize(X[:, 0] + rng.normal(size=400), [-1.0, 0.0, 1.0])
    sample = Sample(rows=Rows(X=X), y=y, n_levels=4)
    forest = RPSForest(trees=20, column_share=1.0).fit(sample, rng).rule.above
    kept = (forest.roots, forest.column, forest.cut, forest.children, forest.shares)
    size = sum(array.nbytes for array in kept)
    assert size == 9 * forest.column.size + 4 * 20 + forest.shares.nbytes
    assert len(np.unique(forest.shares, axis=0)) == len(forest.shares)
    assert len(forest.shares) < (forest.children < 0).sum()


@pytest.mark.parametrize("column_type", [np.uint8, np.int32])
@pytest.mark.parametrize("child_type", [np.int16, np.int32])
@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 515])
def test_shares_of_rows_are_those_of_plain_walks(n, column_type, child_type):
    """Three trees: no cut; one cut; two cuts. Rows at, below and above the cuts."""
    rng = np.random.default_rng(n)
    columns = rng.integers(-1, 2, size=(2, n)).astype(np.float32)
    parts = [
        np.array([-1, 0, 1], dtype=np.int32),
        np.array([1, 0, 1], dtype=column_type),
        np.array([0.0, -0.5, 0.0], dtype=np.float32),
        np.array([[-1, -3], [-2, 1], [-4, -1]], dtype=child_type),
        rng.integers(0, 9, size=(4, 3)).astype(float),
    ]
    ours, theirs = np.ones((n, 3)), np.ones((n, 3))
    add_shares(columns, *parts, ours)
    twins.add_shares(columns, *parts, theirs)
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("n_columns", [256, 257])
def test_many_columns_have_wider_places(n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, n_columns))
    y = (X[:, -1] > 0.0).astype(int)
    fit = RPSForest(trees=20, min_leaf=1, column_share=1.0).fit(sample_of(X, y), rng)
    assert fit.rule.above.column.dtype == (np.uint8 if n_columns == 256 else np.int32)
    assert fit.importance.argmax() == n_columns - 1
    np.testing.assert_array_equal(fit.rule.above(Rows(X=X))[:, 0], y)


def sample_of(x, y, weights=None):
    X = np.asarray(x, dtype=float).reshape(len(y), -1)
    return Sample(rows=Rows(X=X), y=y, n_levels=int(y.max()) + 1, weights=weights)


def test_leaves_are_small_where_levels_are_steps_and_large_in_noise():
    rng = np.random.default_rng(2)
    x = rng.uniform(size=(400, 2))
    steps = (np.floor(5 * x[:, 0]) + np.floor(5 * x[:, 1])).astype(int) % 4
    noise = rng.integers(0, 4, 400)
    small, large = (
        RPSForest(trees=30).fit(sample_of(x, y), np.random.default_rng(1)).growth
        for y in (steps, noise)
    )
    assert small.min_leaf == 1
    assert large == Growth(5, 1 / 3)


def test_what_is_given_is_not_chosen():
    rng = np.random.default_rng(2)
    x = rng.uniform(size=(200, 4))
    sample = sample_of(x, (np.floor(6 * x[:, 0]) % 3).astype(int))
    chosen = RPSForest(trees=10, column_share=0.5).fit(sample, rng).growth
    assert chosen.min_leaf in (1, 5) and chosen.column_share == 0.5
    assert RPSForest(trees=10, min_leaf=1).fit(sample, rng).growth == Growth(1, 1 / 3)
    given = RPSForest(trees=10, min_leaf=7, column_share=1.0).fit(sample, rng).growth
    assert given == Growth(7, 1.0)


def test_a_deeper_forest_must_lead_by_one_standard_error():
    y = np.tile([0, 1], 50)
    w = np.ones(100)
    rng = np.random.default_rng(5)
    smooth = np.full((100, 1), 0.5)
    sure = np.where(y[:, None] > 0, 0.9, 0.1)
    slightly = smooth + 0.02 * rng.normal(size=(100, 1))
    assert _deepest([smooth, slightly, sure], y, w) == 2
    lead = np.square(smooth[:, 0] - y) - np.square(slightly[:, 0] - y)
    t = lead.mean() / (lead.std() / 10)
    assert _deepest([smooth, slightly], y, w) == (t > 1.0)


def test_chosen_leaves_are_those_of_copies(frame):
    """A row of weight 2 counts as two rows in the folds, too."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, size=(150, 2))
    y = (x[:, 0] + x[:, 1]) % 3
    w = rng.integers(1, 3, 150).astype(float)
    times = np.repeat(np.arange(150), w.astype(int))
    weighted = RPSForest(trees=10).fit(sample_of(x, y, w), np.random.default_rng(3))
    copied = RPSForest(trees=10).fit(
        sample_of(x[times], y[times]), np.random.default_rng(3)
    )
    assert weighted.growth == copied.growth
    new = Rows(X=x[:20] + 0.5)
    np.testing.assert_array_equal(weighted.rule.above(new), copied.rule.above(new))


def test_a_file_keeps_the_chosen_leaves(frame, tmp_path):
    fit = ordfit("y ~ a + b", frame, "rps-forest", trees=10)
    fit.save(tmp_path / "forest")
    again = load(tmp_path / "forest")
    assert again.fit.growth == fit.fit.growth
    pd.testing.assert_frame_equal(
        again.predict(frame, type="prob"), fit.predict(frame, type="prob")
    )
