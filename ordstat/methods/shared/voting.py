"""What the voting methods share: a base learner, the choice of C, and votes from its binary classifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from ..._typing import FloatArray, Progress
from ...checks import fraction, jobs, one_of, unknown, whole
from ...exceptions import DataError, OptionError
from ...learners.base import Trainer
from ...learners.classifier import Classifier
from ...learners.named import CLASSIFIERS
from ...learners.svm import SVM, SharedGram
from ...learners.voting import Priced, Tallied, select
from ...model.binary import Binary
from ...model.costs import CostField, CostMatrix, mean_excess, require_differences, sample_costs
from ...model.fit import CostBound, Selection, Trace, VoteFit
from ...model.folds import stratified_folds
from ...model.kernels.named import Kernel, parse_kernel
from ...model.rules import ScoreRule
from ...model.sample import Sample
from ...model.scaling import SCALED, SCALINGS
from ...model.ties import cleared
from ...results.rankers.votes import VoteResults
from ...solvers.cross_validation import Plan
from ...solvers.svm.routes import ROUGH, SOLVERS
from ..base import Method, Needs
from .selection import check_clusters, grid, kernel_of, selects, settled_C, settled_facts, ticking
from .work import Work

# Bytes of a problem for each of its examples, and for each row; kernel matrices of a problem's examples.
_OF_EXAMPLE, _OF_ROW, _MATRICES = 24.0, 48.0, 1.3
# Seconds of a support vector machine by its number of examples, and of another classifier.
_SVM_SECONDS, _OTHER_SECONDS = (1.5e-3, 7e-5, 5e-8), (5e-3, 3e-5, 0.0)
# A relative duality gap that is small enough to compare values of C.
_SELECTION_TOL = 1e-3
#: Options that only a support vector machine has a use for.
_OF_SVM = ("C", "kernel", "solver", "tol", "folds", "n_jobs")


@dataclass(frozen=True, kw_only=True, repr=False)
class VotingMethod(Method):
    """Base of the methods that ask weighted binary classifiers and count their votes.

    A concrete class says which problems they solve (`problems`) and how they vote (`tally`). Costs may be of any shape.

    Parameters
    ----------
    base : {"svm", "logistic", "tree"} or scikit-learn classifier
        The binary classifier: a support vector machine, or a classifier that takes sample weights, cloned for each
        problem; its score is the decision function, or P(yes) - 1/2.
    C : float, sequence of floats or "cv"
        Of base="svm": price of a violated margin, > 0. Several values, or "cv" for 2^-17, 2^-15, ..., 2^3, leave the
        choice to cross-validation of the method's own cost, ties to the smaller.
    kernel : str, Kernel or callable
        Of base="svm", as for `ordstat.methods.shared.svm.KernelMachine`; one kernel matrix serves all problems.
    cost : str or (K, K) array
        "absolute", "classification", "squared", or any matrix [true rank, predicted rank]; a row's own costs in the
        sample take its place.
    scaling : {"range", "standard", None}
        Columns to [-1, 1] on the training rows, to mean 0 and deviation 1, or as they are.
    solver : {"auto", "coordinate", "interior-point", "cvxpy"}
        Of base="svm".
    tol : float
        Relative duality gap of every support vector machine, in (0, 1).
    folds : int
        Of the cross-validation, at least 2.
    n_jobs : int
        Folds at work at once, as threads that share the kernel matrix; -1 for one a processor.

    Raises
    ------
    OptionError
        A value outside these, or an option of support vector machines beside another base.
    """

    base: Any = "svm"
    C: float | str | Sequence[float] = 1.0
    kernel: str | Kernel | Callable[[FloatArray, FloatArray], Any] = "perceptron"
    cost: CostField = "absolute"
    scaling: str | None = "range"
    solver: str = "auto"
    tol: float = 1e-3
    folds: int = 5
    n_jobs: int = 1

    needs: ClassVar[Needs] = Needs(row_costs=True, cluster=True)
    results_class: ClassVar[type[Any]] = VoteResults

    def __post_init__(self) -> None:
        self._settle(
            C=settled_C(self, self.C),
            tol=fraction("tol", self.tol, of=self),
            cost=CostMatrix.parse(self.cost).value,
            folds=whole("folds", self.folds, 2, of=self),
            n_jobs=jobs(self.n_jobs, of=self),
        )
        one_of("scaling", self.scaling, SCALINGS, of=self)
        one_of("solver", self.solver, SOLVERS, of=self)
        kernel = parse_kernel(self.kernel)
        if self.base == "svm":
            kernel_of(kernel, self.scaling)
        else:
            self.classifier()
            self._refuse_svm_options()

    def _refuse_svm_options(self) -> None:
        given = [f.name for f in fields(self) if f.name in _OF_SVM and getattr(self, f.name) != f.default]
        if given:
            raise OptionError(
                f"base={self.base!r} of {type(self).__name__} has no use for {', '.join(given)}, which belong to "
                "base='svm': leave them out, or set what the classifier itself calls them."
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

    @property
    def selects(self) -> bool:
        """Whether C or the kernel's gamma is chosen by cross-validation."""
        return selects(self.C, parse_kernel(self.kernel))

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
        """Raise where the sample holds something this method has no use for."""
        super().check(sample)
        check_clusters(self, sample, self.selects)
        sample_costs(CostMatrix(self.cost), sample)

    def size(self, n: int, n_levels: int) -> tuple[int, float]:
        """How many problems N rows make, and of how many examples each has about."""
        raise TypeError(f"{type(self).__name__} counts no problems")

    def work(self, sample: Sample) -> Work:
        """The classifiers, at one C."""
        n = int(np.count_nonzero(sample.case_weights))
        problems, examples = self.size(n, sample.n_levels)
        memory = problems * (_OF_EXAMPLE * examples + _OF_ROW * n)
        constant, linear, square = _OTHER_SECONDS
        if self.base == "svm":
            memory += 8.0 * (n**2 + _MATRICES * examples**2)
            constant, linear, square = _SVM_SECONDS
        return Work(
            what=f"with {sample.n_levels} levels trains {problems} classifiers on about {examples:.0f} examples each",
            memory=memory,
            seconds=problems * (constant + linear * examples + square * examples**2),
            instead="Join levels, take fewer rows, or a method with thresholds, such as 'redsvm' or 'clm'",
        )

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> VoteFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 take no part.
        rng : numpy.random.Generator
            Of the folds, of random labels, and of the base learner.
        progress : callable(step, total, message), optional

        Raises
        ------
        DataError
            Costs that are all alike; a kernel matrix that is not finite, symmetric and (conditionally) positive
            definite.
        """
        self.check(sample)
        weights = sample.case_weights
        if not (weights > 0).any():
            raise DataError("weights are zero for every row: nothing is left to fit.")
        costs = sample_costs(CostMatrix(self.cost), sample)
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
        if self.base != "svm":
            return self.classifier().on(sample.X, sample.case_weights), None
        X, weights, kernel = sample.X, sample.case_weights, parse_kernel(self.kernel)
        # Where C is left open, the machine is asked for every value of it.
        machine = self.machine(grid(self.C)[0], kernel)
        if kernel.widths:
            selection = self._selection(machine.each(X, weights), problems, sample, costs, rng, progress)
            return self.machine(selection.best_C, kernel.at(selection.best_gamma)).on(X, weights), selection
        shared = machine.on(X, weights)
        if not self.selects:
            return shared, None
        selection = self._selection([(None, shared)], problems, sample, costs, rng, progress)
        return shared.at(selection.best_C), selection

    def _selection(
        self,
        grams: Iterable[tuple[float | None, SharedGram]],
        problems: Sequence[Binary],
        sample: Sample,
        costs: FloatArray,
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> Selection:
        used = sample.case_weights > 0
        fold = np.full(sample.n, -1, dtype=np.intp)
        cluster = None if sample.cluster is None else sample.cluster[used]
        fold[used] = stratified_folds(sample.y[used], sample.n_levels, self.folds, rng, cluster)
        priced = Priced(costs=costs, weights=sample.case_weights, tally=self.tally)
        route = ROUGH if self.solver == "auto" else SOLVERS[self.solver]
        plan = Plan(C=grid(self.C), tol=max(self.tol, _SELECTION_TOL), n_jobs=self.n_jobs)
        n_widths = max(len(parse_kernel(self.kernel).widths), 1)
        tick = ticking(progress, self.folds * len(problems) * n_widths)
        return select(grams, problems, priced, fold, plan, route, rng, tick)

    def _facts(self, n_problems: int, selection: Selection | None, n_columns: int) -> tuple[tuple[str, Any], ...]:
        scaled = ("Columns scaled", SCALED[self.scaling])
        if self.base != "svm":
            return ("Binary problems", f"{n_problems}, each by {self.classifier().model!r}"), scaled
        kernel = parse_kernel(self.kernel)
        C = grid(self.C)[0] if selection is None else selection.best_C
        best = kernel if selection is None or not kernel.widths else kernel.at(selection.best_gamma)
        return (
            ("Binary problems", f"{n_problems}, each by a support vector machine"),
            *settled_facts(self.C, C, kernel, best, self.folds, n_columns),
            scaled,
        )
