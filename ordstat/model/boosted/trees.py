"""H(x) = x'b + sum_t f_t(x): a linear start and trees with a value in every leaf."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._typing import AnyArray, FloatArray, IntArray
from ...compiled.boost import add_trees
from ..sample import Rows


@dataclass(frozen=True, eq=False)
class ValueTree:
    """M nodes of a tree; a row goes left where the code of its bin is at most `bin`.

    Attributes
    ----------
    column : (M,) int32
        -1 of a leaf.
    bin : (M,) int32
        0 of a leaf.
    child : (M,) int32
        The left child, which the right one follows; -1 of a leaf.
    value : (M,)
        What the tree adds to H in a leaf.
    gain : (M,)
        Twice the fall of the quadratic approximation of the loss by the cut; 0 of a leaf.
    weight : (M,)
        Case weight of the rows of a node that the tree was grown on.
    """

    column: AnyArray
    bin: AnyArray
    child: AnyArray
    value: FloatArray
    gain: FloatArray
    weight: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class BoostedTrees:
    """The linear start and T trees.

    Attributes
    ----------
    slopes : (D,) b
    cuts : tuple of D growing arrays
        Between the bins of every column: a row goes left where x <= cuts[column][bin].
    trees : tuple of ValueTree
    """

    slopes: FloatArray
    cuts: tuple[FloatArray, ...]
    trees: tuple[ValueTree, ...]

    def upto(self, rounds: int) -> BoostedTrees:
        """With the first trees alone."""
        return replace(self, trees=self.trees[:rounds])

    def start(self, rows: Rows) -> FloatArray:
        """(N,) scores before the first tree, offset included."""
        H = rows.X @ self.slopes
        return np.asarray(H if rows.offset is None else H + rows.offset)

    def add(self, rows: Rows, scores: FloatArray, first: int, last: int) -> None:
        """Add some of the trees to the scores (N,) of rows, in their order."""
        trees = self.trees[first:last]
        if not trees:
            return
        sizes = np.array([tree.column.size for tree in trees])
        starts = np.cumsum(sizes) - sizes
        column = np.concatenate([tree.column for tree in trees])
        # A leaf has the column -1, and with it the 0 at the end.
        firsts = np.cumsum([0, *(at.size for at in self.cuts)])
        cuts = np.concatenate([*self.cuts, [0.0]])
        child = [np.where(tree.child < 0, -1, tree.child + s) for tree, s in zip(trees, starts, strict=True)]
        add_trees(
            np.ascontiguousarray(rows.X),
            starts.astype(np.int32),
            column,
            cuts[firsts[column] + np.concatenate([tree.bin for tree in trees])],
            np.concatenate(child).astype(np.int32),
            np.concatenate([tree.value for tree in trees]),
            scores,
        )

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        scores = self.start(rows)
        self.add(rows, scores, 0, len(self.trees))
        return scores

    def gains(self) -> tuple[FloatArray, IntArray]:
        """(D,) sum of the gains of the cuts of every column, and their number."""
        gains, cuts = np.zeros(self.slopes.size), np.zeros(self.slopes.size, dtype=np.intp)
        for tree in self.trees:
            inner = tree.column >= 0
            np.add.at(gains, tree.column[inner], tree.gain[inner])
            np.add.at(cuts, tree.column[inner], 1)
        return gains, cuts
