"""Binary and weak learners, and sums of hypotheses over rounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..fit import Certificate, MarginFit, Potential, count_above
from ..formula.sample import CACHED, Rows, Sample, Scaling, row_blocks

# Numbers per row while the stumps of one column are added: value, position and sum.
_WIDTH = 4


@dataclass(frozen=True, eq=False, kw_only=True)
class InRounds(ABC):
    """A weighted sum over rounds.

    Attributes
    ----------
    round_weights : (T,) weight of every round
    """

    round_weights: FloatArray

    @abstractmethod
    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores, or (N, K-1) or (N, K) votes."""

    def __getstate__(self) -> dict[str, object]:
        # without cached values
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True, eq=False, kw_only=True)
class StumpSum(InRounds):
    """H(x) = sum_t weight_t sign(x[column_t] - cut_t); a tie x = cut counts as -1.

    Attributes
    ----------
    columns : (T,)
    cuts : (T,)
        -inf makes a constant.
    """

    columns: IntArray
    cuts: FloatArray

    @cached_property
    def steps(self) -> dict[int, tuple[FloatArray, FloatArray]]:
        """For each column: sorted cuts, and the sum of its stumps for values above 0,
        1, ... of these cuts.
        """
        merged = {}
        for column in np.unique(self.columns[np.isfinite(self.cuts)]).tolist():
            chosen = (self.columns == column) & np.isfinite(self.cuts)
            cuts, position = np.unique(self.cuts[chosen], return_inverse=True)
            jumps = np.bincount(
                position.ravel(),
                weights=2.0 * self.round_weights[chosen],
                minlength=cuts.size,
            )
            merged[column] = (
                cuts,
                np.cumsum(np.concatenate([[-self.round_weights[chosen].sum()], jumps])),
            )
        return merged

    def column_sum(self, X: FloatArray, column: int) -> FloatArray:
        """(N,) contribution of the stumps on one column to the scores of rows X (N, D)."""
        cuts, values = self.steps[column]
        return values[
            np.searchsorted(cuts, np.ascontiguousarray(X[:, column]), side="left")
        ]

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        scores = np.full(
            rows.n, float(self.round_weights[~np.isfinite(self.cuts)].sum())
        )
        for block in row_blocks(rows.n, _WIDTH, CACHED):
            for column in self.steps:
                scores[block] += self.column_sum(rows.X[block], column)
        return scores

    def importance(self, sample: Sample) -> FloatArray:
        """(D,) standard deviations over the rows of the contribution of each column to
        H.
        """
        sizes = np.zeros(sample.rows.X.shape[1])
        weights = sample.case_weights / sample.case_weights.sum()
        for column in self.steps:
            values = self.column_sum(sample.rows.X, column)
            sizes[column] = np.sqrt(weights @ (values - weights @ values) ** 2)
        return sizes


def hard_sign(values: FloatArray) -> FloatArray:
    """+1 where values >= 0, else -1."""
    return np.where(values >= 0.0, 1.0, -1.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class DirectionSum(InRounds):
    """H(x) = sum_t weight_t shape(<directions_t, (x, 1)>), x in scaled columns.

    Attributes
    ----------
    scaling : Scaling
    directions : (T, D + 1)
    shape : callable
        `hard_sign` for perceptrons, numpy.tanh for sigmoids.
    """

    scaling: Scaling
    directions: FloatArray
    shape: Callable[[FloatArray], FloatArray]

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        scores = np.zeros(rows.n)
        for block in row_blocks(rows.n, self.round_weights.size):
            inner = (
                self.scaling(rows.X[block]) @ self.directions[:, :-1].T
                + self.directions[:, -1]
            )
            scores[block] = self.shape(inner) @ self.round_weights
        return scores

    def importance(self, sample: Sample) -> FloatArray:
        """(D,) sum of absolute round weights, each divided among the scaled columns by
        the entries of its direction.
        """
        sizes = np.abs(self.directions[:, :-1])
        total = sizes.sum(axis=1, keepdims=True)
        return np.asarray(
            np.abs(self.round_weights) @ (sizes / np.where(total > 0.0, total, 1.0))
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class MemberSum(InRounds):
    """H(x) = sum_t weight_t h_t(x) of any hypotheses, or g_k(x) of answers to "rank
    above k?".

    Attributes
    ----------
    members : tuple of callables
        Rows to (N,) values in [-1, 1], or to (N, K-1) answers.
    shape : tuple
        (), or (K-1,).
    """

    members: tuple[Callable[[Rows], FloatArray], ...]
    shape: tuple[int, ...] = ()

    @property
    def n_levels(self) -> int:
        """K."""
        return self.shape[0] + 1

    def __call__(self, rows: Rows) -> FloatArray:
        scores = np.zeros((rows.n, *self.shape))
        for member, round_weight in zip(self.members, self.round_weights, strict=True):
            scores += round_weight * member(rows)
        return scores


@dataclass(frozen=True, eq=False, kw_only=True)
class Raised:
    """H(x) = first(x) + added(x), with the rounds of `added`."""

    first: Callable[[Rows], FloatArray]
    added: InRounds

    @property
    def round_weights(self) -> FloatArray:
        """(T,)."""
        return self.added.round_weights

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        return self.first(rows) + self.added(rows)


@dataclass(frozen=True, eq=False, kw_only=True)
class Rounds:
    """T rounds of boosting.

    Attributes
    ----------
    members : tuple of length T
        The hypothesis of every round, in the form of its learner.
    alphas : (T,)
        Weight of each hypothesis.
    losses, limits : (T+1,)
        Mean training loss before the first and after every round, and its limit by the
        training-error theorem.
    thetas : (T+1, K-1) or None
        Thresholds after every round; None if they are computed at the end.
    start : callable or None
        The potential that the rounds add to.
    message : str
        Why the rounds ended.
    state : dict
        State of the random generator after the last round, to continue from.
    """

    members: tuple[Any, ...]
    alphas: FloatArray
    losses: FloatArray
    limits: FloatArray
    thetas: FloatArray | None
    start: Potential | None
    message: str
    state: dict[str, Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class EnsembleFit(MarginFit):
    """A fit made in rounds.

    Attributes
    ----------
    rounds : Rounds
        All rounds.
    kept : int
        Number of rounds, from the first, that the rule uses.
    """

    rounds: Rounds
    kept: int

    @property
    def stages(self) -> range:
        """Numbers of rounds at which predictions are available; 0 is the start."""
        return range(self.rounds.losses.size)


@dataclass(frozen=True, eq=False, kw_only=True)
class RankStumpVotes(InRounds):
    """Votes of ranking stumps: ranker t puts x above k if sign_t (x[column_t] - cut_tk)
    > 0; a tie is -sign_t.

    Attributes
    ----------
    columns : (T,)
    signs : (T,)
    cuts : (T, K-1)
        -inf below all rows, inf above.
    """

    columns: IntArray
    signs: FloatArray
    cuts: FloatArray

    @property
    def n_levels(self) -> int:
        return int(self.cuts.shape[1]) + 1

    @cached_property
    def sums(self) -> tuple[StumpSum, ...]:
        """One sum of binary stumps for every k."""
        # No row lies above +inf: use a constant with the opposite sign.
        beyond = np.isposinf(self.cuts)
        cuts = np.where(beyond, -np.inf, self.cuts)
        round_weights = (
            np.where(beyond, -1.0, 1.0) * (self.signs * self.round_weights)[:, None]
        )
        return tuple(
            StumpSum(columns=self.columns, cuts=c, round_weights=h)
            for c, h in zip(cuts.T, round_weights.T, strict=True)
        )

    def importance(self, sample: Sample) -> FloatArray:
        """(D,) standard deviations, over the rows, of the contribution of each column
        to the votes, summed over k.
        """
        return np.asarray(
            np.sum([stumps.importance(sample) for stumps in self.sums], axis=0),
            dtype=np.float64,
        )

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1) votes."""
        return np.column_stack([stumps(rows) for stumps in self.sums])


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


@dataclass(frozen=True, eq=False, kw_only=True)
class Binary:
    """A weighted binary problem whose examples are rows of a sample.

    Attributes
    ----------
    index : (M,) positions of rows; a row may occur several times, also with both labels
    labels : (M,) +1.0 or -1.0
    weights : (M,) > 0
    """

    index: IntArray
    labels: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, index: IntArray, labels: FloatArray, weights: FloatArray) -> Binary:
        """The examples with nonzero weight."""
        used = weights > 0
        return cls(index=index[used], labels=labels[used], weights=weights[used])

    @property
    def one_sided(self) -> bool:
        """Whether all labels are the same; true without examples."""
        return bool((self.labels == self.labels[:1]).all())

    @property
    def side(self) -> float:
        """The label of a one-sided problem; 0 without examples."""
        return float(self.labels[0]) if self.labels.size else 0.0

    def among(self, mask: BoolArray) -> Binary:
        """The examples of the rows where `mask` (N,) is true."""
        inside = mask[self.index]
        return Binary(
            index=self.index[inside],
            labels=self.labels[inside],
            weights=self.weights[inside],
        )

    def loss(self, scores: FloatArray) -> float:
        """Total weight of the examples on the wrong side of scores (N,); a score of 0
        means -1.
        """
        answers = np.where(scores[self.index] > 0, 1.0, -1.0)
        return float(self.weights[answers != self.labels].sum())


#: P fitted binary classifiers: rows -> (N, P) scores; a score above 0 means +1.
Scorer = Callable[[Rows], FloatArray]


@dataclass(frozen=True, eq=False, kw_only=True)
class Learned:
    """P binary classifiers fitted to the rows of one sample.

    Attributes
    ----------
    scorer : Scorer
    scores : (N, P) of the rows of the sample
    certificate : Certificate
        Certificate of the worst classifier.
    iterations : int
        Total number of iterations.
    facts : tuple of (label, value)
        For the summary.
    """

    scorer: Scorer
    scores: FloatArray
    certificate: Certificate
    iterations: int
    facts: tuple[tuple[str, Any], ...] = ()


class Trainer(Protocol):
    """A learner on the rows of one sample; shared work is done once."""

    def fit(self, problems: Sequence[Binary], rng: np.random.Generator) -> Learned:
        """Solve every problem."""


class BinaryLearner(ABC):
    """Settings of a weighted binary classifier."""

    @property
    def counts_rows(self) -> bool:
        """Whether the number of rows matters besides their weights, as for a minimum
        size of leaves.
        """
        return False

    @abstractmethod
    def on(self, X: FloatArray, case_weights: FloatArray) -> Trainer:
        """The trainer for problems among the rows of X (N, D); rows of case weight 0
        appear in no problem.
        """

    def fit(
        self, X: FloatArray, z: FloatArray, w: FloatArray, rng: np.random.Generator
    ) -> Learned:
        """Fit one problem: labels z (N,) of +1 and -1 with weights w (N,) >= 0."""
        problem = Binary.of(np.arange(len(X)), z, w)
        return self.on(X, w).fit((problem,), rng)


@dataclass(frozen=True, eq=False)
class Weak:
    """A weak hypothesis in the form of its trainer, and its values (N,) on the training
    rows.
    """

    member: Any
    values: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class HypothesisClass:
    """The size of a class of hypotheses on the rows of a sample.

    Attributes
    ----------
    log_size : float
        Logarithm of a bound on the number of distinct label vectors; NaN if unknown or
        if values are real.
    squared_lengths : (N,) or None
        |phi(x_n)|^2 of real-valued hypotheses x -> <v, phi(x)>, |v| <= 1, inside a 1-Lipschitz function.
    """

    log_size: float
    squared_lengths: FloatArray | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class WeakTrainer(ABC):
    """A weak learner on the rows X (N, D) of one sample; shared work is done once."""

    X: FloatArray

    #: Whether a hypothesis worse than chance, such as a sigmoid of a good perceptron,
    #: gets a negative weight.
    reversible: ClassVar[bool] = True

    @abstractmethod
    def best(self, u: FloatArray, rng: np.random.Generator) -> Weak:
        """A hypothesis with a large sum_n u_n h(x_n), u (N,)."""

    @abstractmethod
    def combine(self, members: Sequence[Any], round_weights: FloatArray) -> InRounds:
        """sum_t weight_t h_t as a potential."""

    @abstractmethod
    def richness(self) -> HypothesisClass:
        """Size of the class of all hypotheses that `best` may return."""

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.X)


class WeakLearner(ABC):
    """Settings of a learner that boosting calls in every round."""

    @abstractmethod
    def on(self, X: FloatArray, case_weights: FloatArray) -> WeakTrainer:
        """The trainer for the rows of X (N, D)."""
