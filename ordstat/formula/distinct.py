"""Identical rows once, with the sum of their weights."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..checks import SMALLER_WEIGHTS, require_memory
from ..exceptions import DataError
from .sample import Sample
from .sparse import numbers_per_row, sparse_part


@dataclass(frozen=True, eq=False, kw_only=True)
class DistinctRows:
    """M distinct rows (by columns, rank and costs), sorted by rank, then by columns.

    Attributes
    ----------
    X : (M, D)
    y : (M,) codes, nondecreasing
    costs : (M, K)
    weights : (M,) sums of the case weights, > 0
    rows : (M,) the first identical row of the sample
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
        return DistinctRows(
            **{f.name: getattr(self, f.name)[index] for f in fields(self)}
        )

    def repeated(self, most: float) -> DistinctRows:
        """Rows repeated by their weights, if these are whole and sum to at most `most`;
        else self.

        For learners that count rows regardless of weights.
        """
        times = np.rint(self.weights)
        if (times != self.weights).any() or times.sum() > most:
            return self
        total = float(times.sum())
        size = 8.0 * total * max(numbers_per_row(self.X), 1)
        require_memory(
            f"Repeating rows {total:g} times, the sum of the weights,",
            size,
            SMALLER_WEIGHTS,
        )
        rows = self.take(np.repeat(np.arange(self.n), times.astype(np.intp)))
        return replace(rows, weights=np.ones(rows.n))


def distinct_rows(sample: Sample, costs: FloatArray) -> DistinctRows:
    """Identical rows once, with the sum of their case weights; rows of weight 0 are
    left out.

    A row of weight w and w rows of weight 1 give the same result: loops over it compute
    the same floating-point numbers, and break ties in the same way, for any order of
    the rows.

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
    X = sample.X[rows]
    if sparse_part(X) is None:
        X += 0.0  # turns -0 into 0
    return DistinctRows(
        X=X,
        y=sample.y[rows],
        costs=costs[rows],
        weights=weights,
        rows=rows,
    )


def distinct_places(sample: Sample, costs: FloatArray) -> tuple[IntArray, FloatArray]:
    """(M,) first rows of each set of identical rows, in the order of `distinct_rows`,
    and the sums of their weights.

    Missing values (NaN) are equal.
    """
    sparse = sparse_part(sample.X)
    columns = sample.X.T if sparse is None else [sparse.row_ranks()]
    keys = [sample.y, *columns, *costs.T]
    if sample.weights is None:
        order, first = sorted_by(keys)
        if first.all():
            return order, np.ones(order.size)
        starts = np.flatnonzero(first)
        return order[starts], np.diff(starts, append=order.size).astype(np.float64)
    used = np.flatnonzero(sample.weights > 0)
    if used.size == 0:
        raise DataError("weights are zero for every row: nothing is left to fit.")
    order, first = sorted_by(
        keys if used.size == sample.n else [key[used] for key in keys]
    )
    weights = sample.case_weights[used[order]]
    return used[order[first]], np.add.reduceat(weights, np.flatnonzero(first))


def sorted_by(keys: list[AnyArray]) -> tuple[IntArray, BoolArray]:
    """(N,) stable order by the keys (N,), the first key first, and whether each row
    differs from the previous one.

    Rows that differ in the first two keys are compared by these only.
    """
    order: IntArray = np.lexsort(keys[1::-1])
    first = _differs(keys[:2], order)
    if first.all():
        return order, first
    tied = ~first
    tied[:-1] |= ~first[1:]
    places = np.flatnonzero(tied)
    among = order[places]
    order[places] = among[np.lexsort([key[among] for key in keys[::-1]])]
    first[places] = _differs(keys, order[places])
    return order, first


def _differs(keys: list[AnyArray], order: IntArray) -> BoolArray:
    """(M,) whether a row of `order` (M,) differs from the previous one in any key; True
    for the first.
    """
    differs: BoolArray = np.ones(order.size, dtype=np.bool_)
    differs[1:] = False
    for key in keys:
        values = key[order]
        unlike = values[1:] != values[:-1]
        # of a later key NaN may be anywhere
        if values.dtype.kind == "f" and np.isnan(values).any():
            unlike &= ~(np.isnan(values[1:]) & np.isnan(values[:-1]))
        differs[1:] |= unlike
    return differs
