"""Weighted binary problems on the rows of a sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray


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
