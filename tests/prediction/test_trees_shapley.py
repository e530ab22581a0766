"""Shapley values of boosted trees against the definition: all sets of players, all ways
through every tree.
"""

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest
import twins_shapley
from expected import refused
from numpy.testing import assert_allclose
from seams import Rows

from ordstat import OrdinalClassifier, datasets, ordfit
from ordstat.compiled.boost import add_shapley
from ordstat.prediction.trees import (
    BoostedTrees,
    LinearStart,
    ValueTree,
    leaf_ways,
    shapley_values,
)


def random_tree(rng, depth, n_columns, n_cuts):
    """Cuts at random, the same column again and again; shares of rows down to 1 in
    100.
    """
    column = []
    bin = []
    child = []
    value = []
    weight = []

    def grow(at, left, w):
        if left == 0 or (at > 0 and rng.random() < 0.2):
            column[at], value[at], weight[at] = -1, rng.normal(), w
            return
        column[at], bin[at], weight[at] = (
            int(rng.integers(n_columns)),
            int(rng.integers(n_cuts)),
            w,
        )
        child[at] = len(column)
        share = rng.uniform(0.01, 0.99)
        places = new(), new()
        for place, part in zip(places, (share, 1 - share), strict=True):
            grow(place, left - 1, w * part)

    def new():
        for part, start in (
            (column, -1),
            (bin, 0),
            (child, -1),
            (value, 0.0),
            (weight, 0.0),
        ):
            part.append(start)
        return len(column) - 1

    grow(new(), depth, 100.0)
    whole = (np.array(part, dtype=np.int32) for part in (column, bin, child))
    return cut_tree(*whole, np.array(value), np.array(weight))


def cut_tree(column, bin, child, value, weight):
    """A tree of cuts between numbers."""
    gaps_left = np.zeros(column.size, dtype=np.uint8)
    sets = np.zeros((0, 32), dtype=np.uint8)
    return ValueTree(
        column, bin, child, value, np.zeros(column.size), weight, gaps_left, sets
    )


def sum_of(slopes, cuts, trees):
    """Trees after a linear start without categories."""
    return BoostedTrees(
        linear=LinearStart(slopes, np.zeros(slopes.size), ()),
        cuts=cuts,
        trees=tuple(trees),
    )


def goes_left(tree, cuts, x, at):
    """Whether row x goes left at a node: by a cut, by its category, or without a
    value.
    """
    d = tree.column[at]
    bin = tree.bin[at]
    if np.isnan(x[d]):
        return bool(tree.gaps_left[at])
    if bin < 0:
        code = int(x[d])
        return bool(tree.sets[-1 - bin][code // 8] >> (code % 8) & 1)
    return bin == len(cuts[d]) or x[d] <= cuts[d][bin]


def expected(tree, cuts, x, present, group, at=0):
    """What a tree expects of row x when the columns of the players `told` are known."""
    d = tree.column[at]
    if d < 0:
        return tree.value[at]
    child = tree.child[at]
    if group[d] in present:
        return expected(
            tree, cuts, x, present, group, child + int(not goes_left(tree, cuts, x, at))
        )
    w = tree.weight[child : child + 2] / tree.weight[child : child + 2].sum()
    return sum(
        w[side] * expected(tree, cuts, x, present, group, child + side)
        for side in (0, 1)
    )


def linear_part(trees, x, d):
    """What a column adds to the linear start: by its slope, its category, or without a
    value.
    """
    if np.isnan(x[d]):
        return trees.linear.missing[d]
    effects = trees.linear.effects[d] if trees.linear.effects else ()
    return effects[int(x[d])] if len(effects) else trees.linear.slopes[d] * x[d]


def brute_force(trees, x, fitted, w, group, G):
    """(G,) Shapley values of one row by their definition, and v of no player."""
    means = [
        np.average([linear_part(trees, row, d) for row in fitted], weights=w)
        for d in range(x.size)
    ]

    def v(present):
        linear = sum(
            linear_part(trees, x, d) if group[d] in present else means[d]
            for d in range(x.size)
        )
        return linear + sum(
            expected(tree, trees.cuts, x, present, group) for tree in trees.trees
        )

    phi = np.zeros(G)
    for i in range(G):
        others = [j for j in range(G) if j != i]
        for size in range(G):
            weight = factorial(size) * factorial(G - 1 - size) / factorial(G)
            for present in combinations(others, size):
                phi[i] += weight * (v({*present, i}) - v(set(present)))
    return phi, v(set())


@pytest.mark.parametrize("seed", range(12))
def test_against_all_sets_of_players(seed):
    rng = np.random.default_rng(seed)
    D = 5
    depth = int(rng.integers(1, 7))
    group = np.arange(D) if seed % 2 else rng.permutation([0, 0, 1, 2, 2])
    G = int(group.max()) + 1
    cuts = tuple(np.sort(rng.normal(size=4)) for _ in range(D))
    trees = sum_of(
        rng.normal(size=D), cuts, [random_tree(rng, depth, D, 4) for _ in range(4)]
    )
    fitted = rng.normal(size=(30, D))
    w = rng.integers(1, 4, 30).astype(float)
    X = rng.normal(size=(6, D))
    phi, base = shapley_values(trees, Rows(X=X), Rows(X=fitted), w, group, G)
    for n, x in enumerate(X):
        by_definition, nothing = brute_force(trees, x, fitted, w, group, G)
        assert_allclose(phi[n], by_definition, atol=1e-12)
        assert base == pytest.approx(nothing, abs=1e-12)
    assert_allclose(base + phi.sum(axis=1), trees(Rows(X=X)), atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_compiled_loop_equals_its_twin(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 7, 6, 3)
    group = np.array([0, 1, 2, 3, 4, 4])
    ways = leaf_ways(tree, group)
    X = rng.normal(size=(40, 6))
    left = tree.lefts(X, tuple(np.sort(rng.normal(size=3)) for _ in range(6))).T.astype(
        np.uint8, order="C"
    )
    m = ways.most
    points, weights = np.polynomial.legendre.leggauss(-(-m // 2))
    work = (
        (points + 1) / 2,
        weights / 2,
        np.empty((2**m, m)),
        np.empty(2**m, dtype=np.uint8),
    )
    collected = []
    for loop in (add_shapley, twins_shapley.add_shapley):
        phi = np.ones((40, 5))
        loop(left, *ways, *work, phi)
        collected.append(phi)
    assert_allclose(collected[0], collected[1], atol=1e-13)


@pytest.mark.parametrize("m", [8, pytest.param(12, marks=pytest.mark.slow)])
def test_many_players_on_a_way(m):
    """Every column once on the way down, twelve in the deepest tree there is: the
    quadrature is still exact.
    """
    rng = np.random.default_rng(4)
    column = np.full(2 * m + 1, -1, dtype=np.int32)
    child = np.full(2 * m + 1, -1, dtype=np.int32)
    value = np.zeros(2 * m + 1)
    weight = np.full(2 * m + 1, 1.0)
    for d in range(m):  # node 2 d cuts column d; its right child goes on
        at = 0 if d == 0 else 2 * d
        column[at], child[at] = d, 2 * d + 1
    value[1::2], value[-1] = rng.normal(size=m), 3.0
    weight[0] = 100.0
    for d in range(m):
        at = 0 if d == 0 else 2 * d
        share = rng.uniform(0.1, 0.9)
        weight[2 * d + 1], weight[2 * d + 2] = (
            share * weight[at],
            (1 - share) * weight[at],
        )
    tree = cut_tree(column, np.zeros(2 * m + 1, dtype=np.int32), child, value, weight)
    trees = sum_of(np.zeros(m), (np.zeros(1),) * m, [tree])
    X = rng.choice([-1.0, 1.0], size=(3, m), p=[0.2, 0.8])
    phi, base = shapley_values(trees, Rows(X=X), Rows(X=X), np.ones(3), np.arange(m), m)
    by_definition, nothing = brute_force(trees, X[0], X, np.ones(3), np.arange(m), m)
    assert_allclose(phi[0], by_definition, atol=1e-12)
    assert base == pytest.approx(nothing, abs=1e-12)


@pytest.fixture(scope="module")
def anes():
    return (
        datasets.load("anes96")
        .iloc[:400]
        .assign(w=np.arange(400) % 3 + 1.0, z=np.linspace(-1.0, 1.0, 400))
    )


def boosted(formula, data, **more):
    return ordfit(formula, data, "ordboost", rounds=40, depth=3, seed=1, **more)


def test_rows_sum_to_the_score(anes):
    fit = boosted(
        "PID ~ selfLR + age + I(age**2) + vote + age:educ", anes, na_action="omit"
    )
    new = anes.iloc[100:140].copy()
    new.iloc[3, new.columns.get_loc("age")] = np.nan
    for data in (None, new):
        values = fit.shapley(data)
        assert values.columns.tolist() == [
            "(base)",
            "selfLR",
            "age",
            "vote",
            "age:educ",
        ]
        assert_allclose(
            values.sum(axis=1, skipna=False),
            fit.predict(data, type="score"),
            atol=1e-12,
        )
        assert values["(base)"].nunique() == 1
    assert values.index.equals(new.index) and values.isna().all(axis=1).tolist() == [
        n == 3 for n in range(40)
    ]


def test_columns_of_a_variable_are_one_player(anes):
    """Powers of a number as one variable, against all sets of the players."""
    fit = boosted("PID ~ selfLR + educ + I(educ**2) + age", anes, weights="w")
    sample = fit.design.sample
    contributions = fit.shapley()
    assert contributions.columns.tolist() == ["(base)", "selfLR", "educ", "age"]
    for n in (0, 17):
        given = sample.X, sample.case_weights, np.array([0, 1, 1, 2]), 3
        phi, base = brute_force(fit.fit.trees, sample.X[n], *given)
        assert_allclose(contributions.iloc[n], [base, *phi], atol=1e-11)


def test_categories_and_missing_values(anes):
    """Factors cut by sets of levels, and rows without a value, against all sets of the
    players.
    """
    data = anes.assign(
        g=pd.cut(anes["educ"], [0, 2, 4, 5, 9], labels=list("abcd")).astype(str)
    )
    data.loc[data.index[::7], "age"] = np.nan
    data.loc[data.index[::11], "g"] = None
    fit = boosted("PID ~ selfLR + g + age", data, weights="w", na_action="keep")
    trees = fit.fit.trees
    sample = fit.design.sample
    contributions = fit.shapley()
    assert np.isnan(sample.X).any() and any(
        (tree.bin < 0).any() for tree in trees.trees
    )
    assert contributions.columns.tolist() == ["(base)", "selfLR", "g", "age"]
    for n in (0, 7, 11, 40):
        phi, base = brute_force(
            trees, sample.X[n], sample.X, sample.case_weights, np.arange(3), 3
        )
        assert_allclose(contributions.iloc[n], [base, *phi], atol=1e-11)
    assert_allclose(contributions.sum(axis=1), fit.predict(type="score"), atol=1e-12)
    new = data.iloc[:8].reset_index(drop=True)
    assert_allclose(fit.shapley(new), contributions.iloc[:8], atol=1e-12)


def test_an_offset_is_told_apart(anes):
    fit = boosted("PID ~ selfLR + offset(z)", anes, weights="w")
    contributions = fit.shapley()
    centred = anes["z"] - np.average(anes["z"], weights=anes["w"])
    assert contributions.columns.tolist() == ["(base)", "selfLR", "(offset)"]
    assert_allclose(contributions["(offset)"], centred, atol=1e-12)
    assert_allclose(contributions.sum(axis=1), fit.predict(type="score"), atol=1e-12)


def test_a_linear_start_alone(anes):
    """No rounds: b (x - mean)."""
    fit = boosted("PID ~ selfLR + age", anes).at(0)
    X = anes[["selfLR", "age"]]
    assert_allclose(
        fit.shapley()[["selfLR", "age"]],
        (X - X.mean()) * fit.fit.trees.linear.slopes,
        atol=1e-12,
    )
    assert fit.shapley(anes.head(0)).shape == (0, 3)


def test_without_columns():
    wine = datasets.load("wine")
    fit = ordfit("rating ~ 1", wine, "ordboost", rounds=2, depth=1)
    contributions = fit.shapley()
    assert contributions.columns.tolist() == ["(base)"]
    assert_allclose(contributions["(base)"], fit.predict(type="score"), atol=1e-14)


def test_shap_of_lightgbm_agrees_on_the_same_tree():
    """The same trees in LightGBM: its own path-dependent values (`pred_contrib`) of a
    sum of trees.
    """
    lightgbm = pytest.importorskip(
        "lightgbm", reason="lightgbm is optional: pip install lightgbm"
    )
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.1 * rng.normal(size=300)
    settings = {
        "n_estimators": 12,
        "num_leaves": 12,
        "verbosity": -1,
        "n_jobs": 1,
        "min_child_samples": 5,
    }
    model = lightgbm.LGBMRegressor(**settings).fit(X, y).booster_
    collected = []
    cuts = [[] for _ in range(4)]
    for one in model.dump_model()["tree_info"]:
        parts = {name: [] for name in ("column", "bin", "child", "value", "weight")}

        def new(parts=parts):
            for part in parts.values():
                part.append(-1)
            return len(parts["column"]) - 1

        def copy(node, at, parts=parts, new=new):
            leaf = "leaf_value" in node
            parts["value"][at] = node.get("leaf_value", 0.0)
            parts["weight"][at] = float(
                node["leaf_count" if leaf else "internal_count"]
            )
            if leaf:
                return
            d = node["split_feature"]
            cuts[d].append(node["threshold"])
            parts["column"][at], parts["bin"][at] = d, len(cuts[d]) - 1
            left = new()
            right = new()
            parts["child"][at] = left
            copy(node["left_child"], left)
            copy(node["right_child"], right)

        copy(one["tree_structure"], new())
        places = (
            np.array(parts[name], dtype=np.int32) for name in ("column", "bin", "child")
        )
        value = np.array(parts["value"])
        weight = np.array(parts["weight"])
        collected.append(cut_tree(*places, value, weight))
    trees = sum_of(np.zeros(4), tuple(map(np.array, cuts)), collected)
    phi, base = shapley_values(
        trees, Rows(X=X), Rows(X=X), np.ones(300), np.arange(4), 4
    )
    theirs = model.predict(X, pred_contrib=True)
    assert_allclose(phi, theirs[:, :4], atol=1e-10)
    assert_allclose(base, theirs[:, 4], atol=1e-10)


def test_other_methods_say_who_has_it():
    with pytest.raises(AttributeError, match="'ordboost'"):
        ordfit("rating ~ temp", datasets.load("wine")).shapley()


def test_of_arrays():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.digitize(X[:, 0] + rng.logistic(size=120), [-1, 1])
    fit = OrdinalClassifier("ordboost", rounds=10, depth=2).fit(X, y).results_
    contributions = fit.shapley(X[:4])
    assert contributions.columns.tolist() == ["(base)", "x1", "x2", "x3"]
    assert_allclose(contributions, fit.shapley().iloc[:4])


def test_a_variable_of_a_taken_name(anes):
    fit = boosted("PID ~ `(base)`", anes.rename(columns={"age": "(base)"}))
    with refused("variables"):
        fit.shapley()
