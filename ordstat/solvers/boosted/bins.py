"""Columns as codes of at most 128 bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import AnyArray, FloatArray, IntArray

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
            x = X[rows, d]
            missing = np.isnan(x)
            gaps[d] = missing.any()
            there = ~missing if gaps[d] else slice(None)
            cuts.append(np.empty(0) if found[d] else _cuts(x[there], weights[there], most))
            if not found[d]:
                counts[d] = cuts[d].size + 1
                x = np.searchsorted(cuts[d], x, side="left")
            codes[d] = np.where(missing, counts[d], x) if gaps[d] else x
        return cls(codes=codes, counts=counts, gaps=gaps, kinds=(found > 0).astype(np.uint8), cuts=tuple(cuts))

    @property
    def plain(self) -> bool:
        """Whether every code is a number's place among the cuts."""
        return not (self.gaps.any() or self.kinds.any())

    @property
    def flat(self) -> bool:
        """Whether no column tells two rows apart."""
        return bool((self.counts + self.gaps <= 1).all())


def _cuts(x: FloatArray, weights: FloatArray, most: int) -> FloatArray:
    """Growing cuts, of which none is the largest value."""
    alike = bool((weights == weights[:1]).all())
    if x.size == 0:
        return np.empty(0)
    order = np.arange(x.size) if alike else np.argsort(x, kind="stable")
    values, last = np.sort(x) if alike else x[order], np.ones(x.size, dtype=np.bool_)
    last[:-1] = values[1:] != values[:-1]
    places = np.flatnonzero(last)
    if places.size > most:
        below = np.cumsum(weights[order])[places]
        shares = below[-1] * np.arange(1, most) / most
        # The last different value that has no more than a share of the weight below it, or at it.
        places = places[np.unique(np.searchsorted(below, shares * (1.0 + 1e-12), side="right") - 1).clip(min=0)]
        places = np.append(np.unique(places), x.size - 1)
    low, high = values[places[:-1]], values[np.minimum(places[:-1] + 1, x.size - 1)]
    middle = low / 2.0 + high / 2.0
    return np.where((low <= middle) & (middle < high), middle, low)
