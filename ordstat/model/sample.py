"""The numbers a method is fitted to: arrays only, no frames, formulas or column names."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .random_effects import RandomRows

#: A weight that is not 0 lies between these: totals and products of a few are then far from over- and underflow, and
#: a whole weight is an exact number.
LIGHTEST, HEAVIEST = 1e-15, 1e15


def extreme(weights: FloatArray) -> BoolArray:
    """(N,) which of the weights, >= 0, are too small or too large for a number of rows."""
    return np.asarray((weights != 0) & ((weights < LIGHTEST) | (weights > HEAVIEST)))


def has_gaps(X: FloatArray) -> bool:
    """Whether values of a matrix without infinite ones are missing, NaN."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isnan(X.sum())) and bool(np.isnan(X).any())


def _take(value: AnyArray | RandomRows | None, index: AnyArray | slice) -> Any:
    return None if value is None else value[index]


@dataclass(frozen=True, eq=False, kw_only=True)
class Rows:
    """Model matrices of some rows, without a response.

    Attributes
    ----------
    X : (N, D) float64, C-contiguous
        Location columns, no intercept (the thresholds are the intercepts). NaN where a value is missing, for the few
        methods that take such rows.
    offset : (N,) or None
        Known part of the score H(x).
    nominal : (N, q) or None
        Columns whose effect differs per threshold, no intercept.
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

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def one_scale(self) -> bool:
        """Whether rows differ in their location alone, so that a larger score is a larger expected rank."""
        return self.nominal is None and self.scale is None and self.scale_offset is None

    def take(self, index: AnyArray | slice) -> Rows:
        """The rows at `index` (integers, a mask or a slice), in that order."""
        return replace(self, **{f.name: _take(getattr(self, f.name), index) for f in fields(self)})


@dataclass(frozen=True, eq=False, kw_only=True)
class Sample:
    """Rows with their observed ranks.

    Attributes
    ----------
    rows : Rows
    y : (N,) codes 0..K-1
    n_levels : int
        K, at least 2.
    weights : (N,) or None
        Case (frequency) weights, 0 or from LIGHTEST to HEAVIEST; None means 1 for every row.
    costs : (N, K) or None
        A row's own price of each predicted rank; None where the method's own cost applies.
    cluster : (N,) codes 0..G-1 or None
        Rows of one cluster are not independent.
    restrictions : (R, D) or None
        Rows a of a'w <= 0, which the effects w of the columns of X must obey.
    categories : (D,) or None
        How many categories a column of X has, whose codes 0, 1, ... it holds, and 0 of numbers; None of numbers alone.
    groups : tuple of tuples of int
        Columns of X that may interact; a column may be in several of them. Empty where all may.
    """

    rows: Rows
    y: IntArray
    n_levels: int
    weights: FloatArray | None = None
    costs: FloatArray | None = None
    cluster: IntArray | None = None
    restrictions: FloatArray | None = None
    categories: IntArray | None = None
    groups: tuple[tuple[int, ...], ...] = ()

    @property
    def X(self) -> FloatArray:
        return self.rows.X

    @property
    def n(self) -> int:
        return self.rows.n

    @property
    def case_weights(self) -> FloatArray:
        """(N,) weights, ones where none were given."""
        return np.ones(self.n) if self.weights is None else self.weights

    def take(self, index: AnyArray | slice) -> Sample:
        """The sample at `index` (integers, a mask or a slice); `n_levels` stays."""
        return replace(
            self,
            rows=self.rows.take(index),
            y=self.y[index],
            weights=_take(self.weights, index),
            costs=_take(self.costs, index),
            cluster=_take(self.cluster, index),
        )
