"""Rounds of boosting: the record of finished rounds, and the run that adds them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from .._typing import FloatArray, Progress
from ..fit import MarginFit, Potential
from ..formula.distinct import DistinctRows
from ..formula.sample import Rows
from .learner import WeakHypothesis
from .losses import Loss

# Smaller edges, as a share of the weights, are rounding.
_NO_EDGE = 1e-10
# Smaller losses, as a share of the first, count as 0.
_NO_LOSS = 1e-250


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


class Hypotheses(Protocol):
    """The set of hypotheses for the rows of a sample.

    Attributes
    ----------
    reversible : bool
        Whether -h is also a hypothesis, so that weights can be negative.
    """

    reversible: ClassVar[bool]

    def best(self, u: FloatArray, rng: np.random.Generator) -> WeakHypothesis:
        """A hypothesis h with a large sum of u h."""

    def combine(self, members: Sequence[Any], round_weights: FloatArray) -> Any:
        """sum_t weight_t h_t as a function of rows."""


def continued(state: dict[str, Any]) -> np.random.Generator:
    """A random generator in a given state."""
    generator = getattr(np.random, state["bit_generator"])()
    generator.state = deepcopy(state)
    return np.random.Generator(generator)


@dataclass(eq=False, kw_only=True)
class Run:
    """Boosting in progress on some rows.

    Attributes
    ----------
    train : DistinctRows
    trainer : Hypotheses
    loss : Loss
    start : callable or None
        The score that the rounds start from.
    members, alphas : lists of length T
        The hypotheses of the rounds so far, and their weights.
    losses, limits : lists of length T+1
        The loss, and the product of the first loss with the factors of the steps.
    thetas : list of length T+1, or None
        Thresholds, if the loss has them.
    message : str
        Why the rounds ended.
    """

    train: DistinctRows
    trainer: Hypotheses
    loss: Loss
    start: Potential | None
    members: list[Any] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    message: str = "all rounds made"

    def __post_init__(self) -> None:
        self.losses = [self.loss.value]
        self.limits = [self.loss.value]
        self.thetas = None if self.loss.theta is None else [self.loss.theta]

    def add(
        self, rounds: int, rng: np.random.Generator, progress: Progress | None
    ) -> None:
        """Add rounds; stop if no hypothesis beats chance, or if the loss is 0."""
        first = len(self.members)
        self.message = "all rounds made"
        for made in range(1, rounds + 1):
            weak = self._next(rng)
            if weak is None:
                break
            self._move(weak)
            if progress is not None:
                progress(made, rounds, f"round {first + made}")
        if progress is not None and len(self.members) < first + rounds:
            progress(rounds, rounds, self.message)

    def repeat(self, rounds: Rounds) -> None:
        """Repeat known rounds on the same rows, without the search."""
        rows = Rows(X=self.train.X)
        for member in rounds.members:
            alone = self.trainer.combine([member], np.ones(1))
            self._move(WeakHypothesis(member, alone(rows)))

    def record(self, rng: np.random.Generator) -> Rounds:
        """The rounds so far, with the state of `rng`."""
        return Rounds(
            members=tuple(self.members),
            alphas=np.array(self.alphas),
            losses=np.array(self.losses),
            limits=np.array(self.limits),
            thetas=None if self.thetas is None else np.array(self.thetas),
            start=self.start,
            message=self.message,
            state=deepcopy(dict(rng.bit_generator.state)),
        )

    def _next(self, rng: np.random.Generator) -> WeakHypothesis | None:
        """The next hypothesis; None if it would not lower the loss (`message` has the
        reason).
        """
        if self.loss.value <= _NO_LOSS * self.losses[0]:
            self.message = "the loss is 0"
            return None
        u = self.loss.direction()
        weak = self.trainer.best(u, rng)
        edge = float((u * weak.values).sum())
        if self.trainer.reversible:
            edge = abs(edge)
        if edge <= _NO_EDGE * float(np.abs(u).sum()):
            self.message = "no weak hypothesis is better than chance"
            return None
        return weak

    def _move(self, weak: WeakHypothesis) -> None:
        """Add one round."""
        alpha, factor = self.loss.step(weak.values)
        self.members.append(weak.member)
        self.alphas.append(alpha)
        self.losses.append(self.loss.value)
        self.limits.append(self.limits[-1] * factor)
        if self.thetas is not None and self.loss.theta is not None:
            self.thetas.append(self.loss.theta)
