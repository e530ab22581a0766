"""Trees for ordered levels, bagged and boosted [Tutz & Hechenbichler 2003]."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from .._typing import IntArray, Progress
from ..advice import with_option_hints
from ..boosting.rounds import continued
from ..checks import number, one_of, whole
from ..exceptions import OptionError
from ..fit import Certificate, ScoreRule, Trace
from ..formula.distinct import DistinctRows, distinct_rows
from ..formula.sample import Rows, Sample
from ..judging.costs import CostField, CostMatrix
from ..method import FREUND, TUTZ, Method, Supports, jobs_option, option
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

#: Kinds of trees: of all levels, or of one threshold.
RESPONSES = ("nominal", "ordinal")
# Default number of leaves of a tree of all levels, and of a tree of one threshold, as
# in the paper.
_LEAVES = {"nominal": 15, "ordinal": 5}
# Rounding errors of deviances.
_DEVIANCE_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True, repr=False)
class TreeMethod(Method, ABC):
    """Base of the methods that aggregate trees.

    A concrete class defines the kind of its trees and how they are aggregated.

    Parameters
    ----------
    leaves : int or None
        Leaves of each tree, at least 2. None means 15 for trees of all levels and 5 for
        trees of one threshold.
    prune : {None, "misclassification", "deviance"}
        None splits the best leaf first until there are enough leaves. Otherwise trees
        grow until their leaves are pure, and are pruned to this number of leaves (or
        the next larger one in the cost-complexity sequence).
    max_depth : int or None
        Largest number of cuts on a path.
    min_weight : float
        Smallest case weight of a leaf.
    n_jobs : int
        Number of threads; -1 for one per processor. The result does not depend on it.
    cost : "classification"
        The only cost that votes minimise.

    Raises
    ------
    OptionError
        An option has a value outside its range.
    """

    leaves: int | None = None
    prune: str | None = None
    max_depth: int | None = None
    min_weight: float = option(0.0, number, least=0.0)
    n_jobs: int = jobs_option()
    cost: CostField = option("classification", one_of, ("classification",))

    supports: ClassVar[Supports] = Supports()
    results_class: ClassVar[type[Any]] = TreeResults

    def __post_init__(self) -> None:
        super().__post_init__()
        self.tree()

    def tree(self) -> DecisionTree:
        """The settings of the trees."""
        leaves = _LEAVES[self.kind] if self.leaves is None else self.leaves
        return DecisionTree(leaves, self.prune, self.max_depth, self.min_weight)

    @property
    def draws(self) -> bool:
        """Whether each round has a sample of the rows."""
        return False

    @property
    def kind(self) -> str:
        """Whether a tree predicts all levels ("nominal"), or belongs to one threshold
        ("ordinal").
        """
        return str(getattr(self, "response", "ordinal"))

    @property
    def made(self) -> int:
        """Number of rounds; 1 for methods without rounds."""
        return int(getattr(self, "rounds", 1))

    @property
    def apart(self) -> bool:
        """Whether the trees of the thresholds have separate weights and votes."""
        return self.kind == "ordinal"

    @abstractmethod
    def aggregation(self, rows: DistinctRows, n_levels: int) -> Aggregation:
        """How the trees of a round become votes."""

    def reweighting(self, rows: DistinctRows, n_levels: int) -> Reweighting:
        """How the weights of the rows change after a round."""
        return unweighted

    def fit(
        self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None
    ) -> TreeFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 are ignored.
        rng : numpy.random.Generator
            Draws the samples.
        progress : callable(step, total, message), optional
        """
        self.check(sample)
        return self._run(sample, (), self.made, rng, progress)

    def more(self, sample: Sample, fit: TreeFit, rounds: int) -> TreeFit:
        """Add rounds; the result equals a fit with the total number of rounds.

        Raises
        ------
        OptionError
            `rounds` is not a positive number, or the method has a single round.
        """
        whole("rounds", rounds, 1, of=self)
        if not hasattr(self, "rounds"):
            raise OptionError(
                f"{self!r} has a single round and cannot add more. Use"
                " 'ordinal-bagging'."
            )
        return self._run(
            sample,
            fit.votes.trees,
            fit.votes.rounds + int(rounds),
            continued(fit.state),
            None,
        )

    def _run(
        self,
        sample: Sample,
        grown: tuple[Tree, ...],
        made: int,
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> TreeFit:
        """Fit a number of rounds; the trees of the first rounds may be given."""
        K = sample.n_levels
        nominal = self.kind == "nominal"
        rows = distinct_rows(sample, CostMatrix.classification().rows(sample.y, K))
        # Rows are sorted by X alone, so that reversed levels give the same samples.
        if rows.X.shape[1]:
            rows = rows.take(np.lexsort(rows.X.T[::-1]))
        rounds = TreeRounds(
            rows=rows,
            tree=self.tree(),
            classes=rows.y[None] if nominal else below(rows.y, K),
            n_classes=K if nominal else 2,
            apart=self.apart,
            aggregation=self.aggregation(rows, K),
            reweighting=self.reweighting(rows, K),
            draw=self.draws,
            grown=grown,
        )
        state = deepcopy(dict(rng.bit_generator.state))
        rounds.run(made, rng, self.n_jobs, progress)
        votes = rounds.votes
        rule = ScoreRule(votes)
        deviances = np.array(
            [
                tree.deviances[tree.column < 0].sum() / tree.values[0].sum()
                for tree in rounds.trees
            ]
        )
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
        """The fit after the first `rounds` rounds.

        Raises
        ------
        OptionError
            `rounds` exceeds the number of rounds.
        """
        made = fit.votes.rounds
        whole("rounds", rounds, 1, made, also=", the rounds made")
        return fit.upto(int(rounds), sample.rows)

    def staged_codes(
        self,
        sample: Sample,
        fit: TreeFit,
        targets: Sequence[Rows],
        stages: Sequence[int],
    ) -> Iterator[list[IntArray]]:
        """Predicted codes of several sets of rows after each of some increasing numbers
        of rounds.
        """
        codes = [fit.votes.codes(rows, frozenset(stages)) for rows in targets]
        return map(list, zip(*codes, strict=True))

    def _facts(self, rounds: TreeRounds) -> tuple[tuple[str, Any], ...]:
        width = len(rounds.classes)
        made = len(rounds.round_weights)
        tree = rounds.tree
        ended = f" ({rounds.message})" if rounds.message != "all rounds made" else ""
        trees = str(made * width)
        if width > 1:
            trees += ", one for each threshold and round"
        leaves = f"{tree.leaves} per tree"
        if tree.prune is not None:
            leaves += f", pruned by {tree.prune}"
        facts = (("Trees", trees), ("Leaves", leaves))
        if not hasattr(self, "rounds"):
            return facts
        return (*facts, ("Rounds", f"{made}{ended}"))


def smoothing(rows: DistinctRows) -> float:
    """1/n, with n the sum of the case weights."""
    return 1.0 / float(rows.weights.sum())


def _accounted(trees: list[Tree]) -> Certificate:
    """The largest difference between the fall of the deviance of a tree and the sum of
    its cuts, per row.
    """
    worst = 0.0
    for tree in trees:
        entropy = entropies(tree.values)
        leaf = tree.column < 0
        left = abs(entropy[0] - entropy[leaf].sum() - tree.gains.sum())
        worst = max(worst, float(left / tree.values[0].sum()))
    name = "deviance not explained by cuts, per row"
    return Certificate(
        name=name, value=worst, tolerance=_DEVIANCE_ROUNDING, steps="rounds"
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class Boosted:
    """Options of the AdaBoost methods."""

    rounds: int = option(50, whole, 1)
    version: str = option("discrete", one_of, ("discrete", "real"))
    sampling: str = option("resample", one_of, ("resample", "weight"))

    @property
    def draws(self) -> bool:
        return self.sampling == "resample"


#: Measures of a wrong level, by version.
CRITERIA = {
    "discrete": ("misclassification", "distance", "raw distance", "squared distance"),
    "real": ("misclassification", "distance"),
}


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class OrdinalTree(TreeMethod):
    """Classification trees by the deviance [Breiman et al. 1984; Tutz & Hechenbichler
    2003, sec. 4.1].

    Use a tree if people have to follow the rule by hand.

    `cart` grows one tree that predicts the level with the largest share in a leaf; the
    shares are the probabilities. `ordinal-cart` grows one tree for each threshold
    "above level r?". Each tree gives one vote, shared equally among the levels on the
    side of its answer (rule 2 of the paper). The level with the most votes is
    predicted; shares of the votes are the probabilities.

    Parameters
    ----------
    response : {"nominal", "ordinal"}
        One tree of all levels, or one for each threshold.
    leaves, prune, max_depth, min_weight, n_jobs
        Settings of the trees, and number of threads: see `DecisionTree`. leaves=None
        means 15 for one tree and 5 for trees of thresholds. The paper uses
        prune="misclassification".
    cost : "classification"

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", wine, "cart")
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
        (
            "Breiman, L., Friedman, J. H., Olshen, R. A., & Stone, C. J. (1984)."
            " Classification and Regression Trees. Wadsworth."
        ),
    )

    def aggregation(self, rows: DistinctRows, n_levels: int) -> Aggregation:
        if self.apart:
            return SplitVotes(n_levels=n_levels)
        return LeafShares(n_levels=n_levels)


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class OrdinalBagging(TreeMethod):
    """Bagging: trees on bootstrap samples of the rows [Breiman 1996; Tutz &
    Hechenbichler 2003, sec. 2 and 4.1].

    Use it as a stable version of a single tree; "rps-forest" usually predicts better.

    In `bagging` each tree votes for one level. In `ordinal-bagging` the trees of each
    threshold vote for one side, and the winning sides are combined by rule 2 (see
    `OrdinalTree`). Shares of the votes are the probabilities. A row of case weight w
    counts as w rows, each drawn separately.

    Parameters
    ----------
    response : {"nominal", "ordinal"}
        Trees of all levels, or one for each threshold.
    rounds : int
        Number of samples (cycles in the paper).
    leaves, prune, max_depth, min_weight, n_jobs
        Settings of the trees, and number of threads: see `DecisionTree`. leaves=None
        means 15, or 5 for trees of thresholds.
    cost : "classification"

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", wine, "ordinal-bagging", rounds=25)
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

    def aggregation(self, rows: DistinctRows, n_levels: int) -> Aggregation:
        if self.apart:
            return SplitVotes(n_levels=n_levels)
        return Plurality(n_levels=n_levels)


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class NominalAdaBoost(Boosted, TreeMethod):
    """AdaBoost of trees that ignores the order of the levels [Tutz & Hechenbichler
    2003, sec. 2 and 3.2].

    Use it to measure what the order of the levels is worth, against "ordinal-adaboost".

    version="discrete": e is the weight of the rows that a tree gets wrong. Its vote is
    c = log((1 - e) / (e + 1/(n (K-1)))) + log(K-1), positive if e < (K-1)/K. The
    weights of wrong rows are multiplied by exp(c). Rounds end when c <= 0.

    version="real": the shares p_j in the leaf give f_j = 1/2 (log(p_j + 1/n) - mean
    over l != j of log(p_l + 1/n)). Weights are multiplied by exp(-f_y). The level with
    the largest sum of f is predicted.

    Probabilities are the shares of the votes. With version="real" they are the p that
    belong to the sum of f, for K = 2 as in Friedman, Hastie & Tibshirani (2000). The
    paper does not define them, and they become too extreme with many rounds.

    Parameters
    ----------
    version : {"discrete", "real"}
    sampling : {"resample", "weight"}
        Grow trees on samples drawn in proportion to the weights (as in the paper), or
        on weighted rows.
    rounds : int
        Largest number of rounds (cycles in the paper).
    leaves, prune, max_depth, min_weight, n_jobs
        Settings of the trees, and number of threads: see `DecisionTree`. leaves=None
        means 15.
    cost : "classification"

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> options = {"rounds": 10, "sampling": "weight"}
    >>> fit = ordfit("rating ~ temp + contact", wine, "nominal-adaboost", **options)
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
        return partial(
            discrete_ranks,
            rows.y,
            1.0 - np.eye(n_levels),
            bonus,
            smoothing(rows) / (n_levels - 1),
        )


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class FixedSplitBoosting(Boosted, TreeMethod):
    """AdaBoost for each threshold separately, combined at the end [Tutz & Hechenbichler
    2003, sec. 3.1].

    Use it as a boosted version of "ordinal-cart".

    version="discrete": for each threshold "above level r?", e is the weight of the rows
    on the wrong side, and the vote of a tree is c = log((1 - e) / (e + 1/n)). The
    weights of wrong rows are multiplied by exp(c). The rounds of a threshold end when c
    <= 0.

    version="real": with p the share of "at most r" in a leaf, f = 1/2 log((p + 1/n) /
    (1 - p + 1/n)) is a vote of |f| for its sign. Weights are multiplied by exp(-f), or
    exp(f) for rows above r.

    Each threshold then shares its vote equally among the levels of the winning side.
    The level with the largest sum s_j is predicted. Probabilities are s_j / sum_l s_l.

    Parameters
    ----------
    version : {"discrete", "real"}
    combination : {"plain", "votes"}
        Thresholds have equal weights, or the share of the votes for the winning side
        ("prediction votes").
    sampling : {"resample", "weight"}
        Grow trees on samples drawn in proportion to the weights (as in the paper), or
        on weighted rows.
    rounds : int
        Largest number of rounds of each threshold (cycles in the paper).
    leaves, prune, max_depth, min_weight, n_jobs
        Settings of the trees, and number of threads: see `DecisionTree`. leaves=None
        means 5.
    cost : "classification"

    Raises
    ------
    OptionError
        An option has a value outside its range.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", wine, "fixed-split-boosting", rounds=10)
    >>> fit.rounds["vote"].columns.tolist()
    ['1|2', '2|3', '3|4', '4|5']
    """

    combination: str = option("plain", one_of, COMBINATIONS)
    papers: ClassVar[tuple[str, ...]] = (TUTZ,)

    def aggregation(self, rows: DistinctRows, n_levels: int) -> Aggregation:
        smoothed = None if self.version == "discrete" else smoothing(rows)
        return SplitVotes(
            n_levels=n_levels, combination=self.combination, smoothing=smoothed
        )

    def reweighting(self, rows: DistinctRows, n_levels: int) -> Reweighting:
        above = below(rows.y, n_levels)
        if self.version == "real":
            return partial(real_splits, above)
        return partial(discrete_splits, above, smoothing(rows))


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class OrdinalAdaBoost(Boosted, TreeMethod):
    """Ordinal AdaBoost: each round combines one tree for each threshold [Tutz &
    Hechenbichler 2003, sec. 3.2].

    Use it if errors by several levels are worse than errors by one.

    version="discrete": the answers of the trees give a level C(x) by rule 2 (see
    `OrdinalTree`). Its error eps is |C - y| / (K-1) (criterion="distance", eq. 3), |C -
    y| ("raw distance", eq. 4), the square of the first ("squared distance") or [C != y]
    ("misclassification", eq. 5), and e is its weighted mean, divided by the largest
    eps. The vote is c = log((1 - e) / (e + 1/(n (K-1)))), plus log(K-1) for
    misclassification. Weights are multiplied by exp(c eps). Rounds end when c <= 0. The
    level with the most votes is predicted.

    version="real": the shares p_r = P(y <= r) give scores yhat_j = sum_{r >= j} p_r +
    sum_{r < j} (1 - p_r) (eq. 6) and f_j = 1/2 log((yhat_j + 1/n) / m_j), with m_j the
    geometric mean of the scores of the other levels ("misclassification") or their mean
    weighted by |j - l| ("distance"). Weights are multiplied by exp(-f_y). The level
    with the largest sum of f is predicted.

    Two misprints of the paper are corrected. For the raw distance, c uses the
    standardised distance, as its own formula has no logarithm if e > 1. The distances
    of the real version are from level j, as the true level is unknown at prediction
    (for j = y both are the same).

    Probabilities are as in `NominalAdaBoost`.

    Parameters
    ----------
    version : {"discrete", "real"}
    criterion : {"distance", "misclassification", "raw distance", "squared distance"}
        version="real" supports the first two.
    sampling : {"resample", "weight"}
        Grow the trees of a round on one sample drawn in proportion to the weights (as
        in the paper), or on weighted rows.
    rounds : int
        Largest number of rounds (cycles in the paper).
    leaves, prune, max_depth, min_weight, n_jobs
        Settings of the trees, and number of threads: see `DecisionTree`. leaves=None
        means 5.
    cost : "classification"

    Raises
    ------
    OptionError
        An option has a value outside its range, or the criterion does not go with the
        version.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", wine, "ordinal-adaboost", rounds=10)
    >>> fit.predict(type="prob").shape
    (72, 5)
    """

    criterion: str = option("distance", one_of, CRITERIA["discrete"])
    papers: ClassVar[tuple[str, ...]] = (TUTZ,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.criterion not in CRITERIA[self.version]:
            raise OptionError(
                "criterion of OrdinalAdaBoost must be"
                f" {' or '.join(map(repr, CRITERIA['real']))} with version='real'; got"
                f" {self.criterion!r}. Use version='discrete' for it."
            )

    @property
    def apart(self) -> bool:
        return False

    def aggregation(self, rows: DistinctRows, n_levels: int) -> Aggregation:
        if self.version == "discrete":
            return Plurality(n_levels=n_levels, of_splits=True)
        far = self.criterion == "distance"
        return LogRatios(
            n_levels=n_levels,
            smoothing=smoothing(rows),
            of_splits=True,
            by_distance=far,
        )

    def reweighting(self, rows: DistinctRows, n_levels: int) -> Reweighting:
        if self.version == "real":
            return partial(real_ranks, rows.y)
        ranks = np.arange(n_levels)
        most = n_levels - 1.0
        distance = np.abs(ranks[:, None] - ranks).astype(np.float64)
        errors = {
            "misclassification": np.minimum(distance, 1.0),
            "distance": distance / most,
            "raw distance": distance,
            "squared distance": np.square(distance / most),
        }[self.criterion]
        bonus = float(np.log(most)) if self.criterion == "misclassification" else 0.0
        return partial(discrete_ranks, rows.y, errors, bonus, smoothing(rows) / most)
