"""Columns as codes of at most 128 bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import AnyArray, BoolArray, FloatArray, IntArray
from ...model.row_blocks import CACHED, row_blocks

#: Codes of the values of a column of numbers at most, and of categories.
MOST_BINS, MOST_CATEGORIES = 128, 254


@dataclass(frozen=True, eq=False, kw_only=True)
class Bins:
    """The codes of rows: the number of cuts of the column below x, a cut lying half way between two values.

    Attributes
    ----------
    codes : (D, N) uint8
        The code after the last one says that there is no value.
    counts : (D,) int32
        Codes of values of a column: one more than cuts, or its categories.
    gaps : (D,) uint8
        1 where a row has no value.
    kinds : (D,) uint8
        1 of categories, whose codes are those of X; else 0.
    cuts : tuple of D growing arrays
        Empty of categories.
    """

    codes: AnyArray
    counts: AnyArray
    gaps: AnyArray
    kinds: AnyArray
    cuts: tuple[FloatArray, ...]

    @classmethod
    def of(
        cls, X: FloatArray, rows: IntArray, weights: FloatArray, categories: IntArray | None, most: int = MOST_BINS
    ) -> Bins:
        """Bins of one value each where a column has few different ones, else of about equal weight.

        Parameters
        ----------
        X : (N, D)
            NaN where there is no value.
        rows : (M,)
            Rows of X to take.
        weights : (M,)
        categories : (D,) or None
            Numbers of the categories that columns are codes of, 0 of numbers; None where all are numbers.
        most : int
            Bins of a column at most.
        """
        D = X.shape[1]
        found = np.zeros(D, dtype=np.intp) if categories is None else categories
        codes, gaps = np.empty((D, rows.size), dtype=np.uint8), np.zeros(D, dtype=np.uint8)
        counts, cuts = found.astype(np.int32), list[FloatArray]()
        for d in range(D):
            cuts.append(np.empty(0) if found[d] else _cuts(*_there(X, rows, d, weights), most))
            if not found[d]:
                counts[d] = cuts[d].size + 1
            for some in row_blocks(rows.size, 1, CACHED):
                x = X[rows[some], d]
                missing = np.isnan(x)
                gaps[d] |= missing.any()
                places = x if found[d] else np.searchsorted(cuts[d], x, side="left")
                codes[d, some] = np.where(missing, counts[d], places)
        return cls(codes=codes, counts=counts, gaps=gaps, kinds=(found > 0).astype(np.uint8), cuts=tuple(cuts))

    @property
    def plain(self) -> bool:
        """Whether every code is a number's place among the cuts."""
        return not (self.gaps.any() or self.kinds.any())

    @property
    def flat(self) -> bool:
        """Whether no column tells two rows apart."""
        return bool((self.counts + self.gaps <= 1).all())


def _there(X: FloatArray, rows: IntArray, d: int, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The values of a column that are there, and their weights."""
    x = np.empty(rows.size)
    for some in row_blocks(rows.size, 1, CACHED):
        x[some] = X[rows[some], d]
    missing = np.isnan(x)
    return (x[~missing], weights[~missing]) if missing.any() else (x, weights)


def _cuts(x: FloatArray, weights: FloatArray, most: int) -> FloatArray:
    """Growing cuts, of which none is the largest value; x is put in order."""
    if x.size == 0:
        return np.empty(0)
    if (weights == weights[:1]).all():
        x.sort()
        shares: FloatArray = np.arange(1.0, most) * (x.size / most * (1.0 + 1e-12))
        values, places = x, _places(x, shares, most)
    else:
        order = np.argsort(x, kind="stable")
        values = x[order]
        places = _weighted_places(values, np.cumsum(weights[order]), most)
    low, high = values[places[:-1]], values[np.minimum(places[:-1] + 1, x.size - 1)]
    middle = low / 2.0 + high / 2.0
    return np.where((low <= middle) & (middle < high), middle, low)


def _last_of_each(values: FloatArray) -> BoolArray:
    """(N,) whether a growing value is not that of the next row."""
    last = np.ones(values.size, dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=last[:-1])
    return last


def _places(values: FloatArray, shares: FloatArray, most: int) -> IntArray:
    """Last rows of the different growing values, or of those with no more rows below them, or at them, than shares."""
    last = _last_of_each(values)
    if np.count_nonzero(last) <= most:
        return np.flatnonzero(last)
    # Of as many rows as there are below a share, the last value that ends there; the first value where none does.
    ends = np.floor(shares).astype(np.intp) - 1
    inside = ~last[ends]
    ends[inside] = np.searchsorted(values, values[ends[inside]], side="left") - 1
    first = int(np.searchsorted(values, values[0], side="right")) - 1
    return np.unique(np.append(np.maximum(ends, first), values.size - 1))


def _weighted_places(values: FloatArray, below: FloatArray, most: int) -> IntArray:
    """The same of rows whose weights up to each row come to `below` (N,)."""
    places = np.flatnonzero(_last_of_each(values))
    if places.size <= most:
        return places
    sums = below[places]
    shares = sums[-1] * np.arange(1, most) / most
    # The last different value that has no more than a share of the weight below it, or at it.
    found = np.searchsorted(sums, shares * (1.0 + 1e-12), side="right") - 1
    return np.unique(np.append(places[np.unique(found.clip(min=0))], values.size - 1))
