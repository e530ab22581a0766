"""Weakest-link pruning of a tree to a number of leaves [Breiman et al. 1984, sec. 3.3]."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..._typing import BoolArray, FloatArray, IntArray
from .tree import Tree

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
