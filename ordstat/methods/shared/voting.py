"""What the voting methods share: a base learner, the choice of C, and votes from its binary classifiers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..._typing import FloatArray, Progress
from ...checks import one_of, unknown
from ...exceptions import OptionError
from ...learners.base import Trainer
from ...learners.classifier import Classifier
from ...learners.named import CLASSIFIERS
from ...learners.svm import SVM, Priced, SharedGram, Tallied, votes_judge
from ...model.binary import Binary
from ...model.costs import mean_excess, require_differences
from ...model.fit import CostBound, Selection, Trace, VoteFit
from ...model.kernels.named import Kernel
from ...model.rules import ScoreRule
from ...model.sample import Sample
from ...model.scaling import SCALED
from ...model.ties import cleared
from ...results.rankers.margin import VoteResults
from ...solvers.svm.routes import ROUGH, SOLVERS
from ..base import Method, Needs, option
from .selection import CrossValidated

#: Options that only a support vector machine has a use for.
_OF_SVM = ("C", "kernel", "solver", "tol", "folds", "n_jobs")


@dataclass(frozen=True, kw_only=True, repr=False)
class VotingMethod(CrossValidated, Method):
    """Base of the methods that ask weighted binary classifiers and count their votes.

    A concrete class says which problems they solve (`problems`) and how they vote (`tally`). Costs may be of any shape.

    Parameters
    ----------
    base : {"svm", "logistic", "tree"} or scikit-learn classifier
        The binary classifier: a support vector machine, or a classifier that takes sample weights, cloned for each
        problem; its score is the decision function, or P(yes) - 1/2.
    C, kernel, solver, tol, folds, n_jobs
        Only with base="svm": see `ordstat.methods.shared.selection.CrossValidated`, and `solver` {"auto", "coordinate",
        "interior-point", "cvxpy"}.
    cost : str or (K, K) array
        "absolute", "classification", "squared", or any matrix [true rank, predicted rank]; a row's own costs in the
        sample take its place.
    scaling : {"range", "standard", None}
        Columns to [-1, 1] on the training rows, to mean 0 and standard deviation 1, or as they are.

    Raises
    ------
    OptionError
        A value outside these, or an option of support vector machines beside another base.
    """

    base: Any = "svm"
    solver: str = option("auto", one_of, SOLVERS)

    needs: ClassVar[Needs] = Needs(row_costs=True, cluster=True)
    results_class: ClassVar[type[Any]] = VoteResults

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.base != "svm":
            self.classifier()
            self._refuse_svm_options()

    def _refuse_svm_options(self) -> None:
        given = [f.name for f in fields(self) if f.name in _OF_SVM and getattr(self, f.name) != f.default]
        if given:
            raise OptionError(
                f"{type(self).__name__} with base={self.base!r} does not support {', '.join(given)}, which belong to "
                "base='svm'; leave them out, or set what the classifier itself calls them."
            )

    def machine(self, C: float, kernel: Kernel) -> SVM:
        """The support vector machine of base="svm"."""
        return SVM(kernel=kernel, C=C, scaling=self.scaling, solver=self.solver, tol=self.tol)

    def classifier(self) -> Classifier:
        """The classifier of another base.

        Raises
        ------
        OptionError
            Neither a known name nor a scikit-learn classifier that takes sample weights.
        """
        if not isinstance(self.base, str):
            return Classifier(self.base, self.scaling)
        if self.base not in CLASSIFIERS:
            raise unknown("base", self.base, ("svm", *CLASSIFIERS), of=self, also=", or a scikit-learn classifier")
        return Classifier(CLASSIFIERS[self.base](), self.scaling)

    def problems(self, sample: Sample, costs: FloatArray, rng: np.random.Generator) -> tuple[Binary, ...]:
        """The P binary problems on the rows of a sample under costs (N, K)."""
        raise TypeError(f"{type(self).__name__} defines no problems")

    @staticmethod
    def tally(scores: FloatArray, n_levels: int) -> FloatArray:
        """(N, K) votes from the scores (N, P) of the binary classifiers: by default one classifier a level."""
        return scores

    def bound(self, above: float, problems: Sequence[Binary], scores: FloatArray, total: float) -> CostBound | None:
        """What a theorem says of the mean training cost above the least possible; None without one."""
        return None

    def check(self, sample: Sample) -> None:
        """Raise where the sample holds something this method does not support."""
        super().check(sample)
        self.check_cluster(sample)
        self.costs(sample)

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> VoteFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 take no part.
        rng : numpy.random.Generator
            Source of the folds, of random labels, and of the base learner.
        progress : callable(step, total, message), optional

        Raises
        ------
        DataError
            Costs that are all alike; a kernel matrix that is not finite, symmetric and (conditionally) positive
            definite.
        """
        self.check(sample)
        weights, costs = sample.case_weights, self.costs(sample)
        require_differences(costs, weights)
        problems = self.problems(sample, costs, rng)
        trainer, selection = self._trainer(problems, sample, costs, rng, progress)
        learned = trainer.fit(problems, rng)
        rule = ScoreRule(Tallied(scorer=learned.scorer, tally=self.tally, n_levels=sample.n_levels))
        scores = cleared(learned.scores)
        votes = self.tally(scores, sample.n_levels)
        above = mean_excess(costs, rule.codes(sample.rows, votes), weights)
        return VoteFit(
            rule=rule,
            certificate=learned.certificate,
            trace=Trace(iterations=learned.iterations, objective=np.array([above]), message="all problems solved"),
            scores=votes,
            facts=(*self._facts(len(problems), selection, sample.X.shape[1]), *learned.facts),
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
        """The base learner at work on the sample, at the chosen C where there is a choice."""
        X, weights, kernel = sample.X, sample.case_weights, self.similarity
        if self.base != "svm":
            return self.classifier().on(X, weights), None

        def chosen(grams: Iterable[tuple[float | None, SharedGram]]) -> Selection:
            priced = Priced(costs=costs, weights=weights, tally=self.tally)
            route = ROUGH if self.solver == "auto" else SOLVERS[self.solver]
            judge = partial(votes_judge, problems, priced, route)
            return self.choose(grams, judge, len(problems), sample, rng, progress)

        # Where C is left open, the machine is asked for every value of it.
        machine = self.machine(self.grid[0], kernel)
        if kernel.gammas:
            selection = chosen(machine.each(X, weights))
            return self.machine(selection.best_C, kernel.at(selection.best_gamma)).on(X, weights), selection
        shared = machine.on(X, weights)
        if not self.selects:
            return shared, None
        selection = chosen([(None, shared)])
        return shared.at(selection.best_C), selection

    def _facts(self, n_problems: int, selection: Selection | None, n_columns: int) -> tuple[tuple[str, Any], ...]:
        if self.base != "svm":
            each = f"{n_problems}, each by {self.classifier().model!r}"
            return ("Binary problems", each), ("Columns scaled", SCALED[self.scaling])
        return (
            ("Binary problems", f"{n_problems}, each by a support vector machine"),
            *self.settled_facts(selection, n_columns),
        )
