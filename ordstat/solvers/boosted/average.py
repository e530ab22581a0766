"""The models that cross-validation made of the folds, for a mean with the fit to all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray
from ...model.boosted.linear import LinearStart
from ...model.boosted.trees import BoostedTrees
from ..threads import in_threads
from .rounds import Booster


@dataclass(frozen=True, eq=False, kw_only=True)
class FoldModels:
    """Boosters of the rows outside of each fold, and the starts that they went out from.

    Attributes
    ----------
    boosters : sequence of Booster
    starts : sequence of LinearStart
    """

    boosters: Sequence[Booster] = ()
    starts: Sequence[LinearStart] = ()

    def after(self, rounds: int, n_jobs: int) -> list[tuple[BoostedTrees, FloatArray]]:
        """Trees and thresholds (T+1, K-1) of each after so many rounds; who has made fewer goes on."""

        def grown(booster: Booster, start: LinearStart) -> tuple[BoostedTrees, FloatArray]:
            while booster.made < rounds:
                booster.add()
            return booster.sum_of(start).upto(rounds), np.array([*booster.thetas, booster.theta][: rounds + 1])

        return in_threads(grown, list(zip(self.boosters, self.starts, strict=True)), n_jobs)


def averaged(
    trees: BoostedTrees, thetas: FloatArray, models: Sequence[tuple[BoostedTrees, FloatArray]]
) -> tuple[BoostedTrees, FloatArray]:
    """The means of trees and of thresholds (T+1, K-1) with those of other models of as many rounds."""
    others = [one for one, _ in models]
    return trees.averaged(others), np.mean([thetas, *(own for _, own in models)], axis=0)
