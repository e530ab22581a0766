"""AdaBoost for two levels."""

from __future__ import annotations

from dataclasses import dataclass

from .shared.boosting import TwoLevelBoosting


@dataclass(frozen=True, kw_only=True, repr=False)
class AdaBoost(TwoLevelBoosting):
    """AdaBoost [Freund & Schapire 1997; Lin 2008, alg. 4.2], for a response of two levels.

    Lowers sum_n w_n exp(-z_n H(x_n)), z_n = +1 for the higher level, else -1, w_n = |c_n[1] - c_n[2]|, by one weak
    hypothesis a round with the weight 1/2 log((1 - e)/e), e its weighted error. The answer is the higher level where
    H(x) > 0.

    Parameters
    ----------
    rounds, learner, cost, validation, patience
        See `ordstat.methods.shared.boosting.BoostingMethod` and `ordstat.methods.shared.boosting.RoundsMethod`.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> AdaBoost(learner="perceptron")
    AdaBoost(learner='perceptron')
    """
