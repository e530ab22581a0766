"""C4.5 decision trees and their error-based pruning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import exp, log, sqrt

import numpy as np

from .._typing import FloatArray, IntArray
from ..advice import with_option_hints
from ..checks import number
from ..fit import Certificate
from ..formula.sample import Rows
from ..reduction.learners import Binary, BinaryLearner, Learned
from .tree import Tree, TreePanel

#: Upper tails of the normal distribution and their points. C4.5 interpolates linearly
#: between these.
_TAILS = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
_POINTS = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)
# A simpler tree is preferred if it promises at most this many more errors.
_TOLERATED = 0.1


def extra_errors(weight: float, errors: float, confidence: float) -> float:
    """Upper confidence limit of the errors of a leaf, minus the observed errors.

    Without errors the limit is exact, weight (1 - confidence^(1/weight)). From one
    error on it is Wilson's limit with a continuity correction of 1/2. In between it is
    interpolated.

    Examples
    --------
    >>> round(extra_errors(6.0, 0.0, 0.25) / 6.0, 3)
    0.206
    >>> round((1.0 + extra_errors(16.0, 1.0, 0.25)) / 16.0, 3)
    0.157
    """
    none = weight * (1.0 - exp(log(confidence) / weight))
    if errors < 1e-6:
        return none
    if errors < 0.9999:
        return none + errors * (_wilson(weight, 1.0, confidence) - none)
    return _wilson(weight, errors, confidence)


def _wilson(weight: float, errors: float, confidence: float) -> float:
    if errors + 0.5 >= weight:
        return max(0.67 * (weight - errors), 0.0)
    square = float(np.interp(confidence, _TAILS, _POINTS)) ** 2
    half = errors + 0.5
    root = sqrt(square * (half * (1.0 - half / weight) + square / 4.0))
    return weight * (half + square / 2.0 + root) / (weight + square) - errors


@dataclass(eq=False, kw_only=True)
class Pruner:
    """A fully grown tree and the arrays that pruning changes in place.

    Attributes
    ----------
    X : (N, D)
    label : (N,) 1 or 0
    w : (N,)
    column, cut : (M,) as in `Tree`, parents before children
    left, right : (M,) children for x[column] <= cut and above
    positive, negative : (M,) weight of the rows of each label
    items : list of (n,) rows of each node
    confidence : float
    """

    X: FloatArray
    label: IntArray
    w: FloatArray
    column: IntArray
    cut: FloatArray
    left: IntArray
    right: IntArray
    positive: FloatArray
    negative: FloatArray
    items: list[IntArray]
    confidence: float
    promised: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.promised = np.zeros(len(self.column))

    def pruned(self) -> Tree:
        """Prune, and return the remaining tree."""
        nodes = list(range(len(self.column) - 1, -1, -1))
        self._collapse(nodes)
        for node in nodes:
            self.promised[node] = self._leaf_errors(
                self.positive[node], self.negative[node]
            )
        # Nodes are taken from the end of the list, so children come before their
        # parents.
        pending = self._inside(0)
        while pending:
            pending.extend(self._settle(pending.pop()))
        return self._compact()

    def _collapse(self, nodes: list[int]) -> None:
        """Replace subtrees that do not reduce the training errors by leaves."""
        errors = np.minimum(self.positive, self.negative)
        for node in nodes:
            if self.column[node] < 0:
                continue
            below = errors[self.left[node]] + errors[self.right[node]]
            if below >= errors[node] - 1e-9 * (
                self.positive[node] + self.negative[node]
            ):
                self.column[node] = -1
            else:
                errors[node] = below

    def _leaf_errors(self, positive: float, negative: float) -> float:
        weight = float(positive + negative)
        errors = float(min(positive, negative))
        return errors + extra_errors(weight, errors, self.confidence)

    def _inside(self, root: int) -> list[int]:
        """Inner nodes of a subtree, parents first."""
        inner = []
        pending = [root]
        while pending:
            node = pending.pop()
            if self.column[node] >= 0:
                inner.append(node)
                pending += [int(self.left[node]), int(self.right[node])]
        return inner

    def _settle(self, node: int) -> list[int]:
        """Keep a node, make it a leaf, or replace it by its larger branch; return the
        nodes to look at again.
        """
        left = int(self.left[node])
        right = int(self.right[node])
        tree = self.promised[left] + self.promised[right]
        leaf = self._leaf_errors(self.positive[node], self.negative[node])
        on_left = (
            self.positive[left] + self.negative[left]
            >= self.positive[right] + self.negative[right]
        )
        branch, other = (left, right) if on_left else (right, left)
        changed = list(self._joined(branch, self.items[other]))
        raised = self.promised[branch] + sum(
            self._leaf_errors(p, n) - self.promised[at]
            for at, _, p, n in changed
            if self.column[at] < 0
        )
        if leaf <= min(tree, raised) + _TOLERATED:
            self.column[node] = -1
            self.promised[node] = leaf
            return []
        if raised <= tree + _TOLERATED:
            return self._raise(node, branch, changed)
        self.promised[node] = tree
        return []

    def _joined(
        self, root: int, rows: IntArray
    ) -> Iterator[tuple[int, IntArray, float, float]]:
        """Nodes of a subtree that additional rows would reach, with these rows and the
        new weights of both labels.
        """
        pending = [(root, rows)]
        while pending:
            node, some = pending.pop()
            signs = self.label[some] > 0
            p = float(self.w[some[signs]].sum())
            n = float(self.w[some[~signs]].sum())
            yield (
                node,
                some,
                float(self.positive[node]) + p,
                float(self.negative[node]) + n,
            )
            if self.column[node] >= 0:
                below = self.X[some, self.column[node]] <= self.cut[node]
                children = (
                    (int(self.left[node]), some[below]),
                    (int(self.right[node]), some[~below]),
                )
                pending += [(child, part) for child, part in children if part.size]

    def _raise(
        self, node: int, branch: int, changed: list[tuple[int, IntArray, float, float]]
    ) -> list[int]:
        """Replace a node by one of its branches, which gets all rows of the node."""
        for at, rows, positive, negative in changed:
            self.items[at] = np.concatenate([self.items[at], rows])
            self.positive[at], self.negative[at] = positive, negative
            self.promised[at] = self._leaf_errors(positive, negative)
        for values in (self.column, self.cut, self.left, self.right):
            values[node] = values[branch]
        self.promised[node] = self._leaf_errors(
            self.positive[node], self.negative[node]
        )
        return self._inside(node)

    def _compact(self) -> Tree:
        """The remaining nodes, parents before children, left before right."""
        kept = [0]
        parents = [-1]
        children = []
        for place, node in enumerate(kept):
            inner = bool(self.column[node] >= 0)
            children.append(len(kept) if inner else -1)
            kept += [int(self.left[node]), int(self.right[node])] if inner else []
            parents += [place, place] if inner else []
        column = self.column[kept].astype(np.int32)
        return Tree(
            column=column,
            cut=np.where(column >= 0, self.cut[kept], 0.0),
            child=np.array(children, dtype=np.int32),
            parent=np.array(parents, dtype=np.int32),
            values=np.stack([self.negative[kept], self.positive[kept]], axis=1),
            gains=np.zeros(len(kept)),
        )


@with_option_hints
@dataclass(frozen=True, kw_only=True)
class C45(BinaryLearner):
    """C4.5: a decision tree by gain ratio, with error-based pruning [Quinlan 1993].

    Each node is cut on the column with the largest gain ratio among the columns whose
    information gain is at least the average. The cut is the largest training value at
    or below the middle of the gap. Each side of a cut must weigh at least `min_cases`,
    and at least 5% of the node or 25, whichever is less.

    Pruning replaces a subtree by a leaf, or by its larger branch, if an upper
    confidence limit of its errors does not rise. Gains follow the book (release 7),
    without the correction of release 8. A weight of 2 counts as two cases, so larger
    weights or costs prune less.

    Parameters
    ----------
    confidence : float in (0, 0.5]
        CF in the book: the limit has level 1 - `confidence`. Smaller values prune more.
    min_cases : float
        Smallest weight of each side of a cut, > 0.

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> X = np.arange(8.0)[:, None]
    >>> z = np.where(X[:, 0] > 3, 1.0, -1.0)
    >>> tree = C45().fit(X, z, np.ones(8), np.random.default_rng(0)).scorer.trees[0]
    >>> tree.cut[0], tree.values[1:].tolist()
    (np.float64(3.0), [[4.0, 0.0], [0.0, 4.0]])
    """

    confidence: float = 0.25
    min_cases: float = 2.0

    def __post_init__(self) -> None:
        number("confidence", self.confidence, above=0.0, most=0.5, of=self)
        number("min_cases", self.min_cases, above=0.0, of=self)

    def on(self, X: FloatArray, case_weights: FloatArray) -> C45Trainer:
        return C45Trainer(settings=self, X=X)


@dataclass(frozen=True, eq=False, kw_only=True)
class C45Trainer:
    """Grows C4.5 trees on the rows X (N, D)."""

    settings: C45
    X: FloatArray

    def fit(self, problems: Sequence[Binary], rng: np.random.Generator) -> Learned:
        """Grow one tree for each problem."""
        trees = tuple(self.tree(problem) for problem in problems)
        scorer = TreePanel(trees)
        leaves = [tree.n_leaves for tree in trees]
        return Learned(
            scorer=scorer,
            scores=scorer(Rows(X=self.X)),
            certificate=Certificate(
                name="trees not grown", value=0.0, tolerance=0.0, steps="trees grown"
            ),
            iterations=len(problems),
            facts=(("Leaves", ", ".join(str(n) for n in leaves)),),
        )

    def tree(self, problem: Binary) -> Tree:
        """The pruned tree of one problem."""
        if problem.one_sided:
            return _constant(problem)
        X = self.X[problem.index]
        label = problem.labels > 0
        w = problem.weights
        return _grown(X, label.astype(np.uint8), w, self.settings).pruned()


def _constant(problem: Binary) -> Tree:
    """The tree of a problem whose rows all have one label."""
    none = np.full(1, -1, dtype=np.int32)
    values = np.zeros((1, 2))
    values[0, int(problem.side > 0)] = problem.weights.sum()
    return Tree(
        column=none,
        cut=np.zeros(1),
        child=none,
        parent=none,
        values=values,
        gains=np.zeros(1),
    )


def _grown(X: FloatArray, label: FloatArray, w: FloatArray, settings: C45) -> Pruner:
    from ..compiled.trees import grow_c45

    n, d = X.shape
    columns = np.ascontiguousarray(X.T)
    # One column after another, so that Ctrl-C need not wait for all.
    order = np.array(
        [np.argsort(x, kind="stable") for x in columns], dtype=np.int32
    ).reshape(columns.shape)
    if d == 0:
        order = np.arange(n, dtype=np.int32)[None, :]
        columns = np.zeros((1, n))
    ascending = np.take_along_axis(columns, order, axis=1)
    size = 2 * n - 1
    column, left, right, start, stop = np.zeros((5, size), dtype=np.int32)
    low, high, positive, negative = np.zeros((4, size))
    gains = np.zeros(len(order))
    splits = np.zeros(len(order))
    places = np.zeros(len(order), dtype=np.int64)
    label = np.ascontiguousarray(label)
    weights = np.ascontiguousarray(w, dtype=np.float64)
    made = grow_c45(
        columns, order, label, weights, settings.min_cases,
        column, low, high, left, right, start, stop, positive, negative,
        np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.uint8), gains, splits, places,
    )  # fmt: skip
    rows = order[0].astype(np.intp)
    return Pruner(
        X=X,
        label=label.astype(np.intp),
        w=w,
        column=column[:made].astype(np.intp),
        cut=_cuts(ascending, column[:made], low[:made], high[:made]),
        left=left[:made].astype(np.intp),
        right=right[:made].astype(np.intp),
        positive=positive[:made].copy(),
        negative=negative[:made].copy(),
        items=[
            rows[a:b]
            for a, b in zip(start[:made].tolist(), stop[:made].tolist(), strict=True)
        ],
        confidence=settings.confidence,
    )


def _cuts(
    ascending: FloatArray, column: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """(M,) cuts: the largest value of a column (D, N), sorted, at or below the middle
    of each gap.
    """
    middle = low + (high - low) / 2.0
    # Two neighbouring floating-point numbers have no middle.
    middle = np.where(middle < high, middle, low)
    cuts = np.full(column.size, np.nan)
    for d in np.unique(column[column >= 0]):
        at = column == d
        cuts[at] = ascending[
            d, np.searchsorted(ascending[d], middle[at], side="right") - 1
        ]
    return cuts
