"""Rows of a sample as an online ranker is shown them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._typing import FloatArray, IntArray
from ...checks import SMALLER_WEIGHTS, require_memory
from ..costs import CostMatrix, sample_costs
from ..distinct import distinct_rows
from ..sample import Sample


@dataclass(frozen=True, eq=False, kw_only=True)
class Examples:
    """M rows to learn, each with how often.

    Attributes
    ----------
    sample : Sample
        The N rows that they are from.
    rows : (M,) their places in it
    X : (M, D)
    y : (M,) codes
    costs : (C, K)
    kinds : (M,) which of the costs are those of an example
    repeats : (M,) > 0, how often each counts; None where that is once
    """

    sample: Sample
    rows: IntArray
    X: FloatArray
    y: IntArray
    costs: FloatArray
    kinds: IntArray
    repeats: FloatArray | None

    @classmethod
    def of(cls, sample: Sample, cost: CostMatrix) -> Examples:
        """The different rows in an order of their own, with the sum of their weights."""
        distinct = distinct_rows(sample, sample_costs(cost, sample))
        return cls(
            sample=sample,
            rows=distinct.rows,
            X=distinct.X,
            y=distinct.y,
            costs=distinct.costs,
            kinds=np.arange(distinct.n),
            repeats=distinct.weights,
        )

    @classmethod
    def as_given(cls, sample: Sample, cost: CostMatrix) -> Examples:
        """The rows of positive weight in the order they came."""
        rows = np.arange(sample.n)
        costs, kinds = cost.matrix(sample.n_levels), sample.y
        if sample.costs is not None:
            costs, kinds = sample_costs(cost, sample), rows
        whole = cls(sample=sample, rows=rows, X=sample.X, y=sample.y, costs=costs, kinds=kinds, repeats=sample.weights)
        return whole if sample.weights is None or sample.weights.all() else whole._take(np.flatnonzero(sample.weights))

    def _take(self, index: IntArray) -> Examples:
        taken = {name: getattr(self, name)[index] for name in ("rows", "X", "y", "kinds")}
        return replace(self, **taken, repeats=self.weights[index])

    @property
    def n(self) -> int:
        return self.y.size

    @property
    def n_levels(self) -> int:
        return self.sample.n_levels

    @property
    def weights(self) -> FloatArray:
        """(M,) > 0."""
        return np.ones(self.n) if self.repeats is None else self.repeats

    @property
    def own_costs(self) -> FloatArray:
        """(M, K) costs of each example."""
        return self.costs[self.kinds]

    def _require_room(self) -> None:
        """DataError if the weights stand for more examples than fit into memory."""
        total = float(self.weights.sum())
        require_memory(f"A pass over {total:g} examples, the sum of the weights,", 32.0 * total, SMALLER_WEIGHTS)

    def in_turn(self) -> IntArray:
        """Each example as often as its weight (a whole number) says, one after another."""
        examples = np.arange(self.n, dtype=np.intp)
        self._require_room()
        return examples if self.repeats is None else np.repeat(examples, self.repeats.astype(np.intp))

    def drawn_by_cost(self, rng: np.random.Generator) -> IntArray:
        """As many draws as the weights add up to, with a probability proportional to weight times largest cost,
        which is above 0 somewhere.
        """
        self._require_room()
        share = np.cumsum(self.weights * self.costs.max(axis=1)[self.kinds])
        drawn = rng.random(max(int(np.rint(self.weights.sum())), 1)) * share[-1]
        return np.asarray(np.minimum(np.searchsorted(share, drawn, side="right"), self.n - 1), dtype=np.intp)
