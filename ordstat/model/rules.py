"""How scores become ranks.

Larger H means higher rank; a tie H = theta_k goes to the lower rank; codes are 0..K-1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from .sample import Rows
from .ties import ROUNDING, cleared


class Potential(Protocol):
    """H as a value: a fitted real-valued function of the rows."""

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""


class Rule(Protocol):
    """A fitted ranker."""

    @property
    def n_levels(self) -> int:
        """K."""

    def scores(self, rows: Rows) -> FloatArray:
        """(N,) potential H(x), offset included; (N, K) votes of a rule without thresholds."""

    def codes(self, rows: Rows, scores: FloatArray | None = None) -> IntArray:
        """(N,) predicted codes 0..K-1; `scores` saves computing them again."""


class GapRule(Rule, Protocol):
    """A fitted ranker with thresholds, and so with margins."""

    def gaps(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K-1) H(x) - theta_k, where theta_k may depend on x (nominal effects); `scores` saves recomputing H."""


def count_above(gaps: AnyArray) -> IntArray:
    """(N,) codes from (N, K-1) gaps H - theta_k: the number of thresholds strictly below H."""
    return np.asarray(np.count_nonzero(gaps > 0, axis=1), dtype=np.intp)


@dataclass(frozen=True, eq=False)
class ThresholdRule:
    """rank(x) = 1 + #{k : H(x) > theta_k} [Lin 2008, eq. 3.1].

    Attributes
    ----------
    potential : Potential
    theta : (K-1,) thresholds
    tie : float
        A gap to a threshold no larger than this is rounding, and 0.
    """

    potential: Potential
    theta: FloatArray
    tie: float = field(default=0.0, kw_only=True)

    @property
    def n_levels(self) -> int:
        return int(self.theta.size) + 1

    def scores(self, rows: Rows) -> FloatArray:
        return self.potential(rows)

    def gaps(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        gaps: FloatArray = (self.scores(rows) if scores is None else scores)[:, None] - self.theta
        return cleared(gaps, self.tie) if self.tie else gaps

    def codes(self, rows: Rows, scores: FloatArray | None = None) -> IntArray:
        return count_above(self.gaps(rows, scores))


class Votes(Protocol):
    """A fitted score of every rank."""

    @property
    def n_levels(self) -> int:
        """K."""

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K) scores, larger for the better rank."""


def most_votes(votes: AnyArray) -> IntArray:
    """(N,) codes of the rank with the largest of its (N, K) votes, ties (but for rounding) to the lower rank.

    Examples
    --------
    >>> most_votes(np.array([[1, 2, 2], [3, 0, 3]]))
    array([1, 0])
    """
    if votes.dtype.kind == "f":
        most = votes.max(axis=1, keepdims=True)
        votes = votes >= most - ROUNDING * np.abs(most)
    return np.asarray(np.argmax(votes, axis=1), dtype=np.intp)


@dataclass(frozen=True, eq=False)
class ScoreRule:
    """rank(x) = argmax_k of a score of every rank, ties to the lower rank.

    Attributes
    ----------
    votes : Votes
    """

    votes: Votes

    @property
    def n_levels(self) -> int:
        return self.votes.n_levels

    def scores(self, rows: Rows) -> FloatArray:
        return self.votes(rows)

    def codes(self, rows: Rows, scores: FloatArray | None = None) -> IntArray:
        return most_votes(self.scores(rows) if scores is None else scores)
