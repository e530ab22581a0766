"""Soft-margin support vector machines that share one kernel matrix.

Each problem is the dual of RED-SVM with one threshold: with b free the threshold's penalty is zero at the optimum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..model.binary import Binary
from ..model.fit import Certificate
from ..model.kernels.checks import require_definite, require_finite, require_symmetric
from ..model.kernels.named import Kernel
from ..model.row_blocks import row_blocks
from ..model.sample import Rows
from ..model.scaling import Scaling, about_mean, fit_scaling
from ..solvers.gram import DenseGram, centred
from ..solvers.svm.dual import DualRoute, DualSolution, ExtendedDual
from ..solvers.svm.routes import SOLVERS
from .base import BinaryLearner, Learned

# Coefficients below this share of the largest are rounding.
_NO_SUPPORT = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class SharedExpansions:
    """P scores sum_s coef_sp k(x_s, x) + offset_p over one set of support rows.

    Attributes
    ----------
    kernel : Kernel
    scaling : Scaling
    anchors : (S, ...) rows that support any of them, as the kernel keeps them
    coef : (S, P)
    offset : (P,)
    """

    kernel: Kernel
    scaling: Scaling
    anchors: AnyArray
    coef: FloatArray
    offset: FloatArray

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, P) scores."""
        blocks = row_blocks(rows.n, len(self.coef))
        parts = [self.kernel(self.scaling(rows.X[some]), self.anchors) @ self.coef for some in blocks]
        return np.concatenate([np.zeros((0, self.offset.size)), *parts]) + self.offset


@dataclass(frozen=True, eq=False, kw_only=True)
class Machine:
    """One solved problem in terms of the raw kernel: coefficients of the rows (N,), offset, certificate."""

    coef: FloatArray
    offset: float
    gap: float
    iterations: int
    n_support: int


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
            A kernel matrix that is not finite, symmetric and (conditionally) positive definite.
        """
        scaling, scaled = self._scaled(X, case_weights)
        with np.errstate(over="ignore", invalid="ignore"):
            gram = self.kernel.gram(scaled, np.arange(len(X)))
        require_finite(gram)
        if not self.kernel.trusted:
            used = case_weights > 0
            gram = require_symmetric(gram)
            require_definite(centred(gram[np.ix_(used, used)])[0])
        return SharedGram(learner=self, scaling=scaling, X=scaled, gram=gram)

    def each(self, X: FloatArray, case_weights: FloatArray) -> Iterator[tuple[float, SharedGram]]:
        """`on` for every gamma that the kernel leaves to cross-validation."""
        scaling, scaled = self._scaled(X, case_weights)
        for width, gram in self.kernel.grams(scaled, np.arange(len(X))):
            yield width, SharedGram(learner=self, scaling=scaling, X=scaled, gram=gram)

    def _scaled(self, X: FloatArray, case_weights: FloatArray) -> tuple[Scaling, FloatArray]:
        used = case_weights > 0
        scaling = fit_scaling(self.scaling, X[used], case_weights[used])
        if self.kernel.linear:
            scaling = about_mean(scaling, X[used], case_weights[used])
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
        """The same rows at another C."""
        return replace(self, learner=replace(self.learner, C=C))

    def fit(self, problems: Sequence[Binary], rng: np.random.Generator) -> Learned:
        """Solve every problem at the learner's C and tolerance."""
        svm = self.learner
        machines = [self.path(p, (svm.C,), svm.tol, SOLVERS[svm.solver], rng)[0] for p in problems]
        coef, offset = np.column_stack([m.coef for m in machines]), np.array([m.offset for m in machines])
        support: IntArray = np.flatnonzero(coef.any(axis=1))
        scorer = SharedExpansions(
            kernel=svm.kernel,
            scaling=self.scaling,
            anchors=svm.kernel.anchors(self.X, support),
            coef=coef[support],
            offset=offset,
        )
        worst = max((m.gap for m in machines), default=0.0)
        each = [m.n_support for m in machines]
        return Learned(
            scorer=scorer,
            scores=self.gram[:, support] @ coef[support] + offset,
            certificate=Certificate(name="largest relative duality gap", value=worst, tolerance=svm.tol),
            iterations=sum(m.iterations for m in machines),
            facts=(("Support vectors", f"{min(each)} to {max(each)} a problem, {support.size} in all"),),
        )

    def path(
        self, problem: Binary, values: Sequence[float], tol: float, route: DualRoute, rng: np.random.Generator
    ) -> list[Machine]:
        """The machine at every value of C, growing, each solve starting where the last one ended."""
        if problem.one_sided:
            constant = Machine(coef=np.zeros(len(self.gram)), offset=problem.side, gap=0.0, iterations=0, n_support=0)
            return [constant] * len(values)
        gram, means = centred(self.gram[np.ix_(problem.index, problem.index)])
        dual = ExtendedDual(
            gram=DenseGram(gram), labels=problem.labels[:, None], weights=problem.weights[:, None], gamma=1.0
        )
        solver = route(dual, rng)
        outcomes = [solver.solve(C, tol) for C in values]
        return [self._machine(problem, o.solution, means, o.iterations) for o in outcomes]

    def _machine(self, problem: Binary, point: DualSolution, means: FloatArray, iterations: int) -> Machine:
        size = np.abs(point.beta)
        beta = np.where(size > _NO_SUPPORT * size.max(initial=0.0), point.beta, 0.0)
        # A row that comes under both labels has one coefficient.
        coef = np.zeros(len(self.gram))
        np.add.at(coef, problem.index, beta)
        # Scores of the centred kernel differ from those of the raw one by means'beta.
        offset = (point.offset or 0.0) - float(means @ point.beta) - float(point.theta[0])
        return Machine(
            coef=coef,
            offset=offset,
            gap=point.gap,
            iterations=iterations,
            n_support=int(np.count_nonzero(coef)),
        )
