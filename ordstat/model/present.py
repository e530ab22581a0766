"""Samples in which some levels have no rows: fitted without them, answers put back among all levels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from .._typing import FloatArray, IntArray
from .fit import Fit
from .sample import Sample


class Priced(Protocol):
    """A method, and the same with another cost."""

    @property
    def cost(self) -> Any: ...
    def with_cost(self, cost: Any) -> Priced: ...
    def fit(self, sample: Sample, rng: np.random.Generator) -> Fit: ...


@dataclass(frozen=True, eq=False)
class Present:
    """The levels that have rows of positive weight, among K.

    Attributes
    ----------
    codes : (K',) codes of these levels, rising
    n_levels : int
        K.
    """

    codes: IntArray
    n_levels: int

    @classmethod
    def of(cls, sample: Sample) -> Present:
        """Those of a sample."""
        return cls(np.unique(sample.y[sample.case_weights > 0]), sample.n_levels)

    @property
    def all(self) -> bool:
        """Whether no level lacks rows."""
        return self.codes.size == self.n_levels

    def among(self, sample: Sample) -> Sample:
        """The rows of these levels, recoded 0..K'-1, with their costs of predicting these levels."""
        inside = np.isin(sample.y, self.codes)
        some = sample if inside.all() else sample.take(np.flatnonzero(inside))
        costs = None if some.costs is None else some.costs[:, self.codes]
        y = np.searchsorted(self.codes, some.y).astype(np.intp)
        return replace(some, y=y, n_levels=int(self.codes.size), costs=costs)

    def fit(self, method: Priced, part: Sample, rng: np.random.Generator) -> Fit:
        """A fit to rows that are of these levels alone; its rule has K' of them."""
        if self.all:
            return method.fit(part, rng)
        if np.ndim(method.cost) == 2:
            method = method.with_cost(np.asarray(method.cost)[np.ix_(self.codes, self.codes)])
        return method.fit(self.among(part), rng)

    def spread_codes(self, codes: IntArray) -> IntArray:
        """Codes 0..K'-1 as codes among all levels."""
        spread: IntArray = self.codes[codes]
        return spread

    def spread_votes(self, votes: FloatArray) -> FloatArray:
        """(N, K) votes (N, K'), the others having as few as the least voted level of the row."""
        out = np.repeat(votes.min(axis=1, keepdims=True), self.n_levels, axis=1)
        out[:, self.codes] = votes
        return out

    def spread_probabilities(self, probabilities: FloatArray) -> FloatArray:
        """(N, K) probabilities (N, K'), the others being 0."""
        out = np.zeros((len(probabilities), self.n_levels))
        out[:, self.codes] = probabilities
        return out

    def spread_thresholds(self, theta: FloatArray) -> FloatArray:
        """(..., K-1) thresholds (..., K'-1): an absent level lies between two that are equal, or beyond infinity.

        Examples
        --------
        >>> Present(np.array([1, 3]), 5).spread_thresholds(np.array([0.5]))
        array([-inf,  0.5,  0.5,  inf])
        """
        infinite = np.full((*theta.shape[:-1], 1), np.inf)
        ends = np.concatenate([-infinite, theta, infinite], axis=-1)
        # The threshold above level k is the lower end of the first level present above k.
        spread: FloatArray = ends[..., np.searchsorted(self.codes, np.arange(1, self.n_levels))]
        return spread
