"""One classification tree, or one a split."""

from __future__ import annotations

from dataclasses import dataclass

from ..checks import one_of
from ..learners.tree_rounds import Plan
from ..model.distinct import DistinctRows
from ..model.trees.aggregation import LeafShares
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

    response: str = "nominal"

    def __post_init__(self) -> None:
        one_of("response", self.response, RESPONSES, of=self)
        super().__post_init__()

    @property
    def kind(self) -> str:
        return self.response

    def plan(self, rows: DistinctRows, n_levels: int) -> Plan:
        return self._even_plan(rows, LeafShares(n_levels=n_levels), draw=False)
