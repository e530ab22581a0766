"""Boosting: one weak hypothesis a round, each along the signed weights of a loss.

A run has training and held-out rows, and keeps thresholds and costs after every round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..model.costs import mean_excess
from ..model.distinct import DistinctRows
from ..model.ensembles.ensembles import Rounds
from ..model.rules import Potential, count_above
from ..model.sample import Rows
from .base import Weak
from .losses.exponential import Step

# An edge below this share of the weights is rounding.
_NO_EDGE = 1e-10
# A loss below this share of the first is 0.
_NO_LOSS = 1e-250


class Loss(Protocol):
    """A loss of training scores that boosting lowers."""

    @property
    def value(self) -> float:
        """Mean over rows or pairs, now."""

    @property
    def scores(self) -> FloatArray:
        """(N,) H; (N, K-1) where every threshold has its own."""

    @property
    def theta(self) -> FloatArray | None:
        """(K-1,) thresholds that belong to the loss; None where it has none."""

    def direction(self) -> FloatArray:
        """Signed weights u of the scores' shape: a hypothesis with a sum of u h above 0 lowers the loss."""

    def step(self, values: FloatArray) -> Step:
        """Move along a hypothesis with values of the scores' shape."""


class Hypotheses(Protocol):
    """What boosting chooses from, on the rows at hand.

    Attributes
    ----------
    reversible : bool
        Whether -h is a hypothesis too, so that one that is worse than chance serves with a negative weight.
    """

    reversible: ClassVar[bool]

    def best(self, u: FloatArray, rng: np.random.Generator) -> Weak:
        """A hypothesis with a large sum of u times its values."""

    def combine(self, members: Sequence[Any], round_weights: FloatArray) -> Any:
        """sum_t weight_t h_t as a function of rows."""


def held_out(rows: DistinctRows, share: float, rng: np.random.Generator) -> IntArray:
    """(M,) positions of rows to hold out: the share of every rank, at least one row of a rank staying."""
    held = []
    for level in np.unique(rows.y):
        own = rng.permutation(np.flatnonzero(rows.y == level))
        held.append(own[: min(int(np.rint(share * own.size)), own.size - 1)])
    return np.sort(np.concatenate(held)).astype(np.intp)


def split(rows: DistinctRows, held: IntArray | None) -> tuple[DistinctRows, DistinctRows | None]:
    """Training rows and held-out rows; None where no row is held out."""
    if held is None or held.size == 0:
        return rows, None
    return rows.take(np.setdiff1d(np.arange(rows.n), held)), rows.take(held)


def continued(state: dict[str, Any]) -> np.random.Generator:
    """A generator that goes on from a state."""
    generator = getattr(np.random, state["bit_generator"])()
    generator.state = deepcopy(state)
    return np.random.Generator(generator)


@dataclass(eq=False, kw_only=True)
class Run:
    """Rounds of boosting on some rows, added to in place.

    Attributes
    ----------
    train : DistinctRows
    test : DistinctRows or None
        Held out.
    held : (M,) their positions, or None
    trainer : WeakTrainer
        On the training rows.
    loss : Loss
    gaps : callable(train, training scores, thresholds of the loss, scores)
        (n, K-1) gaps of scores to the thresholds.
    start : callable or None
        The potential that the rounds add to.
    patience : int
        Rounds without a smaller cost of the held-out rows after which boosting ends.
    members, alphas : lists of length T
        What the rounds so far have found.
    losses, limits : lists of length T+1
        The loss, and the product of the first loss with the factors of the steps.
    thetas : list of length T+1, or None
        Thresholds, where they belong to the loss.
    costs : list of length T+1, or None
        Of the held-out rows.
    message : str
        Why it ended.
    """

    train: DistinctRows
    test: DistinctRows | None
    held: IntArray | None
    trainer: Hypotheses
    loss: Loss
    gaps: Callable[[DistinctRows, FloatArray, FloatArray | None, FloatArray], FloatArray]
    start: Potential | None
    patience: int
    members: list[Any] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    message: str = "all rounds made"

    def __post_init__(self) -> None:
        self.losses, self.limits = [self.loss.value], [self.loss.value]
        self.thetas: list[FloatArray] | None = None if self.loss.theta is None else []
        self.costs: list[float] | None = None if self.test is None else []
        shape = self.loss.scores.shape[1:]
        self._test_scores = np.zeros((0 if self.test is None else self.test.n, *shape))
        if self.start is not None and self.test is not None:
            self._test_scores += self.start(Rows(X=self.test.X))
        self._note()

    def add(self, rounds: int, rng: np.random.Generator, progress: Progress | None) -> None:
        """Make further rounds; `patience` of them at least, where rows are held out.

        They end early where no hypothesis is better than chance, where the loss is 0, or where the held-out rows cost
        no less for long.
        """
        first = len(self.members)
        self.message = "all rounds made"
        for made in range(1, rounds + 1):
            weak = self._next(rng)
            if weak is None:
                break
            self._move(weak)
            if progress is not None:
                progress(made, rounds, f"round {first + made}")
            if self.costs is not None and first + made - max(self.best, first) >= self.patience:
                self.message = "the validation cost rises"
                break
        if progress is not None and len(self.members) < first + rounds:
            progress(rounds, rounds, self.message)

    def repeat(self, rounds: Rounds) -> None:
        """Make rounds again that were made before on the same rows: the same numbers, without the search."""
        for member in rounds.members:
            self._move(Weak(member, self.trainer.combine([member], np.ones(1))(Rows(X=self.train.X))))

    def record(self, rng: np.random.Generator) -> Rounds:
        """All rounds so far; `rng` made the last of them."""
        return Rounds(
            members=tuple(self.members),
            alphas=np.array(self.alphas),
            losses=np.array(self.losses),
            limits=np.array(self.limits),
            thetas=None if self.thetas is None else np.array(self.thetas),
            validation=None if self.costs is None else np.array(self.costs),
            start=self.start,
            held=self.held,
            message=self.message,
            state=deepcopy(dict(rng.bit_generator.state)),
        )

    @property
    def best(self) -> int:
        """Number of rounds to use: all, or those to the smallest held-out cost, ties to fewer."""
        return len(self.members) if self.costs is None else int(np.argmin(self.costs))

    def _next(self, rng: np.random.Generator) -> Weak | None:
        """The hypothesis of a round; None, with the reason as `message`, where it would lower nothing."""
        if self.loss.value <= _NO_LOSS * self.losses[0]:
            self.message = "the loss is 0"
            return None
        u = self.loss.direction()
        weak = self.trainer.best(u, rng)
        edge = float((u * weak.values).sum())
        if (abs(edge) if self.trainer.reversible else edge) <= _NO_EDGE * float(np.abs(u).sum()):
            self.message = "no weak hypothesis is better than chance"
            return None
        return weak

    def _move(self, weak: Weak) -> None:
        """One round more."""
        step = self.loss.step(weak.values)
        self.members.append(weak.member)
        self.alphas.append(step.alpha)
        self.losses.append(self.loss.value)
        self.limits.append(self.limits[-1] * step.factor)
        if self.test is not None:
            self._test_scores += self.trainer.combine([weak.member], np.array([step.alpha]))(Rows(X=self.test.X))
        self._note()

    def _note(self) -> None:
        """Thresholds, and what the held-out rows cost under them."""
        if self.thetas is not None and self.loss.theta is not None:
            self.thetas.append(self.loss.theta)
        if self.test is not None and self.costs is not None:
            gaps = self.gaps(self.train, self.loss.scores, self.loss.theta, self._test_scores)
            self.costs.append(mean_excess(self.test.costs, count_above(gaps), self.test.weights))
