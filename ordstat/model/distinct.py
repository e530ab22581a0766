"""The different rows of a sample in an order of their own, so that a fit depends on neither order nor repetition."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..checks import SMALLER_WEIGHTS, require_memory
from ..exceptions import DataError
from .sample import Sample


@dataclass(frozen=True, eq=False, kw_only=True)
class DistinctRows:
    """M rows that differ in columns, rank or costs, sorted by rank and then by the columns.

    Attributes
    ----------
    X : (M, D)
    y : (M,) codes, not falling
    costs : (M, K)
    weights : (M,) sums of the case weights, > 0
    rows : (M,) the first row of the sample that is alike
    """

    X: FloatArray
    y: IntArray
    costs: FloatArray
    weights: FloatArray
    rows: IntArray

    @property
    def n(self) -> int:
        return self.y.size

    def take(self, index: IntArray) -> DistinctRows:
        """The rows at `index`, in that order."""
        return DistinctRows(**{f.name: getattr(self, f.name)[index] for f in fields(self)})

    def repeated(self, most: float) -> DistinctRows:
        """Each row as often as its weight says, where all weights are whole and come to `most` rows or fewer; or self.

        For learners that count rows whatever they weigh.
        """
        times = np.rint(self.weights)
        if (times != self.weights).any() or times.sum() > most:
            return self
        total = float(times.sum())
        size = 8.0 * total * max(self.X.shape[1], 1)
        require_memory(f"Repeating rows {total:g} times, the sum of the weights,", size, SMALLER_WEIGHTS)
        rows = self.take(np.repeat(np.arange(self.n), times.astype(np.intp)))
        return replace(rows, weights=np.ones(rows.n))


def distinct_rows(sample: Sample, costs: FloatArray) -> DistinctRows:
    """Rows alike counted once, with the sum of their case weights; rows of weight 0 left out.

    A row of weight w and w rows of weight 1 become the same row, in the same place: loops over the result give the
    same floating-point numbers, and break ties alike, whatever order the rows came in.

    Parameters
    ----------
    sample : Sample
    costs : (N, K)

    Raises
    ------
    DataError
        Every weight is zero.
    """
    rows, weights = distinct_places(sample, costs)
    # Adding 0 makes -0 and 0 one value.
    return DistinctRows(X=sample.X[rows] + 0.0, y=sample.y[rows], costs=costs[rows], weights=weights, rows=rows)


def distinct_places(sample: Sample, costs: FloatArray) -> tuple[IntArray, FloatArray]:
    """(M,) the first rows of a sample that are alike, in the order of `distinct_rows`, and the sums of their weights.

    Two values that are missing, NaN, are alike.
    """
    keys = [sample.y, *sample.X.T, *costs.T]
    if sample.weights is None:
        order, first = _sorted(keys)
        if first.all():
            return order, np.ones(order.size)
        starts = np.flatnonzero(first)
        return order[starts], np.diff(starts, append=order.size).astype(np.float64)
    used = np.flatnonzero(sample.weights > 0)
    if used.size == 0:
        raise DataError("weights are zero for every row: nothing is left to fit.")
    order, first = _sorted(keys if used.size == sample.n else [key[used] for key in keys])
    weights = sample.case_weights[used[order]]
    return used[order[first]], np.add.reduceat(weights, np.flatnonzero(first))


def _sorted(keys: list[AnyArray]) -> tuple[IntArray, BoolArray]:
    """(N,) stable order by the keys (N,), the first before the next, and which of these rows differ from the one above.

    Rows that the first two keys tell apart are compared by these alone.
    """
    order: IntArray = np.lexsort(keys[1::-1])
    first = _differs(keys[:2], order)
    tied = ~first
    tied[:-1] |= ~first[1:]
    places = np.flatnonzero(tied)
    among = order[places]
    order[places] = among[np.lexsort([key[among] for key in keys[::-1]])]
    first[places] = _differs(keys, order[places])
    return order, first


def _differs(keys: list[AnyArray], order: IntArray) -> BoolArray:
    """(M,) whether a row of `order` (M,) differs from the one before it in any key; the first one does."""
    differs: BoolArray = np.ones(order.size, dtype=np.bool_)
    differs[1:] = False
    for key in keys:
        values = key[order]
        unlike = values[1:] != values[:-1]
        if values.dtype.kind == "f" and np.isnan(values).any():  # of a later key NaN may be anywhere
            unlike &= ~(np.isnan(values[1:]) & np.isnan(values[:-1]))
        differs[1:] |= unlike
    return differs
