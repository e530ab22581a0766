"""ORBoost: ordinal regression boosting of large-margin thresholded ensembles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._typing import FloatArray
from ..model.costs import CostMatrix, require_v_shaped, sample_costs
from ..model.distinct import DistinctRows
from ..model.sample import Sample
from ..solvers.exponential import MarginLoss, Questions
from .base_boosting import BoostingMethod


@dataclass(frozen=True, kw_only=True, repr=False)
class ORBoost(BoostingMethod):
    """Ordinal regression boosting [Lin & Li 2006, sec. 4.2-4.3; Lin 2008, alg. 3.4].

    Lowers sum_nk W_nk exp(-rho_k(n)) by one weak hypothesis a round, rho_k = H(x_n) - theta_k where y_n > k, else
    theta_k - H(x_n), H = sum_t alpha_t h_t. W_nk = |c_n[k+1] - c_n[k]|: under the absolute cost every margin counts,
    which is ORBoost-All; under the classification cost the two at the ends of the row's own interval, which is
    ORBoost-LR. After every round the thresholds are the best ones in order for H. The loss never rises, and it bounds
    the training cost above the least possible; so does the product of the rounds' factors (training-error theorem).

    Parameters
    ----------
    rounds : int
        T, at least 1. The papers use 2000.
    learner : str, weak learner or scikit-learn classifier
        "stump", "perceptron", "sigmoid", "tree" (of 5 leaves), "logistic"; a value such as RCDPerceptron(updates=100);
        or a classifier that takes sample_weight.
    cost : str or (K, K) array
        "absolute", "classification", "squared", or a V-shaped matrix [true rank, predicted rank]; a row's own costs in
        the sample take its place.
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
    >>> ORBoost(rounds=50)
    ORBoost(rounds=50)
    """

    def check(self, sample: Sample) -> None:
        """Raise where the sample holds something this method has no use for."""
        super().check(sample)
        require_v_shaped(sample_costs(CostMatrix(self.cost), sample), sample.y, type(self).__name__)

    def loss(self, train: DistinctRows, scores: FloatArray) -> MarginLoss:
        """The margin loss with its best thresholds."""
        return MarginLoss.start(Questions.of(train.y, train.costs, train.weights), scores)

    def facts(self) -> tuple[tuple[str, Any], ...]:
        return *super().facts(), ("Margins", "of all thresholds, by the steps of the cost")
