"""A fitted tree, or many of them that vote: what it predicts, and its rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
import pandas as pd

from ..._typing import FloatArray
from ...model.fit import Fit
from ...model.sample import Rows
from ...model.trees.fit import TreeFit
from ..fitted import FittedRanker
from ..target import Target


@dataclass(frozen=True, eq=False, repr=False)
class FittedTrees(FittedRanker):
    """A fitted tree, or many of them that vote; ties go to the lower level."""

    fit: TreeFit

    predicts: ClassVar[tuple[str, ...]] = ("class", "prob", "cum_prob", "votes")
    augments: ClassVar[tuple[str, ...]] = ("class", "prob")

    # Predictions

    @property
    def prediction_types(self) -> tuple[str, ...]:
        """Every `type` that `predict` takes; no probabilities where a calibration was for other rounds."""
        lost = ("prob", "cum_prob") if self._uncalibrated(self.fit) else ()
        return tuple(type for type in super().prediction_types if type not in lost)

    def _uncalibrated(self, fit: Fit) -> bool:
        """Whether calibration was asked for, and this fit has none."""
        return self.calibrated is not None and fit.calibration is None

    def _predicted(self, target: Target, type: str) -> pd.Series | pd.DataFrame:
        if type in ("prob", "cum_prob"):
            found = self.fit.votes.aggregation.probabilities(target.scores)
            return target.frame(found if type == "prob" else np.cumsum(found, axis=1).clip(max=1.0), self.levels)
        return super()._predicted(target, type)

    def _probabilities(self, fit: Fit, rows: Rows, scores: FloatArray) -> FloatArray | None:
        if self._uncalibrated(fit):
            return None
        return cast(TreeFit, fit).votes.aggregation.probabilities(scores)

    @property
    def rounds(self) -> pd.DataFrame:
        """One row a round: its weighted error (NaN without weights) and its vote; one column each a split where splits
        are boosted apart, a vote of 0 saying that a split had ended."""
        errors, heights = self.fit.errors, self.fit.votes.heights
        index = pd.RangeIndex(1, len(heights) + 1, name="round")
        if heights.shape[1] == 1:
            return pd.DataFrame({"error": errors[:, 0], "vote": heights[:, 0]}, index=index)
        columns = pd.MultiIndex.from_product([["error", "vote"], self.threshold_names], names=["", "split"])
        return pd.DataFrame(np.hstack([errors, heights]), index=index, columns=columns)
