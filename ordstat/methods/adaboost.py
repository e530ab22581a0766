"""AdaBoost for two levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import FloatArray
from ..model.costs import CostMatrix, require_v_shaped, sample_costs
from ..model.distinct import DistinctRows
from ..model.sample import Sample
from ..solvers.exponential import MarginLoss, Questions
from .base import Needs
from .base_boosting import BoostingMethod


@dataclass(frozen=True, kw_only=True, repr=False)
class AdaBoost(BoostingMethod):
    """AdaBoost [Freund & Schapire 1997; Lin 2008, alg. 4.2], for a response of two levels.

    Lowers sum_n w_n exp(-z_n H(x_n)), z_n = +1 for the higher level, else -1, w_n = |c_n[1] - c_n[2]|, by one weak
    hypothesis a round with the weight 1/2 log((1 - e)/e), e its weighted error. The answer is the higher level where
    H(x) > 0.

    Parameters
    ----------
    rounds : int
        T, at least 1.
    learner : str, weak learner or scikit-learn classifier
        "stump", "perceptron", "sigmoid", "tree" (of 5 leaves), "logistic"; a value such as RCDPerceptron(updates=100);
        or a classifier that takes sample_weight.
    cost : str or (2, 2) array
        "absolute", "classification", "squared" (all the same here), or a matrix [true rank, predicted rank]; a row's
        own costs in the sample take its place.
    validation : float or None
        Share of the rows of every rank held out, in (0, 1): the rounds up to their smallest mean cost are used.
    patience : int
        Rounds without a smaller cost of the held-out rows after which boosting ends.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> AdaBoost(learner="perceptron")
    AdaBoost(learner='perceptron')
    """

    needs: ClassVar[Needs] = Needs(row_costs=True, two_levels=True)

    def check(self, sample: Sample) -> None:
        """Raise where the sample holds something this method has no use for."""
        super().check(sample)
        require_v_shaped(sample_costs(CostMatrix(self.cost), sample), sample.y, type(self).__name__)

    def loss(self, train: DistinctRows, scores: FloatArray) -> MarginLoss:
        """The exponential loss, with the threshold at 0."""
        return MarginLoss.start(Questions.of(train.y, train.costs, train.weights), scores, np.zeros(1))
