"""Definition of weak learners, and the weak learner that an option names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..formula.sample import Rows
from ..reduction.classifiers import CLASSIFIERS, parse_classifier
from ..reduction.learners import Binary, BinaryLearner, Scorer, Trainer
from .sums import InRounds, MemberSum


@dataclass(frozen=True, eq=False)
class WeakHypothesis:
    """A weak hypothesis, in the form that its trainer uses, and its values (N,) on the
    training rows.
    """

    member: Any
    values: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class HypothesisClass:
    """The size of a class of hypotheses on the rows of a sample.

    Attributes
    ----------
    log_size : float
        Logarithm of a bound on the number of distinct label vectors; NaN if unknown or
        if values are real.
    squared_lengths : (N,) or None
        |phi(x_n)|^2 of real-valued hypotheses x -> <v, phi(x)>, |v| <= 1, inside a
        1-Lipschitz function.
    """

    log_size: float
    squared_lengths: FloatArray | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class WeakTrainer(ABC):
    """A weak learner on the rows X (N, D) of one sample; shared work is done once."""

    X: FloatArray

    #: Whether a hypothesis worse than chance, such as a sigmoid of a good perceptron,
    #: gets a negative weight.
    reversible: ClassVar[bool] = True

    @abstractmethod
    def best(self, u: FloatArray, rng: np.random.Generator) -> WeakHypothesis:
        """A hypothesis with a large sum_n u_n h(x_n), u (N,)."""

    @abstractmethod
    def combine(self, members: Sequence[Any], round_weights: FloatArray) -> InRounds:
        """sum_t weight_t h_t as a potential."""

    @abstractmethod
    def richness(self) -> HypothesisClass:
        """Size of the class of all hypotheses that `best` may return."""

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.X)


class WeakLearner(ABC):
    """Settings of a learner that boosting calls in every round."""

    @abstractmethod
    def on(self, X: FloatArray, case_weights: FloatArray) -> WeakTrainer:
        """The trainer for the rows of X (N, D)."""


def _answers(scorer: Scorer, rows: Rows) -> FloatArray:
    """(N,) +1 if the score is above 0, else -1."""
    return np.where(scorer(rows)[:, 0] > 0.0, 1.0, -1.0)


@dataclass(frozen=True)
class WeakClassifier(WeakLearner):
    """Predictions of a binary classifier that is fitted in every round.

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

    trainer: Trainer

    def best(self, u: FloatArray, rng: np.random.Generator) -> WeakHypothesis:
        size = np.abs(u)
        problem = Binary.of(
            np.arange(self.n), np.where(u > 0, 1.0, -1.0), size / (size.mean() or 1.0)
        )
        member = partial(_answers, self.trainer.fit((problem,), rng).scorer)
        return WeakHypothesis(member, member(Rows(X=self.X)))

    def combine(self, members: Sequence[Any], round_weights: FloatArray) -> MemberSum:
        return MemberSum(
            members=tuple(members), round_weights=np.asarray(round_weights)
        )

    def richness(self) -> HypothesisClass:
        return HypothesisClass(log_size=np.nan)


#: Classes of weak learners that a string stands for, besides `CLASSIFIERS`.
WEAK = {
    "stump": "DecisionStump",
    "perceptron": "RCDPerceptron",
    "sigmoid": "NormalisedSigmoid",
    "tree": "DecisionTree",
}


def parse_learner(value: Any, owner: Any) -> WeakLearner:
    """The weak learner that a name, a value or a scikit-learn classifier stands for.

    Raises
    ------
    OptionError
        Another value; the message names `owner`, the method.
    """
    if isinstance(value, str) and value in WEAK:
        value = getattr(import_module("ordstat"), WEAK[value])()
    if isinstance(value, WeakLearner):
        return value
    also = ", a weak learner such as DecisionStump()"
    names = {**dict.fromkeys(WEAK), **CLASSIFIERS}
    return WeakClassifier(
        parse_classifier(
            "learner", value, names, owner, scaling="range", also=also, weighted=True
        )
    )
