"""What a binary learner is: weighted examples in, a real-valued score out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._typing import FloatArray
from ..model.binary import Binary
from ..model.fit import Certificate
from ..model.sample import Rows


class Scorer(Protocol):
    """Fitted binary classifiers: the answer is +1 where the score is above 0."""

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, P) scores of P classifiers."""


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
