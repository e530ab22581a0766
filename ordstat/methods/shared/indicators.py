"""Columns of a linear model of rows whose categories are codes, and whose values may be missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import AnyArray, FloatArray, IntArray
from ...model.boosted.linear import LinearStart
from ...model.row_blocks import CACHED, row_blocks
from ...model.sample import Sample, has_gaps


@dataclass(frozen=True, eq=False)
class Indicators:
    """Numbers as they are and indicators of all categories but the first, as treatment contrasts have them.

    A missing value counts as the mean of its columns.

    Attributes
    ----------
    categories : (D,)
        0 of numbers.
    means : (E,)
        Of the columns that are made.
    """

    categories: IntArray
    means: FloatArray

    @classmethod
    def of(cls, sample: Sample, rows: IntArray, weights: FloatArray) -> Indicators:
        """For a sample; means are those of some of its rows, with their weights."""
        D = sample.X.shape[1]
        found = cls(np.zeros(D, dtype=np.intp) if sample.categories is None else sample.categories, np.zeros(0))
        return cls(found.categories, found._means(sample.X, rows, weights))

    @property
    def width(self) -> int:
        """E, the number of columns made."""
        return int(self._widths.sum())

    @property
    def _widths(self) -> IntArray:
        """(D,) how many columns are made of each."""
        return np.where(self.categories > 0, np.maximum(self.categories - 1, 0), 1)

    def __call__(self, X: FloatArray) -> FloatArray:
        """(N, E) columns of rows X (N, D)."""
        if not (self.categories.any() or has_gaps(X)):
            return X
        made = np.empty((len(X), self.width))
        for some in row_blocks(len(X), X.shape[1], CACHED):
            for d, places in enumerate(self._places()):
                made[some, places] = self._column(X[some, d], d)
        np.copyto(made, self.means, where=np.isnan(made))
        return made

    def spread(self, values: AnyArray) -> AnyArray:
        """(E,) values (D,) of columns at those made of them."""
        return np.repeat(values, self._widths)

    def start(self, slopes: FloatArray) -> LinearStart:
        """The linear start of slopes (E,)."""
        numbers, missing = np.zeros(self.categories.size), np.zeros(self.categories.size)
        effects = list[FloatArray]()
        for d, places in enumerate(self._places()):
            missing[d] = self.means[places] @ slopes[places]
            if self.categories[d]:
                effects.append(np.concatenate([[0.0], slopes[places]]))
            else:
                numbers[d] = slopes[places.start]
                effects.append(np.zeros(0))
        return LinearStart(numbers, missing, tuple(effects) if self.categories.any() else ())

    def _places(self) -> list[slice]:
        """Those of the columns made of each."""
        ends = np.cumsum(self._widths)
        return [slice(int(end - width), int(end)) for end, width in zip(ends, self._widths, strict=True)]

    def _column(self, x: FloatArray, d: int) -> FloatArray:
        """(N, 1) a number, or (N, L - 1) indicators; NaN where x (N,) is."""
        if not self.categories[d]:
            return x[:, None]
        return np.where(np.isnan(x)[:, None], np.nan, x[:, None] == np.arange(1, self.categories[d]))

    def _means(self, X: FloatArray, rows: IntArray, weights: FloatArray) -> FloatArray:
        """(E,) weighted means of what is there, 0 where nothing is."""
        if not (self.categories.any() or has_gaps(X)):
            blocks = row_blocks(rows.size, X.shape[1], CACHED)
            return np.asarray(sum(weights[some] @ X[rows[some]] for some in blocks) / weights.sum())
        found = np.zeros(self.width)
        for d, places in enumerate(self._places()):
            x = X[rows, d]
            there = ~np.isnan(x)
            w = weights[there]
            total = float(w.sum()) or 1.0
            if self.categories[d]:
                sums = np.bincount(x[there].astype(np.intp), w, int(self.categories[d]))
                found[places] = sums[1:] / total
            else:
                found[places] = w @ x[there] / total
        return found
