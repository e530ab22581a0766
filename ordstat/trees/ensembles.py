"""Ensembles of trees: votes, weights and rounds."""

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
from ..boosting.sums import InRounds
from ..checks import SMALLER_WEIGHTS, require_memory
from ..exceptions import DataError
from ..fit import ScoreRule, VoteFit, most_votes
from ..formula.distinct import DistinctRows
from ..formula.row_blocks import row_blocks
from ..formula.sample import Rows
from ..threads import in_threads
from .tree import DecisionTree, Forest, Tree, TreeTrainer

# From this many splits on, their least common multiple is too large for exact sums.
_EXACT = 36


def shares(votes: FloatArray) -> FloatArray:
    """(N, K) votes divided by their sum; equal shares if there are no votes."""
    total = votes.sum(axis=1, keepdims=True)
    return np.where(
        total > 0.0, votes / np.where(total > 0.0, total, 1.0), 1.0 / votes.shape[1]
    )


def inverse_log_ratios(votes: FloatArray) -> FloatArray:
    """(N, K) probabilities p with votes f_j = 1/2 (log p_j - mean over l != j of log
    p_l).
    """
    n_levels = votes.shape[1]
    return np.asarray(softmax(2.0 * (n_levels - 1) / n_levels * votes, axis=1))


@dataclass(frozen=True, kw_only=True)
class Aggregation(ABC):
    """The map from leaves of the trees of a round to votes.

    Attributes
    ----------
    n_levels : int
        K.
    """

    n_levels: int

    @abstractmethod
    def answers(self, forest: Forest, leaves: IntArray) -> FloatArray:
        """(N, K) votes of a round for rows in leaves (N, S); (N, 2, S) if thresholds
        vote separately.
        """

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
    """One vote for the level predicted by a tree, or by the trees of all thresholds
    (rule 2).

    Attributes
    ----------
    of_splits : bool
        Whether trees belong to thresholds.
    """

    of_splits: bool = False

    def answers(self, forest: Forest, leaves: IntArray) -> FloatArray:
        if not self.of_splits:
            return one_hot(forest.labels[leaves[:, 0]], self.n_levels)
        scores = split_scores(forest.labels[leaves].astype(np.float64))
        return one_hot(np.argmax(scores, axis=1), self.n_levels)


@dataclass(frozen=True, kw_only=True)
class LogRatios(Aggregation):
    """Votes of real AdaBoost: f_j = 1/2 log of the score of level j over a mean of the
    others.

    Scores are the shares in a leaf, or the scores of trees of all thresholds (eq. 6).
    The mean is geometric, or weighted by |j - l|. The paper weights by the distance
    from the true level, which is unknown at prediction; at the true level both are the
    same.

    Attributes
    ----------
    smoothing : float
        1/n, added to every score.
    of_splits : bool
        Whether trees belong to thresholds.
    by_distance : bool
        Whether the mean is weighted by distance.
    """

    smoothing: float
    of_splits: bool = False
    by_distance: bool = False

    def answers(self, forest: Forest, leaves: IntArray) -> FloatArray:
        if self.of_splits:
            shares = share_scores(forest.shares[leaves, 1])
        else:
            shares = forest.shares[leaves[:, 0]]
        scores = shares + self.smoothing
        if self.by_distance:
            ranks = np.arange(self.n_levels)
            distance = np.abs(ranks[:, None] - ranks)
            return np.asarray(
                0.5 * np.log(scores / (scores @ (distance / distance.sum(axis=0))))
            )
        logs = np.log(scores)
        return np.asarray(
            0.5
            * (logs - (logs.sum(axis=1, keepdims=True) - logs) / (self.n_levels - 1))
        )

    def probabilities(self, votes: FloatArray) -> FloatArray:
        return inverse_log_ratios(votes)


#: Weights of the splits in the scores of the ranks: all the same, or the share of the
#: votes for the winning side.
COMBINATIONS = ("plain", "votes")


@dataclass(frozen=True, kw_only=True)
class SplitVotes(Aggregation):
    """Votes of each threshold, summed over rounds and combined by rule 2 at the end.

    A tree gives one vote to the side of its answer, or |f| for the sign of f = 1/2
    log(p_r / (1 - p_r)), with p_r = P(Y <= r).

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
        """(N, K) scores of the rule (2) from votes (N, 2, K-1) for "at most r" and
        "above r"; a tie is "at most r".
        """
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
    """(N, K) scores s_j = sum_r PV_r yhat_j^(r) of rule 2: each threshold shares its
    vote among the levels on its side.

    yhat_j^(r) is 1/r for the levels j <= r if the answer is "at most r", 1/(K-r) for
    the levels above if it is "above r", and else 0.

    Parameters
    ----------
    above : (N, K-1)
        1 if the answer is "above r", else 0.
    weights : (N, K-1), optional
        PV_r; 1 if not given.

    Examples
    --------
    >>> split_scores(np.array([[1.0, 0.0]])).tolist()
    [[0.5, 1.0, 0.5]]
    """
    n_splits = above.shape[1]
    ranks = np.arange(1, n_splits + 1)
    # Integers are added without rounding, so that ties stay ties.
    if weights is None and n_splits < _EXACT:
        common = float(lcm(*range(1, n_splits + 1)))
    else:
        common = 1.0
    weight = np.ones_like(above) if weights is None else weights
    low = (1.0 - above) * weight * (common / ranks)
    high = above * weight * (common / (n_splits + 1 - ranks))
    return _spread(low, high) / common


def share_scores(above: FloatArray) -> FloatArray:
    """(N, K) yhat_j = sum_{r >= j} p_r + sum_{r < j} (1 - p_r) of eq. 6, p_r = P(Y <=
    r).

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
    from_above = np.concatenate(
        [np.cumsum(low[:, ::-1], axis=1)[:, ::-1], none], axis=1
    )
    return np.asarray(from_below + from_above)


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeVotes(InRounds):
    """Votes for K ranks by rounds of S trees each.

    Attributes
    ----------
    trees : tuple of length T S
        Round by round.
    round_weights : (T, P)
        Weight of each round; P = S if thresholds vote separately, else 1.
    aggregation : Aggregation
    n_classes : int
        Number of classes of a tree: K, or 2 for a threshold.
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
        """All trees in joint arrays."""
        return Forest.of(self.trees, self.n_classes)

    def upto(self, rounds: int) -> Self:
        """The votes of the first rounds."""
        return replace(
            self,
            trees=self.trees[: rounds * self.per_round],
            round_weights=self.round_weights[:rounds],
        )

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K)."""
        blocks = row_blocks(rows.n, len(self.trees))
        last = (
            votes
            for block in blocks
            for votes in self.staged(rows.take(block), frozenset((self.rounds,)))
        )
        return np.concatenate([np.zeros((0, self.n_levels)), *last])

    def codes(self, rows: Rows, stages: frozenset[int]) -> IntArray:
        """(len(stages), N) predicted codes after increasing numbers of rounds."""
        parts = [np.zeros((len(stages), 0), dtype=np.intp)]
        for block in row_blocks(rows.n, len(self.trees)):
            parts.append(
                np.stack(
                    [
                        most_votes(votes)
                        for votes in self.staged(rows.take(block), stages)
                    ]
                )
            )
        return np.concatenate(parts, axis=1)

    def staged(self, rows: Rows, stages: frozenset[int]) -> Iterator[FloatArray]:
        """(N, K) votes after increasing numbers of rounds."""
        leaves = self.forest.leaves(rows.X)
        total = np.zeros(1)
        width = self.per_round
        for t, round_weight in enumerate(self.round_weights):
            total = total + round_weight * self.aggregation.answers(
                self.forest, leaves[:, t * width : (t + 1) * width]
            )
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
        Weighted error of each round; NaN if rounds have no weights.
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
        """The fit after the first rounds, without calibration (which belongs to all
        rounds).
        """
        votes = self.votes.upto(rounds)
        rule = ScoreRule(votes)
        return replace(
            self,
            rule=rule,
            votes=votes,
            scores=rule.scores(rows),
            errors=self.errors[:rounds],
            trace=replace(
                self.trace, iterations=rounds, objective=self.trace.objective[:rounds]
            ),
            facts=(
                *(fact for fact in self.facts if fact[0] != "Rounds"),
                ("Rounds", f"the first {rounds} used"),
            ),
            calibration=self.calibration if rounds == self.votes.rounds else None,
        )


@dataclass(frozen=True, eq=False)
class Update:
    """The result of a round, for P separate problems (1, or one for each threshold).

    Attributes
    ----------
    error : (P,) weighted error of the round, between 0 and 1
    vote : (P,) its weight c
    weights : (P, M) weights of the rows in the next round; each problem has the sum 1
    """

    error: FloatArray
    vote: FloatArray
    weights: FloatArray


#: Function of the answers of a round and the weights (P, M) that gives the update.
Reweighting = Callable[[FloatArray, FloatArray], Update]


def _normalised(weights: FloatArray) -> FloatArray:
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _log_odds(error: FloatArray, smoothing: float) -> FloatArray:
    """(P,) log((1 - e) / (e + smoothing)), finite for e = 1 too."""
    return np.log(
        np.maximum(1.0 - error, np.finfo(np.float64).tiny) / (error + smoothing)
    )


def unweighted(answers: FloatArray, weights: FloatArray) -> Update:
    """Bagging: equal votes, constant weights."""
    return Update(np.full(len(weights), np.nan), np.ones(len(weights)), weights)


def discrete_splits(
    above: IntArray, smoothing: float, answers: FloatArray, weights: FloatArray
) -> Update:
    """Discrete AdaBoost of each threshold: c = log((1 - e) / (e + 1/n)), w exp(c
    [wrong]).

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
    """Real AdaBoost of each threshold: weights w exp(-f) for rows below, w exp(f) above
    (S, M).
    """
    f = (answers[:, 0] - answers[:, 1]).T
    margin = np.where(above > 0, -f, f)
    wrong = np.where(above > 0, f >= 0.0, f < 0.0)
    return Update(
        (weights * wrong).sum(axis=1),
        np.ones(len(weights)),
        _normalised(weights * np.exp(-margin)),
    )


def discrete_ranks(
    y: IntArray,
    errors: FloatArray,
    bonus: float,
    smoothing: float,
    answers: FloatArray,
    weights: FloatArray,
) -> Update:
    """Discrete AdaBoost of rankers with a graded error eps[true, predicted].

    e = sum_i w_i eps_i / max eps, c = log((1 - e) / (e + `smoothing`)) + `bonus`, w
    exp(c eps).

    Parameters
    ----------
    y : (M,) ranks
    errors : (K, K) eps
    bonus : float
        log(K - 1) for misclassification, where a constant answer has an error up to
        (K-1)/K.
    smoothing : float
        1/(n (K-1)).
    """
    paid = errors[y, np.argmax(answers, axis=1)]
    error = (weights * paid).sum(axis=1) / errors.max()
    vote = _log_odds(error, smoothing) + bonus
    return Update(error, vote, _normalised(weights * np.exp(vote[:, None] * paid)))


def real_ranks(y: IntArray, answers: FloatArray, weights: FloatArray) -> Update:
    """Real AdaBoost of rankers: weights w exp(-f_y), answers f, levels y (M,)."""
    error = (weights * (np.argmax(answers, axis=1) != y)).sum(axis=1)
    of_true_rank = answers[np.arange(y.size), y]
    return Update(
        error, np.ones(len(weights)), _normalised(weights * np.exp(-of_true_rank))
    )


# Tolerance for whole weights, and largest number of rows in a sample.
_WHOLE = 1e-12
_MOST = 2**27


@dataclass(eq=False, kw_only=True)
class TreeRounds:
    """An ensemble in progress, on distinct rows.

    Attributes
    ----------
    rows : DistinctRows
    tree : DecisionTree
    classes : (S, M)
        Classes for each of the S trees of a round.
    n_classes : int
    apart : bool
        Whether the S problems have separate weights, or share them.
    aggregation : Aggregation
    reweighting : Reweighting
    draw : bool
        Whether trees grow on samples, or on weighted rows.
    grown : tuple of Tree
        Known trees of the first rounds, which are not grown again.
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
        self._weights = np.tile(
            self.rows.weights / self.rows.weights.sum(), (width if self.apart else 1, 1)
        )
        self._active = np.ones(len(self._weights), dtype=np.bool_)
        self._bag = Bag.of(self.rows) if self.draw else None

    def run(
        self,
        rounds: int,
        rng: np.random.Generator,
        n_jobs: int,
        progress: Progress | None,
    ) -> None:
        """Add rounds, until no classifier is better than chance."""
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
        width = len(self.classes)
        total = self.rows.weights.sum()
        if self._bag is None:
            grown_on = self._weights * total
        else:
            grown_on = self._bag.draw(self._weights, rng)
        trees = list(
            self.grown[len(self.trees) : len(self.trees) + width]
        ) or self._grown(grown_on, n_jobs)
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
        """The trees of a round, for weights (P, M); an ended problem repeats its last
        tree, with weight 0.
        """
        width = len(self.classes)

        def grow(s: int) -> Tree:
            return self._trainer.grow(
                self.classes[s], grown_on[min(s, len(grown_on) - 1)], self.n_classes
            )

        tasks = [s for s in range(width) if self._active[min(s, len(self._active) - 1)]]
        parallel = n_jobs != 1 and len(tasks) > 1
        if parallel:
            trees = in_threads(grow, [(s,) for s in tasks], n_jobs)
        else:
            trees = list(map(grow, tasks))
        grown = dict(zip(tasks, trees, strict=True))
        return [grown[s] if s in grown else self.trees[s - width] for s in range(width)]

    def _settled(self, update: Update) -> FloatArray:
        """(P,) weights of the round: 0 for an ended problem, 1 if it ends in the first
        round.
        """
        ends = update.vote <= 0.0
        round_weight = np.where(self._active & ~ends, update.vote, 0.0)
        if not self.round_weights:
            round_weight = np.where(ends, 1.0, round_weight)
        self._active &= ~ends
        self._weights = np.where(self._active[:, None], update.weights, self._weights)
        return round_weight


def drawn(weights: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """(E,) counts of each row in a weighted sample of `size` rows with replacement."""
    chances = np.cumsum(weights)
    rows = np.searchsorted(
        chances, np.sort(rng.random(size)) * chances[-1], side="right"
    )
    return np.bincount(
        np.minimum(rows, weights.size - 1), minlength=weights.size
    ).astype(np.intp)


@dataclass(frozen=True, eq=False, kw_only=True)
class Bag:
    """Bootstrap samples of single rows.

    A row of weight w counts as w single rows; a fractional part is one more row.

    Attributes
    ----------
    weights : (E,) weight of each single row
    row : (E,) its distinct row
    n_rows : int
        M.
    """

    weights: FloatArray
    row: IntArray
    n_rows: int

    @classmethod
    def of(cls, rows: DistinctRows) -> Bag:
        """Split distinct rows into single rows.

        Raises
        ------
        DataError
            The sum of the weights is too large, or below 1.
        """
        total = float(rows.weights.sum())
        if not 1.0 - _WHOLE <= total <= _MOST:
            raise DataError(
                f"the sum of the weights must be from 1 to {_MOST:g}, as samples are"
                f" drawn row by row; got {total:g}. Multiply the weights by a factor,"
                " or use sampling='weight' where the method has it."
            )
        require_memory(
            f"Drawing samples of {total:,.0f} rows, the sum of the weights,",
            40.0 * total,
            SMALLER_WEIGHTS,
        )
        copies = np.maximum(np.ceil(rows.weights * (1.0 - _WHOLE)), 1.0).astype(np.intp)
        row = np.repeat(np.arange(rows.n), copies)
        return cls(weights=(rows.weights / copies)[row], row=row, n_rows=rows.n)

    def draw(self, weights: FloatArray, rng: np.random.Generator) -> FloatArray:
        """(P, M) counts of distinct rows in bootstrap samples with weights (P, M)."""
        size = max(int(np.rint(self.weights.sum())), 1)
        share_of_row = (
            self.weights / np.bincount(self.row, weights=self.weights)[self.row]
        )
        counts = np.stack(
            [drawn(w[self.row] * share_of_row, size, rng) for w in weights]
        )
        return np.stack(
            [np.bincount(self.row, weights=c, minlength=self.n_rows) for c in counts]
        ).astype(np.float64)
