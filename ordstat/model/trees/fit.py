"""What a fit by aggregated trees keeps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from ..._typing import FloatArray, IntArray
from ..ensembles.ensembles import InRounds
from ..fit import VoteFit
from ..row_blocks import row_blocks
from ..rules import ScoreRule, most_votes
from ..sample import Rows
from .aggregation import Aggregation
from .tree import Forest, Tree


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeVotes(InRounds):
    """Votes for K ranks by rounds of S trees each.

    Attributes
    ----------
    trees : tuple of length T S
        Round by round.
    round_weights : (T, P)
        Weight of every round: P = S where splits are counted apart, else 1.
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
        return replace(self, trees=self.trees[: rounds * self.per_round], round_weights=self.round_weights[:rounds])

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K)."""
        parts = [np.zeros((0, self.n_levels))]
        for some in row_blocks(rows.n, len(self.trees)):
            *_, last = self.staged(rows.take(some))
            parts.append(last)
        return np.concatenate(parts)

    def codes(self, rows: Rows, stages: frozenset[int]) -> IntArray:
        """(len(stages), N) predicted codes after some of the rounds, growing."""
        parts = [np.zeros((len(stages), 0), dtype=np.intp)]
        for some in row_blocks(rows.n, len(self.trees)):
            parts.append(np.stack([most_votes(votes) for votes in self.staged(rows.take(some), stages)]))
        return np.concatenate(parts, axis=1)

    def staged(self, rows: Rows, stages: frozenset[int] = frozenset()) -> Iterator[FloatArray]:
        """(N, K) votes after some of the rounds, growing; after the last alone if none are asked for."""
        leaves = self.forest.leaves(rows.X)
        total, width, wanted = np.zeros(1), self.per_round, stages or {self.rounds}
        for t, round_weight in enumerate(self.round_weights):
            total = total + round_weight * self.aggregation.answers(self.forest, leaves[:, t * width : (t + 1) * width])
            if t + 1 in wanted:
                yield self.aggregation.tally(total)


@dataclass(frozen=True, eq=False, kw_only=True)
class OutOfBag:
    """Errors of rows by the rounds whose samples they were not drawn into.

    Attributes
    ----------
    errors : (T, 3)
        Mean 0-1, absolute and squared error after every round; NaN while there are no such rows.
    share : (T,)
        Weight of the rows that are out of bag at least once, of all splits, as a share.
    """

    errors: FloatArray
    share: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeFit(VoteFit):
    """A fit by T rounds of S trees.

    Attributes
    ----------
    votes : TreeVotes
        Votes of all rounds made and used.
    errors : (T, P)
        Weighted error of every round, NaN where rounds are not weighted.
    state : dict
        State of the generator before the first round.
    out_of_bag : OutOfBag or None
        None where no samples are drawn.
    """

    votes: TreeVotes
    errors: FloatArray
    state: dict[str, Any] = field(repr=False)
    out_of_bag: OutOfBag | None = None

    @property
    def stages(self) -> range:
        """After how many rounds the fit can be asked."""
        return range(1, self.votes.rounds + 1)

    def upto(self, rounds: int, rows: Rows) -> TreeFit:
        """The fit after the first rounds alone, with the scores of its rows; a calibration was for all rounds."""
        votes, held = self.votes.upto(rounds), self.out_of_bag
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
            out_of_bag=None if held is None else OutOfBag(errors=held.errors[:rounds], share=held.share[:rounds]),
        )
