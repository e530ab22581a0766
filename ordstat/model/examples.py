"""Rows of a sample as an online ranker is shown them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray, IntArray
from ..exceptions import DataError
from .distinct import distinct_rows
from .sample import Sample


@dataclass(frozen=True, eq=False, kw_only=True)
class Examples:
    """M rows to learn, each with how often.

    Attributes
    ----------
    sample : Sample
        Of N rows, where they are from.
    rows : (M,) their places in it
    X : (M, D)
    y : (M,) codes
    costs : (M, K)
    weights : (M,) > 0
    """

    sample: Sample
    rows: IntArray
    X: FloatArray
    y: IntArray
    costs: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, sample: Sample, costs: FloatArray) -> Examples:
        """The different rows in an order of their own, with the sum of their weights; costs are (N, K)."""
        distinct = distinct_rows(sample, costs)
        return cls(
            sample=sample,
            rows=distinct.rows,
            X=distinct.X,
            y=distinct.y,
            costs=distinct.costs,
            weights=distinct.weights,
        )

    @classmethod
    def as_given(cls, sample: Sample, costs: FloatArray) -> Examples:
        """The rows of positive weight in the order they came."""
        weights = sample.case_weights
        rows = np.flatnonzero(weights > 0)
        if rows.size == sample.n:
            return cls(sample=sample, rows=rows, X=sample.X, y=sample.y, costs=costs, weights=weights)
        return cls(
            sample=sample, rows=rows, X=sample.X[rows], y=sample.y[rows], costs=costs[rows], weights=weights[rows]
        )

    @property
    def n(self) -> int:
        return self.y.size

    @property
    def n_levels(self) -> int:
        return self.sample.n_levels

    def in_turn(self) -> IntArray:
        """Each example as often as its weight (a whole number) says, one after another."""
        examples = np.arange(self.n, dtype=np.intp)
        return examples if (self.weights == 1.0).all() else np.repeat(examples, self.weights.astype(np.intp))

    def drawn_by_cost(self, rng: np.random.Generator) -> IntArray:
        """As many draws as the weights add up to, with a probability proportional to weight times largest cost.

        Raises
        ------
        DataError
            The costs are zero everywhere.
        """
        share = np.cumsum(self.weights * self.costs.max(axis=1))
        if share[-1] == 0.0:
            raise DataError("the costs are zero for every row, so none can be drawn: give costs that differ.")
        drawn = rng.random(max(int(np.rint(self.weights.sum())), 1)) * share[-1]
        chosen: IntArray = np.minimum(np.searchsorted(share, drawn, side="right"), self.n - 1).astype(np.intp)
        return chosen
