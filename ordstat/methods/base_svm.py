"""What the thresholded support vector machines share: kernel, costs, solver, choice of C.

They differ in the penalty of the thresholds and in whether an order of them is a constraint.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np

from .._typing import FloatArray, IntArray, Progress
from ..exceptions import DataError, OptionError
from ..model.costs import CostField, CostMatrix, is_convex, require_v_shaped, sample_costs
from ..model.fit import BallGeometry, Certificate, Fit, Geometry, MarginFit, Selection, Trace
from ..model.folds import stratified_folds
from ..model.gram import require_definite, require_finite, require_symmetric
from ..model.kernels import Kernel, parse_kernel
from ..model.potentials import KernelExpansion
from ..model.reduction import extend
from ..model.rules import ThresholdRule
from ..model.sample import Sample
from ..model.scaling import SCALINGS, Scaling, fit_scaling
from ..results.margin import MarginResults
from ..solvers.automatic import SOLVERS
from ..solvers.extended_dual import DualSolution, ExtendedDual, Outcome
from ..solvers.forms import DenseGram, centred
from ..solvers.hard_margin import HardMargin
from ..solvers.selection import GRID, Candidate, select
from .base import Method, Needs

# A relative duality gap that is small enough to compare values of C.
_SELECTION_TOL = 1e-3
# Coefficients below this share of a row's largest possible one are sums of rounding.
_NO_SUPPORT = 1e-12


def number(method: Method, name: str, value: Any, *, below: float = np.inf, also: str = "") -> float:
    """The value as a float; OptionError where it is no number between 0 and `below`, `also` naming what else may be."""
    ok = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not ok or not 0.0 < value < below:
        bound = "a positive, finite number" if np.isinf(below) else f"a number between 0 and {below:g}"
        raise OptionError(f"{name} of {type(method).__name__} must be {bound}{also}; got {value!r}.")
    return float(value)


def count(method: Method, name: str, value: Any, least: int) -> int:
    """The value as an int; OptionError where it is no integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise OptionError(f"{name} of {type(method).__name__} must be an integer of {least} or more; got {value!r}.")
    return int(value)


def one_of(method: Method, name: str, value: Any, allowed: Any) -> None:
    """OptionError, listing them, where the value is not among the allowed strings (or None)."""
    if not isinstance(value, (str, type(None))) or value not in allowed:
        names = ", ".join(repr(a) for a in allowed)
        raise OptionError(f"{name} of {type(method).__name__} must be one of {names}; got {value!r}.")


def kernel_of(value: Any, scaling: str | None) -> Kernel:
    """The kernel meant; OptionError where its columns cannot be scaled as asked."""
    kernel = parse_kernel(value)
    if scaling is not None and not kernel.scalable:
        raise OptionError(
            f"the columns of X are not coordinates under kernel={kernel.name!r}: set scaling=None "
            f"(got scaling={scaling!r})."
        )
    return kernel


@dataclass(frozen=True, kw_only=True, repr=False)
class ThresholdedSVM(Method):
    """Base of the machines that minimise

    1/2 |v|^2 + |theta|^2 / (2 gamma^2) + C sum_nk W_nk [1 - Y_nk (<v, phi(x_n)> + b - theta_k)]_+ .

    A concrete class says what `gamma` is (inf: theta free) and when the order of theta is a constraint.
    """

    C: float | str = 1.0
    kernel: str | Kernel | Callable[[FloatArray, FloatArray], Any] = "perceptron"
    cost: CostField = "absolute"
    scaling: str | None = "range"
    solver: str = "auto"
    tol: float = 1e-3
    folds: int = 5

    needs: ClassVar[Needs] = Needs(row_costs=True, cluster=True)
    results_class: ClassVar[type[Any]] = MarginResults
    #: Whether C = inf is allowed.
    hard: ClassVar[bool] = False

    def __post_init__(self) -> None:
        settled = {
            "C": self._settled_C(),
            "tol": number(self, "tol", self.tol, below=1.0),
            "cost": CostMatrix.parse(self.cost).value,
            "folds": count(self, "folds", self.folds, 2),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)
        one_of(self, "scaling", self.scaling, SCALINGS)
        one_of(self, "solver", self.solver, SOLVERS)
        kernel_of(self.kernel, self.scaling)

    def _settled_C(self) -> float | str:
        if isinstance(self.C, str) and self.C == "cv":
            return "cv"
        if self.hard and isinstance(self.C, (float, np.floating)) and np.isposinf(self.C):
            return float("inf")
        return number(self, "C", self.C, also=", inf or 'cv'" if self.hard else " or 'cv'")

    def penalty_scale(self) -> float:
        """gamma; inf leaves the thresholds free."""
        raise TypeError(f"{type(self).__name__} defines no penalty of the thresholds")

    def constrains_order(self, costs: FloatArray) -> bool:
        """Whether theta_1 <= ... <= theta_{K-1} has to be a constraint under these costs (N, K)."""
        return not is_convex(costs)

    @property
    def selects(self) -> bool:
        """Whether C is chosen by cross-validation."""
        return self.C == "cv"

    def check(self, sample: Sample) -> None:
        """Raise where the sample holds something this method has no use for."""
        super().check(sample)
        if sample.cluster is not None and not self.selects:
            raise OptionError(
                f"{type(self).__name__} uses cluster= only to keep the rows of a cluster in one fold of C='cv': remove "
                "it, or set C='cv'."
            )
        require_v_shaped(sample_costs(CostMatrix(self.cost), sample), sample.y, type(self).__name__)

    def fit(self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None) -> MarginFit:
        """Fit to arrays.

        Parameters
        ----------
        sample : Sample
            Rows of weight 0 take no part.
        rng : numpy.random.Generator
            Of the folds and of the order of the rows.
        progress : callable(step, total, message), optional

        Raises
        ------
        DataError
            Costs that are not V-shaped around the rank, or all alike; a kernel matrix that is not finite, symmetric
            and (conditionally) positive definite.
        """
        self.check(sample)
        kernel = parse_kernel(self.kernel)
        rows = np.flatnonzero(sample.case_weights > 0)
        if rows.size == 0:
            raise DataError("weights are zero for every row: nothing is left to fit.")
        used = sample.take(rows)
        scaling = fit_scaling(self.scaling, used.X, used.case_weights)
        X = scaling(sample.X)
        candidate = self._candidate(used, kernel, X, rows)
        selection = self._selection(candidate, used, rng, progress)
        C = float(self.C) if selection is None else float(selection.C[selection.chosen])
        problem, means = candidate.whole()
        outcome = self._solved(problem, C, rng)
        # Scores of the centred kernel differ from those of the raw one by means'beta.
        point = _placed(outcome.solution, float(means @ outcome.solution.beta), problem)
        expansion, support = _expansion(kernel, scaling, X, rows, point, _boxes(C, problem))
        rule = ThresholdRule(expansion, point.theta)
        scores = np.empty(sample.n)
        scores[rows] = point.scores + point.offset
        absent = sample.case_weights == 0
        scores[absent] = rule.scores(sample.rows.take(absent))
        slopes = kernel.slopes(expansion.anchors, expansion.coef)
        return MarginFit(
            rule=rule,
            certificate=self._certificate(point),
            trace=Trace(iterations=outcome.iterations, objective=outcome.path, message=f"solver {outcome.solver}"),
            scores=scores,
            facts=(*self._facts(C, kernel, problem), *_solved_facts(outcome, support.size, rows.size)),
            support=rows[support],
            coefficients=None if slopes is None else slopes * scaling.factor,
            selection=selection,
        )

    def _solved(self, problem: ExtendedDual, C: float, rng: np.random.Generator) -> Outcome:
        route = SOLVERS[self.solver]
        if np.isinf(C):
            return HardMargin(route, problem, rng).solve(self.tol)
        return route(problem, rng).solve(C, self.tol)

    def _candidate(self, used: Sample, kernel: Kernel, X: FloatArray, rows: IntArray) -> Candidate:
        with np.errstate(over="ignore", invalid="ignore"):
            gram = kernel.gram(X, rows)
        require_finite(gram)
        if not kernel.trusted:
            gram = require_symmetric(gram)
            require_definite(centred(gram.copy())[0])
        costs = sample_costs(CostMatrix(self.cost), used)
        extended = extend(used.y, costs, used.case_weights)
        if not extended.weights.any():
            raise DataError("the costs price every rank alike, so there is nothing to learn: give costs that differ.")
        return Candidate(
            gram=DenseGram(gram),
            extended=extended,
            costs=costs,
            case_weights=used.case_weights,
            gamma=self.penalty_scale(),
            ordered=self.constrains_order(costs),
        )

    def _selection(
        self, candidate: Candidate, used: Sample, rng: np.random.Generator, progress: Progress | None
    ) -> Selection | None:
        if not self.selects:
            return None
        fold = stratified_folds(used.y, used.n_levels, self.folds, rng, used.cluster)
        steps = iter(range(1, self.folds * GRID.size + 1))

        def tick(message: str) -> None:
            if progress is not None:
                progress(next(steps), self.folds * GRID.size, message)

        return select(candidate, fold, SOLVERS[self.solver], max(self.tol, _SELECTION_TOL), rng, tick)

    def _certificate(self, point: DualSolution) -> Certificate:
        details = (("primal value", point.primal), ("dual value", point.dual))
        return Certificate(name="relative duality gap", value=point.gap, tolerance=self.tol, details=details)

    def _facts(self, C: float, kernel: Kernel, problem: ExtendedDual) -> tuple[tuple[str, Any], ...]:
        how = f", chosen by {self.folds}-fold cross-validation" if self.selects else ""
        return (
            ("Kernel", repr(kernel)),
            ("C", "inf, a hard margin" if np.isinf(C) else f"{C:g}{how}"),
            ("Thresholds", "free" if problem.free else f"penalised, gamma = {problem.gamma:g}"),
            ("Columns scaled", SCALED[self.scaling]),
            ("Threshold order", "constrained" if problem.ordered else "implied by the convex cost"),
        )

    def geometry(self, sample: Sample, fit: Fit) -> Geometry:
        """Norms in the feature space of the scaled columns.

        Kernels that are only conditionally positive definite count from the origin of the scaled columns:
        k(x, x') - k(x, 0) - k(0, x') + k(0, 0). The radius is that of the box [-1, 1]^D where scaling="range", or
        of a kernel that is bounded everywhere; otherwise it is the largest length among the training rows, which is
        not fixed before seeing data, and bounds that use it hold only for rows no longer than that.
        """
        rule = cast(ThresholdRule, fit.rule)
        expansion = cast(KernelExpansion, rule.potential)
        kernel = expansion.kernel
        X = expansion.scaling(sample.X)
        lengths = kernel.diagonal(X)
        half_width = 1.0 if self.scaling == "range" else np.inf
        largest = kernel.radius(X.shape[1], half_width)
        if not np.isfinite(largest):
            largest = float(lengths.max())
        beta, at = expansion.coef, cast(MarginFit, fit).support
        squared_norm = float(beta @ (fit.scores[at] - expansion.offset))
        return BallGeometry(
            norm=float(np.sqrt(max(squared_norm, 0.0))),
            squared_lengths=lengths,
            theta=rule.theta - expansion.offset - float(beta @ kernel.origin(X)[at]),
            radius=float(np.sqrt(largest + 1.0)),
        )


#: What the summary says of a scaling.
SCALED = {"range": "each to [-1, 1]", "standard": "each to mean 0, deviation 1", None: "no"}


def _placed(point: DualSolution, shift: float, problem: ExtendedDual) -> DualSolution:
    """The solution of the raw kernel, whose scores are higher by `shift`.

    The offset takes it up; where there is none, because theta is free, theta does.
    """
    scores = point.scores + shift
    if problem.free:
        return replace(point, scores=scores, theta=point.theta + shift)
    return replace(point, scores=scores, offset=point.offset - shift)


def _boxes(C: float, problem: ExtendedDual) -> FloatArray:
    caps: FloatArray = np.multiply(C, problem.weights, out=np.zeros_like(problem.weights), where=problem.weights > 0)
    return caps


def _solved_facts(outcome: Outcome, n_support: int, n_rows: int) -> tuple[tuple[str, Any], ...]:
    return ("Solver", outcome.solver), ("Support vectors", f"{n_support} of {n_rows}")


def _expansion(
    kernel: Kernel,
    scaling: Scaling,
    X: FloatArray,
    rows: IntArray,
    point: DualSolution,
    caps: FloatArray,
) -> tuple[KernelExpansion, IntArray]:
    """The fitted potential in terms of the raw kernel, and the positions of its support rows among `rows`."""
    # Boxes without end count as far as the largest variable.
    sizes = np.minimum(caps, np.abs(point.u).max(initial=0.0)).sum(axis=1)
    support = np.flatnonzero(np.abs(point.beta) > _NO_SUPPORT * sizes)
    expansion = KernelExpansion(
        kernel=kernel,
        scaling=scaling,
        anchors=kernel.anchors(X, rows[support]),
        coef=point.beta[support],
        offset=point.offset,
    )
    return expansion, support
