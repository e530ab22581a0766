"""Classification trees: growing, pruning, and trees as weak learners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import lgamma, log
from typing import ClassVar

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..boosting.weak import Presorted, middle
from ..checks import number, one_of, whole
from ..compiled.trees import find_leaves, grow
from ..exceptions import DataError
from ..formula.sample import Rows, Sample, row_blocks
from ..reduction.learners import HypothesisClass, InRounds, Weak, WeakLearner, WeakTrainer

# Gains of cuts, and prices per leaf, closer than this share of the weights are ties, which go to the first.
_TIE = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class Tree:
    """M nodes of a tree, a child after its parent; a row goes left where x[column] <= cut.

    Attributes
    ----------
    column : (M,) int32
        -1 of a leaf.
    cut : (M,)
        0 of a leaf.
    child : (M,) int32
        The left child, which the right one follows; -1 of a leaf.
    parent : (M,) int32
        -1 of the root.
    values : (M, C)
        Weight of every class among the rows of a node.
    gains : (M,)
        By how much a cut lowers sum_c w_c log(w / w_c), half the deviance; 0 of a leaf.
    """

    column: AnyArray
    cut: FloatArray
    child: AnyArray
    parent: AnyArray
    values: FloatArray
    gains: FloatArray

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.column < 0))

    @property
    def labels(self) -> IntArray:
        """(M,) class with the largest weight; a tie goes to the class of the parent if it is tied, else to the lowest.

        If every tie went to the lower class, a tree and its mirror image would differ.
        """
        labels: IntArray = np.argmax(self.values, axis=1).astype(np.intp)
        largest = self.values.max(axis=1)
        for node in np.flatnonzero(np.count_nonzero(self.values == largest[:, None], axis=1) > 1):
            inherited = labels[self.parent[node]] if node else labels[0]
            if self.values[node, inherited] == largest[node]:
                labels[node] = inherited
        return labels

    @property
    def deviances(self) -> FloatArray:
        """(M,) -2 sum_c w_c log(w_c / w), zero for a node of one class."""
        return 2.0 * entropies(self.values)

    def importance(self, n_columns: int) -> FloatArray:
        """(D,) by how much the cuts of each column lower the deviance."""
        inner = self.column >= 0
        return np.bincount(self.column[inner], weights=2.0 * self.gains[inner], minlength=n_columns).astype(np.float64)

    def leaves(self, X: FloatArray) -> IntArray:
        """(N,) leaf of every row of X (N, D)."""
        return _leaves(X, np.zeros(1, dtype=np.int32), self.column, self.cut, self.child)[:, 0]

    def kept(self, leaf: AnyArray) -> Tree:
        """The tree in which the nodes where `leaf` (M,) is true are leaves, and those below them gone."""
        gone = np.zeros(self.column.size, dtype=np.bool_)
        for node in range(1, gone.size):
            gone[node] = gone[self.parent[node]] or leaf[self.parent[node]]
        place = np.cumsum(~gone) - 1
        cutless = (leaf | (self.column < 0))[~gone]
        child, parent = place[self.child[~gone]], place[self.parent[~gone]]
        return Tree(
            column=np.where(cutless, -1, self.column[~gone]).astype(np.int32),
            cut=np.where(cutless, 0.0, self.cut[~gone]),
            child=np.where(cutless, -1, child).astype(np.int32),
            parent=np.where(np.arange(parent.size) == 0, -1, parent).astype(np.int32),
            values=self.values[~gone],
            gains=np.where(cutless, 0.0, self.gains[~gone]),
        )


def entropies(values: FloatArray) -> FloatArray:
    """(M,) sum_c w_c log(w / w_c) of class weights (M, C)."""
    total = values.sum(axis=1, keepdims=True)
    share = np.divide(values, total, out=np.ones_like(values), where=values > 0.0)
    return np.asarray(-(values * np.log(share)).sum(axis=1) + 0.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Forest:
    """T trees of C classes with their nodes end to end.

    Attributes
    ----------
    roots : (T,) int32
        First node of each tree.
    column, cut, child : (M,)
        As in `Tree`, with nodes counted through.
    shares : (M, C)
        Share of every class in the weight of a node.
    labels : (M,)
    """

    roots: AnyArray
    column: AnyArray
    cut: FloatArray
    child: AnyArray
    shares: FloatArray
    labels: IntArray

    @classmethod
    def of(cls, trees: Sequence[Tree], n_classes: int) -> Forest:
        """The trees in their order; the sequence may be empty."""
        sizes = np.array([tree.column.size for tree in trees], dtype=np.int64)
        starts = np.cumsum(sizes) - sizes
        child = [np.where(tree.child < 0, -1, tree.child + s) for tree, s in zip(trees, starts, strict=True)]
        values = np.concatenate([np.zeros((0, n_classes)), *(tree.values for tree in trees)])
        return cls(
            roots=starts.astype(np.int32),
            column=_joined([tree.column for tree in trees]).astype(np.int32),
            cut=_joined([tree.cut for tree in trees]).astype(np.float64),
            child=_joined(child).astype(np.int32),
            shares=values / values.sum(axis=1, keepdims=True),
            labels=_joined([tree.labels for tree in trees]).astype(np.intp),
        )

    def leaves(self, X: FloatArray, trees: slice = slice(None)) -> IntArray:
        """(N, T') leaf of every row of X (N, D) in some of the trees."""
        return _leaves(X, np.ascontiguousarray(self.roots[trees]), self.column, self.cut, self.child)


def _leaves(X: FloatArray, roots: AnyArray, column: AnyArray, cut: FloatArray, child: AnyArray) -> IntArray:
    if column.max(initial=-1) >= X.shape[1]:
        raise DataError(f"a tree cuts column {column.max() + 1}, and the rows have {X.shape[1]}.")
    leaves = np.empty((len(X), roots.size), dtype=np.int32)
    find_leaves(np.ascontiguousarray(X), roots, column, cut, child, leaves)
    return leaves.astype(np.intp)


def _joined(parts: Sequence[AnyArray]) -> AnyArray:
    return np.concatenate([np.zeros(0), *parts])


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeSum(InRounds):
    """H(x) = sum_t weight_t (+1 where tree t says class 1, else -1).

    Attributes
    ----------
    trees : tuple of Tree
        Trees of two classes.
    """

    trees: tuple[Tree, ...]

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        forest, scores = Forest.of(self.trees, 2), np.zeros(rows.n)
        signs = np.where(forest.labels > 0, 1.0, -1.0)
        for block in row_blocks(rows.n, self.round_weights.size):
            leaves = forest.leaves(rows.X[block])
            # Tree by tree, so that a row's sum does not depend on the other rows.
            for t, round_weight in enumerate(self.round_weights):
                scores[block] += round_weight * signs[leaves[:, t]]
        return scores

    def importance(self, sample: Sample) -> FloatArray:
        """(D,) sizes of the trees' weights, each shared among the columns by how far their cuts lower its deviance."""
        sizes = np.zeros(sample.rows.X.shape[1])
        for tree, round_weight in zip(self.trees, np.abs(self.round_weights), strict=True):
            fall = tree.importance(sizes.size)
            sizes += round_weight * fall / (fall.sum() or 1.0)
        return sizes


@dataclass(frozen=True, eq=False)
class TreePanel:
    """P trees of the labels -1 and +1 side by side.

    Attributes
    ----------
    trees : tuple of Tree
    """

    trees: tuple[Tree, ...]
    probable: ClassVar[bool] = True

    def above(self, rows: Rows) -> FloatArray:
        """(N, P) share of the label +1 in the leaf of every row, one case of either label added (Laplace)."""
        counts = [tree.values[tree.leaves(rows.X)] for tree in self.trees]
        return np.column_stack([np.zeros((rows.n, 0)), *((c[:, 1] + 1.0) / (c.sum(axis=1) + 2.0) for c in counts)])

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, P) scores."""
        return self.above(rows) - 0.5


#: Measures (M,) of the nodes for pruning: the weight of the rows outside the largest class, or the deviance.
MEASURES: dict[str, Callable[[Tree], FloatArray]] = {
    "misclassification": lambda tree: np.asarray(tree.values.sum(axis=1) - tree.values.max(axis=1)),
    "deviance": lambda tree: tree.deviances,
}


def pruned(tree: Tree, measure: str, leaves: int) -> Tree:
    """The smallest tree of the cost-complexity sequence with at least so many leaves.

    The sequence takes away, again and again, the branches that lower the measure least for each of their leaves beyond
    the first, all equal ones at once; a size that it steps over gives the next larger one.

    Parameters
    ----------
    tree : Tree
    measure : str
        One of `MEASURES`, on the rows that the tree was grown on (resubstitution).
    leaves : int
    """
    sequence = _Sequence(tree, MEASURES[measure](tree))
    slack = _TIE * float(tree.values[0].sum())
    while sequence.count[0] > leaves:
        weakest = sequence.topmost(np.flatnonzero(sequence.price <= sequence.price.min() + slack))
        if sequence.count[0] - sum(sequence.count[node] - 1 for node in weakest) < leaves:
            break
        for node in weakest:
            sequence.collapse(node)
    return tree.kept(sequence.leaf)


class _Sequence:
    """A tree on its way down the cost-complexity sequence.

    Attributes
    ----------
    leaf : (M,)
        Whether a node is a leaf, or is gone.
    count : (M,)
        Leaves below a node.
    price : (M,)
        By how much a branch lowers the measure for each leaf beyond the first; infinite for leaves and what is gone.
    """

    def __init__(self, tree: Tree, at: FloatArray) -> None:
        self._parent, self._child, self._at = tree.parent.tolist(), tree.child.tolist(), at
        self.leaf: BoolArray = tree.column < 0
        self.count, self._below = np.ones(at.size, dtype=np.intp), at.copy()
        self.price = np.full(at.size, np.inf)
        for node in np.flatnonzero(~self.leaf)[::-1]:
            pair = slice(self._child[node], self._child[node] + 2)
            self.count[node], self._below[node] = self.count[pair].sum(), self._below[pair].sum()
            self._set_price(node)

    def topmost(self, nodes: Sequence[int] | IntArray) -> list[int]:
        """Those of the nodes, growing, that are not below another of them."""
        chosen: set[int] = set()
        for node in map(int, nodes):
            above = self._parent[node]
            while above >= 0 and above not in chosen:
                above = self._parent[above]
            if above < 0:
                chosen.add(node)
        return sorted(chosen)

    def collapse(self, node: int) -> None:
        """Make a branch a leaf."""
        fewer, more = self.count[node] - 1, self._at[node] - self._below[node]
        self._forget(node)
        while node >= 0:
            self.count[node] -= fewer
            self._below[node] += more
            if not self.leaf[node]:
                self._set_price(node)
            node = self._parent[node]

    def _forget(self, node: int) -> None:
        pending = [node]
        while pending:
            node = pending.pop()
            if not self.leaf[node]:
                pending += [self._child[node], self._child[node] + 1]
            self.leaf[node], self.price[node] = True, np.inf

    def _set_price(self, node: int) -> None:
        self.price[node] = (self._at[node] - self._below[node]) / (self.count[node] - 1)


@dataclass(frozen=True)
class DecisionTree(WeakLearner):
    """A classification tree by the deviance [Breiman et al. 1984; Clark & Pregibon 1992].

    Without pruning the leaf whose best cut lowers the deviance -2 sum_c w_c log(w_c / w) most is split first, until
    there are enough leaves: the tree that scikit-learn grows with criterion="log_loss" and max_leaf_nodes. With pruning
    it grows until its leaves are pure, and goes back along the cost-complexity sequence to the smallest tree with at
    least so many leaves: R's prune.misclass(tree, best=leaves), the trees of Tutz & Hechenbichler (2003).

    Parameters
    ----------
    leaves : int
        At least 2.
    prune : {None, "misclassification", "deviance"}
        What a pruned branch is measured by, on the rows it was grown on.
    max_depth : int or None
        Cuts on a path at most.
    min_weight : float
        Case weight of a leaf at least.

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> from ordstat import DecisionTree, ORBoost
    >>> ORBoost(learner=DecisionTree(leaves=4))
    ORBoost(learner=DecisionTree(leaves=4, prune=None, max_depth=None, min_weight=0.0))
    """

    leaves: int = 5
    prune: str | None = None
    max_depth: int | None = None
    min_weight: float = 0.0

    def __post_init__(self) -> None:
        whole("leaves", self.leaves, 2, of="a tree")
        if self.max_depth is not None:
            whole("max_depth", self.max_depth, 1, 2**53, of="a tree", also=", or None")
        one_of("prune", self.prune, (None, *MEASURES), of="a tree")
        number("min_weight", self.min_weight, least=0.0, of="a tree")

    def on(self, X: FloatArray, case_weights: FloatArray) -> TreeTrainer:
        return TreeTrainer.of(self, X)


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeTrainer(WeakTrainer):
    """The trainer of a tree, for the rows X (N, D).

    Attributes
    ----------
    settings : DecisionTree
    X : (N, D)
    order : (D, N) int32
        Rows in the order of each column.
    ranks : (D, N) int32
        Place of each row's value among the different values of the column.
    """

    settings: DecisionTree
    order: AnyArray
    ranks: AnyArray

    @classmethod
    def of(cls, settings: DecisionTree, X: FloatArray) -> TreeTrainer:
        """The rows with their columns sorted once for all trees."""
        presorted = Presorted.of(X)
        rising = np.cumsum(presorted.distinct, axis=1, dtype=np.int32)
        ranks = np.zeros(presorted.order.shape, dtype=np.int32)
        np.put_along_axis(ranks, presorted.order[:, 1:].astype(np.intp), rising, axis=1)
        return cls(settings=settings, X=X, order=presorted.order, ranks=ranks)

    def grow(self, classes: IntArray, weights: FloatArray, n_classes: int) -> Tree:
        """The tree of classes (N,) 0..C-1 under weights (N,) >= 0, not all of them 0; without Python's lock."""
        s = self.settings
        leaves = s.leaves if s.prune is None else int(np.count_nonzero(weights))
        size = 2 * max(min(leaves, self.n), 1) - 1
        column, child, parent = (np.empty(size, dtype=np.int32) for _ in range(3))
        ends, values, gains = np.empty((size, 2), dtype=np.int32), np.empty((size, n_classes)), np.empty(size)
        made = grow(
            self.order,
            self.ranks,
            np.ascontiguousarray(classes, dtype=np.int32),
            np.ascontiguousarray(weights, dtype=np.float64),
            (size + 1) // 2,
            -1 if s.max_depth is None else min(s.max_depth, self.n),
            s.min_weight,
            _TIE,
            column,
            ends,
            child,
            parent,
            values,
            gains,
        )
        kept = slice(made)
        tree = Tree(
            column=column[kept],
            cut=self._cuts(column[kept], ends[kept]),
            child=child[kept],
            parent=parent[kept],
            values=values[kept],
            gains=gains[kept],
        )
        return tree if s.prune is None else pruned(tree, s.prune, s.leaves)

    def _cuts(self, column: AnyArray, ends: AnyArray) -> FloatArray:
        """(M,) half way between the rows at the ends of a cut, where rounding leaves it between them."""
        cuts, inner = np.zeros(column.size), column >= 0
        cuts[inner] = middle(*(self.X[rows, column[inner]] for rows in ends[inner].T))
        return cuts

    def best(self, u: FloatArray, rng: np.random.Generator) -> Weak:
        size = np.abs(u)
        # So that the weight of a leaf is counted in rows.
        weights = size * (self.n / (size.sum() or 1.0))
        if not weights.any():
            weights = np.ones(self.n)
        tree = self.grow((u > 0).astype(np.intp), weights, 2)
        return Weak(tree, TreeSum(trees=(tree,), round_weights=np.ones(1))(Rows(X=self.X)))

    def combine(self, members: Sequence[Tree], round_weights: FloatArray) -> TreeSum:
        return TreeSum(trees=tuple(members), round_weights=np.asarray(round_weights))

    def richness(self) -> HypothesisClass:
        """Shapes of a tree, times the cuts of every inner node, times two answers of every leaf, bound their number."""
        s = self.settings
        leaves = min(s.leaves, self.n) if s.prune is None else self.n
        cuts = max(int(self.ranks.max(axis=1, initial=0).sum()), 1)
        shapes = lgamma(2 * leaves - 1) - lgamma(leaves) - lgamma(leaves + 1)
        size = min(shapes + (leaves - 1) * log(cuts) + leaves * log(2.0), self.n * log(2.0))
        return HypothesisClass(log_size=float(size))
