"""Any binary learner as a weak learner, by its answers +1 and -1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from ..model.binary import Binary
from ..model.ensembles.ensembles import MemberSum
from ..model.sample import Rows
from .base import BinaryLearner, Scorer, Trainer
from .weak import HypothesisClass, Weak, WeakLearner, WeakTrainer


@dataclass(frozen=True, eq=False)
class Answer:
    """+1 where a classifier's score is above 0, else -1."""

    scorer: Scorer

    def __call__(self, rows: Rows) -> FloatArray:
        return np.where(self.scorer(rows)[:, 0] > 0.0, 1.0, -1.0)


@dataclass(frozen=True)
class WeakClassifier(WeakLearner):
    """The answers of a binary learner, fitted anew every round.

    Attributes
    ----------
    base : BinaryLearner
    """

    base: BinaryLearner

    def on(self, X: FloatArray, case_weights: FloatArray) -> WeakClassifierTrainer:
        return WeakClassifierTrainer(X=X, trainer=self.base.on(X, case_weights))


@dataclass(frozen=True, eq=False, kw_only=True)
class WeakClassifierTrainer(WeakTrainer):
    """The trainer of a weak classifier, for the rows X (N, D)."""

    X: FloatArray
    trainer: Trainer

    @property
    def n(self) -> int:
        return len(self.X)

    def best(self, u: FloatArray, rng: np.random.Generator) -> Weak:
        size = np.abs(u)
        problem = Binary.of(np.arange(self.n), np.where(u > 0, 1.0, -1.0), size / (size.mean() or 1.0))
        member = Answer(self.trainer.fit((problem,), rng).scorer)
        return Weak(member, member(Rows(X=self.X)))

    def combine(self, members: Sequence[Answer], round_weights: FloatArray) -> MemberSum:
        return MemberSum(members=tuple(members), round_weights=np.asarray(round_weights))

    def richness(self) -> HypothesisClass:
        return HypothesisClass(log_size=np.nan)
