"""One versus all, one versus one, and cost-sensitive voting.

Cost-sensitive classification into K levels becomes weighted binary problems [Lin 2008,
chapter 2]. Costs are (N, K), the cost of predicting k for row n, of any shape: the
order of the levels does not matter.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..advice import with_option_hints
from ..checks import one_of
from ..exceptions import DataError, OptionError
from ..fit import CostBound, ScoreRule, Selection, Trace, VoteFit
from ..formula.sample import Sample
from ..formula.scaling import SCALED
from ..judging.costs import cleared, mean_excess, require_differences
from ..judging.folds import refuse_unused_clusters
from ..kernels import Kernel
from ..method import LIN, Supports, option
from ..rankers import VoteResults
from ..svm.learner import SVM, SharedGram, Tallied, votes_judge
from ..svm.options import MachineOptions
from ..svm.routes import ROUGH, SOLVERS
from .classifiers import CLASSIFIERS, parse_classifier
from .learners import Binary, BinaryLearner, Trainer

# A sum of weights this close to a whole number counts as whole.
_NEARLY_WHOLE = 1e-9
# Largest number of rows that are drawn.
_MOST = 1e18


def label_weights(costs: FloatArray) -> FloatArray:
    """(N, K) weights q[l] = c_max - c[l] of the labels that a cost vector stands for
    [eq. 2.2].

    Up to a constant for each row, sum_l q[l] [k != l] is the cost c[k] of every
    prediction k. Among weights q >= 0 with this property these are the most
    concentrated.

    Examples
    --------
    >>> label_weights(np.array([[0.0, 1.0, 1.0, 334.0]]))
    array([[334., 333., 333.,   0.]])
    """
    return np.asarray(costs.max(axis=1, keepdims=True) - costs)


def support_weights(costs: FloatArray, y: IntArray) -> FloatArray:
    """(N, K) weight of row n in the problem "is it level l?" [eq. 2.5].

    With q = `label_weights`: q[l] if y = l, else q_max - q[l] = c[l] - c_min.

    Examples
    --------
    >>> support_weights(np.array([[0.0, 1.0, 4.0]]), np.array([0]))
    array([[4., 1., 4.]])
    """
    is_level = np.arange(costs.shape[1]) == np.asarray(y)[:, None]
    return np.where(
        is_level, label_weights(costs), costs - costs.min(axis=1, keepdims=True)
    )


def all_pairs_potential(costs: FloatArray) -> FloatArray:
    """(N, K) integrals from the least cost to c[l] of 1 / |{k : c[k] <= t}| dt [eq.
    2.7].

    Their differences are the weights of weighted all-pairs (Beygelzimer et al. 2005).

    Examples
    --------
    >>> all_pairs_potential(np.array([[0.0, 1.0, 4.0]]))
    array([[0. , 1. , 2.5]])
    """
    order = np.argsort(costs, axis=1, kind="stable")
    steps = np.diff(np.take_along_axis(costs, order, axis=1), axis=1)
    # Between the j-th and the next cost, j levels cost no more.
    steps /= np.arange(1, costs.shape[1])
    rising = np.concatenate(
        [np.zeros((len(costs), 1)), np.cumsum(steps, axis=1)], axis=1
    )
    potential = np.empty_like(rising)
    np.put_along_axis(potential, order, rising, axis=1)
    return potential


def against_the_rest(
    costs: FloatArray, y: IntArray, case_weights: FloatArray
) -> tuple[Binary, ...]:
    """K problems "is it level l?" with the weights of eq. 2.5; plain one-versus-all for
    the classification cost.
    """
    weights = support_weights(costs, y) * case_weights[:, None]
    rows = np.arange(len(costs))
    return tuple(
        Binary.of(rows, np.where(y == k, 1.0, -1.0), w) for k, w in enumerate(weights.T)
    )


def against_each_other(
    potential: FloatArray, case_weights: FloatArray
) -> tuple[Binary, ...]:
    """K (K - 1) / 2 problems "j rather than i?": the level of smaller potential is
    right, weighted by the difference.

    The potential is the cost itself [eq. 2.6] or `all_pairs_potential` [eq. 2.7], (N,
    K).
    """
    rows = np.arange(len(potential))
    gains = (
        potential[:, i] - potential[:, j]
        for i, j in combinations(range(potential.shape[1]), 2)
    )
    return tuple(
        Binary.of(rows, np.where(g > 0, 1.0, -1.0), np.abs(g) * case_weights)
        for g in gains
    )


def labelled_pairs(weights: FloatArray) -> tuple[Binary, ...]:
    """K (K - 1) / 2 problems "j rather than i?" among rows with several weighted labels
    (N, K) each.
    """
    rows = np.arange(len(weights))
    twice = np.concatenate([rows, rows])
    sides = np.repeat([-1.0, 1.0], len(rows))
    pairs = combinations(range(weights.shape[1]), 2)
    return tuple(
        Binary.of(twice, sides, np.concatenate([weights[:, i], weights[:, j]]))
        for i, j in pairs
    )


def pair_votes(scores: FloatArray, n_levels: int) -> FloatArray:
    """(N, K) number of pairs that each level wins, from scores (N, K (K - 1) / 2); a
    score of 0 counts for the lower.

    Examples
    --------
    >>> pair_votes(np.array([[1.0, -1.0, 0.0]]), 3)
    array([[1., 2., 0.]])
    """
    votes = np.zeros((len(scores), n_levels))
    for (i, j), score in zip(combinations(range(n_levels), 2), scores.T, strict=True):
        votes[:, j] += score > 0
        votes[:, i] += score <= 0
    return votes


def drawn_labels(
    X: FloatArray, costs: FloatArray, case_weights: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """(N, K) random number of times that each row is accepted with each label.

    A row is accepted with a probability proportional to sum_l q[l], q =
    `label_weights`, with maximum 1. It then gets label l with probability q[l] / sum q.
    A case weight w stands for w rows, each drawn independently; the fractional part is
    the probability of one more row. Draws do not depend on the order of the rows, and a
    weighted row is drawn like repeated rows (counted at the first of them).

    Parameters
    ----------
    X : (N, D)
    costs : (N, K)
    case_weights : (N,) >= 0
    rng : numpy.random.Generator

    Raises
    ------
    DataError
        Weights sum to more rows than can be drawn, or to so few that no row was drawn.
    """
    counts = np.zeros(costs.shape)
    used = np.flatnonzero(case_weights > 0)
    q = label_weights(costs[used])
    largest = float(q.sum(axis=1).max(initial=0.0))
    if largest == 0.0:
        return counts
    # Adding 0 turns -0 into 0.
    _, first, group = np.unique(
        np.column_stack([X[used], costs[used]]) + 0.0,
        axis=0,
        return_index=True,
        return_inverse=True,
    )
    total = np.bincount(group.ravel(), weights=case_weights[used])
    if total.sum() > _MOST:
        raise DataError(
            f"weights must add up to at most {_MOST:g} rows to draw labels; got"
            f" {total.sum():g}. Divide the weights by a common factor."
        )
    certain = np.floor(total + _NEARLY_WHOLE)
    copies = certain + (rng.random(total.size) < total - certain)
    chances = np.column_stack([q[first] / largest, np.zeros(total.size)])
    chances[:, -1] = np.maximum(1.0 - chances.sum(axis=1), 0.0)
    chances /= chances.sum(axis=1, keepdims=True)
    counts[used[first]] = rng.multinomial(copies.astype(np.int64), chances)[:, :-1]
    if not counts.any():
        raise DataError(
            f"no row was drawn, as the weights add up to {total.sum():g} rows. Multiply"
            " the weights so that they count rows."
        )
    return counts


#: Options of support vector machines.
_OF_SVM = ("C", "kernel", "solver", "tol", "folds", "n_jobs")


@dataclass(frozen=True, kw_only=True, repr=False)
class VotingMethod(MachineOptions, ABC):
    """Base of the methods that train weighted binary classifiers and count their votes.

    A concrete class defines the problems (`problems`) and the votes (`tally`). Costs
    may have any shape.

    Parameters
    ----------
    base : {"svm", "logistic", "tree"} or scikit-learn classifier
        The binary classifier: a support vector machine, or a classifier that is cloned
        for each problem and accepts sample weights, where they differ. Its score is the
        decision function, else P(yes) - 1/2.
    C, kernel, solver, tol, folds, n_jobs
        Only with base="svm": see `ordstat.svm.options.MachineOptions`, and
        `solver` {"auto", "coordinate", "interior-point", "cvxpy"}.
    cost : str or (K, K) array
        "absolute", "classification", "squared", or any matrix [true rank, predicted
        rank]; costs given for single rows replace it.
    scaling : {"range", "standard", None}
        Scale columns to [-1, 1] on the training rows, to mean 0 and standard deviation
        1, or not at all.

    Raises
    ------
    OptionError
        An option has a value outside its range, or belongs to support vector machines
        and the base is another.
    """

    base: Any = "svm"
    solver: str = option("auto", one_of, SOLVERS)

    supports: ClassVar[Supports] = Supports(row_costs=True, cluster=True)
    results_class: ClassVar[type[Any]] = VoteResults

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.by_svm:
            return
        self.classifier()
        misplaced = [
            f.name
            for f in fields(self)
            if f.name in _OF_SVM and getattr(self, f.name) != f.default
        ]
        if misplaced:
            raise OptionError(
                f"{type(self).__name__} with base={self.base!r} does not support"
                f" {', '.join(misplaced)}, which need base='svm'. Leave them out, or"
                " set the options of the classifier."
            )

    @property
    def by_svm(self) -> bool:
        """Whether the binary classifiers are support vector machines."""
        return isinstance(self.base, str) and self.base == "svm"

    @property
    def takes_sparse(self) -> bool:
        return super().takes_sparse if self.by_svm else self.classifier().takes_sparse

    @property
    def sparse_instead(self) -> str:
        return ", or give base='svm' with kernel='linear', or base='logistic'"

    def machine(self, C: float, kernel: Kernel) -> SVM:
        """The support vector machine of base="svm"."""
        return SVM(
            kernel=kernel, C=C, scaling=self.scaling, solver=self.solver, tol=self.tol
        )

    def classifier(self) -> BinaryLearner:
        """The classifier of another base.

        Raises
        ------
        OptionError
            The base is neither a valid name nor a scikit-learn classifier.
        """
        return parse_classifier(
            "base", self.base, {"svm": None, **CLASSIFIERS}, self, scaling=self.scaling
        )

    @abstractmethod
    def problems(
        self, sample: Sample, costs: FloatArray, rng: np.random.Generator
    ) -> tuple[Binary, ...]:
        """The P binary problems on the rows of a sample under costs (N, K)."""

    @staticmethod
    def tally(scores: FloatArray, n_levels: int) -> FloatArray:
        """(N, K) votes from the scores (N, P) of the binary classifiers; by default one
        classifier per level.
        """
        return scores

    def bound(
        self, above: float, problems: Sequence[Binary], scores: FloatArray, total: float
    ) -> CostBound | None:
        """Bound of the mean training cost above the least possible; None if no theorem
        applies.
        """
        return None

    def check(self, sample: Sample) -> None:
        """Raise an error if the method does not support the sample."""
        super().check(sample)
        refuse_unused_clusters(self, sample, "set C='cv'")
        self.costs(sample)

    def fit(
        self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None
    ) -> VoteFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 are ignored.
        rng : numpy.random.Generator
            Source of the folds, of random labels, and of the base learner.
        progress : callable(step, total, message), optional

        Raises
        ------
        DataError
            All costs are equal, or a kernel matrix is not finite, symmetric and
            (conditionally) positive definite.
        """
        self.check(sample)
        weights = sample.case_weights
        costs = self.costs(sample)
        require_differences(costs, weights)
        problems = self.problems(sample, costs, rng)
        trainer, selection = self._trainer(problems, sample, costs, rng, progress)
        learned = trainer.fit(problems, rng)
        rule = ScoreRule(
            Tallied(scorer=learned.scorer, tally=self.tally, n_levels=sample.n_levels)
        )
        scores = cleared(learned.scores)
        votes = self.tally(scores, sample.n_levels)
        above = mean_excess(costs, rule.codes(sample.rows, votes), weights)
        return VoteFit(
            rule=rule,
            certificate=learned.certificate,
            trace=Trace(
                iterations=learned.iterations,
                objective=np.array([above]),
                message="all problems solved",
            ),
            scores=votes,
            facts=(
                *self._facts(len(problems), selection, sample.X.shape[1]),
                *learned.facts,
            ),
            selection=selection,
            bound=self.bound(above, problems, scores, float(weights.sum())),
        )

    def _trainer(
        self,
        problems: Sequence[Binary],
        sample: Sample,
        costs: FloatArray,
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> tuple[Trainer, Selection | None]:
        """The base learner on the sample, with C chosen if requested."""
        X = sample.X
        weights = sample.case_weights
        kernel = self.similarity
        if not self.by_svm:
            return self.classifier().on(X, weights), None

        def chosen(grams: Iterable[tuple[float | None, SharedGram]]) -> Selection:
            route = ROUGH if self.solver == "auto" else SOLVERS[self.solver]
            judge = partial(votes_judge, problems, self.tally, sample.n_levels, route)
            return self.choose(
                grams, judge, len(problems), sample, costs, rng, progress
            )

        # To choose C, the machine is fitted at every value of the grid.
        machine = self.machine(self.grid[0], kernel)
        if kernel.gammas:
            selection = chosen(machine.each(X, weights))
            return (
                self.machine(selection.best_C, kernel.at(selection.best_gamma)).on(
                    X, weights
                ),
                selection,
            )
        shared = machine.on(X, weights)
        if not self.selects:
            return shared, None
        selection = chosen([(None, shared)])
        return shared.at(selection.best_C), selection

    def _facts(
        self, n_problems: int, selection: Selection | None, n_columns: int
    ) -> tuple[tuple[str, Any], ...]:
        if not self.by_svm:
            problems = (
                f"{n_problems}, problems by"
                f" {getattr(self.classifier(), 'model', self.base)!r}"
            )
            return ("Binary problems", problems), (
                "Columns scaled",
                SCALED[self.scaling],
            )
        return (
            ("Binary problems", f"{n_problems}, each by a support vector machine"),
            *self.settled_facts(selection, n_columns),
        )


#: Costs (N, K) -> potential (N, K); its differences are the weights of pairs of levels.
WEIGHTINGS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "difference": lambda costs: costs,
    "all-pairs": all_pairs_potential,
}
_SOURCES = {
    "difference": "Lin 2008, theorem 2.7",
    "all-pairs": "Beygelzimer et al. 2005, by the proof of Lin 2008, theorem 2.7",
}


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class OneVersusAll(VotingMethod):
    """One-versus-all classification by K binary classifiers "is it level k?"; the
    largest score wins [Lin 2008, alg. 2.4-2.6].

    Row n has weight c_max - c[k] in the problem of its level and c[k] - c_min in the
    others (eq. 2.5), times its case weight. With the classification cost all weights
    are 1, which is plain one-versus-all (method="ova"); another cost, or costs of
    single rows, make it cost-sensitive (method="csova"). The order of the levels does
    not matter.

    Parameters
    ----------
    base, C, kernel, cost, scaling, solver, tol, folds, n_jobs
        See `ordstat.reduction.voting.VotingMethod`.

    Examples
    --------
    >>> OneVersusAll(C=10, cost="squared")
    OneVersusAll(C=10.0, cost='squared')
    """

    papers: ClassVar[tuple[str, ...]] = (LIN,)

    def problems(
        self, sample: Sample, costs: FloatArray, rng: np.random.Generator
    ) -> tuple[Binary, ...]:
        return against_the_rest(costs, sample.y, sample.case_weights)


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class OneVersusOne(VotingMethod):
    """One-versus-one classification by K (K - 1) / 2 binary classifiers "j rather than
    i?"; the level with most wins is predicted [Lin 2008, alg. 2.7-2.9].

    For the pair i, j the right answer for row n is the level with the smaller cost. Its
    weight, times the case weight, is |c_n[i] - c_n[j]| (eq. 2.6). With
    weighting="all-pairs" it is the integral between the two costs of 1 / |{k : c_n[k]
    <= t}| dt (eq. 2.7). With the classification cost both weights are 1 for the rows of
    either level and 0 for the others: this is plain one-versus-one (method="ovo"). Any
    other cost, or costs of single rows, give method="csovo" and method="wap". The order
    of the levels only matters for ties, which go to the lower level.

    The mean training cost above the least possible is at most twice the total weight of
    the wrong answers of all pairs (theorem 2.7). The summary shows both.

    Parameters
    ----------
    weighting : {"difference", "all-pairs"}
    base, C, kernel, cost, scaling, solver, tol, folds, n_jobs
        See `ordstat.reduction.voting.VotingMethod`.

    Examples
    --------
    >>> OneVersusOne(C="cv", cost=[[0, 1, 5], [1, 0, 1], [9, 1, 0]])
    OneVersusOne(C='cv', cost=((0.0, 1.0, 5.0), (1.0, 0.0, 1.0), (9.0, 1.0, 0.0)))
    """

    weighting: str = option("difference", one_of, WEIGHTINGS)
    papers: ClassVar[tuple[str, ...]] = (LIN,)

    def problems(
        self, sample: Sample, costs: FloatArray, rng: np.random.Generator
    ) -> tuple[Binary, ...]:
        return against_each_other(
            WEIGHTINGS[self.weighting](costs), sample.case_weights
        )

    tally = staticmethod(pair_votes)

    def bound(
        self, above: float, problems: Sequence[Binary], scores: FloatArray, total: float
    ) -> CostBound:
        wrong = sum(
            problem.loss(column)
            for problem, column in zip(problems, scores.T, strict=True)
        )
        return CostBound(
            value=above, limit=2.0 * wrong / total, source=_SOURCES[self.weighting]
        )


@with_option_hints
@dataclass(frozen=True, kw_only=True, repr=False)
class CostTransform(VotingMethod):
    """Cost-sensitive classification by weighted or relabelled examples that represent
    the costs [Lin 2008, alg. 2.2 and 2.3].

    Row n becomes examples with the labels l = 1..K and the weights q_n[l] = max_k
    c_n[k] - c_n[l] (eq. 2.2). The weighted classification error of any classifier on
    these examples is its cost, up to a constant (theorem 2.4). With mode="expand" the
    classifier gets all NK weighted examples (method="tsew", training set expansion and
    weighting, also called data space expansion). With mode="relabel" (method="relabel")
    each row is accepted with a probability proportional to sum_l q_n[l], and its label
    is drawn in proportion to q_n. The classifier of K levels is one-versus-one with the
    base.

    Both are simple, but rows with several labels are hard to classify; prefer
    `OneVersusOne`, which only uses the difference between two labels of a row.

    Parameters
    ----------
    mode : {"expand", "relabel"}
    base, C, kernel, cost, scaling, solver, tol, folds, n_jobs
        See `ordstat.reduction.voting.VotingMethod`.

    Examples
    --------
    >>> CostTransform(mode="relabel", base="tree")
    CostTransform(base='tree', mode='relabel')
    """

    mode: str = option("expand", one_of, ("expand", "relabel"))
    papers: ClassVar[tuple[str, ...]] = (LIN,)

    def problems(
        self, sample: Sample, costs: FloatArray, rng: np.random.Generator
    ) -> tuple[Binary, ...]:
        if self.mode == "relabel":
            return labelled_pairs(
                drawn_labels(sample.X, costs, sample.case_weights, rng)
            )
        return labelled_pairs(label_weights(costs) * sample.case_weights[:, None])

    tally = staticmethod(pair_votes)
