"""Sums of members, and rankers in rounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from .._typing import FloatArray, IntArray
from ..fit import MarginFit, Potential, count_above
from ..formula.sample import CACHED, Rows, Sample, Scaling, row_blocks

# Numbers of a row that a step looks at: its column, its place and the sum.
_WIDTH = 4


@dataclass(frozen=True, eq=False, kw_only=True)
class InRounds(ABC):
    """A sum over rounds, some of whose fields have an entry for each.

    Attributes
    ----------
    round_weights : (T,) weight of every round
    """

    round_weights: FloatArray

    #: The other fields with an entry a round.
    by_round: ClassVar[tuple[str, ...]]

    @abstractmethod
    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores, or (N, K-1) or (N, K) votes."""

    def upto(self, rounds: int) -> Self:
        """The sum of the first rounds alone."""
        return replace(self, **{name: getattr(self, name)[:rounds] for name in ("round_weights", *self.by_round)})

    def __getstate__(self) -> dict[str, object]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # without what is cached


@dataclass(frozen=True, eq=False)
class _Steps:
    """A step function of one column: values[i] where exactly i of the growing cuts are below x."""

    column: int
    cuts: FloatArray
    values: FloatArray

    def __call__(self, X: FloatArray) -> FloatArray:
        below = np.searchsorted(self.cuts, np.ascontiguousarray(X[:, self.column]), side="left")
        return self.values[below]


@dataclass(frozen=True, eq=False, kw_only=True)
class StumpSum(InRounds):
    """H(x) = sum_t weight_t sign(x[column_t] - cut_t), a tie x = cut counting as -1.

    Attributes
    ----------
    columns : (T,)
    cuts : (T,)
        -inf makes a constant.
    """

    columns: IntArray
    cuts: FloatArray

    by_round = ("columns", "cuts")

    @cached_property
    def steps(self) -> tuple[_Steps, ...]:
        """The stumps of every column merged into one table."""
        return tuple(self._merged(int(column)) for column in np.unique(self.columns[np.isfinite(self.cuts)]))

    @property
    def constant(self) -> float:
        """Sum of the weights of the constants."""
        return float(self.round_weights[~np.isfinite(self.cuts)].sum())

    def _merged(self, column: int) -> _Steps:
        own = (self.columns == column) & np.isfinite(self.cuts)
        cuts, place = np.unique(self.cuts[own], return_inverse=True)
        jumps = np.bincount(place.ravel(), weights=2.0 * self.round_weights[own], minlength=cuts.size)
        values = np.cumsum(np.concatenate([[-self.round_weights[own].sum()], jumps]))
        return _Steps(column, cuts, values)

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        scores = np.full(rows.n, self.constant)
        for some in row_blocks(rows.n, _WIDTH, CACHED):
            for step in self.steps:
                scores[some] += step(rows.X[some])
        return scores

    def importance(self, sample: Sample) -> FloatArray:
        """(D,) standard deviations, over the rows, of what each column adds to H."""
        sizes = np.zeros(sample.rows.X.shape[1])
        weights = sample.case_weights / sample.case_weights.sum()
        for step in self.steps:
            values = step(sample.rows.X)
            sizes[step.column] = np.sqrt(weights @ (values - weights @ values) ** 2)
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

    by_round = ("directions",)

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        scores = np.zeros(rows.n)
        for some in row_blocks(rows.n, self.round_weights.size):
            X = self.scaling(rows.X[some])
            inner = X @ self.directions[:, :-1].T + self.directions[:, -1]
            scores[some] = self.shape(inner) @ self.round_weights
        return scores

    def importance(self, sample: Sample) -> FloatArray:
        """(D,) sizes of the rounds' weights, each shared among the scaled columns by its direction's entries."""
        sizes = np.abs(self.directions[:, :-1])
        total = sizes.sum(axis=1, keepdims=True)
        shares = np.divide(sizes, total, out=np.zeros_like(sizes), where=total > 0.0)
        return np.asarray(np.abs(self.round_weights) @ shares)


@dataclass(frozen=True, eq=False, kw_only=True)
class MemberSum(InRounds):
    """H(x) = sum_t weight_t h_t(x) of any hypotheses, or g_k(x) of answers to "rank above k?".

    Attributes
    ----------
    members : tuple of callables
        Rows to (N,) values in [-1, 1], or to (N, K-1) answers.
    shape : tuple
        (), or (K-1,).
    """

    members: tuple[Callable[[Rows], FloatArray], ...]
    shape: tuple[int, ...] = ()

    by_round = ("members",)

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
    """H(x) = first(x) + added(x), the rounds being those of `added`."""

    first: Callable[[Rows], FloatArray]
    added: InRounds

    @property
    def round_weights(self) -> FloatArray:
        """(T,)."""
        return self.added.round_weights

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        return self.first(rows) + self.added(rows)

    def upto(self, rounds: int) -> Raised:
        """The first rounds alone."""
        return replace(self, added=self.added.upto(rounds))


@dataclass(frozen=True, eq=False, kw_only=True)
class Rounds:
    """T rounds of boosting.

    Attributes
    ----------
    members : tuple of length T
        The hypothesis of every round, as its learner knows it.
    alphas : (T,)
        Its weight.
    losses, limits : (T+1,)
        Mean training loss before the first and after every round, and what the training-error theorem allows it.
    thetas : (T+1, K-1) or None
        Thresholds after every round; None where they are found at the end alone.
    validation : (T+1,) or None
        Mean cost of the held-out rows.
    start : callable or None
        The potential that the rounds add to.
    held : (M,) positions of the held-out rows among the distinct rows, or None
    message : str
        Why the rounds ended.
    state : dict
        State of the random generator after the last round, for more of them.
    """

    members: tuple[Any, ...]
    alphas: FloatArray
    losses: FloatArray
    limits: FloatArray
    thetas: FloatArray | None
    validation: FloatArray | None
    start: Potential | None
    held: IntArray | None
    message: str
    state: dict[str, Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class EnsembleFit(MarginFit):
    """A fit made in rounds.

    Attributes
    ----------
    rounds : Rounds
        All that were made.
    kept : int
        How many of them, from the first, the rule uses.
    """

    rounds: Rounds
    kept: int

    @property
    def stages(self) -> range:
        """After how many rounds the fit can be asked; 0 is the start."""
        return range(self.rounds.losses.size)


@dataclass(frozen=True, eq=False, kw_only=True)
class RankStumpVotes(InRounds):
    """Votes of ranking stumps: ranker t puts x above k where sign_t (x[column_t] - cut_tk) > 0, a tie being -sign_t.

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

    by_round = ("columns", "signs", "cuts")

    @property
    def n_levels(self) -> int:
        return int(self.cuts.shape[1]) + 1

    @cached_property
    def sums(self) -> tuple[StumpSum, ...]:
        """One sum of binary stumps for every k."""
        # Above +inf nobody lies: a constant of the other sign.
        beyond = np.isposinf(self.cuts)
        cuts = np.where(beyond, -np.inf, self.cuts)
        round_weights = np.where(beyond, -1.0, 1.0) * (self.signs * self.round_weights)[:, None]
        return tuple(
            StumpSum(columns=self.columns, cuts=c, round_weights=h)
            for c, h in zip(cuts.T, round_weights.T, strict=True)
        )

    def importance(self, sample: Sample) -> FloatArray:
        """(D,) standard deviations, over the rows, of what each column adds to the votes; the sum over k."""
        return np.asarray(np.sum([one.importance(sample) for one in self.sums], axis=0), dtype=np.float64)

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1)."""
        return np.column_stack([one(rows) for one in self.sums])


def answers(codes: IntArray, n_levels: int) -> FloatArray:
    """(N, K-1) +1 where a code is above k, else -1.

    Examples
    --------
    >>> answers(np.array([0, 2]), 3).tolist()
    [[-1.0, -1.0], [1.0, 1.0]]
    """
    return np.where(np.asarray(codes)[:, None] > np.arange(n_levels - 1), 1.0, -1.0)


def interpolated_median(votes: FloatArray, total: float) -> FloatArray:
    """(N,) where the votes g_1 >= ... >= g_{K-1} (N, K-1), with g_0 = total and g_K = -total, cross 0.

    Between k and k + 1 the crossing is found by a straight line, as is the median of grouped data: the number of
    k = 1, ..., K-1 below it is the number of positive votes, so that it is a score with these thresholds.

    Examples
    --------
    >>> interpolated_median(np.array([[1.0, -3.0]]), 3.0).tolist()
    [1.25]
    """
    ends = np.full((len(votes), 1), max(total, 1.0))
    padded = np.hstack([ends, votes, -ends])
    code = count_above(votes)
    rows = np.arange(len(votes))
    above, below = padded[rows, code], padded[rows, code + 1]
    crossing = code + above / (above - below)
    return np.asarray(np.maximum(crossing, np.nextafter(code.astype(np.float64), np.inf)))


@dataclass(frozen=True, eq=False)
class MedianRule:
    """rank(x) = the weighted median of rankers, 1 + #{k : g_k(x) > 0} [Lin 2008, eq. 4.9-4.10], a tie being the lower.

    Its score is the interpolated median, on which the thresholds are 1, ..., K-1; its gaps are the votes g_k.

    Attributes
    ----------
    potential : RankStumpVotes or MemberSum
        g_k(x) = sum_t vote_t (+1 where ranker t puts x above k, else -1).
    """

    potential: RankStumpVotes | MemberSum

    @property
    def n_levels(self) -> int:
        return self.potential.n_levels

    @property
    def theta(self) -> FloatArray:
        """(K-1,) thresholds on the score."""
        return np.arange(1.0, self.n_levels)

    def scores(self, rows: Rows) -> FloatArray:
        return interpolated_median(self.potential(rows), float(np.abs(self.potential.round_weights).sum()))

    def gaps(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K-1) g_k."""
        return self.potential(rows)

    def codes(self, rows: Rows, scores: FloatArray | None = None) -> IntArray:
        return count_above((self.scores(rows) if scores is None else scores)[:, None] - self.theta)
