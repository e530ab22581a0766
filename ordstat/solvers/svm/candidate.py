"""The problem of a thresholded support vector machine, for a choice of C."""

from __future__ import annotations

from dataclasses import dataclass

from ..._typing import BoolArray, FloatArray
from ...model.reduction.extended import Extended
from ..gram import Gram, MeanScore
from .dual import ExtendedDual


@dataclass(frozen=True, eq=False, kw_only=True)
class ThresholdedCandidate:
    """A thresholded SVM to select C for.

    Attributes
    ----------
    gram : Gram
        Not centred.
    extended : Extended
    costs : (N, K) price of every prediction
    case_weights : (N,)
    gamma : float
    ordered : bool
    """

    gram: Gram
    extended: Extended
    costs: FloatArray
    case_weights: FloatArray
    gamma: float
    ordered: bool

    def part(self, rows: BoolArray) -> tuple[ExtendedDual, MeanScore]:
        """The centred problem of some rows, and the means taken from their kernel matrix."""
        extended = Extended(self.extended.labels[rows], self.extended.weights[rows])
        return self._problem(self.gram.part(rows), extended)

    def whole(self) -> tuple[ExtendedDual, MeanScore]:
        """The centred problem of all rows; centres `gram` itself, so ask for it last."""
        return self._problem(self.gram, self.extended)

    def _problem(self, gram: Gram, extended: Extended) -> tuple[ExtendedDual, MeanScore]:
        gram, means = gram.centred()
        problem = ExtendedDual(
            gram=gram, labels=extended.labels, weights=extended.weights, gamma=self.gamma, ordered=self.ordered
        )
        return problem, means
