"""Boosting in progress: training and held-out rows, thresholds and costs after every round."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..model.costs import mean_excess
from ..model.distinct import DistinctRows
from ..model.ensembles.ensembles import Rounds
from ..model.rules import Potential, count_above
from ..model.sample import Rows
from .boosting import History, Hypotheses, Loss, boost, replay


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
    """

    train: DistinctRows
    test: DistinctRows | None
    held: IntArray | None
    trainer: Hypotheses
    loss: Loss
    gaps: Callable[[DistinctRows, FloatArray, FloatArray | None, FloatArray], FloatArray]
    start: Potential | None
    patience: int
    history: History = field(init=False)
    thetas: list[FloatArray] | None = field(init=False)
    costs: list[float] | None = field(init=False)

    def __post_init__(self) -> None:
        self.history = History.of(self.loss)
        self.thetas = None if self.loss.theta is None else []
        self.costs = None if self.test is None else []
        shape = self.loss.scores.shape[1:]
        self._test_scores = np.zeros((0 if self.test is None else self.test.n, *shape))
        if self.start is not None and self.test is not None:
            self._test_scores += self.start(Rows(X=self.test.X))
        self._note()

    def add(self, rounds: int, rng: np.random.Generator, progress: Progress | None) -> None:
        """Make further rounds; `patience` of them at least, where rows are held out."""
        first = len(self.history.members)

        def after(member: Any, alpha: float) -> bool:
            self._after(member, alpha)
            made = len(self.history.members)
            if progress is not None:
                progress(made - first, rounds, f"round {made}")
            return self.costs is not None and made - max(self.best, first) >= self.patience

        boost(self.loss, self.trainer, self.history, rounds, rng, after)
        if progress is not None and len(self.history.members) < first + rounds:
            progress(rounds, rounds, self.history.message)

    def repeat(self, rounds: Rounds) -> None:
        """Make rounds again that were made before."""
        replay(self.loss, self.trainer, self.history, self.train.X, rounds.members, self._after)

    def record(self, rng: np.random.Generator) -> Rounds:
        """All rounds so far; `rng` made the last of them."""
        return Rounds(
            members=tuple(self.history.members),
            alphas=np.array(self.history.alphas),
            losses=np.array(self.history.losses),
            limits=np.array(self.history.limits),
            thetas=None if self.thetas is None else np.array(self.thetas),
            validation=None if self.costs is None else np.array(self.costs),
            start=self.start,
            held=self.held,
            message=self.history.message,
            state=deepcopy(dict(rng.bit_generator.state)),
        )

    @property
    def best(self) -> int:
        """Number of rounds to use: all, or those to the smallest held-out cost, ties to fewer."""
        return len(self.history.members) if self.costs is None else int(np.argmin(self.costs))

    def _after(self, member: Any, alpha: float) -> None:
        """Take note of a round."""
        if self.test is not None:
            self._test_scores += self.trainer.combine([member], np.array([alpha]))(Rows(X=self.test.X))
        self._note()

    def _note(self) -> None:
        """Thresholds, and what the held-out rows cost under them."""
        if self.thetas is not None and self.loss.theta is not None:
            self.thetas.append(self.loss.theta)
        if self.test is not None and self.costs is not None:
            gaps = self.gaps(self.train, self.loss.scores, self.loss.theta, self._test_scores)
            self.costs.append(mean_excess(self.test.costs, count_above(gaps), self.test.weights))
