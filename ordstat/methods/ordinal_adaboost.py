"""AdaBoost whose rounds combine trees of all splits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..checks import one_of
from ..exceptions import OptionError
from ..learners.losses.reweighting import DiscreteRanks, RealRanks, Reweighting
from ..learners.tree_rounds import Plan
from ..model.distinct import DistinctRows
from ..model.reduction.splits import below
from ..model.trees.aggregation import Aggregation, DistanceRatios, RoundRanks, SplitLogRatios
from .shared.trees import BoostedTrees, smoothing

#: What a wrong rank counts, by version.
CRITERIA = {
    "discrete": ("misclassification", "distance", "raw distance", "squared distance"),
    "real": ("misclassification", "distance"),
}


@dataclass(frozen=True, kw_only=True, repr=False)
class OrdinalAdaBoost(BoostedTrees):
    """Ordinal AdaBoost: every round combines trees of all splits into one ranker [Tutz & Hechenbichler 2003, sec. 3.2].

    version="discrete": the trees' answers give a rank C(x) by the rule (2). Its error eps is |C - y| / (K-1)
    (criterion="distance", eq. 3), |C - y| ("raw distance", eq. 4), the square of the first ("squared distance") or
    [C != y] ("misclassification", eq. 5); e is the weighted mean of eps, as a share of the largest; its vote is
    c = log((1 - e) / (e + 1/(n (K-1)))), plus log(K-1) for misclassification, and rows get exp(c eps) times their
    weight. Rounds end where c <= 0. The rank with the most votes is predicted.

    version="real": the trees' shares p_r = P(y <= r) give scores yhat_j = sum_{r >= j} p_r + sum_{r < j} (1 - p_r)
    (eq. 6) and f_j = 1/2 log((yhat_j + 1/n) / m_j), m_j the geometric mean of the other ranks' ("misclassification") or
    their mean weighted by |j - l| ("distance"). Rows get exp(-f_y) times their weight, and the rank with the largest
    sum of f is predicted.

    Two misprints are mended: c for the raw distance is that of the standardised one, for its own formula has no
    logarithm where e exceeds 1; and the distances of the real version are from rank j, as the true rank is not known
    at prediction (at j = y they are the same).

    Probabilities are the shares of the votes; with version="real" those whose f (misclassification) is the sum of the
    rounds, which the paper does not define, and which grow too sure with the rounds.

    Parameters
    ----------
    version : {"discrete", "real"}
    criterion : {"distance", "misclassification", "raw distance", "squared distance"}
        The first two with version="real".
    sampling : {"resample", "weight"}
        The trees of a round grow on one sample drawn with the weights, or on the weighted rows. The paper's tables have
        samples.
    rounds : int
        At most (the paper's cycles).
    leaves, prune, max_depth, min_weight, n_jobs
        Settings of every tree, and jobs: see `DecisionTree`. leaves=None means 5.
    cost : "classification"

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", data=wine, method="ordinal-adaboost", rounds=10)
    >>> fit.predict(type="prob").shape
    (72, 5)
    """

    criterion: str = "distance"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("criterion", self.criterion, CRITERIA["discrete"], of=self)
        if self.criterion not in CRITERIA[self.version]:
            raise OptionError(
                f"criterion={self.criterion!r} of OrdinalAdaBoost goes with version='discrete'; version='real' takes "
                f"{' or '.join(map(repr, CRITERIA['real']))}."
            )

    @property
    def kind(self) -> str:
        return "ordinal"

    def plan(self, rows: DistinctRows, n_levels: int) -> Plan:
        return Plan(
            tree=self.tree(),
            classes=below(rows.y, n_levels),
            n_classes=2,
            apart=False,
            aggregation=self._aggregation(rows, n_levels),
            reweighting=self._reweighting(rows, n_levels),
            draw=self.draws,
        )

    def _aggregation(self, rows: DistinctRows, n_levels: int) -> Aggregation:
        if self.version == "discrete":
            return RoundRanks(n_levels=n_levels)
        kind = DistanceRatios if self.criterion == "distance" else SplitLogRatios
        return kind(n_levels=n_levels, smoothing=smoothing(rows))

    def _reweighting(self, rows: DistinctRows, n_levels: int) -> Reweighting:
        if self.version == "real":
            return RealRanks(y=rows.y)
        ranks, most = np.arange(n_levels), n_levels - 1.0
        distance = np.abs(ranks[:, None] - ranks).astype(np.float64)
        errors = {
            "misclassification": np.minimum(distance, 1.0),
            "distance": distance / most,
            "raw distance": distance,
            "squared distance": np.square(distance / most),
        }[self.criterion]
        return DiscreteRanks(
            y=rows.y,
            errors=errors,
            largest=float(errors.max()),
            bonus=float(np.log(most)) if self.criterion == "misclassification" else 0.0,
            smoothing=smoothing(rows) / most,
        )
