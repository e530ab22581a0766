"""Bagging of trees of all ranks, or of every split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..checks import one_of, whole
from ..learners.tree_rounds import Plan
from ..model.distinct import DistinctRows
from ..model.trees.aggregation import Plurality
from .shared.trees import RESPONSES, TreeMethod


@dataclass(frozen=True, kw_only=True, repr=False)
class OrdinalBagging(TreeMethod):
    """Trees on bootstrap samples of the rows [Breiman 1996; Tutz & Hechenbichler 2003, sec. 2 and 4.1].

    `bagging` lets trees of all ranks vote for one each. `ordinal-bagging` lets trees of every split vote for its
    sides, and combines the winning sides by the rule (2). Probabilities are the shares of the votes, or the
    standardised scores. A row of case weight w is w rows, each drawn or left out on its own.

    Parameters
    ----------
    response : {"nominal", "ordinal"}
        Trees of all ranks, or of every split.
    rounds : int
        Samples (the paper's cycles), of every split where there are splits.
    leaves, prune, max_depth, min_weight, n_jobs
        Settings of every tree, and jobs: see `DecisionTree`. leaves=None means 15, and 5 for trees of splits.
    cost : "classification"

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="ordinal-bagging", rounds=25)
    >>> fit.importance().index.tolist()
    ['temp[T.warm]', 'contact[T.yes]']
    """

    rounds: int = 50
    response: str = "nominal"

    in_rounds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        one_of("response", self.response, RESPONSES, of=self)
        super().__post_init__()
        self._settle(rounds=whole("rounds", self.rounds, 1, of=self))

    @property
    def made(self) -> int:
        return self.rounds

    @property
    def draws(self) -> bool:
        return True

    @property
    def kind(self) -> str:
        return self.response

    def plan(self, rows: DistinctRows, n_levels: int) -> Plan:
        return self._even_plan(rows, Plurality(n_levels=n_levels), draw=True)
