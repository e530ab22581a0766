"""Gradient boosting by plain loops: the readable twins of `compiled/boost.pyx`."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit


@dataclass
class Node:
    """A node of a tree; `column` None of a leaf, `left` all codes that go left."""

    value: float
    weight: float
    column: int | None = None
    left: frozenset = frozenset()
    gain: float = 0.0
    children: list[Node] = field(default_factory=list)

    def at(self, codes):
        """The value for one row of codes."""
        if self.column is None:
            return self.value
        return self.children[int(codes[self.column] not in self.left)].at(codes)

    def leaves(self):
        return (
            [self]
            if self.column is None
            else [leaf for child in self.children for leaf in child.leaves()]
        )


@dataclass(kw_only=True)
class Grower:
    """Trees on codes (D, N), by the sums over the rows of every possible child."""

    codes: np.ndarray
    depth: int
    least: float = 1.0
    penalty: float = 1.0
    flattest: float = 1e-3
    signs: np.ndarray | None = None
    columns: np.ndarray | None = None
    # codes of values; the code after the last is of none
    counts: np.ndarray | None = None
    kinds: np.ndarray | None = None  # 1 of categories
    longest: float = 4.0

    def tree(self, rows, g, h, w):
        return self._node(
            np.asarray(rows), w * g, w * h, w, self.depth, -np.inf, np.inf
        )

    def _value(self, G, V, low, high):
        return np.clip(
            np.clip(-G / (V + self.penalty), -self.longest, self.longest), low, high
        )

    def _fall(self, G, V, low, high):
        v = np.clip(-G / (V + self.penalty), low, high)
        return -(2 * G * v + (V + self.penalty) * v**2)

    def _sides(self, d, rows, G, V, w):
        """(codes on the left, direction that the values must have) of every cut of a
        column, in the order of trial.
        """
        codes = self.codes[d][rows]
        count = self.codes[d].max() + 1 if self.counts is None else self.counts[d]
        sign = 0 if self.signs is None else self.signs[d]
        here = np.unique(codes)
        if self.kinds is not None and self.kinds[d]:

            def ratio(c):
                inside = rows[codes == c]
                return G[inside].sum() / (V[inside].sum() + self.penalty)

            order = sorted(here, key=ratio)
            return [(set(order[:i]), here, 0) for i in range(1, len(order))]
        values = here[here < count]
        cuts = [(set(range(b + 1)), here, sign) for b in values[:-1]]
        if count not in here:
            return cuts
        alone = [(set(range(count)), here, 0)] if values.size else []
        return cuts + alone + [(left | {count}, here, sign) for left, *_ in cuts]

    def _node(self, rows, G, V, w, depth, low, high):
        sums = G[rows].sum(), V[rows].sum()
        node = Node(value=self._value(*sums, low, high), weight=w[rows].sum())
        best = None
        for d in range(len(self.codes)) if self.columns is None else self.columns:
            for codes, here, sign in self._sides(d, rows, G, V, w) if depth else ():
                left = np.isin(self.codes[d][rows], list(codes))
                parts = [
                    (G[rows[side]].sum(), V[rows[side]].sum(), w[rows[side]].sum())
                    for side in (left, ~left)
                ]
                if (
                    min(p[2] for p in parts) < self.least
                    or min(p[1] for p in parts) < self.flattest
                ):
                    continue
                values = [self._value(*p[:2], low, high) for p in parts]
                gain = sum(self._fall(*p[:2], low, high) for p in parts) - self._fall(
                    *sums, low, high
                )
                if sign * (values[1] - values[0]) < 0 or gain < 1e-10:
                    continue
                if best is None or gain > best[0] * (1 + 1e-10):
                    best = (
                        gain,
                        d,
                        codes,
                        left,
                        values,
                        sign,
                        here,
                        parts[0][2] >= parts[1][2],
                    )
        if best is None:
            return node
        node.gain, node.column, codes, left, values, sign, here, most_left = best
        node.left = self._completed(codes, here, node.column, most_left)
        middle = sum(values) / 2
        ends = {
            0: [(low, high)] * 2,
            1: [(low, middle), (middle, high)],
            -1: [(middle, high), (low, middle)],
        }[sign]
        sides = zip((left, ~left), ends, strict=True)
        node.children = [
            self._node(rows[side], G, V, w, depth - 1, *end) for side, end in sides
        ]
        return node

    def _completed(self, codes, here, d, most_left):
        """With what the node has not seen: values below a cut, else where most of its
        rows go.
        """
        count = self.codes[d].max() + 1 if self.counts is None else self.counts[d]
        categories = self.kinds is not None and self.kinds[d]
        absent = (
            set(range(256)) - set(here.tolist())
            if categories
            else {count} - set(here.tolist())
        )
        return frozenset(codes - absent | (absent if most_left else set()))


def nested(tree, counts, place=0):
    """A compiled tree as nodes, by the numbers of codes of values."""
    if tree.column[place] < 0:
        return Node(value=tree.value[place], weight=tree.weight[place])
    below = [nested(tree, counts, tree.child[place] + side) for side in (0, 1)]
    bin = int(tree.bin[place])
    if bin < 0:
        left = set(
            np.flatnonzero(
                np.unpackbits(tree.sets[-1 - bin], bitorder="little")
            ).tolist()
        )
    else:
        left = set(range(bin + 1))
    column = int(tree.column[place])
    left |= {int(counts[column])} if tree.gaps_left[place] else set()
    return Node(
        tree.value[place],
        tree.weight[place],
        column,
        frozenset(left),
        tree.gain[place],
        children=below,
    )


def alike(one, other, rtol=1e-9):
    """Whether two trees have the same cuts and, within rounding, the same values."""
    assert (one.column, len(one.children)) == (other.column, len(other.children))
    assert one.left == other.left
    np.testing.assert_allclose(
        [one.value, one.weight], [other.value, other.weight], rtol=rtol, atol=1e-12
    )
    return all(
        alike(a, b, rtol) for a, b in zip(one.children, other.children, strict=True)
    )


def logit_loss(y, H, theta, w):
    """-sum w log P(y) of the cumulative logit, by differences of the distribution
    function.
    """
    ends = np.concatenate([[-np.inf], theta, [np.inf]])
    return -(w * np.log(expit(ends[y + 1] - H) - expit(ends[y] - H))).sum()


def logit_slopes(y, H, theta, w):
    """The same with first and second derivatives by H."""
    ends = np.concatenate([[-np.inf], theta, [np.inf]])
    a = expit(ends[y + 1] - H)
    b = expit(ends[y] - H)
    return logit_loss(y, H, theta, w), 1 - a - b, a * (1 - a) + b * (1 - b)


def logit_thresholds(y, H, theta, w):
    """First and second derivatives by the thresholds, row by row."""
    K = theta.size + 1
    G = np.zeros(K - 1)
    S = np.zeros((K - 1, K - 1))
    for n, k in enumerate(y):
        a = expit(theta[k] - H[n]) if k < K - 1 else 1.0
        b = expit(theta[k - 1] - H[n]) if k > 0 else 0.0
        da = a * (1 - a)
        db = b * (1 - b)
        p = a - b
        if k < K - 1:
            G[k] -= w[n] * da / p
            S[k, k] += w[n] * ((da / p) ** 2 - da * (1 - 2 * a) / p)
        if k > 0:
            G[k - 1] += w[n] * db / p
            S[k - 1, k - 1] += w[n] * ((db / p) ** 2 + db * (1 - 2 * b) / p)
        if 0 < k < K - 1:
            S[k - 1, k] -= w[n] * da * db / p**2
            S[k, k - 1] = S[k - 1, k]
    return G, S


def moved(theta, step):
    """theta - step, shorter so that no threshold moves by more than 1 and no gap loses
    more than half.
    """
    share = 1.0
    for k in range(theta.size):
        share = min(share, 1 / abs(step[k])) if step[k] else share
    for k in range(theta.size - 1):
        closing = step[k + 1] - step[k]
        if closing > 0:
            share = min(share, (theta[k + 1] - theta[k]) / 2 / closing)
    return theta - share * step


def boosted(codes, y, w, rounds, rate, grower, every=10):
    """Trees, scores, thresholds and losses of rounds on all rows and columns, by the
    likelihood of the logit.
    """
    n = w.sum()
    counts = np.bincount(y, w)
    below = (np.cumsum(counts)[:-1] + 0.25) / (n + 0.5)
    theta = np.log(below / (1 - below))
    H = np.zeros(y.size)
    trees = []
    losses = []
    for t in range(1, rounds + 1):
        loss, g, h = logit_slopes(y, H, theta, w)
        losses.append(loss / n)
        trees.append(grower.tree(np.arange(y.size), g, h, w))
        H += rate * np.array([trees[-1].at(codes[:, i]) for i in range(y.size)])
        if t % every == 0:
            G, S = logit_thresholds(y, H, theta, w)
            theta = moved(theta, np.linalg.solve(S + 1e-6 * np.eye(theta.size), G))
    losses.append(logit_loss(y, H, theta, w) / n)
    return trees, H, theta, losses


def binary(codes, y, w, rounds, rate, grower, every=10):
    """Logistic boosting of y in {0, 1} with an intercept b that Newton's method moves:
    P(y = 1) = expit(H + b).
    """
    share = ((w * (1 - y)).sum() + 0.25) / (w.sum() + 0.5)
    b = np.log((1 - share) / share)
    H = np.zeros(y.size)
    for t in range(1, rounds + 1):
        p = expit(H + b)
        tree = grower.tree(np.arange(y.size), p - y, p * (1 - p), w)
        H += rate * np.array([tree.at(codes[:, i]) for i in range(y.size)])
        if t % every == 0:
            p = expit(H + b)
            b -= np.clip((w * (p - y)).sum() / ((w * p * (1 - p)).sum() + 1e-6), -1, 1)
    return H, b
