"""H_k(x) = x'b + sum_t f_tk(x): trees whose leaves have a value for every threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from scipy.special import expit

from ..._typing import FloatArray
from ..rules import Potential
from ..sample import Rows
from .linear import LinearStart
from .trees import BoostedTrees, ValueTree, by_rounds


@dataclass(frozen=True, eq=False, kw_only=True)
class SeparateTrees(BoostedTrees):
    """The linear start, T trees, and what their leaves add for each threshold.

    Attributes
    ----------
    leaves : tuple of T arrays (L_t, K-1)
        By the number of a leaf, which is its `value` in the tree.
    n_thresholds : int
        K - 1.
    """

    leaves: tuple[FloatArray, ...] = field(default=())
    n_thresholds: int = 0

    @classmethod
    def grown(
        cls,
        start: LinearStart,
        cuts: tuple[FloatArray, ...],
        trees: Sequence[ValueTree],
        leaves: Sequence[FloatArray],
        n_thresholds: int,
    ) -> SeparateTrees:
        """A start and trees with their leaves."""
        return cls(
            slopes=start.slopes,
            cuts=cuts,
            trees=tuple(trees),
            missing=start.missing,
            effects=start.effects,
            leaves=tuple(leaves),
            n_thresholds=n_thresholds,
        )

    @property
    def separate(self) -> bool:
        return True

    def upto(self, rounds: int) -> Self:
        return replace(super().upto(rounds), leaves=self.leaves[: rounds * self.models])

    def of_threshold(self, k: int) -> BoostedTrees:
        """The start, and trees with the values of one threshold in their leaves: H_k."""
        trees = [
            replace(tree, value=leaves[tree.value.astype(np.intp), k])
            for tree, leaves in zip(self.trees, self.leaves, strict=True)
        ]
        return replace(BoostedTrees.of(self.linear, self.cuts, trees), models=self.models)

    def averaged(self, others: Sequence[Self]) -> Self:
        every = (self, *others)
        leaves = by_rounds([[values / len(every) for values in one.leaves] for one in every])
        return replace(super().averaged(others), leaves=leaves)

    def _over(self, models: int) -> tuple[ValueTree, ...]:
        return self.trees  # whose values are numbers of leaves

    def start(self, rows: Rows) -> FloatArray:
        """(N, K-1) the scores before the first tree, those of all thresholds alike."""
        return np.repeat(super().start(rows)[:, None], self.n_thresholds, axis=1)

    def add(self, rows: Rows, scores: FloatArray, first: int, last: int) -> None:
        """Add the trees of some of the rounds to the scores (N, K-1) of rows."""
        single = replace(self, models=1)
        for t in range(first * self.models, min(last * self.models, len(self.trees))):
            places = np.zeros(rows.n)
            BoostedTrees.add(single, rows, places, t, t + 1)
            scores += self.leaves[t][places.astype(np.intp)]


@dataclass(frozen=True, eq=False)
class SeparateAbove:
    """P(y > k | x), the probabilities 1 / (1 + exp(theta_k - H_k(x))) of a row put in order.

    Putting them in order never raises the ranked probability score.

    Attributes
    ----------
    trees : potential of scores (N, K-1)
    theta : (K-1,)
    """

    trees: Potential
    theta: FloatArray

    @property
    def n_levels(self) -> int:
        return int(self.theta.size) + 1

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1) P(y > k), not rising with k."""
        return np.sort(expit(self.trees(rows) - self.theta), axis=1)[:, ::-1]
