"""A tree as arrays, and its pruning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..compiled.trees import find_leaves
from ..exceptions import DataError
from ..formula.sample import Rows, Sample, row_blocks
from ..reduction.members import InRounds


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
        """(M,) class with the largest weight; a tie goes to the class of the parent if that is in it, else the lowest.

        A tie that were always decided for the lower class would make a tree and its mirror image differ.
        """
        found: IntArray = np.argmax(self.values, axis=1).astype(np.intp)
        largest = self.values.max(axis=1)
        for node in np.flatnonzero(np.count_nonzero(self.values == largest[:, None], axis=1) > 1):
            inherited = found[self.parent[node]] if node else found[0]
            if self.values[node, inherited] == largest[node]:
                found[node] = inherited
        return found

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

    def text(self, names: tuple[str, ...]) -> str:
        """A tree of the labels -1 and +1 in indented lines: each leaf's answer, its weight, that of the other label."""
        lines: list[str] = []
        pending = [(0, "", "")]
        while pending:
            node, indent, test = pending.pop()
            if self.column[node] < 0:
                n, p = self.values[node].tolist()
                lines.append(f"{indent}{test}{'+' if p > n else '-'} ({p + n:g}/{min(p, n):g})".lstrip(" "))
                continue
            if test:
                lines.append(f"{indent}{test.rstrip(': ')}")
                indent += "|   "
            name, cut, left = names[self.column[node]], f"{self.cut[node]:g}", int(self.child[node])
            pending.append((left + 1, indent, f"{name} > {cut}: "))
            pending.append((left, indent, f"{name} <= {cut}: "))
        return "\n".join(lines)

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
        """The trees in their order; there may be none."""
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
    found = np.empty((len(X), roots.size), dtype=np.int32)
    find_leaves(np.ascontiguousarray(X), roots, column, cut, child, found)
    return found.astype(np.intp)


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

    by_round = ("trees",)

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        return self.at(rows.X)

    def at(self, X: FloatArray) -> FloatArray:
        """(N,) scores of rows X (N, D)."""
        forest, scores = Forest.of(self.trees, 2), np.zeros(len(X))
        signs = np.where(forest.labels > 0, 1.0, -1.0)
        for some in row_blocks(len(X), self.round_weights.size):
            leaves = forest.leaves(X[some])
            # One tree after another: a row's sum is the same among many rows and alone.
            for t, round_weight in enumerate(self.round_weights):
                scores[some] += round_weight * signs[leaves[:, t]]
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
        shares = ((tree.values[:, 1] + 1.0) / (tree.values.sum(axis=1) + 2.0) for tree in self.trees)
        found = (share[tree.leaves(rows.X)] for share, tree in zip(shares, self.trees, strict=True))
        return np.column_stack([np.zeros((rows.n, 0)), *found])

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, P) scores."""
        return self.above(rows) - 0.5


# Prices per leaf closer than this share are one.
_TIE = 1e-12


def misclassified(tree: Tree) -> FloatArray:
    """(M,) weight of the rows of a node that are of another class than the largest."""
    return np.asarray(tree.values.sum(axis=1) - tree.values.max(axis=1))


def deviance(tree: Tree) -> FloatArray:
    """(M,) deviance of a node."""
    return tree.deviances


#: What pruning may measure a node by.
MEASURES: dict[str, Callable[[Tree], FloatArray]] = {"misclassification": misclassified, "deviance": deviance}


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
        Whether a node is a leaf, or was one before it went.
    count : (M,)
        Leaves below a node.
    price : (M,)
        What a branch lowers the measure by, a leaf beyond the first; infinite of leaves and of what is gone.
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
        stack = [node]
        while stack:
            one = stack.pop()
            if not self.leaf[one]:
                stack += [self._child[one], self._child[one] + 1]
            self.leaf[one], self.price[one] = True, np.inf

    def _set_price(self, node: int) -> None:
        self.price[node] = (self._at[node] - self._below[node]) / (self.count[node] - 1)
