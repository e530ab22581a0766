"""Encodings of ranks as binary examples, and rules that combine the answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from .._typing import FloatArray, IntArray
from ..fit import CostBound, MarginFit, ThresholdRule, count_above, most_votes
from ..formula.distinct import DistinctRows
from ..formula.row_blocks import row_blocks
from ..formula.sample import Rows
from ..formula.scaling import Scaling
from ..formula.sparse import in_place_of_dense, numbers_per_row, sparse_part
from ..judging.costs import is_convex, split_weights

#: How k enters the examples: one column for each k, steps [k > j], or a separate
#: classifier for every k.
ENCODINGS = ("one-hot", "ordinal", "separate")


def codes_of(encoding: str, n_levels: int) -> FloatArray | None:
    """(K-1, E) columns that encode k; None for separate classifiers.

    Examples
    --------
    >>> codes_of("one-hot", 3)
    array([[1., 0.],
           [0., 1.]])
    >>> codes_of("ordinal", 4)
    array([[0., 0.],
           [1., 0.],
           [1., 1.]])
    """
    k = np.arange(n_levels - 1)
    if encoding == "separate":
        return None
    if encoding == "one-hot":
        return np.eye(k.size)
    return np.where(k[:, None] > k[:-1], 1.0, 0.0)


def extended_rows(X: FloatArray, codes: FloatArray) -> FloatArray:
    """(N (K-1), D + E) rows (x_n, code of k), k running fastest, from X (N, D) and
    codes (K-1, E); sparse columns stay sparse.

    Examples
    --------
    >>> extended_rows(np.array([[5.0], [6.0]]), np.array([[0.0], [1.0]])).tolist()
    [[5.0, 0.0], [5.0, 1.0], [6.0, 0.0], [6.0, 1.0]]
    """
    tiled = np.tile(codes, (len(X), 1))
    sparse = sparse_part(X)
    if sparse is None:
        return np.hstack([np.repeat(X, len(codes), axis=0), tiled])
    repeated = sparse[np.repeat(np.arange(len(X)), len(codes))]
    return in_place_of_dense(repeated.hstack(tiled))


@dataclass(frozen=True, eq=False, kw_only=True)
class EncodedAnswers:
    """g(x, k) by one classifier of extended rows, or by one classifier per k.

    Attributes
    ----------
    scorer : callable(rows) to (N, 1) scores of extended rows, or (N, K-1) scores
        If its `probable` is true, `above` gives probabilities of yes.
    n_levels : int
        K.
    codes : (K-1, E) or None
        None for separate classifiers.
    scaling : Scaling
        Scaling of the columns of x.
    """

    scorer: Any
    n_levels: int
    codes: FloatArray | None
    scaling: Scaling

    @property
    def probable(self) -> bool:
        """Whether there are probabilities."""
        return bool(getattr(self.scorer, "probable", False))

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1) scores g(x, k)."""
        return self._by_blocks(self.scorer, rows)

    def above(self, rows: Rows) -> FloatArray:
        """(N, K-1) probabilities of "above k"."""
        return self._by_blocks(self.scorer.above, rows)

    def _by_blocks(
        self, function: Callable[[Rows], FloatArray], rows: Rows
    ) -> FloatArray:
        """Apply a function to extended rows, one block of rows at a time."""
        X = self.scaling(rows.X)
        codes = self.codes
        if codes is None:
            return function(Rows(X=X))
        blocks = row_blocks(rows.n, len(codes) * (numbers_per_row(X) + codes.shape[1]))
        parts = (
            function(Rows(X=extended_rows(X[block], codes))).reshape(-1, len(codes))
            for block in blocks
        )
        return np.concatenate([np.zeros((0, len(codes))), *parts])


def in_order(answers: FloatArray) -> FloatArray:
    """(N, K-1) answers sorted in each row so that they do not increase in k.

    Predicted rank (the number of positive answers) and mean rank (the sum of
    probabilities) do not change. Sorted values are never farther from the true ones,
    which do not increase in k either (Chernozhukov et al. 2010).

    Examples
    --------
    >>> in_order(np.array([[0.4, 0.9, 0.1]])).tolist()
    [[0.9, 0.4, 0.1]]
    """
    return -np.sort(-answers, axis=1)


def out_of_order(answers: FloatArray) -> IntArray:
    """(N,) 1 for a row whose answers (N, K-1) increase somewhere in k, else 0."""
    return np.asarray((np.diff(answers, axis=1) > 0).any(axis=1), dtype=np.intp)


def answers(codes: IntArray, n_levels: int) -> FloatArray:
    """(N, K-1) +1 where a code is above k, else -1.

    Examples
    --------
    >>> answers(np.array([0, 2]), 3).tolist()
    [[-1.0, -1.0], [1.0, 1.0]]
    """
    return np.where(np.asarray(codes)[:, None] > np.arange(n_levels - 1), 1.0, -1.0)


def interpolated_median(votes: FloatArray, total: float) -> FloatArray:
    """(N,) where the votes g_1 >= ... >= g_{K-1} (N, K-1), with g_0 = total and g_K =
    -total, cross 0.

    The crossing is interpolated linearly, as in the median of grouped data. The number
    of positive votes is the number of k = 1, ..., K-1 below it, so it is a score with
    thresholds 1, ..., K-1.

    Examples
    --------
    >>> interpolated_median(np.array([[1.0, -3.0]]), 3.0).tolist()
    [1.25]
    """
    ends = np.full((len(votes), 1), max(total, 1.0))
    padded = np.hstack([ends, votes, -ends])
    code = count_above(votes)
    rows = np.arange(len(votes))
    above = padded[rows, code]
    below = padded[rows, code + 1]
    crossing = code + above / (above - below)
    return np.asarray(
        np.maximum(crossing, np.nextafter(code.astype(np.float64), np.inf))
    )


@dataclass(frozen=True, eq=False)
class MedianRule:
    """rank(x) = the weighted median of rankers, 1 + #{k : g_k(x) > 0} [Lin 2008, eq.
    4.9-4.10]; ties go to the lower.

    The score is the interpolated median, with thresholds 1, ..., K-1; the gaps are the
    votes g_k.

    Attributes
    ----------
    potential : RankStumpVotes or MemberSum
        g_k(x) = sum_t vote_t (+1 if ranker t puts x above k, else -1).
    """

    potential: Any

    @property
    def n_levels(self) -> int:
        return int(self.potential.n_levels)

    @property
    def theta(self) -> FloatArray:
        """(K-1,) thresholds on the score."""
        return np.arange(1.0, self.n_levels)

    def scores(self, rows: Rows) -> FloatArray:
        return interpolated_median(
            self.potential(rows), float(np.abs(self.potential.round_weights).sum())
        )

    def gaps(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K-1) g_k."""
        return np.asarray(self.potential(rows))

    def codes(self, rows: Rows, scores: FloatArray | None = None) -> IntArray:
        return count_above(
            (self.scores(rows) if scores is None else scores)[:, None] - self.theta
        )


class CumulativeProbabilities(ABC):
    """Probabilities of ranks from cumulative probabilities."""

    @abstractmethod
    def cum_probabilities(
        self, rows: Rows, scores: FloatArray | None = None
    ) -> FloatArray:
        """(N, K) P(rank <= k)."""

    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(rank = k)."""
        return np.diff(self.cum_probabilities(rows, scores), axis=1, prepend=0.0)


@dataclass(frozen=True, eq=False)
class CountingRule(CumulativeProbabilities, MedianRule):
    """rank(x) = 1 + #{k : g(x, k) > 0} [Lin 2008, eq. 4.1].

    The score is the interpolated median of the sorted answers g / (1 + |g|), with
    thresholds 1, ..., K-1; the gaps are the unsorted answers.

    Attributes
    ----------
    potential : EncodedAnswers
    unbiased : bool
        Whether the examples of each question had equal weights, so that probabilities
        of answers are those of ranks.
    """

    potential: EncodedAnswers
    unbiased: bool

    by_median: ClassVar[bool] = True

    @property
    def probable(self) -> bool:
        """Whether there are probabilities of ranks."""
        return self.unbiased and self.potential.probable

    def scores(self, rows: Rows) -> FloatArray:
        return position(self.potential(rows))

    def cum_probabilities(
        self, rows: Rows, scores: FloatArray | None = None
    ) -> FloatArray:
        """(N, K) P(rank <= k)."""
        return np.hstack(
            [1.0 - in_order(self.potential.above(rows)), np.ones((rows.n, 1))]
        )


@dataclass(frozen=True, eq=False)
class ModalRule(CountingRule):
    """rank(x) = the most probable rank, ties to the lower [Frank & Hall 2001]."""

    def codes(self, rows: Rows, scores: FloatArray | None = None) -> IntArray:
        return most_votes(self.probabilities(rows))


def position(answers: FloatArray) -> FloatArray:
    """(N,) interpolated median of answers (N, K-1)."""
    # Some classifiers have infinite scores.
    finite = np.clip(answers, -1e150, 1e150)
    squashed = finite / (1.0 + np.abs(finite))
    return interpolated_median(in_order(squashed), 1.0)


@dataclass(frozen=True, eq=False)
class LogisticRule(CumulativeProbabilities, ThresholdRule):
    """rank(x) = 1 + #{k : H(x) > theta_k}, with P(rank > k) = 1 / (1 + exp(theta_k -
    H(x))).

    Attributes
    ----------
    potential : Potential
    theta : (K-1,) nondecreasing
    unbiased : bool
        Whether the examples of each question had equal weights; only then there are
        probabilities.
    """

    unbiased: bool

    @property
    def probable(self) -> bool:
        """Whether there are probabilities of ranks."""
        return self.unbiased

    def cum_probabilities(
        self, rows: Rows, scores: FloatArray | None = None
    ) -> FloatArray:
        """(N, K) P(rank <= k)."""
        return np.hstack([expit(-self.gaps(rows, scores)), np.ones((rows.n, 1))])


# Steps of costs that differ by a smaller share are equal.
_ALIKE = 1e-12


@dataclass(frozen=True, eq=False)
class Extended:
    """Labels and weights of the extended examples.

    Attributes
    ----------
    labels : (N, K-1)
        Y_nk = +1.0 where y_n > k, else -1.0.
    weights : (N, K-1)
        W_nk = w_n |c_n[k+1] - c_n[k]| >= 0.
    """

    labels: FloatArray
    weights: FloatArray


def extend(y: IntArray, costs: FloatArray, case_weights: FloatArray) -> Extended:
    """Reduce a ranking problem to binary examples [Lin 2008, eq. 4.3-4.4, without the
    common factor K - 1].

    Parameters
    ----------
    y : (N,) codes 0..K-1
    costs : (N, K)
        Cost of each prediction for each row.
    case_weights : (N,) >= 0

    Examples
    --------
    >>> from ordstat.judging.costs import CostMatrix
    >>> y = np.array([0, 2])
    >>> extend(y, CostMatrix.absolute().rows(y, 3), np.array([1.0, 2.0]))
    Extended(labels=array([[-1., -1.],
           [ 1.,  1.]]), weights=array([[1., 1.],
           [2., 2.]]))
    """
    return Extended(
        answers(y, costs.shape[1]), split_weights(costs) * case_weights[:, None]
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class ReductionFit(MarginFit):
    """Answers of a binary classifier to "rank above k?".

    Attributes
    ----------
    bound : CostBound, or None if the theorem does not apply
    crossed : float
        Weight of the training rows whose answers (or their probabilities) contradict
        each other.
    """

    bound: CostBound | None = None
    crossed: float = 0.0


def alike(steps: FloatArray) -> bool:
    """Whether the weights of every question, the columns of (N, K-1), are the same for
    all rows.
    """
    return bool((np.ptp(steps, axis=0) <= _ALIKE * steps.max()).all())


def binary_cost(gaps: FloatArray, extended: Extended) -> float:
    """Weight of the wrong answers among g(x_n, k) (N, K-1); an answer of 0 means no."""
    return float(
        extended.weights[np.where(gaps > 0, 1.0, -1.0) != extended.labels].sum()
    )


def training_bound(
    train: DistinctRows, gaps: FloatArray, extended: Extended
) -> CostBound | None:
    """Cost of the training rows by the weight of wrong answers [th. 4.1]; None if the
    theorem does not apply.
    """
    if not is_convex(train.costs) and out_of_order(np.sign(gaps)).any():
        return None
    codes = count_above(gaps)
    above = (
        train.costs[np.arange(train.n), codes]
        - train.costs[np.arange(train.n), train.y]
    )
    total = float(train.weights.sum())
    return CostBound(
        value=float(train.weights @ above) / total,
        limit=binary_cost(gaps, extended) / total,
        source="Lin 2008, th. 4.1",
    )
