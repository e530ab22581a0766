"""Soft-margin support vector machines that share one kernel matrix, and the choice of C
by their held-out votes.

Each problem is the dual of RED-SVM with one threshold, whose penalty is zero at the
optimum because b is free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..fit import Certificate, KernelExpansion, most_votes
from ..formula.sample import Rows
from ..formula.scaling import Scaling, fit_scaling
from ..judging.costs import cleared
from ..kernels import Kernel, checked_gram, require_definite
from ..reduction.learners import Binary, BinaryLearner, Learned, Scorer
from .cross_validation import SelectionPlan
from .dual import ExtendedDual, Route
from .gram import DenseGram, centred
from .routes import SOLVERS

# Coefficients below this share of the largest are rounding.
_NO_SUPPORT = 1e-12


@dataclass(frozen=True)
class SVM(BinaryLearner):
    """1/2 |v|^2 + C sum_m w_m [1 - z_m (<v, phi(x_m)> + b)]_+.

    Attributes
    ----------
    kernel : Kernel
    C : float, > 0
    scaling : str or None
        As in `fit_scaling`.
    solver : str
        One of `SOLVERS`.
    tol : float
        Relative duality gap of every problem.
    """

    kernel: Kernel
    C: float = 1.0
    scaling: str | None = "range"
    solver: str = "auto"
    tol: float = 1e-3

    def on(self, X: FloatArray, case_weights: FloatArray) -> SharedGram:
        """Scale the columns and compute the kernel matrix.

        Raises
        ------
        DataError
            The kernel matrix is not finite, symmetric and (conditionally) positive
            definite.
        """
        scaling, scaled = self._scaled(X, case_weights)
        gram = checked_gram(self.kernel, scaled, np.arange(len(X)))
        if not self.kernel.trusted:
            used = case_weights > 0
            require_definite(centred(gram[np.ix_(used, used)])[0])
        return SharedGram(learner=self, scaling=scaling, X=scaled, gram=gram)

    def each(
        self, X: FloatArray, case_weights: FloatArray
    ) -> Iterator[tuple[float, SharedGram]]:
        """`on` for every gamma of the cross-validation."""
        scaling, scaled = self._scaled(X, case_weights)
        for width, gram in self.kernel.grams(scaled, np.arange(len(X))):
            yield width, SharedGram(learner=self, scaling=scaling, X=scaled, gram=gram)

    def _scaled(
        self, X: FloatArray, case_weights: FloatArray
    ) -> tuple[Scaling, FloatArray]:
        used = case_weights > 0
        scaling = fit_scaling(
            self.scaling, X[used], case_weights[used], about_mean=self.kernel.linear
        )
        return scaling, scaling(X)


@dataclass(frozen=True, eq=False, kw_only=True)
class SharedGram:
    """The trainer of an SVM.

    Attributes
    ----------
    learner : SVM
    scaling : Scaling
    X : (N, D) scaled columns
    gram : (N, N) kernel matrix
    """

    learner: SVM
    scaling: Scaling
    X: FloatArray
    gram: FloatArray

    def at(self, C: float) -> SharedGram:
        """A copy with another C."""
        return replace(self, learner=replace(self.learner, C=C))

    def fit(self, problems: Sequence[Binary], rng: np.random.Generator) -> Learned:
        """Solve all problems at the learner's C and tolerance."""
        svm = self.learner
        route = SOLVERS[svm.solver]
        coefs, offsets, gaps, steps = zip(
            *(self.path(p, (svm.C,), svm.tol, route, rng) for p in problems),
            strict=True,
        )
        coef = np.column_stack([coef[0] for coef in coefs])
        offset = np.concatenate(offsets)
        support: IntArray = np.flatnonzero(coef.any(axis=1))
        scorer = KernelExpansion(
            kernel=svm.kernel,
            scaling=self.scaling,
            anchors=svm.kernel.anchors(self.X, support),
            coef=coef[support],
            offset=offset,
        ).merged
        each = np.count_nonzero(coef, axis=0)
        return Learned(
            scorer=scorer,
            scores=self.gram[:, support] @ coef[support] + offset,
            certificate=Certificate(
                name="largest relative duality gap", value=max(gaps), tolerance=svm.tol
            ),
            iterations=sum(steps),
            facts=(
                (
                    "Support vectors",
                    (
                        f"{each.min()} to {each.max()} per problem, {support.size} in"
                        " total"
                    ),
                ),
            ),
        )

    def path(
        self,
        problem: Binary,
        values: Sequence[float],
        tol: float,
        route: Route,
        rng: np.random.Generator,
    ) -> tuple[FloatArray, FloatArray, float, int]:
        """Coefficients of the rows (G, N) and offsets (G,) for the raw kernel, the
        largest gap, the sum of iterations.

        `values` are G growing values of C; each solve starts where the previous one
        ended.
        """
        coef = np.zeros((len(values), len(self.gram)))
        offset = np.full(len(values), 0.0)
        gap = 0.0
        iterations = 0
        if problem.one_sided:
            return coef, offset + problem.side, gap, iterations
        gram, means = centred(self.gram[np.ix_(problem.index, problem.index)])
        dual = ExtendedDual(
            gram=DenseGram(gram),
            labels=problem.labels[:, None],
            weights=problem.weights[:, None],
            gamma=1.0,
        )
        solver = route(dual, rng)
        for i, C in enumerate(values):
            outcome = solver.solve(C, tol)
            point = outcome.solution
            size = np.abs(point.beta)
            beta = np.where(size > _NO_SUPPORT * size.max(initial=0.0), point.beta, 0.0)
            # adds up the coefficients of a row with both labels
            np.add.at(coef[i], problem.index, beta)
            # Scores of the centred kernel differ from those of the raw kernel by
            # means'beta.
            offset[i] = (
                (point.offset or 0.0)
                - float(means @ point.beta)
                - float(point.theta[0])
            )
            gap = max(gap, point.gap)
            iterations = iterations + outcome.iterations
        return coef, offset, gap, iterations


#: From scores of the binary classifiers (N, P) to votes (N, K), given K.
Tally = Callable[[FloatArray, int], FloatArray]


@dataclass(frozen=True, eq=False, kw_only=True)
class Tallied:
    """Votes of P binary classifiers for K levels."""

    scorer: Scorer
    tally: Tally
    n_levels: int

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K) votes."""
        return self.tally(cleared(self.scorer(rows)), self.n_levels)


def votes_judge(
    problems: Sequence[Binary],
    tally: Tally,
    n_levels: int,
    route: Route,
    shared: SharedGram,
    test: BoolArray,
    plan: SelectionPlan,
    rng: np.random.Generator,
    note: Callable[[str], None],
) -> tuple[list[IntArray], float]:
    """The `Judge` of a kernel: votes of machines fitted to the other folds, a path of
    growing C for each problem.
    """
    across = shared.gram[test]
    largest = 0.0
    scores = np.empty((len(plan.C), across.shape[0], len(problems)))
    for p, problem in enumerate(problems):
        coef, offset, gap, _ = shared.path(
            problem.among(~test), plan.C, plan.tol, route, rng
        )
        scores[:, :, p] = coef @ across.T
        scores[:, :, p] += offset[:, None]
        largest = max(largest, gap)
        note(f"problem {p + 1} of {len(problems)}")
    return [most_votes(tally(cleared(at_C), n_levels)) for at_C in scores], largest
