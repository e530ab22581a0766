"""Rounds of trees: votes, weights, fits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import lcm
from typing import Any, Self

import numpy as np
from scipy.special import softmax

from .._typing import FloatArray, IntArray, Progress
from ..checks import SMALLER_WEIGHTS, require_memory
from ..exceptions import DataError
from ..fit import ScoreRule, VoteFit, most_votes
from ..formula.sample import DistinctRows, Rows, row_blocks
from ..reduction.learners import InRounds
from ..threads import in_threads
from .tree import DecisionTree, Forest, Tree, TreeTrainer

# From this many splits on, their common multiple times their number is not exact as a float.
_EXACT = 36


def shares(votes: FloatArray) -> FloatArray:
    """(N, K) votes >= 0 divided by their sum; equal shares without votes."""
    total = votes.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, votes / np.where(total > 0.0, total, 1.0), 1.0 / votes.shape[1])


def inverse_log_ratios(votes: FloatArray) -> FloatArray:
    """(N, K) probabilities p whose f_j = 1/2 (log p_j - mean over l != j of log p_l) are the votes."""
    n_levels = votes.shape[1]
    return np.asarray(softmax(2.0 * (n_levels - 1) / n_levels * votes, axis=1))


@dataclass(frozen=True, kw_only=True)
class Aggregation(ABC):
    """From the leaves of the trees of a round to votes.

    Attributes
    ----------
    n_levels : int
        K.
    """

    n_levels: int

    @abstractmethod
    def answers(self, forest: Forest, leaves: IntArray) -> FloatArray:
        """(N, K) votes of one round for rows in these leaves (N, S); (N, 2, S) if splits are counted apart."""

    def tally(self, total: FloatArray) -> FloatArray:
        """(N, K) votes from the weighted sum of the answers."""
        return total

    def probabilities(self, votes: FloatArray) -> FloatArray:
        """(N, K) probabilities of the ranks."""
        return shares(votes)


@dataclass(frozen=True, kw_only=True)
class LeafShares(Aggregation):
    """The share of every rank in the leaf of one tree."""

    def answers(self, forest: Forest, leaves: IntArray) -> FloatArray:
        return forest.shares[leaves[:, 0]]


@dataclass(frozen=True, kw_only=True)
class Plurality(Aggregation):
    """One vote for the rank that the tree of the round predicts, or trees of all splits together by the rule (2).

    Attributes
    ----------
    of_splits : bool
        Whether there are trees of all splits.
    """

    of_splits: bool = False

    def answers(self, forest: Forest, leaves: IntArray) -> FloatArray:
        if not self.of_splits:
            return one_hot(forest.labels[leaves[:, 0]], self.n_levels)
        scores = split_scores(forest.labels[leaves].astype(np.float64))
        return one_hot(np.argmax(scores, axis=1), self.n_levels)


@dataclass(frozen=True, kw_only=True)
class LogRatios(Aggregation):
    """f_j = 1/2 log of the score of rank j against a mean of the others': real AdaBoost.

    The scores are the shares of the ranks in the leaf of the round's tree, or the scores of trees of all splits
    (eq. 6). The mean is geometric, or the mean of scores weighted by |j - l|: the paper weighs by the distance from the
    true rank, which is unknown at prediction; at the true rank, where rows get their weights, both are the same.

    Attributes
    ----------
    smoothing : float
        1/n, added to every score.
    of_splits : bool
        Whether there are trees of all splits.
    by_distance : bool
        Whether the mean is weighted by distance.
    """

    smoothing: float
    of_splits: bool = False
    by_distance: bool = False

    def answers(self, forest: Forest, leaves: IntArray) -> FloatArray:
        shares = share_scores(forest.shares[leaves, 1]) if self.of_splits else forest.shares[leaves[:, 0]]
        scores = shares + self.smoothing
        if self.by_distance:
            ranks = np.arange(self.n_levels)
            distance = np.abs(ranks[:, None] - ranks)
            return np.asarray(0.5 * np.log(scores / (scores @ (distance / distance.sum(axis=0)))))
        logs = np.log(scores)
        return np.asarray(0.5 * (logs - (logs.sum(axis=1, keepdims=True) - logs) / (self.n_levels - 1)))

    def probabilities(self, votes: FloatArray) -> FloatArray:
        return inverse_log_ratios(votes)


#: Weights of the splits in the scores of the ranks: all the same, or the share of the votes for the winning side.
COMBINATIONS = ("plain", "votes")


@dataclass(frozen=True, kw_only=True)
class SplitVotes(Aggregation):
    """Votes of every split counted apart over all rounds, and combined by the rule (2) at the end.

    A round has one vote for the side that its tree answers; or |f| for the sign of f = 1/2 log(p_r / (1 - p_r)),
    p_r = P(Y <= r).

    Attributes
    ----------
    combination : str
        One of `COMBINATIONS`.
    smoothing : float or None
        1/n, added to both probabilities; None for one vote.
    """

    combination: str = "plain"
    smoothing: float | None = None

    def answers(self, forest: Forest, leaves: IntArray) -> FloatArray:
        if self.smoothing is None:
            above = forest.labels[leaves].astype(np.float64)
            return np.stack([1.0 - above, above], axis=1)
        above = forest.shares[leaves, 1]
        f = 0.5 * np.log((1.0 - above + self.smoothing) / (above + self.smoothing))
        return np.stack([np.maximum(f, 0.0), np.maximum(-f, 0.0)], axis=1)

    def tally(self, total: FloatArray) -> FloatArray:
        """(N, K) scores of the rule (2) from votes (N, 2, K-1) for "at most r" and "above r"; a tie is "at most r"."""
        whole = total.sum(axis=1)
        shares = total.max(axis=1) / np.where(whole > 0.0, whole, 1.0)
        above = (total[:, 1] > total[:, 0]).astype(np.float64)
        return split_scores(above, shares if self.combination == "votes" else None)


def one_hot(codes: IntArray, n_levels: int) -> FloatArray:
    """(N, K) 1 at the code of each row, else 0."""
    votes = np.zeros((codes.size, n_levels))
    votes[np.arange(codes.size), codes] = 1.0
    return votes


def below(y: IntArray, n_levels: int) -> IntArray:
    """(K-1, N) class of every split r = 1..K-1: 0 where the rank is at most r, else 1.

    Examples
    --------
    >>> below(np.array([0, 1, 2]), 3).tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    return (np.asarray(y) > np.arange(n_levels - 1)[:, None]).astype(np.intp)


def split_scores(above: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """(N, K) s_j = sum_r PV_r yhat_j^(r) of the rule (2): each split shares its vote among the ranks on its side.

    yhat_j^(r) is 1/r for the r ranks j <= r where the answer is "at most r", and 1/(K-r) for those above where it is
    "above r"; 0 for the others.

    Parameters
    ----------
    above : (N, K-1)
        1 where split r answers "above r", else 0.
    weights : (N, K-1), optional
        PV_r; 1 if not given.

    Examples
    --------
    >>> split_scores(np.array([[1.0, 0.0]])).tolist()
    [[0.5, 1.0, 0.5]]
    """
    n_splits = above.shape[1]
    ranks = np.arange(1, n_splits + 1)
    # Whole numbers add up without rounding, so that equal scores stay equal.
    common = float(lcm(*range(1, n_splits + 1))) if weights is None and n_splits < _EXACT else 1.0
    weight = np.ones_like(above) if weights is None else weights
    low, high = (1.0 - above) * weight * (common / ranks), above * weight * (common / (n_splits + 1 - ranks))
    return _spread(low, high) / common


def share_scores(above: FloatArray) -> FloatArray:
    """(N, K) yhat_j = sum_{r >= j} p_r + sum_{r < j} (1 - p_r) of eq. 6, p_r = P(Y <= r).

    Parameters
    ----------
    above : (N, K-1)
        1 - p_r.

    Examples
    --------
    >>> share_scores(np.array([[0.75, 0.25]])).tolist()
    [[1.0, 1.5, 1.0]]
    """
    return _spread(1.0 - above, above)


def _spread(low: FloatArray, high: FloatArray) -> FloatArray:
    """(N, K) sum_{r >= j} low_r + sum_{r < j} high_r."""
    none = np.zeros((len(low), 1))
    from_below = np.concatenate([none, np.cumsum(high, axis=1)], axis=1)
    from_above = np.concatenate([np.cumsum(low[:, ::-1], axis=1)[:, ::-1], none], axis=1)
    return np.asarray(from_below + from_above)


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeVotes(InRounds):
    """Votes for K ranks by rounds of S trees each.

    Attributes
    ----------
    trees : tuple of length T S
        Round by round.
    round_weights : (T, P)
        Weight of every round: P = S if splits are counted apart, else 1.
    aggregation : Aggregation
    n_classes : int
        Classes of a tree: K, or 2 for a split.
    """

    trees: tuple[Tree, ...] = field(repr=False)
    aggregation: Aggregation
    n_classes: int

    @property
    def n_levels(self) -> int:
        return self.aggregation.n_levels

    @property
    def rounds(self) -> int:
        """T."""
        return len(self.round_weights)

    @property
    def per_round(self) -> int:
        """S."""
        return len(self.trees) // self.rounds

    @cached_property
    def forest(self) -> Forest:
        """All trees end to end."""
        return Forest.of(self.trees, self.n_classes)

    def upto(self, rounds: int) -> Self:
        """The votes of the first rounds."""
        return replace(self, trees=self.trees[: rounds * self.per_round], round_weights=self.round_weights[:rounds])

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K)."""
        blocks = row_blocks(rows.n, len(self.trees))
        last = (votes for block in blocks for votes in self.staged(rows.take(block), frozenset((self.rounds,))))
        return np.concatenate([np.zeros((0, self.n_levels)), *last])

    def codes(self, rows: Rows, stages: frozenset[int]) -> IntArray:
        """(len(stages), N) predicted codes after some of the rounds, growing."""
        parts = [np.zeros((len(stages), 0), dtype=np.intp)]
        for block in row_blocks(rows.n, len(self.trees)):
            parts.append(np.stack([most_votes(votes) for votes in self.staged(rows.take(block), stages)]))
        return np.concatenate(parts, axis=1)

    def staged(self, rows: Rows, stages: frozenset[int]) -> Iterator[FloatArray]:
        """(N, K) votes after some of the rounds, growing."""
        leaves = self.forest.leaves(rows.X)
        total, width = np.zeros(1), self.per_round
        for t, round_weight in enumerate(self.round_weights):
            total = total + round_weight * self.aggregation.answers(self.forest, leaves[:, t * width : (t + 1) * width])
            if t + 1 in stages:
                yield self.aggregation.tally(total)


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeFit(VoteFit):
    """A fit by T rounds of S trees.

    Attributes
    ----------
    votes : TreeVotes
        Votes of all rounds.
    errors : (T, P)
        Weighted error of every round, NaN if rounds are not weighted.
    state : dict
        State of the generator before the first round.
    """

    votes: TreeVotes
    errors: FloatArray
    state: dict[str, Any] = field(repr=False)

    @property
    def stages(self) -> range:
        """Numbers of rounds after which there are predictions."""
        return range(1, self.votes.rounds + 1)

    def upto(self, rounds: int, rows: Rows) -> TreeFit:
        """The fit after the first rounds, with the scores of its rows; a calibration was for all rounds."""
        votes = self.votes.upto(rounds)
        rule = ScoreRule(votes)
        return replace(
            self,
            rule=rule,
            votes=votes,
            scores=rule.scores(rows),
            errors=self.errors[:rounds],
            trace=replace(self.trace, iterations=rounds, objective=self.trace.objective[:rounds]),
            facts=(*(fact for fact in self.facts if fact[0] != "Rounds"), ("Rounds", f"the first {rounds} used")),
            calibration=self.calibration if rounds == self.votes.rounds else None,
        )


@dataclass(frozen=True, eq=False)
class Update:
    """The result of a round, for P problems boosted apart (one for all ranks, or one a split).

    Attributes
    ----------
    error : (P,) weighted error of the round, between 0 and 1
    vote : (P,) its weight c
    weights : (P, M) weights of the rows in the next round, each row of them with the sum 1
    """

    error: FloatArray
    vote: FloatArray
    weights: FloatArray


#: From the answers of a round, under weights (P, M) with the sum 1, to its update.
Reweighting = Callable[[FloatArray, FloatArray], Update]


def _normalised(weights: FloatArray) -> FloatArray:
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _log_odds(error: FloatArray, smoothing: float) -> FloatArray:
    """(P,) log((1 - e) / (e + smoothing)), finite for e = 1 too."""
    return np.log(np.maximum(1.0 - error, np.finfo(np.float64).tiny) / (error + smoothing))


def unweighted(answers: FloatArray, weights: FloatArray) -> Update:
    """Every round counts the same, and the weights stay: bagging."""
    return Update(np.full(len(weights), np.nan), np.ones(len(weights)), weights)


def discrete_splits(above: IntArray, smoothing: float, answers: FloatArray, weights: FloatArray) -> Update:
    """Discrete AdaBoost of every split: c = log((1 - e) / (e + 1/n)), w exp(c [wrong]).

    Parameters
    ----------
    above : (S, M) 1 where the rank of row m is above split s, else 0
    smoothing : float
        1/n.
    """
    wrong = (answers[:, 1].T > answers[:, 0].T) != (above > 0)
    error = (weights * wrong).sum(axis=1)
    vote = _log_odds(error, smoothing)
    return Update(error, vote, _normalised(weights * np.exp(vote[:, None] * wrong)))


def real_splits(above: IntArray, answers: FloatArray, weights: FloatArray) -> Update:
    """Real AdaBoost of every split: w exp(-f) for rows below it, w exp(f) above (S, M); f is in the answers."""
    f = (answers[:, 0] - answers[:, 1]).T
    margin = np.where(above > 0, -f, f)
    wrong = np.where(above > 0, f >= 0.0, f < 0.0)
    return Update((weights * wrong).sum(axis=1), np.ones(len(weights)), _normalised(weights * np.exp(-margin)))


def discrete_ranks(
    y: IntArray, errors: FloatArray, bonus: float, smoothing: float, answers: FloatArray, weights: FloatArray
) -> Update:
    """Discrete AdaBoost of rankers with an error eps[true, predicted] of more or less.

    e = sum_i w_i eps_i / max eps, c = log((1 - e) / (e + `smoothing`)) + `bonus`, w exp(c eps).

    Parameters
    ----------
    y : (M,) ranks
    errors : (K, K) eps
    bonus : float
        log(K - 1) for the error 0 or 1, which a constant answer keeps at or below (K-1)/K, not 1/2.
    smoothing : float
        1/(n (K-1)).
    """
    paid = errors[y, np.argmax(answers, axis=1)]
    error = (weights * paid).sum(axis=1) / errors.max()
    vote = _log_odds(error, smoothing) + bonus
    return Update(error, vote, _normalised(weights * np.exp(vote[:, None] * paid)))


def real_ranks(y: IntArray, answers: FloatArray, weights: FloatArray) -> Update:
    """Real AdaBoost of rankers: w exp(-f_y), f being the answers and y (M,) the ranks."""
    error = (weights * (np.argmax(answers, axis=1) != y)).sum(axis=1)
    of_true_rank = answers[np.arange(y.size), y]
    return Update(error, np.ones(len(weights)), _normalised(weights * np.exp(-of_true_rank)))


# A weight this close to a whole number, as a share, counts as whole; and rows that a sample may have.
_WHOLE, _MOST = 1e-12, 2**27


@dataclass(eq=False, kw_only=True)
class TreeRounds:
    """Rounds in progress on distinct rows.

    Attributes
    ----------
    rows : DistinctRows
    tree : DecisionTree
    classes : (S, M)
        Classes of the rows for each of the S trees of a round.
    n_classes : int
    apart : bool
        Whether the S problems have separate weights, or share them.
    aggregation : Aggregation
    reweighting : Reweighting
    draw : bool
        Whether trees grow on samples drawn with the weights, or on weighted rows.
    grown : tuple of Tree
        Trees of earlier rounds on these rows, from the same state of the generator: they are not grown again.
    """

    rows: DistinctRows
    tree: DecisionTree
    classes: IntArray
    n_classes: int
    apart: bool
    aggregation: Aggregation
    reweighting: Reweighting
    draw: bool
    grown: tuple[Tree, ...] = ()
    trees: list[Tree] = field(default_factory=list)
    round_weights: list[FloatArray] = field(default_factory=list)
    errors: list[FloatArray] = field(default_factory=list)
    message: str = "all rounds made"

    def __post_init__(self) -> None:
        width = len(self.classes)
        self._trainer = TreeTrainer.of(self.tree, self.rows.X)
        self._weights = np.tile(self.rows.weights / self.rows.weights.sum(), (width if self.apart else 1, 1))
        self._active = np.ones(len(self._weights), dtype=np.bool_)
        self._bag = Bag.of(self.rows) if self.draw else None

    def run(self, rounds: int, rng: np.random.Generator, n_jobs: int, progress: Progress | None) -> None:
        """Make rounds, until no problem has a classifier that is better than chance."""
        for made in range(1, rounds + 1):
            self._add(rng, n_jobs)
            if progress is not None:
                progress(made, rounds, f"round {made}")
            if not self._active.any():
                self.message = "no classifier is better than chance"
                return

    @property
    def votes(self) -> TreeVotes:
        """Votes of the rounds so far."""
        return TreeVotes(
            trees=tuple(self.trees),
            round_weights=np.array(self.round_weights),
            aggregation=self.aggregation,
            n_classes=self.n_classes,
        )

    def _add(self, rng: np.random.Generator, n_jobs: int) -> None:
        width, total = len(self.classes), self.rows.weights.sum()
        grown_on = self._weights * total if self._bag is None else self._bag.draw(self._weights, rng)
        trees = list(self.grown[len(self.trees) : len(self.trees) + width]) or self._grown(grown_on, n_jobs)
        forest = Forest.of(trees, self.n_classes)
        answers = self.aggregation.answers(forest, forest.leaves(self.rows.X))
        update = self.reweighting(answers, self._weights)
        round_weight = self._settled(update)
        if not (round_weight > 0).any():
            return
        self.trees += trees
        self.round_weights.append(round_weight)
        self.errors.append(update.error)

    def _grown(self, grown_on: FloatArray, n_jobs: int) -> list[Tree]:
        """The trees of a round on rows with weights (P, M); a problem that has ended repeats its last tree, unused."""
        width = len(self.classes)

        def grow(s: int) -> Tree:
            return self._trainer.grow(self.classes[s], grown_on[min(s, len(grown_on) - 1)], self.n_classes)

        tasks = [s for s in range(width) if self._active[min(s, len(self._active) - 1)]]
        parallel = n_jobs != 1 and len(tasks) > 1
        trees = in_threads(grow, [(s,) for s in tasks], n_jobs) if parallel else list(map(grow, tasks))
        grown = dict(zip(tasks, trees, strict=True))
        return [grown[s] if s in grown else self.trees[s - width] for s in range(width)]

    def _settled(self, update: Update) -> FloatArray:
        """(P,) weights of the round; 0 for a problem that has ended, 1 if it ends with its first round."""
        ends = update.vote <= 0.0
        round_weight = np.where(self._active & ~ends, update.vote, 0.0)
        if not self.round_weights:
            round_weight = np.where(ends, 1.0, round_weight)
        self._active &= ~ends
        self._weights = np.where(self._active[:, None], update.weights, self._weights)
        return round_weight


def drawn(weights: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """(E,) how often each row is among `size` rows drawn with these chances, with replacement."""
    chances = np.cumsum(weights)
    rows = np.searchsorted(chances, np.sort(rng.random(size)) * chances[-1], side="right")
    return np.bincount(np.minimum(rows, weights.size - 1), minlength=weights.size).astype(np.intp)


@dataclass(frozen=True, eq=False, kw_only=True)
class Bag:
    """Samples with replacement from single rows.

    A row of weight w is w equal rows, each drawn or left out independently; a fraction is one more row.

    Attributes
    ----------
    weights : (E,) weight of every single row, 1 except for fractions
    row : (E,) the distinct row that it is
    n_rows : int
        M.
    """

    weights: FloatArray
    row: IntArray
    n_rows: int

    @classmethod
    def of(cls, rows: DistinctRows) -> Bag:
        """The single rows behind distinct ones.

        Raises
        ------
        DataError
            The weights stand for more rows than can be drawn one by one, or for less than one.
        """
        total = float(rows.weights.sum())
        if not 1.0 - _WHOLE <= total <= _MOST:
            raise DataError(
                f"the sum of the weights must be from 1 to {_MOST:g}, as samples are drawn row by row; got {total:g}. "
                "Multiply the weights by a factor, or use sampling='weight' where the method has it."
            )
        require_memory(f"Drawing samples of {total:g} rows, the sum of the weights,", 40.0 * total, SMALLER_WEIGHTS)
        copies = np.maximum(np.ceil(rows.weights * (1.0 - _WHOLE)), 1.0).astype(np.intp)
        row = np.repeat(np.arange(rows.n), copies)
        return cls(weights=(rows.weights / copies)[row], row=row, n_rows=rows.n)

    def draw(self, weights: FloatArray, rng: np.random.Generator) -> FloatArray:
        """(P, M) how often each distinct row is drawn with weights (P, M), as many as there are rows in all."""
        size = max(int(np.rint(self.weights.sum())), 1)
        share_of_row = self.weights / np.bincount(self.row, weights=self.weights)[self.row]
        counts = np.stack([drawn(w[self.row] * share_of_row, size, rng) for w in weights])
        return np.stack([np.bincount(self.row, weights=c, minlength=self.n_rows) for c in counts]).astype(np.float64)
