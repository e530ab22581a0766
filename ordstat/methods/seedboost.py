"""SeedBoost: AdaBoost that goes on from another learner's score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..checks import unknown
from ..exceptions import OptionError
from ..learners.base import BinaryLearner, Scorer
from ..learners.classifier import Classifier
from ..learners.named import CLASSIFIERS
from ..model.distinct import DistinctRows
from ..model.fit import Fit
from ..model.rules import GapRule, Potential
from ..model.sample import Rows, Sample
from .base import Method
from .shared.boosting import TwoLevelBoosting


@dataclass(frozen=True, kw_only=True, repr=False)
class SeedBoost(TwoLevelBoosting):
    """AdaBoost with seeding [Lin 2008, alg. 5.3], for a response of two levels.

    Another learner is fitted first; with f its real-valued score, AdaBoost runs on the weights w_n exp(-z_n f(x_n)),
    and the answer is the higher level where f(x) + H(x) > 0.

    Parameters
    ----------
    first : str, method, binary learner or scikit-learn classifier
        "logistic", "tree"; a method for two levels such as REDSVM(C=1) or AdaBoost(), by its distance to the
        threshold; or a classifier that takes sample_weight, by its decision function.
    rounds, learner, cost, validation, patience
        See `ordstat.methods.shared.boosting.BoostingMethod` and `ordstat.methods.shared.boosting.RoundsMethod`;
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

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.first, (Method, BinaryLearner)):
            self._classifier()

    def _classifier(self) -> Classifier:
        if isinstance(self.first, str) and self.first in CLASSIFIERS:
            return Classifier(CLASSIFIERS[self.first]())
        if not isinstance(self.first, str):
            try:
                return Classifier(self.first)
            except OptionError as error:
                raise self._unknown() from error
        raise self._unknown()

    def _unknown(self) -> OptionError:
        also = ", a method such as REDSVM(C=1), or a scikit-learn classifier that takes sample_weight"
        return unknown("first", self.first, CLASSIFIERS, of=self, also=also)

    def start(self, train: DistinctRows, rng: np.random.Generator) -> Potential:
        """The score of the first learner."""
        weights = train.weights * np.abs(train.costs[:, 1] - train.costs[:, 0])
        if isinstance(self.first, Method):
            sample = Sample(rows=Rows(X=train.X), y=train.y, n_levels=2, weights=weights)
            return _Gap(self.first.fit(sample, rng))
        learner = self.first if isinstance(self.first, BinaryLearner) else self._classifier()
        return _Score(learner.fit(train.X, np.where(train.y > 0, 1.0, -1.0), weights, rng).scorer)

    def facts(self) -> tuple[tuple[str, Any], ...]:
        return *super().facts(), ("First", repr(self.first))

    def geometry(self, sample: Sample, fit: Fit) -> None:
        """None: the first learner's score has no sum of weights."""
        return None


@dataclass(frozen=True, eq=False)
class _Gap:
    """Distance of a fitted method's score to its threshold."""

    fit: Fit

    def __call__(self, rows: Rows) -> FloatArray:
        rule: GapRule = self.fit.rule  # type: ignore[assignment]
        return rule.gaps(rows)[:, 0]


@dataclass(frozen=True, eq=False)
class _Score:
    """Score of a fitted binary learner."""

    scorer: Scorer

    def __call__(self, rows: Rows) -> FloatArray:
        return self.scorer(rows)[:, 0]
