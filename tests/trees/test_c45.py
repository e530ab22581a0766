"""C4.5 against worked examples of the literature and a plain recursive version of
it.
"""

import numpy as np
import pytest
from seams import Rows
from twins import gain_ratio_cut

from ordstat import C45, OptionError
from ordstat.trees import c45
from ordstat.trees.tree import TreePanel

#: Golf or not (Quinlan 1993, sec. 2.2): outlook, temperature, humidity, windy, play.
GOLF = [
    ("sunny", 75, 70, True, True),
    ("sunny", 80, 90, True, False),
    ("sunny", 85, 85, False, False),
    ("sunny", 72, 95, False, False),
    ("sunny", 69, 70, False, True),
    ("overcast", 72, 90, True, True),
    ("overcast", 83, 78, False, True),
    ("overcast", 64, 65, True, True),
    ("overcast", 81, 75, False, True),
    ("rain", 71, 80, True, False),
    ("rain", 65, 70, True, False),
    ("rain", 75, 80, False, True),
    ("rain", 68, 80, False, True),
    ("rain", 70, 96, False, True),
]


def golf(*outlooks):
    """Columns temperature, humidity, windy and labels of the days of some outlooks."""
    days = [day for day in GOLF if day[0] in outlooks]
    X = np.array([day[1:4] for day in days], dtype=float)
    return X, np.array([1.0 if day[4] else -1.0 for day in days])


def tree(X, z, w=None, **settings):
    w = np.ones(len(z)) if w is None else w
    return (
        C45(**settings)
        .fit(np.asarray(X, dtype=float), z, w, np.random.default_rng(0))
        .scorer.trees[0]
    )


def text_of(actual, names=("x0", "x1", "x2", "x3"), node=0, indent=""):
    """Lines of a tree: a leaf has the weights of + and -; the second side of a cut
    follows the first.
    """
    if actual.column[node] < 0:
        negative, positive = actual.values[node]
        return [f"{indent}leaf {positive:.6g} {negative:.6g}"]
    head = f"{indent}{names[actual.column[node]]} <= {actual.cut[node]:.6g}"
    left = int(actual.child[node])
    return [
        head,
        *(
            line
            for side in (left, left + 1)
            for line in text_of(actual, names, side, indent + " ")
        ),
    ]


@pytest.mark.parametrize(
    ("outlook", "expected"),
    [
        ("sunny", ["humidity <= 70", " leaf 2 0", " leaf 0 3"]),
        ("overcast", ["leaf 4 0"]),
        ("rain", ["windy <= 0", " leaf 3 0", " leaf 0 2"]),
    ],
)
def test_the_branches_of_the_golf_tree(outlook, expected):
    """Figure 2-1 of Quinlan 1993: humidity decides sunny days, wind rainy ones, and
    overcast ones are all good.
    """
    assert (
        text_of(tree(*golf(outlook)), ("temperature", "humidity", "windy")) == expected
    )


def test_a_cut_is_a_value_of_the_training_rows():
    """Days of other outlooks have a humidity of 75 between 70 and 85: with them the cut
    is the book's 75.
    """
    X, z = golf("sunny", "overcast", "rain")
    overcast = np.array(
        [day[0] != "sunny" for day in GOLF if day[0] in ("sunny", "overcast", "rain")]
    )
    # A label of its own for all days that are not sunny makes the first cut that of the
    # outlook.
    z = np.where(overcast, 1.0, z)
    actual = tree(np.column_stack([overcast, X[:, 1]]), z)
    expected = [
        "not sunny <= 0",
        " humidity <= 75",
        "  leaf 2 0",
        "  leaf 0 3",
        " leaf 9 0",
    ]
    assert text_of(actual, ("not sunny", "humidity")) == expected


@pytest.mark.parametrize(
    ("errors", "cases", "rate"),
    [(0, 6, 0.206), (0, 9, 0.143), (0, 1, 0.750), (1, 16, 0.157)],
)
def test_upper_limits_of_the_book(errors, cases, rate):
    """U_25% of Quinlan 1993, sec. 4.2."""
    assert (errors + c45.extra_errors(cases, errors, 0.25)) / cases == pytest.approx(
        rate, abs=5e-4
    )


def test_upper_limits_rise_with_errors_and_fall_with_confidence():
    limits = [
        [e + c45.extra_errors(20.0, e, c) for e in np.linspace(0, 10, 41)]
        for c in (0.01, 0.1, 0.25, 0.5)
    ]
    assert (np.diff(limits, axis=1) > -1e-12).all()
    assert (np.diff(limits, axis=0) <= 1e-12).all()


def voting(first, others=0):
    """16 cases of the congress example (sec. 4.2): leaves of 6, 9 and 1 with no error,
    the last of the other label.

    Column b, which tells the second leaf from the third, is `first` in the first.
    """
    X = np.repeat([[0.0, first], [1.0, 0.0], [1.0, 1.0]], [6, 9, 1 + others], axis=0)
    z = np.repeat([1.0, 1.0, -1.0], [6, 9, 1 + others])
    rows = [
        np.arange(len(z)),
        np.arange(6),
        np.arange(6, len(z)),
        np.arange(6, 15),
        np.arange(15, len(z)),
    ]
    return c45.Pruner(
        X=X,
        label=(z > 0).astype(np.intp),
        w=np.ones(len(z)),
        column=np.array([0, -1, 1, -1, -1]),
        cut=np.zeros(5),
        left=np.array([1, -1, 3, -1, -1]),
        right=np.array([2, -1, 4, -1, -1]),
        positive=np.array([15.0, 6, 9, 9, 0]),
        negative=np.array([1.0, 0, 1, 0, 1]) + others * np.array([1.0, 0, 1, 0, 1]),
        items=rows,
        confidence=0.25,
    )


def test_the_congress_example_is_pruned_to_a_leaf():
    """Its subtree promises 6 x 0.206 + 9 x 0.143 + 0.750 = 3.273 errors, a leaf 16 x
    0.157 = 2.512.
    """
    assert text_of(voting(first=1.0).pruned()) == ["leaf 15 1"]


def test_a_branch_is_raised_in_its_parents_place():
    """With 10 of the other label no leaf is good enough; the first cut, which b makes
    needless, goes.
    """
    assert text_of(voting(first=0.0, others=9).pruned()) == [
        "x1 <= 0",
        " leaf 15 0",
        " leaf 0 10",
    ]


# A plain version


class Plain:
    """C4.5 on lists of rows, node by node."""

    def __init__(self, X, label, w, min_cases, confidence):
        self.X, self.label, self.w = X, label, w
        self.min_cases, self.confidence = min_cases, confidence

    def grow(self, rows):
        cut = gain_ratio_cut(
            self.X[rows], self.label[rows], self.w[rows], self.min_cases
        )
        if cut is None:
            return {"rows": rows}
        d, low, high = cut
        value = self.X[self.X[:, d] <= (low + high) / 2, d].max()
        below = self.X[rows, d] <= value
        node = {
            "rows": rows,
            "cut": (d, value),
            "sides": [self.grow(rows[below]), self.grow(rows[~below])],
        }
        return (
            self.leaf(rows)
            if self.errors(node) >= self.own_errors(rows) - 1e-9
            else node
        )

    def leaf(self, rows):
        return {"rows": rows}

    def own_errors(self, rows):
        positive = self.w[rows][self.label[rows] == 1].sum()
        return min(positive, self.w[rows].sum() - positive)

    def errors(self, node):
        return (
            sum(self.errors(s) for s in node["sides"])
            if "cut" in node
            else self.own_errors(node["rows"])
        )

    def promise(self, node):
        if "cut" in node:
            return sum(self.promise(side) for side in node["sides"])
        errors = self.own_errors(node["rows"])
        return errors + c45.extra_errors(
            self.w[node["rows"]].sum(), errors, self.confidence
        )

    def with_rows(self, node, rows):
        """The same cuts for other rows; a side without rows keeps its previous rows."""
        if "cut" not in node or rows.size == 0:
            return {**node, "rows": rows} if rows.size else node
        d, value = node["cut"]
        below = self.X[rows, d] <= value
        sides = [
            self.with_rows(s, rows[b])
            for s, b in zip(node["sides"], (below, ~below), strict=True)
        ]
        return {"rows": rows, "cut": node["cut"], "sides": sides}

    def prune(self, node):
        if "cut" not in node:
            return node
        node = {**node, "sides": [self.prune(side) for side in node["sides"]]}
        return self.settle(node)

    def settle(self, node):
        left, right = node["sides"]
        larger = (
            left if self.w[left["rows"]].sum() >= self.w[right["rows"]].sum() else right
        )
        raised = self.with_rows(larger, node["rows"])
        leaf = self.leaf(node["rows"])
        promises = self.promise(leaf), self.promise(raised), self.promise(node)
        if promises[0] <= min(promises[1:]) + 0.1:
            return leaf
        if promises[1] <= promises[2] + 0.1:
            return self.prune(raised)
        return node

    def text(self, node, indent=""):
        if "cut" not in node:
            positive = self.w[node["rows"]][self.label[node["rows"]] == 1].sum()
            return [
                f"{indent}leaf {positive:.6g}"
                f" {self.w[node['rows']].sum() - positive:.6g}"
            ]
        head = f"{indent}x{node['cut'][0]} <= {node['cut'][1]:.6g}"
        return [
            head,
            *self.text(node["sides"][0], indent + " "),
            *self.text(node["sides"][1], indent + " "),
        ]


@pytest.mark.parametrize("seed", range(12))
def test_the_plain_version_grows_and_prunes_the_same_tree(seed):
    rng = np.random.default_rng(seed)
    n = 150
    X = np.column_stack([rng.standard_normal((n, 2)), rng.integers(0, 3, (n, 2))])
    z = np.where(X @ [1.0, -1.0, 0.5, 0.0] + rng.standard_normal(n) > 0.5, 1.0, -1.0)
    w = np.ones(n) if seed % 3 == 0 else rng.uniform(0.2, 3.0, n)
    settings = {"min_cases": 1.0 + seed % 2, "confidence": (0.25, 0.5)[seed % 2]}
    plain = Plain(X, (z > 0).astype(int), w, **settings)
    expected = plain.text(plain.prune(plain.grow(np.arange(n))))
    assert text_of(tree(X, z, w, **settings)) == expected
    assert len(expected) > 3


def test_a_weight_of_two_is_two_cases():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 6, (80, 3)).astype(float)
    z = np.where(X[:, 0] + rng.integers(0, 5, 80) > 5, 1.0, -1.0)
    w = rng.integers(1, 4, 80)
    assert text_of(tree(X, z, w.astype(float))) == text_of(
        tree(X.repeat(w, axis=0), z.repeat(w))
    )


@pytest.mark.parametrize(
    "settings",
    [{"confidence": 0.0}, {"confidence": 0.6}, {"min_cases": 0}, {"min_cases": "2"}],
)
def test_wrong_settings_are_named(settings):
    with pytest.raises(OptionError, match=next(iter(settings))):
        C45(**settings)


@pytest.mark.parametrize("z", [np.ones(5), -np.ones(5)])
def test_one_label_makes_one_leaf(z):
    actual = tree(np.arange(10.0).reshape(5, 2), z)
    assert actual.n_leaves == 1
    assert (np.sign(TreePanel((actual,))(Rows(X=np.zeros((1, 2))))) == z[0]).all()


def test_rows_without_columns_make_one_leaf():
    assert text_of(tree(np.zeros((5, 0)), np.array([1.0, 1, 1, -1, -1]))) == [
        "leaf 3 2"
    ]
