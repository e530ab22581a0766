"""Trees of all ranks or of every split: one each, or many by bagging."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..checks import one_of, whole
from ..model.distinct import DistinctRows
from ..model.trees.aggregation import Aggregation, LeafShares, Plurality, SplitVotes
from .base import option
from .shared.trees import RESPONSES, TreeMethod


@dataclass(frozen=True, kw_only=True, repr=False)
class OrdinalTree(TreeMethod):
    """Classification trees by the deviance [Breiman et al. 1984; Tutz & Hechenbichler 2003, sec. 4.1].

    `cart` grows one tree of all ranks, which predicts the rank with the largest share in a leaf, and probabilities by
    the shares. `ordinal-cart` grows a tree for every split "rank at most r, or above?" and combines their answers by
    the rule (2): a split shares its vote equally among the ranks on the side it answers; probabilities are the
    standardised scores.

    Parameters
    ----------
    response : {"nominal", "ordinal"}
        One tree, or one a split.
    leaves, prune, max_depth, min_weight, n_jobs
        Settings of every tree, and jobs: see `DecisionTree`. leaves=None means 15 for one tree and 5 for trees of
        splits; prune="misclassification" is the paper's way to them.
    cost : "classification"

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="cart")
    >>> print(fit.text())
    node) cut  weight  deviance  level
    1) all rows  72  207.4  3
      2) temp[T.warm] <= 0.5  36  83.73  2
        4) contact[T.yes] <= 0.5  18  37.32  2 *
        5) contact[T.yes] > 0.5  18  40.77  3 *
      3) temp[T.warm] > 0.5  36  96.53  3
        6) contact[T.yes] <= 0.5  18  45.32  3 *
        7) contact[T.yes] > 0.5  18  44.62  4 *
    """

    response: str = option("nominal", one_of, RESPONSES)

    @property
    def kind(self) -> str:
        return self.response

    def aggregation(self, rows: DistinctRows, n_levels: int) -> Aggregation:
        return (SplitVotes if self.apart else LeafShares)(n_levels=n_levels)


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

    rounds: int = option(50, whole, 1)
    response: str = option("nominal", one_of, RESPONSES)

    in_rounds: ClassVar[bool] = True

    @property
    def made(self) -> int:
        return self.rounds

    @property
    def draws(self) -> bool:
        return True

    @property
    def kind(self) -> str:
        return self.response

    def aggregation(self, rows: DistinctRows, n_levels: int) -> Aggregation:
        return (SplitVotes if self.apart else Plurality)(n_levels=n_levels)
