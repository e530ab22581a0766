"""The different rows of a sample in an order of their own, so that a fit depends on neither order nor repetition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray, IntArray
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
    """

    X: FloatArray
    y: IntArray
    costs: FloatArray
    weights: FloatArray

    @property
    def n(self) -> int:
        return self.y.size

    def take(self, index: IntArray) -> DistinctRows:
        """The rows at `index`, in that order."""
        return DistinctRows(X=self.X[index], y=self.y[index], costs=self.costs[index], weights=self.weights[index])


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
    used = sample.case_weights > 0
    if not used.any():
        raise DataError("weights are zero for every row: nothing is left to fit.")
    y, weights = sample.y[used], sample.case_weights[used]
    # Adding 0 makes -0 and 0 one value.
    values = np.column_stack([y, sample.X[used] + 0.0, costs[used]])
    order = np.lexsort(values.T[::-1])
    values = values[order]
    first = np.concatenate([[True], (values[1:] != values[:-1]).any(axis=1)])
    chosen = order[first]
    return DistinctRows(
        X=np.ascontiguousarray(sample.X[used][chosen] + 0.0),
        y=y[chosen],
        costs=costs[used][chosen],
        weights=np.add.reduceat(weights[order], np.flatnonzero(first)),
    )
