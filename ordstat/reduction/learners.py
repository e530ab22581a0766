"""What binary and weak learners are: weighted examples in, a score out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..fit import Certificate
from ..formula.sample import Rows
from .members import InRounds


@dataclass(frozen=True, eq=False, kw_only=True)
class Binary:
    """A weighted binary problem whose examples are rows of a sample.

    Attributes
    ----------
    index : (M,) positions of rows; a row may come more than once, under both labels too
    labels : (M,) +1.0 or -1.0
    weights : (M,) > 0
    """

    index: IntArray
    labels: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, index: IntArray, labels: FloatArray, weights: FloatArray) -> Binary:
        """The examples whose weight is not zero."""
        used = weights > 0
        return cls(index=index[used], labels=labels[used], weights=weights[used])

    @property
    def one_sided(self) -> bool:
        """Whether all labels are the same, or there are none."""
        return bool((self.labels == self.labels[:1]).all())

    @property
    def side(self) -> float:
        """The label of a one-sided problem; 0 where there is no example."""
        return float(self.labels[0]) if self.labels.size else 0.0

    def among(self, kept: BoolArray) -> Binary:
        """The examples of the rows where `kept` (N,) is true."""
        inside = kept[self.index]
        return Binary(index=self.index[inside], labels=self.labels[inside], weights=self.weights[inside])

    def loss(self, scores: FloatArray) -> float:
        """Total weight of the examples on the wrong side of scores (N,); a score of 0 answers -1."""
        answers = np.where(scores[self.index] > 0, 1.0, -1.0)
        return float(self.weights[answers != self.labels].sum())


#: Fitted binary classifiers: from rows to (N, P) scores of P classifiers, which answer +1 above 0.
Scorer = Callable[[Rows], FloatArray]


@dataclass(frozen=True, eq=False, kw_only=True)
class Learned:
    """P binary classifiers fitted to the rows of one sample.

    Attributes
    ----------
    scorer : Scorer
    scores : (N, P) of the rows of the sample
    certificate : Certificate
        Certificate of the worst of them.
    iterations : int
        Iterations of all of them.
    facts : tuple of (label, value)
        For the summary.
    """

    scorer: Scorer
    scores: FloatArray
    certificate: Certificate
    iterations: int
    facts: tuple[tuple[str, Any], ...] = ()


class Trainer(Protocol):
    """A learner at work on the rows of one sample: what the problems share is done once."""

    def fit(self, problems: Sequence[Binary], rng: np.random.Generator) -> Learned:
        """Solve every problem."""


class BinaryLearner(ABC):
    """A weighted binary classifier, as a value of its settings."""

    @property
    def counts_rows(self) -> bool:
        """Whether rows count by their number too, whatever they weigh, as in a least size of a leaf."""
        return False

    @abstractmethod
    def on(self, X: FloatArray, case_weights: FloatArray) -> Trainer:
        """Ready for problems among the rows of X (N, D); rows of case weight 0 may come in none."""

    def fit(self, X: FloatArray, z: FloatArray, w: FloatArray, rng: np.random.Generator) -> Learned:
        """One problem: labels z (N,) of +1 and -1 with weights w (N,) >= 0."""
        problem = Binary.of(np.arange(len(X)), z, w)
        return self.on(X, w).fit((problem,), rng)


@dataclass(frozen=True, eq=False)
class Weak:
    """A weak hypothesis: what its trainer needs to know of it, and its values (N,) on the trainer's rows."""

    member: Any
    values: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class HypothesisClass:
    """How rich a class of hypotheses is on the rows of a sample.

    Attributes
    ----------
    log_size : float
        Logarithm of (a bound of) the number of distinct label vectors; NaN where none is known, or values are real.
    squared_lengths : (N,) or None
        |phi(x_n)|^2 of real-valued hypotheses x -> <v, phi(x)>, |v| <= 1, inside a 1-Lipschitz function.
    """

    log_size: float
    squared_lengths: FloatArray | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class WeakTrainer(ABC):
    """A weak learner at work on the rows X (N, D) of one sample: what the rounds share is done once."""

    X: FloatArray

    #: A hypothesis that is worse than chance (a sigmoid of a good perceptron may be) is used the other way round.
    reversible: ClassVar[bool] = True

    @abstractmethod
    def best(self, u: FloatArray, rng: np.random.Generator) -> Weak:
        """A hypothesis with a large sum_n u_n h(x_n), u (N,)."""

    @abstractmethod
    def combine(self, members: Sequence[Any], round_weights: FloatArray) -> InRounds:
        """sum_t weight_t h_t as a potential."""

    @abstractmethod
    def richness(self) -> HypothesisClass:
        """Richness of the class of all hypotheses that `best` may return."""

    def fit(self, problems: Sequence[Binary], rng: np.random.Generator) -> Learned:
        """One hypothesis for every binary problem."""
        found = [self.best(self._signed(problem), rng) for problem in problems]
        scorer = partial(_side_by_side, [self.combine([weak.member], np.ones(1)) for weak in found])
        return Learned(
            scorer=scorer,
            scores=np.column_stack([np.zeros((self.n, 0)), *(weak.values for weak in found)]),
            certificate=Certificate(name="weak hypotheses that were not found", value=0.0, tolerance=0.0),
            iterations=len(problems),
        )

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.X)

    def _signed(self, problem: Binary) -> FloatArray:
        signed = problem.labels * problem.weights
        return np.bincount(problem.index, weights=signed, minlength=self.n).astype(np.float64)


class WeakLearner(BinaryLearner):
    """A binary learner that boosting can call every round, as a value of its settings."""

    @abstractmethod
    def on(self, X: FloatArray, case_weights: FloatArray) -> WeakTrainer:
        """Ready for the rows of X (N, D)."""


def _side_by_side(members: Sequence[InRounds], rows: Rows) -> FloatArray:
    """(N, P) values of P hypotheses."""
    return np.column_stack([np.zeros((rows.n, 0)), *(member(rows) for member in members)])
