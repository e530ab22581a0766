"""Boosting of weak binary hypotheses: ORBoost, RankBoost with thresholds, AdaBoost for two levels and with seeding."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np

from .._typing import FloatArray
from ..checks import one_of, unknown
from ..fit import Certificate, Fit, GapRule, Potential
from ..formula.sample import DistinctRows, Rows, Sample
from ..judging.costs import least_cost_thresholds, mean_excess
from ..method import FREUND, LIN, LIN_LI, Method, Needs, option
from ..reduction.classifiers import CLASSIFIERS, named_classifier
from ..reduction.learners import BinaryLearner, Scorer
from .method import RoundsMethod, WeakHypotheses
from .rounds import PairLoss, misordered

#: How a step along a hypothesis of RankBoost is found.
STEPS = {"loose": "the difference of right and wrong pairs", "tight": "the shares of right and of wrong pairs"}


@dataclass(frozen=True, kw_only=True, repr=False)
class ORBoost(WeakHypotheses, RoundsMethod):
    """Ordinal regression boosting [Lin & Li 2006, sec. 4.2-4.3; Lin 2008, alg. 3.4].

    Lowers sum_nk W_nk exp(-rho_k(n)) by one weak hypothesis a round, rho_k = H(x_n) - theta_k where y_n > k, else
    theta_k - H(x_n), H = sum_t alpha_t h_t. W_nk = |c_n[k+1] - c_n[k]|: under the absolute cost every margin counts,
    which is ORBoost-All; under the classification cost the two at the ends of the row's own interval, which is
    ORBoost-LR. After every round the thresholds are the best ones in order for H. The loss never rises, and it bounds
    the training cost above the least possible; so does the product of the rounds' factors (training-error theorem).

    Parameters
    ----------
    rounds, learner, cost, validation, patience
        See `ordstat.boosting.method.WeakHypotheses` and `ordstat.boosting.method.RoundsMethod`;
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

    papers: ClassVar[tuple[str, ...]] = (LIN_LI, LIN)

    def facts(self) -> tuple[tuple[str, Any], ...]:
        return *super().facts(), ("Margins", "of all thresholds, by the steps of the cost")


@dataclass(frozen=True, kw_only=True, repr=False)
class RankBoost(WeakHypotheses, RoundsMethod):
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
        See `ordstat.boosting.method.WeakHypotheses` and `ordstat.boosting.method.RoundsMethod`.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> RankBoost(rounds=50, step="tight")
    RankBoost(rounds=50, step='tight')
    """

    step: str = option("loose", one_of, STEPS)

    needs: ClassVar[Needs] = Needs(row_costs=True)
    papers: ClassVar[tuple[str, ...]] = (LIN_LI, LIN)

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


@dataclass(frozen=True, kw_only=True, repr=False)
class AdaBoost(WeakHypotheses, RoundsMethod):
    """AdaBoost [Freund & Schapire 1997; Lin 2008, alg. 4.2], for a response of two levels.

    Lowers sum_n w_n exp(-z_n H(x_n)), z_n = +1 for the higher level, else -1, w_n = |c_n[1] - c_n[2]|, by one weak
    hypothesis a round with the weight 1/2 log((1 - e)/e), e its weighted error. The answer is the higher level where
    H(x) > 0.

    Parameters
    ----------
    rounds, learner, cost, validation, patience
        See `ordstat.boosting.method.WeakHypotheses` and `ordstat.boosting.method.RoundsMethod`.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> AdaBoost(learner="perceptron")
    AdaBoost(learner='perceptron')
    """

    needs: ClassVar[Needs] = Needs(row_costs=True, v_shaped=True, two_levels=True)
    papers: ClassVar[tuple[str, ...]] = (FREUND, LIN)


@dataclass(frozen=True, kw_only=True, repr=False)
class SeedBoost(WeakHypotheses, RoundsMethod):
    """AdaBoost with seeding [Lin 2008, alg. 5.3], for a response of two levels.

    Another learner is fitted first; with f its real-valued score, AdaBoost runs on the weights w_n exp(-z_n f(x_n)),
    and the answer is the higher level where f(x) + H(x) > 0.

    Parameters
    ----------
    first : str, method, binary learner or scikit-learn classifier
        "logistic", "tree"; a method for two levels such as REDSVM(C=1) or AdaBoost(), by its distance to the
        threshold; or a classifier that takes sample_weight, by its decision function.
    rounds, learner, cost, validation, patience
        See `ordstat.boosting.method.WeakHypotheses` and `ordstat.boosting.method.RoundsMethod`;
        the thesis uses rounds=100.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> SeedBoost(first="tree")
    SeedBoost(first='tree')
    """

    first: Any = "logistic"

    needs: ClassVar[Needs] = AdaBoost.needs
    papers: ClassVar[tuple[str, ...]] = (LIN,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.first, Method):
            self._learner()

    def _learner(self) -> BinaryLearner:
        if isinstance(self.first, BinaryLearner):
            return self.first
        also = ", a method such as REDSVM(C=1), or a scikit-learn classifier that takes sample_weight"
        return named_classifier(self.first, unknown("first", self.first, CLASSIFIERS, of=self, also=also))

    def start(self, train: DistinctRows, rng: np.random.Generator) -> Potential:
        """The score of the first learner."""
        weights = train.weights * np.abs(train.costs[:, 1] - train.costs[:, 0])
        if isinstance(self.first, Method):
            sample = Sample(rows=Rows(X=train.X), y=train.y, n_levels=2, weights=weights)
            return partial(_gap, cast(GapRule, self.first.fit(sample, rng).rule))
        return partial(_score, self._learner().fit(train.X, np.where(train.y > 0, 1.0, -1.0), weights, rng).scorer)

    def facts(self) -> tuple[tuple[str, Any], ...]:
        return *super().facts(), ("First", repr(self.first))

    def geometry(self, sample: Sample, fit: Fit) -> None:
        """None: the first learner's score has no sum of weights."""
        return None


def _gap(rule: GapRule, rows: Rows) -> FloatArray:
    """(N,) distance of a score to its one threshold."""
    return rule.gaps(rows)[:, 0]


def _score(scorer: Scorer, rows: Rows) -> FloatArray:
    """(N,) score of the one binary classifier."""
    return scorer(rows)[:, 0]
