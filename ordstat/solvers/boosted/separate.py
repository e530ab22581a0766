"""Rounds whose trees have a leaf value for every threshold: no parallel effects."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..._typing import AnyArray, FloatArray, IntArray
from ...compiled.boost import OUTSIDE
from ...compiled.boostvalues import add_binned
from ...model.boosted.linear import LinearStart
from ...model.boosted.separate import SeparateTrees
from ...model.boosted.trees import BoostedTrees, ValueTree
from .rounds import LONGEST, Booster


@dataclass(eq=False, kw_only=True)
class SeparateBooster(Booster):
    """A sum of trees with scores (N, K-1) that grows.

    The cuts of a tree are those of the slopes of all thresholds summed with random signs: over the rounds they gain as
    the sum of the gains of the thresholds does, at the cost of one tree [Iosipoi & Vakhrushev 2022]. The value of a
    leaf at a threshold is Newton's step there.

    Attributes
    ----------
    leaves : list of (L_t, K-1) arrays
    """

    leaves: list[FloatArray] = field(default_factory=list)

    def sum_of(self, start: LinearStart) -> BoostedTrees:
        return SeparateTrees.grown(start, self.data.bins.cuts, self.trees, self.leaves, self.theta.size)

    def repeat(self, trees: BoostedTrees, losses: FloatArray, thetas: FloatArray) -> None:
        if isinstance(trees, SeparateTrees):
            self.leaves.extend(trees.leaves)
        super().repeat(trees, losses, thetas)

    def _tree(self, theta: FloatArray) -> tuple[float, ValueTree]:
        loss, g, h = self.loss.slopes(self.data.y, self._weights, self.scores, theta)
        weights = self._drawn()
        signs = self.rng.choice([-1.0, 1.0], g.shape[1])
        tree = self._grown(weights, g=g @ signs, h=h.sum(axis=1))[1]
        ends = tree.column < 0
        tree.value[:] = np.where(ends, np.cumsum(ends) - 1, 0)
        places = tree.value[self._place & ~np.uint16(OUTSIDE)].astype(np.intp)
        rows = np.flatnonzero(self._place < OUTSIDE)
        self.leaves.append(self._steps(g, h, rows, weights, places[rows]))
        self.scores += self.leaves[-1][places]
        return loss, tree

    def _steps(self, g: FloatArray, h: FloatArray, rows: AnyArray, weights: FloatArray, places: IntArray) -> FloatArray:
        """(L, K-1) what the leaves add, from the rows of the tree and their places among the leaves."""
        w = weights[rows] if weights.size else np.ones(rows.size)
        found = np.empty((int(places.max()) + 1, g.shape[1]))
        for k in range(g.shape[1]):
            G, V = (np.bincount(places, w * part[rows, k], len(found)) for part in (g, h))
            found[:, k] = np.clip(-G / (V + self.settings.penalty), -LONGEST, LONGEST)
        return self.settings.learning_rate * found

    def _places(self, tree: ValueTree) -> IntArray:
        """(N,) the leaves of all rows."""
        places, bins = np.zeros(len(self.scores)), self.data.bins
        walk = (tree.column, tree.bin, tree.child, tree.gaps_left, tree.sets, tree.value)
        add_binned(bins.codes, bins.counts, *walk, self._plain, places)
        return places.astype(np.intp)

    def _add(self, tree: ValueTree) -> None:
        self.scores += self.leaves[len(self.trees)][self._places(tree)]
