"""ORBoost: ordinal regression boosting of large-margin thresholded ensembles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._typing import FloatArray
from ..learners.losses.exponential import MarginLoss, Questions
from ..model.distinct import DistinctRows
from .shared.boosting import BoostingMethod


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
    rounds, learner, cost, validation, patience
        See `ordstat.methods.shared.boosting.BoostingMethod` and `ordstat.methods.shared.boosting.RoundsMethod`;
        the papers use rounds=2000.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> ORBoost(rounds=50)
    ORBoost(rounds=50)
    """

    def loss(self, train: DistinctRows, scores: FloatArray) -> MarginLoss:
        """The margin loss with its best thresholds."""
        return MarginLoss.start(Questions.of(train.y, train.costs, train.weights), scores)

    def facts(self) -> tuple[tuple[str, Any], ...]:
        return *super().facts(), ("Margins", "of all thresholds, by the steps of the cost")
