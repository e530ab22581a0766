"""Arrays of rows, with a response (`Sample`) and without (`Rows`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..exceptions import DataError
from .level_effects import SteppedColumns
from .random_rows import RandomRows
from .smooths import SmoothBlock


def has_gaps(X: FloatArray) -> bool:
    """Whether a matrix without infinite values has missing values (NaN)."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isnan(X.sum())) and bool(np.isnan(X).any())


def _take(value: AnyArray | RandomRows | None, index: AnyArray | slice) -> Any:
    return None if value is None else value[index]


def _require_lengths(holder: Rows | Sample, names: Sequence[str], n: int) -> None:
    """DataError unless each of these arrays is None or has n rows: compiled loops would
    read beyond their ends.
    """
    for name in names:
        array = getattr(holder, name)
        if array is not None and len(array) != n:
            raise DataError(
                f"{name} must have a value for each of the {n} rows; got {len(array)}."
            )


@dataclass(frozen=True, eq=False, kw_only=True)
class Rows:
    """Model matrices of some rows, without a response.

    Attributes
    ----------
    X : (N, D) float64, C-contiguous
        Location columns, no intercept (the thresholds are the intercepts). NaN for
        missing values, in the few methods that support them.
    offset : (N,) or None
        Known part of the score H(x).
    nominal : (N, q) or None
        Columns whose effect differs between thresholds, no intercept.
    scale : (N, r) or None
        Columns of the log scale, no intercept.
    scale_offset : (N,) or None
        Known part of the log scale.
    random : RandomRows or None
        Random terms of the score.
    """

    X: FloatArray
    offset: FloatArray | None = None
    nominal: FloatArray | None = None
    scale: FloatArray | None = None
    scale_offset: FloatArray | None = None
    random: RandomRows | None = None

    def __post_init__(self) -> None:
        _require_lengths(
            self, ("offset", "nominal", "scale", "scale_offset"), len(self.X)
        )

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def one_scale(self) -> bool:
        """Whether rows only differ in location, so that a larger score is a larger
        expected rank.
        """
        return self.nominal is None and self.scale is None and self.scale_offset is None

    def take(self, index: AnyArray | slice) -> Rows:
        """The rows at `index` (integers, a mask or a slice), in that order."""
        return replace(
            self, **{f.name: _take(getattr(self, f.name), index) for f in fields(self)}
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class PenalisedColumns:
    """Groups and penalty factors of penalised columns, those of nominal= first.

    Attributes
    ----------
    group : (q + D,)
        Columns with the same number enter the model together.
    factor : (q + D,)
        Penalty factors.
    """

    group: IntArray
    factor: FloatArray

    @classmethod
    def single(cls, count: int) -> PenalisedColumns:
        """Ungrouped columns with penalty factor 1."""
        return cls(group=np.arange(count), factor=np.ones(count))

    def part(self, kept: BoolArray) -> PenalisedColumns:
        """Some of the columns."""
        return PenalisedColumns(group=self.group[kept], factor=self.factor[kept])


@dataclass(frozen=True, eq=False, kw_only=True)
class Sample:
    """Rows with their observed ranks.

    Attributes
    ----------
    rows : Rows
    y : (N,) codes 0..K-1
    n_levels : int
        K, at least 2.
    highest : (N,) or None
        The highest level that each answer allows if some answers are censored (y is the
        lowest); None if all are exact.
    weights : (N,) or None
        Case (frequency) weights, 0 or from LIGHTEST to HEAVIEST; None means 1 for every
        row.
    costs : (N, K) or None
        Cost of each predicted rank for each row; None if the cost of the method
        applies.
    cluster : (N,) codes 0..G-1 or None
        Clusters of dependent rows.
    signs : (D,) int8 or None
        1 or -1 for columns of X with effects that must increase or decrease, 0 for
        others.
    categories : (D,) or None
        Number of categories for columns of codes 0, 1, ..., 0 for columns of numbers;
        None if all are numbers.
    penalised : PenalisedColumns or None
        Groups and penalty factors of the columns; None for ungrouped columns.
    smooths : tuple of SmoothBlock or None
        Columns of X with penalties of their wiggliness; None without smooth terms.
    stepped : tuple of SteppedColumns or None
        Columns of X of ordered predictors with monotone effects, or with levels to be
        joined.
    """

    rows: Rows
    y: IntArray
    n_levels: int
    weights: FloatArray | None = None
    costs: FloatArray | None = None
    cluster: IntArray | None = None
    signs: AnyArray | None = None
    categories: IntArray | None = None
    highest: IntArray | None = None
    penalised: PenalisedColumns | None = None
    smooths: tuple[SmoothBlock, ...] | None = None
    stepped: tuple[SteppedColumns, ...] | None = None

    #: Arrays with a value for each row.
    by_row: ClassVar[tuple[str, ...]] = ("y", "weights", "costs", "cluster", "highest")

    def __post_init__(self) -> None:
        _require_lengths(self, self.by_row, self.rows.n)
        if len(self.y) and not 0 <= self.y.min() <= self.y.max() < self.n_levels:
            raise DataError(
                f"y must be codes from 0 to {self.n_levels - 1}; got {self.y.min()} to"
                f" {self.y.max()}."
            )

    @property
    def X(self) -> FloatArray:
        return self.rows.X

    @property
    def n(self) -> int:
        return self.rows.n

    @property
    def answers(self) -> IntArray:
        """(N,) y; or, if some answers are censored, (2, N) the lowest and the highest
        level that each answer allows.
        """
        return self.y if self.highest is None else np.stack([self.y, self.highest])

    @property
    def exact(self) -> BoolArray:
        """(N,) whether the answer is one level."""
        if self.highest is None:
            return np.ones(self.n, dtype=bool)
        return np.asarray(self.highest == self.y)

    def silent(self) -> BoolArray:
        """(N,) whether a censored answer allows every level."""
        if self.highest is None:
            return np.zeros(self.n, dtype=bool)
        return np.asarray((self.y == 0) & (self.highest == self.n_levels - 1))

    def between(self) -> BoolArray:
        """(N,) whether a censored answer has a lower and an upper end."""
        if self.highest is None:
            return np.zeros(self.n, dtype=bool)
        last = self.n_levels - 1
        return (self.y > 0) & (self.highest < last) & ~self.exact

    def exact_counts(self) -> FloatArray:
        """(K,) weighted counts of the answers that are one level."""
        weights = np.where(self.exact, self.case_weights, 0.0)
        return np.bincount(self.y, weights, self.n_levels).astype(np.float64)

    def counts(self) -> FloatArray:
        """(K,) weighted counts of the levels. A censored answer is divided among the
        levels that it allows, in proportion to their exact answers.
        """
        if self.highest is None:
            return np.bincount(self.y, self.weights, self.n_levels).astype(np.float64)
        exact = self.exact
        weights = self.case_weights
        counts = np.bincount(self.y[exact], weights[exact], self.n_levels)
        low = self.y[~exact]
        beyond = self.highest[~exact] + 1
        upto = np.append(0.0, np.cumsum(counts))
        mass = upto[beyond] - upto[low]
        shares = np.zeros(mass.size)  # without an exact answer among the levels
        np.divide(weights[~exact], mass, out=shares, where=mass > 0.0)
        size = self.n_levels + 1
        change = np.bincount(low, shares, size) - np.bincount(beyond, shares, size)
        return counts * (1.0 + np.cumsum(change)[:-1])

    def among(self, present: BoolArray) -> Sample:
        """The sample with codes for only the levels that are present (K,).

        Raises
        ------
        DataError
            A censored answer allows none of them.
        """
        y = self.y
        highest = self.highest
        if not present.all():
            upto = np.cumsum(present)
            y = upto[y] - present[y]
            highest = None if highest is None else upto[highest] - 1
        if highest is not None and (highest < y).any():
            raise DataError(
                "Every censored response must include a level that is observed exactly;"
                f" {int((highest < y).sum())} do not, after rows were left out. Use"
                " more rows, or round the responses."
            )
        y = np.ascontiguousarray(y, dtype=np.intp)
        if y is self.y:
            return self
        return replace(self, y=y, highest=highest, n_levels=int(present.sum()))

    @property
    def every_level(self) -> bool:
        """Whether every level has rows of positive weight."""
        return bool(self.counts().all())

    @property
    def case_weights(self) -> FloatArray:
        """(N,) weights; ones if `weights` is None."""
        return np.ones(self.n) if self.weights is None else self.weights

    def take(self, index: AnyArray | slice) -> Sample:
        """The sample at `index` (integers, a mask or a slice); `n_levels` does not
        change.
        """
        return replace(
            self,
            rows=self.rows.take(index),
            y=self.y[index],
            highest=_take(self.highest, index),
            weights=_take(self.weights, index),
            costs=_take(self.costs, index),
            cluster=_take(self.cluster, index),
        )
