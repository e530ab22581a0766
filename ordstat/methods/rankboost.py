"""RankBoost for ordinal ranking: pairs for the potential, costs for the thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .._typing import FloatArray
from ..checks import one_of
from ..learners.losses.pairwise import PairLoss, misordered
from ..model.costs import mean_excess
from ..model.distinct import DistinctRows
from ..model.fit import Certificate
from ..model.sample import Rows
from ..solvers.dynamic_program import least_cost_thresholds
from .shared.boosting import BoostingMethod

#: How a step along a hypothesis is found.
STEPS = {"loose": "the difference of right and wrong pairs", "tight": "the shares of right and of wrong pairs"}


@dataclass(frozen=True, kw_only=True, repr=False)
class RankBoost(BoostingMethod):
    """RankBoost with thresholds of least cost [Lin 2008, alg. 3.3; Lin & Li 2006, sec. 4.1].

    Lowers the sum over pairs with y_m > y_n of exp(H(x_n) - H(x_m)) by one weak hypothesis a round, in O(N + K), and
    ends with the thresholds that cost least on the training rows, by dynamic programming.

    Parameters
    ----------
    step : {"loose", "tight"}
        alpha from the bound of 2008, 1/4 log((1 + r)/(1 - r)) with r the mean of (h_m - h_n)/2 over pairs; or from the
        tighter one of 2006, 1/4 log(right / wrong), which is exact for h = +-1 and large where hardly a pair is wrong.
    cost : str or (K, K) array
        Cost that the thresholds minimise: any; a row's own costs in the sample take its place.
    rounds, learner, validation, patience
        See `ordstat.methods.shared.boosting.BoostingMethod` and `ordstat.methods.shared.boosting.RoundsMethod`.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> RankBoost(rounds=50, step="tight")
    RankBoost(rounds=50, step='tight')
    """

    step: str = "loose"

    v_shaped: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("step", self.step, STEPS, of=self)

    def loss(self, train: DistinctRows, scores: FloatArray) -> PairLoss:
        """The pair loss."""
        return PairLoss(y=train.y, weights=train.weights, scores=scores, tight=self.step == "tight")

    def thresholds(self, train: DistinctRows, scores: FloatArray) -> FloatArray:
        """(K-1,) thresholds of least training cost."""
        return least_cost_thresholds(scores, train.costs, train.weights)

    def certificate(self, rows: DistinctRows, rule: Any, loss: float, limit: float) -> Certificate:
        """The share of pairs in the wrong order against the loss of pairs."""
        scores = rule.scores(Rows(X=rows.X))
        codes = rule.codes(Rows(X=rows.X), scores)
        wrong = misordered(rows.y, rows.weights, scores)
        details = (
            ("pairs in the wrong order", wrong),
            ("its bound", loss),
            ("bound by the rounds", limit),
            ("cost above the least possible", mean_excess(rows.costs, codes, rows.weights)),
        )
        name, value = "pairs in the wrong order / its bound", 0.0 if wrong == 0.0 else wrong / loss
        return Certificate(name=name, value=value, tolerance=1.0 + 1e-9, details=details)

    def facts(self) -> tuple[tuple[str, Any], ...]:
        return *super().facts(), ("Step", STEPS[self.step]), ("Thresholds", "of least training cost")
