"""Rules that know the probability of every rank, and predict the rank of least expected cost."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from .._typing import FloatArray, IntArray
from .costs import CostMatrix
from .row_blocks import row_blocks
from .sample import Rows

#: Expected costs closer than this share of the largest one are a tie, and the lower rank is taken.
_TIE = 1e-12


def expected_costs(probabilities: FloatArray, cost: CostMatrix) -> FloatArray:
    """(n, K) expected cost of predicting each rank; the classification cost needs no K x K matrix."""
    if cost == CostMatrix.classification():
        return 1.0 - probabilities
    return np.asarray(probabilities @ cost.matrix(probabilities.shape[1]))


def least_expected(probabilities: FloatArray, cost: CostMatrix) -> IntArray:
    """(n,) ranks of least expected cost; ties go to the lower rank.

    Examples
    --------
    >>> least_expected(np.array([[0.4, 0.3, 0.3]]), CostMatrix.absolute())
    array([1])
    """
    expected = np.ascontiguousarray(expected_costs(probabilities, cost).T)  # (K, n)
    largest = np.abs(expected).max(axis=0)
    return np.asarray(np.argmax(expected <= expected.min(axis=0) + _TIE * largest, axis=0), dtype=np.intp)


class CostRule(ABC):
    """A rule of least expected cost.

    Attributes
    ----------
    cost : CostMatrix
        What `codes` minimise in expectation.
    """

    cost: CostMatrix

    @property
    def probable(self) -> bool:
        """True: there are probabilities of ranks."""
        return True

    @property
    @abstractmethod
    def n_levels(self) -> int:
        """K."""

    @abstractmethod
    def scores(self, rows: Rows) -> FloatArray:
        """(N,) what orders the rows."""

    @abstractmethod
    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(y = k)."""

    @abstractmethod
    def log_odds_above(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K-1) log(P(y > k) / P(y <= k))."""

    def codes(self, rows: Rows, scores: FloatArray | None = None, known: FloatArray | None = None) -> IntArray:
        """(N,) rank of least expected cost; ties go to the lower rank. `known` are the probabilities, if at hand."""
        codes = np.empty(rows.n, dtype=np.intp)
        for some in row_blocks(rows.n, self.n_levels):
            part = rows.take(some), None if scores is None else scores[some]
            found = self.probabilities(*part) if known is None else known[some]
            codes[some] = least_expected(found, self.cost)
        return codes
