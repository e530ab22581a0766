"""Classification trees on a shared presort, for ensembles of trees and as weak learners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma, log

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..boosting.weak import Presorted
from ..checks import number, one_of, whole
from ..compiled.trees import grow
from ..reduction.learners import HypothesisClass, Weak, WeakLearner, WeakTrainer
from .tree import MEASURES, Tree, TreeSum, pruned

# Cuts whose gains differ by less than this share of the weights are ties, which go to the first.
_TIE = 1e-12


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
        A value outside these.

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
        low, high = (self.X[rows, column[inner]] for rows in ends[inner].T)
        middle = low / 2.0 + high / 2.0
        cuts[inner] = np.where((low <= middle) & (middle < high), middle, low)
        return cuts

    def best(self, u: FloatArray, rng: np.random.Generator) -> Weak:
        size = np.abs(u)
        # So that the weight of a leaf is counted in rows.
        weights = size * (self.n / (size.sum() or 1.0))
        if not weights.any():
            weights = np.ones(self.n)
        tree = self.grow((u > 0).astype(np.intp), weights, 2)
        values = TreeSum(trees=(tree,), round_weights=np.ones(1)).at(self.X)
        return Weak(tree, values)

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
