"""Trees of all ranks or of every split: one each, many by bagging, or by AdaBoost, whose rounds may combine them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from ..checks import one_of, whole
from ..exceptions import OptionError
from ..learners.losses.reweighting import Reweighting, discrete_ranks, discrete_splits, real_ranks, real_splits
from ..model.distinct import DistinctRows
from ..model.trees.aggregation import (
    COMBINATIONS,
    Aggregation,
    LeafShares,
    LogRatios,
    Plurality,
    SplitVotes,
    below,
)
from .base import option
from .shared.papers import FREUND, TUTZ
from .shared.trees import RESPONSES, Boosted, TreeMethod, smoothing

#: What a wrong rank counts, by version.
CRITERIA = {
    "discrete": ("misclassification", "distance", "raw distance", "squared distance"),
    "real": ("misclassification", "distance"),
}


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
    papers: ClassVar[tuple[str, ...]] = (
        TUTZ,
        "Breiman, L., Friedman, J. H., Olshen, R. A., & Stone, C. J. (1984). Classification and Regression Trees. "
        "Wadsworth.",
    )

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
    papers: ClassVar[tuple[str, ...]] = (
        TUTZ,
        "Breiman, L. (1996). Bagging predictors. Machine Learning, 24, 123-140.",
    )

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


@dataclass(frozen=True, kw_only=True, repr=False)
class NominalAdaBoost(Boosted, TreeMethod):
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

    papers: ClassVar[tuple[str, ...]] = (TUTZ, FREUND)

    @property
    def kind(self) -> str:
        return "nominal"

    def aggregation(self, rows: DistinctRows, n_levels: int) -> Aggregation:
        if self.version == "discrete":
            return Plurality(n_levels=n_levels)
        return LogRatios(n_levels=n_levels, smoothing=smoothing(rows))

    def reweighting(self, rows: DistinctRows, n_levels: int) -> Reweighting:
        if self.version == "real":
            return partial(real_ranks, rows.y)
        bonus = float(np.log(n_levels - 1))
        return partial(discrete_ranks, rows.y, 1.0 - np.eye(n_levels), bonus, smoothing(rows) / (n_levels - 1))


@dataclass(frozen=True, kw_only=True, repr=False)
class FixedSplitBoosting(Boosted, TreeMethod):
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

    combination: str = option("plain", one_of, COMBINATIONS)
    papers: ClassVar[tuple[str, ...]] = (TUTZ,)

    @property
    def kind(self) -> str:
        return "ordinal"

    def aggregation(self, rows: DistinctRows, n_levels: int) -> Aggregation:
        smoothed = None if self.version == "discrete" else smoothing(rows)
        return SplitVotes(n_levels=n_levels, combination=self.combination, smoothing=smoothed)

    def reweighting(self, rows: DistinctRows, n_levels: int) -> Reweighting:
        above = below(rows.y, n_levels)
        return (
            partial(real_splits, above) if self.version == "real" else partial(discrete_splits, above, smoothing(rows))
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class OrdinalAdaBoost(Boosted, TreeMethod):
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
        A value outside these, or a criterion that does not go with the version.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="ordinal-adaboost", rounds=10)
    >>> fit.predict(type="prob").shape
    (72, 5)
    """

    criterion: str = option("distance", one_of, CRITERIA["discrete"])
    papers: ClassVar[tuple[str, ...]] = (TUTZ,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.criterion not in CRITERIA[self.version]:
            raise OptionError(
                f"criterion={self.criterion!r} of OrdinalAdaBoost goes with version='discrete'; version='real' takes "
                f"{' or '.join(map(repr, CRITERIA['real']))}."
            )

    @property
    def kind(self) -> str:
        return "ordinal"

    @property
    def apart(self) -> bool:
        return False

    def aggregation(self, rows: DistinctRows, n_levels: int) -> Aggregation:
        if self.version == "discrete":
            return Plurality(n_levels=n_levels, of_splits=True)
        far = self.criterion == "distance"
        return LogRatios(n_levels=n_levels, smoothing=smoothing(rows), of_splits=True, by_distance=far)

    def reweighting(self, rows: DistinctRows, n_levels: int) -> Reweighting:
        if self.version == "real":
            return partial(real_ranks, rows.y)
        ranks, most = np.arange(n_levels), n_levels - 1.0
        distance = np.abs(ranks[:, None] - ranks).astype(np.float64)
        errors = {
            "misclassification": np.minimum(distance, 1.0),
            "distance": distance / most,
            "raw distance": distance,
            "squared distance": np.square(distance / most),
        }[self.criterion]
        bonus = float(np.log(most)) if self.criterion == "misclassification" else 0.0
        return partial(discrete_ranks, rows.y, errors, bonus, smoothing(rows) / most)
