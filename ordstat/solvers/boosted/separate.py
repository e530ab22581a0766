"""Rounds whose trees have a leaf value for every threshold: no parallel effects."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..._typing import FloatArray, IntArray
from ...compiled.boost import OUTSIDE
from ...compiled.boostvalues import add_binned
from ...compiled.separate import add_leaves, leaf_sums, separate_loss, signed_slopes
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
        y, (n, Q) = self.data.y, self.scores.shape
        weights = self._drawn()
        signs = self.rng.choice([-1.0, 1.0], Q)
        p, g, h = np.empty((n, Q)), np.empty(n), np.empty(n)
        loss = separate_loss(y, self.scores, theta, self._weights, p)
        signed_slopes(y, p, signs, g, h)
        tree = self._grown(weights, g=g, h=h)[1]
        ends = tree.column < 0
        tree.value[:] = np.where(ends, np.cumsum(ends) - 1, 0)
        leaf = tree.value.astype(np.int32)
        G, V = np.zeros((2, np.count_nonzero(ends), Q))
        leaf_sums(y, p, weights, self._place, leaf, G, V)
        steps = np.clip(-G / (V + self.settings.penalty), -LONGEST, LONGEST)
        self.leaves.append(self.settings.learning_rate * steps)
        add_leaves(self._place, OUTSIDE - 1, leaf, self.leaves[-1], self.scores)
        return loss, tree

    def _places(self, tree: ValueTree) -> IntArray:
        """(N,) the leaves of all rows."""
        places, bins = np.zeros(len(self.scores)), self.data.bins
        walk = (tree.column, tree.bin, tree.child, tree.gaps_left, tree.sets, tree.value)
        add_binned(bins.codes, bins.counts, *walk, self._plain, places)
        return places.astype(np.intp)

    def _add(self, tree: ValueTree) -> None:
        self.scores += self.leaves[len(self.trees)][self._places(tree)]
