"""Rounds of trees: draw or weigh the rows, grow the trees of the round, update the weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import cpu_count
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray, Progress
from ..checks import SMALLER_WEIGHTS, require_memory
from ..exceptions import DataError
from ..model.distinct import DistinctRows
from ..model.trees.aggregation import Aggregation
from ..model.trees.fit import OutOfBag, TreeVotes
from ..model.trees.tree import Forest, Tree
from .losses.reweighting import Reweighting, Update
from .tree import DecisionTree, TreeTrainer

# A weight this close to a whole number, as a share, is one.
_WHOLE = 1e-12

# Rows that a sample may have.
_MOST = 2**27

#: Applies a function to each of some arguments, in order.
Mapper = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


@contextmanager
def mapper(n_jobs: int) -> Iterator[Mapper]:
    """`map`, by as many threads; -1 for one a processor."""
    workers = (cpu_count() or 1) if n_jobs < 0 else n_jobs
    if workers == 1:
        yield map
        return
    with ThreadPoolExecutor(workers) as pool:
        yield pool.map


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """What the rounds do.

    Attributes
    ----------
    tree : DecisionTree
    classes : (S, M)
        Classes of the rows for each of the S trees of a round.
    n_classes : int
    apart : bool
        Whether the S problems have weights of their own, or share them.
    aggregation : Aggregation
    reweighting : Reweighting
    draw : bool
        Whether trees grow on samples drawn with the weights, or on weighted rows.
    """

    tree: DecisionTree
    classes: IntArray
    n_classes: int
    apart: bool
    aggregation: Aggregation
    reweighting: Reweighting
    draw: bool


@dataclass(eq=False, kw_only=True)
class TreeRounds:
    """Rounds in progress on distinct rows.

    Attributes
    ----------
    rows : DistinctRows
    plan : Plan
    known : tuple of Tree
        Trees of rounds made before on these rows, from the same state of the generator: they are not grown again.
    """

    rows: DistinctRows
    plan: Plan
    known: tuple[Tree, ...] = ()
    trees: list[Tree] = field(default_factory=list)
    round_weights: list[FloatArray] = field(default_factory=list)
    errors: list[FloatArray] = field(default_factory=list)
    message: str = "all rounds made"

    def __post_init__(self) -> None:
        width = len(self.plan.classes)
        self._trainer = TreeTrainer.of(self.plan.tree, self.rows.X)
        self._weights = np.tile(self.rows.weights / self.rows.weights.sum(), (width if self.plan.apart else 1, 1))
        self._active = np.ones(len(self._weights), dtype=np.bool_)
        self._bag = Bag.of(self.rows) if self.plan.draw else None

    def run(self, rounds: int, rng: np.random.Generator, n_jobs: int, progress: Progress | None) -> None:
        """Make rounds, until none of the problems has a better classifier than chance."""
        with mapper(n_jobs) as apply:
            for made in range(1, rounds + 1):
                self._add(rng, apply)
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
            aggregation=self.plan.aggregation,
            n_classes=self.plan.n_classes,
        )

    @property
    def out_of_bag(self) -> OutOfBag | None:
        """Errors of rows not drawn; None where all rows are in every round."""
        return None if self._bag is None else self._bag.result()

    def _add(self, rng: np.random.Generator, apply: Mapper) -> None:
        width = len(self.plan.classes)
        grown_on = self._sampled(rng)
        trees = list(self.known[len(self.trees) : len(self.trees) + width]) or self._grown(grown_on, apply)
        forest = Forest.of(trees, self.plan.n_classes)
        answers = self.plan.aggregation.answers(forest, forest.leaves(self.rows.X))
        update = self.plan.reweighting(answers, self._weights)
        round_weight = self._settled(update)
        if not (round_weight > 0).any():
            return
        self.trees += trees
        self.round_weights.append(round_weight)
        self.errors.append(update.error)
        if self._bag is not None:
            self._bag.note(round_weight * answers, round_weight > 0, self.plan.aggregation)

    def _grown(self, grown_on: FloatArray, apply: Mapper) -> list[Tree]:
        """The trees of a round; a problem that has ended repeats its last one, which has no vote."""
        plan, width = self.plan, len(self.plan.classes)

        def grow(s: int) -> Tree:
            return self._trainer.grow(plan.classes[s], grown_on[min(s, len(grown_on) - 1)], plan.n_classes)

        tasks = [s for s in range(width) if self._active[min(s, len(self._active) - 1)]]
        grown = dict(zip(tasks, apply(grow, tasks), strict=True))
        return [grown[s] if s in grown else self.trees[s - width] for s in range(width)]

    def _sampled(self, rng: np.random.Generator) -> FloatArray:
        """(P, M) how often each row is drawn, or its weight, with as much weight as all rows have."""
        if self._bag is None:
            return np.asarray(self._weights * self.rows.weights.sum())
        return self._bag.draw(self._weights, rng)

    def _settled(self, update: Update) -> FloatArray:
        """(P,) weights of the round; 0 for a problem that has ended, 1 for one that ends with its first round."""
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
    places = np.searchsorted(chances, np.sort(rng.random(size)) * chances[-1], side="right")
    return np.bincount(np.minimum(places, weights.size - 1), minlength=weights.size).astype(np.intp)


@dataclass(eq=False, kw_only=True)
class Bag:
    """Samples with replacement, and votes for the rows left out of them.

    A row of weight w is w rows alike, each drawn or left out on its own (a part of a row left over is one more row).

    Attributes
    ----------
    y : (E,) rank of every single row
    weights : (E,) its weight, 1 but for parts
    row : (E,) the distinct row that it is
    n_rows : int
        M.
    """

    y: IntArray
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
        if rows.weights.sum() < 1.0 - _WHOLE:
            raise DataError(
                f"the weights add up to {rows.weights.sum():g} of a row, and samples of less than one row are none: "
                "multiply the weights, so that they count rows, or use sampling='weight' where the method has it."
            )
        if rows.weights.sum() > _MOST:
            raise DataError(
                f"the weights add up to {rows.weights.sum():g}, and samples of so many rows cannot be drawn row by "
                "row: use sampling='weight' where the method has it, or smaller weights."
            )
        total = float(rows.weights.sum())
        require_memory(f"Drawing samples of {total:g} rows, the sum of the weights,", 40.0 * total, SMALLER_WEIGHTS)
        copies = np.maximum(np.ceil(rows.weights * (1.0 - _WHOLE)), 1.0).astype(np.intp)
        row = np.repeat(np.arange(rows.n), copies)
        return cls(y=rows.y[row], weights=(rows.weights / copies)[row], row=row, n_rows=rows.n)

    def __post_init__(self) -> None:
        self._total, self._seen = np.zeros(1), np.zeros((1, 1), dtype=np.bool_)
        self._errors: list[list[float]] = []
        self._share: list[float] = []

    def draw(self, weights: FloatArray, rng: np.random.Generator) -> FloatArray:
        """(P, M) how often each distinct row is drawn with weights (P, M), as many as there are rows in all."""
        size = max(int(np.rint(self.weights.sum())), 1)
        own = self.weights / np.bincount(self.row, weights=self.weights)[self.row]
        counts = np.stack([drawn(w[self.row] * own, size, rng) for w in weights])
        self._absent = counts == 0
        return np.stack([np.bincount(self.row, weights=c, minlength=self.n_rows) for c in counts]).astype(np.float64)

    def note(self, answers: FloatArray, active: BoolArray, aggregation: Aggregation) -> None:
        """Count a round's weighted answers (M, K) or (M, 2, S) for the rows left out; `active` (P,) problems vote."""
        absent = self._absent & active[:, None]
        mask = absent.T[:, None, :] if answers.ndim == 3 else absent.T
        self._total = self._total + np.where(mask, answers[self.row], 0.0)
        self._seen = self._seen | absent
        covered = self._seen.all(axis=0)
        weights = self.weights * covered
        self._share.append(float(weights.sum() / self.weights.sum()))
        distance = np.abs(np.argmax(aggregation.tally(self._total), axis=1) - self.y).astype(np.float64)
        powers = [np.minimum(distance, 1.0), distance, distance**2]
        nothing = float("nan")
        self._errors.append([float(weights @ p / weights.sum()) if covered.any() else nothing for p in powers])

    def result(self) -> OutOfBag:
        """Errors after every round."""
        return OutOfBag(errors=np.array(self._errors), share=np.array(self._share))
