"""AdaBoost of K classes, without their order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..learners.losses.reweighting import DiscreteRanks, RealRanks, Reweighting
from ..learners.tree_rounds import Plan
from ..model.distinct import DistinctRows
from ..model.trees.aggregation import Aggregation, LogRatios, Plurality
from .shared.trees import BoostedTrees, smoothing


@dataclass(frozen=True, kw_only=True, repr=False)
class NominalAdaBoost(BoostedTrees):
    """AdaBoost of trees of all ranks, which knows nothing of their order [Tutz & Hechenbichler 2003, sec. 2 and 3.2].

    version="discrete": e is the weight of the rows that the tree of the round gets wrong, its vote is
    c = log((1 - e) / (e + 1/(n (K-1)))) + log(K-1), so that it is positive while e is below (K-1)/K, and wrong rows
    get exp(c) times their weight; rounds end where c <= 0. version="real": the tree's shares p_j make
    f_j = 1/2 (log(p_j + 1/n) - mean over l != j of log(p_l + 1/n)), rows get exp(-f_y) times their weight, and the
    rank with the largest sum of f is predicted.

    Probabilities are the shares of the votes; with version="real" those whose f is the sum of the rounds (for K = 2
    Friedman, Hastie & Tibshirani 2000), which the paper does not define, and which grow too sure with the rounds.

    Parameters
    ----------
    version : {"discrete", "real"}
    sampling : {"resample", "weight"}
        Trees grow on samples drawn with the weights, or on the weighted rows. The paper's tables have samples.
    rounds : int
        At most (the paper's cycles).
    leaves, prune, max_depth, min_weight, n_jobs
        Settings of every tree, and jobs: see `DecisionTree`. leaves=None means 15.
    cost : "classification"

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", data=wine, method="nominal-adaboost", rounds=10, sampling="weight")
    >>> fit.rounds.columns.tolist()
    ['error', 'vote']
    """

    @property
    def kind(self) -> str:
        return "nominal"

    def plan(self, rows: DistinctRows, n_levels: int) -> Plan:
        return Plan(
            tree=self.tree(),
            classes=rows.y[None],
            n_classes=n_levels,
            apart=False,
            aggregation=self._aggregation(rows, n_levels),
            reweighting=self._reweighting(rows, n_levels),
            draw=self.draws,
        )

    def _aggregation(self, rows: DistinctRows, n_levels: int) -> Aggregation:
        if self.version == "discrete":
            return Plurality(n_levels=n_levels)
        return LogRatios(n_levels=n_levels, smoothing=smoothing(rows))

    def _reweighting(self, rows: DistinctRows, n_levels: int) -> Reweighting:
        if self.version == "real":
            return RealRanks(y=rows.y)
        return DiscreteRanks(
            y=rows.y,
            errors=1.0 - np.eye(n_levels),
            largest=1.0,
            bonus=float(np.log(n_levels - 1)),
            smoothing=smoothing(rows) / (n_levels - 1),
        )
