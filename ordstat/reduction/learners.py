"""Weighted binary problems, and what a learner of them is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..fit import Certificate
from ..formula.sample import Rows

#: Rows with whole weights are repeated, up to this number, for a learner that counts
#: rows.
MOST_REPEATED = 200_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Binary:
    """A weighted binary problem whose examples are rows of a sample.

    Attributes
    ----------
    index : (M,) positions of rows; a row may occur several times, also with both labels
    labels : (M,) +1.0 or -1.0
    weights : (M,) > 0
    """

    index: IntArray
    labels: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, index: IntArray, labels: FloatArray, weights: FloatArray) -> Binary:
        """The examples with nonzero weight."""
        used = weights > 0
        return cls(index=index[used], labels=labels[used], weights=weights[used])

    @property
    def one_sided(self) -> bool:
        """Whether all labels are the same; true without examples."""
        return bool((self.labels == self.labels[:1]).all())

    @property
    def side(self) -> float:
        """The label of a one-sided problem; 0 without examples."""
        return float(self.labels[0]) if self.labels.size else 0.0

    def among(self, mask: BoolArray) -> Binary:
        """The examples of the rows where `mask` (N,) is true."""
        inside = mask[self.index]
        return Binary(
            index=self.index[inside],
            labels=self.labels[inside],
            weights=self.weights[inside],
        )

    def loss(self, scores: FloatArray) -> float:
        """Total weight of the examples on the wrong side of scores (N,); a score of 0
        means -1.
        """
        answers = np.where(scores[self.index] > 0, 1.0, -1.0)
        return float(self.weights[answers != self.labels].sum())


#: P fitted binary classifiers: rows -> (N, P) scores; a score above 0 means +1.
Scorer = Callable[[Rows], FloatArray]


@dataclass(frozen=True, eq=False, kw_only=True)
class Learned:
    """P binary classifiers fitted to the rows of one sample.

    Attributes
    ----------
    scorer : Scorer
    scores : (N, P) of the rows of the sample
    certificate : Certificate
        Certificate of the worst classifier.
    iterations : int
        Total number of iterations.
    facts : tuple of (label, value)
        For the summary.
    """

    scorer: Scorer
    scores: FloatArray
    certificate: Certificate
    iterations: int
    facts: tuple[tuple[str, Any], ...] = ()


class Trainer(Protocol):
    """A learner on the rows of one sample; shared work is done once."""

    def fit(self, problems: Sequence[Binary], rng: np.random.Generator) -> Learned:
        """Solve every problem."""


class BinaryLearner(ABC):
    """Settings of a weighted binary classifier."""

    @property
    def counts_rows(self) -> bool:
        """Whether the number of rows matters besides their weights, as for a minimum
        size of leaves.
        """
        return False

    @property
    def takes_sparse(self) -> bool:
        """Whether the rows may have sparse columns."""
        return False

    @abstractmethod
    def on(self, X: FloatArray, case_weights: FloatArray) -> Trainer:
        """The trainer for problems among the rows of X (N, D); rows of case weight 0
        appear in no problem.
        """

    def fit(
        self, X: FloatArray, z: FloatArray, w: FloatArray, rng: np.random.Generator
    ) -> Learned:
        """Fit one problem: labels z (N,) of +1 and -1 with weights w (N,) >= 0."""
        problem = Binary.of(np.arange(len(X)), z, w)
        return self.on(X, w).fit((problem,), rng)
