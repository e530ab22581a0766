"""Boosting: one weak hypothesis a round, each along the signed weights of a loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from .._typing import FloatArray
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


@dataclass(eq=False, kw_only=True)
class History:
    """What the rounds so far have found.

    Attributes
    ----------
    members, alphas : lists of length T
    losses, limits : lists of length T+1
        The loss, and the product of the first loss with the factors of the steps.
    message : str
        Why it ended.
    """

    losses: list[float]
    limits: list[float]
    members: list[Any] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    message: str = "all rounds made"

    @classmethod
    def of(cls, loss: Loss) -> History:
        """Before the first round."""
        return cls(losses=[loss.value], limits=[loss.value])

    def record(self, member: Any, step: Step, loss: float) -> None:
        """One round more."""
        self.members.append(member)
        self.alphas.append(step.alpha)
        self.losses.append(loss)
        self.limits.append(self.limits[-1] * step.factor)


def boost(
    loss: Loss,
    trainer: Hypotheses,
    history: History,
    rounds: int,
    rng: np.random.Generator,
    after: Callable[[Any, float], bool],
) -> None:
    """Add rounds to a history, and lower the loss, in place.

    It ends early where no hypothesis is better than chance, where the loss is 0, or where `after`, called with the
    member and its alpha once a round is made, says so.
    """
    history.message = "all rounds made"
    for _ in range(rounds):
        if loss.value <= _NO_LOSS * history.losses[0]:
            history.message = "the loss is 0"
            return
        u = loss.direction()
        weak = trainer.best(u, rng)
        edge = float((u * weak.values).sum())
        if (abs(edge) if trainer.reversible else edge) <= _NO_EDGE * float(np.abs(u).sum()):
            history.message = "no weak hypothesis is better than chance"
            return
        step = loss.step(weak.values)
        history.record(weak.member, step, loss.value)
        if after(weak.member, step.alpha):
            history.message = "the validation cost rises"
            return


def replay(
    loss: Loss,
    trainer: Hypotheses,
    history: History,
    X: FloatArray,
    members: tuple[Any, ...],
    after: Callable[[Any, float], None],
) -> None:
    """Make rounds again that were made before on the same rows X (N, D): the same numbers, without the search."""
    for member in members:
        step = loss.step(trainer.combine([member], np.ones(1))(Rows(X=X)))
        history.record(member, step, loss.value)
        after(member, step.alpha)
