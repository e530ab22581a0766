"""What the methods of aggregated trees share [Tutz & Hechenbichler 2003]: settings of the trees, rounds, samples."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..._typing import Progress
from ...checks import number, one_of, whole
from ...exceptions import OptionError
from ...learners.boosting import continued
from ...learners.losses.reweighting import Reweighting, unweighted
from ...learners.tree import DecisionTree
from ...learners.tree_rounds import Plan, TreeRounds
from ...model.costs import CostField, CostMatrix
from ...model.distinct import DistinctRows, distinct_rows
from ...model.fit import Certificate, Trace
from ...model.rules import ScoreRule
from ...model.sample import Sample
from ...model.trees.aggregation import Aggregation, below
from ...model.trees.fit import TreeFit
from ...model.trees.tree import Tree, entropies
from ...results.rankers.trees import TreeResults
from ..base import Method, Needs, jobs_option, option

#: What trees may be grown for.
RESPONSES = ("nominal", "ordinal")
#: Kinds of AdaBoost.
VERSIONS = ("discrete", "real")
#: How weights reach the trees.
SAMPLINGS = ("resample", "weight")
# Leaves of a tree of all ranks, and of a tree of one split, in the paper's first example.
_LEAVES = {"nominal": 15, "ordinal": 5}
# Rounding of the sums behind a deviance.
_ROUNDING = 1e-9


def _only_classification(name: str, value: Any, of: Any) -> None:
    if value != "classification":
        raise OptionError(
            f"cost of {type(of).__name__} must be 'classification', for the rank with the most votes wins; got "
            f"{value!r}. Methods such as 'redsvm' and 'adaboost-or' minimise other costs."
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class TreeMethod(Method):
    """Base of the methods that add up rounds of trees.

    A concrete class says what its trees are grown for (`kind`), and what the rounds do with them.

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
        What the votes minimise; there is no other.

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
    cost: CostField = option("classification", _only_classification)

    needs: ClassVar[Needs] = Needs()
    results_class: ClassVar[type[Any]] = TreeResults
    #: Whether there can be more than one round.
    in_rounds: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.tree()

    def tree(self) -> DecisionTree:
        """The settings of every tree."""
        leaves = _LEAVES[self.kind] if self.leaves is None else self.leaves
        return DecisionTree(leaves, self.prune, self.max_depth, self.min_weight)

    @property
    def kind(self) -> str:
        """Whether a tree tells all ranks apart ("nominal"), or answers for one split ("ordinal")."""
        raise TypeError(f"{type(self).__name__} defines no kind of trees")

    @property
    def made(self) -> int:
        """Number of rounds."""
        return 1

    @property
    def apart(self) -> bool:
        """Whether the trees of splits have weights, and votes, of their own."""
        return self.kind == "ordinal"

    def aggregation(self, rows: DistinctRows, n_levels: int) -> Aggregation:
        """How the trees of a round become votes."""
        raise TypeError(f"{type(self).__name__} defines no aggregation")

    def reweighting(self, rows: DistinctRows, n_levels: int) -> Reweighting:
        """How the weights of the rows go on."""
        return unweighted

    def _plan(self, rows: DistinctRows, n_levels: int) -> Plan:
        """What the rounds do on some rows."""
        nominal = self.kind == "nominal"
        return Plan(
            tree=self.tree(),
            classes=rows.y[None] if nominal else below(rows.y, n_levels),
            n_classes=n_levels if nominal else 2,
            apart=self.apart,
            aggregation=self.aggregation(rows, n_levels),
            reweighting=self.reweighting(rows, n_levels),
            draw=self.draws,
        )

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
            `rounds` is not a number of rounds, or the method has one round alone.
        """
        whole("rounds", rounds, 1, of=self)
        if not self.in_rounds:
            raise OptionError(f"{self!r} grows its trees once, so there are no further rounds: use 'ordinal-bagging'.")
        return self._run(sample, fit.votes.trees, fit.votes.rounds + int(rounds), continued(fit.state), None)

    def _run(
        self, sample: Sample, known: tuple[Tree, ...], made: int, rng: np.random.Generator, progress: Progress | None
    ) -> TreeFit:
        """So many rounds, the first of them by trees that are known."""
        rows = _by_columns(distinct_rows(sample, CostMatrix.classification().rows(sample.y, sample.n_levels)))
        rounds = TreeRounds(rows=rows, plan=self._plan(rows, sample.n_levels), known=known)
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
            out_of_bag=rounds.out_of_bag,
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

    def _facts(self, rounds: TreeRounds) -> tuple[tuple[str, Any], ...]:
        width, made = len(rounds.plan.classes), len(rounds.round_weights)
        grown = self.tree()
        size = f"at most {grown.leaves} leaves" if grown.prune is None else f"{grown.leaves} leaves or the next larger"
        size += "" if grown.prune is None else f" tree of the sequence pruned by {grown.prune}"
        each = "" if width == 1 else ", one a split" if made == 1 else f", one a split in each of {made} rounds"
        return (
            ("Trees", f"{made * width}, of {size}{each}"),
            *([("Rounds", f"{made}, {rounds.message}")] if self.in_rounds else []),
        )


def _by_columns(rows: DistinctRows) -> DistinctRows:
    """The rows in an order that their ranks have no part in: the same samples are drawn for reversed ranks."""
    return rows.take(np.lexsort(rows.X.T[::-1]) if rows.X.shape[1] else np.arange(rows.n))


def smoothing(rows: DistinctRows) -> float:
    """1/n, n counting case weights."""
    return 1.0 / float(rows.weights.sum())


def _accounted(trees: list[Tree]) -> Certificate:
    """Whether the cuts of every tree account for its deviance: that of the root less that of the leaves."""
    worst = 0.0
    for tree in trees:
        every, leaf = entropies(tree.values), tree.column < 0
        left = abs(every[0] - every[leaf].sum() - tree.gains.sum())
        worst = max(worst, float(left / tree.values[0].sum()))
    return Certificate(name="deviance a row that no cut accounts for", value=worst, tolerance=_ROUNDING)


@dataclass(frozen=True, kw_only=True, repr=False)
class Boosted:
    """Options of the kinds of AdaBoost."""

    rounds: int = option(50, whole, 1)
    version: str = option("discrete", one_of, VERSIONS)
    sampling: str = option("resample", one_of, SAMPLINGS)

    in_rounds: ClassVar[bool] = True

    @property
    def made(self) -> int:
        return self.rounds

    @property
    def draws(self) -> bool:
        return self.sampling == "resample"
