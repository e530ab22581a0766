"""Rankers that answer K-1 questions "rank above k?": one by one, so that answers may clash, or by log odds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from ..._typing import FloatArray, IntArray
from ..ensembles.rankers import interpolated_median
from ..rules import ThresholdRule, count_above, most_votes
from ..sample import Rows
from .encoding import EncodedAnswers


def in_order(answers: FloatArray) -> FloatArray:
    """(N, K-1) the same answers, each row sorted so that they do not grow in k.

    The number of answers above any level, and so the rank, stays; and so does the sum of probabilities, and so the mean
    rank. A rearrangement is never farther from the truth, which does not grow either (Chernozhukov et al. 2010).

    Examples
    --------
    >>> in_order(np.array([[0.4, 0.9, 0.1]])).tolist()
    [[0.9, 0.4, 0.1]]
    """
    return -np.sort(-answers, axis=1)


def out_of_order(answers: FloatArray) -> IntArray:
    """(N,) 1 for a row whose answers (N, K-1) grow somewhere in k, else 0."""
    return np.asarray((np.diff(answers, axis=1) > 0).any(axis=1), dtype=np.intp)


class CumulativeProbabilities(ABC):
    """Probabilities of ranks by those of "rank at most k"."""

    @abstractmethod
    def cum_probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(rank <= k)."""

    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(rank = k)."""
        return np.diff(self.cum_probabilities(rows, scores), axis=1, prepend=0.0)


@dataclass(frozen=True, eq=False)
class CountingRule(CumulativeProbabilities):
    """rank(x) = 1 + #{k : g(x, k) > 0} [Lin 2008, eq. 4.1].

    Its score is the interpolated median of the answers g / (1 + |g|) put in order, on which the thresholds are
    1, ..., K-1; its gaps are the answers as they are.

    Attributes
    ----------
    answers : EncodedAnswers
    unbiased : bool
        Whether the examples of each question were weighted alike, so that probabilities of its answers are those of
        the ranks.
    """

    answers: EncodedAnswers
    unbiased: bool

    by_median: ClassVar[bool] = True

    @property
    def n_levels(self) -> int:
        return self.answers.n_levels

    @property
    def theta(self) -> FloatArray:
        """(K-1,) thresholds on the score."""
        return np.arange(1.0, self.n_levels)

    @property
    def probable(self) -> bool:
        """Whether there are probabilities of ranks."""
        return self.unbiased and self.answers.probable

    def scores(self, rows: Rows) -> FloatArray:
        return position(self.answers(rows))

    def gaps(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K-1) g(x, k)."""
        return self.answers(rows)

    def codes(self, rows: Rows, scores: FloatArray | None = None) -> IntArray:
        return count_above((self.scores(rows) if scores is None else scores)[:, None] - self.theta)

    def cum_probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(rank <= k)."""
        return np.hstack([1.0 - in_order(self.answers.above(rows)), np.ones((rows.n, 1))])


@dataclass(frozen=True, eq=False)
class ModalRule(CountingRule):
    """rank(x) = the most probable rank, ties to the lower [Frank & Hall 2001]."""

    def codes(self, rows: Rows, scores: FloatArray | None = None) -> IntArray:
        return most_votes(self.probabilities(rows))


def position(answers: FloatArray) -> FloatArray:
    """(N,) interpolated median of answers (N, K-1)."""
    # Some classifiers are sure without bound.
    finite = np.clip(answers, -1e150, 1e150)
    squashed = finite / (1.0 + np.abs(finite))
    return interpolated_median(in_order(squashed), 1.0)


@dataclass(frozen=True, eq=False)
class LogisticRule(CumulativeProbabilities, ThresholdRule):
    """rank(x) = 1 + #{k : H(x) > theta_k}, with P(rank > k) = 1 / (1 + exp(theta_k - H(x))).

    Attributes
    ----------
    potential : Potential
    theta : (K-1,) not falling
    unbiased : bool
        Whether the examples of each question were weighted alike, so that there are probabilities.
    """

    unbiased: bool

    @property
    def probable(self) -> bool:
        """Whether there are probabilities of ranks."""
        return self.unbiased

    def cum_probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(rank <= k)."""
        return np.hstack([expit(-self.gaps(rows, scores)), np.ones((rows.n, 1))])
