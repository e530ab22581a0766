"""AdaBoost of every split, combined at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._typing import IntArray
from ..checks import one_of
from ..learners.losses.reweighting import DiscreteSplits, RealSplits, Reweighting
from ..learners.tree_rounds import Plan
from ..model.distinct import DistinctRows
from ..model.reduction.splits import below
from ..model.trees.aggregation import COMBINATIONS, RealSplitVotes, SplitVotes
from .shared.trees import BoostedTrees, smoothing


@dataclass(frozen=True, kw_only=True, repr=False)
class FixedSplitBoosting(BoostedTrees):
    """AdaBoost of every split "rank at most r, or above?", combined by the rule (2) [Tutz & Hechenbichler 2003, 3.1].

    version="discrete": e is the weight of the rows on the wrong side, a tree's vote is c = log((1 - e) / (e + 1/n)),
    and wrong rows get exp(c) times their weight; the rounds of a split end where c <= 0. version="real":
    f = 1/2 log((p + 1/n) / (1 - p + 1/n)), p the share of "at most r" in a leaf, is a vote of |f| for its sign, and
    rows get exp(-f), or exp(f) if their rank is above r, times their weight.

    Then each split shares its vote equally among the ranks of the winning side, and the rank with the largest sum
    s_j is predicted. Probabilities are the standardised scores s_j / sum_l s_l.

    Parameters
    ----------
    version : {"discrete", "real"}
    combination : {"plain", "votes"}
        Splits count the same, or as much as their prediction votes: the winning side's share of the votes.
    sampling : {"resample", "weight"}
        Trees grow on samples drawn with the weights, or on the weighted rows. The paper's tables have samples.
    rounds : int
        Most rounds of each split (the paper's cycles).
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
    >>> fit = ordfit("rating ~ temp + contact", data=wine, method="fixed-split-boosting", rounds=10)
    >>> fit.rounds["vote"].columns.tolist()
    ['1|2', '2|3', '3|4', '4|5']
    """

    combination: str = "plain"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("combination", self.combination, COMBINATIONS, of=self)

    @property
    def kind(self) -> str:
        return "ordinal"

    def plan(self, rows: DistinctRows, n_levels: int) -> Plan:
        discrete, classes = self.version == "discrete", below(rows.y, n_levels)
        shared: dict[str, Any] = {"n_levels": n_levels, "combination": self.combination}
        return Plan(
            tree=self.tree(),
            classes=classes,
            n_classes=2,
            apart=True,
            aggregation=SplitVotes(**shared) if discrete else RealSplitVotes(**shared, smoothing=smoothing(rows)),
            reweighting=self._reweighting(rows, classes),
            draw=self.draws,
        )

    def _reweighting(self, rows: DistinctRows, classes: IntArray) -> Reweighting:
        if self.version == "real":
            return RealSplits(above=classes)
        return DiscreteSplits(above=classes, smoothing=smoothing(rows))
