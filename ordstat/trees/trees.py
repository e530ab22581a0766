"""Methods of aggregated trees [Tutz & Hechenbichler 2003]: trees, bagging and boosting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from .._typing import IntArray, Progress
from ..boosting.rounds import continued
from ..checks import number, one_of, whole
from ..exceptions import OptionError
from ..fit import Certificate, ScoreRule, Trace
from ..formula.sample import DistinctRows, Rows, Sample, distinct_rows
from ..judging.costs import CostField, CostMatrix
from ..method import FREUND, TUTZ, Method, Needs, jobs_option, option
from .ensembles import (
    COMBINATIONS,
    Aggregation,
    LeafShares,
    LogRatios,
    Plurality,
    Reweighting,
    SplitVotes,
    TreeFit,
    TreeRounds,
    below,
    discrete_ranks,
    discrete_splits,
    real_ranks,
    real_splits,
    unweighted,
)
from .results import TreeResults
from .tree import DecisionTree, Tree, entropies

#: What trees may be grown for.
RESPONSES = ("nominal", "ordinal")
# Leaves of a tree of all ranks, and of a tree of one split, in the paper's first example.
_LEAVES = {"nominal": 15, "ordinal": 5}
# Rounding of the sums behind a deviance.
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True, repr=False)
class TreeMethod(Method):
    """Base of the methods that add up rounds of trees.

    A concrete class defines what its trees are grown for (`kind`), and how the rounds aggregate them.

    Parameters
    ----------
    leaves : int or None
        Leaves of every tree, at least 2. None means 15 for trees of all ranks and 5 for trees of one split.
    prune : {None, "misclassification", "deviance"}
        None grows the best leaf first until there are enough; else trees grow until their leaves are pure and are
        pruned to the number of leaves (or the next larger one of the cost-complexity sequence).
    max_depth : int or None
        Cuts on a path at most.
    min_weight : float
        Case weight of a leaf at least.
    n_jobs : int
        Trees grown at once, as threads that share the sorted columns; -1 for one a processor. The result does not
        depend on it.
    cost : "classification"
        The votes minimise no other cost.

    Raises
    ------
    OptionError
        A value outside these.
    """

    leaves: int | None = None
    prune: str | None = None
    max_depth: int | None = None
    min_weight: float = option(0.0, number, least=0.0)
    n_jobs: int = jobs_option()
    cost: CostField = option("classification", one_of, ("classification",))

    needs: ClassVar[Needs] = Needs()
    results_class: ClassVar[type[Any]] = TreeResults

    def __post_init__(self) -> None:
        super().__post_init__()
        self.tree()

    def tree(self) -> DecisionTree:
        """The settings of every tree."""
        leaves = _LEAVES[self.kind] if self.leaves is None else self.leaves
        return DecisionTree(leaves, self.prune, self.max_depth, self.min_weight)

    @property
    def draws(self) -> bool:
        """Whether each round has a sample of the rows."""
        return False

    @property
    def kind(self) -> str:
        """Whether a tree predicts all ranks ("nominal"), or answers for one split ("ordinal")."""
        raise TypeError(f"{type(self).__name__} defines no kind of trees")

    @property
    def made(self) -> int:
        """Number of rounds; 1 for methods without rounds."""
        return int(getattr(self, "rounds", 1))

    @property
    def apart(self) -> bool:
        """Whether the trees of splits have separate weights and votes."""
        return self.kind == "ordinal"

    def aggregation(self, rows: DistinctRows, n_levels: int) -> Aggregation:
        """How the trees of a round become votes."""
        raise TypeError(f"{type(self).__name__} defines no aggregation")

    def reweighting(self, rows: DistinctRows, n_levels: int) -> Reweighting:
        """How the weights of the rows change after a round."""
        return unweighted

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> TreeFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 take no part.
        rng : numpy.random.Generator
            Source of the samples drawn.
        progress : callable(step, total, message), optional
        """
        self.check(sample)
        return self._run(sample, (), self.made, rng, progress)

    def more(self, sample: Sample, fit: TreeFit, rounds: int) -> TreeFit:
        """The fit with further rounds; the same as a fit of as many rounds at once.

        Raises
        ------
        OptionError
            `rounds` is not a number of rounds, or the method makes one round only.
        """
        whole("rounds", rounds, 1, of=self)
        if not hasattr(self, "rounds"):
            raise OptionError(f"{self!r} grows its trees once, so there are no further rounds: use 'ordinal-bagging'.")
        return self._run(sample, fit.votes.trees, fit.votes.rounds + int(rounds), continued(fit.state), None)

    def _run(
        self, sample: Sample, known: tuple[Tree, ...], made: int, rng: np.random.Generator, progress: Progress | None
    ) -> TreeFit:
        """The fit of a number of rounds, the first of them by known trees."""
        K, nominal = sample.n_levels, self.kind == "nominal"
        rows = distinct_rows(sample, CostMatrix.classification().rows(sample.y, K))
        # Sorted by columns alone, so that the same samples are drawn for reversed ranks.
        rows = rows.take(np.lexsort(rows.X.T[::-1]) if rows.X.shape[1] else np.arange(rows.n))
        rounds = TreeRounds(
            rows=rows,
            tree=self.tree(),
            classes=rows.y[None] if nominal else below(rows.y, K),
            n_classes=K if nominal else 2,
            apart=self.apart,
            aggregation=self.aggregation(rows, K),
            reweighting=self.reweighting(rows, K),
            draw=self.draws,
            known=known,
        )
        state = deepcopy(dict(rng.bit_generator.state))
        rounds.run(made, rng, self.n_jobs, progress)
        votes = rounds.votes
        rule = ScoreRule(votes)
        deviances = np.array([tree.deviances[tree.column < 0].sum() / tree.values[0].sum() for tree in rounds.trees])
        return TreeFit(
            rule=rule,
            certificate=_accounted(rounds.trees),
            trace=Trace(
                iterations=votes.rounds,
                objective=deviances.reshape(votes.rounds, -1).mean(axis=1),
                message=rounds.message,
            ),
            scores=rule.scores(sample.rows),
            facts=self._facts(rounds),
            votes=votes,
            errors=np.array(rounds.errors),
            state=state,
        )

    def truncated(self, sample: Sample, fit: TreeFit, rounds: int) -> TreeFit:
        """The fit after some of its rounds.

        Raises
        ------
        OptionError
            More rounds than were made.
        """
        made = fit.votes.rounds
        whole("rounds", rounds, 1, made, also=", the rounds made")
        return fit.upto(int(rounds), sample.rows)

    def staged_codes(
        self, sample: Sample, fit: TreeFit, targets: Sequence[Rows], stages: Sequence[int]
    ) -> Iterator[list[IntArray]]:
        """Predicted codes of several sets of rows after some of the rounds, growing."""
        codes = [fit.votes.codes(rows, frozenset(stages)) for rows in targets]
        return map(list, zip(*codes, strict=True))

    def _facts(self, rounds: TreeRounds) -> tuple[tuple[str, Any], ...]:
        width, made, tree = len(rounds.classes), len(rounds.round_weights), rounds.tree
        size = f"at most {tree.leaves} leaves" if tree.prune is None else f"{tree.leaves} leaves or the next larger"
        size += "" if tree.prune is None else f" tree of the sequence pruned by {tree.prune}"
        each = "" if width == 1 else ", one a split" if made == 1 else f", one a split in each of {made} rounds"
        return (
            ("Trees", f"{made * width}, of {size}{each}"),
            *([("Rounds", f"{made}, {rounds.message}")] if hasattr(self, "rounds") else []),
        )


def smoothing(rows: DistinctRows) -> float:
    """1/n, n counting case weights."""
    return 1.0 / float(rows.weights.sum())


def _accounted(trees: list[Tree]) -> Certificate:
    """Whether the cuts of every tree account for its deviance: that of the root less that of the leaves."""
    worst = 0.0
    for tree in trees:
        entropy, leaf = entropies(tree.values), tree.column < 0
        left = abs(entropy[0] - entropy[leaf].sum() - tree.gains.sum())
        worst = max(worst, float(left / tree.values[0].sum()))
    return Certificate(name="deviance a row that no cut accounts for", value=worst, tolerance=_ROUNDING)


@dataclass(frozen=True, kw_only=True, repr=False)
class Boosted:
    """Options of the kinds of AdaBoost."""

    rounds: int = option(50, whole, 1)
    version: str = option("discrete", one_of, ("discrete", "real"))
    sampling: str = option("resample", one_of, ("resample", "weight"))

    @property
    def draws(self) -> bool:
        return self.sampling == "resample"


#: Measures of a wrong rank, by version.
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

    papers: ClassVar[tuple[str, ...]] = (
        TUTZ,
        "Breiman, L. (1996). Bagging predictors. Machine Learning, 24, 123-140.",
    )

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
