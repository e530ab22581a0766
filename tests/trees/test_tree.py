"""Trees against brute force, scikit-learn, and by hand."""

import itertools
from math import log

import numpy as np
import pytest
from seams import Rows
from sklearn.tree import DecisionTreeClassifier

from ordstat import DecisionTree, OptionError, datasets
from ordstat.trees.tree import MEASURES, Forest, Tree, TreeSum, pruned

from . import naive

RULES = {
    "binary": (2, 5, None, 0.0),
    "four classes": (4, 7, None, 0.0),
    "shallow": (3, 9, 2, 0.0),
    "heavy leaves": (3, 9, None, 6.0),
    "to the end": (3, 99, None, 0.0),
}


def _data(N, D, C, seed, whole=False):
    """Rows with a signal, classes and weights, some of them 0; `whole` numbers have
    many ties.
    """
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (N, D)).astype(float) if whole else rng.normal(size=(N, D))
    score = X[:, 0] - 0.5 * X[:, -1] + rng.normal(size=N)
    y = np.searchsorted(np.quantile(score, np.arange(1, C) / C), score)
    return X, y, rng.integers(0, 4, N) + rng.random(N) * (rng.random(N) > 0.3)


def _leaf_rows(tree, X, w):
    leaves = Forest.of([tree], tree.values.shape[1]).leaves(X)[:, 0]
    return {
        frozenset(np.flatnonzero((leaves == leaf) & (w > 0)).tolist())
        for leaf in set(leaves[w > 0])
    }


@pytest.mark.parametrize(
    "whole", [False, True], ids=["different values", "tied values"]
)
@pytest.mark.parametrize("rule", RULES)
def test_trees_are_those_of_brute_force(rule, whole):
    """Every cut that could be is tried, in the order of columns and values."""
    C, leaves, depth, least = RULES[rule]
    for seed in range(4):
        X, y, w = _data(40, 3, C, seed, whole)
        tree = (
            DecisionTree(leaves=leaves, max_depth=depth, min_weight=least)
            .on(X, w)
            .grow(y, w, C)
        )
        root = naive.grow(X, y, w, C, leaves, depth, least)
        assert _leaf_rows(tree, X, w) == {
            frozenset(leaf.rows) for leaf in root.leaves()
        }
        assert tree.gains.sum() == pytest.approx(
            naive.entropy(naive.class_weights(root.rows, y, w, C))
            - sum(
                naive.entropy(naive.class_weights(leaf.rows, y, w, C))
                for leaf in root.leaves()
            )
        )
        actual = Forest.of([tree], C)
        at = actual.leaves(X)[:, 0]
        for i in range(40):
            leaf = root.leaf(X[i])
            assert actual.labels[at[i]] == leaf.label
            np.testing.assert_allclose(
                actual.shares[at[i]], naive.shares(leaf, y, w, C), atol=1e-12
            )


@pytest.mark.parametrize(
    ("N", "D", "C", "leaves"),
    [(200, 3, 2, 5), (300, 6, 5, 15), (500, 8, 2, 9), (900, 4, 3, 20)],
)
@pytest.mark.parametrize("weights", ["real", "bootstrap"])
def test_partitions_are_those_of_scikit_learn(N, D, C, leaves, weights):
    """Best-first by the deviance, on columns without ties in gain."""
    X, y, w = _data(N, D, C, N)
    if weights == "bootstrap":
        w = np.bincount(np.random.default_rng(1).integers(0, N, N), minlength=N).astype(
            float
        )
    X = X.astype(np.float32).astype(float)  # what scikit-learn keeps
    tree = DecisionTree(leaves=leaves).on(X, w).grow(y, w, C)
    other = DecisionTreeClassifier(
        criterion="log_loss", max_leaf_nodes=leaves, random_state=0
    )
    place = other.fit(X, y, sample_weight=w).apply(X)[w > 0]
    grown_leaves = Forest.of([tree], C).leaves(X[w > 0])[:, 0]
    assert (
        len(set(zip(grown_leaves, place, strict=True)))
        == len(set(grown_leaves))
        == len(set(place))
        == leaves
    )
    new = (
        np.random.default_rng(2).normal(size=(400, D)).astype(np.float32).astype(float)
    )
    np.testing.assert_allclose(
        Forest.of([tree], C).shares[Forest.of([tree], C).leaves(new)[:, 0]],
        other.predict_proba(new),
        atol=1e-12,
    )


def test_a_tree_by_hand():
    """Ranks 0 0 1 2 over x = 1 2 3 4 and a useless column: cuts at 2.5, worth 4 log 2,
    and at 3.5, worth 2 log 2.

    The root has 4 log 4 - 2 log 2 = 6 log 2, half of its deviance; the leaves have
    none.
    """
    X = np.array([[7.0, 1.0], [7.0, 2.0], [7.0, 3.0], [7.0, 4.0]])
    tree = (
        DecisionTree(leaves=9)
        .on(X, np.ones(4))
        .grow(np.array([0, 0, 1, 2]), np.ones(4), 3)
    )
    assert tree.column.tolist() == [1, -1, 1, -1, -1]
    assert tree.cut[[0, 2]].tolist() == [2.5, 3.5]
    assert tree.child.tolist() == [1, -1, 3, -1, -1]
    assert tree.parent.tolist() == [-1, 0, 0, 2, 2]
    np.testing.assert_allclose(tree.gains, [4 * log(2), 0, 2 * log(2), 0, 0])
    np.testing.assert_allclose(tree.deviances, [12 * log(2), 0, 4 * log(2), 0, 0])
    assert tree.values.tolist() == [
        [2, 1, 1],
        [2, 0, 0],
        [0, 1, 1],
        [0, 1, 0],
        [0, 0, 1],
    ]
    assert tree.labels.tolist() == [0, 0, 1, 1, 2]
    np.testing.assert_allclose(tree.importance(2), [0.0, 12 * log(2)])


def test_a_tied_leaf_takes_the_class_of_its_parent():
    X = np.array([[0.0], [0.0], [1.0], [1.0], [1.0]])
    y = np.array([0, 1, 1, 1, 1])
    w = np.ones(5)
    tree = DecisionTree().on(X, w).grow(y, w, 2)
    assert tree.values.tolist() == [[1, 4], [1, 1], [0, 3]]
    assert tree.labels.tolist() == [1, 1, 1]
    mirror = DecisionTree().on(X, w).grow(1 - y, w, 2)
    assert mirror.labels.tolist() == [0, 0, 0]


def test_weights_count_rows():
    X, y, _ = _data(60, 3, 3, 5)
    w = np.random.default_rng(0).integers(0, 4, 60)
    again = np.repeat(np.arange(60), w)
    one = DecisionTree(leaves=8).on(X, w).grow(y, w.astype(float), 3)
    two = (
        DecisionTree(leaves=8)
        .on(X[again], np.ones(again.size))
        .grow(y[again], np.ones(again.size), 3)
    )
    for name in ("column", "cut", "child", "parent", "values"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_one_class_and_columns_without_values_give_a_root_alone():
    X = np.zeros((5, 2))
    w = np.ones(5)
    assert DecisionTree().on(X, w).grow(np.array([0, 1, 0, 1, 1]), w, 2).n_leaves == 1
    X = np.arange(10.0).reshape(5, 2)
    assert DecisionTree().on(X, w).grow(np.ones(5, dtype=np.intp), w, 2).n_leaves == 1
    assert (
        DecisionTree(min_weight=3.0)
        .on(X, w)
        .grow(np.array([0, 0, 0, 1, 1]), w, 2)
        .n_leaves
        == 1
    )


def test_weights_may_be_next_to_nothing():
    """Rows with tiny weights change nothing, and hide nothing."""
    X, y, _ = _data(40, 2, 3, 3)
    light = np.where(y == 0, 5e-324, 1.0)
    plain = np.where(y == 0, 0.0, 1.0)
    for n_classes, classes in ((3, y), (2, np.minimum(y, 1))):
        one, two = (
            DecisionTree(leaves=4).on(X, w).grow(classes, w, n_classes)
            for w in (light, plain)
        )
        assert one.gains.sum() == pytest.approx(two.gains.sum(), rel=1e-9)


# Pruning


def _subtrees(tree: Tree, node: int = 0) -> list[set[int]]:
    """The leaves of every tree that pruning could leave."""
    if tree.column[node] < 0:
        return [{node}]
    left = int(tree.child[node])
    return [
        {node},
        *(
            a | b
            for a, b in itertools.product(
                _subtrees(tree, left), _subtrees(tree, left + 1)
            )
        ),
    ]


@pytest.mark.parametrize("measure", MEASURES)
def test_a_pruned_tree_is_the_best_of_its_size(measure):
    """Breiman et al., th. 3.10: a tree of the sequence minimises measure + price *
    leaves over all pruned trees.
    """
    for seed in range(4):
        X, y, w = _data(25, 3, 3, seed)
        trainer = DecisionTree(leaves=99).on(X, w)
        whole = trainer.grow(y, w, 3)
        at = MEASURES[measure](whole)
        choices = [(len(leaves), at[list(leaves)].sum()) for leaves in _subtrees(whole)]
        best = {n: min(m for size, m in choices if size == n) for n, _ in choices}
        # The sequence is the lower left of the convex hull of (leaves, best measure),
        # smaller first among equals.
        sizes = [
            n
            for n in best
            if any(
                all(
                    best[n] + price * n
                    < best[m] + price * m + (1e-9 if m > n else -1e-9)
                    for m in best
                    if m != n
                )
                for price in [1e-7, *_slopes(best)]
            )
        ]
        for wanted in range(1, max(best) + 1):
            actual = pruned(whole, measure, wanted)
            expected = min((n for n in sizes if n >= wanted), default=max(best))
            assert actual.n_leaves == expected
            assert MEASURES[measure](actual)[actual.column < 0].sum() == pytest.approx(
                best[actual.n_leaves]
            )


def _slopes(best):
    """Prices between those at which the best size changes."""
    pairs = itertools.combinations(sorted(best), 2)
    slopes = sorted(
        {(best[a] - best[b]) / (b - a) for a, b in pairs if best[a] > best[b] + 1e-9}
    )
    return [(s + t) / 2 for s, t in itertools.pairwise(slopes)] + [2 * slopes[-1]]


#: Leaves and errors in the cptable of R's rpart 4.1 for the same 200 rows:
#: split="information", cp=0, minsplit=2, minbucket=1, xval=0, no surrogates. Its table
#: steps over 33 leaves with 15 errors, the cheapest at a price of 1.1.
RPART = {
    2: 126,
    9: 72,
    11: 58,
    12: 53,
    15: 43,
    16: 40,
    19: 34,
    21: 31,
    29: 20,
    42: 6,
    54: 0,
}


def test_pruning_goes_the_way_of_rpart():
    data = datasets.herbrich(200, seed=5)
    X = data[["x1", "x2"]].to_numpy()
    y = data["rank"].astype(int).to_numpy() - 1
    w = np.ones(200)
    whole = DecisionTree(leaves=200).on(X, w).grow(y, w, 5)
    trees = [pruned(whole, "misclassification", n) for n in range(2, 60)]
    collected = {
        tree.n_leaves: int(MEASURES["misclassification"](tree)[tree.column < 0].sum())
        for tree in trees
    }
    assert collected == RPART | {33: 15}
    assert min(wrong + 1.1 * n for n, wrong in RPART.items()) > 15 + 1.1 * 33


def test_pruning_by_hand():
    """Six rows, ranks 0 0 0 1 0 1 over x = 1..6. The full tree cuts at 3.5 (worth
    most), 4.5 and 5.5, and has no error.

    By errors: the root alone has 2, the cut at 3.5 leaves 1 (right side 1 0 1), both
    cuts on the right together 0. Branch prices are 2/3 for the root, 1/2 for the right
    side: that goes first.
    """
    X = np.arange(1.0, 7.0)[:, None]
    w = np.ones(6)
    y = np.array([0, 0, 0, 1, 0, 1])
    full = DecisionTree(leaves=9).on(X, w).grow(y, w, 2)
    assert sorted(full.cut[full.column >= 0].tolist()) == [3.5, 4.5, 5.5]
    sizes = [
        DecisionTree(leaves=n, prune="misclassification").on(X, w).grow(y, w, 2)
        for n in (2, 3, 4)
    ]
    assert [tree.n_leaves for tree in sizes] == [2, 4, 4]
    assert sizes[0].cut.tolist() == [3.5, 0.0, 0.0]
    assert sizes[0].values.tolist() == [[4, 2], [3, 0], [1, 2]]


# As a weak learner


def test_the_weak_tree_finds_what_its_signs_ask_for():
    X = np.random.default_rng(0).normal(size=(80, 2))
    u = np.where((X[:, 0] > 0.1) & (X[:, 1] > -0.2), 1.0, -2.0)
    weak = DecisionTree(leaves=3).on(X, np.ones(80)).best(u, np.random.default_rng(0))
    np.testing.assert_array_equal(weak.values, np.sign(u))
    total = TreeSum(trees=(weak.member,) * 2, round_weights=np.array([0.5, -2.0]))
    np.testing.assert_allclose(total(Rows(X=X)), -1.5 * np.sign(u))


def test_the_class_is_no_richer_than_it_says():
    """All answers of trees of up to 3 leaves on six rows, counted one by one."""
    X = np.array(
        [[0.0, 3.0], [1.0, 1.0], [2.0, 2.0], [3.0, 0.0], [4.0, 2.0], [5.0, 4.0]]
    )

    def answers(rows, leaves):
        collected = {tuple((i, s) for i in rows) for s in (-1, 1)}
        if leaves == 1:
            return collected
        for d, cut in itertools.product(range(2), np.arange(0.5, 5.0)):
            low = [i for i in rows if X[i, d] <= cut]
            high = [i for i in rows if X[i, d] > cut]
            for n in range(1, leaves) if low and high else ():
                pairs = itertools.product(answers(low, n), answers(high, leaves - n))
                collected |= {tuple(sorted(a + b)) for a, b in pairs}
        return collected

    for leaves in (2, 3):
        richness = DecisionTree(leaves=leaves).on(X, np.ones(6)).richness()
        assert (
            log(len(answers(list(range(6)), leaves)))
            <= richness.log_size
            <= 6 * log(2) + 1e-12
        )


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"leaves": 1}, "leaves of a tree"),
        ({"leaves": True}, "leaves of a tree"),
        ({"max_depth": 0}, "max_depth of a tree"),
        (
            {"prune": "cost"},
            "prune of a tree must be one of None, 'misclassification', 'deviance'",
        ),
        ({"min_weight": -1.0}, "min_weight of a tree"),
    ],
)
def test_impossible_trees_are_refused(options, match):
    with pytest.raises(OptionError, match=match):
        DecisionTree(**options)
