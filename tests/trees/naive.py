"""Trees by brute force, and the algorithms of Tutz & Hechenbichler (2003) written down
as the paper has them.

Ranks and splits count from 1 here, as in the paper; everything is loops.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from math import exp, log, prod

import numpy as np


def entropy(values):
    """sum_c w_c log(w / w_c)."""
    total = sum(values)
    return sum(v * log(total / v) for v in values if v > 0)


@dataclass
class Node:
    """A node with the rows that came to it."""

    rows: np.ndarray
    depth: int
    label: int
    column: int = -1
    cut: float = 0.0
    children: list[Node] = field(default_factory=list)

    def leaf(self, x):
        """The leaf of a row."""
        if not self.children:
            return self
        return self.children[int(x[self.column] > self.cut)].leaf(x)

    def leaves(self):
        """All leaves below, from left to right."""
        return (
            [leaf for child in self.children for leaf in child.leaves()]
            if self.children
            else [self]
        )


def class_weights(rows, y, w, n_classes):
    return [sum(w[i] for i in rows if y[i] == c) for c in range(n_classes)]


def best_cut(X, y, w, rows, n_classes, least):
    """(gain, column, cut) over all columns and all midpoints, the first among equals;
    None where nothing helps.
    """
    whole = entropy(class_weights(rows, y, w, n_classes))
    actual = None
    for d in range(X.shape[1]):
        values = sorted(set(X[rows, d]))
        for low, high in pairwise(values):
            sides = [
                [i for i in rows if X[i, d] <= low],
                [i for i in rows if X[i, d] > low],
            ]
            parts = [class_weights(side, y, w, n_classes) for side in sides]
            gain = whole - sum(map(entropy, parts))
            if min(map(sum, parts)) >= least and gain > (
                1e-9 if actual is None else actual[0] + 1e-9
            ):
                actual = (gain, d, (low + high) / 2)
    return actual


def grow(X, y, w, n_classes, leaves, depth=None, least=0.0):
    """Best-first; the label of a tied leaf is that of its parent if it is in the
    tie.
    """
    rows = [i for i in range(len(y)) if w[i] > 0]
    root = Node(rows, 0, int(np.argmax(class_weights(rows, y, w, n_classes))))
    frontier = [root]
    while len(root.leaves()) < leaves:
        options = []
        for node in frontier:
            cut = (
                None
                if depth is not None and node.depth >= depth
                else best_cut(X, y, w, node.rows, n_classes, least)
            )
            if cut is not None:
                options.append((cut, node))
        if not options:
            break
        (gain, d, cut), node = options[0]
        for option in options[1:]:
            if option[0][0] > gain + 1e-9:
                (gain, d, cut), node = option
        node.column, node.cut = d, cut
        for side in (True, False):
            rows = [i for i in node.rows if (X[i, d] <= cut) == side]
            node_weights = class_weights(rows, y, w, n_classes)
            tied = [c for c in range(n_classes) if node_weights[c] == max(node_weights)]
            label = node.label if node.label in tied else tied[0]
            node.children.append(Node(rows, node.depth + 1, label))
        frontier = [other for other in frontier if other is not node] + node.children
    return root


def shares(leaf, y, w, n_classes):
    values = class_weights(leaf.rows, y, w, n_classes)
    return [v / sum(values) for v in values]


# The second stage


def rule_2(above, weights=None):
    """Scores s_1, ..., s_k from answers above[r-1] in {0, 1}, r = 1, ..., k-1."""
    k = len(above) + 1
    weights = weights or [1] * (k - 1)
    scores = []
    for j in range(1, k + 1):
        total = 0
        for r in range(1, k):
            if above[r - 1] == 0:
                total += weights[r - 1] * (1 / r if j <= r else 0)
            else:
                total += weights[r - 1] * (1 / (k - r) if j > r else 0)
        scores.append(total)
    return scores


def first_best(scores):
    """1, ..., k: the first of the largest, up to rounding."""
    return next(j for j, s in enumerate(scores, 1) if s > max(scores) - 1e-9)


def equation_6(p):
    """yhat_1, ..., yhat_k from p[r-1] = P(Y <= r)."""
    k = len(p) + 1
    return [
        sum(p[r - 1] if j <= r else 1 - p[r - 1] for r in range(1, k))
        for j in range(1, k + 1)
    ]


def f_misclassification(scores):
    k = len(scores)
    products = [prod(s for m, s in enumerate(scores) if m != j) for j in range(k)]
    return [0.5 * log(scores[j] / products[j] ** (1 / (k - 1))) for j in range(k)]


def f_distance(scores):
    k = len(scores)
    collected = []
    for j in range(k):
        far = sum(abs(j - m) * scores[m] for m in range(k)) / sum(
            abs(j - m) for m in range(k)
        )
        collected.append(0.5 * log(scores[j] / far))
    return collected


@dataclass
class Boosted:
    """Errors and votes by round, and ranks of the training rows."""

    errors: list
    votes: list
    ranks: list


def normalised(w):
    return [v / sum(w) for v in w]


def tree_at(X, y, w, n_classes, leaves):
    """Functions of a row: the label and the class shares of its leaf."""
    scaled = np.array(w) * len(w)
    root = grow(X, y, scaled, n_classes, leaves)
    return lambda x: root.leaf(x).label, lambda x: shares(
        root.leaf(x), y, scaled, n_classes
    )


def fixed_split(X, y, k, rounds, leaves, version, by_votes=False):
    """Section 3.1 with weighted trees; y in 1..k. Errors and votes are lists of one
    list a split.
    """
    n = len(y)
    errors = []
    votes = []
    sums = []
    for r in range(1, k):
        side = np.array([int(v > r) for v in y])
        w = [1 / n] * n
        errors.append([])
        votes.append([])
        total = [[0.0, 0.0] for _ in range(n)]
        for _ in range(rounds):
            label, share = tree_at(X, side, w, 2, leaves)
            if version == "discrete":
                wrong = [int(label(X[i]) != side[i]) for i in range(n)]
                e = sum(w[i] * wrong[i] for i in range(n))
                c = log((1 - e) / (e + 1 / n))
                if c <= 0:
                    break
                for i in range(n):
                    total[i][label(X[i])] += c
                w = normalised([w[i] * exp(c * wrong[i]) for i in range(n)])
            else:
                p = [share(X[i])[0] for i in range(n)]
                f = [0.5 * log((v + 1 / n) / (1 - v + 1 / n)) for v in p]
                sign = [1 if s == 0 else -1 for s in side]
                e = sum(w[i] for i in range(n) if (f[i] >= 0) != (sign[i] > 0))
                c = 1.0
                for i in range(n):
                    total[i][0 if f[i] >= 0 else 1] += abs(f[i])
                w = normalised([w[i] * exp(-sign[i] * f[i]) for i in range(n)])
            errors[-1].append(e)
            votes[-1].append(c)
        sums.append(total)
    ranks = []
    for i in range(n):
        above = [int(t[i][1] > t[i][0]) for t in sums]
        pv = [max(t[i]) / sum(t[i]) for t in sums]
        ranks.append(first_best(rule_2(above, pv if by_votes else None)))
    return Boosted(errors, votes, ranks)


def one_stage(X, y, k, rounds, leaves, version, criterion, nominal=False):
    """Section 3.2 with weighted trees (or, nominal, one tree of all classes a round); y
    in 1..k.
    """
    n = len(y)
    w = [1 / len(y)] * len(y)
    actual = Boosted([], [], [])
    total = np.zeros((n, k))
    for _ in range(rounds):
        if nominal:
            label, share = tree_at(X, np.array(y) - 1, w, k, leaves)
            C = [label(X[i]) + 1 for i in range(n)]
            scores = [[s + 1 / n for s in share(X[i])] for i in range(n)]
        else:
            trees = [
                tree_at(X, np.array([int(v > r) for v in y]), w, 2, leaves)
                for r in range(1, k)
            ]
            C = [
                first_best(rule_2([label(X[i]) for label, _ in trees]))
                for i in range(n)
            ]
            scores = [
                [s + 1 / n for s in equation_6([share(X[i])[0] for _, share in trees])]
                for i in range(n)
            ]
        if version == "real":
            f = [
                (f_distance if criterion == "distance" else f_misclassification)(s)
                for s in scores
            ]
            actual.errors.append(
                sum(w[i] for i in range(n) if np.argmax(f[i]) + 1 != y[i])
            )
            actual.votes.append(1.0)
            total += np.array(f)
            w = normalised([w[i] * exp(-f[i][y[i] - 1]) for i in range(n)])
            continue
        distance = [abs(C[i] - y[i]) for i in range(n)]
        eps = {
            "misclassification": [int(d > 0) for d in distance],
            "distance": [d / (k - 1) for d in distance],
            "raw distance": distance,
            "squared distance": [(d / (k - 1)) ** 2 for d in distance],
        }[criterion]
        e = sum(w[i] * eps[i] for i in range(n)) / (
            k - 1 if criterion == "raw distance" else 1
        )
        c = log((1 - e) / (e + 1 / (n * (k - 1)))) + (
            log(k - 1) if criterion == "misclassification" else 0
        )
        if c <= 0:
            break
        actual.errors.append(e)
        actual.votes.append(c)
        for i in range(n):
            total[i, C[i] - 1] += c
        w = normalised([w[i] * exp(c * eps[i]) for i in range(n)])
    actual.ranks = [first_best(list(row)) for row in total]
    return actual
