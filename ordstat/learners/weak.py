"""What a weak learner is: signed weights in, a hypothesis with values in [-1, 1] out, again and again on the same rows.

A signed weight u_n says by its sign which answer row n should get, and by its size how much that matters; the learner
looks for the hypothesis h that maximises sum_n u_n h(x_n).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..model.binary import Binary
from ..model.ensembles.ensembles import Ensemble
from ..model.fit import Certificate
from ..model.sample import Rows
from .base import BinaryLearner, Learned


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
    def combine(self, members: Sequence[Any], round_weights: FloatArray) -> Ensemble:
        """sum_t weight_t h_t as a potential."""

    @abstractmethod
    def richness(self) -> HypothesisClass:
        """Richness of the class of all hypotheses that `best` may return."""

    def fit(self, problems: Sequence[Binary], rng: np.random.Generator) -> Learned:
        """One hypothesis for every binary problem."""
        found = [self.best(self._signed(problem), rng) for problem in problems]
        scorer = _SideBySide(tuple(self.combine([weak.member], np.ones(1)) for weak in found))
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


@dataclass(frozen=True, eq=False)
class _SideBySide:
    """(N, P) values of P hypotheses."""

    members: tuple[Ensemble, ...]

    def __call__(self, rows: Rows) -> FloatArray:
        return np.column_stack([np.zeros((rows.n, 0)), *(member(rows) for member in self.members)])
