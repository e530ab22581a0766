"""Classification trees: growing, pruning, and use as weak learners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import lgamma, log
from typing import ClassVar

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..advice import with_option_hints
from ..boosting.learner import HypothesisClass, WeakHypothesis, WeakLearner, WeakTrainer
from ..boosting.sums import InRounds
from ..boosting.weak import Presorted, middle
from ..checks import number, one_of, whole
from ..compiled.trees import find_leaves, grow
from ..exceptions import DataError
from ..formula.row_blocks import row_blocks
from ..formula.sample import Rows, Sample

# Gains and prices that differ by less than this share of the weights are ties; the
# first wins.
_GAIN_TIE = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class Tree:
    """A tree of M nodes, parents before children; a row goes left if x[column] <= cut.

    Attributes
    ----------
    column : (M,) int32
        -1 for a leaf.
    cut : (M,)
        0 for a leaf.
    child : (M,) int32
        The left child; the right child follows it. -1 for a leaf.
    parent : (M,) int32
        -1 for the root.
    values : (M, C)
        Weight of each class in a node.
    gains : (M,)
        Reduction of sum_c w_c log(w / w_c), half the deviance, by the cut; 0 for a
        leaf.
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
        """(M,) class with the largest weight; ties go to the class of the parent if
        possible, else to the lowest.

        If all ties went to the lower class, a tree and its mirror image would differ.
        """
        labels: IntArray = np.argmax(self.values, axis=1).astype(np.intp)
        largest = self.values.max(axis=1)
        for node in np.flatnonzero(
            np.count_nonzero(self.values == largest[:, None], axis=1) > 1
        ):
            inherited = labels[self.parent[node]] if node else labels[0]
            if self.values[node, inherited] == largest[node]:
                labels[node] = inherited
        return labels

    @property
    def deviances(self) -> FloatArray:
        """(M,) -2 sum_c w_c log(w_c / w), zero for a node of one class."""
        return 2.0 * entropies(self.values)

    def importance(self, n_columns: int) -> FloatArray:
        """(D,) reduction of the deviance by the cuts on each column."""
        inner = self.column >= 0
        return np.bincount(
            self.column[inner], weights=2.0 * self.gains[inner], minlength=n_columns
        ).astype(np.float64)

    def leaves(self, X: FloatArray) -> IntArray:
        """(N,) leaf of each row of X (N, D)."""
        return _leaves(
            X, np.zeros(1, dtype=np.int32), self.column, self.cut, self.child
        )[:, 0]

    def kept(self, leaf: AnyArray) -> Tree:
        """The tree after nodes with true `leaf` (M,) become leaves, without the nodes
        below them.
        """
        gone = np.zeros(self.column.size, dtype=np.bool_)
        for node in range(1, gone.size):
            gone[node] = gone[self.parent[node]] or leaf[self.parent[node]]
        place = np.cumsum(~gone) - 1
        cutless = (leaf | (self.column < 0))[~gone]
        child = place[self.child[~gone]]
        parent = place[self.parent[~gone]]
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
    """T trees of C classes in joint arrays.

    Attributes
    ----------
    roots : (T,) int32
        First node of each tree.
    column, cut, child : (M,)
        As in `Tree`, with places in the joint arrays.
    shares : (M, C)
        Share of each class in a node.
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
        """Join trees; there may be none."""
        sizes = np.array([tree.column.size for tree in trees], dtype=np.int64)
        starts = np.cumsum(sizes) - sizes
        child = [
            np.where(tree.child < 0, -1, tree.child + s)
            for tree, s in zip(trees, starts, strict=True)
        ]
        values = np.concatenate(
            [np.zeros((0, n_classes)), *(tree.values for tree in trees)]
        )
        return cls(
            roots=starts.astype(np.int32),
            column=_joined([tree.column for tree in trees]).astype(np.int32),
            cut=_joined([tree.cut for tree in trees]).astype(np.float64),
            child=_joined(child).astype(np.int32),
            shares=values / values.sum(axis=1, keepdims=True),
            labels=_joined([tree.labels for tree in trees]).astype(np.intp),
        )

    def leaves(self, X: FloatArray, trees: slice = slice(None)) -> IntArray:
        """(N, T') leaf of each row of X (N, D) in some of the trees."""
        return _leaves(
            X,
            np.ascontiguousarray(self.roots[trees]),
            self.column,
            self.cut,
            self.child,
        )


def _leaves(
    X: FloatArray, roots: AnyArray, column: AnyArray, cut: FloatArray, child: AnyArray
) -> IntArray:
    if column.max(initial=-1) >= X.shape[1]:
        raise DataError(
            f"X must have the columns of the trees, at least {column.max() + 1}; got"
            f" {X.shape[1]}."
        )
    leaves = np.empty((len(X), roots.size), dtype=np.int32)
    find_leaves(np.ascontiguousarray(X), roots, column, cut, child, leaves)
    return leaves.astype(np.intp)


def _joined(parts: Sequence[AnyArray]) -> AnyArray:
    return np.concatenate([np.zeros(0), *parts])


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeSum(InRounds):
    """H(x) = sum_t weight_t h_t(x), with h_t = +1 if tree t predicts class 1, else -1.

    Attributes
    ----------
    trees : tuple of Tree
        Trees of two classes.
    """

    trees: tuple[Tree, ...]

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        forest = Forest.of(self.trees, 2)
        scores = np.zeros(rows.n)
        signs = np.where(forest.labels > 0, 1.0, -1.0)
        for block in row_blocks(rows.n, self.round_weights.size):
            leaves = forest.leaves(rows.X[block])
            # Tree by tree, so that the sum of a row does not depend on other rows.
            for t, round_weight in enumerate(self.round_weights):
                scores[block] += round_weight * signs[leaves[:, t]]
        return scores

    def importance(self, sample: Sample) -> FloatArray:
        """(D,) |weights| of the trees, each shared among the columns by the reduction
        of the deviance.
        """
        sizes = np.zeros(sample.rows.X.shape[1])
        for tree, round_weight in zip(
            self.trees, np.abs(self.round_weights), strict=True
        ):
            fall = tree.importance(sizes.size)
            sizes += round_weight * fall / (fall.sum() or 1.0)
        return sizes


@dataclass(frozen=True, eq=False)
class TreePanel:
    """P trees, one for each binary problem.

    Attributes
    ----------
    trees : tuple of Tree
    """

    trees: tuple[Tree, ...]
    probable: ClassVar[bool] = True

    def above(self, rows: Rows) -> FloatArray:
        """(N, P) share of the label +1 in the leaf, with one case of each label added
        (Laplace).
        """
        counts = [tree.values[tree.leaves(rows.X)] for tree in self.trees]
        return np.column_stack(
            [
                np.zeros((rows.n, 0)),
                *((c[:, 1] + 1.0) / (c.sum(axis=1) + 2.0) for c in counts),
            ]
        )

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, P) scores."""
        return self.above(rows) - 0.5


#: Measures (M,) for pruning: the weight of misclassified rows, or the deviance.
MEASURES: dict[str, Callable[[Tree], FloatArray]] = {
    "misclassification": lambda tree: np.asarray(
        tree.values.sum(axis=1) - tree.values.max(axis=1)
    ),
    "deviance": lambda tree: tree.deviances,
}


def pruned(tree: Tree, measure: str, leaves: int) -> Tree:
    """The smallest tree in the cost-complexity sequence with at least `leaves` leaves.

    The sequence repeatedly removes the branches with the smallest reduction of the
    measure per additional leaf, all ties at once.

    Parameters
    ----------
    tree : Tree
    measure : str
        One of `MEASURES`, on the training rows (resubstitution).
    leaves : int
    """
    sequence = _Sequence(tree, MEASURES[measure](tree))
    slack = _GAIN_TIE * float(tree.values[0].sum())
    while sequence.count[0] > leaves:
        weakest = sequence.topmost(
            np.flatnonzero(sequence.price <= sequence.price.min() + slack)
        )
        if (
            sequence.count[0] - sum(sequence.count[node] - 1 for node in weakest)
            < leaves
        ):
            break
        for node in weakest:
            sequence.collapse(node)
    return tree.kept(sequence.leaf)


class _Sequence:
    """A tree in the cost-complexity sequence.

    Attributes
    ----------
    leaf : (M,)
        Whether a node is a leaf, or removed.
    count : (M,)
        Number of leaves below a node.
    price : (M,)
        Reduction of the measure per additional leaf; infinite for leaves and removed
        nodes.
    """

    def __init__(self, tree: Tree, at: FloatArray) -> None:
        self._parent = tree.parent.tolist()
        self._child = tree.child.tolist()
        self._at = at
        self.leaf: BoolArray = tree.column < 0
        self.count = np.ones(at.size, dtype=np.intp)
        # measure of the leaves below a node
        self._below = at.copy()
        self.price = np.full(at.size, np.inf)
        for node in np.flatnonzero(~self.leaf)[::-1]:
            pair = slice(self._child[node], self._child[node] + 2)
            self.count[node] = self.count[pair].sum()
            self._below[node] = self._below[pair].sum()
            self._set_price(node)

    def topmost(self, nodes: Sequence[int] | IntArray) -> list[int]:
        """The given nodes that are not below another of them."""
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
        fewer = self.count[node] - 1
        more = self._at[node] - self._below[node]
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


@with_option_hints
@dataclass(frozen=True)
class DecisionTree(WeakLearner):
    """A classification tree by the deviance [Breiman et al. 1984; Clark & Pregibon
    1992].

    Without pruning, the leaf whose best cut most reduces the deviance -2 sum_c w_c
    log(w_c / w) is split next, until there are enough leaves. scikit-learn does so with
    criterion="log_loss" and max_leaf_nodes. With pruning, the tree grows until its
    leaves are pure. It is then cut back along the cost-complexity sequence to the
    smallest tree with at least `leaves` leaves, as R's prune.misclass(tree,
    best=leaves) does [Tutz & Hechenbichler 2003].

    Parameters
    ----------
    leaves : int
        Number of leaves, at least 2.
    prune : {None, "misclassification", "deviance"}
        Measure for pruning, on the training rows.
    max_depth : int or None
        Largest number of cuts on a path.
    min_weight : float
        Smallest case weight of a leaf.

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
        Rows sorted by each column.
    ranks : (D, N) int32
        Rank of each value among the distinct values of the column.
    """

    settings: DecisionTree
    order: AnyArray
    ranks: AnyArray

    @classmethod
    def of(cls, settings: DecisionTree, X: FloatArray) -> TreeTrainer:
        """Sort the columns once for all trees."""
        presorted = Presorted.of(X)
        rising = np.cumsum(presorted.distinct, axis=1, dtype=np.int32)
        ranks = np.zeros(presorted.order.shape, dtype=np.int32)
        np.put_along_axis(ranks, presorted.order[:, 1:].astype(np.intp), rising, axis=1)
        return cls(settings=settings, X=X, order=presorted.order, ranks=ranks)

    def grow(self, classes: IntArray, weights: FloatArray, n_classes: int) -> Tree:
        """Grow a tree of classes (N,) 0..C-1 with weights (N,) >= 0, not all 0;
        releases the GIL.
        """
        s = self.settings
        leaves = s.leaves if s.prune is None else int(np.count_nonzero(weights))
        size = 2 * max(min(leaves, self.n), 1) - 1
        column, child, parent = (np.empty(size, dtype=np.int32) for _ in range(3))
        ends = np.empty((size, 2), dtype=np.int32)
        values = np.empty((size, n_classes))
        gains = np.empty(size)
        made = grow(
            self.order,
            self.ranks,
            np.ascontiguousarray(classes, dtype=np.int32),
            np.ascontiguousarray(weights, dtype=np.float64),
            (size + 1) // 2,
            -1 if s.max_depth is None else min(s.max_depth, self.n),
            s.min_weight,
            _GAIN_TIE,
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
        """(M,) cuts half way between the neighbouring values."""
        cuts = np.zeros(column.size)
        inner = column >= 0
        cuts[inner] = middle(*(self.X[rows, column[inner]] for rows in ends[inner].T))
        return cuts

    def best(self, u: FloatArray, rng: np.random.Generator) -> WeakHypothesis:
        size = np.abs(u)
        # Scale the weights, so that the weight of a leaf counts rows.
        weights = size * (self.n / (size.sum() or 1.0))
        if not weights.any():
            weights = np.ones(self.n)
        tree = self.grow((u > 0).astype(np.intp), weights, 2)
        return WeakHypothesis(
            tree, TreeSum(trees=(tree,), round_weights=np.ones(1))(Rows(X=self.X))
        )

    def combine(self, members: Sequence[Tree], round_weights: FloatArray) -> TreeSum:
        return TreeSum(trees=tuple(members), round_weights=np.asarray(round_weights))

    def richness(self) -> HypothesisClass:
        """Bound the number of trees by shapes, times cuts of inner nodes, times two
        answers of each leaf.
        """
        s = self.settings
        leaves = min(s.leaves, self.n) if s.prune is None else self.n
        cuts = max(int(self.ranks.max(axis=1, initial=0).sum()), 1)
        shapes = lgamma(2 * leaves - 1) - lgamma(leaves) - lgamma(leaves + 1)
        size = min(
            shapes + (leaves - 1) * log(cuts) + leaves * log(2.0), self.n * log(2.0)
        )
        return HypothesisClass(log_size=float(size))
