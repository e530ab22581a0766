"""A fitted tree, or many of them that vote: what it predicts, its rounds, and their errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd

from ..._typing import FloatArray
from ...exceptions import UnavailableError
from ...model.fit import Fit
from ...model.sample import Rows, Sample
from ...model.trees.fit import TreeFit
from ..fitted import FittedRanker
from ..target import Target
from .staged import stages


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
        errors, round_weights = self.fit.errors, self.fit.votes.round_weights
        index = pd.RangeIndex(1, len(round_weights) + 1, name="round")
        if round_weights.shape[1] == 1:
            return pd.DataFrame({"error": errors[:, 0], "vote": round_weights[:, 0]}, index=index)
        columns = pd.MultiIndex.from_product([["error", "vote"], self.threshold_names], names=["", "split"])
        return pd.DataFrame(np.hstack([errors, round_weights]), index=index, columns=columns)


_ERRORS = ("classification", "absolute", "squared")


def tree_errors(
    fit: FittedTrees, newdata: Any = None, *, every: int = 1, rounds: Sequence[int] | None = None
) -> pd.DataFrame:
    """Mean errors after every round, on the rows of the fit and on new ones.

    Parameters
    ----------
    newdata : data frame, optional
        With the response.
    every : int
        Only every so many rounds, and the last.
    rounds : sequence of int, optional
        These alone, in place of `every`.

    Returns
    -------
    pandas.DataFrame
        Columns classification, absolute and squared of the training rows, then "new classification", ... of
        `newdata`; the index is the round.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "bagging", rounds=20)
    >>> fit.staged_errors(every=10).index.tolist()
    [10, 20]
    """
    chosen = stages(fit, every, rounds)
    samples = {"": fit.design.sample}
    if newdata is not None:
        samples["new "] = fit.new_sample(newdata)[1]
    parts = [_errors(fit, name, sample, chosen) for name, sample in samples.items()]
    return pd.concat(parts, axis=1)


def _errors(fit: FittedTrees, prefix: str, sample: Sample, chosen: list[int]) -> pd.DataFrame:
    distance = np.abs(fit.fit.votes.codes(sample.rows, frozenset(chosen)) - sample.y).astype(np.float64)
    weights = sample.case_weights / sample.case_weights.sum()
    means = [np.minimum(distance, 1.0) @ weights, distance @ weights, distance**2 @ weights]
    columns = [prefix + name for name in _ERRORS]
    return pd.DataFrame(np.column_stack(means), index=pd.Index(chosen, name="round"), columns=columns)


def out_of_bag(fit: FittedTrees) -> pd.DataFrame:
    """Mean errors of the rows by the rounds whose samples they were not drawn into, after every round.

    Returns
    -------
    pandas.DataFrame
        Columns classification, absolute, squared, and share: the weight of the rows that were left out of a sample
        (of every split) so far. A row of weight w is w rows, each drawn or left out on its own.

    Raises
    ------
    UnavailableError
        The trees grow on all rows.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), "bagging", rounds=20)
    >>> fit.out_of_bag_errors().columns.tolist()
    ['classification', 'absolute', 'squared', 'share']
    """
    found = fit.fit.out_of_bag
    if found is None:
        raise UnavailableError(
            f"{fit.method!r} grows its trees on all rows, so none is out of bag: use sampling='resample', or "
            "'bagging', or .errors(cv=10)."
        )
    index = pd.RangeIndex(1, len(found.share) + 1, name="round")
    return pd.DataFrame(found.errors, index=index, columns=list(_ERRORS)).assign(share=found.share)
