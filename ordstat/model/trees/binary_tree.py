"""Binary decision trees as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..._typing import FloatArray, IntArray
from ..sample import Rows


@dataclass(frozen=True, eq=False, kw_only=True)
class BinaryTree:
    """A tree of cuts "x[column] <= cut?" whose leaves hold weights of the two labels; node 0 is the root.

    Attributes
    ----------
    column : (M,)
        -1 at a leaf.
    cut : (M,)
    left, right : (M,)
        Children for x[column] <= cut and above; -1 at a leaf.
    positive, negative : (M,)
        Weight of the training rows of either label.
    """

    column: IntArray
    cut: FloatArray
    left: IntArray
    right: IntArray
    positive: FloatArray
    negative: FloatArray

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.column < 0))

    def apply(self, X: FloatArray) -> IntArray:
        """(N,) leaf of every row of X (N, D)."""
        node = np.zeros(len(X), dtype=np.intp)
        inside = np.flatnonzero(self.column[node] >= 0)
        while inside.size:
            at = node[inside]
            below = X[inside, self.column[at]] <= self.cut[at]
            node[inside] = np.where(below, self.left[at], self.right[at])
            inside = inside[self.column[node[inside]] >= 0]
        return node

    def above(self, X: FloatArray) -> FloatArray:
        """(N,) share of the label +1 in the leaf of every row, one case of either label added (Laplace)."""
        share = (self.positive + 1.0) / (self.positive + self.negative + 2.0)
        return share[self.apply(X)]

    def text(self, names: tuple[str, ...]) -> str:
        """The tree in indented lines; each leaf with its answer, its weight and the weight of the other label."""
        lines: list[str] = []
        pending = [(0, "", "")]
        while pending:
            node, indent, test = pending.pop()
            if self.column[node] < 0:
                p, n = float(self.positive[node]), float(self.negative[node])
                lines.append(f"{indent}{test}{'+' if p > n else '-'} ({p + n:g}/{min(p, n):g})".lstrip(" "))
                continue
            if test:
                lines.append(f"{indent}{test.rstrip(': ')}")
                indent += "|   "
            name, cut = names[self.column[node]], f"{self.cut[node]:g}"
            pending.append((int(self.right[node]), indent, f"{name} > {cut}: "))
            pending.append((int(self.left[node]), indent, f"{name} <= {cut}: "))
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class TreePanel:
    """P trees side by side.

    Attributes
    ----------
    trees : tuple of BinaryTree
    """

    trees: tuple[BinaryTree, ...]
    probable: ClassVar[bool] = True

    def above(self, rows: Rows) -> FloatArray:
        """(N, P) probabilities of the label +1."""
        return np.column_stack([np.zeros((rows.n, 0)), *(tree.above(rows.X)[:, None] for tree in self.trees)])

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, P) scores."""
        return self.above(rows) - 0.5
